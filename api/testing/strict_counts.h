/* SPDX-License-Identifier: MIT
 *
 * How many requests there were of each limit in each scope, since the first of them. What is over
 * is forgotten as others are counted: one is found, and counted, at a cost that does not depend on
 * how many there are.
 */
#ifndef API_TESTING_STRICT_COUNTS_H
#define API_TESTING_STRICT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "api/testing/strict_table.h"

/* Of so many scopes, with texts of so many bytes; what is beyond is not counted. */
#define STRICT_COUNTS_MAX  10000
#define STRICT_SCOPE_BYTES 512

struct strict_counts;

struct strict_counts *strict_counts_new(void);
void strict_counts_free(struct strict_counts *c);
/* `of`: a subscription, an account; in any case of letters. 0: none, or their time is over; else
 * *left_us is what is left of it. */
int strict_counts_get(const struct strict_counts *c, enum strict_limit limit, const char *of,
                      int64_t now_us, int64_t *left_us);
/* Counts one; `subscription`: whose it is ("" : nobody's). */
void strict_counts_add(struct strict_counts *c, enum strict_limit limit, const char *of,
                       const char *subscription, int64_t now_us);
/* Forgets those of a subscription; NULL: all. */
void strict_counts_forget(struct strict_counts *c, const char *subscription);
/* How many scopes are kept. */
size_t strict_counts_kept(const struct strict_counts *c);

#endif
