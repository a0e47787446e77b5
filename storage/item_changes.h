/* SPDX-License-Identifier: MIT
 *
 * Unfinished changes of files and blobs (storage/shares/journal.h); a part of storage/storage.h,
 * which describes the common behaviour of these functions.
 */
#ifndef STORAGE_ITEM_CHANGES_H
#define STORAGE_ITEM_CHANGES_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "storage/sql/item_change.h"

struct storage;

/* Call when the blob has other bytes now, or was removed: removes the bytes of its last put from
 * the journal. */
int st_kept_put_forget(struct storage *, int64_t share_id, const char *path, struct err *);

#endif
