/* SPDX-License-Identifier: MIT
 *
 * Frames: a length in 4 bytes, big-endian, then that many bytes of JSON, always one object. With
 * the highest bit of the length set, the body is the length of its JSON in 4 bytes, the JSON, and
 * then raw bytes that belong to the message: contents of files. Used by both ends of a link,
 * independent of the meaning of messages (message.h, PROTOCOL.md). For any input, decoding ends in
 * a message, "more bytes are needed" or an error; after an error the decoder cannot find the next
 * frame, and the link must be closed.
 */
#ifndef NODEAGENT_PROTO_WIRE_CODEC_H
#define NODEAGENT_PROTO_WIRE_CODEC_H

#include <jansson.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/strbuf.h"

#define FRAME_MAX    (4U * 1024 * 1024) /* bytes of a frame's body */
#define FRAME_HEADER 4U

struct frame_decoder {
    struct strbuf buf; /* bytes not yet taken start at pos */
    size_t pos;
    size_t spent;             /* how many of the bytes belong to the last message returned */
    size_t bytes_at, n_bytes; /* the raw bytes of that message */
    struct err broken;        /* code ERR_NONE as long as the input was valid */
};

void frame_decoder_init(struct frame_decoder *d);
void frame_decoder_free(struct frame_decoder *d);

/* Adds received bytes, split in any way. */
void frame_decoder_feed(struct frame_decoder *d, const void *data, size_t n);

/* 1: *msg is the next message (caller decrefs); 0: more bytes are needed; -1: invalid input; then
 * all later calls fail as well. */
int frame_decoder_next(struct frame_decoder *d, json_t **msg, struct err *e) MUST_CHECK;

/* The raw bytes of the last message; NULL: none. Valid until the decoder is used again. */
const char *frame_decoder_bytes(const struct frame_decoder *d, size_t *n);

/* Appends `msg` as compact JSON text; -1 if it has no such text. */
int codec_text(const json_t *msg, struct strbuf *out) MUST_CHECK;

/* Appends the frame of `msg` (borrowed) to `out`; on failure `out` is unchanged. */
int frame_encode(const json_t *msg, struct strbuf *out, struct err *e) MUST_CHECK;
/* Like frame_encode(), with raw bytes. */
int frame_encode_with(const json_t *msg, const void *bytes, size_t n, struct strbuf *out,
                      struct err *e) MUST_CHECK;
/* The length of a frame after its header, from the FRAME_HEADER bytes of the header. */
size_t frame_body_size(const char *header);

#endif
