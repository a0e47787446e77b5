/* SPDX-License-Identifier: MIT
 *
 * Pools whose size is set by a formula. Every 30 s such a pool is evaluated: a sample of its nodes
 * and tasks is stored, and when its interval has passed, the formula is evaluated on the samples
 * and its result is applied like a resize. Samples are taken at whole half minutes, so that a
 * window of n minutes contains 2 n samples. If the formula uses metrics of machines, nodes are
 * asked for their load at each evaluation and a moment before each sample.
 *
 * All state is in rows, so a restarted daemon continues; the samples lack the time in which it did
 * not run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "model/batch/node_states.h"
#include "scheduler/formula/formula.h"
#include "scheduler/formula/samples.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/samples.h"
#include "storage/batch_samples.h"

#define SECOND_US INT64_C(1000000)
#define PERIOD_US (SAMPLES_PERIOD_S * SECOND_US)
/* The agents are asked for the load this long (us) before a sample. */
#define ANSWERS_US (2 * SECOND_US)

/* --- samples ---------------------------------------------------------------------------------- */

struct pool_look {
    struct batch_front *f;
    struct arena *a;
    const struct batch_pool *p;
    int64_t now_us;
    struct node *nodes;
    size_t n_nodes;
};

/* ---- the load of machines -------------------------------------------------------------------- */

static double percent_busy(const struct node_usage *u)
{
    return u->cpu_ticks > 0 ? 100.0 * (double)u->cpu_busy_ticks / (double)u->cpu_ticks : 0;
}

static void add(const struct node_used *used, double sums[])
{
    const struct node_usage *u = &used->in_between;
    double periods = used->seconds / SAMPLES_PERIOD_S;
    const double counted[SAMPLE_MACHINE_COUNT] = {
        [SAMPLE_WALL_CLOCK_SECONDS] = used->seconds,
        [SAMPLE_DISK_READ_BYTES] = (double)u->disk_read_bytes,
        [SAMPLE_DISK_WRITE_BYTES] = (double)u->disk_write_bytes,
        [SAMPLE_DISK_READ_OPS] = (double)u->disk_read_ops,
        [SAMPLE_DISK_WRITE_OPS] = (double)u->disk_write_ops,
        [SAMPLE_NETWORK_IN_BYTES] = (double)u->network_in_bytes,
        [SAMPLE_NETWORK_OUT_BYTES] = (double)u->network_out_bytes};
    for (int m = 0; m < SAMPLE_MACHINE_COUNT; m++)
        sums[m] += counted[m] / periods;
    sums[SAMPLE_CPU_PERCENT] += percent_busy(u);
    sums[SAMPLE_MEMORY_BYTES] += (double)u->memory_bytes;
    sums[SAMPLE_DISK_BYTES] += (double)u->disk_bytes;
}

/* Averages of the nodes that have answered. Counters (bytes, operations) give the amount in half a
 * minute. */
static void machine_samples_take(const struct batch_front *f, const struct node *nodes, size_t n,
                                 double values[])
{
    struct fleet *fleet = sched_fleet(f->sched);
    double sums[SAMPLE_MACHINE_COUNT] = {0};
    int answered = 0;
    for (size_t i = 0; i < n; i++) {
        struct node_used used;
        if (!fleet_node_used(fleet, nodes[i].id, &used))
            continue;
        add(&used, sums);
        answered++;
    }
    for (int m = 0; answered > 0 && m < SAMPLE_MACHINE_COUNT; m++)
        values[m] = sums[m] / answered;
}

static void machine_samples_ask(const struct batch_front *f, const struct node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fleet_ask_usage(sched_fleet(f->sched), nodes[i].id);
}

static void count_nodes(const struct pool_look *l, double values[])
{
    size_t usable = 0, preempted = 0;
    for (size_t i = 0; i < l->n_nodes; i++) {
        usable += l->nodes[i].state == NODE_IDLE;
        preempted += batch_node_state(&l->nodes[i], false) == BATCH_NODE_PREEMPTED;
    }
    values[SAMPLE_NODE_COUNT] = (double)l->n_nodes;
    values[SAMPLE_USABLE] = (double)usable;
    values[SAMPLE_PREEMPTED] = (double)preempted;
    values[SAMPLE_CURRENT_DEDICATED] = l->p->has_dedicated;
    values[SAMPLE_CURRENT_LOW_PRIORITY] = l->p->has_low;
}

