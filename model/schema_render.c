/* SPDX-License-Identifier: MIT
 *
 * The output side of the engine. It makes no tree of a stored document: it cuts the text into
 * tokens (jsmn), and copies values that replies contain as stored. Making trees took half of the
 * time of a reply.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/arena.h"
#include "lib/jsontext.h"
#include "model/home.h"
#include "model/schema_priv.h"
#include "model/tokens.h"

#define FIELDS_MAX   64 /* the most fields of a table */
#define ENUM_SIZE    64 /* longer than any enum name; enum names need no escapes */
#define SCHEMA_WHOLE UINT64_MAX

struct renderer {
    struct strbuf *out;
    enum api_version v;
    const struct tokens *in;
};

/* A value to render. It is either in the list of members that are put over the document (`over`),
 * or in the stored text. An object may be in both; then the members of `over` replace those of the
 * text. */
struct shown_value {
    const struct over *over;
    int tok; /* NO_TOKEN: the value is not in the text */
};

static bool is_shown(const struct renderer *w, const struct field *f)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    return !(f->flags & hidden) && field_known(f, w->v);
}

/* Finds the value of each shown field in the text. Different shown fields have different names (a
 * test checks this). */
static void find_members(const struct renderer *w, const struct schema *s, int object,
                         int at[FIELDS_MAX])
{
    assert(s->n_fields <= FIELDS_MAX);
    for (size_t i = 0; i < s->n_fields; i++)
        at[i] = NO_TOKEN;
    if (!token_is(w->in, object, JSMN_OBJECT))
        return;
    int last = token_behind(w->in, object);
    size_t next = 0; /* The next name is most often that of the row `next`, because documents are in
                        the rows' order. */
    for (int key = object + 1, value; key < last; key = token_behind(w->in, value)) {
        value = key + 1;
        for (size_t k = 0; k < s->n_fields; k++) {
            size_t i = next + k < s->n_fields ? next + k : next + k - s->n_fields;
            if (!token_named(w->in, key, field_canon(&s->fields[i])) || !is_shown(w, &s->fields[i]))
                continue;
            at[i] = value;
            next = i + 1;
            break;
        }
    }
}

static void add_token(const struct renderer *w, int tok)
{
    size_t quote = token_is(w->in, tok, JSMN_STRING);
    size_t n;
    const char *text = token_text(w->in, tok, &n);
    strbuf_add(w->out, text - quote, n + 2 * quote);
}

static void add_value(const struct renderer *w, const struct shown_value *in)
{
    if (!in->over) {
        add_token(w, in->tok);
    } else if (in->over->kind == OVER_INT) {
        strbuf_int(w->out, in->over->number);
    } else if (in->over->kind == OVER_BOOL) {
        strbuf_puts(w->out, in->over->number ? "true" : "false");
    } else if (in->over->kind == OVER_JSON) {
        strbuf_puts(w->out, in->over->text);
    } else {
        assert(in->over->kind == OVER_TEXT);
        jsontext_add_text(w->out, in->over->text, strlen(in->over->text));
    }
}

/* Returns a copy of a string value, without escapes; the caller frees it. */
static char *string_of(const struct renderer *w, const struct shown_value *in)
{
    if (in->over)
        return xstrdup(in->over->text);
    size_t n;
    const char *text = token_text(w->in, in->tok, &n);
    json_t *v = json_loadb(text - 1, n + 2, JSON_DECODE_ANY, NULL);
    char *copy = v ? xstrdup(json_string_value(v)) : NULL;
    json_decref(v);
    return copy;
}

static bool over_fits(const struct field *f, const struct over *in)
{
    if (in->kind == OVER_JSON)
        return true;
    switch (f->kind) {
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_DURATION:
    case FIELD_TIME:
        return in->kind == OVER_TEXT;
    case FIELD_INT:
        return in->kind == OVER_INT;
    case FIELD_BOOL:
        return in->kind == OVER_BOOL;
    case FIELD_OBJECT:
        return in->kind == OVER_OBJECT;
    case FIELD_REAL:
    case FIELD_MAP:
    case FIELD_FREE:
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        break;
    }
    return false;
}

static bool token_fits(const struct renderer *w, const struct field *f, int tok)
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
    case FIELD_REAL:
        return token_is(w->in, tok, JSMN_PRIMITIVE) &&
               (text[0] == '-' || isdigit((unsigned char)text[0]));
    case FIELD_BOOL:
        return token_is(w->in, tok, JSMN_PRIMITIVE) && (text[0] == 't' || text[0] == 'f');
    case FIELD_OBJECT:
    case FIELD_MAP:
    case FIELD_FREE:
        return token_is(w->in, tok, JSMN_OBJECT);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return token_is(w->in, tok, JSMN_ARRAY);
    }
    return false;
}

