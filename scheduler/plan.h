/* SPDX-License-Identifier: MIT
 *
 * What to decide, without doing it: pure functions over plain structs, no I/O, no clock.
 *
 * plan_allocation: which waiting runs get which idle nodes. Highest priority first, within one
 * priority the oldest first, all nodes of a run in one go. A run that does not fit blocks those
 * behind it: nothing is backfilled, because a steady stream of small runs would starve a big one.
 * Only a run for which the cluster is too small even with all its nodes stands aside until it is
 * resized: nothing that the others could wait for would let it run.
 *
 * Who wants a part of a node gets it first where others have parts already, so that nodes stay
 * whole; never two parts of one node.
 *
 * plan_scale: how many nodes a cluster gets or gives up.
 */
#ifndef SCHEDULER_PLAN_H
#define SCHEDULER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "model/enums.h"
#include "model/resource.h"

struct plan_node {
    int64_t id;
    size_t at; /* the caller's: where he has its row */
    int ordinal;
    enum node_state state;
    int64_t idle_since_us; /* nothing is there: on the clock of plan_scale_input.now_us */
    int live;              /* allocations that it holds */
    struct capacity left;  /* of what it has, beside these */
    /* Its machine is drained or cannot be reached: it gets no run, automatic scaling does not count
     * on it, and among idle nodes it is the first to leave. */
    bool out_of_service;
    /* Unusable because its machine could never be reached or used: another one may take its place.
     */
    bool replaceable;
};

struct plan_run {
    int64_t id;
    int priority;
    int nodes;
    bool part;            /* it takes but a part of each node: */
    struct capacity need; /* at least a slot */
};

/* One run and its nodes, by rank. */
struct plan_assignment {
    int64_t run_id;
    const struct plan_node **nodes; /* as many as it wants, borrowed from the argument */
    int n_nodes;
};

/* A node of which runs may have something. */
bool plan_may_serve(const struct plan_node *n);

/* The most nodes that the cluster has as it is scaled now: runs that want more stand aside. */
int plan_largest(const struct scale *scale);

/* Arena-owned assignments in *out; returns how many. Takes idle nodes by ordinal. `largest`: see
 * plan_largest(). */
size_t plan_allocation(struct arena *a, const struct plan_run *runs, size_t n_runs, int largest,
                       const struct plan_node *nodes, size_t n_nodes, struct plan_assignment **out);

struct plan_scale_input {
    struct scale scale;
    bool deleting; /* the cluster goes: its target is nothing */
    bool initial;  /* never been steady: automatic scaling starts with .initial nodes */
    const struct plan_node *nodes;
    size_t n_nodes;
    int64_t demand;          /* nodes that the waiting runs want, in all */
    int64_t now_us, idle_us; /* automatic scaling lets go of nodes that idled this long */
    int free_capacity;       /* how many more nodes there may be, over all clusters */
    int good_capacity;       /* of these, how many are in no trouble: worth replacing a node for */
};

struct plan_scale_result {
    int target;                     /* how many nodes the cluster should have now */
    int add;                        /* to make */
    int missing;                    /* wanted too, but there is no capacity */
    const struct plan_node **leave; /* arena-owned */
    size_t n_leave;
    int replaced;          /* of those that leave, as many as others are added for */
    int waiting;           /* should leave, but hold runs that may finish first */
    int64_t look_again_us; /* when an idle node will have idled long enough; 0: never */
};

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out);

/* The lowest positive ordinals that no node has; fills out[0..n). */
void plan_ordinals(struct arena *a, const struct plan_node *nodes, size_t n_nodes, int *out, int n);

#endif
