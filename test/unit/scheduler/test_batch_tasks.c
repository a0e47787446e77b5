/* SPDX-License-Identifier: MIT
 *
 * Jobs of Azure Batch with many tasks: whose tasks get runs, and which of them stop with their job.
 * On fake nodes, in virtual time.
 */
#include "model/batch/job_states.h"
#include "test/unit/scheduler/batch_work.h"

static int64_t queued(struct world *w, const struct batch_job *j)
{
    struct err e = {0};
    int64_t n = 0;
    ok(st_batch_task_count_queued(w->st, j->id, &n, &e), &e);
    return n;
}

/* How many of its tasks have begun and not ended. */
static int64_t at_work(struct world *w, const struct batch_job *j)
{
    struct err e = {0};
    int64_t fed = 0;
    ok(st_batch_task_count_fed(w->st, j->id, &fed, &e), &e);
    return fed - queued(w, j);
}

/* A job of which 256 tasks run, 200 wait in the queue of the core, and others are only rows. */
static struct batch_job busy_work(struct world *w)
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 256);
    struct batch_job j = add_work(w, "j", "");
    add_tasks(w, &j, 600);
    WAIT(w, v->started == 256 && queued(w, &j) == 200);
    return work_row(w, &j);
}

WORLD_TEST(test_no_task_of_a_disabled_job_starts, world_virtual(1))
{
    struct err e = {0};
    struct virtual_world *v = virtual_of(w);
    struct batch_job j = busy_work(w);
    ok(batch_job_disable(&w->batch, &j, BATCH_DISABLE_WAIT, j.updated_us + 1, &e), &e);
    WAIT(w, work_row(w, &j).state == BATCH_JOB_DISABLED);
    assert_int_equal(v->started, 256);
    assert_int_equal(v->ended, 256); /* as they would have, each by itself */
    assert_int_equal(queued(w, &j), 0);
    j = work_row(w, &j);
    ok(batch_job_enable(&w->batch, &j, j.updated_us + 1, &e), &e);
    WAIT(w, v->started == 600);
}

TEST(test_no_task_of_a_job_that_ends_starts)
{
    for (int deletes = 0; deletes < 2; deletes++) {
        struct err e = {0};
        struct world *w = world_virtual(1);
        struct virtual_world *v = virtual_of(w);
        struct batch_job j = busy_work(w);
        bool any = true;
        ok(deletes ? batch_job_delete(&w->batch, &j, j.updated_us + 1, &e)
                   : batch_job_terminate(&w->batch, &j, NULL, true, j.updated_us + 1, &e),
           &e);
        WAIT(w, v->ended == 256);
        assert_int_equal(v->started, 256);
        WAIT(w, st_batch_task_any_fed(w->st, j.id, &any, &e) == 0 && !any);
        if (!deletes)
            WAIT(w, work_row(w, &j).state == BATCH_JOB_COMPLETED);
        assert_int_equal(v->started, 256);
        world_free(w);
    }
}

/* How often jobs were woken. */
static uint64_t job_wakes(struct world *w)
{
    const struct wakes *wakes = sched_wakes(w->s);
    const struct wake_kind *k = NULL;
    for (size_t i = 0; (k = wakes_kind(wakes, i)) && strcmp(k->name, "batch job") != 0; i++)
        continue;
    assert_non_null(k);
    return wakes_woken(wakes, k);
}

WORLD_TEST(test_a_removed_job_wakes_no_other_that_moves, world_virtual(1))
{
    struct err e = {0};
    struct virtual_world *v = virtual_of(w);
    struct batch_job moving[20], gone[20];
    add_slots(w, "p", 20);
    for (int i = 0; i < 20; i++) {
        moving[i] = add_work(w, arena_printf(&w->a, "m%d", i), "");
        gone[i] = add_work(w, arena_printf(&w->a, "g%d", i), "");
        (void)add_work_task(w, &moving[i], 1, 600);
        batch_job_has_more(&w->batch, moving[i].id);
    }
    WAIT(w, v->started == 20);
    for (int i = 0; i < 20; i++) {
        struct batch_job j = work_row(w, &moving[i]);
        ok(batch_job_disable(&w->batch, &j, BATCH_DISABLE_WAIT, j.updated_us + 1, &e), &e);
    }
    pass(w, MINUTE);
    uint64_t before = job_wakes(w);
    for (int i = 0; i < 20; i++) {
        struct batch_job j = work_row(w, &gone[i]);
        ok(batch_job_delete(&w->batch, &j, j.updated_us + 1, &e), &e);
        pass(w, SECOND);
        assert_int_equal(st_batch_job_by_id(w->st, &w->a, j.id, &j, &e), 0);
    }
    assert_int_equal(job_wakes(w), before + 20);
    assert_int_equal(work_row(w, &moving[0]).state, BATCH_JOB_DISABLING);
}

