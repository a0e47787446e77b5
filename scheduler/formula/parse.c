/* SPDX-License-Identifier: MIT
 *
 * Tokens -> a tree for each statement, by recursive descent. Depth is bounded where trees are made
 * and where the parser calls itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

struct formula_parser {
    struct lexer lexer;
    struct token now, next; /* the present token, and the next */
    int depth;              /* of the parser's own calls */
    struct formula *formula;
    struct formula_error *error;
};

static int advance(struct formula_parser *p)
{
    p->now = p->next;
    return lex_next(&p->lexer, &p->next);
}

/* Skips the two tokens that were read ahead; at the start, reads the first two. */
static int advance_two(struct formula_parser *p)
{
    for (int i = 0; i < 2; i++)
        if (advance(p) < 0)
            return -1;
    return 0;
}

static bool at_sign(const struct formula_parser *p, enum sign s)
{
    return p->now.kind == TOKEN_SIGN && p->now.sign == s;
}

/* "Unexpected TOKEN, expected WHAT". */
static int unexpected(struct formula_parser *p, const char *what)
{
    const struct token *t = &p->now;
    switch (t->kind) {
    case TOKEN_END:
        return formula_fail(p->error, FORMULA_SYNTAX, t->at, "Unexpected end, expected %s", what);
    case TOKEN_NUMBER:
        return formula_fail(p->error, FORMULA_SYNTAX, t->at, "Unexpected number %.15g, expected %s",
                            t->number, what);
    case TOKEN_TEXT:
        return formula_fail(p->error, FORMULA_SYNTAX, t->at, "Unexpected text, expected %s", what);
    case TOKEN_NAME:
        return formula_fail(p->error, FORMULA_SYNTAX, t->at, "Unexpected %.60s, expected %s",
                            t->text, what);
    case TOKEN_SIGN:
        break;
    }
    return formula_fail(p->error, FORMULA_SYNTAX, t->at, "Unexpected %s, expected %s",
                        sign_text(t->sign), what);
}

static int too_deep(struct formula_parser *p, struct formula_place at)
{
    return formula_fail(p->error, FORMULA_SYNTAX, at, "More than %d expressions in one another",
                        FORMULA_DEPTH);
}

static int expect(struct formula_parser *p, enum sign s, const char *what)
{
    return at_sign(p, s) ? advance(p) : unexpected(p, what);
}

/* A node with room for this number of children. */
static struct formula_node *make(struct formula_parser *p, enum node_kind kind,
                                 struct formula_place at, size_t room)
{
    struct formula_node *n = arena_alloc(&p->formula->arena, sizeof *n);
    n->kind = kind;
    n->at = at;
    n->depth = 1;
    if (room > 0)
        n->children = arena_alloc(&p->formula->arena, room * sizeof *n->children);
    return n;
}

static int adopt(struct formula_parser *p, struct formula_node *n, const struct formula_node *child)
{
    n->children[n->count++] = child;
    if (child->depth >= n->depth)
        n->depth = child->depth + 1;
    return n->depth > FORMULA_DEPTH ? too_deep(p, n->at) : 0;
}

/* The parse functions below return NULL on failure. */
static const struct formula_node *parse_expression(struct formula_parser *p);

/* Parses the arguments of a call, after its "(", into a list that grows. */
static const struct formula_node *parse_arguments(struct formula_parser *p, struct formula_node *n,
                                                  size_t room)
{
    if (at_sign(p, SIGN_CLOSE))
        return advance(p) < 0 ? NULL : n;
    for (;;) {
        const struct formula_node *child = parse_expression(p);
        if (!child)
            return NULL;
        if (n->count == room) {
            const struct formula_node **more =
                arena_alloc(&p->formula->arena, 2 * room * sizeof *n->children);
            memcpy(more, n->children, room * sizeof *more);
            n->children = more;
            room *= 2;
        }
        if (adopt(p, n, child) < 0)
            return NULL;
        if (!at_sign(p, SIGN_COMMA))
            return expect(p, SIGN_CLOSE, ", or )") < 0 ? NULL : n;
        if (advance(p) < 0)
            return NULL;
    }
}

