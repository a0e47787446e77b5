/* SPDX-License-Identifier: MIT
 *
 * One pass over a pool: its input and its decisions. The files of the pass share this struct, and
 * nothing in it outlives the pass.
 */
#ifndef SCHEDULER_PASS_H
#define SCHEDULER_PASS_H

#include "scheduler/plan.h"
#include "scheduler/sched_priv.h"

/* Nodes of one class, and the decisions about them. */
struct pass_class {
    enum vm_priority priority;
    struct scale scale;
    bool on_machines; /* its nodes are machines of the inventory; otherwise local nodes */
    struct machine_pick pick;
    struct plan_scale_result plan;
    bool shut;         /* the class gets no new nodes: struct sched_gate */
    const char *error; /* the errors of `shut`; NULL: none */
};
#define PASS_CLASSES 2

struct pass {
    struct sched *s;
    struct arena *a;
    struct pool pool;
    struct front *front; /* the pool's */
    const char *name;    /* the pool's name for people */
    struct node *nodes;
    struct capacity *left; /* the free capacity of each node */
    bool *keeps;           /* for each node: see struct plan_node */
    size_t n_nodes;
    int64_t now_us;   /* wall clock, for rows */
    bool replaceable; /* when a working machine becomes free, it can replace a node of the pool */
    int64_t demand;   /* nodes that the queue requests from automatic scaling */
    struct pass_class classes[PASS_CLASSES];
    size_t n_classes;
    struct {
        int target, missing; /* sums over all classes; see struct plan_scale_result */
        bool changes;        /* nodes are added, or leave */
        int64_t look_again_us;
    } scale;
    int64_t paced_until_us; /* when the pool's new nodes may be made (strict mode); 0: at once */
    const char *why;        /* the reason of the resize for its event; NULL: no resize */
    int64_t *started;       /* runs that this pass has started */
    size_t n_started;
    bool unfinished; /* there is more work than fits into one pass */
    struct {
        int64_t group_id; /* of the last lookup in this pass; 0: none */
        int64_t *ids;
        size_t n;
    } barred;
};

/* How long (us) a run may take to release its nodes after its time limit or its processes' end:
 * grace time, SIGKILL, cleaning. */
#define SCHED_ENDING_US INT64_C(30000000)

/* Reads the pool. 1: read; 0: the pool is deleted; -1: error. */
int pass_load_pool(struct pass *p, int64_t id, struct err *e) MUST_CHECK;

/* --- pass_nodes.c ------------------------------------------------------------------------------
 */
int pass_load_nodes(struct pass *p, struct err *e) MUST_CHECK;
/* The nodes in the form of a plan. */
struct plan_node *pass_plan_nodes(struct pass *p);
/* Like pass_plan_nodes(), for the queue: plan_empty(). */
struct plan_node *pass_queue_nodes(struct pass *p);
/* The row of a plan's node. The plan must be made from the last read nodes. */
const struct node *pass_row_of(const struct pass *p, const struct plan_node *n);
/* Whether the node is out of service. A node with a problem may recover by itself: it is out of
 * service only while it is unusable. */
bool pass_out_of_service(const struct pass *p, const struct node *nd);

/* --- serve.c: the queue ----------------------------------------------------------------------- */
/* Fails some waiting runs of a pool that is being deleted. Each failed run wakes the pool again, so
 * this continues until no run is left. */
int pass_fail_queue(struct pass *p, struct err *e) MUST_CHECK;
/* Starts the runs of the queue that the plan allows, and fails runs that can never start. Reads no
 * run while no node is free. */
int pass_serve_queue(struct pass *p, struct err *e) MUST_CHECK;
/* The plan's input. pass_plan_run(): a waiting run. pass_load_held(): all running runs of the pool,
 * except runs that this pass has started. pass_backfills(): whether the site enables backfill for
 * the pool. */
struct plan_run pass_plan_run(const struct run *r);
/* Adds the nodes that the run may not have. */
int pass_find_barred(struct pass *p, const struct run *r, struct plan_run *out,
                     struct err *e) MUST_CHECK;
int pass_load_held(struct pass *p, struct plan_held **out, size_t *n, struct err *e) MUST_CHECK;
bool pass_backfills(struct pass *p);

/* Sets *demand to how many nodes the queue requests from automatic scaling, in addition to the
 * nodes that hold runs. */
int pass_demand(struct pass *p, const struct plan_node *nodes, int64_t *demand,
                struct err *e) MUST_CHECK;
/* Fails runs whose dependencies did not end as required. */
int pass_fail_broken(struct pass *p, struct err *e) MUST_CHECK;

/* Writes to the pool's errors why it has not reached its target, and the problems of nodes. */
int pass_write_errors(struct pass *p, struct err *e) MUST_CHECK;

/* node_requests.c: carries out requests about nodes that are free. */
int pass_fulfil(struct pass *p, struct err *e) MUST_CHECK;

/* reclaim.c: takes back as many machines from low-priority pools as the pool lacks. */
int pass_reclaim(struct pass *p, struct err *e) MUST_CHECK;

#endif
