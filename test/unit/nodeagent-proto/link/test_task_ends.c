/* SPDX-License-Identifier: MIT
 *
 * How a task ends that asked for something special, by the real agent: a limit of its time,
 * children that go on, signals that a command of its own carries on.
 */
#include "test/unit/nodeagent-proto/link/task_fixture.h"

/* ---- timeout_s ---- */

READY_TEST(test_time_limit)
{
    struct task_spec s = usual_spec(f, "slow",
                                    "trap '' TERM; (setsid sh -c 'echo $$ >&2; exec sleep 1000' &);"
                                    " until [ -s ../../out/stderr.txt ]; do sleep 0.01; done;"
                                    " echo $$; sleep 1000");
    s.timeout_s = 1;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_EXITED);
    assert_int_equal(f->ended[0].s.signal, SIGKILL);
    assert_int_equal(f->ended[0].s.exit_code, -1);
    assert_string_equal(f->ended[0].why, "it did not end within 1 s and was killed");
    assert_true(f->ended[0].s.ended_us - f->ended[0].s.started_us >= 900000);
    assert_true(gone(read_pid(f, "out/stdout.txt")) && gone(read_pid(f, "out/stderr.txt")));
    assert_true(file_has(f, "out/execution.log", "(Killed): it did not end within 1 s"));
    start(f, "slow", "echo must not run"); /* what is told again has the reason too */
    assert_string_equal(f->run.why, "it did not end within 1 s and was killed");
}

READY_TEST(test_time_limit_that_is_not_reached)
{
    struct task_spec s = usual_spec(f, "quick", "exit 4");
    s.timeout_s = 1000;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 4);
    assert_string_equal(f->ended[0].why, "");
}

/* Its supervisor notes the end there, and must not wait for somebody to read it. */
READY_TEST(test_a_job_that_puts_a_fifo_in_place_of_its_log_ends)
{
    struct task_spec s =
        usual_spec(f, "fifo", "cd \"$OUT\"; rm -f execution.log; mkfifo execution.log; exit 4");
    const struct kv env = {.name = "OUT", .value = in_root(f, "out")};
    s.env = &env;
    s.n_env = 1;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 4);
}

/* An output file that hangs (a FIFO that nobody reads, a dead server) is part of the time. */
READY_TEST(test_time_limit_while_opening_files)
{
    struct task_spec s = usual_spec(f, "hangs", "echo must not run");
    char *fifo = in_root(f, "fifo");
    assert_int_equal(mkfifo(fifo, 0666), 0);
    s.stdout_path = fifo;
    s.timeout_s = 1;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_says(f->ended[0].why, "within 1 s");
}

/* ---- keep_children ---- */

/* Starts a task that leaves behind a daemon with an environment of its own, as mount helpers are,
 * and ends with `code`; returns the daemon's pid. */
static long leave_daemon(struct fixture *f, bool keep, const char *code)
{
    struct kv env[] = {{.name = "CODE", .value = code}};
    struct task_spec s = usual_spec(f, "mount",
                                    "(setsid env -i sh -c 'echo $$ > ../daemon; exec sleep 1000' "
                                    "&); until [ -s ../daemon ]; do sleep 0.01; done; exit $CODE");
    s.env = env;
    s.n_env = 1;
    s.keep_children = keep;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, atoi(code));
    return read_pid(f, "work/daemon");
}

static long parent_of(long pid)
{
    char path[64], *text;
    struct err e;
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (fs_read(path, 4096, &text, NULL, &e) < 0)
        return 0;
    const char *rest = strrchr(text, ')');
    if (rest && sscanf(rest, ") %*c %ld", &parent) != 1)
        parent = 0;
    free(text);
    return parent;
}

READY_TEST(test_children_go_on)
{
    long daemon = leave_daemon(f, true, "0");
    long keeper = parent_of(daemon);
    assert_true(daemon > 1 && !gone(daemon));
    assert_true(keeper > 1 && keeper == number_in(f, "tasks/mount.start", "supervisor"));

    /* A task that is lost has what it left killed, by the same agent and by the next. */
    for (int i = 0; i < 2; i++) {
        const char *id = i == 0 ? "lost" : "lost-again";
        char record[64];
        snprintf(record, sizeof record, "tasks/%s.start", id);
        start(f, id, "sleep 1000");
        f->n_ended = 0;
        assert_int_equal(kill((pid_t)number_in(f, record, "supervisor"), SIGKILL), 0);
        assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
        assert_false(gone(daemon));
        if (i == 0) {
            kill_agent(f);
            assert_false(gone(daemon));
            open_ready(f);
            WAIT(f, f->n_ended == 2);
        }
    }
    DONE(f, forget, .task = "mount");
    assert_false(gone(daemon));
    assert_int_equal(kill((pid_t)daemon, SIGKILL), 0);
    WAIT(f, gone(daemon) && gone(keeper)); /* nothing to keep */
}

