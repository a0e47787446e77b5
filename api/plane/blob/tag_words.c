/* SPDX-License-Identifier: MIT
 *
 * Parses a condition by recursive descent, with bounded depth, and evaluates it while it parses.
 * The expression of a search has no parentheses, and becomes a list of comparisons. Pure.
 */
#include "api/plane/blob/tag_words.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"

#define BLANKS " \t"
#define LAST   "\xff" /* sorts after all values and paths, which are UTF-8 */

struct tag_words {
    const char *begin, *p;
    const json_t *tags;
    struct err *e;
    int depth;
};

static int bad(struct tag_words *w, const char *wanted)
{
    return err_set(w->e, AZSTORAGE_HEADER, NULL, "at character %zu %s is expected",
                   (size_t)(w->p - w->begin) + 1, wanted);
}

static void skip(struct tag_words *w)
{
    w->p += strspn(w->p, BLANKS);
}

/* Reads AND or OR if it follows as a whole word. */
static bool take_word(struct tag_words *w, const char *word)
{
    size_t n = strlen(word);
    skip(w);
    /* strchr() also finds the final NUL, so the end of the text counts */
    if (strncasecmp(w->p, word, n) != 0 || !strchr(BLANKS "(\"", w->p[n]))
        return false;
    w->p += n;
    return true;
}

static int copy(struct tag_words *w, size_t n, char *out, size_t max, const char *wanted)
{
    if (n > max)
        return bad(w, wanted);
    memcpy(out, w->p, n);
    out[n] = '\0';
    w->p += n;
    return 0;
}

/* Reads a tag's name: a quoted text or a plain word. */
static int read_name(struct tag_words *w, char out[TAG_NAME_MAX + 1])
{
    static const char wanted[] = "the name of a tag, such as \"Project\",";
    skip(w);
    bool quoted = *w->p == '"';
    w->p += quoted;
    size_t n = strcspn(w->p, quoted ? "\"" : BLANKS "=<>()'\"@");
    if (n == 0 || (quoted && !w->p[n]))
        return bad(w, wanted);
    if (copy(w, n, out, TAG_NAME_MAX, wanted) < 0)
        return -1;
    w->p += quoted;
    return 0;
}

static int read_value(struct tag_words *w, char out[TAG_VALUE_MAX + 1])
{
    static const char wanted[] = "a value in single quotes";
    skip(w);
    const char *end = *w->p == '\'' ? strchr(w->p + 1, '\'') : NULL;
    if (!end)
        return bad(w, wanted);
    w->p++;
    if (copy(w, (size_t)(end - w->p), out, TAG_VALUE_MAX, wanted) < 0)
        return -1;
    w->p++;
    return 0;
}

/* For each operator: whether it accepts a tag that is less than, equal to or greater than the
 * value. */
static const struct {
    const char *text;
    bool less, equal, greater;
} operators[] = {{"<>", true, false, true}, {">=", false, true, true}, {"<=", true, true, false},
                 {"=", false, true, false}, {">", false, false, true}, {"<", true, false, false}};
#define OPERATORS (sizeof operators / sizeof operators[0])

/* Reads the operator and the value after the tag's name. */
static int read_operation(struct tag_words *w, struct tag_comparison *out, const char *wanted)
{
    size_t op = 0;
    skip(w);
    while (op < OPERATORS && strncmp(w->p, operators[op].text, strlen(operators[op].text)) != 0)
        op++;
    if (op == OPERATORS || !strstr(wanted, operators[op].text))
        return bad(w, wanted);
    w->p += strlen(operators[op].text);
    out->less = operators[op].less;
    out->equal = operators[op].equal;
    out->greater = operators[op].greater;
    return read_value(w, out->value);
}

static bool holds(const struct tag_comparison *c, const json_t *tags)
{
    const char *has = json_string_value(json_object_get(tags, c->name));
    if (!has)
        return c->less && c->greater; /* a missing tag differs from every value */
    int order = strcmp(has, c->value);
    return order < 0 ? c->less : order > 0 ? c->greater : c->equal;
}

static int read_comparison(struct tag_words *w)
{
    struct tag_comparison c;
    if (read_name(w, c.name) < 0 || read_operation(w, &c, "one of = <> > >= < <=") < 0)
        return -1;
    return holds(&c, w->tags);
}

static int read_any(struct tag_words *w);

