/* SPDX-License-Identifier: MIT
 *
 * What a task survives, and what is told of one that did not: agent or supervisor killed, a
 * machine started anew.
 */
#include <errno.h>

#include <sys/wait.h>

#include "lib/strbuf.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

READY_TEST(test_agent_killed)
{
    char first[64];
    snprintf(first, sizeof first, "%s", f->incarnation);
    start(f, "survivor", "echo up; while [ ! -e ../go ]; do sleep 0.01; done; echo done; exit 9");
    start(f, "meanwhile", "while [ ! -e ../go2 ]; do sleep 0.01; done; exit 4");
    kill_agent(f);
    char *go2 = in_root(f, "work/go2"), *go = in_root(f, "work/go");
    struct err e;
    assert_int_equal(fs_write_atomic(go2, "", 0, 0644, &e), 0);
    WAIT(f, file_has(f, "tasks/meanwhile.exit", "\"exit_code\":4")); /* with nobody there */

    open_ready(f);
    assert_string_equal(f->incarnation, first);
    WAIT(f, f->n_ended == 1);
    assert_string_equal(f->ended[0].id, "meanwhile");
    assert_int_equal(f->ended[0].s.exit_code, 4);
    start(f, "survivor", "echo must not run");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 2);
    assert_int_equal(fs_write_atomic(go, "", 0, 0644, &e), 0);
    WAIT(f, f->n_ended == 2);
    assert_string_equal(f->ended[1].id, "survivor");
    assert_int_equal(f->ended[1].s.exit_code, 9);
    assert_string_equal(slurp(f, "out/stdout.txt"), "up\ndone\n");
}

READY_TEST(test_supervisor_killed)
{
    start(f, "lost",
          "echo trouble >&2; (setsid env -i sh -c 'echo $$ > ../stray; exec sleep 1000' &); "
          "echo $$ > ../main; sleep 1000");
    WAIT(f, read_pid(f, "work/stray") > 1 && read_pid(f, "work/main") > 1);
    pid_t supervisor = (pid_t)number_in(f, "tasks/lost.start", "supervisor");
    assert_true(supervisor > 1);
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
    assert_says(f->ended[0].why, "supervisor");
    assert_string_equal(f->ended[0].tail, "trouble\n");
    WAIT(f, gone(read_pid(f, "work/stray")) && gone(read_pid(f, "work/main")));
}

READY_TEST(test_supervisor_and_agent_killed)
{
    start(f, "lost", "(setsid sh -c 'echo $$ > ../stray; exec sleep 1000' &); sleep 1000");
    WAIT(f, read_pid(f, "work/stray") > 1);
    pid_t supervisor = (pid_t)number_in(f, "tasks/lost.start", "supervisor");
    kill_agent(f);
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    WAIT(f, gone(supervisor));
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
    WAIT(f, gone(read_pid(f, "work/stray")));
}

static void write_claim(struct fixture *f, const char *relative, const char *boot, const char *mark)
{
    struct err e;
    struct strbuf text = STRBUF_INIT;
    char *dir = in_root(f, "tasks"), *claim = in_root(f, relative);
    strbuf_printf(&text, "%s%s", boot, mark);
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    assert_int_equal(fs_write_atomic(claim, text.s, text.len, 0600, &e), 0);
    strbuf_free(&text);
}

/* The agent was killed before, or while, a supervisor forked the command. */
LINK_TEST(test_claim_without_start)
{
    char *boot;
    struct err e;
    assert_int_equal(fs_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL, &e), 0);
    write_claim(f, "tasks/marked.claim", boot, "starting\n");
    write_claim(f, "tasks/empty.claim", "", "");
    write_claim(f, "tasks/unused.claim", boot, "");
    open_ready(f);
    WAIT(f, f->n_ended == 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->ended[i].s.state, TASK_LOST);
        assert_says(f->ended[i].why, "no record that its command ran");
    }
    start(f, "marked", "echo must not run");
    assert_int_equal(f->run.s.state, TASK_LOST);
    start(f, "unused", "exit 6");
    assert_int_equal(f->run.s.state, TASK_RUNNING);
    assert_int_equal(nth_end(f, 3)->s.exit_code, 6);
    free(boot);
}

LINK_TEST(test_reboot)
{
    write_claim(f, "tasks/old.claim", "11111111-2222-3333-4444-555555555555\n", "");
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
    assert_says(f->ended[0].why, "restarted");
}

/* Starts a process in a session of its own, whose leader has ended. Returns the process. */
static pid_t in_a_session(pid_t *leader)
{
    int fds[2];
    pid_t member = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    *leader = fork();
    if (*leader == 0) {
        setsid();
        member = fork();
        if (member == 0) {
            alarm(60); /* should nobody else end it */
            pause();
            _exit(1);
        }
        _exit(write(fds[1], &member, sizeof member) == sizeof member ? 0 : 1);
    }
    assert_int_equal(waitpid(*leader, NULL, 0), *leader);
    assert_int_equal(read(fds[0], &member, sizeof member), sizeof member);
    close(fds[0]);
    close(fds[1]);
    return member;
}

/* A process of this boot has the session number of a task of the last one. */
LINK_TEST(test_after_a_reboot_numbers_are_other_processes)
{
    struct err e;
    pid_t leader, member = in_a_session(&leader);
    char text[256], *path = in_root(f, "tasks/old.start");
    write_claim(f, "tasks/old.claim", "11111111-2222-3333-4444-555555555555\n", "starting\n");
    int n = snprintf(text, sizeof text,
                     "{\"supervisor\":2147483000,\"command\":%d,\"command_start\":5,"
                     "\"started_us\":77,\"stderr_from\":0,\"stderr_path\":\"%s/stderr\"}",
                     (int)leader, f->root);
    assert_int_equal(fs_write_atomic(path, text, (size_t)n, 0600, &e), 0);
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
    assert_false(gone(member));
    kill(member, SIGKILL);
}