/* By the agent of then and by the next one: what matters is the task's record. */
READY_TEST(test_children_that_went_on_are_killed)
{
    long daemon = leave_daemon(f, true, "0"), keeper = parent_of(daemon);
    kill_agent(f);
    open_ready(f);
    ASKED(f, signal, .task = "mount", .signal = SIGTERM);
    assert_false(gone(daemon));
    DONE(f, signal, .task = "mount", .signal = SIGKILL);
    assert_true(gone(daemon) && gone(keeper)); /* before the answer */
    DONE(f, signal, .task = "mount", .signal = SIGKILL);
}

READY_TEST(test_children_of_a_failure_die)
{
    assert_true(gone(leave_daemon(f, true, "1")));
}

READY_TEST(test_children_die_unless_kept)
{
    assert_true(gone(leave_daemon(f, false, "0")));
}

/* ---- signal_command ---- */

#define RELAYED "work/relayed"

/* What the signal command does: writes the number down, and for SIGTERM lets the task end. */
static struct task_spec with_signal_command(struct fixture *f, const char *command)
{
    struct task_spec s = usual_spec(f, "relayed", command);
    static struct kv env[2];
    env[0] = (struct kv){.name = "DIR", .value = f->root};
    s.env = env;
    s.n_env = 1;
    s.signal_command = "echo $BATCHAI_SIGNAL >> $DIR/" RELAYED "; "
                       "if [ $BATCHAI_SIGNAL = 15 ]; then touch $DIR/work/go; fi";
    return s;
}

static void assert_relayed(struct fixture *f, const char *all)
{
    assert_string_equal(slurp(f, RELAYED), all);
}

READY_TEST(test_signal_is_carried_on)
{
    struct task_spec s = with_signal_command(
        f, "trap 'exit 99' TERM; until [ -e ../go ]; do sleep 0.01; done; exit 7");
    run_spec(f, &s);
    ASKED(f, signal, .task = "relayed", .signal = SIGTERM);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 7); /* the signal itself did not reach it */
    assert_relayed(f, "15\n9\n");                    /* and for what may be left there, the end */
}

READY_TEST(test_kill_is_carried_on_and_kills)
{
    struct task_spec s = with_signal_command(f, "sleep 1000");
    run_spec(f, &s);
    ASKED(f, signal, .task = "relayed", .signal = SIGKILL);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_string_equal(f->ended[0].why, "");
    assert_relayed(f, "9\n");
}

READY_TEST(test_time_limit_is_carried_on)
{
    struct task_spec s = with_signal_command(f, "sleep 1000");
    s.timeout_s = 1;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_says(f->ended[0].why, "within 1 s");
    assert_relayed(f, "9\n");
}

READY_TEST(test_nothing_is_carried_on_without_need)
{
    struct task_spec s = with_signal_command(f, "exit 0");
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_relayed(f, "");
}

/* The one who spoke for the task died of a signal; what it spoke for may live. */
READY_TEST(test_kill_is_carried_on_if_the_command_was_killed)
{
    struct task_spec s = with_signal_command(f, "kill -9 $$");
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_relayed(f, "9\n");
}

/* It has 10 s, and the task's own processes none of them. */
READY_TEST(test_signal_command_that_hangs)
{
    struct task_spec s = with_signal_command(f, "echo $$; sleep 1000");
    s.signal_command = "echo $$ > $DIR/work/hangs; sleep 1000 & wait";
    run_spec(f, &s);
    WAIT(f, read_pid(f, "out/stdout.txt") > 1);
    ASKED(f, signal, .task = "relayed", .signal = SIGKILL);
    WAIT(f, read_pid(f, "work/hangs") > 1 && gone(read_pid(f, "out/stdout.txt")));
    assert_int_equal(f->n_ended, 0);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_true(gone(read_pid(f, "work/hangs")));
}

/* Who looks whether a task has ended, and kills it again meanwhile, must not keep it from ending.
 */
READY_TEST(test_kills_one_after_another_are_carried_on_once)
{
    enum { KILLS = 100 };
    struct task_spec s = with_signal_command(f, "sleep 1000");
    s.signal_command =
        "echo $BATCHAI_SIGNAL >> $DIR/" RELAYED "; sleep 0.3; echo done >> $DIR/" RELAYED;
    run_spec(f, &s);
    int before = f->answers;
    for (int i = 0; i < KILLS; i++)
        node_ask(f->link, REQUEST(signal, .task = "relayed", .signal = SIGKILL), on_done, f);
    WAIT(f, f->answers == before + KILLS);
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    assert_relayed(f, "9\ndone\n");
}
