/* SPDX-License-Identifier: MIT
 *
 * Samples of the nodes' machines: one timer asks each node with a link every 15 s. The last sample
 * of each node is kept in memory; each sample is passed to the history, if there is one, and to the
 * node's tenants.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"
#include "storage/history/history.h"

#define SECOND_US INT64_C(1000000)
/* us; an older sample says nothing about the present. */
#define STALE_US (60 * SECOND_US)
/* us; the shortest period of the timer, so that nodes are asked in groups. */
#define ROUND_US (SECOND_US / 4)
/* us; the pause before the second sample, which is the first sample with rates. */
#define SECOND_AFTER_US (2 * SECOND_US)
/* us; the pause between the questions to nodes whose links opened together. */
#define APART_US 7500

struct node_sampled {
    bool asked, refused;    /* a question over the present link is pending; was refused */
    int64_t due_us, got_us; /* monotonic; got_us 0: there is no sample */
    struct node_sample last;
    char told[SAMPLE_WHY_SIZE]; /* the last reason in the log */
    uint64_t works, is_there;   /* sets of GPUs, from the last sample */
};

static int64_t every_us(const struct fleet *fl)
{
    return fl->cfg.sample_every_s * SECOND_US;
}

void node_samples_free(struct node_rt *rt)
{
    if (rt->sampled)
        sample_free(&rt->sampled->last);
    free(rt->sampled);
    rt->sampled = NULL;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void tell_why(struct node_rt *rt, const char *why)
{
    char *told = rt->sampled->told;
    if (strcmp(told, why) == 0)
        return;
    snprintf(told, sizeof rt->sampled->told, "%s", why);
    if (*why)
        LOG_WARN(rt->fleet->log, "node.gpus_not_sampled", LF_STR("node", rt->name),
                 LF_STR("why", why));
    else
        LOG_INFO(rt->fleet->log, "node.gpus_sampled", LF_STR("node", rt->name));
}

/* Passes the last sample to the tenants, unless its period `us` is too long. */
static void tell_tenants(struct node_rt *rt, int64_t us)
{
    if (us > STALE_US)
        return;
    for (struct node_tenant *t = rt->tenants; t; t = t->next)
        if (t->events->sampled)
            t->events->sampled(t, &rt->sampled->last, us);
}

/* If states of GPUs have changed, informs the clients that show these states. */
static void note_states(struct node_rt *rt)
{
    struct node_sampled *to = rt->sampled;
    uint64_t works = 0, there = 0;
    for (int i = 0; i < to->last.n_gpus; i++) {
        const struct gpu_sample *g = &to->last.gpus[i];
        uint64_t bit = g->index >= 0 && g->index < SAMPLE_GPUS ? UINT64_C(1) << g->index : 0;
        works |= gpu_sample_works(g) > 0 ? bit : 0;
        there |= gpu_sample_works(g) >= 0 && !sample_gpu_is_lost(&to->last, g) ? bit : 0;
    }
    if (works != to->works || there != to->is_there)
        node_shown_changed(rt);
    to->works = works;
    to->is_there = there;
}

/* Handles the answer; also called, with `why`, when the link breaks. */
static void on_sample(void *ctx, const struct err *why, const struct node_sample *s)
{
    struct node_rt *rt = ctx;
    struct node_sampled *to = rt->sampled;
    int64_t now = wakes_mono(rt->fleet->wakes), before = to->got_us;
    to->asked = false;
    if (why) {
        to->refused = why->code == ERR_NOT_SUPPORTED; /* an older agent */
        LOG_DEBUG(rt->fleet->log, "node.sample_unknown", LF_STR("node", rt->name),
                  LF_STR("why", why->msg));
        return;
    }
    sample_copy(&to->last, s);
    to->last.at_us = wakes_wall(rt->fleet->wakes);
    to->got_us = now;
    note_states(rt);
    tell_why(rt, s->why);
    tell_tenants(rt, before ? now - before : INT64_MAX);
    if (rt->fleet->cfg.samples)
        history_add(rt->fleet->cfg.samples, rt->machine ? rt->machine->name : rt->name, &to->last,
                    wakes_steady_wall(rt->fleet->wakes));
}

/* --- questions -------------------------------------------------------------------------------- */

/* The program that watches GPUs keeps them open. It must not run on a drained machine, so that a
 * person can replace the driver. */
static bool watches_gpus(const struct node_rt *rt)
{
    return rt->seen.has.gpus > 0 && !(rt->machine && rt->machine->drained);
}

static bool is_asked(const struct node_rt *rt)
{
    return rt->sampled && !rt->sampled->refused && node_rt_usable(rt);
}

static void ask(struct node_rt *rt, int64_t now)
{
    rt->sampled->due_us = now + (rt->sampled->got_us ? every_us(rt->fleet) : SECOND_AFTER_US);
    if (rt->sampled->asked)
        return;
    rt->sampled->asked = true;
    node_sample(rt->contact.link, watches_gpus(rt), on_sample, rt);
}

/* Sets the timer to `due`, unless the timer fires earlier anyway. */
static void set_timer(struct fleet *fl, int64_t due)
{
    if (fl->sampling_us != 0 && fl->sampling_us <= due)
        return;
    fl->sampling_us = due;
    loop_timer_start(fl->sampling, due);
}

static void on_due(void *ctx)
{
    struct fleet *fl = ctx;
    int64_t now = wakes_mono(fl->wakes), due = INT64_MAX;
    fl->sampling_us = 0;
    for (size_t i = 0; i < fl->nodes.n; i++) {
        struct node_rt *rt = fl->nodes.e[i].p;
        if (!is_asked(rt))
            continue;
        if (rt->sampled->due_us <= now)
            ask(rt, now);
        if (rt->sampled->due_us < due)
            due = rt->sampled->due_us;
    }
    if (due != INT64_MAX)
        set_timer(fl, due > now + ROUND_US ? due : now + ROUND_US);
}

void node_samples_begin(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    int64_t now = wakes_mono(fl->wakes);
    if (fl->cfg.sample_every_s == 0)
        return;
    if (!fl->sampling)
        fl->sampling = loop_timer_create(fl->cfg.loop, on_due, fl);
    if (!rt->sampled) {
        rt->sampled = xcalloc(1, sizeof *rt->sampled);
        sample_clear(&rt->sampled->last);
    }
    rt->sampled->refused = false;
    rt->sampled->due_us = now + rt->id % (int64_t)fl->nodes.n * APART_US % every_us(fl);
    set_timer(fl, rt->sampled->due_us);
}

void node_sample_soon(struct node_rt *rt)
{
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (is_asked(rt))
        ask(rt, now);
}

/* --- the table of machines -------------------------------------------------------------------- */

static bool has_gpu(const struct node_rt *rt, int number)
{
    for (const struct node_tenant *t = rt->tenants; t; t = t->next)
        if (tenant_has_gpu(t, number))
            return true;
    return false;
}

static const struct node_sample *copied(const struct node_sample *from, struct arena *a)
{
    struct node_sample *s = arena_alloc(a, sizeof *s);
    size_t bytes = (size_t)from->n_gpus * sizeof *s->gpus;
    *s = *from;
    s->gpus = arena_alloc(a, bytes + 1);
    if (bytes > 0)
        memcpy(s->gpus, from->gpus, bytes);
    return s;
}

/* The last sample; NULL: there was no sample in the last minute. */
static const struct node_sample *recent(const struct node_rt *rt)
{
    const struct node_sampled *from = rt->sampled;
    int64_t now = wakes_mono(rt->fleet->wakes);
    return from && from->got_us && now - from->got_us <= STALE_US ? &from->last : NULL;
}

void node_view_sample(const struct node_rt *rt, struct arena *a, bool usable, bool shows,
                      struct machine_view *out)
{
    const struct node_sample *now = recent(rt);
    if (now && shows)
        now = out->sample = copied(now, a);
    out->n_gpus = out->has.gpus > rt->seen.has.gpus ? out->has.gpus : rt->seen.has.gpus;
    for (int i = 0; now && i < now->n_gpus; i++)
        if (now->gpus[i].index >= out->n_gpus)
            out->n_gpus = now->gpus[i].index + 1;
    out->gpus = arena_alloc(a, ((size_t)out->n_gpus + 1) * sizeof *out->gpus);
    for (int i = 0; i < out->n_gpus; i++) {
        const struct gpu_sample *last = sample_gpu(now, i);
        bool is_lost = last && sample_gpu_is_lost(now, last), taken = has_gpu(rt, i);
        out->gpus[i] = (struct gpu_view){.index = i,
                                         .state = gpu_state_of(last, taken, usable && !is_lost),
                                         .outside = gpu_is_used_outside(last, taken),
                                         .last = shows ? last : NULL};
    }
}
