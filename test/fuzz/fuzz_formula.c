/* SPDX-License-Identifier: MIT
 *
 * Autoscale formulas. The first line of the input is how many samples there are of each metric, the
 * rest the formula. Whatever it is, it ends soon; an error says where; what a formula does not
 * assign stays as it was, and a failure changes nothing.
 */
#include <math.h>

#include "scheduler/formula/formula.h"
#include "test/fuzz/fuzz.h"

#define NOW_US INT64_C(1476386327805000)

static struct samples *make_samples(unsigned n)
{
    struct samples *s = samples_create();
    for (unsigned i = 0; i < n; i++) {
        double values[SAMPLE_METRIC_COUNT];
        for (unsigned m = 0; m < SAMPLE_METRIC_COUNT; m++)
            values[m] = (i + m) % 7 == 0 ? NAN : (double)i * m;
        samples_add(s, NOW_US - (int64_t)(n - i) * SAMPLES_PERIOD_S * 1000000, values);
    }
    return s;
}

static double some_number(void *ctx)
{
    return *(double *)ctx;
}

static void check_error(const struct formula_error *e)
{
    CLAIM(e->fault != FORMULA_OK);
    CLAIM(e->msg[0]);
    CLAIM(e->fault == FORMULA_TOO_LONG || (e->line > 0 && e->column > 0));
}

static void check_outputs(const struct formula_inputs *in, const struct formula_outputs *out)
{
    CLAIM(out->target_dedicated >= 0 && out->target_low_priority >= 0);
    CLAIM(out->target_dedicated <= 1000000 && out->target_low_priority <= 1000000);
    CLAIM(strncmp(out->results, "$TargetDedicatedNodes=", 22) == 0);
    if (out->error.fault == FORMULA_OK)
        return;
    check_error(&out->error);
    CLAIM(out->target_dedicated == in->target_dedicated);
    CLAIM(out->target_low_priority == in->target_low_priority);
    CLAIM(out->option == FORMULA_REQUEUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *first = next_line(&in);
    double number = 0.5;
    struct samples *samples = make_samples((unsigned)strtoul(first, NULL, 10) % 100);
    struct formula_inputs inputs = {NOW_US, 2, 1, 3, 1, 4, samples, some_number, &number};
    struct formula_error e;
    struct formula *f = formula_parse(in.p, (size_t)(in.end - in.p), &e);
    tell("formula", f ? 0 : -1, e.msg);
    if (f) {
        struct formula_outputs out, again;
        formula_evaluate(f, &inputs, &out);
        formula_evaluate(f, &inputs, &again);
        check_outputs(&inputs, &out);
        CLAIM(strcmp(out.results, again.results) == 0 && out.error.fault == again.error.fault);
        free(out.results);
        free(again.results);
    } else {
        check_error(&e);
    }
    formula_free(f);
    samples_destroy(samples);
    free(first);
    return 0;
}
