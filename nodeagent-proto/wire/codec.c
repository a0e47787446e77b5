/* SPDX-License-Identifier: MIT
 *
 * The decoder keeps received bytes in one buffer: bytes before `pos` are consumed and wiped; the
 * next `spent` bytes belong to the message returned last and are wiped at the next call. `broken`
 * is never reset. One owner, one thread; the decoder owns its memory until frame_decoder_free().
 */
#include "nodeagent-proto/wire/codec.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsonread.h"
#include "lib/jsontext.h"

#define WITH_BYTES 0x80000000U /* flag in the length */

void frame_decoder_init(struct frame_decoder *d)
{
    memset(d, 0, sizeof *d);
}

void frame_decoder_free(struct frame_decoder *d)
{
    if (d->buf.s)
        explicit_bzero(d->buf.s, d->buf.cap);
    strbuf_free(&d->buf);
    d->pos = 0;
}

/* Frames may have carried secrets, so consumed bytes are wiped first; their space is then
 * reused. */
static void take(struct frame_decoder *d)
{
    if (d->spent == 0)
        return;
    assert(d->pos + d->spent <= d->buf.len);
    explicit_bzero(d->buf.s + d->pos, d->spent);
    d->pos += d->spent;
    d->spent = d->n_bytes = 0;
    if (d->pos == d->buf.len) {
        strbuf_reset(&d->buf);
        d->pos = 0;
    }
}

static void compact(struct frame_decoder *d)
{
    if (d->pos == 0)
        return;
    assert(d->pos <= d->buf.len && d->spent == 0);
    size_t left = d->buf.len - d->pos;
    memmove(d->buf.s, d->buf.s + d->pos, left);
    explicit_bzero(d->buf.s + left, d->buf.len - left);
    d->buf.len = left;
    d->pos = 0;
}

void frame_decoder_feed(struct frame_decoder *d, const void *data, size_t n)
{
    if (d->broken.code != ERR_NONE)
        return;
    take(d);
    compact(d);
    strbuf_add(&d->buf, data, n);
}

static uint32_t get_u32(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int parse(struct frame_decoder *d, const char *text, uint32_t n, json_t **msg)
{
    json_error_t je;
    json_t *v = jsonread(text, n, JSON_REJECT_DUPLICATES, &je);
    if (!v)
        return err_set(&d->broken, ERR_PROTOCOL, NULL, "a frame of %u bytes is not JSON: %s", n,
                       je.text);
    if (!json_is_object(v)) {
        json_decref(v);
        return err_set(&d->broken, ERR_PROTOCOL, NULL,
                       "a frame of %u bytes holds JSON that is not an object", n);
    }
    *msg = v;
    return 1;
}

size_t frame_body_size(const char *header)
{
    return get_u32(header) & ~WITH_BYTES;
}

/* Parses a whole body: its JSON, and attached bytes if there are any. */
static int parse_body(struct frame_decoder *d, const char *body, uint32_t n, bool with_bytes,
                      json_t **msg)
{
    if (!with_bytes)
        return parse(d, body, n, msg);
    uint32_t json = n >= FRAME_HEADER ? get_u32(body) : UINT32_MAX;
    if (json > n - FRAME_HEADER || n < FRAME_HEADER)
        return err_set(&d->broken, ERR_PROTOCOL, NULL,
                       "a frame of %u bytes claims %u bytes of JSON, more than it has", n, json);
    d->bytes_at = (size_t)(body - d->buf.s) + FRAME_HEADER + json;
    d->n_bytes = n - FRAME_HEADER - json;
    assert(d->bytes_at + d->n_bytes == d->pos + d->spent);
    return parse(d, body + FRAME_HEADER, json, msg);
}

static int next(struct frame_decoder *d, json_t **msg)
{
    if (d->broken.code != ERR_NONE)
        return -1;
    take(d);
    size_t have = d->buf.len - d->pos;
    if (have < FRAME_HEADER)
        return 0;
    const char *p = d->buf.s + d->pos;
    uint32_t length = get_u32(p), n = length & ~WITH_BYTES;
    if (n == 0 || n > FRAME_MAX)
        return err_set(&d->broken, ERR_PROTOCOL, NULL,
                       "a frame claims %u bytes; 1 to %u are allowed: the peer does not speak "
                       "this protocol",
                       length, FRAME_MAX);
    if (have - FRAME_HEADER < n)
        return 0;
    d->spent = FRAME_HEADER + n;
    return parse_body(d, p + FRAME_HEADER, n, (length & WITH_BYTES) != 0, msg);
}

const char *frame_decoder_bytes(const struct frame_decoder *d, size_t *n)
{
    *n = d->n_bytes;
    return d->n_bytes > 0 ? d->buf.s + d->bytes_at : NULL;
}

int frame_decoder_next(struct frame_decoder *d, json_t **msg, struct err *e)
{
    *msg = NULL;
    int rc = next(d, msg);
    assert(rc == 1 ? json_is_object(*msg) : *msg == NULL);
    assert((rc < 0) == (d->broken.code != ERR_NONE));
    if (rc < 0 && e)
        *e = d->broken;
    return rc;
}

int codec_text(const json_t *msg, struct strbuf *out)
{
    if (!msg)
        return -1;
    jsontext_add(out, msg);
    return 0;
}

static void put_u32(char *to, size_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(n >> (24 - 8 * i));
}

static int encode(const json_t *msg, const void *bytes, size_t n_bytes, struct strbuf *out,
                  struct err *e)
{
    size_t start = out->len, head = bytes ? 2 * FRAME_HEADER : FRAME_HEADER;
    strbuf_add(out, "\0\0\0\0\0\0\0\0", head);
    int rc = codec_text(msg, out);
    size_t json = out->len - start - head, n = head - FRAME_HEADER + json + n_bytes;
    if (rc == 0 && n <= FRAME_MAX) {
        put_u32(out->s + start, bytes ? n | WITH_BYTES : n);
        if (bytes) {
            put_u32(out->s + start + FRAME_HEADER, json);
            strbuf_add(out, bytes, n_bytes);
        }
        return 0;
    }
    assert(start <= out->len);
    out->len = start;
    out->s[start] = '\0';
    if (rc < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "a message could not be written as JSON");
    return err_set(e, ERR_BODY_TOO_LARGE, NULL,
                   "a message of %zu bytes does not fit a frame; at most %u do", n, FRAME_MAX);
}

int frame_encode(const json_t *msg, struct strbuf *out, struct err *e)
{
    return encode(msg, NULL, 0, out, e);
}

int frame_encode_with(const json_t *msg, const void *bytes, size_t n, struct strbuf *out,
                      struct err *e)
{
    return encode(msg, n > 0 ? bytes : NULL, n, out, e);
}
