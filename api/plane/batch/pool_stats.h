/* SPDX-License-Identifier: MIT
 *
 * Statistics of pools: the time of their nodes, and the load of their machines. The load is known
 * only for pools with automatic scaling, because only their samples are kept (for a day).
 */
#ifndef API_PLANE_BATCH_POOL_STATS_H
#define API_PLANE_BATCH_POOL_STATS_H

#include <jansson.h>

#include "api/plane/batch/batch.h"

/* Sums over several pools; all 0 at first. */
struct pool_sums {
    int64_t core_us; /* microseconds times cores */
    int64_t samples;
    double cpu, memory, disk, peak_memory, peak_disk; /* sums, in percent and bytes */
    double read_ops, write_ops, read, written, in, out;
};

/* An interval, and the nodes whose time counts. */
struct pool_interval {
    int64_t from_us, to_us; /* only time that has passed counts */
    bool dedicated;         /* true: low-priority nodes do not count */
};

/* The core time (microseconds times cores) of a pool's nodes in an interval. */
int pool_core_time(struct request *r, int64_t pool_id, const struct pool_interval *within,
                   int64_t *out, struct err *e) MUST_CHECK;
int pool_sums_add(struct request *r, const struct batch_pool *p, struct pool_sums *s,
                  struct err *e) MUST_CHECK;
/* {"url", "startTime", "lastUpdateTime", "usageStats", "resourceStats"}. */
json_t *pool_sums_json(struct request *r, const struct pool_sums *s, const char *path,
                       int64_t since_us);
/* The statistics of one pool as JSON text in the request's arena. NULL: the request lacks
 * $expand=stats, or they cannot be read. */
const char *pool_stats(struct request *r, const struct batch_pool *p, const char *path);

#endif
