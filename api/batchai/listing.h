/* SPDX-License-Identifier: MIT
 *
 * Lists of resources: paging for all versions, $filter and $select for those that have them.
 */
#ifndef API_BATCHAI_LISTING_H
#define API_BATCHAI_LISTING_H

#include "api/request.h"

/* How one kind of resource is listed. `owner` says whose: what the handler looked up. */
struct listing {
    const struct schema *schema;
    int (*fetch)(struct request *r, const void *owner, int64_t after, int limit, void **rows,
                 size_t *n, struct err *e);
    json_t *(*render)(struct request *r, const void *rows, size_t i);
    int64_t (*id)(const void *rows, size_t i);
};

REPLIED reply_listing(struct request *r, const struct listing *l, const void *owner);

#endif
