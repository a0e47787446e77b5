/* SPDX-License-Identifier: MIT
 *
 * The methods of metrics: $PendingTasks.GetSample(...) and others.
 */
#include <math.h>
#include <string.h>

#include "scheduler/formula/formula_priv.h"

struct metric_call {
    struct formula_run *run;
    const struct formula_node *node; /* children[0] is the metric */
    enum sample_metric metric;
    const struct formula_value *given; /* borrowed */
    size_t count;                      /* how many values are given */
};

/* Samples after `from`, up to `to`: a window of n periods has n samples. */
struct metric_window {
    int64_t from, to; /* ticks */
    bool wanted;      /* a minimum percentage of samples was given */
    double percent;
};

/* Converts an argument to an instant: an interval means that long before now. Of two arguments, in
 * either order, the earlier is the start of the window. */
static int as_instant(const struct metric_call *q, const struct formula_value *v, int64_t *out)
{
    int64_t now = q->run->in->now_us * TICKS_PER_US;
    if (v->kind != VALUE_TIMESTAMP && v->kind != VALUE_INTERVAL)
        return run_fail(q->run, q->node->at, "%s() wants a timestamp or a timeinterval, not a %s",
                        q->node->name, value_kind_name(v->kind));
    if (v->kind == VALUE_TIMESTAMP)
        *out = v->ticks;
    else if (__builtin_sub_overflow(now, v->ticks, out))
        return run_fail(q->run, q->node->at, "The timeinterval is out of range");
    return 0;
}

static int read_window(const struct metric_call *q, struct metric_window *w)
{
    size_t times = q->count;
    *w = (struct metric_window){.to = q->run->in->now_us * TICKS_PER_US};
    const struct formula_value *last = &q->given[q->count - 1];
    if (last->kind != VALUE_TIMESTAMP && last->kind != VALUE_INTERVAL) {
        w->wanted = true;
        times--;
        if (value_as_number(q->run, q->node->at, last, &w->percent) < 0)
            return -1;
    }
    if (times == 0 || times > 2)
        return run_fail(q->run, q->node->at,
                        "%s() wants a start and at most one end, as timestamp or timeinterval",
                        q->node->name);
    if (as_instant(q, &q->given[0], &w->from) < 0 ||
        (times == 2 && as_instant(q, &q->given[1], &w->to) < 0))
        return -1;
    if (w->from > w->to) {
        int64_t to = w->from;
        w->from = w->to;
        w->to = to;
    }
    return 0;
}

static bool in_window(const struct metric_call *q, const struct metric_window *w, size_t i)
{
    const struct samples *s = q->run->in->samples;
    int64_t at = samples_at(s, i) * TICKS_PER_US;
    return at > w->from && at <= w->to && !isnan(samples_value(s, i, q->metric));
}

static size_t count_in(const struct metric_call *q, const struct metric_window *w)
{
    size_t found = 0;
    for (size_t i = 0; i < samples_count(q->run->in->samples); i++)
        found += in_window(q, w, i);
    return found;
}

/* Percentage of the samples found, of those that the window can have (at least one). */
static double percent_of(const struct metric_window *w, size_t found)
{
    double possible =
        floor(((double)w->to - (double)w->from) / TICKS_PER_SECOND / SAMPLES_PERIOD_S);
    double percent = 100.0 * (double)found / (possible < 1 ? 1 : possible);
    return percent < 100 ? percent : 100;
}

static int last_samples(const struct metric_call *q, double wanted, struct formula_value *out)
{
    const struct samples *s = q->run->in->samples;
    if (!(wanted >= 0))
        return run_fail(q->run, q->node->at,
                        "GetSample() is called with %.15g samples; it needs 0 or more", wanted);
    struct metric_window all = {.from = INT64_MIN, .to = INT64_MAX};
    size_t there = count_in(q, &all);
    size_t n = wanted < (double)there ? (size_t)wanted : there;
    double *items = run_vector(q->run, q->node->at, n, out);
    if (!items)
        return -1;
    for (size_t i = samples_count(s); n > 0 && i-- > 0;)
        if (in_window(q, &all, i))
            items[--n] = samples_value(s, i, q->metric);
    return 0;
}

