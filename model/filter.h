/* SPDX-License-Identifier: MIT
 *
 * $filter of lists, parsed into a tree: path eq|ne|lt|le|gt|ge literal, startswith(path, 'text'),
 * joined by and, or, not and parentheses. The caller defines the paths; the tree is evaluated for
 * an item here (filter_holds()), or for many rows by storage/.
 */
#ifndef MODEL_FILTER_H
#define MODEL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"

enum filter_op {
    FILTER_EQ,
    FILTER_NE,
    FILTER_LT,
    FILTER_LE,
    FILTER_GT,
    FILTER_GE,
    FILTER_STARTS_WITH,
    FILTER_OPS
};
#define FILTER_EQUAL (1U << FILTER_EQ | 1U << FILTER_NE)
#define FILTER_ORDER                                                                               \
    (FILTER_EQUAL | 1U << FILTER_LT | 1U << FILTER_LE | 1U << FILTER_GT | 1U << FILTER_GE)
#define FILTER_ANY_OP (FILTER_ORDER | 1U << FILTER_STARTS_WITH)

enum filter_literal_kind { FILTER_NULL, FILTER_TEXT, FILTER_NUMBER, FILTER_BOOL, FILTER_TIME };

struct filter_literal {
    enum filter_literal_kind kind;
    const char *text; /* the text; of a time: the text as it was sent */
    double number;
    bool truth;
    int64_t us;
};

/* A comparison. */
struct filter_term {
    const char *path; /* in the caller's spelling */
    int property;     /* the caller's number for the property */
    enum filter_op op;
    struct filter_literal literal;
};

enum filter_kind { FILTER_TERM, FILTER_AND, FILTER_OR, FILTER_NOT };

struct filter {
    enum filter_kind kind;
    const struct filter *left, *right; /* `right` is NULL for NOT */
    struct filter_term term;
};

/* The paths that a filter may contain. */
struct filter_paths {
    /* Fills in path and property for [s, s + n); false: unknown path. */
    bool (*find)(void *ctx, const char *s, size_t n, struct filter_term *out);
    /* Returns NULL if the property permits this comparison, otherwise a description of the form
     * that it expects. May change the literal. */
    const char *(*check)(void *ctx, struct filter_term *t);
    void *ctx;
    bool times; /* literals datetime'2018-06-07T21:34:00Z' are allowed */
};

/* Parses a filter into a tree in the arena; *terms is its number of comparisons. For an invalid
 * text: ERR_INVALID_QUERY with the position of the mistake. */
int filter_parse(const char *text, const struct filter_paths *paths, struct arena *a,
                 const struct filter **out, size_t *terms, struct err *e) MUST_CHECK;
/* Returns whether the filter is true. Calls `term` to evaluate each comparison. */
bool filter_holds(const struct filter *f,
                  bool (*term)(const void *ctx, const struct filter_term *t), const void *ctx);
/* Return whether a comparison is true for a value. Texts are compared without regard to case. An
 * absent value (a NULL pointer, or an instant of 0) equals only null. A value of another kind than
 * the literal does not equal the literal. */
bool filter_text_is(const struct filter_term *t, const char *value);
bool filter_number_is(const struct filter_term *t, const double *value);
bool filter_bool_is(const struct filter_term *t, bool value);
bool filter_time_is(const struct filter_term *t, int64_t us);
/* Returns whether the result of a comparison (< 0, 0, > 0) satisfies an operator other than
 * startswith. */
bool filter_order_is(enum filter_op op, int order);

#endif
