/* SPDX-License-Identifier: MIT
 *
 * Time limits of Azure Batch's tasks that change while the task runs or waits for a node. On fake
 * nodes, in virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

static void set_limit(struct world *w, struct batch_task *t, const char *limit)
{
    struct err e = {0};
    struct batch_task row = {.id = 0};
    ok(st_batch_task_by_id(w->st, &w->a, t->id, &row, &e), &e);
    row.doc = json(
        w, arena_printf(&w->a, "{'id':'%s','commandLine':'fake run=3600000','constraints':{%s}}",
                        row.name, limit));
    ok(batch_task_change(&w->batch, &row, row.updated_us + 1, &e), &e);
}

static int64_t limit_of_run(struct world *w, const struct batch_task *t)
{
    struct err e = {0};
    struct run r = {.id = 0};
    ok(st_run_of(w->st, &w->a, RES_BATCH_TASK, t->id, 0, &r, &e), &e);
    return r.max_wall_us;
}

/* Both have the limit at once: the task that runs, and the plan for the task that waits. */
WORLD_TEST(test_the_time_limit_of_a_task_changes_while_it_runs_or_waits, world_virtual(1))
{
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task runs = add_work_task(w, &j, 1, 3600), waits = add_work_task(w, &j, 2, 3600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_RUNNING);
    set_limit(w, &runs, "'maxWallClockTime':'PT5M'");
    set_limit(w, &waits, "'maxWallClockTime':'PT5M'");
    assert_int_equal(limit_of_run(w, &waits), 5 * MINUTE);
    pass(w, 4 * MINUTE);
    set_limit(w, &runs, ""); /* no limit */
    pass(w, 10 * MINUTE);
    assert_int_equal(task_state(w, &runs), BATCH_TASK_RUNNING);
    set_limit(w, &runs, "'maxWallClockTime':'PT20M'");
    pass(w, 4 * MINUTE);
    assert_int_equal(task_state(w, &runs), BATCH_TASK_RUNNING);
    pass(w, 3 * MINUTE);
    assert_int_equal(task_state(w, &runs), BATCH_TASK_COMPLETED);
    WAIT(w, task_state(w, &waits) == BATCH_TASK_RUNNING);
    pass(w, 6 * MINUTE);
    assert_int_equal(task_state(w, &waits), BATCH_TASK_COMPLETED);
}
