/* SPDX-License-Identifier: MIT
 *
 * Decisions without effects: pure functions over plain structs, no I/O, no clock.
 *
 * plan_allocation: which waiting runs get which idle nodes. The highest priority goes first, and
 * the oldest within one priority. A run gets all its nodes at once. A run that does not fit blocks
 * those behind it: nothing is backfilled, because a steady stream of small runs would starve a big
 * one. Only a run for which the cluster is too small even with all its nodes stands aside until it
 * is resized: nothing that the others could wait for would let it run.
 *
 * A run that wants parts of nodes gets them first on nodes where others have parts already, so that
 * other nodes stay whole. It never gets two parts of one node.
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
    size_t at; /* index of its row in the caller's array */
    int ordinal;
    enum node_state state;
    int64_t
        idle_since_us;    /* since when nothing is there, on the clock of plan_scale_input.now_us */
    int live;             /* allocations that it holds */
    struct capacity left; /* what these leave of its capacity */
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
    bool part;            /* it takes only a part of each node: */
    struct capacity need; /* at least a slot */
};

/* One run and its nodes, by rank. */
struct plan_assignment {
    int64_t run_id;
    const struct plan_node **nodes; /* as many as it wants, borrowed from the argument */
    int n_nodes;
};

/* Whether runs may have parts of this node. */
bool plan_may_serve(const struct plan_node *n);

/* The most nodes that a pool has with these scale settings: runs that want more stand aside. */
int plan_largest(const struct scale *scale);

/* Arena-owned assignments in *out; returns how many. Takes idle nodes by ordinal. `largest`: see
 * plan_largest(). */
size_t plan_allocation(struct arena *a, const struct plan_run *runs, size_t n_runs, int largest,
                       const struct plan_node *nodes, size_t n_nodes, struct plan_assignment **out);

struct plan_scale_input {
    struct scale scale;
    bool deleting; /* the pool is being deleted: its target is 0 */
    bool initial;  /* never been steady: automatic scaling starts with .initial nodes */
    const struct plan_node *nodes;
    size_t n_nodes;
    int64_t demand;          /* nodes that the waiting runs want, in all */
    int64_t now_us, idle_us; /* automatic scaling lets go of nodes that idled this long */
    int free_capacity;       /* how many more nodes there may be, over all clusters */
    int good_capacity; /* how many of them are in no trouble, and so worth replacing a node for */
};

struct plan_scale_result {
    int target;                     /* how many nodes the cluster should have now */
    int add;                        /* to make */
    int missing;                    /* wanted too, but there is no capacity */
    const struct plan_node **leave; /* arena-owned */
    size_t n_leave;
    int replaced;          /* how many of the nodes that leave are replaced by added ones */
    int waiting;           /* should leave, but hold runs that may finish first */
    int64_t look_again_us; /* when an idle node will have idled long enough; 0: never */
};

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out);

/* The lowest positive ordinals that no node has; fills out[0..n). */
void plan_ordinals(struct arena *a, const struct plan_node *nodes, size_t n_nodes, int *out, int n);

#endif
