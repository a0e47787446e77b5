/* SPDX-License-Identifier: MIT
 *
 * The functions of the language. Most accept a list of numbers and vectors, in any order, as one
 * vector.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

struct call {
    struct formula_run *run;
    const struct formula_node *node;
    const struct formula_value *given;
};

static int items_of(struct formula_run *r, const struct formula_node *n,
                    const struct formula_value *v, size_t *count)
{
    double ignored;
    *count = v->kind == VALUE_VECTOR ? v->vector.count : 1;
    return v->kind == VALUE_VECTOR ? 0 : value_as_number(r, n->at, v, &ignored);
}

/* Joins the arguments of a call into one vector. */
static int flatten(struct formula_run *r, const struct formula_node *n,
                   const struct formula_value *given, struct formula_value *out)
{
    size_t total = 0, count;
    for (size_t i = 0; i < n->count; i++) {
        if (items_of(r, n->children[i], &given[i], &count) < 0)
            return -1;
        total += count;
    }
    double *items = run_vector(r, n->at, total, out);
    if (!items)
        return -1;
    for (size_t i = 0; i < n->count; i++) {
        if (given[i].kind == VALUE_VECTOR) {
            if (given[i].vector.count > 0)
                memcpy(items, given[i].vector.items, given[i].vector.count * sizeof *items);
            items += given[i].vector.count;
        } else if (value_as_number(r, n->at, &given[i], items++) < 0) {
            return -1;
        }
    }
    return 0;
}

/* --- a vector -> a number --- */

static double sum(const double *v, size_t n)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += v[i];
    return all;
}

static double average(const double *v, size_t n)
{
    return sum(v, n) / (double)n;
}

static double least(const double *v, size_t n)
{
    double d = v[0];
    for (size_t i = 1; i < n; i++)
        d = v[i] < d ? v[i] : d;
    return d;
}

static double most(const double *v, size_t n)
{
    double d = v[0];
    for (size_t i = 1; i < n; i++)
        d = v[i] > d ? v[i] : d;
    return d;
}

static double spread(const double *v, size_t n)
{
    return most(v, n) - least(v, n);
}

static double two_norm(const double *v, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += v[i] * v[i];
    return sqrt(squares);
}

