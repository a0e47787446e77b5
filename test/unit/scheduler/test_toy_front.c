/* SPDX-License-Identifier: MIT
 *
 * The core serves a front that it does not know: pools, nodes and runs from begin to end, with
 * nothing of Batch AI or Azure Batch beside it.
 */
#include "test/unit/scheduler/toy_front.h"
#include "test/unit/scheduler/virtual.h"

/* A core that has this front alone. */
static struct world *world_of(struct toy_front *toy)
{
    struct world *w = world_virtual(2);
    world_stop(w);
    w->only = &toy->front;
    world_start(w);
    return w;
}

static int64_t add_box(struct world *w, int target)
{
    struct err e = {0};
    int64_t id;
    const struct pool p = {
        .kind = TOY_BOX,
        .vm_size = "STANDARD_D1",
        .vm_priority = VM_DEDICATED,
        .scale = {.kind = SCALE_MANUAL, .target = target, .dealloc = DEALLOC_REQUEUE},
        .alloc_state = ALLOC_RESIZING,
        .alloc_us = time_now_us(),
        .is_new = true};
    ok(st_pool_insert(w->st, &p, &id, &e), &e);
    sched_wake_pool(w->s, id);
    return id;
}

static void add_game(struct world *w, int64_t box, int64_t owner)
{
    struct err e = {0};
    const struct run r = {.pool_id = box,
                          .owner_kind = TOY_GAME,
                          .owner_id = owner,
                          .guid = arena_printf(&w->a, "game-%lld", (long long)owner),
                          .nodes = 1,
                          .need_whole = true,
                          .max_wall_us = 600 * SECOND,
                          .state = RUN_WAITING,
                          .held = HOLD_NOT,
                          .runs = 1};
    ok(st_run_insert(w->st, &r, NULL, &e), &e);
    sched_wake_pool(w->s, box);
}

TEST(test_a_toy_front_runs_a_run_to_its_end)
{
    struct toy_front toy = toy_front("fake run=5000 exit=3");
    struct world *w = world_of(&toy);
    int64_t box = add_box(w, 2);
    add_game(w, box, 1);
    add_game(w, box, 2);
    add_game(w, box, 3); /* waits for one of the others */
    WAIT(w, toy.ended == 3);
    assert_int_equal(toy.exit_code, 3);
    assert_int_equal(virtual_of(w)->started, 3);
    assert_int_equal(virtual_of(w)->most_at_once, 2);
    world_free(w);
}

TEST(test_its_pools_grow_and_shrink)
{
    struct err e = {0};
    struct toy_front toy = toy_front("fake run=60000");
    struct world *w = world_of(&toy);
    int64_t box = add_box(w, 1);
    add_game(w, box, 1);
    WAIT(w, virtual_of(w)->started == 1);
    const struct scale none = {.kind = SCALE_MANUAL, .dealloc = DEALLOC_TERMINATE};
    ok(st_pool_set_scale(w->st, box, &none, &e), &e);
    sched_wake_pool(w->s, box);
    WAIT(w, toy.ended == 1 && nodes_of(w, box, NULL) == 0);
    assert_int_equal(toy.exit_code, -1);
    world_free(w);
}
