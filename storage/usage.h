/* SPDX-License-Identifier: MIT
 *
 * The record of use (model/usage.h); a part of storage/storage.h, which describes the common
 * behaviour of these functions. st_allocation_move() writes it.
 */
#ifndef STORAGE_USAGE_H
#define STORAGE_USAGE_H

#include "model/usage.h"
#include "storage/sql/usage.h"
#include "storage/storage.h"

/* Calls fn for what each subject had in [from_ms, to_ms), perhaps more than once for a subject: the
 * parts are to be added. The present is now_ms: what has not ended counts until then. */
typedef void (*st_usage_fn)(void *ctx, const struct usage_subject *s,
                            const struct usage_sums *sums);
int st_usage_each(struct storage *, int64_t from_ms, int64_t to_ms, int64_t now_ms, st_usage_fn fn,
                  void *ctx, struct err *);

/* --- counted since the start, for metrics, which cannot add up the whole record each time --------
 */

/* The use of the nodes of a pool's group, or that of a principal. */
#define USAGE_OTHERS "(others)" /* the group of all that are beyond the bound of the list */
struct usage_counted {
    const char *subscription, *group; /* of the pool; "": of a principal */
    const char *owner;                /* object id; "": of a group */
    struct usage_sums sums;
};

/* Counts in memory what allocations that end from now on had since since_ms, by the groups of their
 * pools and by owner. A rollback does not reduce it. Call it once. */
void st_usage_count_from(struct storage *, int64_t since_ms);
/* Borrowed until the next allocation ends. */
const struct usage_counted *st_usage_counted(const struct storage *, size_t *n);

#endif