static int count_tasks(const struct pool_look *l, double values[], struct err *e)
{
    struct batch_pool_tasks t;
    if (st_batch_pool_tasks(l->f->st, l->a, l->p->account_id, l->p->name, &t, e) < 0)
        return -1;
    values[SAMPLE_ACTIVE_TASKS] = (double)t.active;
    values[SAMPLE_RUNNING_TASKS] = (double)t.running;
    values[SAMPLE_PENDING_TASKS] = (double)(t.active + t.running);
    values[SAMPLE_SUCCEEDED_TASKS] = (double)t.succeeded;
    values[SAMPLE_FAILED_TASKS] = (double)t.failed;
    return 0;
}

static const char *values_text(struct arena *a, const double values[])
{
    struct strbuf b = STRBUF_INIT;
    for (int m = 0; m < SAMPLE_METRIC_COUNT; m++) {
        strbuf_puts(&b, m > 0 ? "," : "");
        if (!isnan(values[m]))
            strbuf_printf(&b, "%.9g", values[m]);
    }
    const char *text = arena_strndup(a, b.s ? b.s : "", b.len);
    strbuf_free(&b);
    return text;
}

/* Rows with an older list of metrics have fewer values. */
static void values_read(const char *text, double values[])
{
    for (int m = 0; m < SAMPLE_METRIC_COUNT; m++) {
        char *end = NULL;
        values[m] = text && *text ? strtod(text, &end) : NAN;
        if (end == text)
            values[m] = NAN;
        text = text ? strchr(text, ',') : NULL;
        text += text != NULL;
    }
}

static int take_sample(const struct pool_look *l, struct err *e)
{
    double values[SAMPLE_METRIC_COUNT];
    int64_t last, at_us = l->now_us - l->now_us % PERIOD_US;
    if (st_batch_sample_last(l->f->st, l->p->id, &last, e) < 0)
        return -1;
    if (last == at_us)
        return 0;
    for (int m = 0; m < SAMPLE_METRIC_COUNT; m++)
        values[m] = NAN;
    count_nodes(l, values);
    machine_samples_take(l->f, l->nodes, l->n_nodes, values);
    if (count_tasks(l, values, e) < 0)
        return -1;
    const struct batch_sample s = {at_us, values_text(l->a, values)};
    return st_batch_sample_add(l->f->st, l->p->id, &s, at_us - (SAMPLES_MOST - 1) * PERIOD_US, e);
}

