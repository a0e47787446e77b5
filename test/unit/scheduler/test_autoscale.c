/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch that a formula scales: samples each half minute, evaluation by the interval,
 * what is done, failures, restarts. On fake nodes, in virtual time.
 */
#include "scheduler/front/batch/samples.h"
#include "scheduler/wake/wake.h"
#include "storage/batch_jobs.h"
#include "storage/batch_samples.h"
#include "test/unit/scheduler/batch_pools.h"

#define HALF_MINUTE (30 * SECOND)

static struct batch_auto_scale by(const char *formula)
{
    return (struct batch_auto_scale){
        .enabled = true, .formula = formula, .interval_us = 5 * MINUTE};
}

static void scale_by(struct world *w, int64_t id, struct batch_auto_scale s)
{
    struct err e = {0};
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_scale_by(&w->batch, &p, &s, p.updated_us + 1, &e), &e);
}

static int64_t add_batch_job(struct world *w, const char *pool)
{
    struct err e = {0};
    int64_t id, now = wakes_wall(sched_wakes(w->s));
    const struct batch_job j = {.account_id = add_account(w),
                                .name = "j",
                                .doc = "{}",
                                .state = BATCH_JOB_DISABLED, /* nothing of it runs */
                                .state_us = now,
                                .created_us = now,
                                .updated_us = now,
                                .pool_name = pool,
                                .max_parallel = BATCH_UNLIMITED,
                                .on_all = BATCH_ALL_NO_ACTION,
                                .on_failure = BATCH_FAILURE_NO_ACTION,
                                .number = 1};
    ok(st_batch_job_insert(w->st, &j, NULL, &id, &e), &e);
    return id;
}

static void add_tasks(struct world *w, int64_t job, int n)
{
    static int number;
    struct err e = {0};
    int64_t id, now = wakes_wall(sched_wakes(w->s));
    for (int i = 0; i < n; i++) {
        const struct batch_task t = {.job_id = job,
                                     .name = arena_printf(&w->a, "t%d", number++),
                                     .doc = "{}",
                                     .state = BATCH_TASK_ACTIVE,
                                     .state_us = now,
                                     .created_us = now,
                                     .updated_us = now,
                                     .slots = 1,
                                     .instances = 1};
        ok(st_batch_task_insert(w->st, &t, NULL, &id, &e), &e);
    }
}

static size_t samples_of(struct world *w, int64_t id, struct batch_sample **rows)
{
    struct err e = {0};
    struct batch_sample *ignored;
    size_t n;
    ok(st_batch_samples(w->st, &w->a, id, rows ? rows : &ignored, &n, &e), &e);
    return n;
}

WORLD_TEST(test_a_formula_decides_at_once_and_then_by_its_interval, world_virtual(5))
{
    int64_t id = add_pool(w, "p1", 1, 0);
    WAIT(w, has_nodes(w, id, 1));
    int64_t tag = pool_row(w, id).updated_us;
    scale_by(w, id,
             by("$TargetDedicatedNodes = $TargetDedicatedNodes + 1;"
                "$NodeDeallocationOption = taskcompletion"));
    WAIT(w, has_nodes(w, id, 2));
    struct batch_pool p = pool_row(w, id);
    assert_says(p.scaling.run, "\"results\":\"$TargetDedicatedNodes=2;"
                               "$TargetLowPriorityNodes=0;"
                               "$NodeDeallocationOption=taskcompletion\"");
    assert_says_not(p.scaling.run, "error");
    assert_int_equal(p.dealloc, DEALLOC_WAIT_FOR_COMPLETION);
    pass(w, 4 * MINUTE);
    assert_int_equal(pool_row(w, id).size.dedicated, 2);
    WAIT(w, has_nodes(w, id, 3));
    p = pool_row(w, id);
    assert_int_equal(p.updated_us, tag + 1); /* what the formula does is not a user's write */
}

