/* SPDX-License-Identifier: MIT
 *
 * What goes over many rows: who holds what of a pool, and what people are shown of queues and jobs.
 */
#ifndef STORAGE_OVERVIEW_H
#define STORAGE_OVERVIEW_H

#include "storage/storage.h"

/* The last that a node had of another run than `run_id` and that was released after `since_us`, by
 * `until_us`. 1, 0 or -1. */
struct st_released {
    int64_t node_id, run_id, since_us, until_us;
};

/* What is held of the nodes of a pool, by ordinal, and by which run since when. */
struct held_part {
    int64_t node_id, run_id;
    bool whole;
    struct capacity takes; /* as it was counted when it was taken */
    enum run_state state;
    int64_t start_us, max_wall_us; /* the run's */
};

#endif
