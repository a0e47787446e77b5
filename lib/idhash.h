/* SPDX-License-Identifier: MIT
 *
 * A hash table from row id to a number: open addressing, linear probing. Ids are not 0.
 */
#ifndef LIB_IDHASH_H
#define LIB_IDHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_hash_cell {
    int64_t id; /* 0: free */
    size_t value;
};

struct id_hash {
    struct id_hash_cell *cells;
    size_t n, cap; /* cap: a power of two, or 0 */
};

/* NULL: not there. Valid until the table changes. */
size_t *id_hash_find(const struct id_hash *h, int64_t id);
/* Adds or replaces; true if it was not there. */
bool id_hash_put(struct id_hash *h, int64_t id, size_t value);
bool id_hash_remove(struct id_hash *h, int64_t id); /* true if it was there */
void id_hash_free(struct id_hash *h);

#endif
