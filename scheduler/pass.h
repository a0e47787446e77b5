/* SPDX-License-Identifier: MIT
 *
 * One pass over a pool: what was read and what is decided. The files of the pass share this struct,
 * and nothing in it outlives the pass.
 */
#ifndef SCHEDULER_PASS_H
#define SCHEDULER_PASS_H

#include "scheduler/plan.h"
#include "scheduler/sched_priv.h"

/* Nodes of one class, and what is decided on them. */
struct pass_class {
    enum vm_priority priority;
    struct scale scale;
    bool on_machines; /* they are machines of the inventory; else they are local */
    struct machine_pick pick;
    struct plan_scale_result plan;
    bool shut;         /* it is kept from new nodes: struct sched_gate */
    const char *error; /* and what its errors say of that; NULL: nothing */
};
#define PASS_CLASSES 2

struct pass {
    struct sched *s;
    struct arena *a;
    struct pool pool;
    struct front *front; /* the pool's */
    const char *name;    /* what people call it */
    struct node *nodes;
    struct capacity *left; /* of each */
    bool *keeps;           /* likewise: struct plan_node */
    size_t n_nodes;
    int64_t now_us;   /* of the wall clock, for rows */
    bool replaceable; /* one of its nodes will be replaced as soon as a working machine is free */
    int64_t demand;   /* nodes that the queue asks automatic scaling for */
    struct pass_class classes[PASS_CLASSES];
    size_t n_classes;
    struct {
        int target, missing; /* of all classes; see struct plan_scale_result */
        bool changes;        /* nodes are added, or leave */
        int64_t look_again_us;
    } scale;
    int64_t paced_until_us; /* its new nodes take so long; 0: they come at once */
    const char *why;        /* what the pool is said to change its size for; NULL: it does not */
    int64_t *started;       /* runs that this pass has given nodes */
    size_t n_started;
    bool unfinished; /* there is more to do than fits into one pass */
    struct {
        int64_t group_id; /* the one that was looked for last; 0: none was */
        int64_t *ids;
        size_t n;
    } barred;
};

/* What a run may take to be gone after its limit, or after it has ended: grace, SIGKILL, cleaning.
 */
#define SCHED_ENDING_US INT64_C(30000000)

/* Reads the pool; 1, 0 (it is gone) or -1. */
int pass_load_pool(struct pass *p, int64_t id, struct err *e) MUST_CHECK;

/* --- pass_nodes.c ------------------------------------------------------------------------------
 */
int pass_load_nodes(struct pass *p, struct err *e) MUST_CHECK;
/* The nodes as a plan sees them. */
struct plan_node *pass_plan_nodes(struct pass *p);
/* The same for the queue: plan_empty(). */
struct plan_node *pass_queue_nodes(struct pass *p);
/* The row of a plan's node. The plan must be made from the nodes as they were last read. */
const struct node *pass_row_of(const struct pass *p, const struct plan_node *n);
/* A node in trouble may heal by itself; it counts as out of service only while it is unusable. */
bool pass_out_of_service(const struct pass *p, const struct node *nd);

/* --- serve.c: the queue ----------------------------------------------------------------------- */
/* Fails the waiting runs of a pool that is being deleted. Each failed run wakes the pool again, so
 * this goes on until there are none. */
int pass_fail_queue(struct pass *p, struct err *e) MUST_CHECK;
/* Serves the runs of the queue as the plan says. Runs that can never run are failed and make way.
 * Looks at no run while there is nothing to give. */
int pass_serve_queue(struct pass *p, struct err *e) MUST_CHECK;
/* What the plan is told of a run, and of all that runs on the nodes of the pool, but for what this
 * pass has started; whether the site
 * wants backfill there. */
struct plan_run pass_plan_run(const struct run *r);
/* Adds which nodes the run may not have. */
int pass_find_barred(struct pass *p, const struct run *r, struct plan_run *out,
                     struct err *e) MUST_CHECK;
int pass_load_held(struct pass *p, struct plan_held **out, size_t *n, struct err *e) MUST_CHECK;
bool pass_backfills(struct pass *p);

/* Writes why the target is not reached, and what is wrong with which node. */
int pass_write_errors(struct pass *p, struct err *e) MUST_CHECK;

/* node_requests.c: does what was asked of nodes that hold nothing any more. */
int pass_fulfil(struct pass *p, struct err *e) MUST_CHECK;

/* demand.c: how many nodes the queue asks automatic scaling for, besides those that hold runs. */
int pass_demand(struct pass *p, const struct plan_node *nodes, int64_t *demand,
                struct err *e) MUST_CHECK;

/* reclaim.c: takes machines back from low-priority pools, as many as the pool is short of. */
int pass_reclaim(struct pass *p, struct err *e) MUST_CHECK;

/* failed_dependencies.c: fails runs that waited for others in vain. */
int pass_fail_broken(struct pass *p, struct err *e) MUST_CHECK;

#endif
