/* SPDX-License-Identifier: MIT
 *
 * One process supervises task after task: what is over has no part in what comes next, and a helper
 * that is gone costs nothing but a fork.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "nodeagent-proto/agent/supervisor.h"
#include "test/unit/nodeagent-proto/link/task_fixture.h"

static long supervisor_of(struct fixture *f, const char *id)
{
    char record[64];
    snprintf(record, sizeof record, "tasks/%s.start", id);
    return number_in(f, record, "supervisor");
}

static struct link_seen *run_to_end(struct fixture *f, const char *id, const char *command)
{
    int before = f->n_ended;
    start(f, id, command);
    WAIT(f, f->n_ended == before + 1);
    return &f->ended[before];
}

static bool is_named(long pid, const char *name)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    bool is = fs_read(path, 64, &text, NULL, NULL) == 0 && strncmp(text, name, strlen(name)) == 0;
    free(text);
    return is;
}

/* Runs tasks until one is supervised by the process that supervised the last: the agent may hear
 * that it is idle a moment after the end of its task. */
static long find_idle(struct fixture *f, const char *prefix)
{
    long last = 0;
    for (int i = 0; i < 20; i++) {
        char id[32];
        snprintf(id, sizeof id, "%s%d", prefix, i);
        assert_int_equal(run_to_end(f, id, "exit 3")->s.exit_code, 3);
        long now = supervisor_of(f, id);
        WAIT(f, is_named(now, "batchai-spare"));
        if (now == last)
            return now;
        last = now;
    }
    return 0;
}

READY_TEST(test_one_process_supervises_task_after_task)
{
    assert_true(find_idle(f, "t") > 1);
}

READY_TEST(test_nothing_of_a_task_is_left_for_the_next)
{
    const struct kv secret = {.name = "SECRET", .value = "xyzzy"};
    assert_true(find_idle(f, "t") > 1);
    start_with(f, "first", "(sleep 1000 &) ; umask 077; cd /; exit 5", &secret, 1);
    WAIT(f, f->run_answers == 1);
    WAIT(f, strcmp(f->ended[f->n_ended - 1].id, "first") == 0);
    assert_int_equal(f->ended[f->n_ended - 1].s.exit_code, 5);
    assert_int_equal(
        run_to_end(f, "next", "test -z \"$SECRET\" && case $PWD in */work/here) exit 7;; esac")
            ->s.exit_code,
        7);
}

/* A signal that comes after the end of its task. */
READY_TEST(test_a_late_signal_does_not_reach_the_next_task)
{
    long helper = find_idle(f, "t");
    const union sigval kill_it = {.sival_int = SIGKILL};
    assert_int_equal(sigqueue((pid_t)helper, SUPERVISOR_SIGNAL, kill_it), 0);
    assert_int_equal(run_to_end(f, "next", "sleep 0.2; exit 4")->s.exit_code, 4);
    assert_int_equal(supervisor_of(f, "next"), helper);
}

READY_TEST(test_a_helper_that_was_killed_is_not_missed)
{
    long helper = find_idle(f, "t");
    assert_int_equal(kill((pid_t)helper, SIGKILL), 0);
    WAIT(f, gone(helper));
    assert_int_equal(run_to_end(f, "next", "exit 6")->s.exit_code, 6);
    assert_true(supervisor_of(f, "next") != helper);
}

/* Of the agent, too, if it was killed. */
READY_TEST(test_idle_helpers_end)
{
    long helper = find_idle(f, "t");
    WAIT(f, gone(helper));
    helper = find_idle(f, "u");
    kill_agent(f);
    WAIT(f, gone(helper));
}

LINK_TEST(test_a_task_that_is_too_long_for_a_message)
{
    enum { LENGTH = 100000 };
    char *command = xcalloc(1, LENGTH + 1);
    open_ready(f);
    assert_true(find_idle(f, "t") > 1);
    (void)snprintf(command, LENGTH + 1, "%*s", LENGTH, "exit 8");
    assert_int_equal(run_to_end(f, "long", command)->s.exit_code, 8);
    free(command);
}

/* KiB of its data and heap. */
static long data_of(long pid)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    assert_int_equal(fs_read(path, 65536, &text, NULL, NULL), 0);
    const char *at = strstr(text, "VmData:");
    long n = at ? strtol(at + strlen("VmData:"), NULL, 10) : -1;
    free(text);
    return n;
}

