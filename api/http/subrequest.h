/* SPDX-License-Identifier: MIT
 *
 * Requests inside the body of another one, the outer: they have heads of their own and come by the
 * same connection. Router and handlers see no difference; each is authorized on its own. It lives
 * until request_inner_end(), which the outer's owner calls once the outer is over.
 */
#ifndef API_HTTP_SUBREQUEST_H
#define API_HTTP_SUBREQUEST_H

#include "api/http/request.h"

/* Everything is borrowed until request_inner_end(). */
struct inner_head {
    const char *method;
    const char *target; /* path and query, as sent */
    const char *path;   /* of it what the routes are about, without the query: request.path */
    const char *host;   /* NULL: the outer's */
    const char *body;   /* of a route that takes JSON; NULL: none */
    const struct named_value *header;
    size_t n_headers;
    bool seeds;        /* request.seeds */
    struct err *dumps; /* request.dumps */
};

/* Finds its route, and asks who may: early.code says what was wrong. `route` may be NULL then. */
struct request *request_inner(struct request *outer, const struct inner_head *head);
/* Carries it out, or refuses it by what `early` says. `done` is called once it is answered, perhaps
 * before this returns. Handlers that stream a body or a reply must not be reached this way. */
void request_inner_go(struct request *r, void (*done)(void *ctx, struct request *r), void *ctx);
/* One that is answered with an error from the beginning, in the outer's terms. */
struct request *request_inner_refused(struct request *outer, const struct inner_head *head,
                                      const struct err *why);
/* The text of its answer; NULL: it has none. */
const char *request_inner_body(const struct request *r);
/* Appends its answer: status line, headers and body. */
void request_inner_write(struct request *r, struct strbuf *b);
/* Only if it did not begin, or is answered. */
void request_inner_end(struct request *r);

#endif
