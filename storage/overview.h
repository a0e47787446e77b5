/* SPDX-License-Identifier: MIT
 *
 * What goes over many rows: who holds what of a pool, and what people are shown of queues and jobs.
 */
#ifndef STORAGE_OVERVIEW_H
#define STORAGE_OVERVIEW_H

#include "storage/storage.h"

/* Waiting runs of a pool: all that nothing holds, in turn; and those that are held, by id. */
int st_run_in_turn(struct storage *, struct arena *, int64_t pool_id, int limit, struct run **rows,
                   size_t *n, struct err *);
int st_run_held(struct storage *, struct arena *, int64_t pool_id, int limit, struct run **rows,
                size_t *n, struct err *);

/* Jobs of all groups whose ids are lower than `before`, the newest first. */
int st_job_latest(struct storage *, struct arena *, int64_t before, int limit, struct job **rows,
                  size_t *n, struct err *);

/* All that are kept of a resource, in order. */
int st_event_of(struct storage *, struct arena *, enum resource_kind kind, int64_t resource_id,
                struct event **rows, size_t *n, struct err *);

/* The allocations of all attempts of a run. */
int st_allocation_of_run_all(struct storage *, struct arena *, int64_t run_id,
                             struct allocation **rows, size_t *n, struct err *);
/* The last that a node had of another run than `run_id` and that was released after `since_us`, by
 * `until_us`. 1, 0 or -1. */
struct st_released {
    int64_t node_id, run_id, since_us, until_us;
};
int st_allocation_before(struct storage *, struct arena *, const struct st_released *w,
                         struct allocation *out, struct err *);

/* What is held of the nodes of a pool, by ordinal, and by which run since when. */
struct held_part {
    int64_t node_id, run_id;
    bool whole;
    struct capacity takes; /* as it was counted when it was taken */
    enum run_state state;
    int64_t start_us, max_wall_us; /* the run's */
};
int st_pool_held(struct storage *, struct arena *, int64_t pool_id, struct held_part **rows,
                 size_t *n, struct err *);

/* Of the runs that st_run_queue_demand() counts those that want parts of nodes, in turn; and how
 * many nodes they want. */
int st_run_parts(struct storage *, struct arena *, int64_t pool_id, int largest, int limit,
                 struct run **rows, size_t *n, struct err *);
int st_run_parts_demand(struct storage *, int64_t pool_id, int largest, int64_t *nodes,
                        struct err *);

#endif
