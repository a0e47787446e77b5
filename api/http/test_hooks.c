/* SPDX-License-Identifier: MIT
 *
 * Delays requests, and replaces or cuts their replies, as a watcher (a test) wants.
 */
#include <microhttpd.h>
#include <stdlib.h>

#include "api/http/error.h"
#include "api/http/http_priv.h"

#define CUT_LENGTH 65536 /* Content-Length of a reply that is broken off */

/* A delayed request, in the server's list. */
struct delayed {
    uv_timer_t timer; /* first member: on_closed() frees the timer's address */
    struct request *r;
    void (*then)(struct request *r);
    struct delayed **prev, *next;
};

void watch_begin(struct request *r)
{
    const struct api_watch *w = r->config->watch;
    r->injected = w && !r->service->unwatched ? w->begin(w->ctx, r) : NULL;
    if (watch_answers(r))
        err_set(&r->early, ERR_UNAVAILABLE, NULL, "A test answers this request.");
}

void watch_end(const struct request *r)
{
    const struct api_watch *w = r->config->watch;
    if (w && !(r->service && r->service->unwatched))
        w->end(w->ctx, r);
}

bool watch_answers(const struct request *r)
{
    return r->injected && (r->injected->status != 0 || r->injected->cut_before);
}

struct replied *watch_answer(struct request *r)
{
    struct err e;
    const struct injected *x = r->injected;
    const struct error_words words = {x->status ? x->status : 200, x->code, 0};
    if (x->status == 0)
        return reply_empty(r, 200);
    err_set(&e, ERR_UNAVAILABLE, NULL, "%s", x->message);
    if (x->retry_after_s > 0)
        reply_header(r, "Retry-After", "%d", x->retry_after_s);
    return r->service->error ? r->service->error(r, words, &e)
                             : reply_json(r, words.status, error_body(words, &e));
}

static ssize_t break_off(void *ctx, uint64_t pos, char *buf, size_t max)
{
    (void)ctx, (void)pos, (void)buf, (void)max;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

void watch_cut(struct request *r)
{
    if (!r->injected || !r->injected->cut)
        return;
    struct MHD_Response *cut =
        MHD_create_response_from_callback(CUT_LENGTH, 1024, break_off, NULL, NULL);
    if (!cut)
        abort();
    MHD_destroy_response(r->response);
    r->response = cut;
    if (r->status == 204 || r->status == 304) /* replies with these statuses have no body */
        r->status = 200;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void go_on(struct delayed *d)
{
    struct request *r = d->r;
    void (*then)(struct request *) = d->then;
    *d->prev = d->next;
    if (d->next)
        d->next->prev = d->prev;
    r->delayed = NULL;
    uv_close((uv_handle_t *)&d->timer, on_closed);
    then(r);
}

static void on_time(uv_timer_t *timer)
{
    go_on((struct delayed *)timer);
}

bool watch_delays(struct request *r, void (*then)(struct request *r))
{
    struct api *api = r->api;
    const struct injected *x = r->injected;
    if (!x || (x->delay_ms == 0 && !x->held) || api->stopping)
        return false;
    struct delayed *d = xcalloc(1, sizeof *d);
    uv_timer_init(api->config.loop, &d->timer);
    if (!x->held)
        uv_timer_start(&d->timer, on_time, (uint64_t)x->delay_ms, 0);
    d->r = r;
    d->then = then;
    d->prev = &api->delayed;
    d->next = api->delayed;
    if (d->next)
        d->next->prev = &d->next;
    api->delayed = d;
    r->delayed = d;
    return true;
}

void watch_let_go(struct request *r)
{
    if (r->delayed)
        go_on(r->delayed);
}

void watch_hurry(struct api *api)
{
    while (api->delayed)
        go_on(api->delayed);
}
