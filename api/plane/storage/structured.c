/* SPDX-License-Identifier: MIT
 *
 * Reads and writes structured messages piece by piece; keeps no earlier bytes.
 */
#include "api/plane/storage/structured.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/request.h"
#include "api/plane/storage/errors.h"
#include "lib/crc64.h"
#include "lib/strbuf.h"

#define VERSION     1
#define FLAG_CRC64  1
#define MESSAGE_LEN 13
#define SEGMENT_LEN 10
#define CRC_LEN     8
#define SEGMENT_MAX (UINT64_C(4) * 1024 * 1024)

static uint64_t number(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* --- headers ---------------------------------------------------------------------------------- */

/* Reads the header "XSM/1.0; properties=crc64", in any case and with or without blanks. */
static int read_form(struct request *r, struct err *e)
{
    const char *text = request_header(r, STRUCTURED_BODY);
    char plain[sizeof STRUCTURED_CRC64 + 1];
    size_t n = 0;
    if (!text)
        return 0;
    for (const char *p = text; *p && n < sizeof plain - 1; p++)
        if (*p != ' ')
            plain[n++] = *p;
    plain[n] = '\0';
    if (strcasecmp(plain, "XSM/1.0;properties=crc64") == 0)
        return 1;
    return err_set(e, AZSTORAGE_HEADER, STRUCTURED_BODY,
                   "The value for one of the HTTP headers is not in the correct format: "
                   "%s is '%.60s'; it must be '%s'.",
                   STRUCTURED_BODY, text, STRUCTURED_CRC64);
}

static int read_length(struct request *r, const char *name, uint64_t *out, struct err *e)
{
    const char *text = request_header(r, name);
    char *end;
    if (!text)
        return err_set(e, AZSTORAGE_HEADER_MISSING, name,
                       "An HTTP header that's mandatory for this request is not specified: %s.",
                       name);
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end)
        return 0;
    return err_set(e, AZSTORAGE_HEADER, name, "%s is '%.40s'; it must be a number of bytes.", name,
                   text);
}

static int not_with(struct request *r, const char *header, struct err *e)
{
    if (!request_header(r, header))
        return 0;
    return err_set(e, AZSTORAGE_HEADER, header,
                   "The request has both %s and a structured body, which has hashes of its own; it "
                   "must have only one.",
                   header);
}

int structured_begin(struct request *r, struct structured *s, struct err *e)
{
    int has = read_form(r, e);
    *s = (struct structured){.part = STRUCTURED_MESSAGE};
    if (has <= 0) /* with Put Block List clients send the length without a structured message */
        return has;
    return read_length(r, STRUCTURED_LENGTH, &s->content, e) < 0 ||
                   read_length(r, "Content-Length", &s->length, e) < 0 ||
                   not_with(r, "Content-MD5", e) < 0 || not_with(r, "x-ms-content-crc64", e) < 0
               ? -1
               : 1;
}

void structured_reply(struct request *r)
{
    reply_header_text(r, STRUCTURED_BODY, STRUCTURED_CRC64);
}

int structuring_wanted(struct request *r, struct err *e)
{
    return read_form(r, e);
}

/* --- taken apart ------------------------------------------------------------------------------ */

#define BAD "The body is not a structured message: "

static int bad_number(const char *what, uint64_t is, uint64_t wanted, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, NULL, BAD "%s is %" PRIu64 "; it must be %" PRIu64 ".", what,
                   is, wanted);
}

static size_t size_of(enum structured_part part)
{
    return part == STRUCTURED_MESSAGE   ? MESSAGE_LEN
           : part == STRUCTURED_SEGMENT ? SEGMENT_LEN
                                        : CRC_LEN;
}

static void enter(struct structured *s, enum structured_part part)
{
    s->part = part;
    s->have = 0;
}

static int read_message(struct structured *s, struct err *e)
{
    uint64_t length = number(s->some + 1, 8), flags = number(s->some + 9, 2);
    s->segments = (unsigned)number(s->some + 11, 2);
    if (s->some[0] != VERSION)
        return bad_number("its version", s->some[0], VERSION, e);
    if (length != s->length)
        return bad_number("its length", length, s->length, e);
    if (flags != FLAG_CRC64)
        return bad_number("its flags", flags, FLAG_CRC64, e);
    if (s->segments == 0 && s->content > 0)
        return bad_number("its number of segments", 0, 1, e);
    enter(s, s->segments == 0 ? STRUCTURED_MESSAGE_CRC : STRUCTURED_SEGMENT);
    return 0;
}

static int read_segment(struct structured *s, struct err *e)
{
    uint64_t n = number(s->some, 2), length = number(s->some + 2, 8);
    if (n != s->segment + 1)
        return bad_number("the number of a segment", n, s->segment + 1, e);
    if (length > s->content - s->got)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       BAD "segment %" PRIu64 " has %" PRIu64 " bytes; with " STRUCTURED_LENGTH
                           " %" PRIu64 " at most %" PRIu64 " are left.",
                       n, length, s->content, s->content - s->got);
    s->segment = (unsigned)n;
    s->segment_crc = 0;
    s->left = length;
    enter(s, length > 0 ? STRUCTURED_BYTES : STRUCTURED_SEGMENT_CRC);
    return 0;
}

