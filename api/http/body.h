/* SPDX-License-Identifier: MIT
 *
 * Bodies of requests as they come in. Bodies that a handler wants whole are kept, each up to the
 * service's limit and all together up to a bound. Bodies of a ROUTE_STREAM go to the handler piece
 * by piece, at its speed: bytes that it does not take stay in the connection, and the client has to
 * wait.
 *
 * The handler of a ROUTE_STREAM is called when the head has been accepted, and returns
 * request_stream(). It answers with request_finish(), after end() or at any time before; bytes that
 * still come after that are thrown away.
 */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/request.h"

/* Bounds for all bodies under way together, and for those that anybody may send. */
#define BODIES_MAX      (256u * 1024 * 1024)
#define BODIES_OPEN_MAX (16u * 1024 * 1024)
/* How much of the body of a refused request is read and thrown away, so that the client can read
 * the error; a longer body is cut off. */
#define BODY_DISCARD_MAX (64u * 1024 * 1024)

struct body_sink {
    /* Takes some of the n > 0 bytes and returns how many. If fewer than n, no more come until
     * body_more(). */
    size_t (*take)(void *ctx, const char *bytes, size_t n);
    void (*end)(void *ctx);     /* the body is complete */
    void (*release)(void *ctx); /* once: the request is over, or its client is gone */
    void *ctx;
};

REPLIED request_stream(struct request *r, const struct body_sink *sink);
/* The sink can take more. Call it on the loop's thread, but not inside take(). */
void body_more(struct request *r);

#endif
