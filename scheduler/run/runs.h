/* SPDX-License-Identifier: MIT
 *
 * Runs in memory: each is one attempt, from its nodes to its verdict. It is made from rows as soon
 * as the run has nodes, and goes through the phases in run_priv.h by itself. The code that uses the
 * runs gets reports of their ends through struct runs_events.
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

/* The reports of the runs to the code that uses them. Called from the loop, also inside a
 * transaction, so a callback may only note the event and wake somebody. */
struct runs_events {
    /* A run of this pool has ended, or its nodes are free again. */
    void (*run_over)(void *ctx, int64_t pool_id);
    /* An obstacle to the deletion of a resource is gone. */
    void (*deletion_goes_on)(void *ctx);
};

/* Wakes runs by the ids of their rows. */
WAKE_KIND(woken_run, "run", WAKE_RUNS);

struct runs_config {
    struct fleet *fleet;
    struct wakes *wakes;
    struct storage *storage;
    const struct log *log;
    const struct fronts *fronts;      /* the fronts that own these runs */
    int kept_outputs;                 /* how many ended runs may keep output on a node's disk */
    const struct runs_events *events; /* with static lifetime */
    void *events_ctx;
};

/* Changes how many ended runs may keep output on a node's disk. */
void runs_keep_outputs(struct runs *rs, int kept_outputs);
struct runs *runs_create(const struct runs_config *c);
/* Wakes the runs that have nodes or wait for some. Call it after the nodes were started. */
int runs_start(struct runs *rs, struct err *e) MUST_CHECK;
/* Frees every run. Tasks on the nodes continue, and the next start finds them again. */
void runs_stop(struct runs *rs);
void runs_free(struct runs *rs);

/* The part of one node that a run gets; strings are borrowed. */
struct run_part {
    int64_t node_id;
    const char *node_name;
    struct capacity takes;
    const char *devices; /* NULL: all GPUs of the node */
};
/* Gives a waiting run its nodes, `parts` by rank, as many as it requested. The run begins when this
 * is on disk. */
int runs_allocate(struct runs *rs, const struct run *r, const struct run_part *parts,
                  struct err *e) MUST_CHECK;
/* The numbers of all GPUs of a node, for a run that may use all of them. In the arena. */
const char *runs_all_devices(struct arena *a, const struct node *nd);
/* Begins a waiting run on this one node, beside other runs and without taking a part of the node.
 * The run must not be in the queue yet: it was written, or requeued, in this transaction. */
int runs_begin_aside(struct runs *rs, const struct run *r, const struct node *nd,
                     struct err *e) MUST_CHECK;
/* True: the run can never start, and *why (texts in the arena) has the reason. False: it may
 * start. */
bool runs_refuse(const struct runs *rs, struct arena *a, const struct run *r, struct failure *why);
/* Ends a waiting run as failed. */
int runs_fail_queued(struct runs *rs, const struct run *r, const struct failure *f,
                     struct err *e) MUST_CHECK;
/* The user terminates the run. 1: its end is in progress (or done at once, if the run waits); 0: it
 * had already ended; -1: err. The end is reported to the front. */
int runs_terminate(struct runs *rs, int64_t run_id, struct err *e) MUST_CHECK;
/* Call after the front has changed the time limit or the number of retries in the run's document. A
 * run that is in progress has them as soon as they are on disk. */
void runs_limits_changed(struct runs *rs, int64_t run_id);
/* Call after the run's row was changed to request its end and its removal: reconciles the run when
 * the row is on disk. */
void runs_end(struct runs *rs, int64_t run_id);
/* The front wants to remove the run. 1: it may remove the run's row, and output of the run is then
 * removed from the nodes. 0: the run is still in progress, and may_remove() is called at its end;
 * -1: err. */
int runs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e) MUST_CHECK;

/* --- counts ----------------------------------------------------------------------------------- */

/* How long runs waited for their nodes, in attempts that began since the start: in[i] attempts
 * waited at most bound i and more than bound i - 1, the last more than all bounds. */
#define RUN_WAIT_BOUNDS 9
struct run_wait_tally {
    int64_t in[RUN_WAIT_BOUNDS + 1];
    int64_t sum_ms;
};
const int *runs_wait_bounds_s(void); /* RUN_WAIT_BOUNDS seconds, ascending */
/* The waiting times of the runs of a front. */
const struct run_wait_tally *runs_wait_tally(const struct runs *rs, const struct front *f);
/* Counts a front's runs that have nodes. *active: runs without a verdict; *ending: runs with
 * one. */
void runs_count_live(const struct runs *rs, const struct front *f, int *active, int *ending);

/* --- output on the nodes' own disks ----------------------------------------------------------- */

/* Finds the output directory `id` ("stdouterr", or an output of the run) on the run's nodes,
 * present and former, that are still in the pool: by rank, in the arena. None while the run is
 * queued. ERR_NOT_ON_MOUNT_ROOT, with a clause about the reason, if no node has it any more. The
 * directory itself may not exist yet. */
int runs_output_dirs(struct runs *rs, struct arena *a, enum resource_kind owner, int64_t owner_id,
                     const char *id, struct output_dir **out, size_t *n, struct err *e) MUST_CHECK;

#endif
