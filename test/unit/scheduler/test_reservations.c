/* SPDX-License-Identifier: MIT
 *
 * When nodes are free for a run that waits: the answers of reservations.h for random nodes, against
 * those that looking at every instant gives.
 */
#include <stdlib.h>

#include "scheduler/reservations.h"
#include "test/unit/support/arena_test.h"

#define NOW   1000
#define NODES 6
#define SPANS 64

/* A part of a node that somebody has from one instant to another. */
struct taken {
    size_t node;
    int64_t from, to;
    struct room_size takes;
};

struct yard {
    unsigned seed;
    struct plan_node nodes[NODES];
    const struct plan_node *order[NODES];
    size_t at[NODES];
    size_t n;
    struct plan_held held[SPANS];
    size_t n_held;
    struct taken taken[2 * SPANS];
    size_t n_taken;
};

static int any(struct yard *y, int n)
{
    return (int)((unsigned)rand_r(&y->seed) % (unsigned)n);
}

static void take(struct yard *y, size_t node, int64_t from, int64_t to, struct room_size what)
{
    assert_true(y->n_taken < 2 * SPANS);
    y->taken[y->n_taken++] = (struct taken){node, from, to, what};
}

static void yard_make(struct yard *y, unsigned seed)
{
    *y = (struct yard){.seed = seed};
    y->n = 1 + (size_t)any(y, NODES);
    for (size_t i = 0; i < y->n; i++) {
        struct plan_node *node = &y->nodes[i];
        *node = (struct plan_node){.id = (int64_t)i + 1,
                                   .state = any(y, 8) == 0 ? NODE_PREPARING : NODE_IDLE,
                                   .has = {.slots = 1 + any(y, 4), .gpus = any(y, 3)}};
        y->order[i] = node;
        y->at[i] = i;
        for (int left = node->state == NODE_IDLE ? any(y, node->has.slots + 1) : 0; left > 0;) {
            int slots = 1 + any(y, left);
            struct plan_held *h = &y->held[y->n_held++];
            *h = (struct plan_held){i, NOW + 1 + any(y, 60), {.slots = slots}};
            take(y, i, INT64_MIN, h->end_us, room_size_of(&h->takes));
            left -= slots;
        }
    }
}

/* Whether the node has room at that instant. */
static bool has_room(const struct yard *y, const struct ahead_want *w, size_t node, int64_t at)
{
    bool empty = true, coming = y->nodes[node].state == NODE_PREPARING;
    struct room_size left = room_size_of(&y->nodes[node].has);
    for (size_t i = 0; i < y->n_taken; i++) {
        const struct taken *t = &y->taken[i];
        if (t->node != node || t->from > at || t->to <= at)
            continue;
        empty = false;
        room_add(&left, &t->takes, -1);
    }
    return w->part ? (empty && coming) || room_fits(&left, &w->need) : empty;
}

/* Whether the node has room from then on for as long as is wanted: room ends where something
 * begins. */
static bool is_free(const struct yard *y, const struct ahead_want *w, size_t node, int64_t at)
{
    for (size_t i = 0; i < y->n_taken; i++) {
        int64_t from = y->taken[i].from;
        if (from > at && (w->for_us == AHEAD_NEVER || from < at + w->for_us) &&
            !has_room(y, w, node, from))
            return false;
    }
    return has_room(y, w, node, at);
}

static size_t count_free(const struct yard *y, const struct ahead_want *w, int64_t at)
{
    size_t n = 0;
    for (size_t i = 0; i < y->n; i++)
        n += is_free(y, w, i, at);
    return n;
}

/* The first instant at which so many nodes are free: now, or where something ends. */
static int64_t first_instant(const struct yard *y, const struct ahead_want *w, size_t wanted)
{
    int64_t first = count_free(y, w, NOW) >= wanted ? NOW : AHEAD_NEVER;
    for (size_t i = 0; i < y->n_taken && first != NOW; i++)
        if (y->taken[i].to < first && count_free(y, w, y->taken[i].to) >= wanted)
            first = y->taken[i].to;
    return first;
}

static struct ahead_want any_want(struct yard *y)
{
    bool part = any(y, 4) > 0;
    struct ahead_want w = {.part = part,
                           .need = {{1, 0, 0, 0}},
                           .for_us = any(y, 8) == 0 ? AHEAD_NEVER : 1 + any(y, 40)};
    if (part) {
        w.need.v[ROOM_SLOTS] = 1 + any(y, 3);
        w.need.v[ROOM_GPUS] = any(y, 2);
    }
    return w;
}

static void reserve(struct yard *y, struct ahead *h, const struct ahead_want *w,
                    const struct ahead_place *p, int64_t id)
{
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct room_size has = room_size_of(&y->nodes[p->nodes[i]].has);
        take(y, p->nodes[i], p->at_us,
             w->for_us == AHEAD_NEVER ? AHEAD_NEVER : p->at_us + w->for_us,
             w->part ? w->need : has);
    }
    ahead_keep(h, w, p, id);
}

/* Whoever begins now gets a node only if that delays no reservation. */
static void assert_now_is_right(const struct yard *y, struct ahead *h, const struct ahead_want *w)
{
    for (size_t i = 0; i < y->n; i++) {
        int64_t by = 0;
        if (!has_room(y, w, i, NOW))
            continue;
        bool may = ahead_allows(h, w, i, &by);
        assert_int_equal(may, is_free(y, w, i, NOW));
        assert_int_equal(by != 0, !may);
    }
}

ARENA_TEST(test_runs_are_foreseen_at_the_first_instant_at_which_their_nodes_are_free)
{
    int later = 0;
    for (unsigned seed = 1; seed <= 3000; seed++) {
        struct yard y;
        yard_make(&y, seed);
        const struct ahead_input in = {.nodes = y.order,
                                       .n_nodes = y.n,
                                       .now_us = NOW,
                                       .held = y.held,
                                       .n_held = y.n_held,
                                       .at = y.at};
        struct ahead *h = ahead_new(a, &in);
        for (int64_t id = 1; id <= 10; id++) {
            const struct ahead_want w = any_want(&y);
            size_t wanted = 1 + (size_t)any(&y, (int)y.n);
            int64_t first = first_instant(&y, &w, wanted);
            struct ahead_place p;
            assert_now_is_right(&y, h, &w);
            assert_int_equal(ahead_find(h, &w, wanted, 0, NOW, &p), first != AHEAD_NEVER);
            if (first == AHEAD_NEVER)
                continue;
            assert_int_equal(p.at_us, first);
            for (size_t i = 0; i < p.n_nodes; i++)
                assert_true(is_free(&y, &w, p.nodes[i], first));
            later += first > NOW;
            reserve(&y, h, &w, &p, id);
        }
    }
    assert_true(later > 1000); /* else nothing was looked at */
}
