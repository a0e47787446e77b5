/* SPDX-License-Identifier: MIT
 *
 * The kinds of values that each operator accepts.
 */
#include <math.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

static double calculate(enum sign s, double a, double b)
{
    switch (s) {
    case SIGN_PLUS:
        return a + b;
    case SIGN_MINUS:
        return a - b;
    case SIGN_TIMES:
        return a * b;
    default:
        return a / b; /* division by zero is as in IEEE 754 */
    }
}

static int numbers(struct formula_run *r, const struct formula_node *n,
                   const struct formula_value *a, const struct formula_value *b,
                   struct formula_value *out)
{
    (void)r;
    *out = value_number(calculate(n->sign, a->number, b->number));
    return 0;
}

static double item(const struct formula_value *v, size_t i)
{
    return v->kind == VALUE_NUMBER ? v->number : v->vector.items[i];
}

/* Combines two vectors element by element, or a number with each element. */
static int vectors(struct formula_run *r, const struct formula_node *n,
                   const struct formula_value *a, const struct formula_value *b,
                   struct formula_value *out)
{
    const struct formula_value *lead = a->kind == VALUE_VECTOR ? a : b;
    size_t count = lead->vector.count;
    if (a->kind == b->kind && b->vector.count != count)
        return run_fail(r, n->at, "Vectors of %zu and %zu elements", count, b->vector.count);
    double *items = run_vector(r, n->at, count, out);
    if (!items)
        return -1;
    for (size_t i = 0; i < count; i++)
        items[i] = calculate(n->sign, item(a, i), item(b, i));
    return 0;
}

/* Multiplies or divides an interval. */
static int scale(struct formula_run *r, const struct formula_node *n, const struct formula_value *a,
                 const struct formula_value *b, struct formula_value *out)
{
    long double ticks = a->kind == VALUE_INTERVAL ? a->ticks : b->ticks;
    long double by = a->kind == VALUE_INTERVAL ? b->number : a->number;
    return value_of_calculation(r, n->at, VALUE_INTERVAL,
                                n->sign == SIGN_TIMES ? ticks * by : ticks / by, out);
}

/* Adds or subtracts: a timestamp and an interval give a timestamp; two values of one kind give an
 * interval. */
static int instants(struct formula_run *r, const struct formula_node *n,
                    const struct formula_value *a, const struct formula_value *b,
                    struct formula_value *out)
{
    long double left = a->ticks, right = b->ticks;
    return value_of_calculation(r, n->at, a->kind == b->kind ? VALUE_INTERVAL : VALUE_TIMESTAMP,
                                n->sign == SIGN_PLUS ? left + right : left - right, out);
}

#define BIT(s)  (1U << (s))
#define LINEAR  (BIT(SIGN_PLUS) | BIT(SIGN_MINUS))
#define SCALING (BIT(SIGN_TIMES) | BIT(SIGN_DIVIDE))
#define COMPARISONS                                                                                \
    (BIT(SIGN_EQUAL) | BIT(SIGN_NOT_EQUAL) | BIT(SIGN_LESS) | BIT(SIGN_AT_MOST) |                  \
     BIT(SIGN_GREATER) | BIT(SIGN_AT_LEAST))

static const struct {
    enum value_kind left, right;
    unsigned signs;
    int (*apply)(struct formula_run *, const struct formula_node *, const struct formula_value *,
                 const struct formula_value *, struct formula_value *);
} operators[] = {
    {VALUE_NUMBER, VALUE_NUMBER, LINEAR | SCALING, numbers},
    {VALUE_VECTOR, VALUE_NUMBER, LINEAR | SCALING, vectors},
    {VALUE_NUMBER, VALUE_VECTOR, LINEAR | SCALING, vectors},
    {VALUE_VECTOR, VALUE_VECTOR, LINEAR | SCALING, vectors},
    {VALUE_NUMBER, VALUE_INTERVAL, BIT(SIGN_TIMES), scale},
    {VALUE_INTERVAL, VALUE_NUMBER, SCALING, scale},
    {VALUE_INTERVAL, VALUE_INTERVAL, LINEAR, instants},
    {VALUE_INTERVAL, VALUE_TIMESTAMP, BIT(SIGN_PLUS), instants},
    {VALUE_TIMESTAMP, VALUE_INTERVAL, LINEAR, instants},
    {VALUE_TIMESTAMP, VALUE_TIMESTAMP, BIT(SIGN_MINUS), instants},
};

/* Compares: -1: less, 0: equal, 1: greater; 2: an operand is NaN, and all comparisons but != are
 * false. */
static int order(const struct formula_value *a, const struct formula_value *b)
{
    if (a->kind == VALUE_TEXT) {
        int c = strcmp(a->text, b->text);
        return (c > 0) - (c < 0);
    }
    if (a->kind != VALUE_NUMBER)
        return (a->ticks > b->ticks) - (a->ticks < b->ticks);
    if (isnan(a->number) || isnan(b->number))
        return 2;
    return (a->number > b->number) - (a->number < b->number);
}

static bool holds(enum sign s, int order)
{
    switch (s) {
    case SIGN_EQUAL:
        return order == 0;
    case SIGN_NOT_EQUAL:
        return order != 0;
    case SIGN_LESS:
        return order == -1;
    case SIGN_AT_MOST:
        return order == -1 || order == 0;
    case SIGN_GREATER:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

/* Operators convert metrics to numbers; comparisons convert vectors too. */
static int settle(struct formula_run *r, const struct formula_node *n,
                  const struct formula_value *v, struct formula_value *out)
{
    bool compared = (COMPARISONS & BIT(n->sign)) != 0;
    *out = *v;
    if (v->kind != VALUE_METRIC && !(v->kind == VALUE_VECTOR && compared))
        return 0;
    double d;
    if (value_as_number(r, n->at, v, &d) < 0)
        return -1;
    *out = value_number(d);
    return 0;
}

int operate(struct formula_run *r, const struct formula_node *n, const struct formula_value *a,
            const struct formula_value *b, struct formula_value *out)
{
    struct formula_value left, right;
    if (settle(r, n, a, &left) < 0 || settle(r, n, b, &right) < 0)
        return -1;
    if ((COMPARISONS & BIT(n->sign)) && left.kind == right.kind) {
        *out = value_number(holds(n->sign, order(&left, &right)));
        return 0;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].left == left.kind && operators[i].right == right.kind &&
            (operators[i].signs & BIT(n->sign)))
            return operators[i].apply(r, n, &left, &right, out);
    return run_fail(r, n->at, "No operator %s for %s and %s", sign_text(n->sign),
                    value_kind_name(left.kind), value_kind_name(right.kind));
}

int operate_unary(struct formula_run *r, const struct formula_node *n,
                  const struct formula_value *a, struct formula_value *out)
{
    struct formula_value v;
    if (settle(r, n, a, &v) < 0)
        return -1;
    const struct formula_value zero = value_number(0);
    if (n->sign == SIGN_NOT) {
        double d = 0;
        if (value_as_number(r, n->at, &v, &d) < 0)
            return -1;
        *out = value_number(d == 0);
        return 0;
    }
    switch (v.kind) {
    case VALUE_NUMBER:
        *out = value_number(-v.number);
        return 0;
    case VALUE_VECTOR:
        return vectors(r, n, &zero, &v, out);
    case VALUE_INTERVAL:
        return value_of_calculation(r, n->at, VALUE_INTERVAL, -(long double)v.ticks, out);
    default:
        return run_fail(r, n->at, "No operator - for %s", value_kind_name(v.kind));
    }
}
