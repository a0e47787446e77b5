/* SPDX-License-Identifier: MIT
 *
 * Structured messages, x-ms-structured-body: XSM/1.0; properties=crc64. The bytes of such a body
 * are in segments, each with its CRC64; all numbers are little-endian. Pure, except for the
 * functions that read headers of a request.
 *
 *   message: version 1 (1 byte), length of the whole message (8), flags (2; 1: CRC64), segments (2)
 *   segment: number, from 1 (2), length of its bytes (8), the bytes, their CRC64 (8)
 *   after the last segment: the CRC64 of all bytes (8)
 */
#ifndef API_PLANE_STORAGE_STRUCTURED_H
#define API_PLANE_STORAGE_STRUCTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct request;
struct strbuf;

#define STRUCTURED_BODY   "x-ms-structured-body"
#define STRUCTURED_LENGTH "x-ms-structured-content-length"
#define STRUCTURED_CRC64  "XSM/1.0; properties=crc64"

/* --- taken apart --- */

enum structured_part {
    STRUCTURED_MESSAGE, /* the message's head */
    STRUCTURED_SEGMENT, /* a segment's head */
    STRUCTURED_BYTES,
    STRUCTURED_SEGMENT_CRC,
    STRUCTURED_MESSAGE_CRC,
    STRUCTURED_OVER
};

struct structured {
    uint64_t length;  /* length of the message */
    uint64_t content; /* length of its content */
    enum structured_part part;
    uint8_t some[13]; /* bytes of an incomplete head or CRC */
    size_t have;
    unsigned segments, segment; /* number of segments; number of the present one */
    uint64_t left, got; /* bytes that the segment still lacks; all content bytes that were read */
    uint64_t crc, segment_crc;
};

/* Reads the headers of a request that may have a structured body. 1: it has one; 0: it has none. */
int structured_begin(struct request *r, struct structured *s, struct err *e) MUST_CHECK;
/* Reads some of the n > 0 bytes. *took: how many were read; bytes[*from, *from + *found) of them
 * are content, at most `max` bytes. With max 0, *took can be 0. ERR_BAD_REQUEST: this is no
 * structured message; AZSTORAGE_CRC64_MISMATCH. */
struct structured_taken {
    size_t took, from, found;
};
int structured_take(struct structured *s, const char *bytes, size_t n, size_t max,
                    struct structured_taken *out, struct err *e) MUST_CHECK;
/* Whether the next byte belongs to the content. */
bool structured_wants_room(const struct structured *s);
/* Call when the body has ended. ERR_BAD_REQUEST: the message is not complete. */
int structured_end(const struct structured *s, struct err *e) MUST_CHECK;
/* Adds the reply header that confirms a structured body. */
void structured_reply(struct request *r);

/* --- put together --- */

struct structuring {
    uint64_t content, segment_max;
    unsigned segments, segment; /* segment 0: nothing was written yet */
    uint64_t left, got;
    uint64_t crc, segment_crc;
};

/* Whether the client asks for a structured reply. 1: yes; 0: no. AZSTORAGE_HEADER: in a form that
 * is not known. */
int structuring_wanted(struct request *r, struct err *e) MUST_CHECK;
/* Begins a message with `content` bytes of content. Returns the length of the message. */
uint64_t structuring_begin(struct structuring *s, uint64_t content);
/* The number of content bytes that the next piece of the message can have, so that the piece has at
 * most `max` bytes. `max`: at least 64, or at least the rest of the message. */
size_t structuring_room(const struct structuring *s, size_t max);
/* Appends `n` content bytes, with the heads and checksums around them. */
void structuring_add(struct structuring *s, const char *bytes, size_t n, struct strbuf *out);

#endif
