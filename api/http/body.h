/* SPDX-License-Identifier: MIT
 *
 * Receives bodies of requests. A body that a handler wants whole is kept, up to the service's limit
 * and a bound for all bodies together. The body of a ROUTE_STREAM goes to the handler piece by
 * piece, at the handler's speed: bytes that the handler does not take stay in the connection, and
 * the client has to wait.
 *
 * The handler of a ROUTE_STREAM is called after the head has been accepted, and returns
 * request_stream(). It replies with request_finish(), after end() or earlier; bytes that arrive
 * later are discarded.
 */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/request.h"

/* Bounds in bytes for all request bodies in memory together, and for the bodies of requests without
 * a token. */
#define BODIES_MAX      (256u * 1024 * 1024)
#define BODIES_OPEN_MAX (16u * 1024 * 1024)
/* Bounds for the bodies of one principal or account, and for those of one address without a token.
 * The only body of a principal may be longer. */
#define BODIES_OF_ONE      (BODIES_MAX / 4)
#define BODIES_OPEN_OF_ONE (1024u * 1024)
/* The most bytes of a refused request's body that are read and discarded, so that the client can
 * read the error; a longer body ends the connection. */
#define BODY_DISCARD_MAX (64u * 1024 * 1024)

struct body_sink {
    /* Takes some of the n > 0 bytes and returns how many. After fewer than n, no more come until
     * body_more(). */
    size_t (*take)(void *ctx, const char *bytes, size_t n);
    void (*end)(void *ctx); /* the body is complete */
    /* called once, at the end of the request or when its client has disconnected */
    void (*release)(void *ctx);
    void *ctx;
};

REPLIED request_stream(struct request *r, const struct body_sink *sink);
/* Counts `n` bytes that a handler is going to add to r->raw, before it adds them.
 * ERR_BODY_TOO_LARGE; ERR_UNAVAILABLE: too many bytes are in memory, of all requests or of the
 * sender. */
int body_reserve(struct request *r, size_t n, struct err *e) MUST_CHECK;

/* The sink can take more. Call on the loop's thread, but not inside take(). */
void body_more(struct request *r);

#endif
