/* SPDX-License-Identifier: MIT
 *
 * Requests inside the body of another, outer request, with their own heads, on one connection.
 * Router and handlers see no difference; each is authorized separately. An inner request lives
 * until request_inner_end(). The outer request's owner calls it after the end of the outer request.
 */
#ifndef API_HTTP_SUBREQUEST_H
#define API_HTTP_SUBREQUEST_H

#include "api/http/request.h"

/* Everything is borrowed until request_inner_end(). */
struct inner_head {
    const char *method;
    const char *target; /* path and query, as sent */
    /* the part of the target that routes match, without the query: request.path */
    const char *path;
    const char *host; /* NULL: the outer's */
    const char *body; /* for a route that takes JSON; NULL: none */
    const struct named_value *header;
    size_t n_headers;
    bool seeds;        /* request.seeds */
    struct err *dumps; /* request.dumps */
};

/* Finds the route and checks access; on error sets early.code. `route` may then be NULL. */
struct request *request_inner(struct request *outer, const struct inner_head *head);
/* Carries the request out, or refuses it with the error in `early`. Calls `done` after the reply,
 * perhaps before this returns. The route must stream neither body nor reply. */
void request_inner_go(struct request *r, void (*done)(void *ctx, struct request *r), void *ctx);
/* A request that fails at once, with an error in the outer request's form. */
struct request *request_inner_refused(struct request *outer, const struct inner_head *head,
                                      const struct err *why);
/* The body of its reply; NULL: none. */
const char *request_inner_body(const struct request *r);
/* Appends its reply: status line, headers and body. */
void request_inner_write(struct request *r, struct strbuf *b);
/* Call only before request_inner_go() or after the reply. */
void request_inner_end(struct request *r);

#endif