/* Its time limit does not matter: what was retried or lost its node would start again. */
WORLD_TEST(test_a_task_of_a_disabled_job_is_not_tried_again, world_virtual(1))
{
    struct err e = {0};
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 600);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, v->started == 1);
    j = work_row(w, &j);
    ok(batch_job_disable(&w->batch, &j, BATCH_DISABLE_WAIT, j.updated_us + 1, &e), &e);
    pass(w, MINUTE);
    assert_int_equal(work_row(w, &j).state, BATCH_JOB_DISABLING);
    struct node nd = node_row(w, pool_row(w, 1).id, 0);
    ok(sched_node_ask(w->s, &nd, WISH_RESTART, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, work_row(w, &j).state == BATCH_JOB_DISABLED);
    pass(w, 10 * MINUTE);
    assert_int_equal(v->started, 1);
    assert_int_equal(task_state(w, &t), BATCH_TASK_ACTIVE);
}

static struct batch_task task_row(struct world *w, const struct batch_task *t)
{
    struct err e = {0};
    struct batch_task row = {.id = 0};
    ok(st_batch_task_by_id(w->st, &w->a, t->id, &row, &e), &e);
    return row;
}

/* A task of a disabled job, active again while its node is still cleaned of its first run. */
static struct batch_task requeued_task(struct world *w, struct batch_job *j)
{
    struct err e = {0};
    add_slots(w, "p", 1);
    *j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, j, 1, 600);
    batch_job_has_more(&w->batch, j->id);
    WAIT(w, virtual_of(w)->started == 1);
    *j = work_row(w, j);
    ok(batch_job_disable(&w->batch, j, BATCH_DISABLE_REQUEUE, j->updated_us + 1, &e), &e);
    WAIT(w, task_state(w, &t) == BATCH_TASK_ACTIVE);
    t = task_row(w, &t);
    assert_true(t.fed);
    return t;
}

static void runs_no_more(struct world *w, struct batch_job *j, const struct batch_task *t)
{
    struct err e = {0};
    WAIT(w, work_row(w, j).state == BATCH_JOB_DISABLED);
    *j = work_row(w, j);
    ok(batch_job_enable(&w->batch, j, j->updated_us + 1, &e), &e);
    pass(w, 20 * MINUTE);
    assert_int_equal(task_state(w, t), BATCH_TASK_COMPLETED);
    assert_int_equal(task_row(w, t).fed, false);
    assert_int_equal(virtual_of(w)->started, 1);
}

WORLD_TEST(test_a_task_that_is_terminated_right_after_its_requeue_runs_no_more, world_virtual(1))
{
    struct err e = {0};
    struct batch_job j;
    struct batch_task t = requeued_task(w, &j);
    ok(batch_task_terminate(&w->batch, &t, t.updated_us + 1, &e), &e);
    assert_int_equal(task_state(w, &t), BATCH_TASK_COMPLETED);
    runs_no_more(w, &j, &t);
}

