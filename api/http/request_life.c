/* SPDX-License-Identifier: MIT
 *
 * The beginning and the end of a request. Finished requests are kept, with one block of their
 * arena, for later ones, because the allocator would merge and split these large pieces each time.
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>

#include "api/http/http_priv.h"
#include "api/http/ways.h"
#include "api/http/xml.h"

#define SPARE_MAX 32

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
    if (r->response)
        MHD_destroy_response(r->response);
    json_decref(r->body);
    body_release(r); /* a sink may point into the kept memory */
    request_release(r);
    assert(r->held == 0 && !r->release);
    xml_end(r->xml_reading);
    way_release(r->way);
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

/* The outer's reply is what waits for the disk. */
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