static int read_segment_crc(struct structured *s, struct err *e)
{
    if (number(s->some, 8) != s->segment_crc)
        return err_set(e, AZSTORAGE_CRC64_MISMATCH, NULL,
                       "The CRC64 value of segment %u of the structured message did not match with "
                       "the CRC64 value calculated by the server.",
                       s->segment);
    enter(s, s->segment < s->segments ? STRUCTURED_SEGMENT : STRUCTURED_MESSAGE_CRC);
    return 0;
}

static int read_message_crc(struct structured *s, struct err *e)
{
    if (s->got != s->content)
        return bad_number("the number of its bytes", s->got, s->content, e);
    if (number(s->some, 8) != s->crc)
        return err_set(e, AZSTORAGE_CRC64_MISMATCH, NULL,
                       "The CRC64 value of the structured message did not match with the CRC64 "
                       "value calculated by the server.");
    enter(s, STRUCTURED_OVER);
    return 0;
}

/* Reads a head or a CRC; earlier calls may have read some of its bytes. */
static int take_fixed(struct structured *s, const char *bytes, size_t n,
                      struct structured_taken *out, struct err *e)
{
    static int (*const readers[])(struct structured *,
                                  struct err *) = {[STRUCTURED_MESSAGE] = read_message,
                                                   [STRUCTURED_SEGMENT] = read_segment,
                                                   [STRUCTURED_SEGMENT_CRC] = read_segment_crc,
                                                   [STRUCTURED_MESSAGE_CRC] = read_message_crc};
    size_t wanted = size_of(s->part) - s->have;
    out->took = n < wanted ? n : wanted;
    memcpy(s->some + s->have, bytes, out->took);
    s->have += out->took;
    return s->have == size_of(s->part) ? readers[s->part](s, e) : 0;
}

int structured_take(struct structured *s, const char *bytes, size_t n, size_t max,
                    struct structured_taken *out, struct err *e)
{
    *out = (struct structured_taken){0};
    if (s->part == STRUCTURED_OVER)
        return err_set(e, ERR_BAD_REQUEST, NULL, BAD "there are bytes behind its end.");
    if (s->part != STRUCTURED_BYTES)
        return take_fixed(s, bytes, n, out, e);
    size_t some = n < max ? n : max;
    some = some < s->left ? some : (size_t)s->left;
    s->segment_crc = crc64_add(s->segment_crc, bytes, some);
    s->crc = crc64_add(s->crc, bytes, some);
    s->left -= some;
    s->got += some;
    if (s->left == 0)
        enter(s, STRUCTURED_SEGMENT_CRC);
    *out = (struct structured_taken){some, 0, some};
    return 0;
}

bool structured_wants_room(const struct structured *s)
{
    return s->part == STRUCTURED_BYTES;
}

int structured_end(const struct structured *s, struct err *e)
{
    return s->part == STRUCTURED_OVER
               ? 0
               : err_set(e, ERR_BAD_REQUEST, NULL, BAD "it ended early, in segment %u of %u.",
                         s->segment, s->segments);
}

/* --- put together ----------------------------------------------------------------------------- */

uint64_t structuring_begin(struct structuring *s, uint64_t content)
{
    uint64_t most = content / UINT16_MAX + 1; /* segment size for the largest number of segments */
    *s = (struct structuring){.content = content,
                              .segment_max = most > SEGMENT_MAX ? most : SEGMENT_MAX};
    s->segments = content ? (unsigned)((content - 1) / s->segment_max + 1) : 1;
    return MESSAGE_LEN + (uint64_t)s->segments * (SEGMENT_LEN + CRC_LEN) + content + CRC_LEN;
}

static uint64_t of_next_segment(const struct structuring *s)
{
    uint64_t left = s->content - s->got;
    return left < s->segment_max ? left : s->segment_max;
}

size_t structuring_room(const struct structuring *s, size_t max)
{
    bool begins = s->left == 0;
    size_t around = (s->segment == 0 ? MESSAGE_LEN : 0) + (begins ? SEGMENT_LEN : 0) + 2 * CRC_LEN;
    uint64_t left = begins ? of_next_segment(s) : s->left;
    size_t room = max > around ? max - around : 0;
    return left < room ? (size_t)left : room;
}

static void add_number(struct strbuf *out, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_putc(out, (char)(v >> (8 * i)));
}

static void begin_segment(struct structuring *s, struct strbuf *out)
{
    if (s->segment == 0) {
        struct structuring again;
        add_number(out, VERSION, 1);
        add_number(out, structuring_begin(&again, s->content), 8);
        add_number(out, FLAG_CRC64, 2);
        add_number(out, s->segments, 2);
    }
    s->left = of_next_segment(s);
    s->segment++;
    s->segment_crc = 0;
    add_number(out, s->segment, 2);
    add_number(out, s->left, 8);
}

void structuring_add(struct structuring *s, const char *bytes, size_t n, struct strbuf *out)
{
    do {
        if (s->left == 0)
            begin_segment(s, out);
        size_t some = n < s->left ? n : (size_t)s->left;
        strbuf_add(out, bytes, some);
        s->segment_crc = crc64_add(s->segment_crc, bytes, some);
        s->crc = crc64_add(s->crc, bytes, some);
        s->left -= some;
        s->got += some;
        bytes += some;
        n -= some;
        if (s->left == 0)
            add_number(out, s->segment_crc, CRC_LEN);
        if (s->left == 0 && s->segment == s->segments)
            add_number(out, s->crc, CRC_LEN);
    } while (n > 0);
}
