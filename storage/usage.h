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

#endif
