/* SPDX-License-Identifier: MIT
 *
 * Parses a condition by recursive descent and evaluates it at once, without a tree. The depth is
 * bounded. Pure.
 */
#include "api/plane/blob/tag_words.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"

#define BLANKS      " \t"
#define NAME_BYTES  128 /* bytes of a tag's name */
#define VALUE_BYTES 256

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

/* AND or OR, as a whole word. */
static bool take_word(struct tag_words *w, const char *word)
{
    size_t n = strlen(word);
    skip(w);
    if (strncasecmp(w->p, word, n) != 0 || !w->p[n] || !strchr(BLANKS "(\"", w->p[n]))
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

/* Quoted, or a plain word. */
static int read_name(struct tag_words *w, char out[NAME_BYTES + 1])
{
    static const char wanted[] = "the name of a tag, such as \"Project\",";
    skip(w);
    bool quoted = *w->p == '"';
    w->p += quoted;
    size_t n = strcspn(w->p, quoted ? "\"" : BLANKS "=<>()'\"@");
    if (n == 0 || (quoted && !w->p[n]))
        return bad(w, wanted);
    if (copy(w, n, out, NAME_BYTES, wanted) < 0)
        return -1;
    w->p += quoted;
    return 0;
}

static int read_value(struct tag_words *w, char out[VALUE_BYTES + 1])
{
    static const char wanted[] = "a value in single quotes";
    skip(w);
    const char *end = *w->p == '\'' ? strchr(w->p + 1, '\'') : NULL;
    if (!end)
        return bad(w, wanted);
    w->p++;
    if (copy(w, (size_t)(end - w->p), out, VALUE_BYTES, wanted) < 0)
        return -1;
    w->p++;
    return 0;
}

/* The orders of tag and value that an operator accepts. */
static const struct {
    const char *text;
    bool less, equal, greater;
} operators[] = {{"<>", true, false, true}, {">=", false, true, true}, {"<=", true, true, false},
                 {"=", false, true, false}, {">", false, false, true}, {"<", true, false, false}};
#define OPERATORS (sizeof operators / sizeof operators[0])

static int read_comparison(struct tag_words *w)
{
    char name[NAME_BYTES + 1], value[VALUE_BYTES + 1];
    size_t op = 0;
    if (read_name(w, name) < 0)
        return -1;
    skip(w);
    while (op < OPERATORS && strncmp(w->p, operators[op].text, strlen(operators[op].text)) != 0)
        op++;
    if (op == OPERATORS)
        return bad(w, "one of = <> > >= < <=");
    w->p += strlen(operators[op].text);
    if (read_value(w, value) < 0)
        return -1;
    const char *has = json_string_value(json_object_get(w->tags, name));
    if (!has)
        return operators[op].less && operators[op].greater; /* it is not that value */
    int order = strcmp(has, value);
    return order < 0 ? operators[op].less : order > 0 ? operators[op].greater : operators[op].equal;
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
    int holds = read_any(w);
    skip(w);
    if (holds < 0 || *w->p != ')')
        return holds < 0 ? -1 : bad(w, "AND, OR or a closing parenthesis");
    w->p++;
    w->depth--;
    return holds;
}

static int read_all(struct tag_words *w)
{
    int holds = read_term(w);
    while (holds >= 0 && take_word(w, "AND")) {
        int next = read_term(w);
        holds = next < 0 ? -1 : holds && next;
    }
    return holds;
}

static int read_any(struct tag_words *w)
{
    int holds = read_all(w);
    while (holds >= 0 && take_word(w, "OR")) {
        int next = read_all(w);
        holds = next < 0 ? -1 : holds || next;
    }
    return holds;
}

int tag_words_hold(const char *condition, const json_t *tags, struct err *e)
{
    struct tag_words w = {condition, condition, tags, e, 0};
    int holds = read_any(&w);
    skip(&w);
    if (holds >= 0 && *w.p)
        return bad(&w, "AND, OR or the end");
    return holds;
}