static bool call_follows(const struct formula_parser *p)
{
    return p->next.kind == TOKEN_SIGN && p->next.sign == SIGN_OPEN;
}

/* The initial size of the list; most calls have no more arguments. */
enum { USUAL_ARGUMENTS = 4 };

static const struct formula_node *parse_name(struct formula_parser *p)
{
    bool call = call_follows(p);
    struct formula_node *n =
        make(p, call ? NODE_CALL : NODE_NAME, p->now.at, call ? USUAL_ARGUMENTS : 0);
    n->name = p->now.text;
    if (!call)
        return advance(p) < 0 ? NULL : n;
    return advance_two(p) < 0 ? NULL : parse_arguments(p, n, USUAL_ARGUMENTS);
}

static const struct formula_node *parse_literal(struct formula_parser *p, enum node_kind kind)
{
    struct formula_node *n = make(p, kind, p->now.at, 0);
    n->number = p->now.number;
    n->name = p->now.text;
    return advance(p) < 0 ? NULL : n;
}

static const struct formula_node *parse_primary(struct formula_parser *p)
{
    if (p->now.kind == TOKEN_NUMBER)
        return parse_literal(p, NODE_NUMBER);
    if (p->now.kind == TOKEN_TEXT)
        return parse_literal(p, NODE_TEXT);
    if (p->now.kind == TOKEN_NAME)
        return parse_name(p);
    if (!at_sign(p, SIGN_OPEN)) {
        unexpected(p, "an expression");
        return NULL;
    }
    if (advance(p) < 0)
        return NULL;
    const struct formula_node *n = parse_expression(p);
    return n && expect(p, SIGN_CLOSE, ")") == 0 ? n : NULL;
}

/* ".name" or ".name(...)" after an expression. The place of a method is its parenthesis, as in the
 * real service. */
static const struct formula_node *parse_member(struct formula_parser *p,
                                               const struct formula_node *of)
{
    if (advance(p) < 0)
        return NULL;
    if (p->now.kind != TOKEN_NAME) {
        unexpected(p, "the name of a member");
        return NULL;
    }
    bool call = call_follows(p);
    struct formula_node *n =
        make(p, call ? NODE_METHOD : NODE_MEMBER, call ? p->next.at : p->now.at, USUAL_ARGUMENTS);
    n->name = p->now.text;
    if (adopt(p, n, of) < 0)
        return NULL;
    if (!call)
        return advance(p) < 0 ? NULL : n;
    return advance_two(p) < 0 ? NULL : parse_arguments(p, n, USUAL_ARGUMENTS);
}

static const struct formula_node *parse_postfix(struct formula_parser *p)
{
    const struct formula_node *n = parse_primary(p);
    while (n && at_sign(p, SIGN_DOT))
        n = parse_member(p, n);
    return n;
}

static const struct formula_node *parse_unary(struct formula_parser *p)
{
    if (!at_sign(p, SIGN_MINUS) && !at_sign(p, SIGN_NOT))
        return parse_postfix(p);
    struct formula_node *n = make(p, NODE_UNARY, p->now.at, 1);
    n->sign = p->now.sign;
    if (++p->depth > FORMULA_DEPTH) {
        too_deep(p, n->at);
        return NULL;
    }
    if (advance(p) < 0)
        return NULL;
    const struct formula_node *child = parse_unary(p);
    p->depth--;
    return child && adopt(p, n, child) == 0 ? n : NULL;
}

/* Precedence of operators; all are left-associative. */
static const int strength[SIGN_BINARY_COUNT] = {
    [SIGN_OR] = 1,   [SIGN_AND] = 2,     [SIGN_EQUAL] = 3,   [SIGN_NOT_EQUAL] = 3,
    [SIGN_LESS] = 4, [SIGN_AT_MOST] = 4, [SIGN_GREATER] = 4, [SIGN_AT_LEAST] = 4,
    [SIGN_PLUS] = 5, [SIGN_MINUS] = 5,   [SIGN_TIMES] = 6,   [SIGN_DIVIDE] = 6,
};

