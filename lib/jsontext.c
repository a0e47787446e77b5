/* SPDX-License-Identifier: MIT
 *
 * Characters that need no escape are found eight at a time and copied together. jansson refuses
 * texts that are not UTF-8, as texts from outside may be; the functions at the end of this file
 * repair them, and cut texts between characters.
 */
#include "lib/jsontext.h"

#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PLAIN 0x20 /* lower bytes are control characters */

static const char short_escapes[FIRST_PLAIN] = {
    ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

static void add_escaped(struct strbuf *b, unsigned char c)
{
    if (c >= FIRST_PLAIN) {
        strbuf_putc(b, '\\');
        strbuf_putc(b, (char)c);
    } else if (short_escapes[c]) {
        strbuf_putc(b, '\\');
        strbuf_putc(b, short_escapes[c]);
    } else {
        strbuf_printf(b, "\\u%04X", c);
    }
}

static bool is_plain(unsigned char c)
{
    return c >= FIRST_PLAIN && c != '"' && c != '\\';
}

/* multiplied by a byte, it is a word whose eight bytes are all that byte */
#define EACH_BYTE (~UINT64_C(0) / 255)

/* Sets the highest bit of each of the eight bytes that is less than `least` (at most 128). Only the
 * lowest bit set is reliable: bits above it may be wrong. */
static uint64_t below(uint64_t word, uint64_t least)
{
    return (word - EACH_BYTE * least) & ~word & (EACH_BYTE * 128);
}

size_t jsontext_plain(const char *s, size_t n)
{
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, s + i, sizeof word);
        word = le64toh(word);
        uint64_t special = below(word, FIRST_PLAIN) | below(word ^ EACH_BYTE * '"', 1) |
                           below(word ^ EACH_BYTE * '\\', 1);
        if (special)
            return i + (size_t)__builtin_ctzll(special) / 8;
    }
    while (i < n && is_plain((unsigned char)s[i]))
        i++;
    return i;
}

void jsontext_add_text(struct strbuf *b, const char *s, size_t n)
{
    char *at = strbuf_room(b, n + 2);
    size_t plain = jsontext_plain(s, n);
    *at = '"';
    memcpy(at + 1, s, plain);
    b->len += plain + 1;
    for (size_t from = plain; from < n; from += plain) {
        add_escaped(b, (unsigned char)s[from++]);
        plain = jsontext_plain(s + from, n - from);
        strbuf_add(b, s + from, plain);
    }
    strbuf_putc(b, '"');
}

static void add_object(struct strbuf *b, json_t *o)
{
    char before = '{';
    for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
        strbuf_putc(b, before);
        jsontext_add_text(b, json_object_iter_key(i), json_object_iter_key_len(i));
        strbuf_putc(b, ':');
        jsontext_add(b, json_object_iter_value(i));
        before = ',';
    }
    strbuf_puts(b, before == '{' ? "{}" : "}");
}

static void add_array(struct strbuf *b, const json_t *a)
{
    strbuf_putc(b, '[');
    for (size_t i = 0; i < json_array_size(a); i++) {
        if (i > 0)
            strbuf_putc(b, ',');
        jsontext_add(b, json_array_get(a, i));
    }
    strbuf_putc(b, ']');
}

/* jansson prints real numbers, because they are rare, and printing them without loss is hard. */
static void add_real(struct strbuf *b, const json_t *v)
{
    char *text = json_dumps(v, JSON_ENCODE_ANY);
    if (!text)
        abort();
    strbuf_puts(b, text);
    free(text);
}

void jsontext_add(struct strbuf *b, const json_t *v)
{
    assert(v);
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        add_object(b, (json_t *)(uintptr_t)v); /* jansson's iteration takes no const */
        break;
    case JSON_ARRAY:
        add_array(b, v);
        break;
    case JSON_STRING:
        jsontext_add_text(b, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        strbuf_int(b, json_integer_value(v));
        break;
    case JSON_REAL:
        add_real(b, v);
        break;
    case JSON_TRUE:
        strbuf_puts(b, "true");
        break;
    case JSON_FALSE:
        strbuf_puts(b, "false");
        break;
    case JSON_NULL:
        strbuf_puts(b, "null");
        break;
    }
}

char *jsontext(const json_t *value)
{
    struct strbuf b = STRBUF_INIT;
    jsontext_add(&b, value);
    return strbuf_take(&b);
}

const char *jsontext_in(struct arena *a, const json_t *value)
{
    struct strbuf b = STRBUF_INIT;
    if (!value)
        return NULL;
    jsontext_add(&b, value);
    const char *copy = arena_strndup(a, b.s, b.len);
    strbuf_free(&b);
    return copy;
}

const char *jsontext_new_in(struct arena *a, json_t *value)
{
    json_auto_t *stolen = value;
    return jsontext_in(a, stolen);
}

const char *jsontext_filled_in(struct arena *a, json_t *value)
{
    json_auto_t *stolen = value;
    return json_object_size(value) + json_array_size(value) > 0 ? jsontext_in(a, stolen) : NULL;
}

static bool is_ascii(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80)
            return false;
    return true;
}

bool jsontext_is_utf8(const char *s, size_t n)
{
    if (is_ascii(s, n))
        return true;
    json_t *v = json_stringn(s, n);
    json_decref(v);
    return v != NULL;
}

size_t jsontext_character(const char *s)
{
    for (size_t n = 1; n <= 4 && s[n - 1]; n++)
        if (jsontext_is_utf8(s, n))
            return n;
    return 0;
}

size_t jsontext_cut(const char *s, size_t max)
{
    size_t n = strnlen(s, max + 1);
    if (n <= max)
        return n;
    for (n = max; n > 0 && max - n < 3 && ((unsigned char)s[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

/* Replaces each byte that is not UTF-8 by U+FFFD; caller frees. */
static char *replaced(const char *s)
{
    struct strbuf b = STRBUF_INIT;
    while (*s) {
        size_t n = jsontext_character(s);
        if (n)
            strbuf_add(&b, s, n);
        else
            strbuf_puts(&b, "\xef\xbf\xbd");
        s += n ? n : 1;
    }
    return strbuf_take(&b);
}

/* The length of `s` without an incomplete character at its end. */
static size_t whole(const char *s, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++)
        if ((unsigned char)s[n - k] >= 0xc0)
            return jsontext_character(s + n - k) == k ? n : n - k;
    return n;
}

void jsontext_mend(char *s, size_t size)
{
    size_t n = strlen(s);
    assert(n < size);
    if (is_ascii(s, n))
        return;
    if (n + 1 == size)
        s[n = whole(s, n)] = '\0';
    if (jsontext_is_utf8(s, n))
        return;
    char *text = replaced(s);
    n = jsontext_cut(text, size - 1);
    memcpy(s, text, n);
    s[n] = '\0';
    free(text);
}

json_t *jsontext_string(const char *s)
{
    json_t *v = json_string(s);
    if (v)
        return v;
    char *text = replaced(s);
    v = json_string(text);
    assert(v);
    free(text);
    return v;
}

json_t *jsontext_optional(const char *s)
{
    return s ? jsontext_string(s) : NULL;
}
