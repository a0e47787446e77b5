/* SPDX-License-Identifier: MIT
 *
 * The engine's way out. A stored document is never made into a tree: its text is cut into tokens
 * (jsmn), and what is shown as it is stored is copied. Half of what a reply costs was such trees.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "lib/arena.h"
#include "lib/jsontext.h"
#include "model/home.h"
#include "model/schema_priv.h"

#define FIELDS_MAX   64  /* of one table */
#define TOKENS_SMALL 256 /* documents with more are rare: only those take memory for them */
#define ENUM_SIZE    64  /* no name of a value is so long, or holds what is escaped */
#define NONE         (-1)

struct writer {
    struct strbuf *out;
    enum api_version v;
    const char *text;
    const jsmntok_t *tok;
    int n; /* tokens */
};

/* A value: in a tree, in the text, or, of an object, in both; then the tree's members win. */
struct value {
    const json_t *tree;
    int tok; /* NONE: not in the text */
};

static const char *text_of(const struct writer *w, int tok, size_t *n)
{
    *n = (size_t)(w->tok[tok].end - w->tok[tok].start);
    return w->text + w->tok[tok].start;
}

static bool is(const struct writer *w, int tok, jsmntype_t type)
{
    return tok != NONE && w->tok[tok].type == type;
}

/* The first token behind a value and all that is in it. */
static int behind(const struct writer *w, int tok)
{
    int end = w->tok[tok].end;
    do
        tok++;
    while (tok < w->n && w->tok[tok].start < end);
    return tok;
}

static bool same(const char *name, const char *key, size_t n)
{
    return name[0] == key[0] && strncmp(name, key, n) == 0 && name[n] == '\0';
}

/* Where in the text each field of the table has its value. */
static void find_members(const struct writer *w, const struct schema *s, int object,
                         int at[FIELDS_MAX])
{
    assert(s->n_fields <= FIELDS_MAX);
    for (size_t i = 0; i < s->n_fields; i++)
        at[i] = NONE;
    if (!is(w, object, JSMN_OBJECT))
        return;
    int last = behind(w, object);
    for (int key = object + 1, value; key < last; key = behind(w, value)) {
        size_t n;
        const char *name = text_of(w, key, &n);
        value = key + 1;
        for (size_t i = 0; n > 0 && i < s->n_fields; i++)
            if (same(field_canon(&s->fields[i]), name, n))
                at[i] = value;
    }
}

static void add_token(const struct writer *w, int tok)
{
    size_t quote = w->tok[tok].type == JSMN_STRING;
    size_t n;
    const char *text = text_of(w, tok, &n);
    strbuf_add(w->out, text - quote, n + 2 * quote);
}

static void add_value(const struct writer *w, const struct value *in)
{
    if (in->tree)
        jsontext_add(w->out, in->tree);
    else
        add_token(w, in->tok);
}

/* A string by itself; the caller frees it. */
static char *string_of(const struct writer *w, const struct value *in)
{
    if (in->tree)
        return xstrdup(json_string_value(in->tree));
    size_t n;
    const char *text = text_of(w, in->tok, &n);
    json_t *v = json_loadb(text - 1, n + 2, JSON_DECODE_ANY, NULL);
    char *copy = v ? xstrdup(json_string_value(v)) : NULL;
    json_decref(v);
    return copy;
}

static bool tree_fits(const struct field *f, const json_t *in)
{
    switch (f->kind) {
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_DURATION:
    case FIELD_TIME:
        return json_is_string(in);
    case FIELD_INT:
        return json_is_integer(in);
    case FIELD_BOOL:
        return json_is_boolean(in);
    case FIELD_OBJECT:
    case FIELD_MAP:
        return json_is_object(in);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return json_is_array(in);
    }
    return false;
}

static bool token_fits(const struct writer *w, const struct field *f, int tok)
{
    size_t n;
    const char *text = text_of(w, tok, &n);
    switch (f->kind) {
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_DURATION:
    case FIELD_TIME:
        return is(w, tok, JSMN_STRING);
    case FIELD_INT:
        return is(w, tok, JSMN_PRIMITIVE) && (text[0] == '-' || isdigit((unsigned char)text[0])) &&
               strcspn(text, ".eE") >= n;
    case FIELD_BOOL:
        return is(w, tok, JSMN_PRIMITIVE) && (text[0] == 't' || text[0] == 'f');
    case FIELD_OBJECT:
    case FIELD_MAP:
        return is(w, tok, JSMN_OBJECT);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return is(w, tok, JSMN_ARRAY);
    }
    return false;
}

/* A value of a newer version may be none of this one's. */
static bool is_of_enum(const struct writer *w, const struct field *f, const struct value *in)
{
    if (in->tree)
        return enum_from_name(f->values, json_string_value(in->tree)) != 0;
    char name[ENUM_SIZE];
    size_t n;
    const char *text = text_of(w, in->tok, &n);
    if (n >= sizeof name)
        return false;
    memcpy(name, text, n);
    name[n] = '\0';
    return enum_from_name(f->values, name) != 0;
}