struct samples *batch_samples_read(const struct batch_front *f, struct arena *a, int64_t pool_id,
                                   struct err *e)
{
    struct batch_sample *rows;
    size_t n;
    if (st_batch_samples(f->st, a, pool_id, &rows, &n, e) < 0)
        return NULL;
    struct samples *s = samples_create();
    int64_t now_us = wakes_wall(f->wakes);
    for (size_t i = 0; i < n && rows[i].at_us <= now_us; i++) {
        double values[SAMPLE_METRIC_COUNT];
        values_read(rows[i].vals, values);
        samples_add(s, rows[i].at_us, values);
    }
    return s;
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* A random number from 0 to 1, from the generator of `wakes`, so that a simulation is
 * repeatable. */
static double at_random(void *ctx)
{
    enum { MIDDLE = 1000000, FROM = 800000, WIDTH = 400000 };
    return (double)(wakes_jitter(ctx, MIDDLE) - FROM) / WIDTH;
}

static void add_text(struct strbuf *b, const char *name, const char *value)
{
    strbuf_concat(b, "\"", name, "\":");
    jsontext_add_text(b, value, strlen(value));
}

static void add_error(struct strbuf *b, const struct formula_error *e)
{
    bool few = e->fault == FORMULA_TOO_FEW_SAMPLES;
    char msg[sizeof e->msg];
    memcpy(msg, e->msg, sizeof msg);
    jsontext_mend(msg, sizeof msg);
    strbuf_puts(b, ",\"error\":{");
    add_text(b, "code", few ? "InsufficientSampleData" : "AutoScalingFormulaEvaluationError");
    strbuf_puts(b, ",");
    add_text(b, "message",
             few ? "Autoscale evaluation failed due to insufficient sample data"
                 : "The specified auto-scaling formula has evaluation error");
    strbuf_puts(b, ",\"values\":[{\"name\":\"Message\",");
    add_text(b, "value", msg);
    strbuf_puts(b, "}]}");
}

/* The JSON text of an AutoScaleRun. */
static const char *run_text(struct arena *a, int64_t now_us, const struct formula_outputs *out)
{
    char when[TIMEFMT_SIZE];
    struct strbuf b = STRBUF_INIT;
    timefmt_exact(now_us, when);
    strbuf_puts(&b, "{");
    add_text(&b, "timestamp", when);
    strbuf_puts(&b, ",");
    add_text(&b, "results", out->results);
    if (out->error.fault != FORMULA_OK)
        add_error(&b, &out->error);
    strbuf_puts(&b, "}");
    const char *text = arena_strndup(a, b.s, b.len);
    strbuf_free(&b);
    return text;
}

static enum dealloc_option how_of(enum formula_option o)
{
    static const enum dealloc_option by_option[FORMULA_OPTIONS] = {
        [FORMULA_REQUEUE] = DEALLOC_REQUEUE,
        [FORMULA_TERMINATE] = DEALLOC_TERMINATE,
        [FORMULA_TASK_COMPLETION] = DEALLOC_WAIT_FOR_COMPLETION,
        [FORMULA_RETAINED_DATA] = DEALLOC_WAIT_FOR_DATA,
    };
    return by_option[o];
}

static void evaluate(const struct pool_look *l, const struct formula *formula,
                     const struct samples *samples, struct batch_evaluation *out)
{
    const struct batch_pool *p = l->p;
    const struct formula_inputs in = {.now_us = l->now_us,
                                      .target_dedicated = p->size.dedicated,
                                      .target_low_priority = p->size.low,
                                      .current_dedicated = p->has_dedicated,
                                      .current_low_priority = p->has_low,
                                      .slots_per_node = p->slots,
                                      .samples = samples,
                                      .random = at_random,
                                      .ctx = l->f->wakes};
    struct formula_outputs got;
    formula_evaluate(formula, &in, &got);
    out->failed = got.error.fault != FORMULA_OK;
    out->run = run_text(l->a, l->now_us, &got);
    out->targets = (struct batch_targets){(int)got.target_dedicated, (int)got.target_low_priority,
                                          p->size.timeout_us, how_of(got.option)};
    free(got.results);
}

static int evaluate_text(const struct pool_look *l, const char *text, struct batch_evaluation *out,
                         struct formula_error *wrong, struct err *e)
{
    struct formula *formula = formula_parse(text, strlen(text), wrong);
    if (!formula)
        return err_set(e, ERR_INVALID_PROPERTY, "autoScaleFormula", "%s", wrong->msg);
    struct samples *samples = batch_samples_read(l->f, l->a, l->p->id, e);
    if (samples)
        evaluate(l, formula, samples, out);
    samples_destroy(samples);
    formula_free(formula);
    return samples ? 0 : -1;
}

int batch_pool_evaluate(struct batch_front *f, struct arena *a, const struct batch_pool *p,
                        const char *formula, struct batch_evaluation *out,
                        struct formula_error *wrong, struct err *e)
{
    const struct pool_look l = {.f = f, .a = a, .p = p, .now_us = wakes_wall(f->wakes)};
    *wrong = (struct formula_error){0};
    return evaluate_text(&l, formula, out, wrong, e);
}

/* --- applying a result ------------------------------------------------------------------------ */

/* A resize that a user requested continues unless the formula wants another size; a resize that
 * ended with too few nodes begins again. */
static int apply(const struct pool_look *l, const struct batch_targets *t, struct err *e)
{
    const struct batch_pool *p = l->p;
    bool same = t->dedicated == p->size.dedicated && t->low == p->size.low;
    bool there = p->has_dedicated == t->dedicated && p->has_low == t->low;
    if (p->size.state == BATCH_ALLOCATION_STOPPING || (same && (there || !batch_pool_is_steady(p))))
        return 0;
    LOG_INFO(l->f->log, "pool.scaled_by_formula", LF_STR("pool", p->name),
             LF_INT("dedicated", t->dedicated), LF_INT("low_priority", t->low));
    return batch_pool_resize(l->f, p, t, p->updated_us, e);
}

static bool is_due(const struct pool_look *l)
{
    const struct batch_auto_scale *s = &l->p->scaling;
    /* If the clock was set back, evaluates now. */
    return l->now_us - s->evaluated_us >= s->interval_us || l->now_us < s->evaluated_us;
}

static int scale(const struct pool_look *l, struct err *e)
{
    struct batch_auto_scale s = l->p->scaling;
    struct batch_evaluation found = {0};
    struct formula_error wrong;
    if (evaluate_text(l, s.formula, &found, &wrong, e) < 0)
        return -1;
    s.evaluated_us = l->now_us;
    s.run = found.run;
    if (st_batch_pool_set_scaling(l->f->st, l->p->id, &s, l->p->updated_us, e) < 0)
        return -1;
    return found.failed ? 0 : apply(l, &found.targets, e);
}

/* The time (us) until the next pass: the next whole half minute, with `asks` also a moment before
 * it, or the time when the formula is due, whichever is first. */
static int64_t until_next(const struct pool_look *l, int64_t evaluated_us, bool asks)
{
    int64_t sample = PERIOD_US - l->now_us % PERIOD_US;
    int64_t next = asks && sample > ANSWERS_US ? sample - ANSWERS_US : sample;
    int64_t due = evaluated_us + l->p->scaling.interval_us - l->now_us;
    return due > 0 && due < next ? due : next;
}

/* Parsing succeeds, because only valid formulas are stored. */
static bool asks_machines(const char *text)
{
    struct formula_error wrong;
    struct formula *formula = formula_parse(text, strlen(text), &wrong);
    bool asks = formula && formula_asks_machines(formula);
    formula_free(formula);
    return asks;
}

static int look_at(struct batch_front *f, struct arena *a, int64_t id, struct err *e)
{
    struct batch_pool p;
    int rc = st_batch_pool_by_id(f->st, a, id, &p, e);
    if (rc <= 0 || p.state == BATCH_POOL_DELETING)
        return rc < 0 ? -1 : 0;
    if (!p.scaling.enabled)
        return st_batch_samples_remove(f->st, id, e);
    struct pool_look l = {.f = f, .a = a, .p = &p, .now_us = wakes_wall(f->wakes)};
    bool due = is_due(&l), asks = asks_machines(p.scaling.formula);
    if (st_node_list(f->st, a, id, &l.nodes, &l.n_nodes, e) < 0 || take_sample(&l, e) < 0 ||
        (due && scale(&l, e) < 0))
        return -1;
    if (asks)
        machine_samples_ask(f, l.nodes, l.n_nodes);
    wake_at(f->wakes, &woken_formula, id,
            wakes_mono(f->wakes) + until_next(&l, due ? l.now_us : p.scaling.evaluated_us, asks));
    return 0;
}

static void reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    if (look_at(f, &a, id, &e) < 0) {
        LOG_ERROR(f->log, "pool.not_scaled", LF_INT("pool_id", id), LF_STR("why", e.msg));
        wake_at(f->wakes, &woken_formula, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    }
    arena_free(&a);
}

/* If the change of the formula was not written, the earlier formula continues. */
static void effect_written(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    if (why)
        wake(f->wakes, &woken_formula, id);
}

bool batch_pool_may_enable(struct batch_front *f, const struct batch_pool *p)
{
    int64_t now = wakes_mono(f->wakes);
    if (now < id_map_number(&f->enabled, p->id))
        return false;
    id_map_put_number(&f->enabled, p->id, now + PERIOD_US);
    return true;
}

int batch_pool_scale_by(struct batch_front *f, const struct batch_pool *p,
                        const struct batch_auto_scale *s, int64_t updated_us, struct err *e)
{
    if (st_batch_pool_set_scaling(f->st, p->id, s, updated_us, e) < 0)
        return -1;
    wake_at(f->wakes, &woken_formula, p->id, 0);
    wake(f->wakes, &woken_formula, p->id);
    wake_when_durable(f->wakes, effect_written, f, p->id);
    return 0;
}

void autoscale_go_on(struct batch_front *f)
{
    struct err e;
    if (wake_listed(f->wakes, &woken_formula, st_batch_pool_scaled_ids, &e) < 0)
        LOG_ERROR(f->log, "pools.not_read", LF_STR("why", e.msg));
}

void autoscale_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_formula, reconcile, f);
    autoscale_go_on(f);
}