/* Each of these requests comes before the node is clean. */
WORLD_TEST(test_the_last_request_for_a_requeued_task_counts, world_virtual(1))
{
    struct err e = {0};
    struct batch_job j;
    struct batch_task t = requeued_task(w, &j);
    for (int i = 0; i < 2; i++) {
        ok(batch_task_terminate(&w->batch, &t, t.updated_us + 1, &e), &e);
        t = task_row(w, &t);
        assert_int_equal(t.state, BATCH_TASK_COMPLETED);
        ok(batch_task_reactivate(&w->batch, &t, t.updated_us + 1, &e), &e);
        t = task_row(w, &t);
        assert_int_equal(t.state, BATCH_TASK_ACTIVE);
        assert_false(batch_task_is_ending(&t));
    }
    WAIT(w, work_row(w, &j).state == BATCH_JOB_DISABLED);
    assert_int_equal(task_state(w, &t), BATCH_TASK_ACTIVE);
    j = work_row(w, &j);
    ok(batch_job_enable(&w->batch, &j, j.updated_us + 1, &e), &e);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(virtual_of(w)->started, 2);
}

WORLD_TEST(test_jobs_at_their_limit_hold_no_other_up, world_virtual(1))
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 256);
    for (int i = 0; i < 100; i++) {
        struct batch_job j = add_work(w, arena_printf(&w->a, "j%d", i), "'maxParallelTasks': 1,");
        add_tasks(w, &j, 2);
    }
    pass(w, MINUTE); /* before the first of them end */
    assert_int_equal(v->started, 100);
}

WORLD_TEST(test_a_job_barred_from_all_nodes_holds_no_other_up, world_virtual(1))
{
    static const char fails[] = "'jobPreparationTask': {'id': 'prep', 'waitForSuccess': true,"
                                "'commandLine': 'fake run=100 exit=1',"
                                "'constraints': {'maxTaskRetryCount': 0}},";
    struct err e = {0};
    struct virtual_world *v = virtual_of(w);
    int64_t *nodes;
    size_t n = 0;
    add_slots(w, "p", 2);
    struct batch_job a = add_work(w, "a", fails), b = add_work(w, "b", "");
    add_tasks(w, &a, 300);
    WAIT(w, st_node_barred(w->st, &w->a, a.id, &nodes, &n, &e) == 0 && n == 1);
    pass(w, MINUTE);
    int began = v->started;
    struct batch_task t = add_work_task(w, &b, 1, 10);
    batch_job_has_more(&w->batch, b.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->started, began + 1);
    assert_int_equal(queued(w, &a), 64);
}

