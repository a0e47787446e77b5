/* SPDX-License-Identifier: MIT
 *
 * Recently found values, by a key of bytes. A cache is bounded by the number and the bytes of its
 * entries; a new entry replaces the least recently used ones. An entry is a value of the kind's
 * size. The cache owns it, with the value's own allocations: `drop` frees those. A cache never
 * knows whether a value is stale. Its owner drops values: one key (cache_remove()), some values
 * (cache_drop_if()), or all (cache_clear(), cache_stamp()).
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

/* NULL: not found. The value stays valid until it is dropped, by any cache_add() at the
 * earliest. */
void *cache_find(struct cache *c, const void *key, size_t n);
/* Adds a zeroed value, replacing the value with this key, if there is one. `owned`: the bytes that
 * the value will own. NULL: the value needs more than an eighth of the cache; too many others would
 * be dropped for it. */
void *cache_add(struct cache *c, const void *key, size_t n, size_t owned);
void cache_remove(struct cache *c, const void *key, size_t n);
void cache_drop_if(struct cache *c, bool (*goes)(const void *value, const void *ctx),
                   const void *ctx);
void cache_clear(struct cache *c);
/* Clears the cache if `stamp` differs from the last call's. */
void cache_stamp(struct cache *c, uint64_t stamp);

size_t cache_entries(const struct cache *c);
size_t cache_bytes(const struct cache *c);

#endif
