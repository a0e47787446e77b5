/* SPDX-License-Identifier: MIT
 *
 * Batch AI as a service: workspaces, clusters, file servers, experiments, jobs, in all
 * api-versions.
 */
#ifndef API_ARM_BATCHAI_BATCHAI_H
#define API_ARM_BATCHAI_BATCHAI_H

#include <assert.h>

#include "api/arm/arm.h"
#include "api/http/service.h"

struct batchai {
    struct arm arm;                    /* must be the first member */
    struct files *files;               /* reads the folders of shares with threads */
    const char *storage_dir;           /* the parent directory of the folders of shares */
    struct new_clusters *new_clusters; /* shown as resizing for a short time */
    struct shown_jobs *shown_jobs;     /* cache of jobs as JSON */
    int cluster_quota;                 /* how many clusters a subscription may have */
    int core_quota;                    /* only shown, in usages */
};

extern const struct service batchai_service;

static inline const struct batchai *batchai_of(const struct request *r)
{
    assert(service_deps_are(r->service, "batchai"));
    return r->deps;
}

/* Whether the request's api-version has no workspaces (model/home.h). */
static inline bool request_is_flat(const struct request *r)
{
    return r->version & V_FLAT;
}

#endif
