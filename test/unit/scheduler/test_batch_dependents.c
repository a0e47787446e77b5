/* SPDX-License-Identifier: MIT
 *
 * Many tasks of Azure Batch that wait for one task, by its name or its number. On fake nodes, in
 * virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

#define DEPENDENTS 1200

/* How many tasks of the job with numbers from 1 on wait for no other. */
static int released(struct world *w, const struct batch_task *tasks)
{
    int n = 0;
    for (int i = 0; i < DEPENDENTS; i++) {
        struct err e = {0};
        struct arena a;
        struct batch_task row = {.waits = 1};
        arena_init(&a);
        ok(st_batch_task_by_id(w->st, &a, tasks[i].id, &row, &e), &e);
        n += row.waits == 0;
        arena_free(&a);
    }
    return n;
}

/* How tasks wait for the task 01: by its name, or by a range of numbers. */
static const char *const awaited_name = "01";
static const struct batch_range awaited_range = {1, 1};
static const struct batch_waits by_name = {.names = &awaited_name, .n_names = 1},
                                by_range = {.ranges = &awaited_range, .n_ranges = 1};

/* A job that is disabled starts none of them. */
static struct batch_task complete_awaited(struct world *w, const struct batch_waits *waits,
                                          struct batch_task *dependents)
{
    const struct batch_waits nothing = {0};
    struct err e = {0};
    struct batch_task t;
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "'usesTaskDependencies': true,");
    t = add_named_task(w, &j, awaited_name, 60, &nothing);
    for (int i = 0; i < DEPENDENTS; i++)
        dependents[i] = add_waiting_task(w, &j, i + 1, 60, waits);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_RUNNING);
    j = work_row(w, &j);
    ok(batch_job_disable(&w->batch, &j, BATCH_DISABLE_WAIT, j.updated_us + 1, &e), &e);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    return t;
}

static void are_released_some_at_a_time(struct world *w, const struct batch_waits *waits)
{
    struct batch_task dependents[DEPENDENTS];
    (void)complete_awaited(w, waits, dependents);
    assert_in_range(released(w, dependents), 1, DEPENDENTS - 1);
    restart(w);
    WAIT(w, released(w, dependents) == DEPENDENTS);
}

WORLD_TEST(test_tasks_that_wait_for_one_are_released_some_at_a_time, world_virtual(1))
{
    are_released_some_at_a_time(w, &by_name);
}

WORLD_TEST(test_tasks_that_wait_for_a_number_are_released_some_at_a_time, world_virtual(1))
{
    are_released_some_at_a_time(w, &by_range);
}

static void releases_all_when_deleted(struct world *w, const struct batch_waits *waits)
{
    struct err e = {0};
    struct batch_task dependents[DEPENDENTS];
    struct batch_task t = complete_awaited(w, waits, dependents), row = {.id = 0};
    assert_in_range(released(w, dependents), 1, DEPENDENTS - 1);
    ok(st_batch_task_by_id(w->st, &w->a, t.id, &row, &e), &e);
    ok(batch_task_delete(&w->batch, &row, row.updated_us + 1, &e), &e);
    WAIT(w, st_batch_task_by_id(w->st, &w->a, t.id, &row, &e) == 0);
    assert_int_equal(released(w, dependents), DEPENDENTS);
}

WORLD_TEST(test_a_task_that_is_deleted_releases_all_that_wait_for_it, world_virtual(1))
{
    releases_all_when_deleted(w, &by_name);
}

WORLD_TEST(test_a_task_that_is_deleted_releases_all_that_wait_for_its_number, world_virtual(1))
{
    releases_all_when_deleted(w, &by_range);
}
