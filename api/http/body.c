/* SPDX-License-Identifier: MIT
 *
 * State: the received bytes of a body, which count for the limits of the server and of the sender;
 * or the sink of a streamed body. Invariant: at the end of the request its bytes are subtracted
 * from the counts. The request owns its bytes. A sender is in the list while bytes of its requests
 * are counted. Called only on the loop's thread.
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

/* The bodies of one sender are counted together. A sender is a principal, an account (by its key),
 * or a client's address: once for requests with another key, and once for those of anybody. */
struct body_sender {
    struct body_sender *next;
    char *name;
    size_t held;
    int requests;
};

static const char *sender_name(struct request *r)
{
    char address[CONNECTION_ADDRESS_SIZE];
    if (!is_open(r) && r->who)
        return arena_concat(&r->arena, "principal ", r->who->object_id);
    if (!is_open(r) && r->label)
        return arena_concat(&r->arena, "account ", r->label);
    connection_address(r->connection, address);
    return arena_concat(&r->arena, is_open(r) ? "address " : "key of address ", address);
}

static struct body_sender *sender_of(struct request *r)
{
    if (r->sender)
        return r->sender;
    const char *name = sender_name(r);
    struct body_sender *s = r->api->senders;
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    if (!s) {
        s = xcalloc(1, sizeof *s);
        s->name = xstrdup(name);
        s->next = r->api->senders;
        r->api->senders = s;
    }
    s->requests++;
    r->sender = s;
    return s;
}

static void leave_sender(struct request *r)
{
    struct body_sender *s = r->sender, **p = &r->api->senders;
    r->sender = NULL;
    if (!s || --s->requests > 0)
        return;
    assert(s->held == 0);
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    free(s->name);
    free(s);
}

static void charge(struct request *r, size_t held)
{
    struct api *api = r->api;
    struct body_sender *s = sender_of(r);
    assert(api->held >= r->held && (!is_open(r) || api->held_open >= r->held));
    api->held = api->held - r->held + held;
    s->held = s->held - r->held + held;
    if (is_open(r))
        api->held_open = api->held_open - r->held + held;
    r->held = held;
}

void body_release(struct request *r)
{
    if (r->held > 0)
        charge(r, 0);
    leave_sender(r);
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

static bool is_crowded(struct request *r, size_t n)
{
    const struct api *api = r->api;
    const struct body_sender *s = sender_of(r);
    size_t of_one = is_open(r) ? BODIES_OPEN_OF_ONE : BODIES_OF_ONE;
    return api->held + n > BODIES_MAX || (is_open(r) && api->held_open + n > BODIES_OPEN_MAX) ||
           (s->held > r->held && s->held + n > of_one);
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

/* Counts n received bytes for the speed of the body, because slow clients are disconnected. Not for
 * a stream while its handler reads, because the handler may let the client wait. */
static void note(const struct request *r, size_t n)
{
    bool wanted = !r->early.code && !r->answered;
    if (!wanted || !(r->route->flags & ROUTE_STREAM))
        connection_reads(r->connection, n, wanted);
}

/* The length in the head; 0: the head has none. */
static unsigned long long length_of(const struct request *r)
{
    const char *length = request_header(r, "Content-Length");
    return length ? strtoull(length, NULL, 10) : 0;
}

bool body_hang_up(struct request *r)
{
    if (length_of(r) > BODY_DISCARD_MAX || request_header(r, "Expect"))
        r->hang_up = true;
    return r->hang_up;
}

void body_begin(struct request *r)
{
    if (!r->early.code && (r->route->flags & ROUTE_KEPT) && length_of(r) > longest(r))
        too_large(r);
    if (r->early.code)
        body_hang_up(r);
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
        assert(*p); /* each request with `starved` is in the list */
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

/* Whether so many bytes were discarded that the connection ends. Not for a stream that its handler
 * has accepted and then answered: its sender may send any number of bytes, and libmicrohttpd sends
 * the reply only after the body. */
static bool is_enough(const struct request *r)
{
    bool accepted = !r->early.code && r->sink && !is_open(r);
    return !accepted && r->discarded > BODY_DISCARD_MAX;
}

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
        r->api->counters.body_bytes -= *size; /* libmicrohttpd will deliver them again */
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
    return is_enough(r) ? -1 : 0;
}
