/* SPDX-License-Identifier: MIT
 *
 * Runs of jobs: each is one attempt, from its nodes to its verdict. A run is made from rows as soon
 * as its job has nodes, and steps through what is in run_priv.h's picture by itself. Who is above
 * hears of what became of it through struct runs_events.
 *
 * Borrows fleet, wakes, storage and log.
 */
#ifndef SCHEDULER_RUN_RUNS_H
#define SCHEDULER_RUN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "model/failure.h"
#include "model/resource.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/front.h"
#include "scheduler/wake/wake.h"

struct runs;

/* What is told to who is above. Called from the loop, also from inside a transaction: note it,
 * wake. */
struct runs_events {
    /* A run of this pool is over, or its nodes are free again. */
    void (*run_over)(void *ctx, int64_t pool_id);
    /* What kept a resource from being deleted is gone. */
    void (*deletion_goes_on)(void *ctx);
};

struct runs_config {
    struct fleet *fleet;
    struct wakes *wakes;
    struct storage *storage;
    const struct log *log;
    const struct front *front; /* of those whose runs these are */
    int kept_outputs;          /* of how many ended jobs a node keeps output on its own disk */
    const struct runs_events *events; /* of static life */
    void *events_ctx;
};

struct runs *runs_create(const struct runs_config *c);
/* Wakes those that have nodes, and those that should have. Nodes go first. */
int runs_start(struct runs *rs, struct err *e) MUST_CHECK;
/* Frees every run; what goes on on the nodes is taken up again at the next start. */
void runs_stop(struct runs *rs);
void runs_free(struct runs *rs);

/* What a run gets of one node; strings are borrowed. */
struct run_part {
    int64_t node_id;
    const char *node_name;
    struct capacity takes;
    const char *devices; /* NULL: all */
};
/* Gives a waiting run its nodes, `parts` by rank, as many as it wants. It begins once that is on
 * disk. */
int runs_allocate(struct runs *rs, const struct run *r, const struct run_part *parts,
                  struct err *e) MUST_CHECK;
/* It can never run: *why (arena-owned) says what is in the way. */
bool runs_refuse(const struct runs *rs, struct arena *a, const struct run *r, struct failure *why);
/* Ends one that waits: it has failed. */
int runs_fail_queued(struct runs *rs, const struct run *r, const struct failure *f,
                     struct err *e) MUST_CHECK;
/* Its user asks it to stop. 1: under way (or done at once, for one that waits), 0: it had already
 * ended; -1: err. Its front hears of it when it has ended. */
int runs_terminate(struct runs *rs, int64_t run_id, struct err *e) MUST_CHECK;
/* It is to be ended and forgotten, as its row says by now: looked at once that is on disk. */
void runs_end(struct runs *rs, int64_t run_id);
/* Its front is about to remove it. 1: its row may go; where it left output is swept then. 0: it is
 * under way still, and may_remove() is told when it is not; -1: err. */
int runs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e) MUST_CHECK;

/* --- output on the nodes' own disks ----------------------------------------------------------- */

/* Where the output directory `id` ("stdouterr", or of the job's outputDirectories) is on the nodes
 * that the job runs on, or ran on as far as they are still in the cluster: by rank, arena-owned.
 * None while the job is queued. ERR_NOT_ON_MOUNT_ROOT, with a clause that says why, if it is on
 * none of them any more. The directory itself may not have been made yet. */
int runs_output_dirs(struct runs *rs, struct arena *a, enum resource_kind owner, int64_t owner_id,
                     const char *id, struct output_dir **out, size_t *n, struct err *e) MUST_CHECK;

#endif