/* The sample standard deviation; 0 for one value. */
static double deviation(const double *v, size_t n)
{
    double middle = average(v, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - middle) * (v[i] - middle);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

static double length(const double *v, size_t n)
{
    (void)v;
    return (double)n;
}

static const struct {
    const char *name;
    bool of_none; /* has a value for an empty vector */
    double (*of)(const double *v, size_t n);
} of_lists[] = {
    {"avg", false, average},   {"len", true, length},    {"max", false, most},
    {"min", false, least},     {"norm", true, two_norm}, {"range", false, spread},
    {"std", false, deviation}, {"sum", true, sum},
};

/* --- a number -> a number, or element by element --- */

static const struct {
    const char *name;
    double (*of)(double);
} of_each[] = {
    {"lg", log2}, {"ln", log}, {"log", log10}, {"ceil", ceil}, {"floor", floor}, {"round", round},
};

static int apply_each(struct formula_run *r, const struct formula_node *n,
                      const struct formula_value *given, double (*of)(double),
                      struct formula_value *out)
{
    struct formula_value v;
    double d = 0;
    if (n->count == 1 && given->kind != VALUE_VECTOR) {
        if (value_as_number(r, n->at, given, &d) < 0)
            return -1;
        *out = value_number(of(d));
        return 0;
    }
    if (flatten(r, n, given, &v) < 0)
        return -1;
    double *items = run_vector(r, n->at, v.vector.count, out);
    if (!items)
        return -1;
    for (size_t i = 0; i < v.vector.count; i++)
        items[i] = of(v.vector.items[i]);
    return 0;
}

/* --- the others --- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Converts an argument to a vector: a vector stays unchanged, a number becomes its only element. */
static int as_vector(struct formula_run *r, struct formula_place at, const struct formula_value *v,
                     struct formula_value *out)
{
    double d;
    *out = *v;
    if (v->kind == VALUE_VECTOR)
        return 0;
    if (value_as_number(r, at, v, &d) < 0)
        return -1;
    double *items = run_vector(r, at, 1, out);
    if (!items)
        return -1;
    items[0] = d;
    return 0;
}

/* The smallest element that at least p percent of the elements do not exceed. */
static int percentile(const struct call *c, struct formula_value *out)
{
    struct formula_run *r = c->run;
    struct formula_place at = c->node->at;
    struct formula_value v, sorted;
    double p;
    if (as_vector(r, at, &c->given[0], &v) < 0 || value_as_number(r, at, &c->given[1], &p) < 0)
        return -1;
    size_t n = v.vector.count;
    if (n == 0)
        return run_fail(r, at, "percentile of an empty vector");
    if (!(p >= 0 && p <= 100))
        return run_fail(r, at, "A percentile is from 0 to 100, not %.15g", p);
    double *items = run_vector(r, at, n, &sorted);
    if (!items)
        return -1;
    memcpy(items, v.vector.items, n * sizeof *items);
    qsort(items, n, sizeof *items, by_size);
    double rank = ceil(p / 100 * (double)n);
    *out = value_number(items[rank < 1 ? 0 : (size_t)rank - 1]);
    return 0;
}

static int element(const struct call *c, struct formula_value *out)
{
    struct formula_run *r = c->run;
    struct formula_place at = c->node->at;
    struct formula_value v;
    double i;
    if (as_vector(r, at, &c->given[0], &v) < 0 || value_as_number(r, at, &c->given[1], &i) < 0)
        return -1;
    if (!(i >= 0 && i < (double)v.vector.count))
        return run_fail(r, at, "No element %.15g in a vector of %zu", i, v.vector.count);
    *out = value_number(v.vector.items[(size_t)i]);
    return 0;
}

static int at_random(const struct call *c, struct formula_value *out)
{
    const struct formula_inputs *in = c->run->in;
    *out = value_number(in->random ? in->random(in->ctx) : 0);
    return 0;
}

static int stop(const struct call *c, struct formula_value *out)
{
    c->run->stopped = true;
    *out = value_number(0);
    return 0;
}

static int instant(const struct call *c, struct formula_value *out)
{
    struct formula_run *r = c->run;
    if (c->node->count == 0) {
        *out = value_of_ticks(VALUE_TIMESTAMP, r->in->now_us * TICKS_PER_US);
        return 0;
    }
    const struct formula_value *v = &c->given[0];
    int64_t ticks;
    if (v->kind != VALUE_TEXT)
        return run_fail(r, c->node->at, "time() wants a string, not a %s",
                        value_kind_name(v->kind));
    if (*v->text == '\0') {
        ticks = r->in->now_us * TICKS_PER_US;
    } else if (instant_parse(v->text, &ticks) < 0) {
        return run_fail(r, c->node->at, "Not a time: %.60s", v->text);
    }
    *out = value_of_ticks(VALUE_TIMESTAMP, ticks);
    return 0;
}

static const struct {
    const char *name;
    size_t least, most; /* the allowed number of arguments */
    int (*call)(const struct call *c, struct formula_value *out);
} others[] = {
    {"percentile", 2, 2, percentile}, {"val", 2, 2, element},
    {"rand", 0, 0, at_random},        {"stop", 0, 0, stop},
    {"time", 0, 1, instant},
};

static int call_other(struct formula_run *r, const struct formula_node *n,
                      const struct formula_value *given, size_t i, struct formula_value *out)
{
    const struct call c = {.run = r, .node = n, .given = given};
    if (n->count < others[i].least || n->count > others[i].most)
        return run_fail(r, n->at, "%s() is not called with %zu arguments", n->name, n->count);
    return others[i].call(&c, out);
}

static int call_of_list(struct formula_run *r, const struct formula_node *n,
                        const struct formula_value *given, size_t i, struct formula_value *out)
{
    struct formula_value v;
    if (flatten(r, n, given, &v) < 0)
        return -1;
    if (v.vector.count == 0 && !of_lists[i].of_none)
        return run_fail(r, n->at, "%s of an empty vector", n->name);
    *out = value_number(of_lists[i].of(v.vector.items, v.vector.count));
    return 0;
}

int call_function(struct formula_run *r, const struct formula_node *n,
                  const struct formula_value *given, struct formula_value *out)
{
    for (size_t i = 0; i < sizeof of_lists / sizeof *of_lists; i++)
        if (strcmp(n->name, of_lists[i].name) == 0)
            return call_of_list(r, n, given, i, out);
    for (size_t i = 0; i < sizeof of_each / sizeof *of_each; i++)
        if (strcmp(n->name, of_each[i].name) == 0)
            return apply_each(r, n, given, of_each[i].of, out);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(n->name, others[i].name) == 0)
            return call_other(r, n, given, i, out);
    if (strcmp(n->name, "vec") == 0)
        return flatten(r, n, given, out);
    return run_fail(r, n->at, "Undefined function: %.120s", n->name);
}
