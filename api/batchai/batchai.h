/* SPDX-License-Identifier: MIT
 *
 * Batch AI as a service: workspaces, clusters, file servers, experiments, jobs, in all
 * api-versions.
 */
#ifndef API_BATCHAI_BATCHAI_H
#define API_BATCHAI_BATCHAI_H

#include "api/arm/arm.h"

struct batchai {
    struct arm arm;                    /* first: what serves a provider looks for it there */
    struct files *files;               /* shares are folders: their workers */
    const char *storage_dir;           /* shares are folders below it */
    struct new_clusters *new_clusters; /* shown resizing for a while */
    struct shown_jobs *shown_jobs;     /* texts that are shown again */
    int cluster_quota;                 /* how many clusters a subscription may have */
    int core_quota;                    /* shown by usages */
};

extern const struct service batchai_service;

static inline const struct batchai *batchai_of(const struct request *r)
{
    return r->deps;
}

/* Is this a version without workspaces (model/home.h)? */
static inline bool request_is_flat(const struct request *r)
{
    return r->version & V_FLAT;
}

#endif
