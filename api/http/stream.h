/* SPDX-License-Identifier: MIT
 *
 * A reply whose body is fetched in pieces from another source, as fast as the client reads. At most
 * two pieces are in memory; the next piece is fetched when one of the two was sent. If no piece is
 * there, the connection is suspended until one arrives.
 *
 * libmicrohttpd requests bytes -> (none there: suspend) -> fetch() -> ... -> stream_got() -> resume
 */
#ifndef API_HTTP_STREAM_H
#define API_HTTP_STREAM_H

#include "api/http/request.h"

#define STREAM_PIECE_MAX (512 * 1024)

struct reply_stream;

struct stream_source {
    /* Requests up to `max` bytes from `offset` on. 0: stream_got() will be called once, after
     * fetch() has returned; -1: the bytes are not available; stream_got() is not called. */
    int (*fetch)(void *ctx, struct reply_stream *s, uint64_t offset, size_t max);
    void (*release)(void *ctx); /* called once, when no fetch is under way */
    void *ctx;                  /* belongs to the stream from reply_stream() on */
    char *first;                /* the first bytes (malloc), taken over; NULL: none */
    size_t n_first;
};

/* Replies with the bytes [offset, offset+len) of the source. */
struct replied *reply_stream(struct request *r, int status, const char *content_type,
                             uint64_t offset, uint64_t len, const struct stream_source *source);
/* Delivers the requested piece; `n` 0: the source has failed, and the reply is broken off. */
void stream_got(struct reply_stream *s, const char *bytes, size_t n);
/* Like stream_got(), but takes over `bytes` (malloc; NULL if `n` is 0). */
void stream_take(struct reply_stream *s, char *bytes, size_t n);

#endif
