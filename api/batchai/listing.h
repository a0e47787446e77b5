/* SPDX-License-Identifier: MIT
 *
 * Lists of resources: paging for all versions, $filter and $select for those that have them.
 */
#ifndef API_BATCHAI_LISTING_H
#define API_BATCHAI_LISTING_H

#include "api/http/request.h"
#include "storage/storage.h"

/* The owner of the listed resources, which the handler looked up. Its pointers are valid as long as
 * the request. */
struct listing_owner {
    struct st_filter filter;
    int64_t experiment_id; /* for jobs; 0: the home experiments of all groups */
    struct scope scope;    /* for the jobs of one experiment: their scope */
};

/* The functions that list one kind of resource. */
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
