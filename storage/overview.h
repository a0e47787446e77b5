/* SPDX-License-Identifier: MIT
 *
 * Queries over many rows: the holders of a pool's nodes, and the displayed state of queues and
 * jobs.
 */
#ifndef STORAGE_OVERVIEW_H
#define STORAGE_OVERVIEW_H

#include "storage/storage.h"

/* Asks for the last release of the node by a run other than `run_id`, after `since_us` and at the
 * latest at `until_us`. The query returns 1, 0 (there was none) or -1. */
struct st_released {
    const char *node_name;
    int64_t run_id, since_us, until_us;
};

/* The allocated parts of the nodes of a pool, by ordinal, with the run and the start. */
struct held_part {
    int64_t node_id, run_id;
    bool whole;
    struct capacity takes; /* the capacity at the time of the allocation */
    enum run_state state;
    int64_t start_us, max_wall_us; /* the run's */
};

#endif
