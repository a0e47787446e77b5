/* SPDX-License-Identifier: MIT
 *
 * What the files of scheduler/ itself share: pools (clusters), the queue, deletions. Nodes are the
 * fleet's, runs are scheduler/run/'s; what becomes of them is told here and wakes a pool.
 */
#ifndef SCHEDULER_SCHED_PRIV_H
#define SCHEDULER_SCHED_PRIV_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/idmap.h"
#include "model/failure.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

struct sched {
    struct storage *st; /* borrowed, as is log */
    const struct log *log;
    struct wakes *wakes; /* owned, as are fleet and runs */
    struct fleet *fleet;
    struct runs *runs;
    const struct front *front; /* borrowed */
    int local_nodes;
    char **local_vm_sizes; /* ours; NULL-terminated */
    int64_t autoscale_idle_us;
    struct files *files; /* borrowed */
    char *storage_dir;
    bool fresh_deletions; /* something was marked since the last pass of deletion.c */
    bool dooming;         /* runs that go are being taken out of the queues: */
    struct st_doom doom;  /* so far */
    bool jobs_go_first;   /* more jobs are doomed than the last pass could remove */
    struct id_map bereft; /* a set: clusters that lose queued jobs to deletion.c */
    struct id_map
        told_sizes; /* cluster -> which size its queued jobs were last told of: oversized.c */
    struct id_map short_pools; /* a set: they wait for capacity that others give up */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Wakes the pools that wait for capacity. */
void wake_short_pools(struct sched *s);

/* For wakes_handle(). */
void cluster_reconcile(void *ctx, int64_t id);
void deletions_reconcile(void *ctx, int64_t id);

#endif
