/* SPDX-License-Identifier: MIT
 *
 * $filter of lists, read into a tree: path eq|ne|lt|le|gt|ge literal, startswith(path, 'text'),
 * joined by and, or, not and parentheses. Which paths there are is the caller's to say; the tree is
 * asked of an item here (filter_holds()), or of many rows by storage/.
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
    const char *text; /* of a text; of a time, as it was sent */
    double number;
    bool truth;
    int64_t us;
};

/* One comparison. */
struct filter_term {
    const char *path; /* as the caller spells it */
    int property;     /* the caller's number of it */
    enum filter_op op;
    struct filter_literal literal;
};

enum filter_kind { FILTER_TERM, FILTER_AND, FILTER_OR, FILTER_NOT };

struct filter {
    enum filter_kind kind;
    const struct filter *left, *right; /* right NULL: NOT */
    struct filter_term term;
};

/* Which paths a filter may name. */
struct filter_paths {
    /* Fills in path and property for [s, s + n); false: there is no such path. */
    bool (*find)(void *ctx, const char *s, size_t n, struct filter_term *out);
    /* NULL, or what else there must be: the property cannot be compared like that. May change the
     * literal. */
    const char *(*check)(void *ctx, struct filter_term *t);
    void *ctx;
    bool times; /* there are literals datetime'2018-06-07T21:34:00Z' */
};

/* The tree is the arena's; *terms is the number of comparisons in it. ERR_INVALID_QUERY, with the
 * place in the text. */
int filter_parse(const char *text, const struct filter_paths *paths, struct arena *a,
                 const struct filter **out, size_t *terms, struct err *e) MUST_CHECK;
/* Whether it holds, where `term` says so of each comparison. */
bool filter_holds(const struct filter *f,
                  bool (*term)(const void *ctx, const struct filter_term *t), const void *ctx);
/* Whether a comparison holds for a value. Texts compare without regard to case. What is absent
 * (NULL; no number; an instant of 0) equals null alone, and so does what is of another kind. */
bool filter_text_is(const struct filter_term *t, const char *value);
bool filter_number_is(const struct filter_term *t, const double *value);
bool filter_bool_is(const struct filter_term *t, bool value);
bool filter_time_is(const struct filter_term *t, int64_t us);
/* Whether order (< 0, 0, > 0) is what an operator other than startswith wants. */
bool filter_order_is(enum filter_op op, int order);

#endif
