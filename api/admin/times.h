/* SPDX-License-Identifier: MIT
 *
 * Times in queries.
 */
#ifndef API_ADMIN_TIMES_H
#define API_ADMIN_TIMES_H

#include "api/http/request.h"

/* A time, a day, or a month, which is its first instant (UTC). */
int query_time(struct request *r, const char *name, int64_t fallback_ms, int64_t *ms,
               struct err *e) MUST_CHECK;

#endif
