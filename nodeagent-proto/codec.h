/* SPDX-License-Identifier: MIT
 *
 * Frames: a length in 4 bytes, big-endian, then that many bytes of JSON, always one object. Used by
 * both ends of a link; knows nothing of what the messages mean (message.h, PROTOCOL.md).
 * Whatever the peer sends, decoding ends in a message, "more is needed" or an error; after an error
 * the stream is out of step for good and the link must go.
 */
#ifndef NODEAGENT_PROTO_CODEC_H
#define NODEAGENT_PROTO_CODEC_H

#include <jansson.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/strbuf.h"

#define FRAME_MAX    (4U * 1024 * 1024) /* bytes of JSON in one frame */
#define FRAME_HEADER 4U

struct frame_decoder {
    struct strbuf buf; /* bytes not yet taken start at pos */
    size_t pos;
    struct err broken; /* code ERR_NONE while the stream is in step */
};

void frame_decoder_init(struct frame_decoder *d);
void frame_decoder_free(struct frame_decoder *d);

/* Adds bytes as they came; any split will do. */
void frame_decoder_feed(struct frame_decoder *d, const void *data, size_t n);

/* 1: *msg is the next message (caller decrefs); 0: more bytes are needed; -1: out of step. */
int frame_decoder_next(struct frame_decoder *d, json_t **msg, struct err *e) MUST_CHECK;

/* Appends `msg` as compact JSON text; -1 if it cannot be written as such. */
int codec_text(const json_t *msg, struct strbuf *out) MUST_CHECK;

/* Appends the frame of `msg` (borrowed) to `out`, or fails and leaves `out` as it was. */
int frame_encode(const json_t *msg, struct strbuf *out, struct err *e) MUST_CHECK;

#endif
