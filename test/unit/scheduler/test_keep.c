/* SPDX-License-Identifier: MIT
 *
 * What has ended is forgotten by age and by count; what has not ended, and the record of use, stay.
 */
#include "storage/overview.h"
#include "storage/usage.h"
#include "virtual.h"

#define HOUR_US (3600LL * 1000000)

static void add_operation(struct world *w, const char *guid, enum op_status status, int64_t end_us)
{
    struct err e = {0};
    const struct operation op = {.guid = guid,
                                 .subscription = "sub",
                                 .location = "here",
                                 .resource_key = "S$rg$ws$c",
                                 .api_version = "2018-05-01",
                                 .kind = RES_CLUSTER,
                                 .resource_id = 1,
                                 .status = status,
                                 .start_us = 1,
                                 .end_us = end_us};
    ok(st_op_insert(w->st, &op, &e), &e);
}

static bool known(struct world *w, const char *guid)
{
    struct err e = {0};
    struct operation op;
    int rc = st_op_get(w->st, &w->a, guid, &op, &e);
    ok(rc, &e);
    return rc == 1;
}

WORLD_TEST(test_operations_are_forgotten, world_new(0))
{
    int64_t now = time_now_us();
    w->keep.of[KEEP_OPERATIONS].age_us = 24 * HOUR_US;
    add_operation(w, "old", OP_FAILED, now - 25 * HOUR_US);
    add_operation(w, "young", OP_SUCCEEDED, now - 23 * HOUR_US);
    add_operation(w, "open", OP_IN_PROGRESS, 0);
    for (int i = 0; i < 1100; i++) /* more than go at once */
        add_operation(w, arena_printf(&w->a, "bulk%d", i), OP_SUCCEEDED, now - 30 * HOUR_US + i);
    restart(w);
    WAIT(w, !known(w, "old"));
    assert_false(known(w, "bulk0"));
    assert_false(known(w, "bulk1099"));
    assert_true(known(w, "young"));
    assert_true(known(w, "open"));
    w->ahead_us = 2 * HOUR_US;
    WAIT(w, !known(w, "young"));
    assert_true(known(w, "open"));
}

/* --- by count and age, in virtual time ----------------------------------------------------------
 */

#define JOBS 6

static void keep(struct world *w, enum keep_class of, int64_t age_us, int64_t most)
{
    struct err e = {0};
    w->keep.of[of] = (struct keep_limit){age_us, most};
    const struct sched_settings sc = {.site = w->site, .keep = w->keep};
    ok(sched_change(w->s, &sc, &e), &e);
}

static bool job_is_there(struct world *w, int64_t id)
{
    struct err e = {0};
    struct job j;
    int rc = st_job_by_id(w->st, &w->a, id, &j, &e);
    ok(rc, &e);
    return rc == 1;
}

static int jobs_there(struct world *w, const int64_t *ids)
{
    int n = 0;
    for (int i = 0; i < JOBS; i++)
        n += job_is_there(w, ids[i]);
    return n;
}

/* Jobs that have ended one after the other. */
static void end_jobs(struct world *w, int64_t cluster, int64_t *ids)
{
    for (int i = 0; i < JOBS; i++) {
        ids[i] = add_job(w, cluster, arena_printf(&w->a, "j%d", i), JOB("fake run=1000"));
        WAIT(w, job_state(w, ids[i]) == EXEC_SUCCEEDED);
        pass(w, SECOND);
    }
}

static void add_sums(void *ctx, const struct usage_subject *who, const struct usage_sums *sums)
{
    (void)who;
    usage_add(ctx, sums);
}

/* Of the time up to `to_us`. */
static struct usage_sums reported(struct world *w, int64_t to_us)
{
    struct usage_sums all = {0};
    struct err e = {0};
    int64_t now_ms = wakes_wall(sched_wakes(w->s)) / 1000;
    ok(st_usage_each(w->st, 0, to_us / 1000, now_ms, add_sums, &all, &e), &e);
    return all;
}

static int count_events(struct world *w)
{
    struct err e = {0};
    struct event_rows rows;
    ok(st_event_since(w->st, &w->a, &(struct st_page){.limit = 100000}, &rows, &e), &e);
    return (int)rows.n;
}

TEST(test_the_oldest_jobs_go_and_those_that_have_not_ended_stay)
{
    struct world *w = world_virtual(1);
    int64_t c = idle_cluster(w, 1), ids[JOBS];
    end_jobs(w, c, ids);
    int64_t to_us = wakes_wall(sched_wakes(w->s));
    const struct usage_sums before = reported(w, to_us);
    int64_t runs = add_job(w, c, "runs", JOB("fake run=900000000", .wall_s = 10000000));
    int64_t waits = add_job(w, c, "waits", JOB("fake run=1000", .wall_s = 10000000));
    WAIT(w, job_state(w, runs) == EXEC_RUNNING);
    pass(w, 3600 * SECOND);
    assert_int_equal(jobs_there(w, ids), JOBS); /* no limit */
    keep(w, KEEP_OWNERS, 0, 4);
    WAIT(w, jobs_there(w, ids) == 4);
    assert_true(job_is_there(w, ids[JOBS - 4]));
    pass(w, 3600 * SECOND);
    assert_int_equal(jobs_there(w, ids), 4);
    keep(w, KEEP_OWNERS, 3 * 3600 * SECOND, 100);
    pass(w, 60 * SECOND);
    assert_int_equal(jobs_there(w, ids), 4);
    pass(w, 2 * 3600 * SECOND);
    assert_int_equal(jobs_there(w, ids), 0);
    assert_int_equal(before.runs, JOBS);
    assert_int_equal(reported(w, to_us).runs, JOBS);
    assert_int_equal(reported(w, to_us).node_ms, before.node_ms);
    assert_int_equal(job_state(w, runs), EXEC_RUNNING);
    assert_int_equal(job_state(w, waits), EXEC_QUEUED);
    world_free(w);
}

TEST(test_the_oldest_events_go)
{
    struct world *w = world_virtual(1);
    int64_t c = idle_cluster(w, 1), ids[JOBS];
    end_jobs(w, c, ids);
    int all = count_events(w);
    assert_true(all > 2 * JOBS);
    keep(w, KEEP_EVENTS, 0, 5);
    WAIT(w, count_events(w) == 5);
    struct err e = {0};
    struct event *rows;
    size_t n;
    ok(st_event_of(w->st, &w->a, RES_JOB, ids[JOBS - 1], &rows, &n, &e), &e);
    assert_true(n > 0);
    keep(w, KEEP_EVENTS, 3600 * SECOND, 0);
    pass(w, 2 * 3600 * SECOND);
    assert_int_equal(count_events(w), 0);
    world_free(w);
}

TEST(test_many_are_counted_and_forgotten_a_few_a_turn)
{
    struct world *w = world_virtual(0);
    struct err e = {0};
    int64_t now = wakes_wall(sched_wakes(w->s));
    for (int i = 1; i <= 12000; i++)
        add_operation(w, arena_printf(&w->a, "op%d", i), OP_SUCCEEDED, now + i);
    keep(w, KEEP_OPERATIONS, 0, 11000);
    WAIT(w, !known(w, "op1000"));
    assert_true(known(w, "op1001"));
    assert_true(known(w, "op12000"));
    int64_t at;
    assert_int_equal(st_op_ended_nth(w->st, INT64_MAX, 11001, &at, &e), 0);
    world_free(w);
}
