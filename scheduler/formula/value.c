/* SPDX-License-Identifier: MIT
 *
 * Values, conversions between kinds, and errors. The elements of vectors are counted, to limit the
 * memory and time of a formula. Pure; memory is the run's arena.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "scheduler/formula/formula_priv.h"

int run_fail(struct formula_run *r, struct formula_place at, const char *fmt, ...)
{
    char msg[sizeof r->error->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return formula_fail(r->error, FORMULA_EVALUATION, at, "%s", msg);
}

const char *value_kind_name(enum value_kind k)
{
    static const char *const names[] = {
        [VALUE_NUMBER] = "double",         [VALUE_VECTOR] = "doubleVec",
        [VALUE_TEXT] = "string",           [VALUE_TIMESTAMP] = "timestamp",
        [VALUE_INTERVAL] = "timeinterval", [VALUE_METRIC] = "metric",
    };
    return names[k];
}

struct formula_value value_number(double d)
{
    return (struct formula_value){.kind = VALUE_NUMBER, .number = d};
}

struct formula_value value_of_ticks(enum value_kind kind, int64_t ticks)
{
    return (struct formula_value){.kind = kind, .ticks = ticks};
}

double *run_vector(struct formula_run *r, struct formula_place at, size_t n,
                   struct formula_value *out)
{
    if (n > FORMULA_MOST_ITEMS - r->items) {
        run_fail(r, at, "The vectors of the formula have more than %d elements",
                 FORMULA_MOST_ITEMS);
        return NULL;
    }
    r->items += n;
    double *items = arena_alloc(&r->arena, n > 0 ? n * sizeof *items : 1);
    *out = (struct formula_value){.kind = VALUE_VECTOR, .vector = {items, n}};
    return items;
}

/* Computes the average of a vector. */
static int average(struct formula_run *r, struct formula_place at, const double *items, size_t n,
                   double *out)
{
    if (n == 0)
        return run_fail(r, at, "An empty vector has no value");
    if (n > FORMULA_MOST_READ - r->read)
        return run_fail(r, at, "The formula uses vectors of more than %d elements as numbers",
                        FORMULA_MOST_READ);
    r->read += n;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out += items[i];
    *out /= (double)n;
    return 0;
}

int value_as_number(struct formula_run *r, struct formula_place at, const struct formula_value *v,
                    double *out)
{
    switch (v->kind) {
    case VALUE_NUMBER:
        *out = v->number;
        return 0;
    case VALUE_METRIC:
        *out = metric_last(r, v->metric);
        if (isnan(*out))
            return formula_fail(r->error, FORMULA_TOO_FEW_SAMPLES, at,
                                "Insufficient data from data set: %s has no samples",
                                sample_metric_name(v->metric));
        return 0;
    case VALUE_VECTOR:
        return average(r, at, v->vector.items, v->vector.count, out);
    case VALUE_TEXT:
    case VALUE_TIMESTAMP:
    case VALUE_INTERVAL:
        break;
    }
    return run_fail(r, at, "A %s is not a double", value_kind_name(v->kind));
}

/* Timestamps are in the years 1 to 9999. */
#define FIRST_TICK (INT64_C(-62135596800) * TICKS_PER_SECOND)
#define LAST_TICK  (INT64_C(253402300800) * TICKS_PER_SECOND - 1)

int value_of_calculation(struct formula_run *r, struct formula_place at, enum value_kind kind,
                         long double ticks, struct formula_value *out)
{
    long double least = kind == VALUE_TIMESTAMP ? FIRST_TICK : -0x1p63L;
    long double most = kind == VALUE_TIMESTAMP ? LAST_TICK : 0x1p63L - 1;
    if (!(ticks >= least && ticks <= most)) /* true for NaN, too */
        return run_fail(r, at, "The %s is out of range", value_kind_name(kind));
    *out = value_of_ticks(kind, (int64_t)ticks);
    return 0;
}

/* Two metrics, the numbers of nodes, are known at any time, even before the first sample. */
double metric_last(const struct formula_run *r, enum sample_metric m)
{
    if (m == SAMPLE_CURRENT_DEDICATED)
        return (double)r->in->current_dedicated;
    if (m == SAMPLE_CURRENT_LOW_PRIORITY)
        return (double)r->in->current_low_priority;
    for (size_t i = samples_count(r->in->samples); i-- > 0;) {
        double d = samples_value(r->in->samples, i, m);
        if (!isnan(d))
            return d;
    }
    return NAN;
}

/* The number is truncated: the real service's sample formulas round up by adding before they
 * divide. */
int64_t target_nodes(const struct formula_run *r, enum target t)
{
    struct formula_error ignored;
    struct formula_run probe = *r;
    probe.error = &ignored;
    probe.read = 0;
    double d = 0;
    if (value_as_number(&probe, (struct formula_place){0}, &r->targets[t], &d) < 0 || !(d > 0))
        return 0;
    return (int64_t)d;
}

/* --- errors and their places --- */

int formula_fail(struct formula_error *e, enum formula_fault fault, struct formula_place at,
                 const char *fmt, ...)
{
    e->fault = fault;
    e->line = at.line;
    e->column = at.column;
    int n = snprintf(e->msg, sizeof e->msg, "Line %d, Col %d: ", at.line, at.column);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg + n, sizeof e->msg - (size_t)n, fmt, ap);
    va_end(ap);
    return -1;
}