WORLD_TEST(test_many_barred_jobs_hold_no_other_up, world_virtual(1))
{
    static const char fails[] = "'jobPreparationTask': {'id': 'prep', 'waitForSuccess': true,"
                                "'commandLine': 'fake run=100 exit=1',"
                                "'constraints': {'maxTaskRetryCount': 0}},";
    add_slots(w, "p", 2);
    for (int i = 0; i < 70; i++) {
        struct batch_job j = add_work(w, arena_printf(&w->a, "j%d", i), fails);
        add_tasks(w, &j, 80);
    }
    struct batch_job good = add_work(w, "good", "");
    struct batch_task t = add_work_task(w, &good, 1, 10);
    batch_job_has_more(&w->batch, good.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
}

static const char prepares[] = "'jobPreparationTask': {'id': 'prep', 'waitForSuccess': true,"
                               "'commandLine': 'fake run=100'},";

/* `n` jobs with `tasks` tasks each to which the first node of the pool is barred. */
static void add_barred(struct world *w, int n, int tasks)
{
    struct err e = {0};
    int64_t node = node_row(w, pool_row(w, 1).id, 0).id;
    for (int i = 0; i < n; i++) {
        struct batch_job j = add_work(w, arena_printf(&w->a, "b%d", i), prepares);
        ok(st_node_bar(w->st, j.id, node, &e), &e);
        add_tasks(w, &j, tasks);
    }
}

/* More than a pass of the core looks at. */
WORLD_TEST(test_no_number_of_barred_jobs_holds_another_up, world_virtual(1))
{
    add_slots(w, "p", 2);
    add_barred(w, 1100, 1);
    struct batch_job good = add_work(w, "good", "");
    struct batch_task t = add_work_task(w, &good, 1, 10);
    batch_job_has_more(&w->batch, good.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
}

/* All slots of the second node become free at once. */
WORLD_TEST(test_a_barred_job_keeps_its_priority, world_virtual(2))
{
    struct err e = {0};
    add_nodes(w, "p", 2, 64);
    struct node second = node_row(w, pool_row(w, 1).id, 1);
    ok(sched_node_set_off(w->s, &second, DEALLOC_REQUEUE, &e), &e);
    struct batch_job low = add_work(w, "low", "");
    add_tasks(w, &low, 200);
    WAIT(w, virtual_of(w)->started == 64);
    add_barred(w, 127, 4);
    struct batch_job high = add_work(w, "high", arena_concat(&w->a, "'priority': 1000,", prepares));
    ok(st_node_bar(w->st, high.id, node_row(w, pool_row(w, 1).id, 0).id, &e), &e);
    add_tasks(w, &high, 100);
    pass(w, SECOND);
    ok(sched_node_set_off(w->s, &second, 0, &e), &e);
    WAIT(w, at_work(w, &high) > 0);
    pass(w, SECOND);
    assert_int_equal(at_work(w, &high), 64);
}

/* As many as the queue of the core gets of all tasks. */
WORLD_TEST(test_managers_that_wait_for_a_dedicated_node_hold_no_other_up, world_virtual(2))
{
    static const char managed[] =
        "'jobManagerTask':{'id':'m','commandLine':'fake run=100','allowLowPriorityNode':false},";
    int64_t id = add_pool(w, "p", 0, 1);
    WAIT(w, has_nodes(w, id, 1));
    for (int i = 0; i < 200; i++)
        (void)add_work(w, arena_printf(&w->a, "m%d", i), managed);
    pass(w, MINUTE);
    struct batch_job good = add_work(w, "good", "");
    struct batch_task t = add_work_task(w, &good, 1, 10);
    batch_job_has_more(&w->batch, good.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(virtual_of(w)->started, 1);
    resize_to(w, id, 1, 1);
    WAIT(w, virtual_of(w)->started == 201);
}

/* A node of the pool that it left is barred to it. */
WORLD_TEST(test_a_moved_job_has_runs_in_its_new_pool_alone, world_virtual(2))
{
    struct err e = {0};
    int64_t *jobs;
    size_t n[2];
    add_slots(w, "p", 1);
    add_slots(w, "q", 1);
    struct batch_job j = add_work(w, "j", prepares), other = add_work(w, "other", "");
    ok(st_node_bar(w->st, j.id, node_row(w, pool_row(w, 1).id, 0).id, &e), &e);
    j.doc = json(w, "{'id':'j','jobPreparationTask':{'id':'prep','commandLine':'true'},"
                    "'poolInfo':{'poolId':'q'}}");
    ok(batch_job_columns(&w->a, &j, &e), &e);
    ok(batch_job_update(&w->batch, &j, NULL, &e), &e);
    add_tasks(w, &other, 1);
    add_tasks(w, &j, 300);
    WAIT(w, at_work(w, &j) == 1 && at_work(w, &other) == 1);
    batch_job_has_more(&w->batch, j.id);
    pass(w, MINUTE);
    for (int i = 0; i < 2; i++)
        ok(st_batch_job_waiting(w->st, &w->a, i + 1, 0, &jobs, &n[i], &e), &e);
    assert_int_equal(n[0], 0);
    assert_int_equal(n[1], 200);
}

/* A task that waits for the preparation keeps no part of a node with a full disk, and is prepared
 * once there is room. */
WORLD_TEST(test_a_preparation_that_finds_a_full_disk_gives_its_node_back, world_virtual(1))
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", prepares);
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    fake_set_full(the_node(w), true);
    WAIT(w, nodes_in(w, pool_row(w, 1).id, NODE_UNUSABLE, NULL) == 1);
    assert_int_equal(task_state(w, &t), BATCH_TASK_ACTIVE);
    assert_int_equal(v->started, 0);
    fake_set_full(the_node(w), false);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->started, 2);
}

WORLD_TEST(test_a_node_whose_disk_stays_full_is_wiped_again_when_there_is_room, world_virtual(1))
{
    struct err e = {0};
    add_slots(w, "p", 2);
    int64_t pool = pool_row(w, 1).id;
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    fake_set_full(the_node(w), true);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    struct node nd = node_row(w, pool, 0);
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, nodes_in(w, pool, NODE_PREPARING, NULL) == 1);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    assert_int_equal(node_row(w, pool, 0).failure, FAIL_NODE_DISK);
    pass(w, 10 * MINUTE);
    assert_int_equal(nodes_in(w, pool, NODE_UNUSABLE, NULL), 1);
    fake_set_full(the_node(w), false);
    WAIT(w, nodes_in(w, pool, NODE_PREPARING, NULL) == 1);
    assert_int_equal(node_row(w, pool, 0).wish, IS_BEING_WIPED);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
}

