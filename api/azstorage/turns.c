/* SPDX-License-Identifier: MIT */
#include "api/azstorage/turns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

#define BUCKETS 256

/* A file or blob that somebody changes. */
struct holder {
    struct holder *next;       /* in its bucket */
    struct turn *has;          /* whose turn it is */
    struct turn *first, **end; /* who waits */
};

struct turns {
    struct holder *bucket[BUCKETS];
};

struct turns *turns_create(void)
{
    return xcalloc(1, sizeof(struct turns));
}

void turns_free(struct turns *t)
{
    for (int i = 0; t && i < BUCKETS; i++)
        assert(!t->bucket[i]);
    free(t);
}

static struct holder **find(struct turns *t, const struct turn *w)
{
    uint32_t h = 2166136261u ^ (uint32_t)w->share_id; /* FNV-1a hash */
    for (const char *p = w->path; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    struct holder **at = &t->bucket[h % BUCKETS];
    while (*at && ((*at)->has->share_id != w->share_id || strcmp((*at)->has->path, w->path) != 0))
        at = &(*at)->next;
    return at;
}

void turn_want(struct turns *t, struct turn *w)
{
    struct holder **at = find(t, w), *h = *at;
    w->next = NULL;
    if (h) {
        *h->end = w;
        h->end = &w->next;
        return;
    }
    *at = h = xcalloc(1, sizeof *h);
    h->has = w;
    h->end = &h->first;
    w->go(w->ctx);
}

void turn_end(struct turns *t, struct turn *w)
{
    struct holder **at = find(t, w), *h = *at;
    assert(h && h->has == w);
    struct turn *next = h->first;
    if (!next) {
        *at = h->next;
        free(h);
        return;
    }
    h->has = next;
    h->first = next->next;
    if (!h->first)
        h->end = &h->first;
    next->go(next->ctx);
}