WORLD_TEST(test_samples_are_taken_each_half_minute, world_virtual(5))
{
    int64_t id = add_pool(w, "p1", 2, 0);
    WAIT(w, has_nodes(w, id, 2));
    pass(w, 2 * MINUTE);
    assert_int_equal(samples_of(w, id, NULL), 0); /* nobody asks for them */
    scale_by(w, id, by("$TargetDedicatedNodes = $TargetDedicatedNodes"));
    pass(w, 10 * MINUTE);
    struct batch_sample *rows;
    size_t n = samples_of(w, id, &rows);
    assert_in_range(n, 20, 22);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].at_us % HALF_MINUTE, 0);
        if (i > 0)
            assert_int_equal(rows[i].at_us - rows[i - 1].at_us, HALF_MINUTE);
    }
    scale_by(w, id, (struct batch_auto_scale){.interval_us = 5 * MINUTE});
    pass(w, 2 * MINUTE);
    assert_int_equal(samples_of(w, id, NULL), 0);
}

WORLD_TEST(test_a_pool_follows_its_queue, world_virtual(8))
{
    int64_t id = add_pool(w, "p1", 0, 0), job = add_batch_job(w, "p1");
    scale_by(w, id,
             by("percent = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 3);"
                "tasks = percent < 70 ? max(0, $PendingTasks.GetSample(1))"
                "                     : avg($PendingTasks.GetSample(TimeInterval_Minute * 3));"
                "$TargetDedicatedNodes = min(6, tasks / $TaskSlotsPerNode)"));
    WAIT(w, has_nodes(w, id, 0));
    add_tasks(w, job, 8);
    WAIT(w, has_nodes(w, id, 4)); /* two slots to a node */
    add_tasks(w, job, 100);
    WAIT(w, has_nodes(w, id, 6));
    struct batch_pool p = pool_row(w, id);
    assert_says(p.scaling.run, ";percent=100;tasks=");
}

/* A failure changes nothing, and is told; the next evaluation is as usual. */
WORLD_TEST(test_a_formula_without_a_value_changes_nothing, world_virtual(5))
{
    int64_t id = add_pool(w, "p1", 1, 0);
    WAIT(w, has_nodes(w, id, 1));
    scale_by(w, id,
             by("$TargetDedicatedNodes = min($PendingTasks.GetSample("
                "TimeInterval_Minute * 4, 90)) + 3"));
    pass(w, MINUTE);
    struct batch_pool p = pool_row(w, id);
    assert_int_equal(p.size.dedicated, 1);
    assert_says(p.scaling.run, "\"code\":\"InsufficientSampleData\"", "wanted 90%");
    WAIT(w, has_nodes(w, id, 3)); /* there are samples now */
    scale_by(w, id, by("$TargetDedicatedNodes = x"));
    pass(w, MINUTE);
    p = pool_row(w, id);
    assert_int_equal(p.size.dedicated, 3);
    assert_says(p.scaling.run, "\"code\":\"AutoScalingFormulaEvaluationError\"",
                "Line 1, Col 25: Undefined symbol: x");
}

WORLD_TEST(test_evaluating_changes_nothing, world_virtual(5))
{
    struct err e = {0};
    struct formula_error wrong;
    struct batch_evaluation found;
    int64_t id = add_pool(w, "p1", 1, 2);
    WAIT(w, has_nodes(w, id, 3));
    scale_by(w, id, by("stop()"));
    pass(w, MINUTE);
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_evaluate(&w->batch, &w->a, &p,
                           "$TargetLowPriority = 7 + $CurrentDedicatedNodes; x = rand() <= 1",
                           &found, &wrong, &e),
       &e);
    assert_false(found.failed);
    assert_int_equal(found.targets.dedicated, 1);
    assert_int_equal(found.targets.low, 8);
    assert_says(found.run, ";x=1\"");
    assert_int_equal(batch_pool_evaluate(&w->batch, &w->a, &p, "x = (1", &found, &wrong, &e), -1);
    assert_int_equal(wrong.fault, FORMULA_SYNTAX);
    assert_string_equal(wrong.msg, "Line 1, Col 7: Unexpected end, expected )");
    assert_string_equal(pool_row(w, id).scaling.run, p.scaling.run);
    pass(w, MINUTE);
    assert_int_equal(pool_row(w, id).size.low, 2);
}

