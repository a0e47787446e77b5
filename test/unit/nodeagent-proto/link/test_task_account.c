/* SPDX-License-Identifier: MIT
 *
 * A task that runs as another account, by the real agent: who it is, whose its files are, and that
 * neither agent nor supervisor do for it what the account itself could not. The account exists in a
 * mount namespace of this test's own.
 */
#include "test/unit/nodeagent-proto/link/task_fixture.h"

static bool have_account; /* set once, by main() */

static struct fixture *with_account(struct fixture *f)
{
    if (!have_account)
        skip_because("needs root and mount namespaces");
    return f;
}

#define TASK_ACCOUNT_TEST(name)                                                                    \
    TEST_IN(name, struct fixture *f, with_account(*state), setup_open_root, teardown)

static void assert_owner(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_uid, TEST_UID);
    assert_int_equal(st.st_gid, TEST_GID);
}

TASK_ACCOUNT_TEST(test_it_is_the_account)
{
    open_ready(f);
    struct kv env[] = {{.name = "GREETING", .value = "hello"}};
    struct task_spec s = usual_spec(
        f, "who",
        "id -u; id -g; id -G; echo \"$USER $LOGNAME $HOME $SHELL $GREETING ${TMPDIR-none}\"; "
        "touch mine; grep NoNewPrivs /proc/self/status; cat /proc/self/status | grep ^CapEff");
    s.user = TEST_USER;
    s.env = env;
    s.n_env = 1;
    setenv("TMPDIR", "/root/tmp", 1);
    run_spec(f, &s);
    unsetenv("TMPDIR");
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_true(file_has(f, "out/stdout.txt", "54321\n54322\n54322 54323\n"));
    assert_true(
        file_has(f, "out/stdout.txt", TEST_USER " " TEST_USER " /tmp /bin/sh hello none\n"));
    assert_true(file_has(f, "out/stdout.txt", "CapEff:\t0000000000000000\n"));
    assert_true(file_has(f, "out/execution.log", ", as " TEST_USER ": id -u"));
}

TASK_ACCOUNT_TEST(test_its_files_are_the_accounts)
{
    static const char *const owned[] = {
        "work",           "work/here",      "work/here/mine",   "out",
        "out/stdout.txt", "out/stderr.txt", "out/execution.log"};
    open_ready(f);
    struct task_spec s = usual_spec(f, "files", "touch mine");
    s.user = TEST_USER;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        assert_owner(f, owned[i]);
}

OPEN_ROOT_TEST(test_unknown_account)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "nobody-there", "true");
    s.user = "no-such-account";
    run_spec(f, &s);
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, "there is no account 'no-such-account'");
    assert_int_equal(nth_end(f, 1)->s.state, TASK_FAILED_TO_START);
}

/* By the supervisor that could not start the first, as soon as it is free again. */
OPEN_ROOT_TEST(test_a_task_after_an_unknown_account_reads_nothing)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "nobody-there", "true");
    s.user = "no-such-account";
    run_spec(f, &s);
    (void)nth_end(f, 1);
    for (int i = 2; i <= 6; i++) {
        char id[16];
        snprintf(id, sizeof id, "next-%d", i);
        s = usual_spec(f, id, "[ $(readlink /proc/$$/fd/0) = /dev/null ]");
        run_spec(f, &s);
        assert_int_equal(nth_end(f, i)->s.exit_code, 0);
    }
}

/* What is there already is not given away, and links are followed with the account's rights only.
 */
TASK_ACCOUNT_TEST(test_links_lead_nowhere_new)
{
    struct stat st;
    struct err e;
    open_ready(f);
    struct task_spec s = usual_spec(f, "first", "ln -s ../secret ../../out/planted");
    s.user = TEST_USER;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    char *secret = in_root(f, "secret"), *planted = in_root(f, "out/planted");
    assert_int_equal(fs_write_atomic(secret, "hush\n", 5, 0600, &e), 0);

    s.id = "out-by-link";
    s.stdout_path = planted;
    run_spec(f, &s);
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_non_null(strstr(f->run.why, "as '" TEST_USER "': cannot open the output file"));
    s.id = "out-direct";
    s.stdout_path = secret;
    run_spec(f, &s);
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    s.id = "log-by-link";
    s.stdout_path = in_root(f, "out/stdout.txt");
    s.log_path = planted;
    s.command_line = "true";
    f->n_ended = 0;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);

    assert_int_equal(stat(secret, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_size, 5);
}

