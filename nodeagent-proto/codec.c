/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/codec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* Taken frames may have carried secrets: they are wiped at once, and the room is used again. */
static void take(struct frame_decoder *d, size_t n)
{
    explicit_bzero(d->buf.s + d->pos, n);
    d->pos += n;
    if (d->pos == d->buf.len) {
        strbuf_reset(&d->buf);
        d->pos = 0;
    }
}

static void compact(struct frame_decoder *d)
{
    if (d->pos == 0)
        return;
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
    compact(d);
    strbuf_add(&d->buf, data, n);
}

static uint32_t get_length(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int parse(struct frame_decoder *d, const char *text, uint32_t n, json_t **msg)
{
    json_error_t je;
    json_t *v = json_loadb(text, n, JSON_REJECT_DUPLICATES, &je);
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

static int next(struct frame_decoder *d, json_t **msg)
{
    if (d->broken.code != ERR_NONE)
        return -1;
    size_t have = d->buf.len - d->pos;
    if (have < FRAME_HEADER)
        return 0;
    const char *p = d->buf.s + d->pos;
    uint32_t n = get_length(p);
    if (n == 0 || n > FRAME_MAX)
        return err_set(&d->broken, ERR_PROTOCOL, NULL,
                       "a frame claims %u bytes; 1 to %u are possible: the peer does not speak "
                       "this protocol",
                       n, FRAME_MAX);
    if (have - FRAME_HEADER < n)
        return 0;
    int rc = parse(d, p + FRAME_HEADER, n, msg);
    take(d, FRAME_HEADER + n);
    return rc;
}

int frame_decoder_next(struct frame_decoder *d, json_t **msg, struct err *e)
{
    *msg = NULL;
    int rc = next(d, msg);
    if (rc < 0 && e)
        *e = d->broken;
    return rc;
}

static int add_text(const char *text, size_t n, void *out)
{
    strbuf_add(out, text, n);
    return 0;
}

int codec_text(const json_t *msg, struct strbuf *out)
{
    return json_dump_callback(msg, add_text, out, JSON_COMPACT);
}

int frame_encode(const json_t *msg, struct strbuf *out, struct err *e)
{
    size_t start = out->len;
    strbuf_add(out, "\0\0\0\0", FRAME_HEADER);
    int rc = codec_text(msg, out);
    size_t n = out->len - start - FRAME_HEADER;
    if (rc == 0 && n <= FRAME_MAX) {
        unsigned char head[] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                (unsigned char)(n >> 8), (unsigned char)n};
        memcpy(out->s + start, head, sizeof head);
        return 0;
    }
    out->len = start;
    out->s[start] = '\0';
    if (rc < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "a message could not be written as JSON");
    return err_set(e, ERR_BODY_TOO_LARGE, NULL,
                   "a message of %zu bytes does not fit a frame; at most %u do", n, FRAME_MAX);
}
