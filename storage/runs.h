/* SPDX-License-Identifier: MIT
 *
 * Runs and their dependencies; a part of storage/storage.h, which describes the common behaviour of
 * these functions.
 */
#ifndef STORAGE_RUNS_H
#define STORAGE_RUNS_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "storage/sql/dependency.h"
#include "storage/sql/node.h"
#include "storage/sql/run.h"

struct storage;

/* --- runs ----------------------------------------------------------------------------------- */
/* st_job_insert() and st_remove() also write the run of the job. */
int st_run_insert(struct storage *, const struct run *r, int64_t *id, struct err *);
/* Call when the run `r` has ended: the next run that the limit of its owner holds back enters its
 * queue. Runs get their turns in the order of their indexes. */
int st_run_next_turn(struct storage *, const struct run *r, struct err *) MUST_CHECK;
/* Dependencies of runs. st_dependency_add(): adds rows of one owner, whose runs are queued; rows in
 * `state` open hold these runs back. The settling function: `awaited` has ended; its first
 * dependents are released, or marked to fail, with events of their owners. *left: there may be
 * more. */
int st_dependency_add(struct storage *, struct arena *, const struct dependency *rows, size_t n,
                      int64_t now_us, struct err *) MUST_CHECK;
struct st_settling {
    enum ended_how ended;
    int limit; /* the most dependents to handle */
    int64_t now_us;
};
int st_dependency_settle(struct storage *, enum resource_kind awaited, int64_t awaited_id,
                         const struct st_settling *how, bool *left, struct err *) MUST_CHECK;
/* A guarded move of a run's state (ERR_CONFLICT if it is not `from`); the only function that writes
 * the state. */
struct st_run_move {
    int64_t id;
    enum run_state from, to;
    int64_t start_us; /* 0: unchanged; -1: clear (it waits again) */
    int64_t end_us;   /* 0: unchanged */
    int attempt;      /* 0: unchanged */
    int failure;      /* -1: unchanged */
    bool retry;       /* adds 1 to `retried` */
};

#endif
