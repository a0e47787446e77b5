/* SPDX-License-Identifier: MIT
 *
 * Accounts whose numbers their users chose, given out by the real agent. Needs root.
 */
#include <grp.h>
#include <pwd.h>

#include "test/unit/nodeagent-proto/link/account_fixture.h"

static void take_as(struct fixture *f, const char *name, int uid, int gid)
{
    char *dir = dir_of(f, name);
    const struct request_account_take account = {
        .name = name, .dir = dir, .first = FIRST, .count = COUNT, .uid = uid, .gid = gid};
    ASK(f, node_ask(f->link, REQUEST_OF(account_take, account), on_done, f));
}

static int free_number(void)
{
    int n = 20000 + (int)(getpid() % 10000);
    while (getpwuid((uid_t)n) || getgrgid((gid_t)n))
        n++;
    return n;
}

JOB_ACCOUNT_TEST(test_its_number_may_be_given)
{
    char wanted[128];
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
    begin(f, "t2", "one", "echo runs; sleep 1000 & exec sleep 1000");
    WAIT(f, file_has(f, "jobs/one/out.txt", "runs\n")); /* before, it is not yet the account's */
    release(f, "one");
    assert_int_equal(nth_end(f, 1)->s.signal, SIGKILL);
    struct stat st;
    snprintf(wanted, sizeof wanted, "/run/userdb/%d.user", n); /* where numbers have names */
    assert_int_equal(lstat(wanted, &st), -1);
    assert_int_equal(owner_of(f, "jobs/one", NULL), 0);
    take_as(f, "two", n, gid);
    assert_string_equal(f->why.msg, "");
    release(f, "two");
}

JOB_ACCOUNT_TEST(test_a_number_of_somebody_elses_is_not_given)
{
    int n = free_number();
    take_as(f, "one", (int)getpwnam("daemon")->pw_uid, n);
    assert_why(f, ERR_CONFLICT, "'daemon'");
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
