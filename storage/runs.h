/* SPDX-License-Identifier: MIT
 *
 * Runs, and what they wait for; a part of storage/storage.h, which says how all of these functions
 * behave.
 */
#ifndef STORAGE_RUNS_H
#define STORAGE_RUNS_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct storage;

/* --- runs ----------------------------------------------------------------------------------- */
/* st_job_insert() and st_remove() write the run of the job with it. */
int st_run_insert(struct storage *, const struct run *r, int64_t *id, struct err *);
int st_run_by_id(struct storage *, struct arena *, int64_t id, struct run *out, struct err *);
int st_run_of(struct storage *, struct arena *, enum resource_kind owner, int64_t owner_id, int idx,
              struct run *out, struct err *);
/* Waiting runs of a pool that nobody asked to stop, also those that are held; and those that are to
 * fail because of what they waited for. */
int st_run_broken(struct storage *, struct arena *, int64_t pool_id, int limit, struct run **rows,
                  size_t *n, struct err *);
int st_run_waiting(struct storage *, struct arena *, int64_t pool_id, int limit, struct run **rows,
                   size_t *n, struct err *);
/* Those of them that nothing holds and that want `largest` nodes or fewer, and of each no more than
 * some node of the pool has: highest priority first, then oldest. */
int st_run_queue(struct storage *, struct arena *, int64_t pool_id, int largest, int limit,
                 struct run **rows, size_t *n, struct err *);
/* The runs of one owner: all, by idx; how many of them have no end yet. next_turn: one of them has
 * ended, so the next that is held by their limit goes to its queue. */
int st_run_ids_of(struct storage *, struct arena *, enum resource_kind owner, int64_t owner_id,
                  int64_t **ids, size_t *n, struct err *);
int st_run_count_left(struct storage *, enum resource_kind owner, int64_t owner_id, int64_t *n,
                      struct err *);
int st_run_next_turn(struct storage *, enum resource_kind owner, int64_t owner_id,
                     struct err *) MUST_CHECK;
/* Those that want more nodes. */
int st_run_oversized(struct storage *, struct arena *, int64_t pool_id, int largest, int limit,
                     struct run **rows, size_t *n, struct err *);
/* Those that nothing holds, that want parts of nodes, and that came after the run `after`: by id.
 */
int st_run_parts_after(struct storage *, struct arena *, int64_t pool_id, int64_t after, int limit,
                       struct run **rows, size_t *n, struct err *);
/* The sum of the nodes that waiting runs want which want `largest` or fewer, for automatic scaling.
 */
int st_run_queue_demand(struct storage *, int64_t pool_id, int largest, int64_t *nodes,
                        struct err *);
/* The runs that have nodes, by id; and those of them that are to be forgotten. */
int st_run_live_ids(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
int st_run_doomed_ids(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
/* What runs wait for. add: rows of one owner, which is queued; those of `state` open hold its runs.
 * settle: `awaited` has ended; those that waited for it are released, or marked to fail, with
 * events of their owners. pools: those of the runs that wait for it. */
int st_dependency_add(struct storage *, struct arena *, const struct dependency *rows, size_t n,
                      int64_t now_us, struct err *) MUST_CHECK;
int st_dependency_settle(struct storage *, enum resource_kind awaited, int64_t awaited_id,
                         enum ended_how how, int64_t now_us, struct err *) MUST_CHECK;
int st_dependency_of(struct storage *, struct arena *, enum resource_kind owner, int64_t owner_id,
                     struct dependency **rows, size_t *n, struct err *);
int st_dependency_pools(struct storage *, struct arena *, enum resource_kind awaited,
                        int64_t awaited_id, int64_t **ids, size_t *n, struct err *);
/* A guarded move of a run's state; the only writer of it. */
struct st_run_move {
    int64_t id;
    enum run_state from, to;
    int64_t start_us; /* 0: leave; -1: clear (it waits again) */
    int64_t end_us;   /* 0: leave */
    int attempt;      /* 0: leave */
    int failure;      /* -1: leave */
    bool retry;       /* counts in `retried` */
};
int st_run_move(struct storage *, const struct st_run_move *m, struct err *) MUST_CHECK;
/* Its processes begin only now: its time limit counts from here. */
int st_run_begins(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;
/* Runs of a group (struct run) get the node no more, until it is wiped. The nodes of which that was
 * said, by id. */
int st_node_bar(struct storage *, int64_t group_id, int64_t node_id, struct err *) MUST_CHECK;
int st_node_barred(struct storage *, struct arena *, int64_t group_id, int64_t **ids, size_t *n,
                   struct err *);
/* Never takes back an earlier request. */
int st_run_set_stop(struct storage *, int64_t id, enum run_stop stop, struct err *);
/* Removes all runs of an owner. ERR_CONFLICT while one has live allocations. */
int st_runs_remove(struct storage *, enum resource_kind owner, int64_t owner_id, struct err *);

#endif
