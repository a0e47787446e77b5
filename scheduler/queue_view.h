/* SPDX-License-Identifier: MIT
 *
 * The queue of a pool for people: what runs there until when, what waits for what, and when it may
 * start. Made when it is asked for, from rows and by the same plan that serves the queue; nothing
 * is kept.
 */
#ifndef SCHEDULER_QUEUE_VIEW_H
#define SCHEDULER_QUEUE_VIEW_H

#include "scheduler/plan.h"
#include "scheduler/scheduler.h"

/* So many runs that wait are foreseen; those behind them only have a place. */
#define QUEUE_FORESEEN 200

struct queue_running {
    int64_t run_id;
    const char **nodes; /* the names of machines or, without, of nodes */
    int n_nodes;
    int64_t start_us, limit_us; /* its time limit is over then; 0: it has none */
    bool releasing;             /* it has ended, and its nodes are being cleaned */
};

struct queue_waiting {
    struct run run;
    struct plan_verdict verdict;
};

/* All of it is the arena's. */
struct queue_view {
    struct pool pool;
    const char *name;
    int usable;         /* nodes fit for runs, or that will be when they are prepared */
    const char *no_use; /* "gpu03, gpu07 drained; gpu09 unusable"; NULL: all can be used */
    bool backfill;
    struct queue_running *running; /* by start */
    size_t n_running;
    struct queue_waiting *waiting; /* in turn */
    size_t n_waiting;
    bool more;        /* others wait behind these */
    struct run *held; /* by id: they stand in no queue until others have ended */
    size_t n_held;
};

/* 1; 0: there is no such pool. At most `max` of those that wait. */
int queue_view(struct sched *s, struct arena *a, int64_t pool_id, int max, struct queue_view *out,
               struct err *e) MUST_CHECK;

#endif
