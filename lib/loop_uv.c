/* SPDX-License-Identifier: MIT
 *
 * Clocks, timers and deferred calls on libuv; the threads are in lane_uv.c.
 */
#include "lib/loop_uv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/loop_uv_priv.h"

#define US_PER_MS 1000

static const struct loop_ops ops;

/* Asserts that the loop is a libuv loop, and that this is its thread. */
static struct uv_loop_impl *impl_of(struct loop *loop)
{
    assert(loop->ops == &ops);
    struct uv_loop_impl *l = CONTAINER_OF(loop, struct uv_loop_impl, base);
    assert(pthread_equal(l->thread, pthread_self()));
    return l;
}

static void must(int uv_rc)
{
    if (uv_rc == 0)
        return;
    fprintf(stderr, "event loop: %s\n", uv_strerror(uv_rc));
    abort();
}

/* --- clocks ------------------------------------------------------------------------------------
 */

static int64_t wall_us(struct loop *loop)
{
    return clock_now(&impl_of(loop)->wall);
}

static int64_t system_mono(void *ctx)
{
    (void)ctx;
    return (int64_t)(uv_hrtime() / 1000);
}

static int64_t mono_us(struct loop *loop)
{
    return clock_now(&impl_of(loop)->mono);
}

/* --- timers ------------------------------------------------------------------------------------
 */

struct uv_timer {
    struct loop_timer base; /* first */
    uv_timer_t uv;
    loop_fn cb;
    void *ctx;
    int64_t at_us;
};

static void on_timer(uv_timer_t *uv);

/* Starts the libuv timer. libuv counts whole milliseconds from the beginning of the turn and may
 * fire too early, so on_timer() reads the clock again. */
static void arm(struct uv_timer *t)
{
    int64_t left = t->at_us - mono_us(t->base.loop);
    must(uv_timer_start(&t->uv, on_timer,
                        left > 0 ? ((uint64_t)left + US_PER_MS - 1) / US_PER_MS : 0, 0));
}

static void on_timer(uv_timer_t *uv)
{
    struct uv_timer *t = uv->data;
    if (mono_us(t->base.loop) < t->at_us)
        arm(t);
    else
        t->cb(t->ctx);
}

static struct loop_timer *timer_create_(struct loop *loop, loop_fn cb, void *ctx)
{
    struct uv_timer *t = xcalloc(1, sizeof *t);
    t->base.loop = loop;
    t->cb = cb;
    t->ctx = ctx;
    must(uv_timer_init(impl_of(loop)->uv, &t->uv));
    t->uv.data = t;
    return &t->base;
}

static void timer_start(struct loop_timer *timer, int64_t at_us)
{
    struct uv_timer *t = CONTAINER_OF(timer, struct uv_timer, base);
    t->at_us = at_us;
    arm(t);
}

static void timer_stop(struct loop_timer *timer)
{
    must(uv_timer_stop(&CONTAINER_OF(timer, struct uv_timer, base)->uv));
}

static void on_timer_closed(uv_handle_t *h)
{
    free(h->data);
}

static void timer_destroy(struct loop_timer *timer)
{
    uv_close((uv_handle_t *)&CONTAINER_OF(timer, struct uv_timer, base)->uv, on_timer_closed);
}

/* --- deferred calls -----------------------------------------------------------------------------
 */

static void on_closed(uv_handle_t *h)
{
    struct uv_loop_impl *l = h->data;
    if (--l->open_handles > 0)
        return;
    uv_lanes_free(l);
    free(l);
}

static void close_handles(struct uv_loop_impl *l)
{
    l->open_handles = 2;
    uv_close((uv_handle_t *)&l->idle, on_closed);
    uv_close((uv_handle_t *)&l->async, on_closed);
}

/* Runs the deferred calls. libuv runs idle handles once a turn, and does not wait while one is
 * active. Calls that are deferred during this function run in the next turn. */
static void on_idle(uv_idle_t *idle)
{
    struct uv_loop_impl *l = idle->data;
    struct deferred *first = l->deferred;
    l->deferred = NULL;
    l->deferred_end = &l->deferred;
    while (first) {
        struct deferred d = *first;
        free(first);
        first = d.next;
        d.fn(d.ctx);
    }
    if (!l->deferred) {
        uv_idle_stop(idle);
        if (l->destroyed)
            close_handles(l);
    }
}

static void defer(struct loop *loop, loop_fn fn, void *ctx)
{
    struct uv_loop_impl *l = impl_of(loop);
    struct deferred *d = xcalloc(1, sizeof *d);
    d->fn = fn;
    d->ctx = ctx;
    l->n_deferred++;
    *l->deferred_end = d;
    l->deferred_end = &d->next;
    must(uv_idle_start(&l->idle, on_idle));
}

/* --- start and end --- */

static const struct loop_ops ops = {
    .wall_us = wall_us,
    .mono_us = mono_us,
    .timer_create = timer_create_,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .timer_destroy = timer_destroy,
    .defer = defer,
    .lane_create = uv_lane_create,
    .work = uv_lane_work,
    .lane_close = uv_lane_close,
};

struct loop *loop_uv_create(uv_loop_t *uv, const struct clock *wall, const struct clock *mono)
{
    struct uv_loop_impl *l = xcalloc(1, sizeof *l);
    l->base.ops = &ops;
    l->uv = uv;
    l->thread = pthread_self();
    l->wall = wall ? *wall : clock_system();
    l->mono = mono ? *mono : (struct clock){system_mono, NULL};
    l->deferred_end = &l->deferred;
    must(uv_idle_init(uv, &l->idle));
    l->idle.data = l;
    uv_lanes_init(l);
    return &l->base;
}

void loop_uv_destroy(struct loop *loop)
{
    struct uv_loop_impl *l = impl_of(loop);
    assert(!l->destroyed && l->n_lanes == 0);
    l->destroyed = true;
    if (!l->deferred)
        close_handles(l);
}

uv_loop_t *loop_uv_of(struct loop *loop)
{
    while (loop->ops->below)
        loop = loop->ops->below(loop);
    return impl_of(loop)->uv;
}

bool loop_uv_has_work(const struct loop *loop)
{
    return impl_of((struct loop *)(uintptr_t)loop)->n_busy > 0;
}

uint64_t loop_uv_deferred(const struct loop *loop)
{
    return impl_of((struct loop *)(uintptr_t)loop)->n_deferred;
}
