/* SPDX-License-Identifier: MIT
 *
 * A hash table with chains, and a list of all entries in the order of their last use. The hash
 * function has a random key, so that nobody can choose cache keys that all get into one chain.
 *
 * Invariants: each entry is in the chain of its hash and in the list; `bytes` is the sum over all
 * entries; there are at most as many entries as chains.
 */
#include "lib/cache.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/arena.h"

#define CHAINS_MIN 64

struct cache_entry {
    LIST_ENTRY(cache_entry) chained;
    TAILQ_ENTRY(cache_entry) used;
    uint64_t hash;
    /* n: bytes of the key; bytes: of key, value and what the value has allocated */
    size_t n, bytes;
    void *key; /* stored after the value */
    max_align_t value[];
};

LIST_HEAD(chain, cache_entry);
TAILQ_HEAD(uses, cache_entry);

struct cache {
    const struct cache_kind *kind;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    struct chain *chains;
    size_t n_chains;  /* a power of two */
    struct uses uses; /* the most recently used first */
    size_t entries, bytes;
    uint64_t stamp;
};

/* --- the table ------------------------------------------------------------------------------ */

static uint64_t hash_of(const struct cache *c, const void *key, size_t n)
{
    uint64_t hash;
    static_assert(sizeof hash == crypto_shorthash_BYTES, "a hash is a number");
    crypto_shorthash((unsigned char *)&hash, key, n, c->hash_key);
    return hash;
}

static struct chain *chain_of(const struct cache *c, uint64_t hash)
{
    return &c->chains[hash & (c->n_chains - 1)];
}

static struct cache_entry *look_up(const struct cache *c, uint64_t hash, const void *key, size_t n)
{
    struct cache_entry *x;
    LIST_FOREACH(x, chain_of(c, hash), chained)
    if (x->hash == hash && x->n == n && memcmp(x->key, key, n) == 0)
        return x;
    return NULL;
}

static void grow(struct cache *c)
{
    free(c->chains);
    c->n_chains = c->n_chains ? c->n_chains * 2 : CHAINS_MIN;
    c->chains = xcalloc(c->n_chains, sizeof *c->chains);
    for (struct cache_entry *x = TAILQ_FIRST(&c->uses); x; x = TAILQ_NEXT(x, used))
        LIST_INSERT_HEAD(chain_of(c, x->hash), x, chained);
}

static void drop(struct cache *c, struct cache_entry *x)
{
    LIST_REMOVE(x, chained);
    TAILQ_REMOVE(&c->uses, x, used);
    assert(c->entries > 0 && c->bytes >= x->bytes);
    c->entries--;
    c->bytes -= x->bytes;
    if (c->kind->drop)
        c->kind->drop(x->value);
    free(x);
}

/* --- the cache ------------------------------------------------------------------------------ */

struct cache *cache_new(const struct cache_kind *kind)
{
    struct cache *c = xcalloc(1, sizeof *c);
    c->kind = kind;
    randombytes_buf(c->hash_key, sizeof c->hash_key);
    TAILQ_INIT(&c->uses);
    grow(c);
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    cache_clear(c);
    free(c->chains);
    free(c);
}

void *cache_find(struct cache *c, const void *key, size_t n)
{
    struct cache_entry *x = look_up(c, hash_of(c, key, n), key, n);
    if (!x)
        return NULL;
    TAILQ_REMOVE(&c->uses, x, used);
    TAILQ_INSERT_HEAD(&c->uses, x, used);
    return x->value;
}

static bool is_full(const struct cache *c, size_t more)
{
    return (c->kind->max_entries && c->entries == c->kind->max_entries) ||
           (c->kind->max_bytes && c->bytes + more > c->kind->max_bytes);
}

void *cache_add(struct cache *c, const void *key, size_t n, size_t owned)
{
    size_t inside = c->kind->value_size + n, bytes = sizeof(struct cache_entry) + inside + owned;
    cache_remove(c, key, n);
    if (c->kind->max_bytes && bytes > c->kind->max_bytes / 8)
        return NULL;
    for (struct cache_entry *x = TAILQ_LAST(&c->uses, uses), *newer; x && is_full(c, bytes);
         x = newer) {
        newer = TAILQ_PREV(x, uses, used);
        drop(c, x);
    }
    if (c->entries == c->n_chains)
        grow(c);
    struct cache_entry *x = xcalloc(1, sizeof *x + inside);
    x->hash = hash_of(c, key, n);
    x->n = n;
    x->bytes = bytes;
    x->key = memcpy((char *)x->value + c->kind->value_size, key, n);
    LIST_INSERT_HEAD(chain_of(c, x->hash), x, chained);
    TAILQ_INSERT_HEAD(&c->uses, x, used);
    c->entries++;
    c->bytes += bytes;
    return x->value;
}

void cache_remove(struct cache *c, const void *key, size_t n)
{
    struct cache_entry *x = look_up(c, hash_of(c, key, n), key, n);
    if (x)
        drop(c, x);
}

void cache_drop_if(struct cache *c, bool (*goes)(const void *value, const void *ctx),
                   const void *ctx)
{
    for (struct cache_entry *x = TAILQ_FIRST(&c->uses), *next; x; x = next) {
        next = TAILQ_NEXT(x, used);
        if (goes(x->value, ctx))
            drop(c, x);
    }
}

static bool always(const void *value, const void *ctx)
{
    (void)value;
    (void)ctx;
    return true;
}

void cache_clear(struct cache *c)
{
    cache_drop_if(c, always, NULL);
    assert(c->entries == 0 && c->bytes == 0);
}

void cache_stamp(struct cache *c, uint64_t stamp)
{
    if (c->stamp != stamp)
        cache_clear(c);
    c->stamp = stamp;
}

size_t cache_entries(const struct cache *c)
{
    return c->entries;
}

size_t cache_bytes(const struct cache *c)
{
    return c->bytes;
}
