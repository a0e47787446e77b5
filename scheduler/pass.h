/* SPDX-License-Identifier: MIT
 *
 * One pass over a pool: what was read and what is decided. The files of the pass share this struct,
 * and nothing in it outlives the pass.
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
    bool replaceable; /* one of its nodes will be replaced as soon as a working machine is free */
    struct plan_scale_result scale;
    struct machine_pick pick;
    bool unfinished; /* there is more to do than fits into one pass */
};

/* Writes why the target is not reached, and what is wrong with which node. */
int pass_write_errors(struct pass *p, struct err *e) MUST_CHECK;

#endif