static int get_sample(const struct metric_call *q, struct formula_value *out)
{
    struct metric_window w;
    double wanted;
    enum value_kind first = q->given[0].kind;
    if (q->count == 1 && first != VALUE_TIMESTAMP && first != VALUE_INTERVAL)
        return value_as_number(q->run, q->node->at, &q->given[0], &wanted) < 0
                   ? -1
                   : last_samples(q, wanted, out);
    if (read_window(q, &w) < 0)
        return -1;
    size_t found = count_in(q, &w);
    double percent = percent_of(&w, found);
    if (w.wanted && percent < w.percent)
        return formula_fail(q->run->error, FORMULA_TOO_FEW_SAMPLES, q->node->at,
                            "Insufficient data from data set: %s wanted %.15g%%, received %.15g%%",
                            sample_metric_name(q->metric), w.percent, floor(percent));
    double *items = run_vector(q->run, q->node->at, found, out);
    if (!items)
        return -1;
    for (size_t i = 0; i < samples_count(q->run->in->samples); i++)
        if (in_window(q, &w, i))
            *items++ = samples_value(q->run->in->samples, i, q->metric);
    return 0;
}

static int get_sample_percent(const struct metric_call *q, struct formula_value *out)
{
    struct metric_window w;
    if (read_window(q, &w) < 0)
        return -1;
    if (w.wanted)
        return run_fail(q->run, q->node->at, "GetSamplePercent() wants times only");
    *out = value_number(percent_of(&w, count_in(q, &w)));
    return 0;
}

static int get_sample_period(const struct metric_call *q, struct formula_value *out)
{
    (void)q;
    *out = value_of_ticks(VALUE_INTERVAL, SAMPLES_PERIOD_S * TICKS_PER_SECOND);
    return 0;
}

static int count(const struct metric_call *q, struct formula_value *out)
{
    struct metric_window all = {.from = INT64_MIN, .to = INT64_MAX};
    *out = value_number((double)count_in(q, &all));
    return 0;
}

/* Without a sample the history begins now. */
static int history_begin_time(const struct metric_call *q, struct formula_value *out)
{
    const struct samples *s = q->run->in->samples;
    struct metric_window all = {.from = INT64_MIN, .to = INT64_MAX};
    int64_t at = q->run->in->now_us;
    for (size_t i = samples_count(s); i-- > 0;)
        if (in_window(q, &all, i))
            at = samples_at(s, i);
    *out = value_of_ticks(VALUE_TIMESTAMP, at * TICKS_PER_US);
    return 0;
}

static const struct {
    const char *name;
    size_t least, most; /* the allowed number of arguments */
    int (*call)(const struct metric_call *q, struct formula_value *out);
} methods[] = {
    {"GetSample", 1, 3, get_sample},
    {"GetSamplePercent", 1, 2, get_sample_percent},
    {"GetSamplePeriod", 0, 0, get_sample_period},
    {"Count", 0, 0, count},
    {"HistoryBeginTime", 0, 0, history_begin_time},
};

int call_method(struct formula_run *r, const struct formula_node *n,
                const struct formula_value *given, struct formula_value *out)
{
    struct metric_call q = {.run = r, .node = n, .given = given + 1, .count = n->count - 1};
    if (given->kind != VALUE_METRIC)
        return run_fail(r, n->at, "A %s has no method %.60s", value_kind_name(given->kind),
                        n->name);
    q.metric = given->metric;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(n->name, methods[i].name) != 0)
            continue;
        if (q.count < methods[i].least || q.count > methods[i].most)
            return run_fail(r, n->at, "%s() is not called with %zu arguments", n->name, q.count);
        return methods[i].call(&q, out);
    }
    return run_fail(r, n->at, "Undefined method: %.60s", n->name);
}