/* A child that executes its command frees nothing, and may share memory with its supervisor. */
LINK_TEST(test_commands_leave_no_memory_behind)
{
    enum { LONG = 40000, TIMES = 30 };
    char *plain = xcalloc(1, LONG + 1), id[32];
    memset(plain, 'a', LONG);
    memcpy(plain, "true ", 5);
    open_ready(f);
    long helper = find_idle(f, "t");
    assert_int_equal(run_to_end(f, "first", plain)->s.exit_code, 0);
    WAIT(f, is_named(helper, "batchai-spare"));
    long before = data_of(helper);
    int ran = 0;
    for (int i = 0; ran < TIMES / 2 && i < 10 * TIMES; i++) {
        snprintf(id, sizeof id, "n%d", i); /* on a busy machine other helpers take some of them */
        assert_int_equal(run_to_end(f, id, plain)->s.exit_code, 0);
        ran += supervisor_of(f, id) == helper;
        WAIT(f, is_named(helper, "batchai-spare"));
    }
    assert_int_equal(ran, TIMES / 2);
    long grown = data_of(helper) - before;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    grown = 0; /* it keeps what is freed */
#endif
    if (grown > TIMES * LONG / 1024 / 4)
        fail_msg("its memory grew by %ld KiB in %d tasks", grown, TIMES);
    free(plain);
}

static ino_t inode_of(struct fixture *f, const char *relative)
{
    struct stat st = {.st_ino = 0};
    (void)stat(in_root(f, relative), &st);
    return st.st_ino;
}

READY_TEST(test_files_of_a_forgotten_task_serve_the_next)
{
    run_to_end(f, "old", "exit 1");
    WAIT(f, is_named(supervisor_of(f, "old"), "batchai-spare")); /* it has let go of the claim */
    ino_t claim = inode_of(f, "tasks/old.claim"), end = inode_of(f, "tasks/old.exit");
    ASKED(f, forget, .task = "old");
    run_to_end(f, "new", "exit 2");
    assert_true(claim == inode_of(f, "tasks/new.claim") && end == inode_of(f, "tasks/new.exit"));
    kill_agent(f);
    f->n_ended = 0;
    open_ready(f);
    WAIT(f, f->n_ended == 1);
    assert_string_equal(f->ended[0].id, "new");
    assert_int_equal(f->ended[0].s.exit_code, 2);
    start(f, "old", "exit 3"); /* its name is free, and it is a new task */
    assert_int_equal(nth_end(f, 2)->s.exit_code, 3);
}

/* Files in tasks/ that wait for a task. */
static int count_spare(struct fixture *f)
{
    DIR *d = opendir(in_root(f, "tasks"));
    struct dirent *de;
    int n = 0;
    assert_non_null(d);
    while ((de = readdir(d)))
        n += de->d_name[0] == '=';
    closedir(d);
    return n;
}

READY_TEST(test_as_many_files_serve_again_as_tasks_ran_at_once)
{
    static const char *const first[] = {"a0", "a1", "a2"}, *const next[] = {"b0", "b1", "b2"};
    enum { AT_ONCE = 3, FILES = 3 };
    for (int i = 0; i < AT_ONCE; i++)
        start(f, first[i], "sleep 0.1; exit 1");
    WAIT(f, f->n_ended == AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
        WAIT(f, is_named(supervisor_of(f, first[i]), "batchai-spare"));
        ASKED(f, forget, .task = first[i]);
    }
    assert_int_equal(count_spare(f), AT_ONCE * FILES);
    ino_t last = inode_of(f, "tasks/=claim2");
    for (int i = 0; i < AT_ONCE; i++)
        start(f, next[i], "exit 2");
    WAIT(f, f->n_ended == 2 * AT_ONCE);
    assert_int_equal(count_spare(f), 0);
    assert_true(last == inode_of(f, "tasks/b2.claim"));
}

/* Where the record of the end would have been is room, too. */
READY_TEST(test_files_of_a_task_that_did_not_begin_serve_the_next)
{
    run_to_end(f, "old", "exit 1");
    WAIT(f, is_named(supervisor_of(f, "old"), "batchai-spare"));
    ino_t began = inode_of(f, "tasks/old.start");
    ASKED(f, forget, .task = "old");
    struct task_spec s = usual_spec(f, "broken", "exit 3");
    s.user = "nobody-of-that-name";
    f->n_ended = 0;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_FAILED_TO_START);
    ASKED(f, forget, .task = "broken");
    WAIT(f, count_spare(f) == 3);
    assert_true(began == inode_of(f, "tasks/=start"));
}
