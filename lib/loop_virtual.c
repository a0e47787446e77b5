/* SPDX-License-Identifier: MIT
 *
 * Virtual time is a linear function of the time of the loop below: `anchor_us` corresponds to
 * `below_us`, and since then time has grown `rate` times as fast. Each change sets a new anchor, so
 * the monotonic clock never decreases. A walk moves the time from timer to timer to a target.
 */
#include "lib/loop_virtual.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/deadlines.h"
#include "lib/idmap.h"

/* After this many turns in a row without work, nothing more is expected: what one turn leaves (a
 * written message, a deferred call) is handled in the next turn. */
#define QUIET_TURNS 3
/* A walk is abandoned if its work makes no progress for PATIENCE_US, or makes progress for
 * RESTLESS_US but does not end (us of the loop below). It makes progress if its count grows, or if
 * there is no work for a turn. */
#define PATIENCE_US INT64_C(30000000)
#define RESTLESS_US INT64_C(300000000)
/* The most timers that fire in one turn, so that a timer that always sets itself again does not
 * block the loop. */
#define FIRE_MAX 1000

struct virtual_timer {
    struct loop_timer base; /* first */
    int64_t id;
    loop_fn cb;
    void *ctx;
};

struct due_walk {
    bool on;
    int64_t to_us, restless_since_us, moved_us;
    uint64_t moves; /* the count of work at the last turn */
    int quiet;
    struct loop_walked how;
    void (*done)(void *ctx, const struct loop_walked *how);
    void *ctx;
};

struct loop_virtual {
    struct loop base; /* first */
    struct loop_virtual_config c;
    struct loop_timer *alarm; /* a timer of the loop below */
    struct deadlines *due;
    struct id_map timers;
    int64_t last_id;
    bool touched;
    double rate;
    int64_t anchor_us, below_us;
    /* wall clock minus this loop's monotonic clock, fixed since the first touch() */
    int64_t wall_ahead_us;
    struct due_walk walk;
};

static const struct loop_ops ops;

static struct loop_virtual *impl(struct loop *loop)
{
    assert(loop->ops == &ops);
    return CONTAINER_OF(loop, struct loop_virtual, base);
}

/* --- clocks ------------------------------------------------------------------------------------
 */

static int64_t now(struct loop_virtual *v)
{
    if (v->walk.on)
        return v->anchor_us;
    return v->anchor_us + (int64_t)((double)(loop_mono_us(v->c.below) - v->below_us) * v->rate);
}

static int64_t mono_us(struct loop *loop)
{
    return now(impl(loop));
}

static int64_t wall_us(struct loop *loop)
{
    struct loop_virtual *v = impl(loop);
    return v->touched ? now(v) + v->wall_ahead_us : loop_wall_us(v->c.below);
}

static void set_anchor(struct loop_virtual *v, int64_t at_us)
{
    v->anchor_us = at_us;
    v->below_us = loop_mono_us(v->c.below);
}

/* Called when somebody changes the time: from now on the wall clock has a fixed distance to the
 * monotonic clock. */
static void touch(struct loop_virtual *v)
{
    if (!v->touched)
        v->wall_ahead_us = loop_wall_us(v->c.below) - now(v);
    v->touched = true;
    set_anchor(v, now(v));
}

/* --- timers ------------------------------------------------------------------------------------
 */

#define WAIT_MAX_US 1e15 /* some 30 years: the clock as good as stands */

static void arm(struct loop_virtual *v)
{
    struct deadline first;
    if (v->walk.on || !deadlines_first(v->due, &first)) {
        loop_timer_stop(v->alarm);
        return;
    }
    int64_t left = first.at_us - now(v);
    double wait = v->rate > 0 ? (double)left / v->rate : WAIT_MAX_US;
    if (left <= 0)
        loop_timer_start(v->alarm, loop_mono_us(v->c.below));
    else if (wait < WAIT_MAX_US)
        loop_timer_start(v->alarm, loop_mono_us(v->c.below) + (int64_t)wait + 1);
    else
        loop_timer_stop(v->alarm);
}

/* Fires the timers that are due. Searches again after each timer, because its callback may change
 * all others. */
static void fire(struct loop_virtual *v)
{
    struct deadline first;
    int64_t at_us = now(v);
    for (int i = 0; i < FIRE_MAX && deadlines_first(v->due, &first) && first.at_us <= at_us; i++) {
        struct virtual_timer *t = id_map_find(&v->timers, first.id);
        deadlines_remove(v->due, 0, first.id);
        v->walk.how.timers++;
        t->cb(t->ctx);
    }
}

static void on_alarm(void *ctx)
{
    fire(ctx);
    arm(ctx);
}

static struct loop_timer *timer_create_(struct loop *loop, loop_fn cb, void *ctx)
{
    struct loop_virtual *v = impl(loop);
    struct virtual_timer *t = xcalloc(1, sizeof *t);
    *t = (struct virtual_timer){{loop}, ++v->last_id, cb, ctx};
    id_map_put(&v->timers, t->id, t);
    return &t->base;
}

static void timer_start(struct loop_timer *timer, int64_t at_us)
{
    struct loop_virtual *v = impl(timer->loop);
    deadlines_set(v->due, 0, CONTAINER_OF(timer, struct virtual_timer, base)->id, at_us);
    arm(v);
}

static void timer_stop(struct loop_timer *timer)
{
    struct loop_virtual *v = impl(timer->loop);
    deadlines_remove(v->due, 0, CONTAINER_OF(timer, struct virtual_timer, base)->id);
    arm(v);
}

