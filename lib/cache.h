/* SPDX-License-Identifier: MIT
 *
 * Keeps recently found values; a key is a string of bytes. The number of entries and their bytes
 * are limited; a new entry replaces the least recently used ones. Each value has the size that its
 * kind defines. The cache owns the values and what they have allocated, which `drop` frees. A cache
 * cannot find out whether a value is stale. Its owner removes values: of one key (cache_remove()),
 * some (cache_drop_if()), or all (cache_clear(), cache_stamp()).
 */
#ifndef LIB_CACHE_H
#define LIB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache;

struct cache_kind {
    size_t value_size;
    size_t max_entries; /* 0: any number */
    size_t max_bytes;   /* bytes of values, keys and the values' own allocations; 0: unlimited */
    void (*drop)(void *value);
};

/* Borrows `kind`. */
struct cache *cache_new(const struct cache_kind *kind);
void cache_free(struct cache *c); /* NULL: nothing */

/* NULL: not found. The value is valid until it is dropped; each cache_add() may drop it. */
void *cache_find(struct cache *c, const void *key, size_t n);
/* Adds a zeroed value; it replaces the value of this key, if there is one. `owned`: how many bytes
 * the value will allocate. NULL: the value would need more than an eighth of the cache, and so
 * would replace too many others. */
void *cache_add(struct cache *c, const void *key, size_t n, size_t owned);
void cache_remove(struct cache *c, const void *key, size_t n);
void cache_drop_if(struct cache *c, bool (*goes)(const void *value, const void *ctx),
                   const void *ctx);
void cache_clear(struct cache *c);
/* Clears the cache if `stamp` is not the one of the last call. */
void cache_stamp(struct cache *c, uint64_t stamp);

size_t cache_entries(const struct cache *c);
size_t cache_bytes(const struct cache *c);

#endif
