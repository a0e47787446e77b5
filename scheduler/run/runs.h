/* SPDX-License-Identifier: MIT
 *
 * Runs in memory: each is one attempt, from its nodes to its verdict. It is made from rows as soon
 * as the run has nodes, and goes through the phases in run_priv.h by itself. Those above hear of
 * its end through struct runs_events.
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
#include "scheduler/front/front.h"
#include "scheduler/wake/wake.h"

struct runs;

/* The message of a terminated run, for front_text(). */
#define RUN_TERMINATED_TEXT "The specified {run} has been terminated by the user"

/* What runs tell those above. Called from the loop, also inside a transaction, so only note it and
 * wake somebody. */
struct runs_events {
    /* A run of this pool is over, or its nodes are free again. */
    void (*run_over)(void *ctx, int64_t pool_id);
    /* Something that kept a resource from being deleted is gone. */
    void (*deletion_goes_on)(void *ctx);
};

/* Runs by the ids of their rows. */
WAKE_KIND(woken_run, "run", WAKE_RUNS);

struct runs_config {
    struct fleet *fleet;
    struct wakes *wakes;
    struct storage *storage;
    const struct log *log;
    const struct fronts *fronts; /* the services whose runs these are */
    int kept_outputs;            /* for how many ended runs a node keeps output on its own disk */
    const struct runs_events *events; /* of static life */
    void *events_ctx;
};

struct runs *runs_create(const struct runs_config *c);
/* Wakes the runs that have nodes or should have some. Nodes are started first. */
int runs_start(struct runs *rs, struct err *e) MUST_CHECK;
/* Frees every run. Tasks on the nodes go on, and the next start finds them again. */
void runs_stop(struct runs *rs);
void runs_free(struct runs *rs);

/* The part of one node that a run gets; strings are borrowed. */
struct run_part {
    int64_t node_id;
    const char *node_name;
    struct capacity takes;
    const char *devices; /* NULL: all */
};
/* Gives a waiting run its nodes, `parts` by rank, as many as it wants. The run begins once this is
 * on disk. */
int runs_allocate(struct runs *rs, const struct run *r, const struct run_part *parts,
                  struct err *e) MUST_CHECK;
/* The numbers of all GPUs of a node, for a run that has no own share of them. Arena-owned. */
const char *runs_all_devices(struct arena *a, const struct node *nd);
/* Begins a waiting run of one node there, whatever else runs on it: it takes nothing of it. The
 * run has not been seen by the queue: it was written, or queued again, in this transaction. */
int runs_begin_aside(struct runs *rs, const struct run *r, const struct node *nd,
                     struct err *e) MUST_CHECK;
/* Whether a run can never run: *why (arena-owned) says what is in the way. */
bool runs_refuse(const struct runs *rs, struct arena *a, const struct run *r, struct failure *why);
/* Ends a waiting run as failed. */
int runs_fail_queued(struct runs *rs, const struct run *r, const struct failure *f,
                     struct err *e) MUST_CHECK;
/* The user asks the run to stop. 1: under way (or done at once, if it waits), 0: it had already
 * ended; -1: err. The front hears of the end. */
int runs_terminate(struct runs *rs, int64_t run_id, struct err *e) MUST_CHECK;
/* The run's row says that it is to be ended and forgotten: looks at it once that is on disk. */
void runs_end(struct runs *rs, int64_t run_id);
/* The front is about to remove the run. 1: its row may be removed, and nodes with its output are
 * swept then. 0: it is still under way, and may_remove() is called when it is not; -1: err. */
int runs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e) MUST_CHECK;

/* --- output on the nodes' own disks ----------------------------------------------------------- */

/* Finds the output directory `id` ("stdouterr", or one of the run's own) on the nodes
 * that the run has, or had and that are still in the pool: by rank, arena-owned. None while
 * the run is queued. ERR_NOT_ON_MOUNT_ROOT, with a clause that says why, if it is on none of them
 * any more. The directory itself may not have been made yet. */
int runs_output_dirs(struct runs *rs, struct arena *a, enum resource_kind owner, int64_t owner_id,
                     const char *id, struct output_dir **out, size_t *n, struct err *e) MUST_CHECK;

#endif
