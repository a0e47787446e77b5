/* SPDX-License-Identifier: MIT
 *
 * For tests that say what a formula comes to.
 */
#ifndef TEST_UNIT_FORMULA_FORMULA_TEST_H
#define TEST_UNIT_FORMULA_FORMULA_TEST_H

#include <math.h>

#include "scheduler/formula/formula.h"
#include "test/unit/support/tests.h"

#define SECOND_US INT64_C(1000000)
#define NOW_US    INT64_C(1476386327805000) /* Thursday, 2016-10-13T19:18:47.805Z */

/* Of a pool of 4 nodes that shall have 2 and 1. */
static struct formula_inputs inputs = {
    .now_us = NOW_US,
    .target_dedicated = 2,
    .target_low_priority = 1,
    .current_dedicated = 3,
    .current_low_priority = 1,
    .slots_per_node = 4,
};

static inline struct formula_outputs evaluated(const char *text)
{
    struct formula_error e;
    struct formula_outputs out;
    struct formula *f = formula_parse(text, strlen(text), &e);
    if (!f)
        fail_msg("%s: %s", text, e.msg);
    formula_evaluate(f, &inputs, &out);
    formula_free(f);
    return out;
}

/* What the variable x is after these statements. */
static inline void assert_x(const char *text, const char *x)
{
    struct formula_outputs out = evaluated(text);
    const char *found = strstr(out.results, ";x=");
    if (out.error.fault != FORMULA_OK)
        fail_msg("%s: %s", text, out.error.msg);
    assert_non_null(found);
    const char *value = found + 3;
    size_t n = strcspn(value, ";");
    if (n != strlen(x) || strncmp(value, x, n) != 0)
        fail_msg("%s: x is %.*s, not %s", text, (int)n, value, x);
    free(out.results);
}

static inline void assert_results(const char *text, const char *results)
{
    struct formula_outputs out = evaluated(text);
    assert_string_equal(out.error.msg, "");
    assert_string_equal(out.results, results);
    free(out.results);
}

static inline void assert_nodes(const char *text, int64_t dedicated, int64_t low_priority)
{
    struct formula_outputs out = evaluated(text);
    assert_string_equal(out.error.msg, "");
    assert_int_equal(out.target_dedicated, dedicated);
    assert_int_equal(out.target_low_priority, low_priority);
    free(out.results);
}

/* It can be parsed but has no value; nothing changes. */
static inline void assert_fails_by(const char *text, enum formula_fault fault, const char *msg)
{
    struct formula_outputs out = evaluated(text);
    assert_string_equal(out.error.msg, msg);
    assert_int_equal(out.error.fault, fault);
    assert_int_equal(out.target_dedicated, inputs.target_dedicated);
    assert_int_equal(out.target_low_priority, inputs.target_low_priority);
    free(out.results);
}

static inline void assert_fails(const char *text, const char *msg)
{
    assert_fails_by(text, FORMULA_EVALUATION, msg);
}

static inline void assert_refused(const char *text, enum formula_fault fault, const char *msg)
{
    struct formula_error e;
    struct formula *f = formula_parse(text, strlen(text), &e);
    if (f)
        fail_msg("accepted: %.200s", text);
    assert_string_equal(e.msg, msg);
    assert_int_equal(e.fault, fault);
}

/* n samples, the last of them now: 1, 2, ... n of `m`, and nothing of the others. */
static inline struct samples *counted_samples(enum sample_metric m, int n)
{
    struct samples *s = samples_create();
    for (int i = 1; i <= n; i++) {
        double values[SAMPLE_METRIC_COUNT];
        for (int k = 0; k < SAMPLE_METRIC_COUNT; k++)
            values[k] = k == (int)m ? i : NAN;
        samples_add(s, NOW_US - (n - i) * SAMPLES_PERIOD_S * SECOND_US, values);
    }
    return s;
}

static inline struct samples *begin_samples(enum sample_metric m, int n)
{
    struct samples *s = counted_samples(m, n);
    inputs.samples = s;
    return s;
}

static inline void end_samples(struct samples *s)
{
    inputs.samples = NULL;
    samples_destroy(s);
}

/* A test of formulas that have these counted samples. */
#define SAMPLES_TEST(name, metric, n)                                                              \
    TEST_WITH(name, __attribute__((unused)) struct samples *, s, begin_samples(metric, n),         \
              end_samples)

#endif