/* One that could not have all its nodes tries again at each evaluation. */
WORLD_TEST(test_a_resize_that_ended_short_begins_again, world_virtual(3))
{
    int64_t cluster = idle_cluster(w, 2);
    int64_t id = add_pool(w, "p1", 0, 0);
    scale_by(w, id, by("$TargetDedicatedNodes = 2"));
    WAIT(w, nodes_in(w, id, NODE_IDLE, NULL) == 1);
    int64_t began = pool_row(w, id).size.began_us;
    pass(w, 14 * MINUTE);
    assert_int_equal(pool_row(w, id).size.began_us, began); /* has its time */
    WAIT(w, pool_row(w, id).size.began_us > began);
    assert_int_equal(pool_row(w, id).has_dedicated, 1);
    resize(w, cluster, 0);
    WAIT(w, has_nodes(w, id, 2));
    assert_null(pool_row(w, id).size.errors);
}

/* Samples, the last evaluation and its rhythm are in rows. */
WORLD_TEST(test_a_restart_goes_on, world_virtual(5))
{
    int64_t id = add_pool(w, "p1", 0, 0);
    scale_by(w, id, by("$TargetDedicatedNodes = $TargetDedicatedNodes + 1"));
    WAIT(w, has_nodes(w, id, 1));
    pass(w, MINUTE);
    size_t before = samples_of(w, id, NULL);
    assert_true(before >= 2);
    restart(w);
    pass(w, MINUTE);
    assert_int_equal(pool_row(w, id).size.dedicated, 1); /* not evaluated anew */
    assert_in_range(samples_of(w, id, NULL), before + 1, before + 3);
    WAIT(w, has_nodes(w, id, 2));
}

static double newest(struct world *w, int64_t id, size_t *n)
{
    struct err e = {0};
    struct samples *s = batch_samples_read(&w->batch, &w->a, id, &e);
    if (!s)
        fail_msg("%s", e.msg);
    *n = samples_count(s);
    double pending = samples_value(s, *n - 1, SAMPLE_PENDING_TASKS);
    samples_destroy(s);
    return pending;
}

/* Tasks that waited while the clock was an hour ahead count for nothing when it is right again. */
WORLD_TEST(test_samples_of_the_future_are_left_out, world_virtual(5))
{
    size_t n, there;
    int64_t id = add_pool(w, "p1", 0, 0), job = add_batch_job(w, "p1");
    scale_by(w, id, by("$TargetDedicatedNodes = 0"));
    pass(w, MINUTE);
    virtual_of(w)->t.wall_ahead_us += 60 * MINUTE;
    add_tasks(w, job, 7);
    pass(w, MINUTE);
    assert_true(newest(w, id, &there) == 7);
    virtual_of(w)->t.wall_ahead_us -= 60 * MINUTE;
    assert_true(newest(w, id, &n) == 0);
    assert_true(n > 0 && n < there);
}

WORLD_TEST(test_a_pool_that_goes_takes_its_samples_along, world_virtual(5))
{
    struct err e = {0};
    struct batch_pool p;
    int64_t id = add_pool(w, "p1", 1, 0);
    scale_by(w, id, by("$TargetDedicatedNodes = 1"));
    WAIT(w, has_nodes(w, id, 1));
    assert_true(samples_of(w, id, NULL) > 0);
    p = pool_row(w, id);
    ok(batch_pool_delete(&w->batch, &p, wakes_wall(sched_wakes(w->s)), &e), &e);
    WAIT(w, st_batch_pool_by_id(w->st, &w->a, id, &p, &e) == 0);
    assert_int_equal(samples_of(w, id, NULL), 0);
    pass(w, 10 * MINUTE);
}
