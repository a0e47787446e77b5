/* SPDX-License-Identifier: MIT
 *
 * Lists of resources: paging for all versions, $filter and $select for those that have them.
 */
#ifndef API_BATCHAI_LISTING_H
#define API_BATCHAI_LISTING_H

#include "api/http/request.h"
#include "storage/storage.h"

/* Whose: what the handler looked up. What it points at lives as long as the request. */
struct listing_owner {
    struct st_filter filter;
    int64_t experiment_id; /* of jobs; 0: of the home experiments of all groups */
    struct scope scope;    /* of jobs of one experiment: where they are */
};

/* How one kind of resource is listed. */
struct listing {
    const struct schema *schema;
    int (*fetch)(struct request *r, const struct listing_owner *owner, int64_t after, int limit,
                 void **rows, size_t *n, struct err *e);
    void (*render)(struct request *r, const void *rows, size_t i, struct strbuf *out);
    int64_t (*id)(const void *rows, size_t i);
};

REPLIED reply_listing(struct request *r, const struct listing *l,
                      const struct listing_owner *owner);

#endif
