/* SPDX-License-Identifier: MIT
 *
 * Scripts of steps: their order, their failures, and what they leave on a node.
 */
#include "scheduler/fleet/container/container.h"
#include "test/unit/scheduler/fleet/stage.h"

static void add_command(struct stage *s, const char *id, const char *command, bool keep,
                        bool may_fail)
{
    const struct script_label label = {.code = FAIL_NODE_SETUP_FAILED,
                                       .what = "the command",
                                       .remedy = "do better",
                                       .may_fail = may_fail};
    const struct task_spec spec = {.id = id,
                                   .command_line = command,
                                   .cwd = s->f->root,
                                   .stdout_path = below(s, "out"),
                                   .stderr_path = below(s, "err"),
                                   .step = label.what};
    script_command(s->sc, &label, &spec, keep);
}

STAGE_TEST(test_steps_are_done_in_order_and_commands_waited_for)
{
    const char *dirs[] = {below(s, "a/b")};
    script_ask(s->sc, &plain, REQUEST(make_dirs, .paths = dirs, .n_paths = 1));
    script_ask(s->sc, &plain,
               REQUEST(write_file, .path = below(s, "a/b/f"), .text = "one\n", .mode = 0644));
    add_command(s, "t1", "cat a/b/f && sleep 0.1 && mv a/b/f a/b/g", false, false);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "a/b/g"), .text = "two\n"));
    assert_int_equal(script_state(s->sc), SCRIPT_RUNNING);
    run_well(s);
    assert_true(file_has(s->f, "a/b/g", "one\ntwo\n"));
    assert_true(s->changes > 0);
}

STAGE_TEST(test_a_script_of_requests_is_sent_at_once)
{
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "f"), .text = "1"));
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "f"), .text = "2"));
    assert_false(script_all_sent(s->sc));
    script_run(s->sc, s->f->link, on_changed, s);
    assert_true(script_all_sent(s->sc));
    assert_int_equal(script_state(s->sc), SCRIPT_RUNNING);
    WAIT(s->f, script_state(s->sc) == SCRIPT_DONE);
}

STAGE_TEST(test_the_first_failure_ends_it_and_says_everything)
{
    add_command(s, "t1", "echo what is wrong >&2; exit 7", false, false);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "never"), .text = "x"));
    run_to_end(s);
    assert_int_equal(script_state(s->sc), SCRIPT_FAILED);
    const struct failure *f = script_failure(s->sc);
    assert_int_equal(f->code, FAIL_NODE_SETUP_FAILED);
    assert_string_equal(f->message, "the command failed with exit code 7");
    assert_string_equal(f->node, "node-1");
    assert_string_equal(f->stderr_tail, "what is wrong\n");
    assert_string_equal(f->remedy, "do better");
    assert_int_equal(f->exit_code, 7);
    assert_false(script_nodes_fault(s->sc));
    assert_int_equal(access(below(s, "never"), F_OK), -1);
}

STAGE_TEST(test_a_step_that_may_fail_stops_nothing)
{
    const struct script_label may = {.what = "a try", .may_fail = true};
    add_command(s, "t1", "exit 7", false, true);
    script_ask(s->sc, &may, REQUEST(append, .path = "/proc/nothing/here", .text = "x"));
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "after"), .text = "x"));
    run_well(s);
    assert_int_equal(access(below(s, "after"), F_OK), 0);
}

STAGE_TEST(test_what_only_touches_the_node_is_the_nodes_fault)
{
    const struct script_label own = {
        .code = FAIL_RUN_DIRECTORY_FAILED, .what = "its own", .on_node = true};
    script_ask(s->sc, &own, REQUEST(append, .path = "/proc/nothing/here", .text = "x"));
    run_to_end(s);
    assert_int_equal(script_state(s->sc), SCRIPT_FAILED);
    assert_true(script_nodes_fault(s->sc));
}

STAGE_TEST(test_a_kept_record_makes_a_command_run_once)
{
    for (int i = 0; i < 2; i++) {
        again(s);
        add_command(s, "kept", "echo once >>kept", true, false);
        add_command(s, "again", "echo again >>again", false, false);
        run_well(s);
    }
    assert_true(file_has(s->f, "kept", "once\n"));
    assert_false(file_has(s->f, "kept", "once\nonce\n"));
    assert_true(file_has(s->f, "again", "again\nagain\n"));
}

STAGE_TEST(test_strays_are_seen_to_be_gone_before_it_goes_on)
{
    start(s->f, "old-1", "trap '' TERM; echo $$ >pid; while :; do sleep 1; done");
    start(s->f, "mine-2", "sleep 1000");
    start(s->f, "old-mine", "sleep 1000");
    start(s->f, "other", "sleep 1000");
    WAIT(s->f, access(below(s, "work/here/pid"), F_OK) == 0);
    long pid = read_pid(s->f, "work/here/pid");
    bool found = false;
    script_kill_tasks(s->sc, &plain, "old-", "old-m", true, &found);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "after"), .text = "x"));
    run_well(s);
    assert_true(found);
    assert_true(gone(pid));
    ASK(s->f, node_tasks(s->f->link, on_tasks, s->f));
    assert_int_equal(s->f->n_tasks, 3); /* old-1 is forgotten */
}

