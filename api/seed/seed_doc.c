/* SPDX-License-Identifier: MIT
 *
 * JSON is read by jansson, as all other JSON is. Places are found by libyaml in both, because JSON
 * is YAML but for a few escapes.
 */
#include "api/seed/seed_doc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "api/http/members.h"
#include "lib/jsonread.h"
#include "lib/jsontext.h"

/* Aliases of aliases can make a small text a large tree. */
#define VALUES_MAX 1000000
/* libyaml compares each anchor with all before it. */
#define ANCHORS_MAX 1000

/* --- YAML as a tree ----------------------------------------------------------------------------
 */

struct reading {
    yaml_document_t doc;
    size_t values;
    struct err *e;
};

static json_t *refuse(const struct reading *rd, const yaml_node_t *n, const char *what)
{
    err_set(rd->e, ERR_INVALID_CONTENT, NULL, "line %zu, column %zu: %s", n->start_mark.line + 1,
            n->start_mark.column + 1, what);
    return NULL;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, text) == 0)
            return true;
    return false;
}

/* A plain scalar by YAML's core schema: null, a truth value, a number, or else a text. */
static json_t *plain(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    if (is_one_of(text, nulls))
        return json_null();
    if (is_one_of(text, yes) || is_one_of(text, no))
        return json_boolean(is_one_of(text, yes));
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

static json_t *scalar(const struct reading *rd, const yaml_node_t *n)
{
    const char *text = (const char *)n->data.scalar.value;
    if (strlen(text) != n->data.scalar.length)
        return refuse(rd, n, "a text has the character \\u0000");
    json_t *v = n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain(text) : json_string(text);
    return v ? v : refuse(rd, n, "it is no value");
}

static json_t *tree(struct reading *rd, int id, int depth);

static json_t *sequence(struct reading *rd, const yaml_node_t *n, int depth)
{
    json_t *list = json_array();
    const yaml_node_item_t *at = n->data.sequence.items.start;
    for (; at < n->data.sequence.items.top; at++)
        if (json_array_append_new(list, tree(rd, *at, depth)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *mapping(struct reading *rd, const yaml_node_t *n, int depth)
{
    json_t *o = json_object();
    for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = yaml_document_get_node(&rd->doc, p->key);
        const char *name =
            key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : NULL;
        bool twice = name && json_object_get(o, name);
        if (!name || twice || strlen(name) != key->data.scalar.length) {
            json_decref(o);
            return refuse(rd, key, twice ? "this name stands here a second time" : "no name");
        }
        if (json_object_set_new(o, name, tree(rd, p->value, depth)) < 0) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

static json_t *tree(struct reading *rd, int id, int depth)
{
    const yaml_node_t *n = yaml_document_get_node(&rd->doc, id);
    if (depth > SEED_DEPTH_MAX)
        return refuse(rd, n, "it is nested too deep");
    if (++rd->values > VALUES_MAX)
        return refuse(rd, n, "there are too many values, with aliases counted each time");
    if (n->type == YAML_SCALAR_NODE)
        return scalar(rd, n);
    return (n->type == YAML_SEQUENCE_NODE ? sequence : mapping)(rd, n, depth + 1);
}

static void begin(const char *text, size_t n, yaml_parser_t *parser)
{
    yaml_parser_initialize(parser);
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)text, n);
}

/* What makes a parser slow that goes through all open levels with each token, and through all
 * anchors with each anchor. NULL: the event adds too much of neither. */
static const char *too_much(const yaml_event_t *ev, int *depth, int *anchors)
{
    const yaml_char_t *anchor = NULL;
    if (ev->type == YAML_SEQUENCE_START_EVENT)
        anchor = ev->data.sequence_start.anchor;
    else if (ev->type == YAML_MAPPING_START_EVENT)
        anchor = ev->data.mapping_start.anchor;
    else if (ev->type == YAML_SCALAR_EVENT)
        anchor = ev->data.scalar.anchor;
    *depth += (ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT) -
              (ev->type == YAML_SEQUENCE_END_EVENT || ev->type == YAML_MAPPING_END_EVENT);
    *anchors += anchor != NULL;
    if (*depth > SEED_DEPTH_MAX)
        return "it is nested too deep";
    return *anchors > ANCHORS_MAX ? "there are more than 1000 anchors" : NULL;
}

/* Whether libyaml will be done with it soon. What is no YAML is left to load(). */
static bool is_tame(const char *text, size_t n, struct err *e)
{
    yaml_parser_t parser;
    yaml_event_t ev;
    const char *why = NULL;
    int depth = 0, anchors = 0;
    bool ended = false;
    begin(text, n, &parser);
    while (!ended && !why && yaml_parser_parse(&parser, &ev)) {
        ended = ev.type == YAML_STREAM_END_EVENT;
        why = too_much(&ev, &depth, &anchors);
        if (why)
            err_set(e, ERR_INVALID_CONTENT, NULL, "line %zu, column %zu: %s",
                    ev.start_mark.line + 1, ev.start_mark.column + 1, why);
        yaml_event_delete(&ev);
    }
    yaml_parser_delete(&parser);
    return !why;
}

/* False: `parser` has the error. */
static bool load(const char *text, size_t n, yaml_parser_t *parser, yaml_document_t *doc)
{
    begin(text, n, parser);
    return yaml_parser_load(parser, doc);
}

/* A document behind the first, or text that is none: a half of a seed is no seed. */
static bool has_more(yaml_parser_t *parser, struct err *e)
{
    yaml_document_t next;
    size_t line = parser->mark.line + 1;
    bool read = yaml_parser_load(parser, &next);
    bool more = !read || yaml_document_get_root_node(&next);
    if (read)
        yaml_document_delete(&next);
    if (more)
        err_set(e, ERR_INVALID_CONTENT, NULL,
                "line %zu: there is more behind the document; a seed is one document", line);
    return more;
}

/* libyaml calls a tab at the beginning of a line a character that cannot start any token. */
static const char *problem(const yaml_parser_t *parser, const char *text, size_t n)
{
    size_t at = 0;
    for (size_t line = 0; line < parser->problem_mark.line && at < n; at++)
        line += text[at] == '\n';
    while (at < n && text[at] == ' ')
        at++;
    if (at < n && text[at] == '\t')
        return "there is a tab; YAML takes only blanks in front";
    return parser->problem ? parser->problem : "it is no YAML";
}

static int read_yaml(const char *text, size_t n, json_t **out, struct err *e)
{
    struct reading rd = {.e = e};
    yaml_parser_t parser;
    if (!is_tame(text, n, e))
        return -1;
    if (!load(text, n, &parser, &rd.doc)) {
        err_set(e, ERR_INVALID_CONTENT, NULL, "line %zu, column %zu: %s",
                parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                problem(&parser, text, n));
        yaml_parser_delete(&parser);
        return -1;
    }
    *out = yaml_document_get_root_node(&rd.doc) ? tree(&rd, 1, 0) : json_object();
    yaml_document_delete(&rd.doc);
    if (*out && has_more(&parser, e)) {
        json_decref(*out);
        *out = NULL;
    }
    yaml_parser_delete(&parser);
    return *out ? 0 : -1;
}

static int read_json(const char *text, size_t n, json_t **out, struct err *e)
{
    json_error_t je;
    *out = jsonread(text, n, JSON_REJECT_DUPLICATES, &je);
    if (*out)
        return 0;
    return err_set(e, ERR_INVALID_CONTENT, NULL, "line %d, column %d: %s", je.line, je.column,
                   je.text);
}

int seed_doc_read(const char *text, size_t n, json_t **out, struct err *e)
{
    size_t blank = 0;
    while (blank < n && strchr(" \t\r\n", text[blank]))
        blank++;
    bool is_json = blank < n && text[blank] == '{';
    if (!jsontext_is_utf8(text, n))
        return err_set(e, ERR_INVALID_CONTENT, NULL, "The seed is not UTF-8.");
    int rc = (is_json ? read_json : read_yaml)(text, n, out, e);
    if (rc < 0)
        return err_prefix(e, "The seed cannot be read");
    if (json_is_object(*out))
        return 0;
    char shown[MEMBER_VALUE_SIZE];
    err_set(e, ERR_INVALID_CONTENT, NULL,
            "The seed is %s; it must be a mapping with groups, roles or subscriptions.",
            member_value(*out, shown));
    json_decref(*out);
    *out = NULL;
    return -1;
}

/* --- places ------------------------------------------------------------------------------------
 */

/* The node of a step, and where it stands; NULL: it is not there. */
static const yaml_node_t *step_into(yaml_document_t *doc, const yaml_node_t *n, const char *step,
                                    yaml_mark_t *at)
{
    if (n->type == YAML_SEQUENCE_NODE) {
        size_t i = strtoul(step, NULL, 10);
        const yaml_node_item_t *items = n->data.sequence.items.start;
        if (i >= (size_t)(n->data.sequence.items.top - items))
            return NULL;
        n = yaml_document_get_node(doc, items[i]);
        *at = n->start_mark;
        return n;
    }
    if (n->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = yaml_document_get_node(doc, p->key);
        if (key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, step) == 0) {
            *at = key->start_mark;
            return yaml_document_get_node(doc, p->value);
        }
    }
    return NULL;
}

bool seed_doc_place(const char *text, size_t n, const struct seed_path *path, size_t *line,
                    size_t *column)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!load(text, n, &parser, &doc)) {
        yaml_parser_delete(&parser);
        return false;
    }
    const yaml_node_t *node = yaml_document_get_root_node(&doc);
    yaml_mark_t at = node ? node->start_mark : (yaml_mark_t){0};
    for (size_t i = 0; node && i < path->n; i++)
        node = step_into(&doc, node, path->step[i], &at);
    *line = at.line + 1;
    *column = at.column + 1;
    yaml_document_delete(&doc);
    yaml_parser_delete(&parser);
    return true;
}
