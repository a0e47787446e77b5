/* SPDX-License-Identifier: MIT
 *
 * Parses a filter by recursive descent into a tree in the arena, and evaluates the tree for items.
 * The depth and the number of comparisons are bounded, so a filter cannot exhaust the stack. Pure;
 * any thread.
 */
#include "model/filter.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/timefmt.h"

#define DEPTH_MAX 32 /* nesting of parentheses and nots */
#define TEXT_MAX  511

struct filter_parser {
    const struct filter_paths *paths;
    struct arena *a;
    const char *text, *at;
    int depth;
    size_t terms;
    struct err *e;
};

static const char *const operators[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static_assert(sizeof operators / sizeof operators[0] == FILTER_STARTS_WITH, "a word an operator");

/* Sets the error "there must be `what`". Always returns NULL, so that the parsing functions can
 * return its result. */
static struct filter *expect(struct filter_parser *p, const char *what)
{
    err_set(p->e, ERR_INVALID_QUERY, "$filter",
            "$filter is '%.200s'; at position %d there must be %s.", p->text,
            (int)(p->at - p->text) + 1, what);
    return NULL;
}

static bool fail(struct filter_parser *p, const char *what)
{
    expect(p, what);
    return false;
}

static void skip_spaces(struct filter_parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool take_char(struct filter_parser *p, char c)
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

static bool take_word(struct filter_parser *p, const char *word)
{
    skip_spaces(p);
    size_t n = word_length(p->at);
    if (n != strlen(word) || strncasecmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static size_t path_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_/", s[n])))
        n++;
    return n;
}

static bool take_path(struct filter_parser *p, struct filter_term *t)
{
    skip_spaces(p);
    size_t n = path_length(p->at);
    if (n == 0 || !p->paths->find(p->paths->ctx, p->at, n, t))
        return fail(p, "the name of a property, such as name or properties/vmSize");
    p->at += n;
    return true;
}

/* Reads the text after the opening quote, up to the closing quote; two quotes ('') are one quote in
 * the text. */
static bool take_text(struct filter_parser *p, struct filter_literal *l)
{
    char text[TEXT_MAX + 1];
    size_t n = 0;
    for (; *p->at && n < TEXT_MAX; p->at++) {
        if (*p->at == '\'' && p->at[1] != '\'')
            break;
        if (*p->at == '\'')
            p->at++;
        text[n++] = *p->at;
    }
    l->kind = FILTER_TEXT;
    l->text = arena_strndup(p->a, text, n);
    return take_char(p, '\'') || fail(p, "a closing quote (texts have at most 511 bytes)");
}

/* datetime'...' or DateTime'...' */
static bool take_time(struct filter_parser *p, struct filter_literal *l)
{
    const char *start = p->at;
    if (!take_char(p, '\''))
        return fail(p, "a time: datetime'2018-06-07T21:34:00Z'");
    if (!take_text(p, l))
        return false;
    l->kind = FILTER_TIME;
    if (timefmt_parse(l->text, &l->us) == 0)
        return true;
    p->at = start;
    return fail(p, "a time: datetime'2018-06-07T21:34:00Z'");
}

static bool take_literal(struct filter_parser *p, struct filter_literal *l)
{
    char *end;
    if (take_char(p, '\''))
        return take_text(p, l);
    if (p->paths->times && take_word(p, "datetime"))
        return take_time(p, l);
    l->truth = take_word(p, "true");
    if (l->truth || take_word(p, "false")) {
        l->kind = FILTER_BOOL;
        return true;
    }
    if (take_word(p, "null"))
        return true;
    l->number = strtod(p->at, &end);
    if (end == p->at)
        return fail(p, "a value: 'text', a number, true, false or null");
    p->at = end;
    l->kind = FILTER_NUMBER;
    return true;
}

static struct filter *node(struct filter_parser *p, enum filter_kind kind,
                           const struct filter *left, const struct filter *right)
{
    struct filter *f = arena_alloc(p->a, sizeof *f);
    f->kind = kind;
    f->left = left;
    f->right = right;
    return f;
}

/* Checks whether the property permits the complete comparison f. Returns f, or NULL after an
 * error. */
static struct filter *checked(struct filter_parser *p, struct filter *f, const char *from)
{
    const char *wanted = p->paths->check ? p->paths->check(p->paths->ctx, &f->term) : NULL;
    if (!wanted)
        return f;
    p->at = from;
    return expect(p, wanted);
}

static struct filter *parse_starts_with(struct filter_parser *p)
{
    struct filter *f = node(p, FILTER_TERM, NULL, NULL);
    f->term.op = FILTER_STARTS_WITH;
    if (!take_char(p, '('))
        return expect(p, "'('");
    skip_spaces(p);
    const char *from = p->at;
    if (!take_path(p, &f->term))
        return NULL;
    if (!take_char(p, ','))
        return expect(p, "','");
    if (!take_literal(p, &f->term.literal))
        return NULL;
    if (f->term.literal.kind != FILTER_TEXT)
        return expect(p, "a 'text' before");
    if (!take_char(p, ')'))
        return expect(p, "')'");
    return checked(p, f, from);
}

static struct filter *parse_comparison(struct filter_parser *p)
{
    int op = 0;
    p->terms++;
    if (take_word(p, "startswith"))
        return parse_starts_with(p);
    struct filter *f = node(p, FILTER_TERM, NULL, NULL);
    skip_spaces(p);
    const char *from = p->at;
    if (!take_path(p, &f->term))
        return NULL;
    while (op < FILTER_STARTS_WITH && !take_word(p, operators[op]))
        op++;
    if (op == FILTER_STARTS_WITH)
        return expect(p, "one of eq, ne, lt, le, gt and ge");
    f->term.op = (enum filter_op)op;
    return take_literal(p, &f->term.literal) ? checked(p, f, from) : NULL;
}

static struct filter *parse_or(struct filter_parser *p);

static struct filter *parse_unary(struct filter_parser *p)
{
    struct filter *f;
    if (++p->depth > DEPTH_MAX)
        return expect(p, "less nesting");
    if (take_word(p, "not")) {
        f = parse_unary(p);
        f = f ? node(p, FILTER_NOT, f, NULL) : NULL;
    } else if (take_char(p, '(')) {
        f = parse_or(p);
        if (f && !take_char(p, ')'))
            f = expect(p, "')'");
    } else {
        f = parse_comparison(p);
    }
    p->depth--;
    return f;
}

static struct filter *parse_and(struct filter_parser *p)
{
    struct filter *f = parse_unary(p);
    while (f && take_word(p, "and")) {
        const struct filter *right = parse_unary(p);
        f = right ? node(p, FILTER_AND, f, right) : NULL;
    }
    return f;
}

static struct filter *parse_or(struct filter_parser *p)
{
    struct filter *f = parse_and(p);
    while (f && take_word(p, "or")) {
        const struct filter *right = parse_and(p);
        f = right ? node(p, FILTER_OR, f, right) : NULL;
    }
    return f;
}

int filter_parse(const char *text, const struct filter_paths *paths, struct arena *a,
                 const struct filter **out, size_t *terms, struct err *e)
{
    struct filter_parser p = {.paths = paths, .a = a, .text = text, .at = text, .e = e};
    const struct filter *f = parse_or(&p);
    skip_spaces(&p);
    if (f && *p.at)
        f = expect(&p, "the end, 'and' or 'or'");
    *out = f;
    *terms = p.terms;
    return f ? 0 : -1;
}

bool filter_holds(const struct filter *f,
                  bool (*term)(const void *ctx, const struct filter_term *t), const void *ctx)
{
    /* A chain of "and" or "or" is nested on the left side, as deep as the chain is long, so a loop
     * walks down there. */
    while (f->kind == FILTER_AND || f->kind == FILTER_OR) {
        bool right = filter_holds(f->right, term, ctx);
        if (right == (f->kind == FILTER_OR))
            return right;
        f = f->left;
    }
    if (f->kind == FILTER_NOT)
        return !filter_holds(f->left, term, ctx);
    return term(ctx, &f->term);
}

bool filter_order_is(enum filter_op op, int order)
{
    switch (op) {
    case FILTER_EQ:
        return order == 0;
    case FILTER_NE:
        return order != 0;
    case FILTER_LT:
        return order < 0;
    case FILTER_LE:
        return order <= 0;
    case FILTER_GT:
        return order > 0;
    case FILTER_GE:
        return order >= 0;
    case FILTER_STARTS_WITH:
    case FILTER_OPS:
        break;
    }
    return false;
}

static bool is_null_as_wanted(const struct filter_term *t, bool null)
{
    if (t->literal.kind == FILTER_NULL)
        return (t->op == FILTER_EQ && null) || (t->op == FILTER_NE && !null);
    return t->op == FILTER_NE;
}

bool filter_text_is(const struct filter_term *t, const char *value)
{
    const char *text = t->literal.text;
    if (t->literal.kind != FILTER_TEXT || !value)
        return is_null_as_wanted(t, !value);
    if (t->op == FILTER_STARTS_WITH)
        return strncasecmp(value, text, strlen(text)) == 0;
    return filter_order_is(t->op, strcasecmp(value, text));
}

bool filter_number_is(const struct filter_term *t, const double *value)
{
    if (t->literal.kind != FILTER_NUMBER || !value)
        return is_null_as_wanted(t, !value);
    return filter_order_is(t->op, (*value > t->literal.number) - (*value < t->literal.number));
}

bool filter_bool_is(const struct filter_term *t, bool value)
{
    if (t->literal.kind != FILTER_BOOL)
        return is_null_as_wanted(t, false);
    return filter_order_is(t->op, value != t->literal.truth);
}

bool filter_time_is(const struct filter_term *t, int64_t us)
{
    if (t->literal.kind != FILTER_TIME || us == 0)
        return is_null_as_wanted(t, us == 0);
    return filter_order_is(t->op, (us > t->literal.us) - (us < t->literal.us));
}