/* A command of root's among an account's files, as those are that speak to a container runtime. */
TASK_ACCOUNT_TEST(test_roots_output_goes_only_where_the_account_may_write)
{
    struct stat st;
    struct err e;
    open_ready(f);
    struct task_spec s =
        usual_spec(f, "first", "for f in out log; do ln -s ../secret ../../out/$f; done");
    s.user = TEST_USER;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    char *secret = in_root(f, "secret"), *out = in_root(f, "out/out"), *log = in_root(f, "out/log");
    assert_int_equal(fs_write_atomic(secret, "hush\n", 5, 0600, &e), 0);

    s.user = NULL;
    s.files_as = TEST_USER;
    s.id = "out-by-link";
    s.command_line = "echo more";
    s.stdout_path = out;
    run_spec(f, &s);
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_non_null(strstr(f->run.why, "as '" TEST_USER "': cannot open the output file"));
    s.id = "as-it-should-be";
    s.command_line = "id -u; echo $HOME";
    s.stdout_path = in_root(f, "out/stdout.txt");
    s.log_path = log;
    f->n_ended = 0;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_true(file_has(f, "out/stdout.txt", "0\n"));
    assert_false(file_has(f, "out/stdout.txt", "/tmp\n"));
    assert_owner(f, "out/stdout.txt");

    assert_int_equal(stat(secret, &st), 0);
    assert_int_equal(st.st_size, 5);
}

/* The tail of stderr is read when the task is over: by then it may be something else. */
static void check_tail(struct fixture *f, bool lost)
{
    struct err e;
    open_ready(f);
    char *secret = in_root(f, "secret");
    assert_int_equal(fs_write_atomic(secret, "hush\n", 5, 0600, &e), 0);
    struct task_spec s = usual_spec(f, "tail",
                                    "cd ../../out; rm stderr.txt; ln -s ../secret stderr.txt; "
                                    "touch done; [ $STAY = no ] || sleep 1000");
    struct kv env[] = {{.name = "STAY", .value = lost ? "yes" : "no"}};
    s.user = TEST_USER;
    s.env = env;
    s.n_env = 1;
    run_spec(f, &s);
    char *done = in_root(f, "out/done");
    WAIT(f, access(done, F_OK) == 0);
    if (lost)
        assert_int_equal(kill((pid_t)number_in(f, "tasks/tail.start", "supervisor"), SIGKILL), 0);
    assert_int_equal(nth_end(f, 1)->s.state, lost ? TASK_LOST : TASK_EXITED);
    assert_string_equal(f->ended[0].tail, "");
}

TASK_ACCOUNT_TEST(test_tail_is_read_with_its_rights)
{
    check_tail(f, false);
}

TASK_ACCOUNT_TEST(test_tail_of_a_lost_task_too)
{
    check_tail(f, true);
}

TASK_ACCOUNT_TEST(test_tail_is_told)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "told", "echo trouble >&2; exit 3");
    s.user = TEST_USER;
    run_spec(f, &s);
    assert_string_equal(nth_end(f, 1)->tail, "trouble\n");
}

/* As in a directory that root_squash keeps root out of: the account alone may write there. */
TASK_ACCOUNT_TEST(test_directory_of_its_own)
{
    open_ready(f);
    char *dir = in_root(f, "volume"), *deep = in_root(f, "volume/a/b/stdout.txt");
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chown(dir, TEST_UID, TEST_GID), 0);
    struct task_spec s = usual_spec(f, "volume", "echo here");
    s.user = TEST_USER;
    s.stdout_path = deep;
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_owner(f, "volume/a/b/stdout.txt");
    assert_true(file_has(f, "volume/a/b/stdout.txt", "here\n"));
}

/* Outside of the node root root makes nothing for an account. */
TASK_ACCOUNT_TEST(test_no_directory_elsewhere)
{
    char other[] = "/tmp/batchai-test-other-XXXXXX", path[64];
    assert_non_null(mkdtemp(other));
    assert_int_equal(chmod(other, 0755), 0);
    snprintf(path, sizeof path, "%s/new", other);
    open_ready(f);
    struct task_spec s = usual_spec(f, "elsewhere", "true");
    s.user = TEST_USER;
    s.cwd = path;
    run_spec(f, &s);
    assert_int_equal(rmdir(other), 0); /* nothing is in it */
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, path);
}