/* Returns the number of an enum's value; 0: this version lacks the value. */
static int value_in_enum(const struct renderer *w, const struct field *f,
                         const struct shown_value *in)
{
    char name[ENUM_SIZE];
    size_t n;
    if (in->over)
        return enum_from_name(f->values, in->over->text);
    const char *text = token_text(w->in, in->tok, &n);
    if (n >= sizeof name)
        return 0;
    memcpy(name, text, n);
    name[n] = '\0';
    return enum_from_name(f->values, name);
}

static bool add_enum(const struct renderer *w, const struct field *f, const struct shown_value *in)
{
    int value = value_in_enum(w, f, in);
    if (value)
        strbuf_concat(w->out, "\"", enum_to_name(f->values, value), "\"");
    return value != 0;
}

static void add_id(const struct renderer *w, const struct shown_value *in)
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

static void add_object(const struct renderer *w, const struct schema *s, struct shown_value in,
                       schema_set set);

static void add_array(const struct renderer *w, const struct schema *s, int list)
{
    char before = '[';
    for (int i = 0, tok = list + 1; i < w->in->tok[list].size; i++) {
        if (token_is(w->in, tok, JSMN_OBJECT)) {
            strbuf_putc(w->out, before);
            add_object(w, s, (struct shown_value){.tok = tok}, SCHEMA_WHOLE);
            before = ',';
        }
        tok = token_behind(w->in, tok);
    }
    strbuf_puts(w->out, before == '[' ? "[]" : "]");
}

/* Writes an array of strings of .values, without the strings that this version lacks. */
static void add_words(const struct renderer *w, const struct field *f, int list)
{
    char before = '[';
    for (int i = 0, tok = list + 1; i < w->in->tok[list].size; i++) {
        const struct shown_value item = {.tok = tok};
        size_t from = w->out->len;
        strbuf_putc(w->out, before);
        if (token_is(w->in, tok, JSMN_STRING) && add_enum(w, f, &item))
            before = ',';
        else
            strbuf_cut(w->out, from);
        tok = token_behind(w->in, tok);
    }
    strbuf_puts(w->out, before == '[' ? "[]" : "]");
}

static bool add_field(const struct renderer *w, const struct field *f,
                      const struct shown_value *in);

/* Renders a separate document as the value of a field. It is put into an object first, because
 * tokens_cut() accepts only objects. */
static bool add_doc(const struct renderer *w, const struct field *f, const char *text)
{
    struct strbuf around = STRBUF_INIT;
    struct tokens in;
    strbuf_concat(&around, "{\"\":", text, "}");
    tokens_cut(&in, around.s);
    const struct renderer inner = {.out = w->out, .v = w->v, .in = &in};
    bool shown = in.n > 2 && add_field(&inner, f, &(struct shown_value){.tok = 2});
    tokens_free(&in);
    strbuf_free(&around);
    return shown;
}

/* Writes the value of a field. False: the field is not rendered, and the caller must remove the
 * text that was written for it. */
static bool add_field(const struct renderer *w, const struct field *f, const struct shown_value *in)
{
    if (in->over && in->over->kind == OVER_DOC)
        return add_doc(w, f, in->over->text);
    if (!in->over && in->tok == NO_TOKEN) { /* the field is FIELD_ALWAYS */
        strbuf_add(w->out, "\"\"", 2);
        return true;
    }
    if (!(in->over ? over_fits(f, in->over) : token_fits(w, f, in->tok)))
        return false;
    if (f->kind == FIELD_ENUM)
        return add_enum(w, f, in);
    size_t from = w->out->len;
    if (in->over && in->over->kind == OVER_JSON)
        add_value(w, in);
    else if (f->kind == FIELD_OBJECT)
        add_object(w, f->sub, *in, SCHEMA_WHOLE);
    else if (f->kind == FIELD_ARRAY)
        add_array(w, f->sub, in->tok);
    else if (f->kind == FIELD_STRINGS && f->values)
        add_words(w, f, in->tok);
    else if (f->flags & FIELD_ID)
        add_id(w, in);
    else
        add_value(w, in);
    const char *added = w->out->s + from;
    bool empty = w->out->len - from == 2 && (*added == '{' || *added == '[');
    return !empty || (f->flags & FIELD_KEEP_EMPTY);
}

