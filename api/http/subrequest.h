/* SPDX-License-Identifier: MIT
 *
 * Inner requests: requests in the body of another, outer request, each with its own head. Router
 * and handlers treat them like other requests; access is checked for each. An inner request exists
 * until request_inner_end(), which the owner of the outer request calls after the end of the outer
 * request.
 */
#ifndef API_HTTP_SUBREQUEST_H
#define API_HTTP_SUBREQUEST_H

#include "api/http/request.h"

/* Everything is borrowed until request_inner_end(). */
struct inner_head {
    const char *method;
    const char *target; /* path and query, as sent */
    /* the part of the target that routes match, without the query (request.path) */
    const char *path;
    const char *host; /* NULL: that of the outer request */
    const char *body; /* for a route that takes JSON; NULL: none */
    const struct named_value *header;
    size_t n_headers;
    bool seeds;        /* request.seeds */
    struct err *dumps; /* request.dumps */
};

/* Creates an inner request, finds its route and checks access; on an error sets its early.code, and
 * `route` may be NULL. */
struct request *request_inner(struct request *outer, const struct inner_head *head);
/* Handles the request, or replies with the error in `early`. Calls `done` after the reply, possibly
 * before this function returns. The route must stream neither body nor reply. */
void request_inner_go(struct request *r, void (*done)(void *ctx, struct request *r), void *ctx);
/* Creates an inner request that has already failed with `why`, in the form of the outer request's
 * service. */
struct request *request_inner_refused(struct request *outer, const struct inner_head *head,
                                      const struct err *why);
/* The body of the inner request's reply; NULL: none. */
const char *request_inner_body(const struct request *r);
/* Appends the inner request's reply: status line, headers and body. */
void request_inner_write(struct request *r, struct strbuf *b);
/* Frees the inner request. Call it only before request_inner_go() or after the reply. */
void request_inner_end(struct request *r);

#endif
