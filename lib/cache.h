/* SPDX-License-Identifier: MIT
 *
 * What was found lately, by a key of bytes. A cache is bounded by the number and the bytes of its
 * entries; a new entry takes the place of those that were used least lately. An entry is a value of
 * the kind's size, which the cache owns, and what the value owns, which `drop` frees.
 *
 * A cache never knows whether a value is out of date. Its owner says so: for one key
 * (cache_remove()), for some values (cache_drop_if()), or for all (cache_clear(), cache_stamp()).
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
    size_t max_bytes;   /* 0: any; of values, keys and what values own */
    void (*drop)(void *value);
};

/* Borrows `kind`. */
struct cache *cache_new(const struct cache_kind *kind);
void cache_free(struct cache *c); /* NULL: nothing */

/* NULL: not there. The value stays where it is until it is dropped, by any cache_add() at the
 * earliest. */
void *cache_find(struct cache *c, const void *key, size_t n);
/* A value of zeros, in the place of the one with this key, if there is one. `owned`: the bytes that
 * the value will own. NULL: that is more than an eighth of the cache, which is not worth dropping
 * many others. */
void *cache_add(struct cache *c, const void *key, size_t n, size_t owned);
void cache_remove(struct cache *c, const void *key, size_t n);
void cache_drop_if(struct cache *c, bool (*goes)(const void *value, const void *ctx),
                   const void *ctx);
void cache_clear(struct cache *c);
/* Clears the cache if `stamp` is not that of the last call. */
void cache_stamp(struct cache *c, uint64_t stamp);

size_t cache_entries(const struct cache *c);
size_t cache_bytes(const struct cache *c);

#endif
