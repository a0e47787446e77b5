/* SPDX-License-Identifier: MIT
 *
 * The deletion of a Batch account with many jobs goes in steps, and nothing new begins in it.
 */
#include <sqlite3.h>

#include "model/batch/job_states.h"
#include "test/unit/scheduler/batch_work.h"

#define MANY         1000
#define PER_TURN_MAX 100

/* How many jobs of the account are not yet marked; *all: how many there are. */
static int64_t unmarked(struct world *w, int64_t account, int64_t *all)
{
    struct err e = {0};
    struct batch_job_rows rows = {NULL, 0};
    struct arena a;
    int64_t n = 0;
    arena_init(&a);
    ok(st_batch_job_list(w->st, &a, account, NULL, &(struct st_names){.limit = 10000}, &rows, &e),
       &e);
    for (size_t i = 0; i < rows.n; i++)
        n += rows.items[i].state != BATCH_JOB_DELETING;
    *all = (int64_t)rows.n;
    arena_free(&a);
    return n;
}

static bool is_gone(struct world *w, int64_t account)
{
    struct err e = {0};
    struct batch_account b;
    int rc = st_batch_account_by_id(w->st, &w->a, account, &b, &e);
    ok(rc, &e);
    return rc == 0;
}

static void add_many(struct world *w)
{
    for (int i = 0; i < MANY; i++)
        add_work(w, arena_printf(&w->a, "j%d", i), "");
}

static void mark(struct world *w, enum resource_kind kind, int64_t id)
{
    struct err e = {0};
    ok(st_mark_deleting(w->st, kind, id, wakes_wall(sched_wakes(w->s)), &e), &e);
    batchai_wake_deletions(&w->front);
}

/* Bounded work in each turn, and as many turns as the jobs need: not quadratic. */
static void must_go_in_steps(struct world *w, int64_t account)
{
    int64_t all, left = unmarked(w, account, &all), now;
    assert_int_equal(left, MANY); /* the mark is one row, however many jobs it dooms */
    for (int steps = 0; left > 0; left = now, steps++) { /* turns that wait for a sync are none */
        assert_true(steps <= 4 * MANY / PER_TURN_MAX);
        WAIT(w, (now = unmarked(w, account, &all)) < left); /* looks after two turns */
        assert_true(left - now <= 2 * PER_TURN_MAX);
    }
    WAIT(w, is_gone(w, account));
}

WORLD_TEST(test_many_jobs_go_with_their_account_in_steps, world_new(1))
{
    int64_t account = add_account(w);
    add_many(w);
    turn(w);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    mark(w, RES_BATCH_ACCOUNT, account);
    must_go_in_steps(w, account);
}

WORLD_TEST(test_many_jobs_go_with_the_group_of_their_account_in_steps, world_new(1))
{
    int64_t account = add_account(w);
    add_many(w);
    turn(w);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    mark(w, RES_GROUP, w->group);
    must_go_in_steps(w, account);
}

static int64_t add_other_account(struct world *w)
{
    struct err e = {0};
    const struct account_keys keys = {0};
    int64_t id;
    const struct batch_account b = {.group_id = w->group,
                                    .name = "other",
                                    .scope = {.location = "here"},
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED};
    ok(st_batch_account_insert(w->st, &b, &keys, &id, &e), &e);
    return id;
}

static struct batch_job job_in(int64_t account)
{
    return (struct batch_job){.account_id = account,
                              .name = "alone",
                              .doc = "{\"id\":\"alone\",\"poolInfo\":{\"poolId\":\"p\"}}",
                              .state = BATCH_JOB_ACTIVE,
                              .number = 1};
}

static int64_t add_job_in(struct world *w, int64_t account)
{
    struct err e = {0};
    struct batch_job j = job_in(account);
    ok(batch_job_add(&w->batch, &w->a, &j, NULL, &e), &e);
    return j.id;
}

/* An account that is deleted meanwhile, and has an earlier row, is not forgotten. */
WORLD_TEST(test_two_accounts_go_beside_each_other, world_new(1))
{
    int64_t all, first = add_other_account(w), second = add_account(w);
    add_many(w);
    (void)add_job_in(w, first);
    turn(w);
    mark(w, RES_BATCH_ACCOUNT, second);
    WAIT(w, unmarked(w, second, &all) < MANY);
    mark(w, RES_BATCH_ACCOUNT, first);
    WAIT(w, is_gone(w, first) && is_gone(w, second));
}

/* A request that was admitted before the deletion may end behind it: nothing would mark its row. */
WORLD_TEST(test_nothing_is_made_in_an_account_that_goes, world_new(1))
{
    struct err e = {0};
    int64_t account = add_account(w), all, id;
    (void)add_work(w, "holds it", "");
    mark(w, RES_BATCH_ACCOUNT, account);
    const struct batch_pool pool = {
        .account_id = account, .name = "late", .doc = "{}", .vm_size = "STANDARD_D1", .slots = 1};
    assert_int_equal(batch_pool_add(&w->batch, &pool, NULL, &id, &e), -1);
    assert_int_equal(e.code, ERR_BEING_DELETED);
    struct batch_job job = job_in(account);
    assert_int_equal(batch_job_add(&w->batch, &w->a, &job, NULL, &e), -1);
    assert_int_equal(e.code, ERR_BEING_DELETED);
    (void)unmarked(w, account, &all);
    assert_int_equal(all, 1);
    WAIT(w, is_gone(w, account));
    assert_int_equal(batch_job_add(&w->batch, &w->a, &job, NULL, &e), -1);
    assert_int_equal(e.code, ERR_RESOURCE_NOT_FOUND);
}

/* What a daemon that died had not yet marked is marked by the next one. */
WORLD_TEST(test_a_deletion_of_many_jobs_continues_after_a_restart, world_new(1))
{
    int64_t account = add_account(w), all;
    add_many(w);
    turn(w);
    mark(w, RES_BATCH_ACCOUNT, account);
    WAIT(w, unmarked(w, account, &all) < MANY);
    assert_true(unmarked(w, account, &all) > 0);
    restart(w);
    WAIT(w, is_gone(w, account));
}

static void between_daemons(struct world *w, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path(w, "db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* As daemons before migration 0021 left it behind, and these two of its statements. */
WORLD_TEST(test_what_was_made_behind_a_deletion_goes_with_the_next_daemon, world_virtual(1))
{
    struct err e = {0};
    struct batch_job row;
    add_nodes(w, "p", 1, 1);
    int64_t account = add_account(w), orphan = add_job_in(w, add_other_account(w));
    (void)add_job_in(w, account);
    WAIT(w, st_batch_job_by_id(w->st, &w->a, orphan, &row, &e) == 1);
    world_stop(w);
    between_daemons(w, "UPDATE batch_account SET prov_state = 5 WHERE name = 'acct';"
                       "DELETE FROM batch_account WHERE name = 'other';");
    between_daemons(w,
                    "UPDATE batch_pool SET state = 2 WHERE state = 1 AND account_id IN "
                    "(SELECT id FROM batch_account WHERE prov_state = 5);"
                    "UPDATE batch_job SET state = 7 WHERE state <> 7 AND account_id NOT IN (SELECT "
                    "id FROM batch_account);");
    world_start(w);
    WAIT(w, is_gone(w, account));
    WAIT(w, st_batch_job_by_id(w->st, &w->a, orphan, &row, &e) == 0);
}
