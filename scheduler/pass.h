/* SPDX-License-Identifier: MIT
 *
 * One look at a pool: what was read of it, and what is to become of it. The files of the pass share
 * it; nothing of it outlives the pass.
 */
#ifndef SCHEDULER_PASS_H
#define SCHEDULER_PASS_H

#include "scheduler/plan.h"
#include "scheduler/sched_priv.h"

struct pass {
    struct sched *s;
    struct arena a;
    struct pool pool;
    const char *name; /* what people call it */
    struct node *nodes;
    struct capacity *left; /* of each */
    size_t n_nodes;
    int64_t now_us;   /* of the wall clock, for rows */
    bool on_machines; /* its nodes are machines of the inventory; else they are local */
    bool replaceable; /* one of its nodes gives way to a machine that works, if there is one */
    struct plan_scale_result scale;
    struct machine_pick pick;
    bool unfinished; /* there is more to do than fits into one pass */
};

/* What stands in the way of the target, and what is wrong with which node. */
int pass_write_errors(struct pass *p, struct err *e) MUST_CHECK;

#endif
