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
    struct arm arm;                    /* first: the handlers of all providers expect it there */
    struct files *files;               /* its workers read the folders of shares */
    const char *storage_dir;           /* the parent directory of the folders of shares */
    struct new_clusters *new_clusters; /* clusters that are shown as resizing for a while */
    struct shown_jobs *shown_jobs;     /* rendered jobs, kept for repeated requests */
    int cluster_quota;                 /* how many clusters a subscription may have */
    int core_quota;                    /* shown by usages */
};

extern const struct service batchai_service;

static inline const struct batchai *batchai_of(const struct request *r)
{
    assert(service_deps_are(r->service, "batchai"));
    return r->deps;
}

/* Whether the request's version has no workspaces (model/home.h). */
static inline bool request_is_flat(const struct request *r)
{
    return r->version & V_FLAT;
}

#endif
