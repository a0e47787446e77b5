/* SPDX-License-Identifier: MIT
 *
 * A filter is one line of text. It is evaluated while it is parsed: once without an item to check
 * it, and once for each item.
 */
#include "api/http/odata.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 32 /* nesting of parentheses and nots */
#define WORD_MAX  160

struct parser {
    const struct odata *o;
    const char *text, *at;
    const json_t *item; /* NULL: only checking */
    int depth;
    size_t terms;
    bool failed;
    struct err *e;
};

enum literal_kind { LIT_NULL, LIT_TEXT, LIT_NUMBER, LIT_BOOL };

struct literal {
    enum literal_kind kind;
    char text[512];
    double number;
    bool truth;
};

static const char *const operators[] = {"eq", "ne", "lt", "le", "gt", "ge"};
enum { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OPS };
static_assert(sizeof operators / sizeof operators[0] == OPS, "a word an operator");

static bool expect(struct parser *p, const char *what)
{
    if (!p->failed)
        err_set(p->e, ERR_INVALID_QUERY, "$filter",
                "$filter is '%.200s'; at position %d there must be %s.", p->text,
                (int)(p->at - p->text) + 1, what);
    p->failed = true;
    return false;
}

static void skip_spaces(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take_char(struct parser *p, char c)
{
    skip_spaces(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static bool take_word(struct parser *p, const char *word)
{
    skip_spaces(p);
    size_t n = word_length(p->at);
    if (n != strlen(word) || strncasecmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static const struct field *row_of(const struct schema *s, enum api_version v, const char *name,
                                  size_t n)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    for (size_t i = 0; s && i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        bool known = f->versions == 0 || (f->versions & (unsigned)v);
        if (known && !(f->flags & hidden) && strlen(f->name) == n &&
            strncasecmp(f->name, name, n) == 0)
            return f;
    }
    return NULL;
}

/* Turns the path [s, s + n) into the table's spelling, and adds a missing "properties/". False: the
 * table has no such property. */
static bool resolve(const struct odata *o, const char *s, size_t n, char out[WORD_MAX])
{
    const struct field *properties = row_of(o->schema, o->version, "properties", 10);
    const struct schema *level = o->schema;
    size_t used = 0, first = strcspn(s, "/");
    if (first > n)
        first = n;
    if (!row_of(level, o->version, s, first) && properties) {
        level = properties->sub;
        used = (size_t)snprintf(out, WORD_MAX, "properties");
    }
    for (const char *end = s + n; s < end; s++) {
        size_t len = strcspn(s, "/");
        if (len > (size_t)(end - s))
            len = (size_t)(end - s);
        const struct field *f = row_of(level, o->version, s, len);
        if (!f || used + strlen(f->name) + 2 > WORD_MAX)
            return false;
        used += (size_t)snprintf(out + used, WORD_MAX - used, "%s%s", used ? "/" : "", f->name);
        level = f->sub;
        s += len;
    }
    return used > 0;
}

static json_t *value_at(const json_t *item, const char *path)
{
    json_t *v = (json_t *)(uintptr_t)item;
    char name[WORD_MAX];
    while (v && *path) {
        size_t n = strcspn(path, "/");
        assert(n < sizeof name); /* resolve() has made it */
        memcpy(name, path, n);
        name[n] = '\0';
        v = json_object_get(v, name);
        path += n + (path[n] == '/');
    }
    return v;
}

static size_t path_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_/", s[n])))
        n++;
    return n;
}

static bool take_path(struct parser *p, json_t **value)
{
    char path[WORD_MAX];
    skip_spaces(p);
    size_t n = path_length(p->at);
    if (n == 0 || !resolve(p->o, p->at, n, path))
        return expect(p, "the name of a property, such as name or properties/vmSize");
    p->at += n;
    *value = p->item ? value_at(p->item, path) : NULL;
    return true;
}

static bool take_text(struct parser *p, struct literal *l)
{
    size_t n = 0;
    if (!take_char(p, '\''))
        return false;
    for (; *p->at && n + 1 < sizeof l->text; p->at++) {
        if (*p->at == '\'' && p->at[1] != '\'')
            break;
        if (*p->at == '\'')
            p->at++;
        l->text[n++] = *p->at;
    }
    l->text[n] = '\0';
    l->kind = LIT_TEXT;
    return take_char(p, '\'') || expect(p, "a closing quote (texts have at most 511 bytes)");
}

static bool take_literal(struct parser *p, struct literal *l)
{
    char *end;
    *l = (struct literal){0};
    if (take_text(p, l) || p->failed)
        return !p->failed;
    l->truth = take_word(p, "true");
    if (l->truth || take_word(p, "false")) {
        l->kind = LIT_BOOL;
        return true;
    }
    if (take_word(p, "null"))
        return true;
    l->number = strtod(p->at, &end);
    if (end == p->at)
        return expect(p, "a value: 'text', a number, true, false or null");
    p->at = end;
    l->kind = LIT_NUMBER;
    return true;
}

static bool holds(int op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    }
    return order >= 0;
}

/* A missing property, or one of another type, equals only null. */
static bool compare(const json_t *v, int op, const struct literal *l)
{
    switch (l->kind) {
    case LIT_NULL:
        return (op == OP_EQ && !v) || (op == OP_NE && v);
    case LIT_TEXT:
        if (json_is_string(v))
            return holds(op, strcasecmp(json_string_value(v), l->text));
        break;
    case LIT_NUMBER:
        if (json_is_number(v))
            return holds(op,
                         (json_number_value(v) > l->number) - (json_number_value(v) < l->number));
        break;
    case LIT_BOOL:
        if (json_is_boolean(v))
            return holds(op, json_is_true(v) != l->truth);
        break;
    }
    return op == OP_NE;
}

static bool parse_or(struct parser *p);

static bool parse_starts_with(struct parser *p)
{
    json_t *v = NULL;
    struct literal l;
    if (!take_char(p, '('))
        return expect(p, "'('");
    if (!take_path(p, &v))
        return false;
    if (!take_char(p, ','))
        return expect(p, "','");
    if (!take_literal(p, &l))
        return false;
    if (l.kind != LIT_TEXT)
        return expect(p, "a 'text' before");
    if (!take_char(p, ')'))
        return expect(p, "')'");
    return json_is_string(v) && strncasecmp(json_string_value(v), l.text, strlen(l.text)) == 0;
}

static bool parse_comparison(struct parser *p)
{
    json_t *v = NULL;
    struct literal l;
    int op = 0;
    p->terms++;
    if (take_word(p, "startswith"))
        return parse_starts_with(p);
    if (!take_path(p, &v))
        return false;
    while (op < OPS && !take_word(p, operators[op]))
        op++;
    if (op == OPS)
        return expect(p, "one of eq, ne, lt, le, gt and ge");
    return take_literal(p, &l) && compare(v, op, &l);
}

static bool parse_unary(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return expect(p, "less nesting");
    bool result;
    if (take_word(p, "not")) {
        result = !parse_unary(p);
    } else if (take_char(p, '(')) {
        result = parse_or(p);
        if (!p->failed && !take_char(p, ')'))
            expect(p, "')'");
    } else {
        result = parse_comparison(p);
    }
    p->depth--;
    return result;
}

/* Both sides are always parsed, because the text must be read to its end. */
static bool parse_and(struct parser *p)
{
    bool result = parse_unary(p);
    while (!p->failed && take_word(p, "and"))
        result = parse_unary(p) && result;
    return result;
}

static bool parse_or(struct parser *p)
{
    bool result = parse_and(p);
    while (!p->failed && take_word(p, "or"))
        result = parse_and(p) || result;
    return result;
}

static int check_filter(struct odata *o, struct err *e)
{
    struct parser p = {.o = o, .text = o->filter, .at = o->filter, .e = e};
    parse_or(&p);
    skip_spaces(&p);
    if (!p.failed && *p.at)
        expect(&p, "the end, 'and' or 'or'");
    o->terms = p.terms;
    return p.failed ? -1 : 0;
}

/* The next path of $select; false at its end. *ok: it is a property. */
static bool next_selected(const struct odata *o, const char **at, char path[WORD_MAX], bool *ok)
{
    while (**at == ' ' || **at == ',')
        (*at)++;
    if (!**at)
        return false;
    size_t n = strcspn(*at, ", ");
    path[0] = '\0';
    *ok = path_length(*at) == n && resolve(o, *at, n, path);
    *at += n;
    return true;
}

static int check_select(const struct odata *o, struct err *e)
{
    char path[WORD_MAX];
    bool ok = true;
    const char *at = o->select;
    while (ok && next_selected(o, &at, path, &ok))
        ;
    if (ok)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$select",
                   "$select is '%.200s'; it must be a comma-separated list of properties, such as "
                   "name,properties/vmSize.",
                   o->select);
}

int odata_check(struct odata *o, struct err *e)
{
    if (o->filter && check_filter(o, e) < 0)
        return -1;
    return o->select ? check_select(o, e) : 0;
}

bool odata_matches(const struct odata *o, const json_t *item)
{
    struct err ignored;
    struct parser p = {.o = o, .text = o->filter, .at = o->filter, .item = item, .e = &ignored};
    bool matches = !o->filter || parse_or(&p);
    assert(!p.failed); /* odata_check() has read it */
    return matches;
}

/* Copies the value at `path` from `item` to the same place in `out`. */
static void copy_path(const json_t *item, const char *path, json_t *out)
{
    char name[WORD_MAX];
    json_t *value = value_at(item, path);
    if (!value)
        return;
    for (size_t n; n = strcspn(path, "/"), path[n] == '/'; path += n + 1) {
        memcpy(name, path, n);
        name[n] = '\0';
        json_t *inner = json_object_get(out, name);
        if (!inner) {
            inner = json_object();
            json_object_set_new(out, name, inner);
        }
        out = inner;
    }
    json_object_set(out, path, value);
}

json_t *odata_pick(const struct odata *o, json_t *item)
{
    char path[WORD_MAX];
    bool ok = true;
    const char *at = o->select;
    if (!at || !*at)
        return item;
    json_t *out = json_object();
    while (next_selected(o, &at, path, &ok))
        copy_path(item, path, out);
    json_decref(item);
    return out;
}
