/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch beside clusters: nodes of two classes, resizes that end short, are stopped
 * or run out of time, nodes that are removed or restarted, deletion. On fake nodes, in virtual
 * time.
 */
#include "test/unit/scheduler/batch_pools.h"

WORLD_TEST(test_a_pool_has_nodes_of_both_classes, world_virtual(5))
{
    int64_t id = add_pool(w, "p1", 2, 1);
    assert_false(steady(w, id));
    WAIT(w, has_nodes(w, id, 3));
    struct batch_pool p = pool_row(w, id);
    struct node *nodes;
    assert_int_equal(p.has_dedicated, 2);
    assert_int_equal(p.has_low, 1);
    assert_null(p.size.errors);
    nodes_in(w, id, NODE_IDLE, &nodes);
    for (int i = 0; i < 3; i++)
        assert_int_equal(nodes[i].has.slots, 2); /* as the pool says, whatever the node has */
    resize_to(w, id, 0, 2);
    WAIT(w, has_nodes(w, id, 2));
    p = pool_row(w, id);
    assert_int_equal(p.has_dedicated, 0);
    assert_int_equal(p.has_low, 2);
}

WORLD_TEST(test_more_than_there_can_ever_be_ends_at_once, world_virtual(2))
{
    int64_t id = add_pool(w, "p1", 2, 3);
    WAIT(w, has_nodes(w, id, 2));
    struct batch_pool p = pool_row(w, id);
    assert_says(p.size.errors, "AccountCoreQuotaReached");
    assert_says_not(p.size.errors, "dedicated");
    assert_says(p.size.errors, "low priority");
    assert_int_equal(p.size.low, 3); /* as was asked for */
    pass(w, MINUTE);
    assert_true(steady(w, id));
}

/* A cluster has the nodes: the pool waits until its time is up, and gets none afterwards. */
WORLD_TEST(test_a_resize_ends_when_its_time_is_up, world_virtual(3))
{
    int64_t cluster = idle_cluster(w, 2);
    int64_t id = add_pool(w, "p1", 3, 0);
    WAIT(w, nodes_in(w, id, NODE_IDLE, NULL) == 1);
    pass(w, 14 * MINUTE);
    assert_false(steady(w, id));
    pass(w, 2 * MINUTE);
    assert_true(steady(w, id));
    assert_says(pool_row(w, id).size.errors, "AllocationTimedout");
    resize(w, cluster, 0);
    WAIT(w, rows_of(counts(w, cluster)) == 0);
    pass(w, MINUTE);
    assert_int_equal(pool_row(w, id).has_dedicated, 1);
    resize_to(w, id, 3, 0);
    WAIT(w, has_nodes(w, id, 3));
    assert_null(pool_row(w, id).size.errors);
}

WORLD_TEST(test_a_resize_is_stopped, world_virtual(3))
{
    struct err e = {0};
    idle_cluster(w, 2);
    int64_t id = add_pool(w, "p1", 2, 0);
    WAIT(w, nodes_in(w, id, NODE_IDLE, NULL) == 1);
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_stop_resize(&w->batch, &p, &e), &e);
    assert_int_equal(pool_row(w, id).size.state, BATCH_ALLOCATION_STOPPING);
    WAIT(w, steady(w, id));
    assert_says(pool_row(w, id).size.errors, "ResizeStopped");
    assert_int_equal(pool_row(w, id).updated_us, p.updated_us); /* the ETag stays */
    assert_int_equal(pool_row(w, id).size.dedicated, 2);
}

/* What it may take is time that passes, whatever the clock on the wall says. */
WORLD_TEST(test_a_clock_that_is_set_back_lengthens_no_resize, world_virtual(1))
{
    idle_cluster(w, 1);
    int64_t id = add_pool(w, "p1", 1, 0);
    pass(w, MINUTE);
    virtual_of(w)->t.wall_ahead_us -= 60 * MINUTE;
    pass(w, 13 * MINUTE);
    assert_false(steady(w, id));
    pass(w, 2 * MINUTE);
    assert_true(steady(w, id));
}

