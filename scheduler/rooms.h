/* SPDX-License-Identifier: MIT
 *
 * The free capacity of many nodes, searched by need: a tree of maxima, so that a search skips nodes
 * that are too full. Indices refer to an ordered array of nodes.
 */
#ifndef SCHEDULER_ROOMS_H
#define SCHEDULER_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "model/resource.h"

/* A capacity as numbers that are compared one by one. All 0: nothing is free, or nothing is
 * needed. */
enum { ROOM_SLOTS, ROOM_GPUS, ROOM_CORES, ROOM_MEMORY, ROOM_KINDS };
struct room_size {
    int64_t v[ROOM_KINDS];
};

#define ROOMS_LEVELS 12 /* enough for 8^11 nodes */

struct rooms {
    size_t n;
    /* level 0: the nodes; on higher levels, each entry has the maxima of eight entries below */
    struct room_size *level[ROOMS_LEVELS];
    size_t len[ROOMS_LEVELS];
    int top;
};

static inline struct room_size room_size_of(const struct capacity *c)
{
    return (struct room_size){{c->slots, c->gpus, c->cores, c->memory}};
}

static inline bool room_fits(const struct room_size *left, const struct room_size *need)
{
    return (left->v[ROOM_SLOTS] >= need->v[ROOM_SLOTS]) &
           (left->v[ROOM_GPUS] >= need->v[ROOM_GPUS]) &
           (left->v[ROOM_CORES] >= need->v[ROOM_CORES]) &
           (left->v[ROOM_MEMORY] >= need->v[ROOM_MEMORY]);
}

static inline void room_add(struct room_size *to, const struct room_size *what, int64_t times)
{
    for (int k = 0; k < ROOM_KINDS; k++)
        to->v[k] += times * what->v[k];
}

/* Makes the tree for `n` nodes, all without capacity. The caller fills level[0], then calls
 * rooms_build(). In the arena. */
void rooms_init(struct rooms *r, struct arena *a, size_t n);
void rooms_build(struct rooms *r);
void rooms_set(struct rooms *r, size_t i, const struct room_size *left);
/* The first node at or after `from` that has the capacity `need` free; r->n: none has. `need` must
 * include a slot. */
size_t rooms_next(const struct rooms *r, size_t from, const struct room_size *need);

#endif
