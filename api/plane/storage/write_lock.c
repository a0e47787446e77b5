/* SPDX-License-Identifier: MIT
 *
 * A table of buckets by share and path. An entry exists while a request holds the turn of a path,
 * and contains the queue of waiting requests; turn_end() gives the turn to the first of them. This
 * file owns the entries; requests own their struct turn. On the loop's thread.
 *
 * A request may fail, and end its turn, as soon as it gets the turn, and so may all that wait
 * behind it. Therefore only the outermost turn_end() starts requests, one after the other.
 */
#include "api/plane/storage/write_lock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/storage/azstorage.h"
#include "lib/arena.h"
#include "lib/hash.h"

#define BUCKETS 4096

/* A file or blob that a request changes. */
struct holder {
    struct holder *next;       /* next entry of its bucket */
    struct turn *has;          /* the request that holds the turn */
    struct turn *first, **end; /* the waiting requests */
};

struct write_turns {
    struct holder *bucket[BUCKETS];
    uint64_t ended[BUCKETS]; /* for each bucket, the value of `now` when its last turn ended */
    uint64_t now;            /* number of turns that have ended */
    struct turn *ready;      /* have got the turn, and are to be started */
    struct turn **ready_end; /* NULL: no turn_end() is starting requests */
};

struct write_turns *turns_create(void)
{
    return xcalloc(1, sizeof(struct write_turns));
}

void turns_free(struct write_turns *t)
{
    for (int i = 0; t && i < BUCKETS; i++)
        assert(!t->bucket[i]);
    free(t);
}

static size_t bucket_of(int64_t share_id, const char *path)
{
    return (text_hash(path, strlen(path)) ^ (uint64_t)share_id) % BUCKETS;
}

static struct holder **find(struct write_turns *t, int64_t share_id, const char *path)
{
    struct holder **at = &t->bucket[bucket_of(share_id, path)];
    while (*at && ((*at)->has->share_id != share_id || strcmp((*at)->has->path, path) != 0))
        at = &(*at)->next;
    return at;
}

void turn_want(struct write_turns *t, struct turn *w)
{
    struct holder **at = find(t, w->share_id, w->path), *h = *at;
    w->next = NULL;
    if (h) {
        *h->end = w;
        h->end = &w->next;
        return;
    }
    *at = h = xcalloc(1, sizeof *h);
    h->has = w;
    h->end = &h->first;
    w->is_held = true;
    w->go(w->ctx);
}

static void start_ready(struct write_turns *t)
{
    while (t->ready) {
        struct turn *w = t->ready;
        t->ready = w->next;
        if (!t->ready)
            t->ready_end = &t->ready;
        w->go(w->ctx);
    }
}

/* Starts the request, if no other call is starting requests; that call will start it, too. */
static void start(struct write_turns *t, struct turn *w)
{
    bool is_outermost = !t->ready_end;
    if (is_outermost)
        t->ready_end = &t->ready;
    w->next = NULL;
    *t->ready_end = w;
    t->ready_end = &w->next;
    if (is_outermost) {
        start_ready(t);
        t->ready_end = NULL;
    }
}

void turn_end(struct write_turns *t, struct turn *w)
{
    if (!w->is_held)
        return;
    w->is_held = false;
    struct holder **at = find(t, w->share_id, w->path), *h = *at;
    assert(h && h->has == w);
    t->ended[bucket_of(w->share_id, w->path)] = ++t->now;
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
    next->is_held = true;
    start(t, next);
}

void turn_finish(struct request *r, struct replied *done, struct turn *w)
{
    request_finish(r, done);
    turn_end(azstorage_of(r)->turns, w);
}

uint64_t turns_now(const struct write_turns *t)
{
    return t->now;
}

bool turn_was_had(struct write_turns *t, int64_t share_id, const char *path, uint64_t since)
{
    return t->ended[bucket_of(share_id, path)] > since || *find(t, share_id, path);
}
