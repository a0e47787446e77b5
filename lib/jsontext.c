/* SPDX-License-Identifier: MIT */
#include "lib/jsontext.h"

#include <stdint.h>
#include <stdlib.h>

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