static void add_name(const struct renderer *w, char before, const char *name)
{
    size_t n = strlen(name);
    char *at = strbuf_room(w->out, n + 4);
    at[0] = before;
    at[1] = '"';
    memcpy(stpcpy(at + 2, name), "\":", 3);
    w->out->len += n + 4;
}

/* Finds the member of `object` (a list over the document) for each shown field. */
static void find_on_top(const struct renderer *w, const struct schema *s, const struct over *object,
                        const struct over *at[FIELDS_MAX])
{
    size_t next = 0; /* as in find_members() */
    memset(at, 0, s->n_fields * sizeof *at);
    for (size_t j = 0; j < object->n; j++)
        for (size_t k = 0; k < s->n_fields; k++) {
            const struct over *o = &object->member[j];
            size_t i = next + k < s->n_fields ? next + k : next + k - s->n_fields;
            if (strcmp(field_canon(&s->fields[i]), o->name) != 0 || !is_shown(w, &s->fields[i]))
                continue;
            at[i] = o;
            next = i + 1;
            break;
        }
}

/* Returns the value of a member: the one in `over`, otherwise the one in the text; for an object in
 * both, both. */
static struct shown_value member_of(const struct renderer *w, const struct over *over, int tok)
{
    struct shown_value member = {.tok = tok};
    bool has_text =
        over && over->kind != OVER_INT && over->kind != OVER_BOOL && over->kind != OVER_OBJECT;
    if (over && (!has_text || over->text))
        member.over = over;
    bool both = member.over && over->kind == OVER_OBJECT && token_is(w->in, tok, JSMN_OBJECT);
    if (member.over && !both)
        member.tok = NO_TOKEN;
    return member;
}

static void add_object(const struct renderer *w, const struct schema *s, struct shown_value in,
                       schema_set set)
{
    int at[FIELDS_MAX];
    const struct over *over[FIELDS_MAX] = {NULL};
    char before = '{';
    find_members(w, s, in.tok, at);
    if (in.over)
        find_on_top(w, s, in.over, over);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        if (!(set >> i & 1) || !is_shown(w, f))
            continue;
        struct shown_value member = member_of(w, in.over ? over[i] : NULL, at[i]);
        if (!member.over && member.tok == NO_TOKEN && !(f->flags & FIELD_ALWAYS))
            continue;
        size_t from = w->out->len;
        add_name(w, before, f->name);
        if (add_field(w, f, &member))
            before = ',';
        else
            strbuf_cut(w->out, from);
    }
    strbuf_add(w->out, before == '{' ? "{}" : "}", before == '{' ? 2 : 1);
}

void schema_render(struct strbuf *out, const struct rendering *what)
{
    const struct over all = {.kind = OVER_OBJECT, .member = what->over, .n = what->n};
    struct tokens in;
    tokens_cut(&in, what->stored);
    const struct renderer w = {.out = out, .v = (enum api_version)what->version, .in = &in};
    const struct shown_value top = {.over = &all, .tok = in.n > 0 ? 0 : NO_TOKEN};
    add_object(&w, what->schema, top, what->set ? what->set : SCHEMA_WHOLE);
    tokens_free(&in);
}

void schema_render_tree(struct strbuf *out, const struct schema *s, unsigned version,
                        const json_t *doc)
{
    char *text = jsontext(doc);
    schema_render(out, &(struct rendering){.schema = s, .version = version, .stored = text});
    free(text);
}

/* Returns the set of the version's fields with this name, usually one field. */
static schema_set set_of(const struct schema *s, enum api_version v, const char *name, size_t n)
{
    const struct renderer w = {.v = v};
    schema_set set = 0;
    for (size_t i = 0; i < s->n_fields; i++)
        if (is_shown(&w, &s->fields[i]) && strlen(s->fields[i].name) == n &&
            strncasecmp(s->fields[i].name, name, n) == 0)
            set |= (schema_set)1 << i;
    return set;
}

int schema_select(const struct schema *s, enum api_version v, const char *text, schema_set *out,
                  struct err *e)
{
    schema_set all = 0;
    assert(s->n_fields <= FIELDS_MAX);
    for (const char *at = text ? text : ""; *(at += strspn(at, " ,"));) {
        size_t n = strcspn(at, " ,");
        schema_set found = set_of(s, v, at, n);
        if (!found)
            return err_set(e, ERR_INVALID_QUERY, "$select",
                           "%s has no property '%.*s'; $select must be names of its properties, "
                           "separated by commas.",
                           s->name, (int)(n < 100 ? n : 100), at);
        all |= found;
        at += n;
    }
    *out = all;
    return 0;
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
