/* SPDX-License-Identifier: MIT
 *
 * The engine's way out. A stored document is never made into a tree: its text is cut into tokens
 * (jsmn), and what is shown as it is stored is copied. Half of what a reply costs was such trees.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/jsontext.h"
#include "model/home.h"
#include "model/schema_priv.h"
#include "model/tokens.h"

#define FIELDS_MAX 64 /* of one table */
#define ENUM_SIZE  64 /* no name of a value is so long, or holds what is escaped */

struct writer {
    struct strbuf *out;
    enum api_version v;
    const struct tokens *in;
};

/* A value: in a tree, in the text, or, of an object, in both; then the tree's members win. */
struct value {
    const json_t *tree;
    int tok; /* NO_TOKEN: not in the text */
};

/* Where in the text each field of the table has its value. */
static void find_members(const struct writer *w, const struct schema *s, int object,
                         int at[FIELDS_MAX])
{
    assert(s->n_fields <= FIELDS_MAX);
    for (size_t i = 0; i < s->n_fields; i++)
        at[i] = NO_TOKEN;
    if (!token_is(w->in, object, JSMN_OBJECT))
        return;
    int last = token_behind(w->in, object);
    for (int key = object + 1, value; key < last; key = token_behind(w->in, value)) {
        value = key + 1;
        for (size_t i = 0; i < s->n_fields; i++)
            if (token_named(w->in, key, field_canon(&s->fields[i])))
                at[i] = value;
    }
}

static void add_token(const struct writer *w, int tok)
{
    size_t quote = token_is(w->in, tok, JSMN_STRING);
    size_t n;
    const char *text = token_text(w->in, tok, &n);
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
    const char *text = token_text(w->in, in->tok, &n);
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
    const char *text = token_text(w->in, tok, &n);
    switch (f->kind) {
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_DURATION:
    case FIELD_TIME:
        return token_is(w->in, tok, JSMN_STRING);
    case FIELD_INT:
        return token_is(w->in, tok, JSMN_PRIMITIVE) &&
               (text[0] == '-' || isdigit((unsigned char)text[0])) && strcspn(text, ".eE") >= n;
    case FIELD_BOOL:
        return token_is(w->in, tok, JSMN_PRIMITIVE) && (text[0] == 't' || text[0] == 'f');
    case FIELD_OBJECT:
    case FIELD_MAP:
        return token_is(w->in, tok, JSMN_OBJECT);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return token_is(w->in, tok, JSMN_ARRAY);
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
    const char *text = token_text(w->in, in->tok, &n);
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
    size_t n = in->tree ? json_array_size(in->tree) : (size_t)w->in->tok[in->tok].size;
    int tok = in->tok + 1;
    for (size_t i = 0; i < n; i++) {
        struct value item = {in->tree ? json_array_get(in->tree, i) : NULL, NO_TOKEN};
        if (!in->tree) {
            item.tok = tok;
            tok = token_behind(w->in, tok);
        }
        if (!json_is_object(item.tree) && !token_is(w->in, item.tok, JSMN_OBJECT))
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
    if (!in->tree && in->tok == NO_TOKEN) {
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
        if (member.tree &&
            !(json_is_object(member.tree) && token_is(w->in, member.tok, JSMN_OBJECT)))
            member.tok = NO_TOKEN;
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

void schema_render(struct strbuf *out, const struct schema *s, enum api_version v,
                   const char *stored, const json_t *over)
{
    struct tokens in;
    tokens_cut(&in, stored);
    const struct writer w = {.out = out, .v = v, .in = &in};
    add_object(&w, s, (struct value){over, in.n > 0 ? 0 : NO_TOKEN});
    tokens_free(&in);
}

const char *stored_member(const char *stored, const char *const *path, size_t *n)
{
    struct tokens in;
    tokens_cut(&in, stored);
    int at = 0;
    while (*path && at != NO_TOKEN)
        at = token_member(&in, at, *path++);
    const char *text = token_is(&in, at, JSMN_OBJECT) ? token_text(&in, at, n) : NULL;
    tokens_free(&in);
    return text;
}
