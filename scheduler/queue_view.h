/* SPDX-License-Identifier: MIT
 *
 * The queue of a pool for display: running runs and their limits, waiting runs, their reasons, and
 * their expected starts. Computed at each request from the rows, by the same plan that starts runs;
 * nothing is stored.
 */
#ifndef SCHEDULER_QUEUE_VIEW_H
#define SCHEDULER_QUEUE_VIEW_H

#include "scheduler/plan.h"
#include "scheduler/scheduler.h"

/* How many waiting runs get an expected start; of later runs only the place in the queue is
 * shown. */
#define QUEUE_FORESEEN 200

struct queue_running {
    int64_t run_id;
    const char **nodes; /* the names of machines; for local nodes the names of nodes */
    int n_nodes;
    int64_t start_us, limit_us; /* limit_us: the end of its time limit; 0: no limit */
    bool releasing;             /* it has ended, and its nodes are being cleaned */
};

struct queue_waiting {
    struct run run;
    struct plan_verdict verdict;
};

/* All texts are in the arena. */
struct queue_view {
    struct pool pool;
    const char *name;
    int usable;         /* nodes that are ready for runs, or being prepared */
    const char *no_use; /* "gpu03, gpu07 drained; gpu09 unusable"; NULL: all are usable */
    bool backfill;
    struct queue_running *running; /* in the order of their starts */
    size_t n_running;
    struct queue_waiting *waiting; /* in the order of the queue */
    size_t n_waiting;
    bool more; /* further runs wait behind the runs in `waiting` */
};

/* 1: done; 0: the pool does not exist; -1: error. Contains the first QUEUE_FORESEEN waiting runs;
 * for the runs behind them (st_run_behind()) the plan computes nothing. Runs whose dependencies
 * have not ended (st_run_held()) are in no queue. */
int queue_view(struct sched *s, struct arena *a, int64_t pool_id, struct queue_view *out,
               struct err *e) MUST_CHECK;

#endif