static void add_id(const struct writer *w, const struct value *in)
{
    char *whole = w->v & V_FLAT ? string_of(w, in) : NULL;
    char *id = whole ? home_short_id(whole) : NULL;
    json_t *text = id ? json_string(id) : NULL;
    if (text)
        jsontext_add(w->out, text);
    else
        add_value(w, in);
    json_decref(text);
    free(id);
    free(whole);
}

static void add_object(const struct writer *w, const struct schema *s, struct value in);

static void add_array(const struct writer *w, const struct schema *s, const struct value *in)
{
    char before = '[';
    size_t n = in->tree ? json_array_size(in->tree) : (size_t)w->tok[in->tok].size;
    int tok = in->tok + 1;
    for (size_t i = 0; i < n; i++) {
        struct value item = {in->tree ? json_array_get(in->tree, i) : NULL, NONE};
        if (!in->tree) {
            item.tok = tok;
            tok = behind(w, tok);
        }
        if (!json_is_object(item.tree) && !is(w, item.tok, JSMN_OBJECT))
            continue;
        strbuf_putc(w->out, before);
        add_object(w, s, item);
        before = ',';
    }
    strbuf_puts(w->out, before == '[' ? "[]" : "]");
}

/* false: nothing of it is shown, and what was written is to be taken back. */
static bool add_field(const struct writer *w, const struct field *f, const struct value *in)
{
    if (!in->tree && in->tok == NONE) {
        if (f->flags & FIELD_ALWAYS)
            strbuf_puts(w->out, "\"\"");
        return f->flags & FIELD_ALWAYS;
    }
    if (in->tree ? !tree_fits(f, in->tree) : !token_fits(w, f, in->tok))
        return false;
    if (f->kind == FIELD_ENUM && !is_of_enum(w, f, in))
        return false;
    size_t from = w->out->len;
    if (f->kind == FIELD_OBJECT)
        add_object(w, f->sub, *in);
    else if (f->kind == FIELD_ARRAY)
        add_array(w, f->sub, in);
    else if (f->flags & FIELD_ID)
        add_id(w, in);
    else
        add_value(w, in);
    const char *added = w->out->s + from;
    bool empty = strcmp(added, "{}") == 0 || strcmp(added, "[]") == 0;
    return !empty || (f->flags & FIELD_KEEP_EMPTY);
}

static void add_object(const struct writer *w, const struct schema *s, struct value in)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    int at[FIELDS_MAX];
    char before = '{';
    find_members(w, s, in.tok, at);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        if ((f->flags & hidden) || !field_known(f, w->v))
            continue;
        struct value member = {in.tree ? json_object_get(in.tree, field_canon(f)) : NULL, at[i]};
        if (member.tree && !(json_is_object(member.tree) && is(w, member.tok, JSMN_OBJECT)))
            member.tok = NONE;
        size_t from = w->out->len;
        strbuf_putc(w->out, before);
        strbuf_putc(w->out, '"');
        strbuf_puts(w->out, f->name);
        strbuf_add(w->out, "\":", 2);
        if (add_field(w, f, &member))
            before = ',';
        else
            strbuf_cut(w->out, from);
    }
    strbuf_puts(w->out, before == '{' ? "{}" : "}");
}

/* Each name in an object has one value, as jsmn does not see to. */
static bool members_are_pairs(const jsmntok_t *tok, int n)
{
    for (int i = 0; i < n; i++) {
        int up = tok[i].parent;
        if (up != NONE && tok[up].type == JSMN_OBJECT &&
            (tok[i].type != JSMN_STRING || tok[i].size != 1))
            return false;
        if (up != NONE && tok[up].type == JSMN_STRING && i != up + 1)
            return false;
    }
    return n > 0 && tok[0].type == JSMN_OBJECT && (n == 1 || tok[n - 1].end < tok[0].end);
}

/* The tokens of a text, in `few` or, if those are not enough, in memory that the caller frees.
 * Returns how many there are, 0 for what is no object. */
static int cut(const char *text, jsmntok_t few[TOKENS_SMALL], jsmntok_t **tok)
{
    jsmn_parser p;
    jsmn_init(&p);
    size_t n = strlen(text), room = TOKENS_SMALL;
    jsmntok_t *more = NULL;
    int found;
    *tok = few;
    while ((found = jsmn_parse(&p, text, n, *tok, (unsigned)room)) == JSMN_ERROR_NOMEM) {
        room *= 4;
        more = xrealloc(more, room * sizeof *more);
        if (*tok == few)
            memcpy(more, few, sizeof(jsmntok_t) * TOKENS_SMALL);
        *tok = more;
    }
    return found > 0 && members_are_pairs(*tok, found) ? found : 0;
}

void schema_render(struct strbuf *out, const struct schema *s, enum api_version v,
                   const char *stored, const json_t *over)
{
    jsmntok_t few[TOKENS_SMALL], *tok = few;
    struct writer w = {.out = out, .v = v, .text = stored};
    w.n = stored ? cut(stored, few, &tok) : 0;
    w.tok = tok;
    add_object(&w, s, (struct value){over, w.n > 0 ? 0 : NONE});
    if (tok != few)
        free(tok);
}
