/* SPDX-License-Identifier: MIT
 *
 * Sums over all pools, for metrics. Each statement reads a range of nodes with their live
 * allocations, or a bounded part of an index, so that no turn is long at 2,000 nodes and 100,000
 * waiting runs.
 */
#ifndef STORAGE_TALLIES_H
#define STORAGE_TALLIES_H

#include "storage/rows.h"
#include "storage/storage.h"

/* The nodes of a pool in one state, with or without a run. */
struct pool_tally {
    int64_t pool_id;
    enum resource_kind kind; /* of the pool */
    enum node_state state;
    bool local, off; /* off: its machine is drained, or it gets no further run */
    bool runs;
    int nodes, gpus;
    int64_t taken_gpus; /* in units of USAGE_GPU_UNIT */
    /* GPU time of live allocations since since_ms; never more than they will have in the record of
     * use */
    int64_t held_ms;
    /* GPU time in which samples found the GPUs busy, and idle, as far as it is in the rows of the
     * allocations */
    int64_t busy_ms, idle_ms;
};

/* GPU time of live allocations whose runs belong to a principal. */
struct owner_tally {
    const char *owner;                 /* object id; "": nobody */
    int64_t held_ms, busy_ms, idle_ms; /* as in struct pool_tally */
};

#include "storage/sql/tallies.h"

#endif
