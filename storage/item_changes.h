/* SPDX-License-Identifier: MIT
 *
 * Changes of files and blobs that are under way (storage/shares/journal.h); a part of
 * storage/storage.h, which says how all of these functions behave.
 */
#ifndef STORAGE_ITEM_CHANGES_H
#define STORAGE_ITEM_CHANGES_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "storage/sql/item_change.h"

struct storage;

/* The blob has other bytes now, or none. */
int st_kept_put_forget(struct storage *, int64_t share_id, const char *path, struct err *);

#endif
