/* SPDX-License-Identifier: MIT
 *
 * Lists of resources: paging for all versions, $filter and $select for those that have them.
 */
#ifndef API_ARM_BATCHAI_LISTING_H
#define API_ARM_BATCHAI_LISTING_H

#include "api/arm/kind.h"
#include "storage/storage.h"

/* An id that no row has. */
#define NO_ROW (-1)

/* The owner of the listed resources, which the handler looked up. Its pointers are valid as long as
 * the request. */
struct listing_owner {
    struct st_filter filter;
    int64_t experiment_id; /* for jobs; 0: the home experiments of all groups */
    struct scope scope;    /* for the jobs of one experiment: their scope */
};

/* How the rows of a kind are fetched: rm_kind.listing. */
struct listing {
    int (*fetch)(struct request *r, const struct listing_owner *owner, int64_t after, int limit,
                 void **rows, size_t *n, struct err *e);
};

/* The list of what the route's kind has below the owner. */
REPLIED reply_listing(struct request *r, const struct listing_owner *owner);

/* Handlers of all that is in workspaces: of the subscription, a group, or a workspace. Versions
 * without workspaces see only the resources in their home (model/home.h). */
struct replied *batchai_list(struct request *r);
struct replied *batchai_list_by_group(struct request *r);
struct replied *batchai_list_by_workspace(struct request *r);

#endif
