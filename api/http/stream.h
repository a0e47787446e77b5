/* SPDX-License-Identifier: MIT
 *
 * A reply whose body is fetched in pieces from another source, as fast as the client reads. At most
 * two pieces are in memory; the next is fetched when there is room. The connection is suspended
 * until a piece arrives.
 *
 * libmicrohttpd asks for bytes -> (none there: suspend) -> fetch() -> ... -> stream_got() -> resume
 */
#ifndef API_HTTP_STREAM_H
#define API_HTTP_STREAM_H

#include "api/http/request.h"

#define STREAM_PIECE_MAX (512 * 1024)

struct reply_stream;

struct stream_source {
    /* Asks for up to `max` bytes from `offset` on; one stream_got() follows, never inside the call.
     * -1: the bytes are not available, and stream_got() will not follow. */
    int (*fetch)(void *ctx, struct reply_stream *s, uint64_t offset, size_t max);
    void (*release)(void *ctx); /* called once, when no fetch is under way any more */
    void *ctx;                  /* owned from reply_stream() on */
    char *first; /* the first bytes (malloc), owned too; NULL: all bytes are fetched */
    size_t n_first;
};

/* Bytes [offset, offset+len) of the source. */
struct replied *reply_stream(struct request *r, int status, const char *content_type,
                             uint64_t offset, uint64_t len, const struct stream_source *source);
/* Delivers the requested piece; `n` 0: the source failed, and the reply is cut off. */
void stream_got(struct reply_stream *s, const char *bytes, size_t n);
/* Like stream_got(), but takes over `bytes` (malloc; NULL if `n` is 0). */
void stream_take(struct reply_stream *s, char *bytes, size_t n);

#endif
