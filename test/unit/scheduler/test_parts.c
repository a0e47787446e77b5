/* SPDX-License-Identifier: MIT
 *
 * Runs that take but a part of each node: slots, GPUs, cores, memory. On fake nodes, which have
 * four cores and so four slots, in virtual time.
 */
#include "virtual.h"

#include "scheduler/sched_priv.h"

#define FOREVER "fake run=9000000"
#define GPUS    4

/* A cluster whose nodes have four slots and four GPUs each. */
static int64_t roomy_cluster(struct world *w, int target)
{
    struct node *nodes;
    int64_t c = idle_cluster(w, target);
    for (int i = 0; i < target; i++) {
        fake_set_gpus(fake_of(w, c, (size_t)i), GPUS);
        fake_cut(fake_of(w, c, (size_t)i)); /* it says so on its next link */
    }
    pass(w, 60 * SECOND);
    size_t n = nodes_of(w, c, &nodes);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(nodes[i].has.slots, 4);
        assert_int_equal(nodes[i].has.gpus, GPUS);
    }
    return c;
}

static int64_t add_part(struct world *w, int64_t cluster, const char *name, int nodes,
                        struct capacity need)
{
    struct err e = {0};
    struct run r;
    const struct job_wish wish = {.command = FOREVER, .nodes = nodes, .wall_s = 100000};
    int64_t j = add_job(w, cluster, name, wish);
    assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, j, 0, &r, &e), 1);
    ok(st_runs_remove(w->st, RES_JOB, j, &e), &e);
    r.need_whole = false;
    r.need = need;
    ok(st_run_insert(w->st, &r, NULL, &e), &e);
    return j;
}

static int64_t add_gpus(struct world *w, int64_t cluster, const char *name, int gpus)
{
    return add_part(w, cluster, name, 1, (struct capacity){.gpus = gpus});
}

/* Which devices it has: of its ranks, one after the other, each in brackets. */
static const char *devices_of(struct world *w, int64_t job)
{
    struct err e = {0};
    struct run r;
    struct allocation *parts;
    size_t n;
    const char *out = "";
    assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, job, 0, &r, &e), 1);
    ok(st_allocation_of_run(w->st, &w->a, r.id, r.attempt, &parts, &n, &e), &e);
    for (size_t i = 0; i < n; i++)
        out = arena_printf(&w->a, "%s[%s]", out, parts[i].devices ? parts[i].devices : "all");
    return out;
}

static int64_t node_of_job(struct world *w, int64_t job)
{
    struct err e = {0};
    struct run r;
    struct node *nodes;
    size_t n;
    assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, job, 0, &r, &e), 1);
    ok(st_node_of_run(w->st, &w->a, r.id, &nodes, &n, &e), &e);
    assert_int_equal(n, 1);
    return nodes[0].id;
}

static void runs_with(struct world *w, int64_t job, const char *devices)
{
    WAIT(w, job_state(w, job) == EXEC_RUNNING);
    assert_string_equal(devices_of(w, job), devices);
}

static void end_it(struct world *w, int64_t job)
{
    terminate(w, job);
    WAIT(w, job_ended(w, job));
    pass(w, 5 * SECOND); /* what it had is given back after it was cleaned up */
}

static bool waits(struct world *w, int64_t job)
{
    pass(w, 60 * SECOND);
    return job_state(w, job) == EXEC_QUEUED;
}

WORLD_TEST(test_two_runs_on_one_node_have_devices_of_their_own, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t a = add_gpus(w, c, "a", 2), b = add_gpus(w, c, "b", 2);
    runs_with(w, a, "[0,1]");
    runs_with(w, b, "[2,3]");
    assert_int_equal(node_of_job(w, a), node_of_job(w, b));
    assert_int_equal(counts(w, c).running, 1);
    int64_t none = add_gpus(w, c, "none", 0), more = add_gpus(w, c, "more", 1);
    runs_with(w, none, "[]"); /* a slot, and no GPU */
    assert_true(waits(w, more));
}

WORLD_TEST(test_devices_that_are_given_back_are_taken_again, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t a = add_gpus(w, c, "a", 2), b = add_gpus(w, c, "b", 2);
    runs_with(w, b, "[2,3]");
    int64_t next = add_gpus(w, c, "next", 2);
    assert_true(waits(w, next));
    end_it(w, a);
    runs_with(w, next, "[0,1]");
    runs_with(w, b, "[2,3]");
}

WORLD_TEST(test_a_run_takes_the_devices_between_those_of_others, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t a = add_gpus(w, c, "a", 1), b = add_gpus(w, c, "b", 1), d = add_gpus(w, c, "d", 1);
    runs_with(w, d, "[2]");
    end_it(w, b);
    int64_t two = add_gpus(w, c, "two", 2);
    runs_with(w, two, "[1,3]");
    int64_t late = add_gpus(w, c, "late", 2);
    assert_true(waits(w, late));
    end_it(w, a); /* one is not enough */
    assert_true(waits(w, late));
    end_it(w, d);
    runs_with(w, late, "[0,2]");
}

