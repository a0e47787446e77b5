/* SPDX-License-Identifier: MIT
 *
 * Text -> tokens. Comments and space are dropped. Each token has its line and column, which errors
 * contain. Pure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

static const char *const signs[SIGN_COUNT] = {
    [SIGN_OR] = "||",       [SIGN_AND] = "&&",     [SIGN_EQUAL] = "==",   [SIGN_NOT_EQUAL] = "!=",
    [SIGN_LESS] = "<",      [SIGN_AT_MOST] = "<=", [SIGN_GREATER] = ">",  [SIGN_AT_LEAST] = ">=",
    [SIGN_PLUS] = "+",      [SIGN_MINUS] = "-",    [SIGN_TIMES] = "*",    [SIGN_DIVIDE] = "/",
    [SIGN_NOT] = "!",       [SIGN_ASSIGN] = "=",   [SIGN_QUESTION] = "?", [SIGN_COLON] = ":",
    [SIGN_OPEN] = "(",      [SIGN_CLOSE] = ")",    [SIGN_COMMA] = ",",    [SIGN_DOT] = ".",
    [SIGN_SEMICOLON] = ";",
};

const char *sign_text(enum sign s)
{
    return signs[s];
}

static struct formula_place here(const struct lexer *l)
{
    return (struct formula_place){l->line, (int)(l->p - l->line_start) + 1};
}

static bool starts(const struct lexer *l, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(l->end - l->p) >= n && memcmp(l->p, with, n) == 0;
}

static void step(struct lexer *l)
{
    if (*l->p++ == '\n') {
        l->line++;
        l->line_start = l->p;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static int skip_comment(struct lexer *l)
{
    struct formula_place at = here(l);
    bool rest_of_line = starts(l, "//");
    l->p += 2;
    while (l->p < l->end && (rest_of_line ? *l->p != '\n' : !starts(l, "*/")))
        step(l);
    if (rest_of_line)
        return 0;
    if (l->p == l->end)
        return formula_fail(l->error, FORMULA_SYNTAX, at, "Comment without an end");
    l->p += 2;
    return 0;
}

static int skip_space(struct lexer *l)
{
    while (l->p < l->end) {
        if (is_space(*l->p))
            step(l);
        else if (!starts(l, "//") && !starts(l, "/*"))
            return 0;
        else if (skip_comment(l) < 0)
            return -1;
    }
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* Reads a number: 12, 1.5, .5, 2e3. An "e" begins an exponent only if digits follow. */
static int lex_number(struct lexer *l, struct token *t)
{
    const char *p = digits(l->p, l->end);
    if (p < l->end && *p == '.')
        p = digits(p + 1, l->end);
    if (p < l->end && (*p == 'e' || *p == 'E')) {
        const char *e = p + 1;
        if (e < l->end && (*e == '+' || *e == '-'))
            e++;
        if (e < l->end && is_digit(*e))
            p = digits(e, l->end);
    }
    const char *text = arena_strndup(l->arena, l->p, (size_t)(p - l->p));
    t->kind = TOKEN_NUMBER;
    errno = 0;
    t->number = strtod(text, NULL);
    if (errno == ERANGE && t->number > 1)
        return formula_fail(l->error, FORMULA_SYNTAX, t->at, "Number too large: %.40s", text);
    l->p = p;
    return 0;
}

static void lex_name(struct lexer *l, struct token *t)
{
    const char *p = l->p + 1; /* the first character was checked by the caller */
    while (p < l->end && (is_letter(*p) || is_digit(*p)))
        p++;
    t->kind = TOKEN_NAME;
    t->text = arena_strndup(l->arena, l->p, (size_t)(p - l->p));
    l->p = p;
}

/* Reads "text", on one line; \" in it stands for ", and \\ for \. */
static int lex_text(struct lexer *l, struct token *t)
{
    const char *p = l->p + 1;
    char *out = arena_alloc(l->arena, (size_t)(l->end - l->p) + 1), *to = out;
    for (; p < l->end && *p != '"' && *p != '\n'; p++) {
        if (*p == '\\' && p + 1 < l->end && (p[1] == '"' || p[1] == '\\'))
            p++;
        *to++ = *p;
    }
    if (p == l->end || *p == '\n')
        return formula_fail(l->error, FORMULA_SYNTAX, t->at, "Text without a closing \"");
    t->kind = TOKEN_TEXT;
    t->text = out;
    l->p = p + 1;
    return 0;
}

/* Reads the longest sign at this place. */
static bool lex_sign(struct lexer *l, struct token *t)
{
    size_t best = 0;
    for (int s = 0; s < SIGN_COUNT; s++) {
        size_t n = strlen(signs[s]);
        if (n > best && starts(l, signs[s])) {
            best = n;
            t->sign = (enum sign)s;
        }
    }
    t->kind = TOKEN_SIGN;
    l->p += best;
    return best > 0;
}

int lex_next(struct lexer *l, struct token *t)
{
    if (skip_space(l) < 0)
        return -1;
    *t = (struct token){.kind = TOKEN_END, .at = here(l)};
    if (l->p == l->end)
        return 0;
    char c = *l->p, next = '\0';
    if (l->p + 1 < l->end)
        next = l->p[1];
    if (is_digit(c) || (c == '.' && is_digit(next)))
        return lex_number(l, t);
    if (c == '"')
        return lex_text(l, t);
    if (is_letter(c) || (c == '$' && is_letter(next))) {
        lex_name(l, t);
        return 0;
    }
    if (lex_sign(l, t))
        return 0;
    if (c > ' ' && c < 0x7f)
        return formula_fail(l->error, FORMULA_SYNTAX, t->at, "Unexpected character: %c", c);
    return formula_fail(l->error, FORMULA_SYNTAX, t->at, "Unexpected byte: 0x%02x",
                        (unsigned)(unsigned char)c);
}
