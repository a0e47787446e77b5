/* SPDX-License-Identifier: MIT
 *
 * Job schedules of Azure Batch over hours and days of virtual time: recurrence, windows, ends.
 */
#include "scheduler/front/batch/schedules.h"
#include "scheduler/front/batch/tasks.h"
#include "test/unit/scheduler/batch_pools.h"

#define HOUR (60 * MINUTE)

static int64_t wall(struct world *w)
{
    return wakes_wall(sched_wakes(w->s));
}

/* `times`: of its document, JSON. Its jobs have no tasks and end at once, or stay if `stays`. */
static const char *schedule_doc(struct world *w, const char *times, bool stays, const char *pool)
{
    return arena_printf(&w->a,
                        "{\"id\":\"s\",\"schedule\":{%s},\"jobSpecification\":{\"priority\":0,"
                        "\"onAllTasksComplete\":\"%s\",\"poolInfo\":{%s}}}",
                        times, stays ? "noaction" : "terminatejob", pool);
}

static int64_t add_schedule_of(struct world *w, const char *doc)
{
    struct err e = {0};
    int64_t id, now = wall(w);
    const struct batch_schedule s = {.account_id = add_account(w),
                                     .name = "s",
                                     .doc = doc,
                                     .state = BATCH_SCHEDULE_ACTIVE,
                                     .state_us = now,
                                     .created_us = now,
                                     .updated_us = now,
                                     .next_us = now};
    ok(st_batch_schedule_insert(w->st, &s, NULL, &id, &e), &e);
    batch_schedule_changed(&w->batch, id);
    return id;
}

static int64_t add_schedule(struct world *w, const char *times, bool stays)
{
    return add_schedule_of(w, schedule_doc(w, times, stays, "\"poolId\":\"none\""));
}

static struct batch_schedule row_of(struct world *w, int64_t id)
{
    struct err e = {0};
    struct batch_schedule s;
    if (st_batch_schedule_by_id(w->st, &w->a, id, &s, &e) != 1)
        fail_msg("the schedule is not there: %s", e.msg);
    return s;
}

static struct batch_job *jobs_of(struct world *w, int64_t id, size_t *n)
{
    struct err e = {0};
    struct batch_job_rows rows = {NULL, 0};
    ok(st_batch_job_list_schedule(w->st, &w->a, id, NULL,
                                  &(struct st_page){.upto = 1000, .limit = 1000}, &rows, &e),
       &e);
    *n = rows.n;
    return rows.items;
}

WORLD_TEST(test_a_job_each_interval, world_virtual(1))
{
    int64_t began = wall(w), id = add_schedule(w, "\"recurrenceInterval\":\"PT1H\"", false);
    size_t n;
    pass(w, MINUTE);
    assert_int_equal(row_of(w, id).number, 1);
    pass(w, 58 * MINUTE);
    assert_int_equal(row_of(w, id).number, 1);
    pass(w, 24 * HOUR);
    struct batch_job *jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 25);
    for (size_t i = 0; i < n; i++) {
        int64_t late = jobs[i].created_us - began - (int64_t)i * HOUR;
        assert_true(late >= 0 && late <= 2 * MINUTE);
        assert_int_equal(jobs[i].state, BATCH_JOB_COMPLETED);
        assert_string_equal(jobs[i].name, arena_printf(&w->a, "s:job-%zu", i + 1));
    }
    assert_int_equal(row_of(w, id).state, BATCH_SCHEDULE_ACTIVE);
}

/* The account waits for the last of its jobs, and would wait for ever. */
WORLD_TEST(test_no_job_is_made_in_an_account_that_is_being_deleted, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_schedule(w, "\"recurrenceInterval\":\"PT1H\"", false);
    pass(w, 90 * MINUTE);
    assert_int_equal(row_of(w, id).number, 2);
    ok(st_mark_deleting(w->st, RES_BATCH_ACCOUNT, add_account(w), wall(w), &e), &e);
    pass(w, 5 * HOUR);
    assert_int_equal(row_of(w, id).number, 2);
}

/* One at a time: those whose turn passes meanwhile are left out, but for one that is not too late.
 */
WORLD_TEST(test_the_next_waits_for_the_one_before, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_schedule(w, "\"recurrenceInterval\":\"PT1H\",\"startWindow\":\"PT10M\"", true);
    size_t n;
    pass(w, 3 * HOUR + 30 * MINUTE);
    struct batch_job *jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 1);
    ok(batch_job_terminate(&w->batch, &jobs[0], NULL, true, wall(w), &e), &e);
    pass(w, 20 * MINUTE);
    (void)jobs_of(w, id, &n);
    assert_int_equal(n, 1); /* half an hour late is too late */
    pass(w, 15 * MINUTE);
    (void)jobs_of(w, id, &n);
    assert_int_equal(n, 2);
}

/* However long it took: the jobs whose turn passed meanwhile are not made up for. */
WORLD_TEST(test_missed_turns_are_not_carried_forward, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_schedule(w, "\"recurrenceInterval\":\"PT1M\"", true);
    size_t n;
    pass(w, 10 * MINUTE + 30 * SECOND);
    for (size_t i = 1; i <= 2; i++) {
        struct batch_job *jobs = jobs_of(w, id, &n);
        assert_int_equal(n, i);
        ok(batch_job_terminate(&w->batch, &jobs[i - 1], NULL, true, wall(w), &e), &e);
        pass(w, SECOND);
        (void)jobs_of(w, id, &n);
        assert_int_equal(n, 2);
        assert_true(row_of(w, id).next_us > wall(w));
    }
}

static void set_clock(struct world *w, int64_t by_us)
{
    virtual_of(w)->t.wall_ahead_us += by_us;
}

