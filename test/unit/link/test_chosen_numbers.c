/* SPDX-License-Identifier: MIT
 *
 * Accounts whose numbers their users chose, given out by the real agent. Needs root.
 */
#include <grp.h>
#include <pwd.h>

#include "test/unit/link/task_fixture.h"
#include "test/unit/support/skip.h"

#define FIRST 2100000000
#define COUNT 40000000

#define NEED_ROOT()                                                                                \
    do {                                                                                           \
        if (geteuid() != 0)                                                                        \
            skip_because("needs root");                                                            \
    } while (0)

static char *dir_of(struct fixture *f, const char *name)
{
    char *jobs = in_root(f, "jobs"), *dir = fs_join(jobs, name);
    free(jobs);
    return dir;
}

static void release(struct fixture *f, const char *name)
{
    ASK(f, node_account_release(f->link, name, on_done, f));
    assert_string_equal(f->why.msg, "");
}

static uid_t owner_of(struct fixture *f, const char *relative, mode_t *mode)
{
    char *path = in_root(f, relative);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    if (mode)
        *mode = st.st_mode & 07777;
    free(path);
    return st.st_uid;
}

static void begin(struct fixture *f, const char *id, const char *name, const char *command)
{
    char as[32], *dir = dir_of(f, name), *out = fs_join(dir, "out.txt"),
                 *no = fs_join(dir, "no.txt");
    snprintf(as, sizeof as, "+%s", name);
    const struct task_spec s = {.id = id,
                                .command_line = command,
                                .cwd = dir,
                                .stdout_path = out,
                                .stderr_path = no,
                                .step = "job",
                                .user = as};
    run_spec(f, &s);
    free(no);
    free(out);
    free(dir);
}

static int exit_of(struct fixture *f, const char *id, const char *name, const char *command)
{
    f->n_ended = 0;
    begin(f, id, name, command);
    return end_of(f)->s.exit_code;
}

static void take_as(struct fixture *f, const char *name, int uid, int gid)
{
    char *dir = dir_of(f, name);
    const struct node_account account = {
        .name = name, .dir = dir, .first = FIRST, .count = COUNT, .uid = uid, .gid = gid};
    ASK(f, node_account_take(f->link, &account, on_done, f));
    free(dir);
}

static int free_number(void)
{
    int n = 20000 + (int)(getpid() % 10000);
    while (getpwuid((uid_t)n) || getgrgid((gid_t)n))
        n++;
    return n;
}

static void test_its_number_may_be_given(void **state)
{
    struct fixture *f = *state;
    char wanted[128];
    NEED_ROOT();
    open_ready(f);
    int n = free_number(), gid = n + 1;
    take_as(f, "one", n, gid);
    assert_string_equal(f->why.msg, "");
    take_as(f, "one", n, gid);
    assert_string_equal(f->why.msg, "");
    assert_int_equal(owner_of(f, "jobs/one", NULL), n);
    assert_int_equal(exit_of(f, "t1", "one", "id -u; id -g; id -G"), 0);
    snprintf(wanted, sizeof wanted, "%d\n%d\n%d %u\n", n, gid, gid, FIRST);
    assert_true(file_has(f, "jobs/one/out.txt", wanted));
    f->n_ended = 0;
    begin(f, "t2", "one", "sleep 1000 & exec sleep 1000");
    release(f, "one");
    assert_int_equal(end_of(f)->s.signal, SIGKILL);
    struct stat st;
    snprintf(wanted, sizeof wanted, "/run/userdb/%d.user", n); /* where numbers have names */
    assert_int_equal(lstat(wanted, &st), -1);
    assert_int_equal(owner_of(f, "jobs/one", NULL), 0);
    take_as(f, "two", n, gid);
    assert_string_equal(f->why.msg, "");
    release(f, "two");
}

static void test_a_number_of_somebody_elses_is_not_given(void **state)
{
    struct fixture *f = *state;
    NEED_ROOT();
    open_ready(f);
    int n = free_number();
    take_as(f, "one", (int)getpwnam("daemon")->pw_uid, n);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    assert_non_null(strstr(f->why.msg, "'daemon'"));
    take_as(f, "one", n, (int)getgrnam("daemon")->gr_gid);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    take_as(f, "one", (int)FIRST + 10, n);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    take_as(f, "one", -1, n);
    assert_int_equal(f->why.code, ERR_INVALID_PROPERTY);
    take_as(f, "one", n, n);
    take_as(f, "one", n, n + 1);
    assert_int_equal(f->why.code, ERR_CONFLICT);
    release(f, "one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPEN(test_its_number_may_be_given),
        TEST_OPEN(test_a_number_of_somebody_elses_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
