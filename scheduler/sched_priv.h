/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of scheduler/ itself: pools and their queues. The fleet has the nodes,
 * scheduler/run/ the runs; their events wake a pool here.
 */
#ifndef SCHEDULER_SCHED_PRIV_H
#define SCHEDULER_SCHED_PRIV_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/idmap.h"
#include "model/failure.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/keep.h"
#include "scheduler/run/runs.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

#define KEPT_MAX 8 /* the most kinds; there are fewer */

/* A kind of rows that are removed when they are too old or too many, and the state of the present
 * pass over them (keep.c). */
struct kept {
    const struct keep_kind *kind;
    void *ctx;
    bool counting;
    int64_t left, at; /* how many rows remain to be counted, downwards from the measure `at` */
    int64_t before;   /* rows below this measure are removed */
    int64_t gone;     /* rows that this pass has removed */
};

struct sched {
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    struct wakes *wakes; /* owned, as are fleet and runs */
    struct fleet *fleet;
    struct runs *runs;
    struct fronts fronts;
    bool begun; /* the scheduler has begun, and the fronts were told */
    struct sched_gate gate;
    int local_nodes;
    char **local_vm_sizes; /* owned; NULL-terminated */
    char **backfill;       /* owned; NULL-terminated */
    int64_t autoscale_idle_us;
    /* a set: waiting runs that are known to be startable, and are not checked again */
    struct id_map judged;
    /* pool -> its size at the last report about its runs: unplaceable.c */
    struct id_map told_sizes;
    /* pool -> the last run that was reported as unable to get its nodes */
    struct id_map told_blocked;
    /* pool -> the last run that was checked against the capacity of nodes; none: the first is next
     */
    struct id_map told_parts;
    /* run that was reported as larger than every node -> its pool */
    struct id_map told_larger;
    struct id_map resting;  /* pool -> until when it is not reconciled: see rest() */
    struct id_map retrying; /* pool -> the ordinal up to which its unusable nodes were tried again:
                               retry_unusable() */
    struct id_map short_pools; /* a set: pools that wait for capacity of other pools */
    struct keep_limits keep;
    struct kept kept[KEPT_MAX];
    int n_kept;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Wakes the pools that wait for capacity. */
static inline void wake_short_pools(struct sched *s)
{
    for (size_t i = 0; i < s->short_pools.n; i++)
        wake(s->wakes, &woken_pool, s->short_pools.e[i].id);
}

/* keep.c: keep_own() adds the core's own kinds of rows; keep_change() sets new limits, which apply
 * at once. */
void keep_own(struct sched *s);
void keep_change(struct sched *s, const struct keep_limits *limits);

void pool_reconcile(void *ctx, int64_t id); /* for wakes_handle() */
/* For wakes_handle_refused(): the pool's errors get the reason why it is not reconciled. */
void pool_refused(void *ctx, int64_t id, const struct err *why);

#endif
