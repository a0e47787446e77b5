/* SPDX-License-Identifier: MIT
 *
 * What nodes will have left later, as far as time limits tell: runs hold their parts until their
 * limits, and runs that wait have parts kept for them from some instant on. Finds the earliest
 * instant at which a run could have all its nodes for as long as its limit is, in any gap that is
 * long enough.
 *
 * A node that is being prepared counts as one that could be had now: nobody knows when it will be,
 * and so no lower run gets in its way.
 *
 * Pure, as plan.h.
 */
#ifndef SCHEDULER_RESERVATIONS_H
#define SCHEDULER_RESERVATIONS_H

#include "scheduler/plan.h"
#include "scheduler/rooms.h"

#define AHEAD_NEVER INT64_MAX

/* What a run wants of each of its nodes, and for how long. */
struct ahead_want {
    bool part;
    struct room_size need; /* part: at least a slot */
    int64_t for_us;        /* INT64_MAX: nobody knows */
};

/* A part of a node that is held from now on. */
struct ahead_held {
    size_t node; /* its index */
    struct ahead_want what;
};

struct ahead_input {
    const struct plan_node *const *nodes; /* in their order; borrowed */
    size_t n_nodes;
    int64_t now_us;
    const struct plan_held *held; /* by running runs; node: the caller's index, at[] gives ours */
    size_t n_held;
    const size_t *at;                 /* SIZE_MAX: not one of these nodes */
    const struct ahead_held *started; /* by runs that start now */
    size_t n_started;
};

struct ahead;
struct ahead *ahead_new(struct arena *a, const struct ahead_input *in);

struct ahead_place {
    int64_t at_us;
    const uint32_t *nodes; /* as many as are wanted, less those that it lacks; valid until the next
                              call */
    size_t n_nodes;
    size_t coming;  /* how many of them are being prepared */
    size_t lacking; /* of nodes like these there will not be enough: so many have to come back, or
                       to be made */
};

/* The earliest instant, not before `not_before`, at which `wanted` nodes can be had; `spare`: how
 * many nodes there might be besides, of which nobody knows when and with what. False: never. */
bool ahead_find(struct ahead *h, const struct ahead_want *w, size_t wanted, size_t spare,
                int64_t not_before, struct ahead_place *out);
/* Keeps that place for run `by`. */
void ahead_keep(struct ahead *h, const struct ahead_want *w, const struct ahead_place *p,
                int64_t by);
/* Whether a node that has room for it now still has when it would be held so long. If not, *by is
 * the run that the node is kept for. */
bool ahead_allows(const struct ahead *h, const struct ahead_want *w, size_t node, int64_t *by);
/* It is held from now on. */
void ahead_hold(struct ahead *h, const struct ahead_want *w, size_t node);

#endif
