/* SPDX-License-Identifier: MIT
 *
 * The future free capacity of nodes, according to time limits: running runs hold their parts until
 * their limits, and waiting runs have reservations from some instant on. Finds the earliest instant
 * at which a run could have all its nodes for the length of its limit, in any gap that is long
 * enough.
 *
 * A node in preparation is treated as available now: its real time is unknown, and this way no
 * later run delays the waiting run. Pure, like plan.h.
 */
#ifndef SCHEDULER_RESERVATIONS_H
#define SCHEDULER_RESERVATIONS_H

#include "scheduler/plan.h"
#include "scheduler/rooms.h"

#define AHEAD_NEVER INT64_MAX

/* The need of a run on each of its nodes, and for how long. */
struct ahead_want {
    bool part;
    struct room_size need; /* part: at least a slot */
    int64_t for_us;        /* INT64_MAX: not known */
};

/* A part of a node that is held from now on. */
struct ahead_held {
    size_t node; /* index of the node */
    struct ahead_want what;
};

struct ahead_input {
    const struct plan_node *const *nodes; /* in their order; borrowed */
    size_t n_nodes;
    int64_t now_us;
    const struct plan_held *held; /* by running runs; node: the caller's index, at[] converts it */
    size_t n_held;
    const size_t *at;                 /* SIZE_MAX: not one of these nodes */
    const struct ahead_held *started; /* by runs that start now */
    size_t n_started;
};

struct ahead;
struct ahead *ahead_new(struct arena *a, const struct ahead_input *in);

struct ahead_place {
    int64_t at_us;
    const uint32_t *nodes; /* as many as wanted, minus `lacking`; valid until the next call */
    size_t n_nodes;
    size_t coming;  /* how many of these nodes are in preparation */
    size_t lacking; /* how many further nodes must become usable, or be made */
};

/* The earliest instant, not before `not_before`, at which `wanted` nodes are available; `spare`:
 * how many further nodes may become available at an unknown time, with an unknown capacity. False:
 * the nodes will never be available. */
bool ahead_find(struct ahead *h, const struct ahead_want *w, size_t wanted, size_t spare,
                int64_t not_before, struct ahead_place *out);
/* Reserves the place `p`, which ahead_find() found, for the run `by`. */
void ahead_keep(struct ahead *h, const struct ahead_want *w, const struct ahead_place *p,
                int64_t by);
/* Whether a node that has room now still has room for the whole duration. If not, *by is the run
 * with the reservation. */
bool ahead_allows(const struct ahead *h, const struct ahead_want *w, size_t node, int64_t *by);
/* Records that a run that starts now holds the node, or a part of it. */
void ahead_hold(struct ahead *h, const struct ahead_want *w, size_t node);

#endif
