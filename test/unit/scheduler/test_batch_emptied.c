/* SPDX-License-Identifier: MIT
 *
 * A node of Azure Batch that was wiped, or whose root directory is a new one: the files of its
 * tasks, and what jobs have prepared there, are lost. On fake nodes, in virtual time.
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
static int runs_beside(struct world *w, void (*happens)(struct world *), bool keeps)
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
    happens(w);
    WAIT(w, node_row(w, pool_row(w, 1).id, 0).state_us > was.state_us &&
                nodes_in(w, pool_row(w, 1).id, NODE_IDLE, NULL) == 1);
    assert_int_equal(kept_us(w) > 0, keeps);
    t = add_work_task(w, &j, 2, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_true(kept_us(w) > 0);
    return v->started;
}

static void restarts(struct world *w)
{
    fake_restart(the_node(w));
}

static void gets_a_new_root(struct world *w)
{
    fake_wipe(the_node(w));
}

static void ask(struct world *w, enum node_wish wish)
{
    struct err e = {0};
    struct node nd = node_row(w, pool_row(w, 1).id, 0);
    ok(sched_node_ask(w->s, &nd, wish, DEALLOC_REQUEUE, &e), &e);
}

static void is_wiped(struct world *w)
{
    ask(w, WISH_WIPE);
}

WORLD_TEST(test_a_restarted_node_keeps_files_and_preparations, world_virtual(1))
{
    assert_int_equal(runs_beside(w, restarts, true), 3);
}

WORLD_TEST(test_a_node_with_a_new_root_has_no_files_and_is_prepared_again, world_virtual(1))
{
    assert_int_equal(runs_beside(w, gets_a_new_root, false), 4);
}

WORLD_TEST(test_a_wiped_node_has_no_files_and_is_prepared_again, world_virtual(1))
{
    assert_int_equal(runs_beside(w, is_wiped, false), 4);
}

static size_t removals(struct world *w, int64_t node)
{
    struct err e = {0};
    struct batch_cleanup *rows;
    size_t n;
    ok(st_batch_cleanup_of_node(w->st, &w->a, node, INT64_MAX, 10, &rows, &n, &e), &e);
    return n;
}

WORLD_TEST(test_a_wipe_that_is_called_off_loses_no_files_and_no_removals, world_virtual(1))
{
    struct err e = {0};
    add_slots(w, "p", 2);
    int64_t pool = pool_row(w, 1).id, node = node_row(w, pool, 0).id;
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    ok(st_batch_cleanup_add(w->st, node, "workitems/gone", INT64_C(1) << 52, &e), &e);
    fake_set_down(the_node(w), true, 0);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    ask(w, WISH_WIPE);
    WAIT(w, nodes_in(w, pool, NODE_PREPARING, NULL) == 1);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    ask(w, WISH_REST);
    WAIT(w, node_row(w, pool, 0).wish == IS_RESTING);
    fake_set_down(the_node(w), false, 0);
    WAIT(w, nodes_in(w, pool, NODE_IDLE, NULL) == 1);
    assert_int_equal(removals(w, node), 1);
    ok(st_batch_cleanup_keep(w->st, node, "workitems/gone", &e), &e);
    assert_true(kept_us(w) > 0);
}

/* A release task that ends because its node has a new root. */
WORLD_TEST(test_the_directory_of_a_lost_release_task_is_not_kept, world_virtual(1))
{
    struct err e = {0};
    add_ruled_nodes(w, "p", 1, 2, DEALLOC_TERMINATE);
    struct batch_job j =
        add_work(w, "j",
                 "'jobPreparationTask': {'id': 'prep', 'commandLine': 'fake run=1'},"
                 "'jobReleaseTask': {'id': 'release', 'commandLine': 'fake run=600000',"
                 "'retentionTime': 'P7D'},");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    j = work_row(w, &j);
    ok(batch_job_terminate(&w->batch, &j, NULL, true, wakes_wall(sched_wakes(w->s)), &e), &e);
    WAIT(w, virtual_of(w)->started == 3);
    struct node was = node_row(w, pool_row(w, 1).id, 0);
    gets_a_new_root(w);
    WAIT(w, node_row(w, pool_row(w, 1).id, 0).state_us > was.state_us &&
                nodes_in(w, pool_row(w, 1).id, NODE_IDLE, NULL) == 1);
    WAIT(w, work_row(w, &j).state == BATCH_JOB_COMPLETED);
    assert_int_equal(removals(w, was.id), 0);
    assert_int_equal(kept_us(w), 0);
}
