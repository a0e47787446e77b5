/* SPDX-License-Identifier: MIT
 *
 * Counts the requests for each limit in each scope. A count begins with its first request, and ends
 * when the limit's time is over. Each call also forgets counts that have ended. The cost of a call
 * does not depend on the number of counts.
 */
#ifndef API_TESTING_STRICT_COUNTS_H
#define API_TESTING_STRICT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "api/testing/strict_table.h"

/* The most scopes, and the most bytes of their names; further scopes are not counted. */
#define STRICT_COUNTS_MAX  10000
#define STRICT_SCOPE_BYTES 512

struct strict_counts;

struct strict_counts *strict_counts_new(void);
void strict_counts_free(struct strict_counts *c);
/* The number of requests in `of`, a subscription or account (upper or lower case). Returns 0 if
 * there is no count or its time has ended; else *left_us is the time left, in microseconds. */
int strict_counts_get(const struct strict_counts *c, enum strict_limit limit, const char *of,
                      int64_t now_us, int64_t *left_us);
/* Counts one request; `subscription`: the subscription of the scope ("": none). */
void strict_counts_add(struct strict_counts *c, enum strict_limit limit, const char *of,
                       const char *subscription, int64_t now_us);
/* Forgets the counts of a subscription; NULL: all. */
void strict_counts_forget(struct strict_counts *c, const char *subscription);
/* How many scopes are kept. */
size_t strict_counts_kept(const struct strict_counts *c);

#endif
