/* SPDX-License-Identifier: MIT
 *
 * A reply whose body comes in pieces from elsewhere, as fast as the client takes it: at most two
 * pieces are in memory, and the next is asked for when there is room. Until a piece is there the
 * connection is suspended.
 *
 *   libmicrohttpd asks for bytes -> (none there: suspend) -> fetch() -> ... -> stream_got() ->
 * resume
 */
#ifndef API_HTTP_STREAM_H
#define API_HTTP_STREAM_H

#include "api/http/request.h"

#define STREAM_PIECE_MAX (512 * 1024)

struct stream;

struct stream_source {
    /* Asks for up to `max` bytes from `offset` on; answered by one stream_got(), never inside the
     * call. -1: they cannot be had, and stream_got() will not come. */
    int (*fetch)(void *ctx, struct stream *s, uint64_t offset, size_t max);
    void (*release)(void *ctx); /* once; no fetch is under way any more */
    void *ctx;                  /* owned from reply_stream() on */
    char *first;                /* its first bytes (malloc), owned too; NULL: all are fetched */
    size_t n_first;
};

/* Bytes [offset, offset+len) of the source. */
struct replied *reply_stream(struct request *r, int status, const char *content_type,
                             uint64_t offset, uint64_t len, const struct stream_source *source);
/* The piece that was asked for; `n` 0: there is none, and the reply breaks off. */
void stream_got(struct stream *s, const char *bytes, size_t n);
/* The same, but takes over `bytes` (malloc; NULL if `n` is 0). */
void stream_take(struct stream *s, char *bytes, size_t n);

#endif
