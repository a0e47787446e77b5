/* SPDX-License-Identifier: MIT
 *
 * Nodes of Azure Batch that leave when the files of their tasks are no longer kept, while something
 * else happens to them; and what a resize that is stopped leaves as it was. On fake nodes, in
 * virtual time.
 */
#include "test/unit/scheduler/batch_work.h"

#define HOUR (60 * MINUTE)
#define DAY  (24 * HOUR)

static const struct batch_targets leaves_with_data = {.timeout_us = 30 * DAY,
                                                      .how = DEALLOC_WAIT_FOR_DATA};

/* A pool of one node with two slots, and the files of a task there for seven days. */
static struct batch_job add_kept(struct world *w)
{
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    return j;
}

static void resize_to_nothing(struct world *w)
{
    struct err e = {0};
    struct batch_pool p = pool_row(w, 1);
    ok(batch_pool_resize(&w->batch, &p, &leaves_with_data, p.updated_us + 1, &e), &e);
}

static void ask(struct world *w, enum node_wish wish)
{
    struct err e = {0};
    struct node nd = node_row(w, 1, 0);
    ok(sched_node_ask(w->s, &nd, wish, DEALLOC_REQUEUE, &e), &e);
}

static bool is_there(struct world *w)
{
    struct node *nodes;
    struct err e = {0};
    size_t n;
    ok(st_node_list(w->st, &w->a, 1, &nodes, &n, &e), &e);
    return n == 1 && nodes[0].state != NODE_LEAVING;
}

static void must_leave_in_a_week(struct world *w)
{
    pass(w, 6 * DAY);
    assert_true(is_there(w));
    pass(w, DAY + HOUR);
    assert_false(is_there(w));
    WAIT(w, steady(w, 1));
}

WORLD_TEST(test_a_node_that_runs_another_task_waits_for_it_and_then_for_the_files, world_virtual(1))
{
    struct batch_job j = add_kept(w);
    struct batch_task runs = add_work_task(w, &j, 2, 3600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_RUNNING);
    resize_to_nothing(w);
    struct batch_task waits = add_work_task(w, &j, 3, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_COMPLETED);
    must_leave_in_a_week(w);
    assert_int_equal(task_state(w, &waits), BATCH_TASK_ACTIVE);
}

/* A restart keeps the files. */
WORLD_TEST(test_a_node_that_is_being_restarted_waits_for_its_files, world_virtual(1))
{
    add_kept(w);
    ask(w, WISH_RESTART);
    WAIT(w, nodes_in(w, 1, NODE_PREPARING, NULL) == 1);
    resize_to_nothing(w);
    must_leave_in_a_week(w);
}

/* Nobody can read files on a node that does not answer. */
WORLD_TEST(test_a_node_that_is_unusable_does_not_wait_for_its_files, world_virtual(1))
{
    add_kept(w);
    fake_set_down(the_node(w), true, 0);
    WAIT(w, nodes_in(w, 1, NODE_UNUSABLE, NULL) == 1);
    resize_to_nothing(w);
    pass(w, HOUR);
    assert_false(is_there(w));
}

static void remove_the_node(struct world *w)
{
    struct err e = {0};
    struct batch_pool p = pool_row(w, 1);
    struct node nd = node_row(w, 1, 0);
    const struct node *one[] = {&nd};
    ok(batch_pool_remove_nodes(&w->batch, &p, one, 1, &leaves_with_data, p.updated_us + 1, &e), &e);
}

/* "The pool maintains its current state." */
WORLD_TEST(test_a_deallocated_node_still_rests_when_its_removal_is_stopped, world_virtual(1))
{
    struct err e = {0};
    struct batch_job j = add_kept(w);
    ask(w, WISH_REST);
    WAIT(w, node_row(w, 1, 0).wish == IS_RESTING);
    remove_the_node(w);
    pass(w, HOUR);
    assert_true(is_there(w));
    struct batch_pool p = pool_row(w, 1);
    ok(batch_pool_stop_resize(&w->batch, &p, &e), &e);
    WAIT(w, steady(w, 1));
    struct batch_task waits = add_work_task(w, &j, 2, 1);
    batch_job_has_more(&w->batch, j.id);
    pass(w, HOUR);
    assert_int_equal(node_row(w, 1, 0).wish, IS_RESTING);
    assert_int_equal(task_state(w, &waits), BATCH_TASK_ACTIVE);
    ask(w, WISH_RESTART);
    WAIT(w, task_state(w, &waits) == BATCH_TASK_COMPLETED);
}

