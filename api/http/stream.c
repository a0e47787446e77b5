/* SPDX-License-Identifier: MIT
 *
 * States: a piece is being fetched, or sent; the end or a failure was reached. Invariant: at most
 * two pieces are in memory. The reply owns the stream and frees it at its end. Called only on the
 * loop's thread.
 */
#include "api/http/stream.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/http_priv.h"

/* The most bytes that libmicrohttpd requests at a time. */
#define BLOCK (32 * 1024)

struct stream_piece {
    char *bytes; /* owned; NULL: none */
    size_t n, taken;
};

struct reply_stream {
    struct engine *engine;
    struct MHD_Connection *conn;
    struct stream_source source;
    uint64_t next, end; /* the range that still has to be fetched */
    struct stream_piece now, ahead;
    bool fetching, failed, suspended;
    bool released; /* the reply has ended; the stream is freed when no fetch is in progress */
};

static void stream_free(struct reply_stream *s)
{
    s->source.release(s->source.ctx);
    free(s->now.bytes);
    free(s->ahead.bytes);
    free(s);
}

static void on_released(void *ctx)
{
    struct reply_stream *s = ctx;
    assert(!s->released);
    s->released = true;
    if (!s->fetching)
        stream_free(s);
}

static void fetch_more(struct reply_stream *s)
{
    if (s->fetching || s->failed || s->released || s->ahead.bytes || s->next == s->end)
        return;
    uint64_t left = s->end - s->next;
    size_t want = left < STREAM_PIECE_MAX ? (size_t)left : STREAM_PIECE_MAX;
    s->fetching = true;
    if (s->source.fetch(s->source.ctx, s, s->next, want) < 0) {
        s->fetching = false;
        s->failed = true;
    }
}

static void resume(struct reply_stream *s)
{
    if (!s->suspended)
        return;
    assert(s->engine->api->suspended > 0);
    s->suspended = false;
    s->engine->dirty = true;
    s->engine->api->suspended--;
    MHD_resume_connection(s->conn);
}

static void keep(struct reply_stream *s, char *bytes, size_t n)
{
    struct stream_piece *p = s->now.bytes ? &s->ahead : &s->now;
    assert(!p->bytes); /* at most two pieces are fetched */
    *p = (struct stream_piece){.bytes = bytes, .n = n};
    s->next += n;
}

void stream_take(struct reply_stream *s, char *bytes, size_t n)
{
    assert(s->fetching); /* only one call for each fetch */
    s->fetching = false;
    if (s->released || n == 0 || n > s->end - s->next) {
        free(bytes);
        s->failed = true;
    } else {
        keep(s, bytes, n);
    }
    if (s->released) {
        stream_free(s);
        return;
    }
    fetch_more(s);
    resume(s);
}

void stream_got(struct reply_stream *s, const char *bytes, size_t n)
{
    char *copy = n > 0 ? xrealloc(NULL, n) : NULL;
    if (copy)
        memcpy(copy, bytes, n);
    stream_take(s, copy, n);
}

static ssize_t take(struct reply_stream *s, char *buf, size_t max)
{
    struct stream_piece *p = &s->now;
    assert(p->taken < p->n);
    size_t n = p->n - p->taken < max ? p->n - p->taken : max;
    memcpy(buf, p->bytes + p->taken, n);
    p->taken += n;
    if (p->taken == p->n) {
        free(p->bytes);
        *p = s->ahead;
        s->ahead = (struct stream_piece){0};
    }
    return (ssize_t)n;
}

static ssize_t on_read(void *ctx, uint64_t pos, char *buf, size_t max)
{
    (void)pos; /* bytes are sent only in order */
    struct reply_stream *s = ctx;
    ssize_t n = s->now.bytes ? take(s, buf, max) : 0;
    fetch_more(s);
    if (n > 0)
        return n;
    if (s->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    s->suspended = true;
    s->engine->api->suspended++;
    MHD_suspend_connection(s->conn);
    return 0;
}

struct replied *reply_stream(struct request *r, int status, const char *content_type,
                             uint64_t offset, uint64_t len, const struct stream_source *source)
{
    struct reply_stream *s = xcalloc(1, sizeof *s);
    *s = (struct reply_stream){.engine = r->engine,
                               .conn = r->conn,
                               .source = *source,
                               .now = {.bytes = source->first, .n = source->n_first},
                               .next = offset + source->n_first,
                               .end = offset + len};
    assert(source->n_first <= len && !source->first == !source->n_first);
    bool is_all = len > 0 && source->n_first == len; /* all bytes are sent with the head */
    return reply_response(
        r, status, content_type,
        is_all ? MHD_create_response_from_buffer_with_free_callback_cls(len, s->now.bytes,
                                                                        on_released, s)
               : MHD_create_response_from_callback(len, BLOCK, on_read, s, on_released));
}
