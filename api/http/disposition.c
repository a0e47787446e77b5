/* SPDX-License-Identifier: MIT
 *
 * The header has two forms of the name: `filename`, with only its ASCII characters, for old
 * clients, and `filename*` (RFC 8187), with the whole name. Pure functions.
 */
#include "api/http/disposition.h"

#include <ctype.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"

#define NAME_MAX_SHOWN 200 /* bytes; clients cut names of files at 255, and add to them */

/* Whether the character is invisible or changes the direction of other characters: U+0080-009F,
 * 00AD, 061C, 180E, 200B-200F, 2028-202E, 2060-206F, FEFF, FFF9-FFFB. */
static bool is_hidden(const unsigned char *s, size_t n)
{
    static const struct {
        size_t n;
        unsigned char first[2], least, most; /* least, most: range of the last byte */
    } hidden[] = {{2, {0xc2}, 0x80, 0x9f},       {2, {0xc2}, 0xad, 0xad},
                  {2, {0xd8}, 0x9c, 0x9c},       {3, {0xe1, 0xa0}, 0x8e, 0x8e},
                  {3, {0xe2, 0x80}, 0x8b, 0x8f}, {3, {0xe2, 0x80}, 0xa8, 0xae},
                  {3, {0xe2, 0x81}, 0xa0, 0xaf}, {3, {0xef, 0xbb}, 0xbf, 0xbf},
                  {3, {0xef, 0xbf}, 0xb9, 0xbb}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (n == hidden[i].n && memcmp(s, hidden[i].first, n - 1) == 0 &&
            s[n - 1] >= hidden[i].least && s[n - 1] <= hidden[i].most)
            return true;
    return false;
}

static bool is_safe_ascii(unsigned char c)
{
    return c >= ' ' && c < 0x7f && !strchr("/\\\"", c);
}

/* Adds one character to both forms of the name. */
static void add(struct strbuf *ascii, struct strbuf *whole, const char *s, size_t n)
{
    const unsigned char *c = (const unsigned char *)s;
    bool one = n == 1 && is_safe_ascii(*c);
    strbuf_putc(ascii, one ? *s : '_');
    if (n < 2 ? !one : is_hidden(c, n)) {
        strbuf_putc(whole, '_');
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (isalnum(c[i]) && c[i] < 0x80)
            strbuf_putc(whole, s[i]);
        else if (c[i] < 0x80 && strchr("-._~!#$&+^`|", c[i])) /* attr-char */
            strbuf_putc(whole, s[i]);
        else
            strbuf_printf(whole, "%%%02X", c[i]);
}

const char *disposition_attachment(struct arena *a, const char *name)
{
    struct strbuf ascii = STRBUF_INIT, whole = STRBUF_INIT;
    const char *end = name + jsontext_cut(name, NAME_MAX_SHOWN);
    for (const char *p = name; p < end;) {
        size_t n = jsontext_character(p);
        n = n ? n : 1; /* not UTF-8 */
        add(&ascii, &whole, p, (unsigned char)*p < 0x80 || n > 1 ? n : 0);
        p += n;
    }
    if (ascii.len == 0)
        add(&ascii, &whole, "_", 1);
    const char *text =
        arena_concat(a, "attachment; filename=\"", ascii.s, "\"; filename*=UTF-8''", whole.s);
    strbuf_free(&ascii);
    strbuf_free(&whole);
    return text;
}
