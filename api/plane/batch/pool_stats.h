/* SPDX-License-Identifier: MIT
 *
 * Statistics of pools: how long their nodes were there, and what their machines did, as far as it
 * is known: samples are taken of pools whose size a formula decides on, and kept for a day.
 */
#ifndef API_PLANE_BATCH_POOL_STATS_H
#define API_PLANE_BATCH_POOL_STATS_H

#include <jansson.h>

#include "api/plane/batch/batch.h"

/* Of one pool after the other. Begins zeroed. */
struct pool_sums {
    int64_t core_us; /* microseconds times cores */
    int64_t samples;
    double cpu, memory, disk, peak_memory, peak_disk; /* sums, in percent and bytes */
    double read_ops, write_ops, read, written, in, out;
};

/* Core time of a pool's nodes from one instant to another. */
int pool_core_time(struct request *r, int64_t pool_id, int64_t from_us, int64_t to_us, int64_t *out,
                   struct err *e) MUST_CHECK;
int pool_sums_add(struct request *r, const struct batch_pool *p, struct pool_sums *s,
                  struct err *e) MUST_CHECK;
/* {"url", "startTime", "lastUpdateTime", "usageStats", "resourceStats"}. */
json_t *pool_sums_json(struct request *r, const struct pool_sums *s, const char *path,
                       int64_t since_us);
/* The same of one pool as text, if the request asks for it by $expand; else NULL. Of the request.
 */
const char *pool_stats(struct request *r, const struct batch_pool *p, const char *path);

#endif
