/* SPDX-License-Identifier: MIT
 *
 * The variables as text: the results of an evaluation for clients.
 */
#include <inttypes.h>
#include <math.h>

#include "lib/timefmt.h"
#include "scheduler/formula/formula_priv.h"

/* Shows a number in the format of .NET's doubles. */
static void show_number(struct strbuf *b, double d)
{
    if (isnan(d))
        strbuf_puts(b, "NaN");
    else if (isinf(d))
        strbuf_puts(b, d > 0 ? "Infinity" : "-Infinity");
    else
        strbuf_printf(b, "%.15g", d);
}

/* [-][D.]hh:mm:ss[.fffffff], the format of .NET's intervals. */
static void show_interval(struct strbuf *b, int64_t ticks)
{
    uint64_t left = ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
    uint64_t seconds = left / TICKS_PER_SECOND, parts = left % TICKS_PER_SECOND;
    if (ticks < 0)
        strbuf_putc(b, '-');
    if (seconds >= 86400)
        strbuf_printf(b, "%" PRIu64 ".", seconds / 86400);
    strbuf_printf(b, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600 % 24,
                  seconds / 60 % 60, seconds % 60);
    if (parts > 0)
        strbuf_printf(b, ".%07" PRIu64, parts);
}

static void show_timestamp(struct strbuf *b, int64_t ticks)
{
    char text[TIMEFMT_SIZE];
    timefmt_fixed(ticks / TICKS_PER_US - (ticks % TICKS_PER_US < 0), text);
    strbuf_puts(b, text);
}

/* Shows a vector; only the first elements of a long vector (a day's samples). */
static void show_vector(struct strbuf *b, const struct formula_value *v)
{
    enum { SHOWN = 100 };
    strbuf_putc(b, '[');
    for (size_t i = 0; i < v->vector.count && i < SHOWN; i++) {
        strbuf_puts(b, i > 0 ? "," : "");
        show_number(b, v->vector.items[i]);
    }
    strbuf_puts(b, v->vector.count > SHOWN ? ",...]" : "]");
}

static void show_value(const struct formula_run *r, struct strbuf *b, const struct formula_value *v)
{
    switch (v->kind) {
    case VALUE_NUMBER:
        show_number(b, v->number);
        break;
    case VALUE_METRIC:
        show_number(b, metric_last(r, v->metric));
        break;
    case VALUE_VECTOR:
        show_vector(b, v);
        break;
    case VALUE_TEXT:
        strbuf_puts(b, v->text);
        break;
    case VALUE_TIMESTAMP:
        show_timestamp(b, v->ticks);
        break;
    case VALUE_INTERVAL:
        show_interval(b, v->ticks);
        break;
    }
}

char *show_results(const struct formula_run *r)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b,
                  "$TargetDedicatedNodes=%" PRId64 ";$TargetLowPriorityNodes=%" PRId64
                  ";$NodeDeallocationOption=%s",
                  target_nodes(r, TARGET_DEDICATED), target_nodes(r, TARGET_LOW_PRIORITY),
                  r->targets[TARGET_OPTION].text);
    for (const struct formula_variable *v = r->variables; v; v = v->next) {
        strbuf_printf(&b, ";%s=", v->name);
        show_value(r, &b, &v->value);
    }
    return strbuf_take(&b);
}