WORLD_TEST(test_the_end_of_a_resize_survives_a_restart, world_virtual(1))
{
    idle_cluster(w, 1);
    int64_t id = add_pool(w, "p1", 1, 0);
    pass(w, MINUTE);
    restart(w);
    pass(w, MINUTE);
    assert_false(steady(w, id));
    pass(w, 15 * MINUTE);
    assert_true(steady(w, id));
}

WORLD_TEST(test_chosen_nodes_are_removed, world_virtual(4))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p1", 3, 1);
    struct node *nodes;
    WAIT(w, has_nodes(w, id, 4));
    nodes_in(w, id, NODE_IDLE, &nodes);
    const struct node *two[] = {&nodes[0], &nodes[3]};
    const struct batch_targets t = {.timeout_us = 15 * MINUTE, .how = DEALLOC_REQUEUE};
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_remove_nodes(&w->batch, &p, two, 2, &t, p.updated_us + 1, &e), &e);
    WAIT(w, steady(w, id));
    p = pool_row(w, id);
    assert_int_equal(p.size.dedicated + 10 * p.size.low, 2);
    struct node *left;
    assert_int_equal(nodes_in(w, id, NODE_IDLE, &left), 2);
    assert_string_equal(left[0].name, nodes[1].name);
    assert_string_equal(left[1].name, nodes[2].name);
}

WORLD_TEST(test_a_node_is_prepared_anew, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p1", 1, 0);
    WAIT(w, nodes_in(w, id, NODE_IDLE, NULL) == 1);
    struct node before = node_row(w, id, 0);
    ok(sched_node_ask(w->s, &before, WISH_RESTART, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, node_row(w, id, 0).state == NODE_PREPARING);
    assert_int_equal(node_row(w, id, 0).wish, IS_RESTARTING);
    WAIT(w, node_row(w, id, 0).state == NODE_IDLE);
    assert_int_equal(node_row(w, id, 0).wish, WISH_NOTHING);
    assert_int_equal(node_row(w, id, 0).id, before.id);
    struct node again = node_row(w, id, 0);
    ok(sched_node_ask(w->s, &again, WISH_REST, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, node_row(w, id, 0).wish == IS_RESTING);
}

/* A cluster's job shows what the core does; Azure Batch's tasks are runs like it. */
TEST(test_what_runs_on_a_node_that_is_asked)
{
    static const struct {
        enum dealloc_option how;
        enum exec_state ends;
        int attempts;
    } cases[] = {{DEALLOC_REQUEUE, EXEC_SUCCEEDED, 2},
                 {DEALLOC_TERMINATE, EXEC_FAILED, 1},
                 {DEALLOC_WAIT_FOR_COMPLETION, EXEC_SUCCEEDED, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err e = {0};
        struct world *w = world_virtual(1);
        int64_t id = add_cluster_of(w, "c", 1);
        int64_t job = add_job(w, id, "job", JOB("fake run=60000"));
        WAIT(w, job_state(w, job) == EXEC_RUNNING);
        struct node nd = node_row(w, id, 0);
        ok(sched_node_ask(w->s, &nd, WISH_RESTART, cases[i].how, &e), &e);
        WAIT(w, job_state(w, job) == cases[i].ends);
        assert_int_equal(job_row(w, job).attempt, cases[i].attempts);
        WAIT(w, node_row(w, id, 0).wish == WISH_NOTHING && node_row(w, id, 0).state == NODE_IDLE);
        world_free(w);
    }
}

static bool is_in(struct world *w, int64_t pool, enum node_state state)
{
    return node_row(w, pool, 0).state == state;
}

WORLD_TEST(test_a_node_whose_wiping_fails_is_wiped_by_the_next_preparation, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p", 1, 0);
    WAIT(w, has_nodes(w, id, 1));
    struct node nd = node_row(w, id, 0);
    fake_set_refusing(fake_of(w, id, 0), "it does not want");
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, is_in(w, id, NODE_UNUSABLE));
    fake_set_refusing(fake_of(w, id, 0), NULL);
    nd = node_row(w, id, 0);
    ok(sched_node_ask(w->s, &nd, WISH_RESTART, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, is_in(w, id, NODE_PREPARING));
    assert_int_equal(node_row(w, id, 0).wish, IS_BEING_WIPED);
    WAIT(w, is_in(w, id, NODE_IDLE));
    assert_int_equal(node_row(w, id, 0).wish, WISH_NOTHING);
}

WORLD_TEST(test_a_node_that_is_off_gets_nothing, world_virtual(1))
{
    struct err e = {0};
    int64_t id = idle_cluster(w, 1);
    struct node nd = node_row(w, id, 0);
    ok(sched_node_set_off(w->s, &nd, DEALLOC_WAIT_FOR_COMPLETION, &e), &e);
    int64_t job = add_job(w, id, "job", JOB("fake run=1000"));
    pass(w, MINUTE);
    assert_int_equal(job_state(w, job), EXEC_QUEUED);
    ok(sched_node_set_off(w->s, &nd, 0, &e), &e);
    WAIT(w, job_state(w, job) == EXEC_SUCCEEDED);
}

static bool is_gone(struct world *w, int64_t id)
{
    struct err e = {0};
    struct batch_pool p;
    return st_batch_pool_by_id(w->st, &w->a, id, &p, &e) == 0;
}

WORLD_TEST(test_a_pool_is_deleted, world_virtual(2))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p1", 2, 0);
    WAIT(w, steady(w, id));
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_delete(&w->batch, &p, p.updated_us + 1, &e), &e);
    assert_int_equal(batch_pool_delete(&w->batch, &p, p.updated_us + 1, &e), -1);
    WAIT(w, is_gone(w, id));
    int64_t empty = add_pool(w, "P1", 0, 0); /* the name is free */
    WAIT(w, steady(w, empty));
    p = pool_row(w, empty);
    ok(batch_pool_delete(&w->batch, &p, p.updated_us + 1, &e), &e);
    WAIT(w, is_gone(w, empty));
}

WORLD_TEST(test_pools_go_with_their_group, world_virtual(1))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p1", 1, 0), account = add_account(w);
    WAIT(w, steady(w, id));
    delete_row(w, RES_GROUP, w->group);
    WAIT(w, is_gone(w, id));
    struct batch_account b;
    WAIT(w, st_batch_account_by_id(w->st, &w->a, account, &b, &e) == 0);
}

