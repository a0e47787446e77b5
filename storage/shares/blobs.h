/* SPDX-License-Identifier: MIT
 *
 * Where the blobs of the daemon's containers are, for readers of a URL.
 */
#ifndef STORAGE_SHARES_BLOBS_H
#define STORAGE_SHARES_BLOBS_H

#include <stddef.h>
#include <stdint.h>

#include "storage/folders/files.h"

struct archived_blob;

/* Who reads by a URL, and when. */
struct url_reader {
    const char *owner; /* an account whose own rights also count, or NULL */
    int64_t now_us;
};
struct blob_place {
    struct file_place at;                 /* its bytes */
    const struct archived_blob *archived; /* NULL: the blob is not archived */
};
/* The folders of a container's blobs: its own folder, and the account's folder of blobs that no
 * file name can express (struct share_item). */
struct container_place {
    const char *folder, *aside;
    int64_t share_id;
    const char *subscription; /* of the account */
};
/* In the order of names. */
struct archived_blobs {
    const struct archived_blob *items;
    size_t n;
};

#endif