LINK_TEST(test_long_task_list)
{
    struct err e;
    char *dir = in_root(f, "tasks");
    assert_int_equal(fs_mkdirs(dir, 0700, &e), 0);
    for (int i = 0; i < 450; i++) {
        struct strbuf claim = STRBUF_INIT;
        strbuf_printf(&claim, "%s/c%d.claim", dir, i);
        FILE *file = fopen(claim.s, "w");
        assert_non_null(file);
        fclose(file);
        strbuf_free(&claim);
    }
    open_ready(f);
    WAIT(f, f->n_ended == 450);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 450);
}

/* However the root goes, the agent ends, so that the daemon looks at the node anew; what ran is
 * killed, since nobody would learn of its end. */
static void check_root_gone(struct fixture *f, void (*take_away)(struct fixture *f))
{
    char first[64];
    open_ready(f);
    snprintf(first, sizeof first, "%s", f->incarnation);
    start(f, "orphan", "echo $$; (setsid sh -c 'echo $$ >&2; exec sleep 1000' &); sleep 1000");
    WAIT(f, read_pid(f, "out/stdout.txt") > 1 && read_pid(f, "out/stderr.txt") > 1);
    long main_pid = read_pid(f, "out/stdout.txt"), stray = read_pid(f, "out/stderr.txt");
    take_away(f);
    WAIT(f, f->down == 1);
    assert_why(f, ERR_NODE_LOST, "was removed or moved away");
    WAIT(f, gone(main_pid) && gone(stray));
    close_link(f);

    open_ready(f);
    assert_string_not_equal(f->incarnation, first);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 0);
    start(f, "next", "exit 3");
    assert_int_equal(nth_end(f, 1)->s.exit_code, 3);
}

/* A task that is killed meanwhile may leave its record in a folder that was empty a moment ago, as
 * rm -r would find, too: again, then. */
static void remove_root(struct fixture *f)
{
    struct err e;
    int tries = 0;
    while (fs_remove_tree(f->root, &e) != 0 && tries++ < 100)
        assert_non_null(strstr(e.msg, strerror(ENOTEMPTY)));
    assert_true(tries < 100);
}

static void move_root(struct fixture *f)
{
    char away[80];
    struct err e;
    snprintf(away, sizeof away, "%s-away", f->root);
    assert_int_equal(rename(f->root, away), 0);
    assert_int_equal(fs_remove_tree(away, &e), 0);
}

/* As a removal that comes upon this file last of all: the next agent may be there already. */
static void remove_incarnation(struct fixture *f)
{
    char *path = in_root(f, "incarnation"), *tasks = in_root(f, "tasks"),
         *away = in_root(f, "tasks-away");
    assert_int_equal(rename(tasks, away), 0);
    assert_int_equal(unlink(path), 0);
}

LINK_TEST(test_files_that_were_not_finished_go)
{
    static const char *const left[] = {"incarnation.tmp-aB12Cd", "epoch.tmp-123456",
                                       "users/somebody.x1y2z3"};
    struct err e;
    assert_int_equal(fs_mkdirs(in_root(f, "users"), 0700, &e), 0);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        char *path = in_root(f, left[i]);
        assert_int_equal(fs_write_atomic(path, "", 0, 0600, &e), 0);
    }
    open_ready(f);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        char *path = in_root(f, left[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
}

LINK_TEST(test_root_removed)
{
    check_root_gone(f, remove_root);
}

LINK_TEST(test_root_moved_away)
{
    check_root_gone(f, move_root);
}

LINK_TEST(test_root_partly_removed)
{
    check_root_gone(f, remove_incarnation);
}

/* An agent for which inotify has no room, as where other programs of its account took all of it. */
static bool without_inotify(char *script, size_t n)
{
    const char *agent = getenv("BATCHAI_NODE");
    char real[PATH_MAX];
    struct strbuf b = STRBUF_INIT;
    struct err e;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execlp("unshare", "unshare", "-Ur", "sh", "-c",
               "exec 2>/dev/null; echo 0 >/proc/sys/user/max_inotify_instances", (char *)NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return false;
    assert_non_null(realpath(agent ? agent : "build/batchai-node", real));
    strbuf_printf(
        &b,
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "
        "\"$0\" \"$@\"' %s \"$@\"\n",
        real);
    snprintf(script, n, "/tmp/batchai-node-test-no-inotify-%d", (int)getpid());
    assert_int_equal(fs_write_atomic(script, b.s, b.len, 0755, &e), 0);
    strbuf_free(&b);
    return true;
}
#define AGAIN(name) cmocka_unit_test_setup_teardown(run_##name, setup, teardown)

int main(void)
{
    char script[PATH_MAX];
    int failed = run_all_tests(NULL, NULL);
    if (!without_inotify(script, sizeof script)) {
        print_message("skipped: survival without inotify needs user namespaces\n");
        return failed;
    }
    /* Each of these agents has a user namespace of its own, so not where one looks for another's
     * processes. */
    const struct CMUnitTest again[] = {
        AGAIN(test_agent_killed),        AGAIN(test_supervisor_killed),
        AGAIN(test_claim_without_start), AGAIN(test_long_task_list),
        AGAIN(test_root_removed),        AGAIN(test_root_moved_away),
        AGAIN(test_root_partly_removed),
    };
    setenv("BATCHAI_NODE", script, 1);
    failed += cmocka_run_group_tests_name("survival without inotify", again, NULL, NULL);
    unlink(script);
    return failed;
}
