/* SPDX-License-Identifier: MIT
 *
 * What an account has used, reckoned from the rows that are there: tasks of jobs that are deleted,
 * and nodes that have left their pools, are not in it.
 */
#ifndef API_PLANE_BATCH_STATISTICS_H
#define API_PLANE_BATCH_STATISTICS_H

#include "api/plane/batch/batch.h"

struct replied *statistics_of_jobs(struct request *r);
struct replied *statistics_of_pools(struct request *r);
struct replied *usage_of_pools(struct request *r);

#define BATCH_STATISTICS_ROUTES                                                                    \
    {"GET", "/lifetimejobstats", BATCH_UNTIL(BATCH_16_0),                                          \
     0,     statistics_of_jobs,  "Job_GetAllLifetimeStatistics"},                                  \
        {"GET", "/lifetimepoolstats", BATCH_UNTIL(BATCH_16_0),                                     \
         0,     statistics_of_pools,  "Pool_GetAllLifetimeStatistics"},                            \
        {"GET", "/poolusagemetrics", BATCH_ALL, 0, usage_of_pools, "Pool_ListUsageMetrics"},

#endif