STAGE_TEST(test_a_task_is_looked_for_and_none_is_killed)
{
    static const char *const ids[] = {"task", "task-2", "tas"};
    start(s->f, "task-2", "sleep 1000");
    for (int i = 0; i < 2; i++) {
        bool found[3] = {false};
        again(s);
        for (size_t k = 0; k < 3; k++)
            script_find_task(s->sc, &plain, ids[k], &found[k]);
        run_well(s);
        assert_true(found[0] == (i == 1) && found[1] && !found[2]);
        if (i == 0)
            start(s->f, "task", "sleep 1000");
    }
    ASK(s->f, node_tasks(s->f->link, on_tasks, s->f));
    assert_int_equal(s->f->n_tasks, 2);
}

STAGE_TEST(test_steps_up_to_the_mark_are_left_out)
{
    bool yes = true, no = false;
    script_skip_if(s->sc, &yes);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "left-out"), .text = "x"));
    script_skip_if(s->sc, &no);
    script_ask(s->sc, &plain, REQUEST(append, .path = below(s, "done"), .text = "x"));
    run_well(s);
    assert_int_equal(access(below(s, "left-out"), F_OK), -1);
    assert_int_equal(access(below(s, "done"), F_OK), 0);
}

STAGE_TEST(test_a_halted_script_tells_nothing_more)
{
    add_command(s, "t1", "true", false, false);
    script_run(s->sc, s->f->link, on_changed, s);
    script_halt(s->sc);
    WAIT(s->f, s->f->n_ended == 1);
    assert_int_equal(s->changes, 0);
}

/* As when the daemon stops: nothing has failed, it is done when there is a link again. */
STAGE_TEST(test_a_link_that_is_closed_on_purpose_is_no_failure)
{
    char said[200];
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const struct log log = {.fd = ends[1], .level = LOG_LVL_WARN};
    const struct script_label may = {.what = "a try", .may_fail = true};
    s->sc = script_new(&s->a, &log, "node-1");
    script_ask(s->sc, &may, REQUEST(append, .path = below(s, "a"), .text = "x"));
    script_ask(s->sc, &may, REQUEST(remove_tree, .path = below(s, "b")));
    script_run(s->sc, s->f->link, on_changed, s);
    close_link(s->f);
    assert_true(s->changes > 0);
    assert_int_equal(read(ends[0], said, sizeof said), -1);
    close(ends[0]);
    close(ends[1]);
}

static struct script_turn *pending_turn;

static void begin_late(void *ctx, struct node_link *link, struct script_turn *turn)
{
    (void)ctx, (void)link;
    pending_turn = turn;
}

static void halt_never(void *ctx)
{
    (void)ctx;
}

/* As an agent does whose worker takes too long: the link is up, so nothing is sent again. */
STAGE_TEST(test_a_step_that_is_refused_and_may_fail_is_logged)
{
    char said[400] = "";
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const struct log log = {.fd = ends[1], .level = LOG_LVL_WARN};
    const struct script_label may = {.what = "a try", .may_fail = true};
    const struct script_work work = {.begin = begin_late, .halt = halt_never};
    struct err late;
    s->sc = script_new(&s->a, &log, "node-1");
    script_work(s->sc, &may, &work);
    script_run(s->sc, s->f->link, on_changed, s);
    err_set(&late, ERR_UNAVAILABLE, NULL, "was not done within 60 s");
    script_turn_end(pending_turn, &late);
    WAIT(s->f, script_state(s->sc) == SCRIPT_DONE);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    assert_says(said, "node.step_failed", "a try", "was not done within 60 s");
    close(ends[0]);
    close(ends[1]);
}

/* As podman of an ordinary user does: its first command leaves a process behind. */
static const char leaving_runtime[] = "#!/bin/sh\n"
                                      "[ $1 = inspect ] && exit 1\n"
                                      "sleep 1000 >/dev/null 2>&1 &\n"
                                      "echo $! >${0%/*}/left-by-$1\n"
                                      "[ $1 != run ] || echo c0ffee\n";

/* What pulling and removing leave behind has no part in the container; what starting it leaves may
 * be its monitor. */
STAGE_TEST(test_the_start_of_a_container_alone_may_leave_processes)
{
    const struct container_spec spec = {.image = "i", .user = ""};
    const struct container c = {.spec = &spec,
                                .words = &batchai_front_words,
                                .runtime = below(s, "runtime"),
                                .name = "c",
                                .root = s->f->root,
                                .run_dir = below(s, "jobs/j"),
                                .work_dir = below(s, "jobs/j/work"),
                                .log_path = below(s, "jobs/j/log")};
    const char *dirs[] = {below(s, "jobs/j/mounts"), below(s, "mounts")};
    const struct env none = {.a = &s->a};
    const char *heard = NULL;
    script_ask(s->sc, &plain, REQUEST(make_dirs, .paths = dirs, .n_paths = 2));
    script_ask(s->sc, &plain,
               REQUEST(write_file, .path = c.runtime, .text = leaving_runtime, .mode = 0755));
    container_add_start(s->sc, &s->a, &c, "start-", &none, &heard);
    container_add_removal(s->sc, &s->a, &c, "end-");
    run_well(s);
    assert_string_equal(container_id(&s->a, heard), "c0ffee");
    long monitor = read_pid(s->f, "left-by-run");
    assert_false(gone(monitor));
    assert_int_equal(kill((pid_t)monitor, SIGKILL), 0);
    WAIT(s->f, gone(monitor));
    assert_true(gone(read_pid(s->f, "left-by-image")));
    assert_true(gone(read_pid(s->f, "left-by-ps")));
}
