/* SPDX-License-Identifier: MIT
 *
 * What stays of the tries of Azure Batch's tasks on their node. On fake nodes, in virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

#define RETRIES 20

/* A task that takes 3 s, fails, and is tried again. */
static struct batch_task add_failing_task(struct world *w)
{
    const struct batch_waits nothing = {0};
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_command_task(w, &j, "t0", "fake run=3000 exit=3", RETRIES, &nothing);
    batch_job_has_more(&w->batch, j.id);
    return t;
}

WORLD_TEST(test_a_node_forgets_every_try_of_a_task, world_virtual(1))
{
    struct batch_task t = add_failing_task(w);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(virtual_of(w)->started, 1 + RETRIES);
    WAIT(w, tasks_known(the_node(w)) == 0);
}

/* The link breaks after each try, each time a little later. */
WORLD_TEST(test_a_node_whose_links_break_forgets_every_try_of_a_task, world_virtual(1))
{
    struct batch_task t = add_failing_task(w);
    const struct virtual_world *v = virtual_of(w);
    for (int i = 1; i <= RETRIES; i++) {
        WAIT(w, v->ended == i);
        pass(w, i * 1000);
        fake_cut(the_node(w));
    }
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->started, 1 + RETRIES);
    WAIT(w, tasks_known(the_node(w)) == 0);
}
