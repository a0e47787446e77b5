/* SPDX-License-Identifier: MIT */
#include "test/sim/sim_loop.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"

struct loop_event {
    int64_t at_us;
    uint64_t seq;
    loop_fn fn;
    void *ctx;
    size_t pos; /* in the heap + 1; 0: it is not set */
};

struct sim_loop {
    struct loop base; /* first */
    struct sim_time *t;
    int64_t mono_ahead_us, work_max_us;
    struct loop_event **heap;
    size_t n, cap;
    int n_timers, n_lanes;
};

struct timer {
    struct loop_timer base; /* first */
    struct loop_event ev;
    loop_fn cb;
    void *ctx;
    bool in_use, destroyed;
};

struct deferred_call {
    struct loop_event ev;
    loop_fn fn;
    void *ctx;
};

struct lane {
    struct loop_lane base; /* first */
    struct sim_loop *l;
    int threads, running;
    size_t queue, n_waiting;
    struct work *waiting, **waiting_end;
    bool closing;
    loop_fn closed;
    void *closed_ctx;
};

struct work {
    struct loop_event ev;
    struct lane *lane;
    struct work *next;
    loop_fn fn;
    loop_work_done done;
    void *ctx;
};

/* --- chance ----------------------------------------------------------------------------------- */

uint64_t sim_random(struct sim_time *t)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int sim_any(struct sim_time *t, int n)
{
    return (int)(sim_random(t) % (uint64_t)n);
}

/* --- events ----------------------------------------------------------------------------------- */

static struct sim_loop *impl(struct loop *loop)
{
    return (struct sim_loop *)(void *)loop;
}

static bool before(const struct loop_event *a, const struct loop_event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->seq < b->seq;
}

static void place(struct sim_loop *l, size_t i, struct loop_event *ev)
{
    l->heap[i] = ev;
    ev->pos = i + 1;
}

