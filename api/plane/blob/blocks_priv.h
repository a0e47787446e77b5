/* SPDX-License-Identifier: MIT
 *
 * Blocks: a blob that is put block by block becomes a blob when a list of its blocks is committed.
 * A block that is not committed waits as a file in a hidden folder of the account. The committed
 * blocks are parts of the blob; its row says where each ends.
 */
#ifndef API_PLANE_BLOB_BLOCKS_PRIV_H
#define API_PLANE_BLOB_BLOCKS_PRIV_H

#include "api/plane/blob/handlers.h"
#include "storage/folders/walk.h"

struct block {
    const char *id; /* in hexadecimal digits */
    uint64_t offset, size;
};

struct blocks {
    struct block *item; /* arena; committed ones in the blob's order, others in that of their ids */
    size_t n;
};

/* In base64; arena. NULL: it is not a valid id. */
const char *block_id_text(struct arena *a, const char *hex);

/* The blocks of the bytes that are there now: somebody else's file has none. */
struct blocks blocks_committed(struct arena *a, const struct share_item *i,
                               const struct file_facts *f);
/* What a row has of them; arena. */
const char *blocks_text(struct arena *a, const struct blocks *b);
/* The blocks that wait: `found` is what is in their folder, `i` the blob's row. */
struct blocks blocks_waiting(struct request *r, const struct file_items *found,
                             const struct share_item *i);

/* Of waiting blocks, which are in the order of their ids. NULL: there is none. */
const struct block *blocks_find(const struct blocks *b, const char *id);
/* Committed blocks by their ids, which are in the blob's order: an array of n pointers; arena. */
const struct block **blocks_sorted(struct arena *a, const struct blocks *b);
const struct block *blocks_find_sorted(const struct block **list, size_t n, const char *id);

#endif
