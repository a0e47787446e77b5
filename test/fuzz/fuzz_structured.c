/* SPDX-License-Identifier: MIT
 *
 * Structured messages: a byte for the length of the content (times 3), one for the size of pieces,
 * and then the message. However it is cut into pieces, and however little room there is, the same
 * comes of it. What is put together is taken apart again.
 */
#include "api/plane/storage/structured.h"
#include "lib/strbuf.h"
#include "test/fuzz/fuzz.h"

/* -1: refused. The content is in `out`. */
static int take_apart(const char *bytes, size_t n, uint64_t content, size_t piece, size_t room,
                      struct strbuf *out, struct err *e)
{
    struct structured s = {.part = STRUCTURED_MESSAGE, .length = n, .content = content};
    size_t at = 0;
    while (at < n) {
        struct structured_taken t;
        size_t some = n - at < piece ? n - at : piece;
        if (structured_take(&s, bytes + at, some, room, &t, e) < 0)
            return -1;
        CLAIM(t.took > 0 && t.took <= some && t.found <= room && t.from + t.found <= t.took);
        strbuf_add(out, bytes + at + t.from, t.found);
        at += t.took;
    }
    CLAIM(out->len <= content);
    return structured_end(&s, e);
}

static void same_in_pieces(const char *bytes, size_t n, uint64_t content, size_t piece)
{
    struct strbuf whole = STRBUF_INIT, cut = STRBUF_INIT;
    struct err e = {0}, other = {0};
    int rc = take_apart(bytes, n, content, n + 1, SIZE_MAX, &whole, &e);
    tell("message", rc, e.msg);
    CLAIM(rc == take_apart(bytes, n, content, piece, piece, &cut, &other));
    CLAIM(rc == 0 || (e.code == other.code && strcmp(e.msg, other.msg) == 0));
    CLAIM(rc < 0 || (whole.len == content && cut.len == content));
    CLAIM(rc < 0 || content == 0 || memcmp(whole.s, cut.s, content) == 0);
    strbuf_free(&whole);
    strbuf_free(&cut);
}

static void comes_back(const char *bytes, size_t n, size_t piece)
{
    struct strbuf message = STRBUF_INIT, back = STRBUF_INIT;
    struct structuring s;
    struct err e;
    uint64_t length = structuring_begin(&s, n);
    size_t at = 0;
    do {
        size_t left = (size_t)length - message.len, max = left < piece + 64 ? left : piece + 64;
        size_t some = structuring_room(&s, max), before = message.len;
        structuring_add(&s, bytes + at, some, &message);
        CLAIM(some > 0 || n == 0);
        CLAIM(message.len - before <= max);
        at += some;
    } while (at < n);
    CLAIM(message.len == length);
    CLAIM(take_apart(message.s, message.len, n, piece, piece, &back, &e) == 0);
    CLAIM(back.len == n && (n == 0 || memcmp(back.s, bytes, n) == 0));
    strbuf_free(&message);
    strbuf_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    size_t piece = data[1] ? data[1] : 1;
    same_in_pieces(bytes, size - 2, (uint64_t)data[0] * 3, piece);
    comes_back(bytes, size - 2, piece);
    return 0;
}