/* What others hold is read from the rows of allocations, and nowhere else. */
WORLD_TEST(test_after_a_restart_devices_are_whose_they_were, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t a = add_gpus(w, c, "a", 1), b = add_gpus(w, c, "b", 2);
    runs_with(w, a, "[0]");
    runs_with(w, b, "[1,2]");
    restart(w);
    int64_t d = add_gpus(w, c, "d", 1);
    runs_with(w, d, "[3]");
    runs_with(w, a, "[0]");
    end_it(w, b);
    int64_t next = add_gpus(w, c, "next", 2);
    runs_with(w, next, "[1,2]");
    assert_int_equal(job_row(w, a).attempt, 1);
}

WORLD_TEST(test_a_run_of_two_nodes_has_of_each_what_is_free_there, world_virtual(2))
{
    int64_t c = roomy_cluster(w, 2);
    int64_t a = add_gpus(w, c, "a", 3);
    runs_with(w, a, "[0,1,2]");
    int64_t wide = add_part(w, c, "wide", 2, (struct capacity){.gpus = 1});
    WAIT(w, job_state(w, wide) == EXEC_RUNNING);
    const char *has = devices_of(w, wide);
    assert_true(strcmp(has, "[3][0]") == 0 || strcmp(has, "[0][3]") == 0);
}

/* "Schedule no new jobs while waiting": otherwise a node with parts might never be empty. */
WORLD_TEST(test_a_node_that_is_to_leave_after_its_runs_gets_no_others, world_virtual(2))
{
    int64_t c = roomy_cluster(w, 2);
    int64_t x = add_gpus(w, c, "x", 3), y = add_gpus(w, c, "y", 2);
    runs_with(w, x, "[0,1,2]");
    runs_with(w, y, "[0,1]");
    resize_by(w, c, 1, DEALLOC_WAIT_FOR_COMPLETION);
    int64_t b = add_gpus(w, c, "b", 1), a = add_gpus(w, c, "a", 2);
    runs_with(w, b, "[3]");
    assert_true(waits(w, a)); /* it would fit on the node that is to leave */
    end_it(w, y);
    WAIT(w, rows_of(counts(w, c)) == 1);
    assert_true(waits(w, a));
    end_it(w, x);
    runs_with(w, a, "[0,1]");
    assert_int_equal(node_of_job(w, a), node_of_job(w, b));
}

WORLD_TEST(test_memory_and_cores_are_shared_out_too, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    struct node *nodes;
    nodes_of(w, c, &nodes);
    int64_t most = nodes[0].has.memory / 4 * 3;
    int64_t a = add_part(w, c, "a", 1, (struct capacity){.memory = most, .cores = 1});
    runs_with(w, a, "[]");
    int64_t same = add_part(w, c, "same", 1, (struct capacity){.memory = most});
    assert_true(waits(w, same));
    end_it(w, a);
    runs_with(w, same, "[]");
    int64_t cores =
        add_part(w, c, "cores", 1, (struct capacity){.cores = nodes[0].has.cores, .memory = 1});
    runs_with(w, cores, "[]");
    int64_t one = add_part(w, c, "one", 1, (struct capacity){.cores = 1});
    assert_true(waits(w, one));
}

WORLD_TEST(test_a_whole_node_is_one_on_which_nobody_has_a_part, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t part = add_gpus(w, c, "part", 1);
    runs_with(w, part, "[0]");
    int64_t whole = add_job(w, c, "whole", JOB(FOREVER, .wall_s = 100000));
    assert_true(waits(w, whole));
    end_it(w, part);
    runs_with(w, whole, "[all]");
    int64_t next = add_gpus(w, c, "next", 1);
    assert_true(waits(w, next));
}

/* It stands aside, those behind it run, and its front is told why. */
WORLD_TEST(test_what_no_node_has_stands_aside_until_one_has_it, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t large = add_gpus(w, c, "large", GPUS + 2), small = add_gpus(w, c, "small", 1);
    runs_with(w, small, "[0]");
    assert_true(waits(w, large));
    end_it(w, small);
    fake_set_gpus(fake_of(w, c, 0), GPUS + 2);
    fake_cut(fake_of(w, c, 0));
    runs_with(w, large, "[0,1,2,3,4,5]");
}

static bool is_told(struct world *w, int64_t job)
{
    struct err e = {0};
    struct run r;
    assert_int_equal(st_run_of(w->st, &w->a, RES_JOB, job, 0, &r, &e), 1);
    pass(w, SECOND);
    return id_map_has(&w->s->told_larger, r.id);
}

