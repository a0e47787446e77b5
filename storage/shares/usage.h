/* SPDX-License-Identifier: MIT
 *
 * How many bytes the files of a share have. Its folder is read page by page, so that other work can
 * run in between.
 */
#ifndef STORAGE_SHARES_USAGE_H
#define STORAGE_SHARES_USAGE_H

#include "storage/folders/files.h"
#include "storage/shares/shares.h"

/* `why` is NULL on success. Called once, never inside the original call. */
typedef void (*shares_counted)(void *ctx, const struct err *why, enum file_fault fault,
                               uint64_t bytes);
/* Counts the bytes of a share's files. The arena must live until the callback. */
void shares_count(const struct shares *sh, struct arena *a, const struct share *s,
                  shares_counted cb, void *ctx);

#endif
