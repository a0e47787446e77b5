/* SPDX-License-Identifier: MIT
 *
 * The beginning and the end of a request. Finished structs are kept for later requests, with one
 * block of their arena, because the allocator would merge and split these large pieces each time.
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/http_priv.h"
#include "api/http/route_cache.h"
#include "api/http/xml.h"
#include "lib/hash.h"

#define SPARE_MAX   32
#define OWNED_FIRST 8

/* An object that is freed with the request. */
struct owned {
    void *thing;
    void (*free)(void *thing);
};

void request_own_thing(struct request *r, void *thing, void (*free_it)(void *thing))
{
    if (r->n_owned == r->owned_room) {
        r->owned_room = r->owned_room ? 2 * r->owned_room : OWNED_FIRST;
        r->owned = xrealloc(r->owned, r->owned_room * sizeof *r->owned);
    }
    r->owned[r->n_owned++] = (struct owned){thing, free_it};
}

static void free_json(void *value)
{
    json_decref(value);
}

static void wipe_text(void *text)
{
    explicit_bzero(text, strlen(text));
    free(text);
}

json_t *request_own(struct request *r, json_t *value)
{
    if (value)
        request_own_thing(r, value, free_json);
    return value;
}

char *request_own_text(struct request *r, char *text)
{
    if (text)
        request_own_thing(r, text, free);
    return text;
}

char *request_own_secret(struct request *r, char *text)
{
    if (text)
        request_own_thing(r, text, wipe_text);
    return text;
}

void request_free_owned(struct request *r)
{
    while (r->n_owned > 0) {
        const struct owned *last = &r->owned[--r->n_owned];
        last->free(last->thing);
    }
    free(r->owned);
}

static struct request *take_spare(struct api *api)
{
    struct request *r = api->spare;
    if (!r)
        return xcalloc(1, sizeof *r);
    api->spare = r->next_spare;
    api->n_spare--;
    *r = (struct request){.arena = r->arena};
    return r;
}

struct request *request_create(struct engine *l, struct MHD_Connection *conn, const char *method,
                               const char *url)
{
    struct api *api = l->api;
    struct request *r = take_spare(api);
    r->api = api;
    r->config = &api->config;
    r->engine = l;
    r->conn = conn;
    r->host = "";
    r->method = arena_strdup(&r->arena, method);
    r->target = r->path = arena_strdup(&r->arena, url);
    r->now_us = clock_now(&r->config->clock);
    guid_next(&api->guids, r->request_id);
    guid_next(&api->guids, r->correlation_id);
    api->under_way++;
    api->counters.requests++;
    return r;
}

void request_destroy(struct request *r)
{
    if (!r)
        return;
    struct api *api = r->api;
    assert(api->under_way > 0 && !r->starved);
    api->under_way--;
    work_close(&r->work);
    if (r->response)
        MHD_destroy_response(r->response);
    body_release(r); /* a sink may point into the kept memory */
    request_release(r);
    request_free_owned(r);
    assert(r->held == 0 && !r->release);
    xml_end(r->xml_reading);
    cached_route_release(r->cached);
    if (api->n_spare == SPARE_MAX) {
        arena_free(&r->arena);
        free(r);
        return;
    }
    arena_reset(&r->arena);
    r->next_spare = api->spare;
    api->spare = r;
    api->n_spare++;
}

void request_log(const struct request *r)
{
    LOG_DEBUG(r->config->log, "request.done", LF_STR("method", r->method),
              LF_STR("path", r->target),
              LF_STR("operation", r->route ? r->route->operation_id : NULL),
              LF_STR("version", r->version_name), LF_INT("status", r->status),
              LF_INT("us", clock_now(&r->config->clock) - r->now_us),
              LF_STR("by", r->who ? r->who->name : NULL), LF_STR("req", r->correlation_id));
}

const struct work_item *request_enter(struct request *r)
{
    /* `who` is set after the head was read. Without a principal, the account stands for everybody
     * who has its key. */
    r->work.kind = "request";
    r->work.who = r->who ? r->who->name : r->label;
    r->work.verb = r->method;
    r->work.what = r->target;
    return work_enter(&r->work);
}

void request_judge(struct request *r)
{
    struct err e;
    r->work.who = r->who ? r->who->name : r->label;
    r->work.body = r->raw.len > 0 ? text_hash(r->raw.s, r->raw.len) : 0;
    if (work_may_begin(&r->work, &e) < 0)
        r->early = e;
}

bool request_is_hurried(const struct request *r)
{
    return r->api->stopping;
}

/* Does not wait for the disk: only the outer request's reply does. */
void request_inner_finished(struct request *r)
{
    r->finished = true;
    r->inner->done(r->inner->ctx, r);
}

void requests_free_spare(struct api *api)
{
    for (struct request *r; (r = api->spare);) {
        api->spare = r->next_spare;
        arena_free(&r->arena);
        free(r);
    }
    api->n_spare = 0;
}