WORLD_TEST(test_a_front_is_told_of_a_run_whose_large_node_has_shrunk, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t other = add_gpus(w, c, "other", 1), large = add_gpus(w, c, "large", GPUS);
    runs_with(w, other, "[0]");
    assert_false(is_told(w, large));
    fake_set_gpus(fake_of(w, c, 0), 1);
    fake_cut(fake_of(w, c, 0));
    end_it(w, other);
    assert_true(is_told(w, large));
}

/* It waits for another job while runs that came later are looked at. */
WORLD_TEST(test_a_front_is_told_of_a_run_that_was_held, world_virtual(1))
{
    struct err e = {0};
    int64_t c = roomy_cluster(w, 1), first = add_gpus(w, c, "first", 1);
    int64_t large = add_gpus(w, c, "large", GPUS + 1);
    const struct dependency d = {.owner_kind = RES_JOB,
                                 .owner_id = large,
                                 .awaited_kind = RES_JOB,
                                 .awaited_id = first,
                                 .name = "first",
                                 .wanted = AFTER_END,
                                 .state = DEPENDENCY_OPEN};
    ok(st_dependency_add(w->st, &w->a, &d, 1, time_now_us(), &e), &e);
    int64_t next = add_gpus(w, c, "next", GPUS + 1);
    assert_true(is_told(w, next));
    assert_false(is_told(w, large));
    end_it(w, first);
    assert_true(is_told(w, large));
}

/* One node has the GPUs, and each of the runs in front wants them of two nodes. */
WORLD_TEST(test_however_many_stand_aside_the_run_behind_them_starts, world_virtual(2))
{
    int64_t c = roomy_cluster(w, 2);
    fake_set_gpus(fake_of(w, c, 1), 1);
    fake_cut(fake_of(w, c, 1));
    pass(w, 60 * SECOND);
    for (int i = 0; i < 200; i++)
        add_part(w, c, arena_printf(&w->a, "wide%d", i), 2, (struct capacity){.gpus = 2});
    int64_t small = add_part(w, c, "small", 1, (struct capacity){.slots = 1});
    WAIT(w, job_state(w, small) == EXEC_RUNNING);
}

/* Less than what is held there counts once it is given back. */
WORLD_TEST(test_a_node_that_has_less_than_before_goes_on_with_what_it_holds, world_virtual(1))
{
    int64_t c = roomy_cluster(w, 1);
    int64_t a = add_gpus(w, c, "a", 2), b = add_gpus(w, c, "b", 2);
    runs_with(w, b, "[2,3]");
    fake_set_gpus(fake_of(w, c, 0), 1);
    fake_cut(fake_of(w, c, 0));
    int64_t next = add_gpus(w, c, "next", 1);
    assert_true(waits(w, next));
    end_it(w, a);
    assert_true(waits(w, next));
    end_it(w, b);
    runs_with(w, next, "[0]");
}

/* More of them wait than there are slots, and the first does not fit. */
WORLD_TEST(test_nobody_asks_again_and_again_whether_there_is_room, world_virtual(1))
{
    struct virtual_world *v = virtual_of(w);
    int64_t c = roomy_cluster(w, 1);
    int64_t large = add_part(w, c, "large", 1, (struct capacity){.slots = 3});
    WAIT(w, job_state(w, large) == EXEC_RUNNING);
    add_part(w, c, "a", 1, (struct capacity){.slots = 2});
    add_part(w, c, "b", 1, (struct capacity){.slots = 2});
    int64_t then = v->t.now_us;
    for (int i = 0; i < 1000 && v->t.now_us < then + 10 * SECOND; i++)
        virtual_step(w);
    assert_true(v->t.now_us >= then + 10 * SECOND);
}

WORLD_TEST(test_a_job_goes_on_on_a_node_whose_disk_is_full_and_nothing_joins_it, world_virtual(1))
{
    int64_t c = idle_cluster(w, 1);
    const struct capacity slot = {.slots = 1};
    int64_t old = add_part(w, c, "old", 1, slot);
    WAIT(w, virtual_of(w)->started == 1);
    fake_set_full(fake_of(w, c, 0), true);
    int64_t next = add_part(w, c, "next", 1, slot);
    cluster_will_say(w, c, "NodeDiskUnusable", "The node gets no further job");
    pass(w, 600 * SECOND);
    assert_int_equal(job_state(w, old), EXEC_RUNNING);
    assert_int_equal(job_state(w, next), EXEC_QUEUED);
    assert_int_equal(counts(w, c).running, 1);
    fake_set_full(fake_of(w, c, 0), false);
    WAIT(w, virtual_of(w)->started == 2);
    assert_int_equal(job_state(w, old), EXEC_RUNNING);
    assert_int_equal(job_state(w, next), EXEC_RUNNING);
    assert_null(cluster_row(w, c).errors);
    assert_int_equal(job_row(w, old).attempt, 1);
}
