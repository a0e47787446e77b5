/* SPDX-License-Identifier: MIT
 *
 * Bodies of requests as they come in. Those that a handler wants whole are kept up to the service's
 * limit and, together, up to a bound; those of a ROUTE_STREAM go to the handler piece by piece, at
 * its speed: what it does not take stays in the connection, whose client then has to wait.
 *
 * The handler of a ROUTE_STREAM is called when the head has been accepted, and returns
 * request_stream(). It answers with request_finish(), after end() or at any time before: what then
 * still comes is thrown away.
 */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/request.h"

/* All bodies under way together; of them, those that anybody may send. */
#define BODIES_MAX      (256u * 1024 * 1024)
#define BODIES_OPEN_MAX (16u * 1024 * 1024)
/* What is read and thrown away of the body of a request that is refused, so that the client gets to
 * read why; a longer one is cut off. */
#define BODY_DISCARD_MAX (64u * 1024 * 1024)

struct body_sink {
    /* Takes bytes: how many of the n > 0. Fewer than n: no more come until body_more(). */
    size_t (*take)(void *ctx, const char *bytes, size_t n);
    void (*end)(void *ctx);     /* the body is complete */
    void (*release)(void *ctx); /* once: the request is over, or its client is gone */
    void *ctx;
};

REPLIED request_stream(struct request *r, const struct body_sink *sink);
/* The sink can take more. From the loop's thread; not from within take(). */
void body_more(struct request *r);

#endif