static const struct formula_node *parse_binary(struct formula_parser *p, int weakest)
{
    const struct formula_node *left = parse_unary(p);
    while (left && p->now.kind == TOKEN_SIGN && p->now.sign < SIGN_BINARY_COUNT &&
           strength[p->now.sign] >= weakest) {
        struct formula_node *n = make(p, NODE_BINARY, p->now.at, 2);
        n->sign = p->now.sign;
        if (advance(p) < 0)
            return NULL;
        const struct formula_node *right = parse_binary(p, strength[n->sign] + 1);
        if (!right || adopt(p, n, left) < 0 || adopt(p, n, right) < 0)
            return NULL;
        left = n;
    }
    return left;
}

static const struct formula_node *parse_choice(struct formula_parser *p)
{
    const struct formula_node *which = parse_binary(p, 1);
    if (!which || !at_sign(p, SIGN_QUESTION))
        return which;
    struct formula_node *n = make(p, NODE_CHOICE, p->now.at, 3);
    if (advance(p) < 0)
        return NULL;
    const struct formula_node *yes = parse_expression(p);
    if (!yes || expect(p, SIGN_COLON, ":") < 0)
        return NULL;
    const struct formula_node *no = parse_expression(p);
    if (!no || adopt(p, n, which) < 0 || adopt(p, n, yes) < 0 || adopt(p, n, no) < 0)
        return NULL;
    return n;
}

static const struct formula_node *parse_expression(struct formula_parser *p)
{
    if (++p->depth > FORMULA_DEPTH) {
        too_deep(p, p->now.at);
        return NULL;
    }
    const struct formula_node *n = parse_choice(p);
    p->depth--;
    return n;
}

static int parse_statement(struct formula_parser *p)
{
    struct formula *f = p->formula;
    if (f->count == FORMULA_STATEMENTS)
        return formula_fail(p->error, FORMULA_SYNTAX, p->now.at, "More than %d statements",
                            FORMULA_STATEMENTS);
    struct statement *s = &f->statements[f->count];
    s->at = p->now.at;
    if (p->now.kind == TOKEN_NAME && p->next.kind == TOKEN_SIGN && p->next.sign == SIGN_ASSIGN) {
        s->name = p->now.text;
        if (advance_two(p) < 0)
            return -1;
    }
    s->value = parse_expression(p);
    if (!s->value)
        return -1;
    f->count++;
    return 0;
}

static int parse_all(struct formula_parser *p)
{
    if (advance_two(p) < 0)
        return -1;
    while (p->now.kind != TOKEN_END) {
        if (!at_sign(p, SIGN_SEMICOLON) && parse_statement(p) < 0)
            return -1;
        if (p->now.kind != TOKEN_END && expect(p, SIGN_SEMICOLON, "an operator or ;") < 0)
            return -1;
    }
    return 0;
}

struct formula *formula_parse(const char *text, size_t len, struct formula_error *e)
{
    *e = (struct formula_error){0};
    if (len > FORMULA_LONGEST) {
        e->fault = FORMULA_TOO_LONG;
        snprintf(e->msg, sizeof e->msg, "The formula has %zu bytes, of at most %d", len,
                 FORMULA_LONGEST);
        return NULL;
    }
    struct formula *f = xcalloc(1, sizeof *f);
    arena_init(&f->arena);
    struct formula_parser p = {.formula = f, .error = e};
    p.lexer = (struct lexer){text, text + len, text, 1, &f->arena, e};
    if (parse_all(&p) < 0) {
        formula_free(f);
        return NULL;
    }
    return f;
}

void formula_free(struct formula *f)
{
    if (!f)
        return;
    arena_free(&f->arena);
    free(f);
}

/* --- which metrics it uses --- */

static const char *bare(const char *name)
{
    return *name == '$' ? name + 1 : name;
}

static bool is_of_machines(const char *name)
{
    for (int m = 0; m < SAMPLE_MACHINE_COUNT; m++)
        if (strcmp(bare(name), bare(sample_metric_name((enum sample_metric)m))) == 0)
            return true;
    return false;
}

static bool asks(const struct formula_node *n)
{
    if (n->kind == NODE_NAME && is_of_machines(n->name))
        return true;
    for (size_t i = 0; i < n->count; i++)
        if (asks(n->children[i]))
            return true;
    return false;
}

bool formula_asks_machines(const struct formula *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (asks(f->statements[i].value))
            return true;
    return false;
}