static void timer_destroy(struct loop_timer *timer)
{
    timer_stop(timer);
    id_map_remove(&impl(timer->loop)->timers, CONTAINER_OF(timer, struct virtual_timer, base)->id);
    free(timer);
}

/* --- walks -------------------------------------------------------------------------------------
 */

static void finish(struct loop_virtual *v, bool arrived)
{
    struct due_walk w = v->walk;
    w.how.arrived = arrived;
    v->walk = (struct due_walk){.on = false};
    set_anchor(v, v->anchor_us);
    arm(v);
    w.done(w.ctx, &w.how);
}

/* Moves the time to the next timer, or to the target. False: the target is reached. */
static bool go_on(struct loop_virtual *v)
{
    struct deadline first;
    bool has = deadlines_first(v->due, &first) && first.at_us <= v->walk.to_us;
    int64_t at_us = has ? first.at_us : v->walk.to_us;
    if (at_us > v->anchor_us)
        v->anchor_us = at_us;
    if (has)
        fire(v);
    return has;
}

static bool is_at_rest(struct loop_virtual *v)
{
    bool moved = v->c.moves(v->c.ctx) != v->walk.moves, busy = v->c.is_busy(v->c.ctx);
    v->walk.quiet = busy || moved ? 0 : v->walk.quiet + 1;
    if (moved || !busy)
        v->walk.moved_us = loop_mono_us(v->c.below);
    return v->walk.quiet >= QUIET_TURNS;
}

static bool is_hopeless(const struct loop_virtual *v)
{
    int64_t now_us = loop_mono_us(v->c.below);
    return now_us - v->walk.moved_us > PATIENCE_US ||
           now_us - v->walk.restless_since_us > RESTLESS_US;
}

/* Runs in each turn of the loop below while there is a walk. */
static void on_turn(void *ctx)
{
    struct loop_virtual *v = ctx;
    if (!v->walk.on)
        return;
    if (is_at_rest(v)) {
        v->walk.quiet = 0;
        v->walk.restless_since_us = loop_mono_us(v->c.below);
        if (!go_on(v)) {
            finish(v, true);
            return;
        }
    } else if (is_hopeless(v)) {
        finish(v, false);
        return;
    }
    loop_defer(v->c.below, on_turn, v);
    /* so that the deferred call above does not count as work */
    v->walk.moves = v->c.moves(v->c.ctx);
}

void loop_virtual_walk(struct loop_virtual *v, int64_t to_us,
                       void (*done)(void *ctx, const struct loop_walked *how), void *ctx)
{
    assert(!v->walk.on);
    touch(v);
    const int64_t now_us = loop_mono_us(v->c.below);
    v->walk = (struct due_walk){.on = true,
                                .to_us = to_us,
                                .restless_since_us = now_us,
                                .moved_us = now_us,
                                .done = done,
                                .ctx = ctx};
    loop_timer_stop(v->alarm);
    loop_defer(v->c.below, on_turn, v);
    /* so that the deferred call above does not count as work */
    v->walk.moves = v->c.moves(v->c.ctx);
}

void loop_virtual_halt(struct loop_virtual *v)
{
    if (v->walk.on)
        finish(v, false);
}

/* --- the rest ----------------------------------------------------------------------------------
 */

static void defer(struct loop *loop, loop_fn fn, void *ctx)
{
    loop_defer(impl(loop)->c.below, fn, ctx);
}

static struct loop_lane *lane_create(struct loop *loop, const char *name, int threads, size_t queue)
{
    return loop_lane_create(impl(loop)->c.below, name, threads, queue);
}

static struct loop *below(struct loop *loop)
{
    return impl(loop)->c.below;
}

/* The lanes are those of the loop below. */
static const struct loop_ops ops = {
    .wall_us = wall_us,
    .mono_us = mono_us,
    .timer_create = timer_create_,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .timer_destroy = timer_destroy,
    .defer = defer,
    .lane_create = lane_create,
    .below = below,
};

struct loop_virtual *loop_virtual_create(const struct loop_virtual_config *c)
{
    struct loop_virtual *v = xcalloc(1, sizeof *v);
    v->base.ops = &ops;
    v->c = *c;
    v->rate = 1;
    v->due = deadlines_new(1);
    v->alarm = loop_timer_create(c->below, on_alarm, v);
    v->anchor_us = v->below_us = loop_mono_us(c->below);
    return v;
}

void loop_virtual_free(struct loop_virtual *v)
{
    if (!v)
        return;
    assert(!v->walk.on && v->timers.n == 0);
    loop_timer_destroy(v->alarm);
    deadlines_free(v->due);
    id_map_free(&v->timers);
    free(v);
}

struct loop *loop_virtual_loop(struct loop_virtual *v)
{
    return &v->base;
}

void loop_virtual_set_rate(struct loop_virtual *v, double rate)
{
    assert(rate >= 0 && rate <= LOOP_RATE_MAX);
    touch(v);
    v->rate = rate;
    arm(v);
}

void loop_virtual_follow(struct loop_virtual *v)
{
    set_anchor(v, now(v));
    v->rate = 1;
    v->touched = false;
    arm(v);
}

void loop_virtual_look(const struct loop_virtual *v, struct loop_virtual_state *out)
{
    struct deadline first = {0};
    *out =
        (struct loop_virtual_state){.touched = v->touched, .walking = v->walk.on, .rate = v->rate};
    out->has_next = deadlines_first(v->due, &first);
    out->next_us = first.at_us;
}
