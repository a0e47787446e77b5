/* SPDX-License-Identifier: MIT
 *
 * Gives an inner request its own head and the outer request's connection, and calls `done` when the
 * inner request has its reply. Invariant: it exists until request_inner_end(). Called only on the
 * loop's thread.
 */
#include "api/http/subrequest.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/http_priv.h"
#include "api/http/router.h"

/* Splits the query of `target`, as in "?a=b&c", like libmicrohttpd: decodes nothing; a parameter
 * without = has the value NULL. */
static void split_query(struct request *r, struct inner *in, const char *target)
{
    size_t room = 1;
    const char *p = strchr(target, '?');
    for (const char *c = p; c && *c; c++)
        room += *c == '&';
    struct named_value *query = arena_alloc(&r->arena, room * sizeof(struct named_value));
    in->query = query;
    for (p = p ? p + 1 : ""; *p;) {
        size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
        if (n > 0)
            query[in->n_query++] = (struct named_value){
                arena_strndup(&r->arena, p, name),
                name < n ? arena_strndup(&r->arena, p + name + 1, n - name - 1) : NULL};
        p += n + (p[n] == '&');
    }
}

static struct request *create(struct request *outer, const struct inner_head *head)
{
    struct request *r = request_create(outer->engine, outer->conn, head->method, head->target);
    struct inner *in = arena_alloc(&r->arena, sizeof *in);
    *in = (struct inner){.header = head->header, .n_headers = head->n_headers};
    split_query(r, in, head->target);
    r->inner = in;
    r->connection = outer->connection;
    r->door = outer->door;
    r->host = head->host ? head->host : outer->host;
    r->label = head->host ? NULL : outer->label;
    if (head->body)
        strbuf_puts(&r->raw, head->body);
    r->target = arena_strndup(&r->arena, head->target, strcspn(head->target, "?"));
    r->path = head->path;
    r->seeds = head->seeds;
    r->dumps = head->dumps;
    return r;
}

struct request *request_inner(struct request *outer, const struct inner_head *head)
{
    struct request *r = create(outer, head);
    int64_t now_us = r->now_us;
    /* A seed's login stays valid, even if the seed changes the clock. */
    if (head->seeds)
        r->now_us = outer->now_us;
    if (router_accept(r, &r->early) == 0)
        err_clear(&r->early);
    else
        assert(r->early.code);
    r->now_us = now_us;
    return r;
}

struct request *request_inner_refused(struct request *outer, const struct inner_head *head,
                                      const struct err *why)
{
    struct request *r = create(outer, head);
    r->service = outer->service;
    r->deps = outer->deps;
    struct replied *refused = reply_err(r, why);
    (void)refused;
    return r;
}

static void go(struct request *r, void *ctx)
{
    r->later = false;
    struct replied *token = router_dispatch(r);
    if (!token) {
        r->later = true;
        request_again(r, go, ctx);
    } else if (!r->later) {
        request_inner_finished(r);
    }
}

void request_inner_go(struct request *r, void (*done)(void *ctx, struct request *r), void *ctx)
{
    r->inner->done = done;
    r->inner->ctx = ctx;
    if (!r->early.code) {
        go(r, NULL);
        return;
    }
    struct replied *refused = reply_err(r, &r->early);
    (void)refused;
    request_inner_finished(r);
}

static enum MHD_Result add_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    (void)kind;
    strbuf_concat(ctx, key, ": ", value, "\r\n");
    return MHD_YES;
}

const char *request_inner_body(const struct request *r)
{
    return r->inner->body;
}

void request_inner_write(struct request *r, struct strbuf *b)
{
    const char *body = r->inner->body ? r->inner->body : "";
    const char *reason = MHD_get_reason_phrase_for((unsigned)r->status);
    strbuf_printf(b, "HTTP/1.1 %d %s\r\n", r->status, reason ? reason : "");
    MHD_get_response_headers(r->response, add_header, b);
    if (*body)
        strbuf_printf(b, "Content-Length: %zu\r\n", strlen(body));
    strbuf_concat(b, "\r\n", body, *body ? "\r\n" : "");
}

void request_inner_end(struct request *r)
{
    request_destroy(r);
}