/* The other class can be resized alone, and the tasks of the kept nodes run on. */
WORLD_TEST(test_a_shrink_that_was_stopped_is_no_target_any_more, world_virtual(2))
{
    struct err e = {0};
    add_slots(w, "p", 1);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task runs = add_work_task(w, &j, 1, 3600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_RUNNING);
    resize_to_nothing(w);
    struct batch_pool p = pool_row(w, 1);
    ok(batch_pool_stop_resize(&w->batch, &p, &e), &e);
    WAIT(w, steady(w, 1));
    p = pool_row(w, 1);
    assert_int_equal(p.size.dedicated, 1);
    assert_says(p.size.errors, "Desired number of dedicated nodes could not be removed");
    assert_says_not(p.size.errors, "low priority");
    resize_to(w, 1, p.size.dedicated, 1);
    WAIT(w, has_nodes(w, 1, 2));
    assert_int_equal(task_state(w, &runs), BATCH_TASK_RUNNING);
}

static void must_leave_though_deallocated(struct world *w, void (*leaves)(struct world *))
{
    add_kept(w);
    ask(w, WISH_REST);
    WAIT(w, node_row(w, 1, 0).wish == IS_RESTING);
    leaves(w);
    must_leave_in_a_week(w);
}

WORLD_TEST(test_a_deallocated_node_that_is_removed_waits_for_its_files, world_virtual(1))
{
    must_leave_though_deallocated(w, remove_the_node);
}

WORLD_TEST(test_a_deallocated_node_of_a_pool_that_shrinks_waits_for_its_files, world_virtual(1))
{
    must_leave_though_deallocated(w, resize_to_nothing);
}

/* The wipe may be far from over, or never succeed. */
WORLD_TEST(test_a_node_does_not_wait_for_files_whose_wipe_was_accepted, world_virtual(1))
{
    add_kept(w);
    ask(w, WISH_WIPE);
    WAIT(w, nodes_in(w, 1, NODE_PREPARING, NULL) == 1);
    assert_int_equal(node_row(w, 1, 0).wish, IS_BEING_WIPED);
    remove_the_node(w);
    restart(w);
    pass(w, HOUR);
    assert_false(is_there(w));
}

/* The tasks of a node that is to be wiped after them run on when its removal is stopped. */
WORLD_TEST(test_a_node_is_wiped_as_was_asked_when_its_removal_is_stopped, world_virtual(1))
{
    struct err e = {0};
    struct batch_job j = add_kept(w);
    struct batch_task runs = add_work_task(w, &j, 2, 3600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_RUNNING);
    struct node nd = node_row(w, 1, 0);
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_WAIT_FOR_COMPLETION, &e), &e);
    remove_the_node(w);
    pass(w, MINUTE);
    assert_true(is_there(w));
    struct batch_pool p = pool_row(w, 1);
    ok(batch_pool_stop_resize(&w->batch, &p, &e), &e);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_COMPLETED);
    WAIT(w, nodes_in(w, 1, NODE_PREPARING, NULL) == 1);
    assert_int_equal(node_row(w, 1, 0).wish, IS_BEING_WIPED);
    WAIT(w, has_nodes(w, 1, 1));
}

/* A node that waits for its tasks may be asked to restart meanwhile. */
WORLD_TEST(test_a_node_is_wiped_as_was_asked_when_it_restarts_first, world_virtual(1))
{
    struct err e = {0};
    struct batch_job j = add_kept(w);
    struct batch_task runs = add_work_task(w, &j, 2, 3600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &runs) == BATCH_TASK_RUNNING);
    struct node nd = node_row(w, 1, 0);
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_WAIT_FOR_COMPLETION, &e), &e);
    nd = node_row(w, 1, 0);
    ok(sched_node_ask(w->s, &nd, WISH_RESTART, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, nodes_in(w, 1, NODE_PREPARING, NULL) == 1);
    assert_int_equal(node_row(w, 1, 0).wish, IS_BEING_WIPED);
}

/* A wipe that itself waits for the files condemns none. */
WORLD_TEST(test_a_node_waits_for_files_that_its_wipe_waits_for, world_virtual(1))
{
    struct err e = {0};
    add_kept(w);
    struct node nd = node_row(w, 1, 0);
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_WAIT_FOR_DATA, &e), &e);
    pass(w, HOUR);
    remove_the_node(w);
    must_leave_in_a_week(w);
}
