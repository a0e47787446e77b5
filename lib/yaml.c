/* SPDX-License-Identifier: MIT
 *
 * One pass over libyaml's events. Each value is put into the tree when it begins, so that after an
 * error there is one tree to free. libyaml can build trees, too, but it cannot limit their depth
 * before they are built, and it compares each anchor with all others.
 */
#include "lib/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

/* A limit, because aliases of aliases could make a large tree from a small text. */
#define VALUES_MAX 1000000
/* A limit, because each alias is searched among all anchors. */
#define ANCHORS_MAX 1000

/* A value. In the array of nodes, the values inside it follow it; an alias has no nodes inside. */
struct yaml_doc_node {
    uint32_t line, column; /* counted from 0; the place of the value's key, if it has a key */
    uint32_t size;         /* how many nodes it spans, including itself; 1 until it is complete */
};

/* A list or mapping that is being read. */
struct yaml_level {
    json_t *in; /* borrowed from the tree */
    size_t node;
    const char *key; /* key of the member that was begun last */
    bool wants_key;
};

struct anchor {
    const char *name;
    json_t *value; /* owned */
};

struct yaml_reading {
    const struct yaml_rules *rules;
    struct yaml_doc *out;
    struct yaml_place *at;
    struct err *e;
    yaml_parser_t parser;
    yaml_event_t ev;
    struct arena arena;
    struct yaml_level *levels; /* the outermost first */
    int depth, documents;
    struct anchor *anchors;
    size_t n_anchors, values;
};

/* --- errors ------------------------------------------------------------------------------------
 */

/* Writes the path of the present value: "inventory[0].hosts[2]". */
static void put_path(const struct yaml_reading *rd, struct strbuf *b)
{
    for (int i = 0; i < rd->depth; i++) {
        const struct yaml_level *l = &rd->levels[i];
        bool innermost = i == rd->depth - 1;
        if (json_is_array(l->in))
            strbuf_printf(b, "[%zu]", json_array_size(l->in) - !innermost);
        else if (l->key && !(innermost && l->wants_key))
            strbuf_printf(b, "%s%s", b->len ? "." : "", l->key);
    }
}

__attribute__((format(printf, 2, 3))) static int refuse(struct yaml_reading *rd, const char *fmt,
                                                        ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    struct strbuf path = STRBUF_INIT;
    put_path(rd, &path);
    err_set(rd->e, ERR_INVALID_CONTENT, path.s, "%s", what);
    strbuf_free(&path);
    rd->at->line = rd->ev.start_mark.line + 1;
    rd->at->column = rd->ev.start_mark.column + 1;
    return -1;
}

