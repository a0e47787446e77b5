/* SPDX-License-Identifier: MIT
 *
 * A reply whose body comes in pieces from elsewhere, as fast as the client takes it: at most two
 * pieces are in memory, and the next is asked for when there is room. Until a piece is there the
 * connection is suspended.
 *
 *   libmicrohttpd asks for bytes -> (none there: suspend) -> fetch() -> ... -> stream_got() ->
 * resume
 */
#ifndef API_STREAM_H
#define API_STREAM_H

#include "api/request.h"

#define STREAM_PIECE_MAX (256 * 1024)

struct stream;

struct stream_source {
    /* Asks for up to `max` bytes from `offset` on; answered by one stream_got(), never inside the
     * call. -1: they cannot be had, and stream_got() will not come. */
    int (*fetch)(void *ctx, struct stream *s, uint64_t offset, size_t max);
    void (*release)(void *ctx); /* once; no fetch is under way any more */
    void *ctx;                  /* owned from reply_stream() on */
};

/* Bytes [offset, offset+len) of the source. */
struct replied *reply_stream(struct request *r, int status, const char *content_type,
                             uint64_t offset, uint64_t len, const struct stream_source *source);
/* The piece that was asked for; `n` 0: there is none, and the reply breaks off. */
void stream_got(struct stream *s, const char *bytes, size_t n);

#endif
