/* SPDX-License-Identifier: MIT
 *
 * What to decide, without doing it: pure functions over plain structs, no I/O, no clock.
 *
 * plan_allocation: which queued jobs get which idle nodes. Highest priority first, within one
 * priority the oldest first, all nodes of a job in one go. A job that does not fit blocks those
 * behind it: nothing is backfilled, because a steady stream of small jobs would starve a big one.
 * Only a job for which the cluster is too small even with all its nodes stands aside until it is
 * resized: nothing that the others could wait for would let it run.
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
    int ordinal;
    enum node_state state;
    int64_t idle_since_us; /* NODE_IDLE: on the clock of plan_scale_input.now_us */
    int64_t job_id;
    /* Its machine is drained or cannot be reached: it gets no job, automatic scaling does not count
     * on it, and among idle nodes it is the first to leave. */
    bool out_of_service;
    /* Unusable because its machine could never be reached or used: another one may take its place.
     */
    bool replaceable;
};

struct plan_job {
    int64_t id;
    int priority;
    int node_count;
};

/* One job and its nodes, by rank. */
struct plan_assignment {
    int64_t job_id;
    const struct plan_node **nodes; /* node_count of them, borrowed from the argument */
    int n_nodes;
};

/* An idle node that jobs may have. */
bool plan_may_serve(const struct plan_node *n);

/* The most nodes that the cluster has as it is scaled now: jobs that want more stand aside. */
int plan_largest(const struct scale *scale);

/* Arena-owned assignments in *out; returns how many. Takes idle nodes by ordinal. `largest`: see
 * plan_largest(). */
size_t plan_allocation(struct arena *a, const struct plan_job *jobs, size_t n_jobs, int largest,
                       const struct plan_node *nodes, size_t n_nodes, struct plan_assignment **out);

struct plan_scale_input {
    struct scale scale;
    bool deleting; /* the cluster goes: its target is nothing */
    bool initial;  /* never been steady: automatic scaling starts with .initial nodes */
    const struct plan_node *nodes;
    size_t n_nodes;
    int64_t demand;          /* nodes that the queued jobs want, in all */
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
    int waiting;           /* should leave, but hold jobs that may finish first */
    int64_t look_again_us; /* when an idle node will have idled long enough; 0: never */
};

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out);

/* The lowest positive ordinals that no node has; fills out[0..n). */
void plan_ordinals(const struct plan_node *nodes, size_t n_nodes, int *out, int n);

#endif