/* --- start tasks ------------------------------------------------------------------------------ */

/* A pool of one node. Its start task fails at once, and is tried without limit. */
static int64_t add_failing_start(struct world *w, const char *waits)
{
    const char *doc = arena_printf(&w->a,
                                   "{'startTask':{'commandLine':'fake exit=3',"
                                   "'maxTaskRetryCount':-1,'waitForSuccess':%s}}",
                                   waits);
    return put_pool(w, (struct batch_pool){.name = "p",
                                           .size = {.dedicated = 1},
                                           .vm_size = "STANDARD_D1",
                                           .slots = 2,
                                           .doc = json(w, doc)});
}

static int retries_of(struct world *w, int64_t pool)
{
    struct err e = {0};
    struct node_setup row = {.retries = 0};
    ok(st_node_setup_get(w->st, &w->a, node_row(w, pool, 0).id, &row, &e), &e);
    assert_true(row.runs);
    return row.retries;
}

static void assert_tried_with_pauses(struct world *w, const char *waits)
{
    int64_t pool = add_failing_start(w, waits);
    const struct virtual_world *v = virtual_of(w);
    pass(w, 60 * MINUTE);
    assert_in_range(v->started, 50, 100);
    int started = v->started;
    assert_in_range(retries_of(w, pool), started - 1, started);
    assert_in_range(tasks_known(fake_at(v->fake, 0)), 1, 2);
    restart(w);
    pass(w, 30 * MINUTE);
    assert_in_range(v->started, started + 20, started + 40);
    assert_in_range(retries_of(w, pool), v->started - 1, v->started); /* none was repeated */
    assert_in_range(tasks_known(fake_at(v->fake, 0)), 1, 2);
}

WORLD_TEST(test_tries_of_a_start_task_have_pauses_and_leave_nothing_behind, world_virtual(1))
{
    assert_tried_with_pauses(w, "true");
}

WORLD_TEST(test_tries_beside_tasks_have_pauses_and_leave_nothing_behind, world_virtual(1))
{
    assert_tried_with_pauses(w, "false");
}