WORLD_TEST(test_a_wipe_of_a_full_disk_that_was_interrupted_begins_again, world_virtual(1))
{
    struct err e = {0};
    add_slots(w, "p", 2);
    int64_t pool = pool_row(w, 1).id;
    struct batch_job j = add_work(w, "j", "");
    add_tasks(w, &j, 1);
    fake_set_full(the_node(w), true);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    struct node nd = node_row(w, pool, 0);
    ok(sched_node_ask(w->s, &nd, WISH_WIPE, DEALLOC_REQUEUE, &e), &e);
    WAIT(w, nodes_in(w, pool, NODE_PREPARING, NULL) == 1);
    fake_set_down(the_node(w), true, 0);
    WAIT(w, nodes_in(w, pool, NODE_UNUSABLE, NULL) == 1);
    assert_int_equal(node_row(w, pool, 0).failure, FAIL_NODE_LOST);
    fake_set_down(the_node(w), false, 0);
    WAIT(w, nodes_in(w, pool, NODE_PREPARING, NULL) == 1);
    assert_int_equal(node_row(w, pool, 0).wish, IS_BEING_WIPED);
    WAIT(w, node_row(w, pool, 0).failure == FAIL_NODE_DISK);
    pass(w, 10 * MINUTE);
    assert_int_equal(nodes_in(w, pool, NODE_UNUSABLE, NULL), 1);
}

/* The daemon is killed between a change and what follows from it. */
WORLD_TEST(test_a_job_that_ends_with_its_tasks_ends_after_a_restart, world_virtual(1))
{
    struct err e = {0};
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    pass(w, MINUTE);
    j = work_row(w, &j);
    j.doc = json(w, "{'id':'j','onAllTasksComplete':'terminatejob','poolInfo':{'poolId':'p'}}");
    ok(batch_job_columns(&w->a, &j, &e), &e);
    ok(batch_job_update(&w->batch, &j, NULL, &e), &e);
    restart(w);
    WAIT(w, work_row(w, &j).state == BATCH_JOB_COMPLETED);
}

/* `more` as in add_work(). */
static void change_work(struct world *w, const struct batch_job *of, const char *more)
{
    struct err e = {0};
    struct batch_job j = work_row(w, of);
    j.doc = json(w, arena_printf(&w->a, "{%s'id':'%s','poolInfo':{'poolId':'p'}}", more, j.name));
    ok(batch_job_columns(&w->a, &j, &e), &e);
    ok(batch_job_update(&w->batch, &j, NULL, &e), &e);
    batch_job_changed(&w->batch, j.id);
}

WORLD_TEST(test_waiting_tasks_go_by_the_changed_priority_of_their_job, world_virtual(1))
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 1);
    struct batch_job first = add_work(w, "first", ""), a = add_work(w, "a", ""),
                     b = add_work(w, "b", "'priority': 100,");
    (void)add_work_task(w, &first, 1, 600);
    batch_job_has_more(&w->batch, first.id);
    WAIT(w, v->started == 1);
    struct batch_task raised = add_work_task(w, &a, 1, 600), other = add_work_task(w, &b, 1, 600);
    batch_job_has_more(&w->batch, a.id);
    batch_job_has_more(&w->batch, b.id);
    WAIT(w, queued(w, &a) == 1 && queued(w, &b) == 1);
    change_work(w, &a, "'priority':1000,");
    WAIT(w, v->started == 2);
    assert_int_equal(task_state(w, &raised), BATCH_TASK_RUNNING);
    assert_int_equal(task_state(w, &other), BATCH_TASK_ACTIVE);
}

