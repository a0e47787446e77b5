/* SPDX-License-Identifier: MIT
 *
 * Conditional requests: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, and the
 * same conditions on the source of a copy.
 * https://learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations
 */
#ifndef API_PLANE_STORAGE_CONDITIONS_H
#define API_PLANE_STORAGE_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/http/request.h"

/* The present state of the object. */
struct condition_state {
    bool exists;
    uint64_t etag;
    int64_t modified_us;
};

/* Fails if a condition does not hold: with AZSTORAGE_NOT_MODIFIED for a request that reads, else
 * with AZSTORAGE_CONDITION. AZSTORAGE_HEADER: a date is invalid. */
int conditions_check(struct request *r, const struct condition_state *now,
                     struct err *e) MUST_CHECK;
/* Like conditions_check(), with a service's own kinds of errors. */
struct condition_kinds {
    int not_modified, condition, header;
};
int conditions_check_as(struct request *r, const struct condition_state *now,
                        const struct condition_kinds *kinds, struct err *e) MUST_CHECK;
/* Like conditions_check(), for the headers x-ms-source-if-*. AZSTORAGE_SOURCE_CONDITION: one does
 * not hold. */
int conditions_check_source(struct request *r, const struct condition_state *now,
                            struct err *e) MUST_CHECK;
/* Whether the request must not replace an existing object (If-None-Match: *). */
bool conditions_want_new(const struct request *r);

#endif
