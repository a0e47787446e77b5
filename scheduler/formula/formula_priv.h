/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this directory: text -> tokens (lex.c) -> tree (parse.c) -> values
 * (evaluate.c, with operators.c, functions.c, metrics.c and value.c) -> text of the results
 * (show.c). All memory of a formula is in its arena, all memory of an evaluation in a separate
 * arena.
 */
#ifndef SCHEDULER_FORMULA_FORMULA_PRIV_H
#define SCHEDULER_FORMULA_FORMULA_PRIV_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/strbuf.h"
#include "scheduler/formula/formula.h"

struct formula_place {
    int line, column; /* from 1; columns are bytes */
};

/* Fills the error, with "Line L, Col C: " before the text. Returns -1. */
int formula_fail(struct formula_error *e, enum formula_fault fault, struct formula_place at,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* --- tokens --- */

enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_TEXT,
    TOKEN_NAME,
    TOKEN_SIGN, /* one of enum sign */
};

/* Signs. Binary operators come first: they are indices of a table. */
enum sign {
    SIGN_OR,
    SIGN_AND,
    SIGN_EQUAL,
    SIGN_NOT_EQUAL,
    SIGN_LESS,
    SIGN_AT_MOST,
    SIGN_GREATER,
    SIGN_AT_LEAST,
    SIGN_PLUS,
    SIGN_MINUS,
    SIGN_TIMES,
    SIGN_DIVIDE,
    SIGN_BINARY_COUNT,
    SIGN_NOT = SIGN_BINARY_COUNT,
    SIGN_ASSIGN,
    SIGN_QUESTION,
    SIGN_COLON,
    SIGN_OPEN,
    SIGN_CLOSE,
    SIGN_COMMA,
    SIGN_DOT,
    SIGN_SEMICOLON,
    SIGN_COUNT
};
const char *sign_text(enum sign s);

struct token {
    enum token_kind kind;
    enum sign sign;
    struct formula_place at;
    double number;
    const char *text; /* for a text its content, for a name the name; in the arena */
};

struct lexer {
    const char *p, *end, *line_start;
    int line;
    struct arena *arena;         /* borrowed */
    struct formula_error *error; /* borrowed */
};
int lex_next(struct lexer *l, struct token *t);

/* --- trees --- */

enum node_kind {
    NODE_NUMBER,
    NODE_TEXT,
    NODE_NAME,
    NODE_UNARY,  /* sign, children[0] */
    NODE_BINARY, /* sign, children[0], children[1] */
    NODE_CHOICE, /* children[0] ? children[1] : children[2] */
    NODE_CALL,   /* name; children: the arguments */
    NODE_METHOD, /* children[0].name(other children) */
    NODE_MEMBER, /* children[0].name */
};

struct formula_node {
    enum node_kind kind;
    enum sign sign;
    struct formula_place at;
    int depth; /* of the tree below this node, at most FORMULA_DEPTH */
    double number;
    const char *name; /* for a text its content */
    const struct formula_node **children;
    size_t count;
};

struct statement {
    const char *name; /* NULL: a bare expression */
    struct formula_place at;
    const struct formula_node *value;
};

struct formula {
    struct arena arena;
    struct statement statements[FORMULA_STATEMENTS];
    size_t count;
};

/* --- values --- */

enum value_kind {
    VALUE_NUMBER,
    VALUE_VECTOR,
    VALUE_TEXT,
    VALUE_TIMESTAMP,
    VALUE_INTERVAL,
    VALUE_METRIC
};
const char *value_kind_name(enum value_kind k);

/* A tick is 100 ns; a timestamp is the number of ticks since 1970. */
#define TICKS_PER_US     INT64_C(10)
#define TICKS_PER_SECOND INT64_C(10000000)

struct formula_value {
    enum value_kind kind;
    union {
        double number;
        int64_t ticks; /* for a timestamp or an interval */
        const char *text;
        enum sample_metric metric;
        struct {
            const double *items;
            size_t count;
        } vector;
    };
};

struct formula_variable {
    const char *name;
    struct formula_value value;
    struct formula_variable *next; /* in order of names */
};

/* The service's variables that formulas set: indices of formula_run.set. */
enum target { TARGET_DEDICATED, TARGET_LOW_PRIORITY, TARGET_OPTION, TARGET_COUNT };

struct formula_run {
    const struct formula_inputs *in;
    struct arena arena;
    struct formula_value targets[TARGET_COUNT];
    bool named[TARGET_COUNT]; /* assigned by its full name; an alias does not replace this value */
    struct formula_variable *variables; /* the variables that the formula defines */
    size_t items; /* items of all vectors so far, at most FORMULA_MOST_ITEMS */
    size_t read;  /* items read to convert vectors to numbers, at most FORMULA_MOST_READ */
    bool stopped; /* stop() was called */
    struct formula_error *error;
};

int run_fail(struct formula_run *r, struct formula_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes a vector of n items, which the caller fills, in the run's memory. NULL: too many items, and
 * the run has failed. */
double *run_vector(struct formula_run *r, struct formula_place at, size_t n,
                   struct formula_value *out);

struct formula_value value_number(double d);
struct formula_value value_of_ticks(enum value_kind kind, int64_t ticks);
/* Converts a metric or a vector to a number. Other kinds fail. */
int value_as_number(struct formula_run *r, struct formula_place at, const struct formula_value *v,
                    double *out);
/* Makes a timestamp or an interval from the result of a calculation with fractions. Fails if the
 * result is out of range. */
int value_of_calculation(struct formula_run *r, struct formula_place at, enum value_kind kind,
                         long double ticks, struct formula_value *out);

int operate(struct formula_run *r, const struct formula_node *n, const struct formula_value *a,
            const struct formula_value *b, struct formula_value *out);
int operate_unary(struct formula_run *r, const struct formula_node *n,
                  const struct formula_value *a, struct formula_value *out);
/* `given` are the values of the children of n. */
int call_function(struct formula_run *r, const struct formula_node *n,
                  const struct formula_value *given, struct formula_value *out);
int call_method(struct formula_run *r, const struct formula_node *n,
                const struct formula_value *given, struct formula_value *out);
int timestamp_member(struct formula_run *r, const struct formula_node *n,
                     const struct formula_value *of, struct formula_value *out);
/* The last sample of a metric, or NaN. */
double metric_last(const struct formula_run *r, enum sample_metric m);
/* Parses a text in W3C-DTF or RFC 1123 format. Returns 0, or -1 if it is neither. */
int instant_parse(const char *text, int64_t *ticks);
char *show_results(const struct formula_run *r);

/* Whether `name` is one of the targets, by its full name or by an alias. */
bool target_named(const char *name, enum target *t, bool *whole);
/* The number of nodes in the value of a target. */
int64_t target_nodes(const struct formula_run *r, enum target t);

#endif