/* A clock that is a day ahead for two minutes. */
WORLD_TEST(test_set_forward_and_back_ends_no_schedule, world_virtual(1))
{
    char until[TIMEFMT_SIZE];
    timefmt_exact(wall(w) + 10 * HOUR, until);
    int64_t ends = add_schedule(
        w, arena_printf(&w->a, "\"recurrenceInterval\":\"PT1H\",\"doNotRunAfter\":\"%s\"", until),
        false);
    pass(w, MINUTE);
    set_clock(w, 24 * HOUR);
    pass(w, 2 * MINUTE);
    set_clock(w, -24 * HOUR);
    pass(w, MINUTE);
    assert_int_equal(row_of(w, ends).state, BATCH_SCHEDULE_ACTIVE);
    assert_int_equal(row_of(w, ends).number, 1);
    pass(w, HOUR);
    assert_int_equal(row_of(w, ends).number, 2);
}

/* As after a machine's sleep. */
WORLD_TEST(test_set_forward_for_good_counts, world_virtual(1))
{
    int64_t id = add_schedule(w, "\"recurrenceInterval\":\"PT1H\"", false);
    pass(w, MINUTE);
    set_clock(w, 24 * HOUR);
    pass(w, 10 * MINUTE);
    assert_int_equal(row_of(w, id).number, 2);
    assert_true(row_of(w, id).next_us > wall(w));
}

WORLD_TEST(test_a_new_one_begins_at_once_after_the_clock_was_set_forward, world_virtual(1))
{
    set_clock(w, 24 * HOUR);
    int64_t id = add_schedule(w, "\"recurrenceInterval\":\"PT1H\"", false);
    pass(w, MINUTE);
    assert_int_equal(row_of(w, id).number, 1);
}

WORLD_TEST(test_none_after_its_end, world_virtual(1))
{
    char until[TIMEFMT_SIZE];
    timefmt_exact(wall(w) + 150 * MINUTE, until);
    int64_t id = add_schedule(
        w, arena_printf(&w->a, "\"recurrenceInterval\":\"PT1H\",\"doNotRunAfter\":\"%s\"", until),
        false);
    pass(w, 10 * HOUR);
    assert_int_equal(row_of(w, id).number, 3);
    assert_int_equal(row_of(w, id).state, BATCH_SCHEDULE_COMPLETED);
}

/* Nor for a turn before its end, if the job before lasted longer. */
WORLD_TEST(test_none_after_its_end_that_was_due_before, world_virtual(1))
{
    struct err e = {0};
    char until[TIMEFMT_SIZE];
    size_t n;
    timefmt_exact(wall(w) + 90 * MINUTE, until);
    int64_t id = add_schedule(
        w, arena_printf(&w->a, "\"recurrenceInterval\":\"PT1H\",\"doNotRunAfter\":\"%s\"", until),
        true);
    pass(w, 100 * MINUTE);
    struct batch_job *jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 1);
    ok(batch_job_terminate(&w->batch, &jobs[0], NULL, true, wall(w), &e), &e);
    pass(w, 5 * MINUTE);
    assert_int_equal(row_of(w, id).number, 1);
    assert_int_equal(row_of(w, id).state, BATCH_SCHEDULE_COMPLETED);
}

static const char *with_auto_pool(struct world *w, const char *life)
{
    return schedule_doc(
        w, "\"recurrenceInterval\":\"PT1H\"", false,
        arena_printf(&w->a,
                     "\"autoPoolSpecification\":{\"poolLifetimeOption\":\"%s\",\"keepAlive\":false,"
                     "\"pool\":{\"vmSize\":\"STANDARD_D1\",\"targetDedicatedNodes\":1}}",
                     life));
}

static void change_doc(struct world *w, int64_t id, const char *doc)
{
    struct err e = {0};
    struct batch_schedule s = row_of(w, id);
    s.doc = doc;
    ok(st_batch_schedule_update(w->st, &s, NULL, &e), &e);
    batch_schedule_changed(&w->batch, id);
}

/* A pool that was made for all jobs ends with the schedule, and is for no job of another wish. */
WORLD_TEST(test_each_job_has_a_pool_once_the_schedule_wants_that, world_virtual(2))
{
    struct err e = {0};
    int64_t id = add_schedule_of(w, with_auto_pool(w, "jobschedule"));
    struct batch_pool pool;
    size_t n;
    pass(w, HOUR + MINUTE);
    struct batch_job *jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 2);
    const char *shared = jobs[0].pool_name;
    assert_string_equal(jobs[1].pool_name, shared);
    change_doc(w, id, with_auto_pool(w, "job"));
    pass(w, 2 * HOUR);
    jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 4);
    assert_string_not_equal(jobs[2].pool_name, shared);
    assert_string_not_equal(jobs[3].pool_name, jobs[2].pool_name);
    assert_int_equal(jobs[3].state, BATCH_JOB_COMPLETED);
    assert_int_equal(st_batch_pool_get(w->st, &w->a, jobs[0].account_id, shared, &pool, &e), 1);
    assert_int_equal(pool.state, BATCH_POOL_ACTIVE);
    ok(batch_pool_delete(&w->batch, &pool, wall(w), &e), &e); /* as its user may */
    change_doc(w, id, with_auto_pool(w, "jobschedule"));
    pass(w, 2 * HOUR);
    jobs = jobs_of(w, id, &n);
    assert_int_equal(n, 6);
    assert_string_not_equal(jobs[4].pool_name, shared);
    assert_string_equal(jobs[5].pool_name, jobs[4].pool_name);
    assert_int_equal(jobs[5].state, BATCH_JOB_COMPLETED);
}