static int read_term(struct tag_words *w)
{
    skip(w);
    if (*w->p != '(')
        return read_comparison(w);
    if (++w->depth > TAG_WORDS_DEPTH)
        return bad(w, "no further parenthesis");
    w->p++;
    int rc = read_any(w);
    skip(w);
    if (rc < 0 || *w->p != ')')
        return rc < 0 ? -1 : bad(w, "AND, OR or a closing parenthesis");
    w->p++;
    w->depth--;
    return rc;
}

static int read_all(struct tag_words *w)
{
    int rc = read_term(w);
    while (rc >= 0 && take_word(w, "AND")) {
        int next = read_term(w);
        rc = next < 0 ? -1 : rc && next;
    }
    return rc;
}

static int read_any(struct tag_words *w)
{
    int rc = read_all(w);
    while (rc >= 0 && take_word(w, "OR")) {
        int next = read_all(w);
        rc = next < 0 ? -1 : rc || next;
    }
    return rc;
}

int tag_words_hold(const char *condition, const json_t *tags, struct err *e)
{
    struct tag_words w = {condition, condition, tags, e, 0};
    int rc = read_any(&w);
    skip(&w);
    if (rc >= 0 && *w.p)
        return bad(&w, "AND, OR or the end");
    return rc;
}

/* --- expressions of searches ------------------------------------------------------------------ */

static int read_container(struct tag_words *w, struct tag_where *out)
{
    static const char name[] = "@container";
    struct tag_comparison c;
    size_t n = strlen(name);
    if (strncasecmp(w->p, name, n) != 0 || out->has_container)
        return bad(w, out->has_container ? "the name of a tag, as @container may be named once,"
                                         : "the name of a tag, or @container,");
    w->p += n;
    if (read_operation(w, &c, "the operator =") < 0)
        return -1;
    out->has_container = true;
    memcpy(out->container, c.value, sizeof c.value);
    return 0;
}

static int read_part(struct tag_words *w, struct tag_where *out)
{
    skip(w);
    if (*w->p == '@')
        return read_container(w, out);
    if (out->n == TAG_WHERE_MAX)
        return bad(w, "the end, as there may be 20 comparisons,");
    struct tag_comparison *c = &out->all[out->n++];
    return read_name(w, c->name) < 0 ? -1 : read_operation(w, c, "one of = > >= < <=");
}

int tag_where_read(const char *expression, struct tag_where *out, struct err *e)
{
    struct tag_words w = {expression, expression, NULL, e, 0};
    out->n = 0;
    out->has_container = false;
    int rc = read_part(&w, out);
    while (rc == 0 && take_word(&w, "AND"))
        rc = read_part(&w, out);
    skip(&w);
    if (rc == 0 && *w.p)
        return bad(&w, "AND or the end");
    if (rc == 0 && out->n == 0)
        return bad(&w, "AND with the comparison of a tag");
    return rc;
}

bool tag_where_holds(const struct tag_where *w, const json_t *tags)
{
    for (size_t i = 0; i < w->n; i++)
        if (!holds(&w->all[i], tags))
            return false;
    return true;
}

bool tag_where_names(const struct tag_where *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->all[i].name, name) == 0)
            return true;
    return false;
}

/* The comparison that probably selects the fewest blobs: the first one with =, if there is one. */
static const struct tag_comparison *narrowest(const struct tag_where *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->all[i].less && !w->all[i].greater)
            return &w->all[i];
    return &w->all[0];
}

static int order_of(const char *value, const char *path, const char *value2, const char *path2)
{
    int order = strcmp(value, value2);
    return order != 0 ? order : strcmp(path, path2);
}

struct tag_range tag_where_range(const struct tag_where *w)
{
    struct tag_range r = {narrowest(w)->name, "", "", LAST, ""};
    for (size_t i = 0; i < w->n; i++) {
        const struct tag_comparison *c = &w->all[i];
        const char *after = c->equal ? "" : LAST, *to = c->equal ? LAST : "";
        if (strcmp(c->name, r.name) != 0)
            continue;
        if (!c->less && order_of(c->value, after, r.after_value, r.after_path) > 0) {
            r.after_value = c->value;
            r.after_path = after;
        }
        if (!c->greater && order_of(c->value, to, r.to_value, r.to_path) < 0) {
            r.to_value = c->value;
            r.to_path = to;
        }
    }
    return r;
}