WORLD_TEST(test_a_lowered_limit_holds_for_tasks_that_wait_in_the_queue, world_virtual(1))
{
    struct virtual_world *v = virtual_of(w);
    add_slots(w, "p", 4);
    struct batch_job j = add_work(w, "j", "");
    add_tasks(w, &j, 20);
    WAIT(w, v->started == 4 && queued(w, &j) == 16);
    change_work(w, &j, "'maxParallelTasks':6,");
    assert_int_equal(queued(w, &j), 2);
    change_work(w, &j, "'maxParallelTasks':2,");
    assert_int_equal(queued(w, &j), 0);
    assert_int_equal(at_work(w, &j), 4); /* they began before */
    WAIT(w, v->ended == 4);
    WAIT(w, v->started > v->ended + 2 || v->ended == 20);
    assert_int_equal(v->ended, 20);
}

/* What a deleted job or task left on a node is removed before another of its name runs there. */
static size_t cleanups_due(struct world *w)
{
    struct err e = {0};
    int64_t *nodes;
    size_t n = 0;
    ok(st_batch_cleanup_nodes(w->st, &w->a, wakes_steady_wall(sched_wakes(w->s)), &nodes, &n, &e),
       &e);
    return n;
}

static void begins_on_a_clean_node(struct world *w, int run)
{
    struct virtual_world *v = virtual_of(w);
    pass(w, 5 * SECOND);
    assert_int_equal(cleanups_due(w), 1);
    fake_set_down(the_node(w), false, 0);
    WAIT(w, v->started == run);
    assert_int_equal(cleanups_due(w), 0);
}

WORLD_TEST(test_files_of_a_deleted_job_are_gone_before_another_of_its_name_runs, world_virtual(1))
{
    struct err e = {0};
    struct virtual_world *v = virtual_of(w);
    struct batch_job gone;
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    fake_set_down(the_node(w), true, 0);
    pass(w, 5 * SECOND);
    j = work_row(w, &j);
    ok(batch_job_delete(&w->batch, &j, j.updated_us + 1, &e), &e);
    WAIT(w, st_batch_job_by_id(w->st, &w->a, j.id, &gone, &e) == 0);
    j = add_work(w, "j", "");
    t = add_work_task(w, &j, 1, 600);
    batch_job_has_more(&w->batch, j.id);
    begins_on_a_clean_node(w, 2);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
    assert_int_equal(v->ended, 2);
}

WORLD_TEST(test_files_of_a_deleted_task_are_gone_before_another_of_its_name_runs, world_virtual(1))
{
    struct err e = {0};
    add_slots(w, "p", 2);
    struct batch_job j = add_work(w, "j", "");
    struct batch_task t = add_work_task(w, &j, 1, 1), row = {.id = 0};
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, st_batch_task_by_id(w->st, &w->a, t.id, &row, &e) == 1 && !row.fed &&
                row.state == BATCH_TASK_COMPLETED);
    fake_set_down(the_node(w), true, 0);
    pass(w, 5 * SECOND);
    ok(batch_task_delete(&w->batch, &row, row.updated_us + 1, &e), &e);
    t = add_work_task(w, &j, 1, 600);
    batch_job_has_more(&w->batch, j.id);
    begins_on_a_clean_node(w, 2);
    WAIT(w, task_state(w, &t) == BATCH_TASK_COMPLETED);
}

WORLD_TEST(test_low_priority_nodes_work_after_a_resize_that_waits_for_tasks, world_virtual(3))
{
    struct err e = {0};
    int64_t id = add_pool(w, "p", 1, 2);
    WAIT(w, has_nodes(w, id, 3));
    const struct batch_targets t = {0, 2, 15 * MINUTE, DEALLOC_WAIT_FOR_COMPLETION};
    struct batch_pool p = pool_row(w, id);
    ok(batch_pool_resize(&w->batch, &p, &t, p.updated_us + 1, &e), &e);
    WAIT(w, has_nodes(w, id, 2));
    struct batch_job j = add_work(w, "j", "");
    struct batch_task task = add_work_task(w, &j, 1, 1);
    batch_job_has_more(&w->batch, j.id);
    WAIT(w, task_state(w, &task) == BATCH_TASK_COMPLETED);
}
