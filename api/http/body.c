/* SPDX-License-Identifier: MIT
 *
 * State: the received bytes of the body, counted against the bounds of the server, or the sink of a
 * stream. Invariant: the counted bytes are subtracted when the request is over. The request owns
 * them. On the loop's thread.
 */
#include "api/http/body.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/connections.h"
#include "api/http/content.h"
#include "api/http/http_priv.h"

/* --- bodies that are kept ------------------------------------------------------------------- */

/* Whether anybody may send the request without a token. */
static bool is_open(const struct request *r)
{
    return !r->service->may || (r->route->flags & ROUTE_OPEN);
}

static void charge(struct request *r, size_t held)
{
    struct api *api = r->api;
    assert(api->held >= r->held && (!is_open(r) || api->held_open >= r->held));
    api->held = api->held - r->held + held;
    if (is_open(r))
        api->held_open = api->held_open - r->held + held;
    r->held = held;
}

void body_release(struct request *r)
{
    if (r->held > 0)
        charge(r, 0);
    strbuf_free(&r->raw);
    r->raw = (struct strbuf)STRBUF_INIT;
    if (r->sink)
        r->sink->release(r->sink->ctx);
    r->sink = NULL;
}

static size_t longest(const struct request *r)
{
    size_t kib = r->route->flags >> ROUTE_BODY_SHIFT;
    return kib > 0 ? kib * 1024 : r->service->body_max;
}

static void refuse(struct request *r)
{
    body_release(r);
    r->hang_up = r->hang_up || r->discarded > BODY_DISCARD_MAX;
}

static void too_large(struct request *r)
{
    err_set(&r->early, ERR_BODY_TOO_LARGE, NULL,
            "The request body is larger than %zu bytes, which is the limit.", longest(r));
    refuse(r);
}

static bool is_crowded(const struct request *r, size_t n)
{
    const struct api *api = r->api;
    return api->held + n > BODIES_MAX || (is_open(r) && api->held_open + n > BODIES_OPEN_MAX);
}

static int too_many(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, NULL,
                   "Too many large requests are being served at the moment. Try again.");
}

int body_reserve(struct request *r, size_t n, struct err *e)
{
    if (n > longest(r))
        return err_set(e, ERR_BODY_TOO_LARGE, NULL,
                       "The request asks for %zu bytes; the limit is %zu.", n, longest(r));
    if (is_crowded(r, n))
        return too_many(e);
    charge(r, r->held + n);
    return 0;
}

static void keep(struct request *r, const char *data, size_t n)
{
    assert(r->raw.len <= longest(r));
    if (n > longest(r) - r->raw.len) {
        too_large(r);
        return;
    }
    if (is_crowded(r, n)) {
        (void)!too_many(&r->early);
        refuse(r);
        return;
    }
    strbuf_add(&r->raw, data, n);
    charge(r, r->raw.cap);
}

/* --- heads ---------------------------------------------------------------------------------- */

/* Counts n more bytes for the body's speed. Not while a stream's handler reads: it may let the
 * client wait. */
static void note(const struct request *r, size_t n)
{
    bool wanted = !r->early.code && !r->answered;
    if (!wanted || !(r->route->flags & ROUTE_STREAM))
        connection_reads(r->connection, n, wanted);
}

void body_begin(struct request *r)
{
    const char *length = request_header(r, "Content-Length");
    unsigned long long n = length ? strtoull(length, NULL, 10) : 0;
    if (!r->early.code && (r->route->flags & ROUTE_KEPT) && n > longest(r))
        too_large(r);
    /* A client that waits with its body (Expect), or whose body is longer than BODY_DISCARD_MAX,
     * gets the error now; other clients get it after their body. */
    if (r->early.code && (n > BODY_DISCARD_MAX || request_header(r, "Expect")))
        r->hang_up = true;
    if (!r->hang_up && request_has_body(r))
        note(r, 0);
}

/* --- bodies that stream --------------------------------------------------------------------- */

struct replied *request_stream(struct request *r, const struct body_sink *sink)
{
    assert((r->route->flags & ROUTE_STREAM) && !r->sink);
    struct body_sink *own = arena_alloc(&r->arena, sizeof *own);
    *own = *sink;
    r->sink = own;
    return reply_later(r);
}

static void starve(struct request *r)
{
    assert(!r->starved && !r->finished);
    r->starved = true;
    r->next_starved = r->api->starved;
    r->api->starved = r;
    r->api->suspended++;
    MHD_suspend_connection(r->conn);
}

void body_more(struct request *r)
{
    if (!r->starved)
        return;
    r->starved = false;
    struct request **p = &r->api->starved;
    while (*p != r) {
        assert(*p); /* a starved request is in the list */
        p = &(*p)->next_starved;
    }
    *p = r->next_starved;
    r->api->suspended--;
    r->engine->dirty = true;
    MHD_resume_connection(r->conn);
}

void body_hurry(struct api *api)
{
    while (api->starved) {
        struct request *r = api->starved;
        r->hang_up = true;
        body_more(r);
    }
}

/* --- pieces --------------------------------------------------------------------------------- */

int body_take(struct request *r, const char *data, size_t *size)
{
    size_t n = *size;
    r->api->counters.body_bytes += n;
    if (r->sink && r->hang_up)
        return -1;
    if (r->sink && !r->answered) {
        size_t took = r->sink->take(r->sink->ctx, data, n);
        assert(took <= n);
        *size = n - took;
        r->api->counters.body_bytes -= *size; /* libmicrohttpd delivers these bytes again */
        if (*size > 0 && !r->answered)
            starve(r);
        return 0;
    }
    *size = 0;
    if (!r->early.code && (r->route->flags & ROUTE_KEPT)) {
        keep(r, data, n);
        note(r, n);
        return 0;
    }
    note(r, n);
    r->discarded += n;
    return r->discarded > BODY_DISCARD_MAX ? -1 : 0;
}
