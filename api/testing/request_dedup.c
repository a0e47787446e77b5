/* SPDX-License-Identifier: MIT
 *
 * Stores only once the texts that many requests of the log share. Most requests of a client differ
 * only in their paths, and a shared access signature is longer than the rest of its request.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/log.h"
#include "lib/arena.h"
#include "lib/hash.h"
#include "lib/strbuf.h"

#define CHAINS 256

struct noted_request {
    struct seen_kind kind; /* its texts are in `key` */
    struct noted_request *next;
    uint64_t hash;
    size_t references, len;
    char key[];
};

struct seen_kinds {
    struct noted_request *chain[CHAINS];
    struct strbuf key; /* temporary: the key of the kind that is looked for */
};

struct seen_kinds *seen_kinds_create(void)
{
    return xcalloc(1, sizeof(struct seen_kinds));
}

void seen_kinds_free(struct seen_kinds *all)
{
    for (size_t i = 0; all && i < CHAINS; i++)
        assert(!all->chain[i]);
    if (all)
        strbuf_free(&all->key);
    free(all);
}

/* Writes the key of a kind: each text with a mark before it (whether it is NULL) and its final
 * NUL. */
static void write_key(const struct seen_kind *k, struct strbuf *key)
{
    const char *const texts[] = {k->method,       k->operation, k->service,
                                 k->subscription, k->by,        k->query};
    strbuf_reset(key);
    strbuf_add(key, &k->fault, sizeof k->fault);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i]) {
            strbuf_putc(key, '+');
            strbuf_add(key, texts[i], strlen(texts[i]) + 1);
        } else {
            strbuf_putc(key, '-');
        }
}

/* Reads the text of a key at *at, and advances *at past it. */
static const char *read_text(const char **at)
{
    const char *text = *at + 1;
    bool is_there = **at == '+';
    *at = is_there ? text + strlen(text) + 1 : text;
    return is_there ? text : NULL;
}

static struct noted_request *make(const struct strbuf *key, uint64_t hash)
{
    struct noted_request *e = xcalloc(1, sizeof *e + key->len);
    const char *at = e->key + sizeof e->kind.fault;
    memcpy(e->key, key->s, key->len);
    memcpy(&e->kind.fault, e->key, sizeof e->kind.fault);
    e->hash = hash;
    e->len = key->len;
    e->kind.method = read_text(&at);
    e->kind.operation = read_text(&at);
    e->kind.service = read_text(&at);
    e->kind.subscription = read_text(&at);
    e->kind.by = read_text(&at);
    e->kind.query = read_text(&at);
    return e;
}

const struct seen_kind *seen_kind_take(struct seen_kinds *all, const struct seen_kind *like)
{
    write_key(like, &all->key);
    uint64_t hash = text_hash(all->key.s, all->key.len);
    struct noted_request **chain = &all->chain[hash % CHAINS], *e = *chain;
    while (e &&
           (e->hash != hash || e->len != all->key.len || memcmp(e->key, all->key.s, e->len) != 0))
        e = e->next;
    if (!e) {
        e = make(&all->key, hash);
        e->next = *chain;
        *chain = e;
    }
    e->references++;
    return &e->kind;
}

/* The entry of a kind. A kind is the first member of its entry, so both have one address. */
static struct noted_request *entry_of(const struct seen_kind *kind)
{
    return (struct noted_request *)(uintptr_t)kind;
}

void seen_kind_release(struct seen_kinds *all, const struct seen_kind *kind)
{
    struct noted_request *e = entry_of(kind), **at = &all->chain[e->hash % CHAINS];
    assert(e->references > 0);
    if (--e->references > 0)
        return;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    free(e);
}

size_t seen_kind_bytes(const struct seen_kind *kind)
{
    return sizeof(struct noted_request) + entry_of(kind)->len;
}
