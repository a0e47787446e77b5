/* SPDX-License-Identifier: MIT */
#include "api/http/ways.h"

#include <assert.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/http_priv.h"
#include "api/http/service.h"

#define SLOTS          1024 /* a power of two; each way can be in one slot only */
#define QUERY_MAX      4    /* parameters; requests with more are rare */
#define TEXT_BYTES_MAX 1024 /* of path and query */

struct parameter {
    const char *key, *value; /* as sent; value NULL: without one */
};

struct way {
    int refs; /* one reference of the table, and one of each request that uses it */
    struct arena arena;
    const char *path, *host; /* as sent; host "": none */
    const char *label;       /* of the host; NULL: it names no account */
    struct parameter query[QUERY_MAX];
    int n_query;
    const struct service *service;
    const struct route *route;
    const void *deps;
    unsigned version;
    const char *version_name;
    const char *segment[REQUEST_SEGMENTS_MAX];
    size_t segment_len[REQUEST_SEGMENTS_MAX];
    int n_segments;
    int64_t note;
};

struct ways {
    unsigned char key[crypto_shorthash_KEYBYTES]; /* a random key, so that nobody can choose paths
                                                     of the same slot */
    struct way *slot[SLOTS];
};

struct ways *ways_create(void)
{
    struct ways *all = xcalloc(1, sizeof *all);
    randombytes_buf(all->key, sizeof all->key);
    return all;
}

void way_release(struct way *w)
{
    assert(!w || w->refs > 0);
    if (!w || --w->refs > 0)
        return;
    arena_free(&w->arena);
    free(w);
}

void ways_destroy(struct ways *all)
{
    for (size_t i = 0; all && i < SLOTS; i++)
        way_release(all->slot[i]);
    free(all);
}

static struct way **slot_of(struct ways *all, const char *path)
{
    uint64_t hash;
    unsigned char bytes[crypto_shorthash_BYTES];
    crypto_shorthash(bytes, (const unsigned char *)path, strlen(path), all->key);
    memcpy(&hash, bytes, sizeof hash);
    return &all->slot[hash & (SLOTS - 1)];
}

static bool is_kept_kind(const struct request *r)
{
    return r->api->ways && r->conn && !r->inner && !r->door->service &&
           strcmp(r->method, MHD_HTTP_METHOD_GET) == 0;
}

/* --- the query ------------------------------------------------------------------------------ */

struct comparison {
    const struct way *way;
    int n;
    bool same;
};

static bool same_text(const char *a, const char *s, size_t n)
{
    return a && s ? strlen(a) == n && memcmp(a, s, n) == 0 : a == s;
}

static enum MHD_Result compare(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_size,
                               const char *value, size_t value_size)
{
    (void)kind;
    struct comparison *c = ctx;
    const struct parameter *p = &c->way->query[c->n];
    c->same = c->n++ < c->way->n_query && same_text(p->key, key, key_size) &&
              same_text(p->value, value, value_size);
    return c->same ? MHD_YES : MHD_NO;
}

static bool same_query(const struct request *r, const struct way *w)
{
    struct comparison c = {w, 0, true};
    MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, compare, &c);
    return c.same && c.n == w->n_query;
}

struct collection {
    struct way *way;
    size_t bytes;
    bool fits;
};

static enum MHD_Result collect(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_size,
                               const char *value, size_t value_size)
{
    (void)kind;
    struct collection *c = ctx;
    struct way *w = c->way;
    c->bytes += key_size + value_size;
    c->fits = w->n_query < QUERY_MAX && c->bytes <= TEXT_BYTES_MAX;
    if (!c->fits)
        return MHD_NO;
    w->query[w->n_query++] =
        (struct parameter){arena_strndup(&w->arena, key, key_size),
                           value ? arena_strndup(&w->arena, value, value_size) : NULL};
    return MHD_YES;
}

/* --- taking and keeping --------------------------------------------------------------------- */

static void hold(struct request *r, struct way *w)
{
    assert(!r->way);
    w->refs++;
    r->way = w;
}

bool ways_take(struct request *r)
{
    if (!is_kept_kind(r))
        return false;
    struct way *w = *slot_of(r->api->ways, r->path);
    if (!w || strcmp(w->path, r->path) != 0 || strcmp(w->host, r->host) != 0 || !same_query(r, w))
        return false;
    r->service = w->service;
    r->route = w->route;
    r->deps = w->deps;
    r->label = w->label;
    r->version = w->version;
    r->version_name = w->version_name;
    memcpy(r->segment, w->segment, (size_t)w->n_segments * sizeof *w->segment);
    memcpy(r->segment_len, w->segment_len, (size_t)w->n_segments * sizeof *w->segment_len);
    r->n_segments = w->n_segments;
    hold(r, w);
    return true;
}

static struct way *copy(struct request *r)
{
    struct way *w = xcalloc(1, sizeof *w);
    arena_init(&w->arena);
    w->refs = 1;
    struct collection c = {w, strlen(r->path), true};
    MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, collect, &c);
    if (!c.fits || c.bytes > TEXT_BYTES_MAX) {
        way_release(w);
        return NULL;
    }
    w->path = arena_strdup(&w->arena, r->path);
    w->host = arena_strdup(&w->arena, r->host);
    w->label = arena_strdup(&w->arena, r->label);
    w->service = r->service;
    w->route = r->route;
    w->deps = r->deps;
    w->version = r->version;
    w->version_name = arena_strdup(&w->arena, r->version_name);
    w->n_segments = r->n_segments;
    for (int i = 0; i < r->n_segments; i++) {
        w->segment[i] = arena_strndup(&w->arena, r->segment[i], r->segment_len[i]);
        w->segment_len[i] = r->segment_len[i];
    }
    return w;
}

void ways_keep(struct request *r)
{
    if (r->way || r->rest || !is_kept_kind(r) || r->service->versions != VERSIONS_LISTED)
        return;
    struct way *w = copy(r);
    if (!w)
        return;
    struct way **slot = slot_of(r->api->ways, r->path);
    way_release(*slot);
    *slot = w;
    hold(r, w);
}

int64_t *request_note(struct request *r)
{
    return r->way ? &r->way->note : NULL;
}