TASK_ACCOUNT_TEST(test_it_dies_with_its_supervisor)
{
    open_ready(f);
    struct task_spec s = usual_spec(f, "orphan", "echo $$; exec sleep 1000");
    s.user = TEST_USER;
    run_spec(f, &s);
    WAIT(f, read_pid(f, "out/stdout.txt") > 1);
    pid_t agent = agent_pid(f);
    assert_int_equal(kill(agent, SIGKILL), 0);
    assert_int_equal(kill((pid_t)number_in(f, "tasks/orphan.start", "supervisor"), SIGKILL), 0);
    WAIT(f, gone(read_pid(f, "out/stdout.txt"))); /* with nobody left to kill it */
    WAIT(f, f->down == 1);
    close_link(f);
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_LOST);
}

/* The agent itself as the test account. */
static void open_unprivileged(struct fixture *f, char *script, size_t size)
{
    char text[PATH_MAX + 128];
    struct err e;
    snprintf(script, size, "%s-agent", f->root);
    snprintf(text, sizeof text,
             "#!/bin/sh\nexec setpriv --reuid=54321 --regid=54322 --clear-groups '%s' \"$@\"\n",
             f->agent);
    assert_int_equal(fs_write_atomic(script, text, strlen(text), 0755, &e), 0);
    snprintf(f->agent, sizeof f->agent, "%s", script);
    assert_int_equal(chown(f->root, TEST_UID, TEST_GID), 0);
    open_ready(f);
}

TASK_ACCOUNT_TEST(test_agent_that_is_not_root)
{
    char script[128];
    open_unprivileged(f, script, sizeof script);
    struct task_spec s = usual_spec(f, "other", "true");
    s.user = "nobody";
    run_spec(f, &s);
    assert_int_equal(f->run.s.state, TASK_FAILED_TO_START);
    assert_says(f->run.why, "has uid 54321 and cannot act as 'nobody'");
    WAIT(f, f->n_ended == 1);
    f->n_ended = 0;
    s.id = "own";
    s.user = TEST_USER;
    s.command_line = "echo $HOME; id -u";
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    assert_true(file_has(f, "out/stdout.txt", "/tmp\n54321\n"));
    unlink(script);
}

/* An account of a directory service, as getent(1) and id(1) tell it: these two are stand-ins. */
TASK_ACCOUNT_TEST(test_account_known_to_getent_alone)
{
    static const char getent[] = "#!/bin/sh\n[ \"$1 $2\" = 'passwd far' ] || exit 2\n"
                                 "echo 'far:*:54330:54331:Far Away:/home/far:/bin/zsh'\n";
    static const char id[] = "#!/bin/sh\n[ \"$1 $2\" = '-G far' ] && echo 54331 54332 54333\n";
    const struct {
        const char *path, *text;
    } programs[] = {{"/usr/bin/getent", getent}, {"/usr/bin/id", id}};
    for (size_t i = 0; i < 2; i++) {
        char tmp[] = "/tmp/batchai-test-bin-XXXXXX";
        int fd = mkostemp(tmp, O_CLOEXEC);
        assert_true(fd >= 0 && fchmod(fd, 0755) == 0);
        assert_int_equal(fs_write_all(fd, programs[i].text, strlen(programs[i].text)), 0);
        close(fd);
        assert_int_equal(mount(tmp, programs[i].path, "none", MS_BIND, NULL), 0);
        unlink(tmp);
    }
    open_ready(f);
    struct task_spec s =
        usual_spec(f, "far", "grep -E '^(Uid|Gid|Groups)' /proc/self/status; echo $HOME");
    s.user = "far";
    run_spec(f, &s);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(umount2(programs[i].path, MNT_DETACH), 0);
    assert_true(file_has(f, "out/stdout.txt", "Uid:\t54330\t54330\t54330\t54330\n"));
    assert_true(file_has(f, "out/stdout.txt", "Gid:\t54331\t54331\t54331\t54331\n"));
    assert_true(file_has(f, "out/stdout.txt", "Groups:\t54331 54332 54333 \n/home/far\n"));
}
int main(void)
{
    have_account = make_test_account();
    return run_all_tests(NULL, NULL);
}