static void settle(struct sim_loop *l, size_t i, struct loop_event *ev)
{
    while (i > 0 && before(ev, l->heap[(i - 1) / 2])) {
        place(l, i, l->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (size_t child; (child = 2 * i + 1) < l->n; i = child) {
        if (child + 1 < l->n && before(l->heap[child + 1], l->heap[child]))
            child++;
        if (!before(l->heap[child], ev))
            break;
        place(l, i, l->heap[child]);
    }
    place(l, i, ev);
}

static void unset(struct sim_loop *l, struct loop_event *ev)
{
    if (ev->pos == 0)
        return;
    size_t i = ev->pos - 1;
    ev->pos = 0;
    struct loop_event *last = l->heap[--l->n];
    if (last != ev)
        settle(l, i, last);
}

static void set(struct sim_loop *l, struct loop_event *ev, int64_t at_us, loop_fn fn, void *ctx)
{
    unset(l, ev);
    ev->at_us = at_us > l->t->now_us ? at_us : l->t->now_us;
    ev->seq = ++l->t->seq;
    ev->fn = fn;
    ev->ctx = ctx;
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->heap = xrealloc(l->heap, l->cap * sizeof *l->heap);
    }
    settle(l, l->n++, ev);
}

bool sim_loop_next(struct loop *loop, int64_t *at_us)
{
    const struct sim_loop *l = impl(loop);
    if (l->n > 0)
        *at_us = l->heap[0]->at_us;
    return l->n > 0;
}

/* Those that are set meanwhile wait for the next turn, even if they are due. */
int sim_loop_run_due(struct loop *loop)
{
    struct sim_loop *l = impl(loop);
    uint64_t last = l->t->seq;
    int n = 0;
    while (l->n > 0 && l->heap[0]->at_us <= l->t->now_us && l->heap[0]->seq <= last) {
        struct loop_event *ev = l->heap[0];
        unset(l, ev);
        ev->fn(ev->ctx);
        n++;
    }
    return n;
}

/* --- the vtable ------------------------------------------------------------------------------- */

static int64_t wall_us(struct loop *loop)
{
    return impl(loop)->t->now_us + impl(loop)->t->wall_ahead_us;
}

static int64_t mono_us(struct loop *loop)
{
    return impl(loop)->t->now_us + impl(loop)->mono_ahead_us;
}

static void on_timer(void *ctx)
{
    struct timer *t = ctx;
    t->in_use = true;
    t->cb(t->ctx);
    t->in_use = false;
    if (t->destroyed)
        free(t);
}

static struct loop_timer *timer_create_(struct loop *loop, loop_fn cb, void *ctx)
{
    struct timer *t = xcalloc(1, sizeof *t);
    t->base.loop = loop;
    t->cb = cb;
    t->ctx = ctx;
    impl(loop)->n_timers++;
    return &t->base;
}

static void timer_start(struct loop_timer *timer, int64_t at_us)
{
    struct timer *t = (struct timer *)(void *)timer;
    struct sim_loop *l = impl(timer->loop);
    set(l, &t->ev, at_us - l->mono_ahead_us, on_timer, t);
}

static void timer_stop(struct loop_timer *timer)
{
    unset(impl(timer->loop), &((struct timer *)(void *)timer)->ev);
}

static void timer_destroy(struct loop_timer *timer)
{
    struct timer *t = (struct timer *)(void *)timer;
    unset(impl(timer->loop), &t->ev);
    impl(timer->loop)->n_timers--;
    t->destroyed = true;
    if (!t->in_use)
        free(t);
}

static void on_deferred(void *ctx)
{
    struct deferred_call d = *(struct deferred_call *)ctx;
    free(ctx);
    d.fn(d.ctx);
}

static void defer(struct loop *loop, loop_fn fn, void *ctx)
{
    struct deferred_call *d = xcalloc(1, sizeof *d);
    d->fn = fn;
    d->ctx = ctx;
    set(impl(loop), &d->ev, impl(loop)->t->now_us, on_deferred, d);
}

static struct loop_lane *lane_create(struct loop *loop, const char *name, int threads, size_t queue)
{
    struct lane *lane = xcalloc(1, sizeof *lane);
    (void)name;
    lane->base.loop = loop;
    lane->l = impl(loop);
    lane->threads = threads;
    lane->queue = queue;
    lane->waiting_end = &lane->waiting;
    lane->l->n_lanes++;
    return &lane->base;
}

static int64_t some_time(struct sim_loop *l)
{
    return l->t->now_us + 1 + (int64_t)(sim_random(l->t) % (uint64_t)l->work_max_us);
}

static void close_if_done(struct lane *lane);
static void next_work(struct lane *lane);

static void on_told(void *ctx)
{
    struct work w = *(struct work *)ctx;
    free(ctx);
    w.lane->running--;
    w.lane->base.busy--;
    w.done(w.ctx, LOOP_WORK_DONE);
    next_work(w.lane);
    close_if_done(w.lane);
}

static void on_work(void *ctx)
{
    struct work *w = ctx;
    w->fn(w->ctx);
    set(w->lane->l, &w->ev, some_time(w->lane->l), on_told, w);
}

static void next_work(struct lane *lane)
{
    while (lane->waiting && lane->running < lane->threads) {
        struct work *w = lane->waiting;
        lane->waiting = w->next;
        if (!lane->waiting)
            lane->waiting_end = &lane->waiting;
        lane->n_waiting--;
        lane->running++;
        set(lane->l, &w->ev, some_time(lane->l), on_work, w);
    }
}

static bool work(struct loop_lane *base, loop_fn fn, loop_work_done done, void *ctx)
{
    struct lane *lane = (struct lane *)(void *)base;
    if (lane->closing || (lane->running == lane->threads && lane->n_waiting == lane->queue))
        return false;
    struct work *w = xcalloc(1, sizeof *w);
    w->lane = lane;
    w->fn = fn;
    w->done = done;
    w->ctx = ctx;
    *lane->waiting_end = w;
    lane->waiting_end = &w->next;
    lane->n_waiting++;
    base->busy++;
    next_work(lane);
    return true;
}

static void on_dropped(void *ctx)
{
    struct work w = *(struct work *)ctx;
    free(ctx);
    w.lane->base.busy--;
    w.done(w.ctx, LOOP_WORK_DROPPED);
    close_if_done(w.lane);
}

static void close_if_done(struct lane *lane)
{
    if (!lane->closing || lane->base.busy > 0)
        return;
    loop_fn closed = lane->closed;
    void *ctx = lane->closed_ctx;
    lane->l->n_lanes--;
    free(lane);
    if (closed)
        closed(ctx);
}

static void on_close(void *ctx)
{
    close_if_done(ctx);
}

/* Nothing hangs here, so patience is not needed. */
static void lane_close(struct loop_lane *base, enum loop_lane_rest rest, int64_t patience_us,
                       loop_fn closed, void *ctx)
{
    struct lane *lane = (struct lane *)(void *)base;
    (void)patience_us;
    assert(!lane->closing);
    lane->closing = true;
    lane->closed = closed;
    lane->closed_ctx = ctx;
    while (rest == LOOP_LANE_DROP && lane->waiting) {
        struct work *w = lane->waiting;
        lane->waiting = w->next;
        set(lane->l, &w->ev, lane->l->t->now_us, on_dropped, w);
    }
    if (lane->base.busy == 0)
        defer(base->loop, on_close, lane);
}

static const struct loop_ops ops = {
    .wall_us = wall_us,
    .mono_us = mono_us,
    .timer_create = timer_create_,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .timer_destroy = timer_destroy,
    .defer = defer,
    .lane_create = lane_create,
    .work = work,
    .lane_close = lane_close,
};

struct loop *sim_loop_create(struct sim_time *t, int64_t mono_ahead_us, int64_t work_max_us)
{
    struct sim_loop *l = xcalloc(1, sizeof *l);
    l->base.ops = &ops;
    l->t = t;
    l->mono_ahead_us = mono_ahead_us;
    l->work_max_us = work_max_us;
    return &l->base;
}

void sim_loop_free(struct loop *loop)
{
    struct sim_loop *l = impl(loop);
    assert(l->n_timers == 0 && l->n_lanes == 0 && l->n == 0);
    free(l->heap);
    free(l);
}