/* libyaml's messages describe its internals; this text describes what the user should change. */
static const char *advice(const yaml_parser_t *p)
{
    static const struct {
        const char *words, *advice;
    } known[] = {
        {"scanning an alias", "; put a text that begins with * in quotes"},
        {"flow sequence", "; put a text with brackets or commas in quotes"},
        {"mapping values", "; is it indented as it should be? A text with ': ' needs quotes"},
        {"<document start>", "; there is text after the document"},
        {"control", "; write it as \\x.. in double quotes"},
        {"UTF-8", "; the text must be UTF-8"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((p->context && strstr(p->context, known[i].words)) ||
            strstr(p->problem, known[i].words))
            return known[i].advice;
    return "";
}

/* Refuses bytes that are not text. Their place is libyaml's problem_offset, because libyaml has
 * read ahead of the present event. */
static int refuse_bytes(struct yaml_reading *rd, const char *text)
{
    const yaml_parser_t *p = &rd->parser;
    size_t begin = 0;
    rd->at->line = 1;
    for (size_t i = 0; i < p->problem_offset; i++)
        if (text[i] == '\n') {
            rd->at->line++;
            begin = i + 1;
        }
    rd->at->column = p->problem_offset - begin + 1;
    char value[32] = "";
    if (p->problem_value >= 0)
        snprintf(value, sizeof value, " (0x%02X)", (unsigned)p->problem_value);
    return err_set(rd->e, ERR_INVALID_CONTENT, NULL, "%s%s%s", p->problem, value, advice(p));
}

static int refuse_syntax(struct yaml_reading *rd)
{
    const yaml_parser_t *p = &rd->parser;
    const char *context = p->context ? p->context : "";
    rd->at->line = p->problem_mark.line + 1;
    rd->at->column = p->problem_mark.column + 1;
    if (!strstr(p->problem, "cannot start any token"))
        return err_set(rd->e, ERR_INVALID_CONTENT, NULL, "%s%s%s%s", p->problem,
                       *context ? ", " : "", context, advice(p));
    char c = (char)*p->buffer.pointer;
    return c == '\t' ? err_set(rd->e, ERR_INVALID_CONTENT, NULL,
                               "there is a tab; YAML takes only blanks in front")
                     : err_set(rd->e, ERR_INVALID_CONTENT, NULL,
                               "a text cannot begin with %c; put it in quotes", c);
}

/* --- values ------------------------------------------------------------------------------------
 */

/* Converts the present scalar. NULL: it was refused. */
static json_t *plain(const char *text)
{
    static const struct {
        const char *text;
        json_type type;
    } words[] = {{"", JSON_NULL},       {"~", JSON_NULL},     {"null", JSON_NULL},
                 {"Null", JSON_NULL},   {"NULL", JSON_NULL},  {"true", JSON_TRUE},
                 {"True", JSON_TRUE},   {"TRUE", JSON_TRUE},  {"false", JSON_FALSE},
                 {"False", JSON_FALSE}, {"FALSE", JSON_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].text, text) == 0)
            return words[i].type == JSON_NULL ? json_null()
                                              : json_boolean(words[i].type == JSON_TRUE);
    if (text[strspn(text, "+-0123456789.eE")] == '\0' && strpbrk(text, "0123456789")) {
        char *end;
        errno = 0;
        long long whole = strtoll(text, &end, 10);
        if (*end == '\0' && errno == 0)
            return json_integer(whole);
        double real = strtod(text, &end);
        if (*end == '\0' && *text != 'e' && *text != 'E')
            return json_real(real);
    }
    return json_string(text);
}

/* The value of the scalar that is being read. NULL: it was refused. */
static json_t *scalar(struct yaml_reading *rd, bool is_text)
{
    const char *text = (const char *)rd->ev.data.scalar.value;
    bool is_plain = rd->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    json_t *v = is_text || !is_plain ? json_string(text) : plain(text);
    if (strlen(text) != rd->ev.data.scalar.length)
        refuse(rd, "a text has the character \\u0000");
    else if (!v)
        refuse(rd, "%.100s is too large for a number", text);
    else
        return v;
    json_decref(v);
    return NULL;
}

/* --- the tree ----------------------------------------------------------------------------------
 */

static struct yaml_level *innermost(struct yaml_reading *rd)
{
    return rd->depth ? &rd->levels[rd->depth - 1] : NULL;
}

static void add_node(struct yaml_reading *rd)
{
    struct yaml_doc *d = rd->out;
    if ((d->n & (d->n - 1)) == 0)
        d->nodes = xrealloc(d->nodes, (d->n ? 2 * d->n : 1) * sizeof *d->nodes);
    d->nodes[d->n++] = (struct yaml_doc_node){.line = (uint32_t)rd->ev.start_mark.line,
                                              .column = (uint32_t)rd->ev.start_mark.column,
                                              .size = 1};
}

static int add_anchor(struct yaml_reading *rd, const yaml_char_t *name, json_t *value)
{
    if (!name)
        return 0;
    if (rd->n_anchors == ANCHORS_MAX)
        return refuse(rd, "there are more than %d anchors", ANCHORS_MAX);
    if (!rd->anchors)
        rd->anchors = arena_alloc(&rd->arena, ANCHORS_MAX * sizeof *rd->anchors);
    rd->anchors[rd->n_anchors++] = (struct anchor){
        .name = arena_strdup(&rd->arena, (const char *)name), .value = json_incref(value)};
    return 0;
}

static bool is_nest(const json_t *v)
{
    return json_is_array(v) || json_is_object(v);
}

/* Counts a value at `depth`, with all values inside it; refuses the text if there are too many
 * values or levels. */
static int count(struct yaml_reading *rd, const json_t *v, int depth)
{
    const char *name;
    json_t *inner;
    size_t i;
    if (++rd->values > VALUES_MAX)
        return refuse(rd, "there are too many values (each use of an alias counts)");
    if (is_nest(v) && depth == rd->rules->depth_max)
        return refuse(rd, "it is nested too deep; at most %d levels are allowed", depth);
    json_array_foreach(v, i, inner) {
        if (count(rd, inner, depth + 1) < 0)
            return -1;
    }
    json_object_foreach((json_t *)v, name, inner) {
        if (count(rd, inner, depth + 1) < 0)
            return -1;
    }
    return 0;
}

/* Puts `v` into the tree and takes the reference. Adds a node for it, unless its key has added one
 * already. */
static int put(struct yaml_reading *rd, json_t *v, const yaml_char_t *anchor)
{
    struct yaml_level *in = innermost(rd);
    if (!v || count(rd, v, rd->depth) < 0 || add_anchor(rd, anchor, v) < 0) {
        json_decref(v);
        return -1;
    }
    if (!in || !in->key)
        add_node(rd);
    if (!in)
        rd->out->tree = v;
    else if (in->key)
        json_object_set_new(in->in, in->key, v);
    else
        json_array_append_new(in->in, v);
    if (in)
        in->wants_key = in->key != NULL;
    return 0;
}

static int open_level(struct yaml_reading *rd, json_t *v, const yaml_char_t *anchor)
{
    if (put(rd, v, anchor) < 0)
        return -1;
    rd->levels[rd->depth++] =
        (struct yaml_level){.in = v, .node = rd->out->n - 1, .wants_key = json_is_object(v)};
    return 0;
}

static void close_level(struct yaml_reading *rd)
{
    const struct yaml_level *l = &rd->levels[--rd->depth];
    rd->out->nodes[l->node].size = (uint32_t)(rd->out->n - l->node);
}

/* Returns the value that the alias names, borrowed; NULL: the alias was refused. */
static json_t *named(struct yaml_reading *rd)
{
    const char *name = (const char *)rd->ev.data.alias.anchor;
    /* If several anchors have this name, the last one counts. */
    for (size_t i = rd->n_anchors; i-- > 0;) {
        json_t *v = rd->anchors[i].value;
        if (strcmp(rd->anchors[i].name, name) != 0)
            continue;
        for (int k = 0; k < rd->depth; k++)
            if (rd->levels[k].in == v) {
                refuse(rd, "*%.100s is inside its own anchor", name);
                return NULL;
            }
        return v;
    }
    refuse(rd, "*%.100s has no anchor; put a text that begins with * in quotes", name);
    return NULL;
}

static int add_key(struct yaml_reading *rd, const char *name)
{
    struct yaml_level *in = innermost(rd);
    struct yaml_place first;
    in->key = arena_strdup(&rd->arena, name);
    in->wants_key = false;
    if (json_object_get(in->in, name)) {
        rd->out->nodes[in->node].size = (uint32_t)(rd->out->n - in->node);
        yaml_doc_place(&(struct yaml_doc){.tree = in->in, .nodes = rd->out->nodes + in->node},
                       &name, 1, &first);
        return refuse(rd, "'%.100s' stands here a second time; the first is on line %zu", name,
                      first.line);
    }
    add_node(rd);
    return 0;
}

static int take_key(struct yaml_reading *rd)
{
    bool is_scalar = rd->ev.type == YAML_SCALAR_EVENT, is_alias = rd->ev.type == YAML_ALIAS_EVENT;
    json_t *v = is_scalar ? scalar(rd, true) : is_alias ? json_incref(named(rd)) : json_null();
    const char *name = json_string_value(v);
    int rc = name ? add_key(rd, name) : -1;
    if (v && !name)
        refuse(rd, "a key must be one word or text, as in name: value");
    if (rc == 0 && is_scalar)
        rc = add_anchor(rd, rd->ev.data.scalar.anchor, v);
    json_decref(v);
    return rc;
}

/* --- reading -----------------------------------------------------------------------------------
 */

static int take_value(struct yaml_reading *rd)
{
    const yaml_event_t *ev = &rd->ev;
    switch (ev->type) {
    case YAML_SEQUENCE_START_EVENT:
        return open_level(rd, json_array(), ev->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return open_level(rd, json_object(), ev->data.mapping_start.anchor);
    case YAML_ALIAS_EVENT:
        return put(rd, json_deep_copy(named(rd)), NULL);
    default:
        if (ev->data.scalar.length == 0 && ev->data.scalar.plain_implicit)
            return put(rd, json_null(), ev->data.scalar.anchor);
        return put(rd, scalar(rd, rd->rules->all_texts), ev->data.scalar.anchor);
    }
}

static int take_event(struct yaml_reading *rd)
{
    switch (rd->ev.type) {
    case YAML_DOCUMENT_START_EVENT:
        return rd->documents++ == 0
                   ? 0
                   : refuse(rd, "a second document begins here; only one document may be there");
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_level(rd);
        return 0;
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return rd->depth && innermost(rd)->wants_key ? take_key(rd) : take_value(rd);
    default:
        return 0;
    }
}

int yaml_doc_read(const char *text, size_t n, const struct yaml_rules *rules, struct yaml_doc *out,
                  struct yaml_place *at, struct err *e)
{
    struct yaml_reading rd = {.rules = rules, .out = out, .at = at, .e = e};
    int rc = 0;
    bool ended = false;
    *out = (struct yaml_doc){0};
    arena_init(&rd.arena);
    rd.levels = arena_alloc(&rd.arena, (size_t)rules->depth_max * sizeof *rd.levels);
    if (!yaml_parser_initialize(&rd.parser))
        abort(); /* out of memory */
    yaml_parser_set_input_string(&rd.parser, (const unsigned char *)text, n);
    while (rc == 0 && !ended) {
        if (yaml_parser_parse(&rd.parser, &rd.ev)) {
            ended = rd.ev.type == YAML_STREAM_END_EVENT;
            rc = take_event(&rd);
            yaml_event_delete(&rd.ev);
        } else {
            rc =
                rd.parser.error == YAML_READER_ERROR ? refuse_bytes(&rd, text) : refuse_syntax(&rd);
        }
    }
    yaml_parser_delete(&rd.parser);
    for (size_t i = 0; i < rd.n_anchors; i++)
        json_decref(rd.anchors[i].value);
    arena_free(&rd.arena);
    if (rc < 0)
        yaml_doc_free(out);
    return rc;
}

void yaml_doc_free(struct yaml_doc *doc)
{
    json_decref(doc->tree);
    free(doc->nodes);
    *doc = (struct yaml_doc){0};
}

/* --- places ------------------------------------------------------------------------------------
 */

/* Returns the member or item of `v` that the step names (NULL: none), and replaces *node, the node
 * of `v`, by the node of the returned value. Inside a copy that an alias made, *node stays the node
 * of the alias, because an error in the copy may not apply to the original. */
static const json_t *step_into(const struct yaml_doc *doc, const json_t *v, const char *step,
                               size_t *node)
{
    bool is_copy = doc->nodes[*node].size == 1;
    size_t at = *node + 1, i, wanted = strtoul(step, NULL, 10);
    const char *name;
    json_t *inner, *found = NULL;
    json_object_foreach((json_t *)v, name, inner) {
        if (strcmp(name, step) == 0) {
            found = inner;
            break;
        }
        at += is_copy ? 0 : doc->nodes[at].size;
    }
    json_array_foreach(v, i, inner) {
        if (i == wanted) {
            found = inner;
            break;
        }
        at += is_copy ? 0 : doc->nodes[at].size;
    }
    if (found && !is_copy)
        *node = at;
    return found;
}

size_t yaml_doc_place(const struct yaml_doc *doc, const char *const *steps, size_t n,
                      struct yaml_place *out)
{
    size_t node = 0, done = 0;
    const json_t *v = doc->tree;
    while (v && done < n) {
        v = step_into(doc, v, steps[done], &node);
        done += v != NULL;
    }
    *out = (struct yaml_place){1, 1};
    if (doc->tree)
        *out = (struct yaml_place){doc->nodes[node].line + 1, doc->nodes[node].column + 1};
    return done;
}
