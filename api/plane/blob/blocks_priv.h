/* SPDX-License-Identifier: MIT
 *
 * Blocks: a client puts a blob block by block, and commits a list of them. An uncommitted block
 * waits as a file in a hidden folder of the account. Committed blocks are parts of the blob's file;
 * the blob's row has the end of each.
 */
#ifndef API_PLANE_BLOB_BLOCKS_PRIV_H
#define API_PLANE_BLOB_BLOCKS_PRIV_H

#include "api/plane/blob/handlers.h"
#include "storage/folders/walk.h"

struct block {
    const char *id; /* the id in hexadecimal digits */
    uint64_t offset, size;
};

struct blocks {
    struct block *item; /* arena; committed blocks in the blob's order, others by id */
    size_t n;
};

/* The id in base64, in the arena; NULL: `hex` is no valid id. */
const char *block_id_text(struct arena *a, const char *hex);

/* The committed blocks of the present file. If a job has written the file, there are none. */
struct blocks blocks_committed(struct arena *a, const struct share_item *i,
                               const struct file_facts *f);
/* The text of the blocks for the blob's row, in the arena. */
const char *blocks_text(struct arena *a, const struct blocks *b);
/* The waiting blocks: `found` lists their folder, `i` is the blob's row. */
struct blocks blocks_waiting(struct request *r, const struct file_items *found,
                             const struct share_item *i);

/* Finds a waiting block by its id (waiting blocks are sorted by id). NULL: there is none. */
const struct block *blocks_find(const struct blocks *b, const char *id);
/* Sorts committed blocks by id; `b` has them in the order of the blob. Returns an array of n
 * pointers, in the arena. */
const struct block **blocks_sorted(struct arena *a, const struct blocks *b);
const struct block *blocks_find_sorted(const struct block **list, size_t n, const char *id);

#endif
