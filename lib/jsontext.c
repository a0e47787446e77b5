/* SPDX-License-Identifier: MIT */
#include "lib/jsontext.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PLAIN 0x20 /* control characters lie below */

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

static void add_string(struct strbuf *b, const char *s, size_t n)
{
    strbuf_putc(b, '"');
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= FIRST_PLAIN && c != '"' && c != '\\')
            continue;
        strbuf_add(b, s + from, i - from);
        add_escaped(b, c);
        from = i + 1;
    }
    strbuf_add(b, s + from, n - from);
    strbuf_putc(b, '"');
}

static void add_object(struct strbuf *b, json_t *o)
{
    char before = '{';
    for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
        strbuf_putc(b, before);
        add_string(b, json_object_iter_key(i), json_object_iter_key_len(i));
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

/* Rare, and hard to print so that it reads back the same: jansson knows how. */
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
        add_object(b, (json_t *)(uintptr_t)v); /* iterating takes no const */
        break;
    case JSON_ARRAY:
        add_array(b, v);
        break;
    case JSON_STRING:
        add_string(b, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        strbuf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
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

json_t *jsontext_string(const char *s)
{
    json_t *v = json_string(s);
    if (v)
        return v;
    struct strbuf b = STRBUF_INIT;
    while (*s) {
        size_t n = jsontext_character(s);
        if (n)
            strbuf_add(&b, s, n);
        else
            strbuf_puts(&b, "\xef\xbf\xbd");
        s += n ? n : 1;
    }
    char *text = strbuf_take(&b);
    v = json_string(text);
    assert(v);
    free(text);
    return v;
}
