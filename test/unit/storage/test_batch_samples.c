/* SPDX-License-Identifier: MIT
 *
 * Samples of the metrics of pools, and the tasks that are counted for them.
 */
#include "storage/batch_samples.h"
#include "test/unit/storage/batch_fixture.h"

/* The row of a pool of the core; a cluster's has its id. */
static int64_t a_pool(struct fx *f)
{
    return f->cluster;
}

static void add(struct fx *f, int64_t at_us, const char *vals, int64_t forget_us)
{
    const struct batch_sample s = {at_us, vals};
    ok(f, st_batch_sample_add(f->st, a_pool(f), &s, forget_us, &f->e));
}

DB_TEST(test_samples_come_in_order_and_go_with_age)
{
    struct batch_sample *rows;
    size_t n;
    int64_t last = 1;
    ok(f, st_batch_sample_last(f->st, a_pool(f), &last, &f->e));
    assert_int_equal(last, 0);
    add(f, T0 + 30, "1,,2", 0);
    add(f, T0 + 60, "2", 0);
    add(f, T0 + 60, "3", 0); /* the same instant again */
    ok(f, st_batch_samples(f->st, &f->a, a_pool(f), &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].at_us, T0 + 30);
    assert_string_equal(rows[0].vals, "1,,2");
    assert_string_equal(rows[1].vals, "3");
    add(f, T0 + 90, "4", T0 + 60);
    ok(f, st_batch_samples(f->st, &f->a, a_pool(f), &rows, &n, &f->e));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].at_us, T0 + 60);
    ok(f, st_batch_sample_last(f->st, a_pool(f), &last, &f->e));
    assert_int_equal(last, T0 + 90);
    ok(f, st_batch_samples_remove(f->st, a_pool(f), &f->e));
    ok(f, st_batch_samples(f->st, &f->a, a_pool(f), &rows, &n, &f->e));
    assert_int_equal(n, 0);
}

static int64_t add_job(struct fx *f, const char *name, const char *pool)
{
    return fx_add_batch_job(f, name, pool, 0);
}

static struct batch_task add_task(struct fx *f, int64_t job, const char *name, int instances)
{
    return fx_add_batch_task(f, job, name, 1, instances);
}

static void move(struct fx *f, int64_t id, enum batch_task_state from, enum batch_task_state to,
                 enum batch_result result)
{
    const struct st_batch_task_move m = {
        .id = id, .from = from, .to = to, .now_us = T0 + 1, .result = result};
    ok(f, st_batch_task_move(f->st, &m, &f->e));
}

static void assert_tasks(struct fx *f, int64_t active, int64_t running, int64_t succeeded,
                         int64_t failed)
{
    struct batch_pool_tasks t;
    ok(f, st_batch_pool_tasks(f->st, &f->a, 1, "p1", &t, &f->e));
    assert_int_equal(t.active, active);
    assert_int_equal(t.running, running);
    assert_int_equal(t.succeeded, succeeded);
    assert_int_equal(t.failed, failed);
}

DB_TEST(test_tasks_of_all_jobs_of_a_pool_are_counted)
{
    assert_tasks(f, 0, 0, 0, 0);
    int64_t one = add_job(f, "one", "p1"), two = add_job(f, "two", "P1"),
            other = add_job(f, "other", "p2");
    struct batch_task a = add_task(f, one, "a", 1), b = add_task(f, two, "b", 1);
    add_task(f, other, "c", 1);
    assert_tasks(f, 2, 0, 0, 0);
    move(f, a.id, BATCH_TASK_ACTIVE, BATCH_TASK_RUNNING, 0);
    assert_tasks(f, 1, 1, 0, 0);
    move(f, a.id, BATCH_TASK_RUNNING, BATCH_TASK_COMPLETED, BATCH_SUCCESS);
    move(f, b.id, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, BATCH_FAILURE);
    assert_tasks(f, 0, 0, 1, 1);
}

/* Formulas ask for the tasks that are ready. */
DB_TEST(test_tasks_that_wait_for_others_are_not_active)
{
    int64_t job = add_job(f, "j", "p1");
    struct batch_task a = add_task(f, job, "a", 1), b = add_task(f, job, "b", 1),
                      c = add_task(f, job, "c", 1);
    ok(f, st_batch_wait_add(f->st, &b, "a", &f->e));
    ok(f, st_batch_wait_count(f->st, b.id, &f->e));
    ok(f, st_batch_wait_add(f->st, &c, "a", &f->e));
    ok(f, st_batch_wait_count(f->st, c.id, &f->e));
    assert_tasks(f, 1, 0, 0, 0);
    ok(f, st_batch_task_remove(f->st, c.id, &f->e));
    assert_tasks(f, 1, 0, 0, 0);
    move(f, a.id, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, BATCH_SUCCESS);
    assert_tasks(f, 0, 0, 1, 0);
    bool left;
    ok(f, st_batch_wait_settle(f->st, &a, &(struct st_batch_settling){-1, 9}, &left, &f->e));
    assert_tasks(f, 1, 0, 1, 0);
}

/* As many nodes as it has instances are what it needs. */
DB_TEST(test_each_instance_of_a_task_counts)
{
    int64_t job = add_job(f, "j", "p1");
    struct batch_task a = add_task(f, job, "a", 4), b = add_task(f, job, "b", 3);
    assert_tasks(f, 7, 0, 0, 0);
    ok(f, st_batch_wait_add(f->st, &b, "a", &f->e));
    ok(f, st_batch_wait_count(f->st, b.id, &f->e));
    assert_tasks(f, 4, 0, 0, 0);
    move(f, a.id, BATCH_TASK_ACTIVE, BATCH_TASK_RUNNING, 0);
    assert_tasks(f, 0, 1, 0, 0);
    move(f, a.id, BATCH_TASK_RUNNING, BATCH_TASK_ACTIVE, 0); /* its node is gone */
    assert_tasks(f, 4, 0, 0, 0);
    ok(f, st_batch_task_remove(f->st, b.id, &f->e));
    ok(f, st_batch_task_remove(f->st, a.id, &f->e));
    assert_tasks(f, 0, 0, 0, 0);
}
