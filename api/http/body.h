/* SPDX-License-Identifier: MIT
 *
 * Receives bodies of requests. A body that a handler needs as a whole is kept in memory, up to the
 * service's limit and a limit for all bodies together. The body of a ROUTE_STREAM is passed to the
 * handler piece by piece, at the handler's speed: bytes that the handler does not take stay in the
 * connection, and the client has to wait.
 *
 * The handler of a ROUTE_STREAM is called after the request's head was accepted, and returns
 * request_stream(). It replies with request_finish(), after end() or earlier; later bytes of the
 * body are discarded, any number of them.
 */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/request.h"

/* Limits in bytes: for all request bodies in memory together, and for those of requests without a
 * token. */
#define BODIES_MAX      (256u * 1024 * 1024)
#define BODIES_OPEN_MAX (16u * 1024 * 1024)
/* Limits for the bodies of one principal or account, and for those of one address without a token.
 * If a sender has only one body in memory, it may be longer. */
#define BODIES_OF_ONE      (BODIES_MAX / 4)
#define BODIES_OPEN_OF_ONE (1024u * 1024)
/* The most bytes of a refused request's body that are read and discarded, so that the client can
 * read the error; a longer body ends the connection. */
#define BODY_DISCARD_MAX (64u * 1024 * 1024)

struct body_sink {
    /* Takes some of the n > 0 bytes and returns how many. If it takes fewer than n, it is not
     * called again before body_more(). */
    size_t (*take)(void *ctx, const char *bytes, size_t n);
    void (*end)(void *ctx); /* the body is complete */
    /* called once, at the end of the request or when its client has disconnected */
    void (*release)(void *ctx);
    void *ctx;
};

REPLIED request_stream(struct request *r, const struct body_sink *sink);
/* Counts `n` bytes that a handler is going to add to r->raw, before it adds them.
 * ERR_BODY_TOO_LARGE: more than the service's limit; ERR_UNAVAILABLE: too many bytes of all
 * requests, or of the sender's, are in memory. */
int body_reserve(struct request *r, size_t n, struct err *e) MUST_CHECK;

/* Call it when the sink can take more: on the loop's thread, but not inside take(). */
void body_more(struct request *r);

#endif
