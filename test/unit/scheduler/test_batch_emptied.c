/* SPDX-License-Identifier: MIT
 *
 * A node of Azure Batch whose root directory is a new one: the files of its tasks, and what jobs
 * have prepared there, are lost. On fake nodes, in virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

static int64_t kept_us(struct world *w)
{
    struct err e = {0};
    int64_t left_us = -1;
    struct node nd = node_row(w, pool_row(w, 1).id, 0);
    ok(w->batch.front.ops->kept_for(&w->batch.front, w->st, &nd, &left_us, &e), &e);
    return left_us;
}

/* A job that has prepared the node and run a task there; then this happens to the node, and another
 * task of the job runs. The number of commands that ran. */
static int runs_beside(struct world *w, void (*happens)(struct fake_node *), bool keeps)
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 2);
    struct batch_job j =
        add_work(w, "j",
                 "'jobPreparationTask': {'id': 'prep', 'commandLine': 'fake run=1',"
                 "'rerunOnNodeRebootAfterSuccess': false},");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->started, 2);
    assert_true(kept_us(w) > 0);
    struct node was = node_row(w, pool_row(w, 1).id, 0);
    happens(the_node(w));
    WAIT(w, node_row(w, pool_row(w, 1).id, 0).state_us > was.state_us &&
                nodes_in(w, pool_row(w, 1).id, NODE_IDLE, NULL) == 1);
    assert_int_equal(kept_us(w) > 0, keeps);
    t = add_work_task(w, &j, 2, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_true(kept_us(w) > 0);
    return v->started;
}

WORLD_TEST(test_a_restarted_node_keeps_files_and_preparations, world_virtual(1))
{
    assert_int_equal(runs_beside(w, fake_restart, true), 3);
}

WORLD_TEST(test_a_node_with_a_new_root_has_no_files_and_is_prepared_again, world_virtual(1))
{
    assert_int_equal(runs_beside(w, fake_wipe, false), 4);
}
