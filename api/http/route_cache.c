/* SPDX-License-Identifier: MIT
 *
 * Cached routes by the text of their requests: path, host and parameters as sent. A cached route is
 * freed when neither the cache nor a request uses it (refs).
 */
#include "api/http/route_cache.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/http_priv.h"
#include "api/http/service.h"
#include "lib/cache.h"

#define ROUTES   1024
#define TEXT_MAX 1536 /* bytes of path, host and query; longer ones are rare */

struct cached_route {
    int refs; /* of the cache, and of each request that uses it */
    struct arena arena;
    const char *label; /* the account in the host; NULL: none */
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

void cached_route_release(struct cached_route *c)
{
    assert(!c || c->refs > 0);
    if (!c || --c->refs > 0)
        return;
    arena_free(&c->arena);
    free(c);
}

static void drop(void *value)
{
    cached_route_release(*(struct cached_route **)value);
}

const struct cache_kind route_cache_kind = {sizeof(struct cached_route *), .max_entries = ROUTES,
                                            .drop = drop};

static bool is_kept_kind(const struct request *r)
{
    return r->api->routes && r->conn && !r->inner && !r->door->service &&
           strcmp(r->method, MHD_HTTP_METHOD_GET) == 0;
}

/* --- the text of a request -------------------------------------------------------------------- */

/* The text contains path, host and parameters as sent, each after its kind and length. */
enum key_part { PART_PATH, PART_HOST, PART_NAME, PART_VALUE };

struct text {
    size_t n;
    bool fits;
    char s[TEXT_MAX];
};

static void add(struct text *t, enum key_part part, const char *s, size_t n)
{
    const uint16_t head[] = {(uint16_t)part, (uint16_t)n};
    t->fits = t->fits && n <= TEXT_MAX && sizeof head + n <= TEXT_MAX - t->n;
    if (!t->fits)
        return;
    memcpy(t->s + t->n, head, sizeof head);
    memcpy(t->s + t->n + sizeof head, s, n);
    t->n += sizeof head + n;
}

static enum MHD_Result add_parameter(void *ctx, enum MHD_ValueKind kind, const char *key,
                                     size_t key_size, const char *value, size_t value_size)
{
    struct text *t = ctx;
    (void)kind;
    add(t, PART_NAME, key, key_size);
    if (value)
        add(t, PART_VALUE, value, value_size);
    return t->fits ? MHD_YES : MHD_NO;
}

/* True: *t is the request's text; false: the text is too long for the cache. */
static bool text_of(const struct request *r, struct text *t)
{
    t->n = 0;
    t->fits = true;
    add(t, PART_PATH, r->path, strlen(r->path));
    add(t, PART_HOST, r->host, strlen(r->host));
    if (t->fits)
        MHD_get_connection_values_n(r->conn, MHD_GET_ARGUMENT_KIND, add_parameter, t);
    return t->fits;
}

/* --- finding and adding ----------------------------------------------------------------------- */

static void hold(struct request *r, struct cached_route *c)
{
    assert(!r->cached);
    c->refs++;
    r->cached = c;
}

bool route_cache_find(struct request *r)
{
    struct text t;
    if (!is_kept_kind(r) || !text_of(r, &t))
        return false;
    struct cached_route **found = cache_find(r->api->routes, t.s, t.n);
    if (!found)
        return false;
    struct cached_route *c = *found;
    r->service = c->service;
    r->route = c->route;
    r->deps = c->deps;
    r->label = c->label;
    r->version = c->version;
    r->version_name = c->version_name;
    memcpy(r->segment, c->segment, (size_t)c->n_segments * sizeof *c->segment);
    memcpy(r->segment_len, c->segment_len, (size_t)c->n_segments * sizeof *c->segment_len);
    r->n_segments = c->n_segments;
    hold(r, c);
    return true;
}

static struct cached_route *copy(const struct request *r)
{
    struct cached_route *c = xcalloc(1, sizeof *c);
    arena_init(&c->arena);
    c->refs = 1;
    c->label = arena_strdup(&c->arena, r->label);
    c->service = r->service;
    c->route = r->route;
    c->deps = r->deps;
    c->version = r->version;
    c->version_name = arena_strdup(&c->arena, r->version_name);
    c->n_segments = r->n_segments;
    for (int i = 0; i < r->n_segments; i++) {
        c->segment[i] = arena_strndup(&c->arena, r->segment[i], r->segment_len[i]);
        c->segment_len[i] = r->segment_len[i];
    }
    return c;
}

void route_cache_add(struct request *r)
{
    struct text t;
    if (r->cached || r->rest || !is_kept_kind(r) || r->service->versions != VERSIONS_LISTED ||
        !text_of(r, &t))
        return;
    struct cached_route **kept = cache_add(r->api->routes, t.s, t.n, 0);
    *kept = copy(r);
    hold(r, *kept);
}

int64_t *request_note(struct request *r)
{
    return r->cached ? &r->cached->note : NULL;
}
