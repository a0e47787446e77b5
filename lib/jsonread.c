/* SPDX-License-Identifier: MIT
 *
 * A recursive descent parser with a limited depth, for a subset of JSON. If the input is outside
 * this subset, the parser frees its tree, and jsonread() calls jansson for the whole text; so this
 * parser has no error messages. The caller owns the tree.
 */
#include "lib/jsonread.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

/* The limits of this parser; jansson parses deeper values and longer numbers. */
enum { DEPTH_MOST = 32, DIGITS_MOST = 18 };

struct json_reader {
    const char *at, *end;
    int depth;
};

static json_t *read_value(struct json_reader *r);

static void skip_blanks(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

/* Accepts `c` after any blanks. If another character follows, only skips the blanks. */
static bool take(struct json_reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* --- strings --------------------------------------------------------------------------------- */

/* The text between two quotes. */
struct json_span {
    const char *from;
    size_t n;
    bool escaped, ascii;
};

static bool read_span(struct json_reader *r, struct json_span *s)
{
    if (!take(r, '"'))
        return false;
    unsigned char all = 0;
    const char *p = r->at;
    *s = (struct json_span){.from = p};
    for (; p < r->end && *p != '"'; p++) {
        if ((unsigned char)*p < ' ')
            return false;
        all |= (unsigned char)*p;
        if (*p != '\\')
            continue;
        s->escaped = true;
        if (++p == r->end)
            return false;
    }
    if (p == r->end)
        return false;
    s->n = (size_t)(p - s->from);
    s->ascii = all < 0x80;
    r->at = p + 1;
    return true;
}

/* The byte that a backslash with `c` means; '\0': not a single byte. */
static char unescaped(char c)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = c ? strchr(from, c) : NULL;
    return found ? to[found - from] : '\0';
}

static json_t *escaped_string(const struct json_span *s)
{
    char *text = xrealloc(NULL, s->n);
    size_t n = 0;
    json_t *v = NULL;
    for (size_t i = 0; i < s->n; i++, n++) {
        bool plain = s->from[i] != '\\';
        text[n] = plain ? s->from[i] : unescaped(s->from[++i]);
        if (!text[n])
            goto out;
    }
    v = json_stringn(text, n);
out:
    explicit_bzero(text, s->n);
    free(text);
    return v;
}

static json_t *read_string(struct json_reader *r)
{
    struct json_span s;
    if (!read_span(r, &s))
        return NULL;
    if (s.escaped)
        return escaped_string(&s);
    return s.ascii ? json_stringn_nocheck(s.from, s.n) : json_stringn(s.from, s.n);
}

/* --- the rest -------------------------------------------------------------------------------- */

static json_t *read_number(struct json_reader *r)
{
    bool minus = take(r, '-');
    int64_t v = 0;
    int digits = 0;
    const char *from = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && digits < DIGITS_MOST; digits++)
        v = v * 10 + (*r->at++ - '0');
    if (digits == 0 || digits == DIGITS_MOST || (*from == '0' && (digits > 1 || minus)) ||
        (r->at < r->end && (*r->at == '.' || *r->at == 'e' || *r->at == 'E')))
        return NULL;
    return json_integer(minus ? -v : v);
}

static json_t *read_word(struct json_reader *r, const char *word, json_t *value)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return NULL;
    r->at += n;
    return value; /* a constant of jansson: it has no reference count */
}

/* Reads a member of an object. False also for a repeated name, which replaces the value, so that
 * the object does not grow. */
static bool read_member(struct json_reader *r, json_t *o)
{
    struct json_span key;
    size_t before = json_object_size(o);
    if (!read_span(r, &key) || key.escaped || !key.ascii || !take(r, ':'))
        return false;
    json_t *v = read_value(r);
    return v && json_object_setn_new_nocheck(o, key.from, key.n, v) == 0 &&
           json_object_size(o) == before + 1;
}

static bool read_item(struct json_reader *r, json_t *a)
{
    json_t *v = read_value(r);
    return v && json_array_append_new(a, v) == 0;
}

static json_t *read_all(struct json_reader *r, json_t *into, char close,
                        bool (*read_one)(struct json_reader *r, json_t *into))
{
    r->at++;
    bool good = ++r->depth <= DEPTH_MOST;
    if (good && !take(r, close)) {
        do
            good = read_one(r, into);
        while (good && take(r, ','));
        good = good && take(r, close);
    }
    r->depth--;
    if (good)
        return into;
    json_decref(into);
    return NULL;
}

/* Reads a value. NULL: not JSON, or outside this parser's subset. */
static json_t *read_value(struct json_reader *r)
{
    skip_blanks(r);
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        return read_all(r, json_object(), '}', read_member);
    case '[':
        return read_all(r, json_array(), ']', read_item);
    case '"':
        return read_string(r);
    case 't':
        return read_word(r, "true", json_true());
    case 'f':
        return read_word(r, "false", json_false());
    case 'n':
        return read_word(r, "null", json_null());
    default:
        return read_number(r);
    }
}

json_t *jsonread(const char *s, size_t n, size_t flags, json_error_t *error)
{
    struct json_reader r = {.at = s, .end = s + n};
    json_t *v = read_value(&r);
    skip_blanks(&r);
    bool whole = r.at == r.end || (flags & JSON_DISABLE_EOF_CHECK);
    if (v && whole && (json_is_object(v) || json_is_array(v) || (flags & JSON_DECODE_ANY)))
        return v;
    json_decref(v);
    return json_loadb(s, n, flags, error);
}

/* Finds the end of the string that begins at `p`. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

size_t jsonread_values(const char *s, size_t n)
{
    size_t values = 1;
    for (const char *p = s, *end = s + n; p < end;) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        values += *p == ',' || *p == '[' || *p == '{';
        p++;
    }
    return values;
}

json_t *jsonread_text(const char *s, size_t flags, json_error_t *error)
{
    return jsonread(s, strlen(s), flags, error);
}
