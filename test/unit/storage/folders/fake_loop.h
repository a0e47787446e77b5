/* SPDX-License-Identifier: MIT
 *
 * A loop under a test's control: its clock stands until the test moves it, and a piece of work on a
 * lane is done when the test says so.
 */
#ifndef TEST_FILES_FAKE_LOOP_H
#define TEST_FILES_FAKE_LOOP_H

#include "lib/arena.h"
#include "lib/loop.h"
#include "test/unit/support/says.h"

struct fake_work {
    loop_fn fn;
    loop_work_done done;
    void *ctx;
};

struct fake_lane {
    struct loop_lane base; /* first */
    struct fake_lane *next;
    struct fake_work work[16]; /* all begun */
    size_t threads;
    int64_t until_us; /* what has not come back then is left behind */
    loop_fn closed;   /* NULL: nobody has closed it */
    void *closed_ctx;
};

struct fake_timer {
    struct loop_timer base; /* first */
    struct fake_timer *next;
    loop_fn cb;
    void *ctx;
    int64_t at_us; /* 0: not set */
};

struct fake_loop {
    struct loop base; /* first */
    int64_t mono_us;
    struct fake_lane *lanes;
    struct fake_timer *timers;
    struct {
        loop_fn fn;
        void *ctx;
    } deferred[1024];
    size_t n_deferred;
    void *left_behind[16]; /* what would leak: threads hang in it */
    size_t n_left_behind;
};

static inline struct fake_loop *fake_of(struct loop *l)
{
    return (struct fake_loop *)(void *)l;
}

static inline int64_t fake_mono_us(struct loop *l)
{
    return fake_of(l)->mono_us;
}

static inline struct loop_timer *fake_timer_create(struct loop *l, loop_fn cb, void *ctx)
{
    struct fake_timer *t = xcalloc(1, sizeof *t);
    *t = (struct fake_timer){
        .base.loop = l, .next = fake_of(l)->timers, .cb = cb, .ctx = ctx, .at_us = 0};
    fake_of(l)->timers = t;
    return &t->base;
}

static inline void fake_timer_start(struct loop_timer *t, int64_t at_us)
{
    ((struct fake_timer *)(void *)t)->at_us = at_us;
}

static inline void fake_timer_stop(struct loop_timer *t)
{
    ((struct fake_timer *)(void *)t)->at_us = 0;
}

static inline void fake_timer_destroy(struct loop_timer *timer)
{
    struct fake_timer **at = &fake_of(timer->loop)->timers;
    while (&(*at)->base != timer)
        at = &(*at)->next;
    struct fake_timer *t = *at;
    *at = t->next;
    free(t);
}

static inline void fake_defer(struct loop *l, loop_fn fn, void *ctx)
{
    struct fake_loop *f = fake_of(l);
    assert_true(f->n_deferred < 1024);
    f->deferred[f->n_deferred].fn = fn;
    f->deferred[f->n_deferred++].ctx = ctx;
}

static inline struct loop_lane *fake_lane_create(struct loop *l, const char *name, int threads,
                                                 size_t queue)
{
    (void)name, (void)queue;
    struct fake_lane *lane = xcalloc(1, sizeof *lane);
    lane->base.loop = l;
    lane->threads = (size_t)threads;
    lane->next = fake_of(l)->lanes;
    fake_of(l)->lanes = lane;
    return &lane->base;
}

static inline bool fake_work_(struct loop_lane *base, loop_fn fn, loop_work_done done, void *ctx)
{
    struct fake_lane *lane = (struct fake_lane *)(void *)base;
    assert_true(base->busy <
                lane->threads); /* storage/folders/ queues what there is no worker for */
    lane->work[base->busy++] = (struct fake_work){fn, done, ctx};
    return true;
}

/* If it is closed, and nothing is to be waited for any more. */
static inline void fake_lane_end(struct fake_loop *f, struct fake_lane *lane)
{
    if (!lane->closed || (lane->base.busy > 0 && lane->until_us > f->mono_us))
        return;
    for (size_t i = 0; i < lane->base.busy; i++)
        f->left_behind[f->n_left_behind++] = lane->work[i].ctx;
    struct fake_lane **at = &f->lanes;
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    fake_defer(&f->base, lane->closed, lane->closed_ctx);
    free(lane);
}

static inline void fake_lane_close(struct loop_lane *base, enum loop_lane_rest rest,
                                   int64_t patience_us, loop_fn closed, void *ctx)
{
    struct fake_loop *f = fake_of(base->loop);
    struct fake_lane *lane = (struct fake_lane *)(void *)base;
    (void)rest;
    assert_true(base->busy == 0 || patience_us > 0);
    lane->until_us = f->mono_us + patience_us;
    lane->closed = closed;
    lane->closed_ctx = ctx;
    fake_lane_end(f, lane);
}

static const struct loop_ops fake_ops = {.mono_us = fake_mono_us,
                                         .timer_create = fake_timer_create,
                                         .timer_start = fake_timer_start,
                                         .timer_stop = fake_timer_stop,
                                         .timer_destroy = fake_timer_destroy,
                                         .defer = fake_defer,
                                         .lane_create = fake_lane_create,
                                         .work = fake_work_,
                                         .lane_close = fake_lane_close};

/* The next turn. */
static inline void fake_turn(struct fake_loop *f)
{
    while (f->n_deferred > 0) {
        loop_fn fn = f->deferred[0].fn;
        void *ctx = f->deferred[0].ctx;
        f->n_deferred--;
        memmove(f->deferred, f->deferred + 1, f->n_deferred * sizeof f->deferred[0]);
        fn(ctx);
    }
}

/* Lets time pass. */
static inline void fake_pass(struct fake_loop *f, int64_t us)
{
    f->mono_us += us;
    for (struct fake_timer *t = f->timers; t; t = t->next) {
        if (t->at_us == 0 || t->at_us > f->mono_us)
            continue;
        t->at_us = 0;
        t->cb(t->ctx);
        t = f->timers; /* it may be gone; none is due twice */
        if (!t)
            break;
    }
    for (struct fake_lane *l = f->lanes, *next; l; l = next) {
        next = l->next;
        fake_lane_end(f, l);
    }
    fake_turn(f);
}

/* Of the workers on the lane made `back` lanes ago the one that began as the `nth` comes back. */
static inline void fake_come_back_of(struct fake_loop *f, int back, size_t nth)
{
    struct fake_lane *lane = f->lanes;
    for (; back > 0; back--)
        lane = lane->next;
    assert_true(lane->base.busy > nth);
    struct fake_work w = lane->work[nth];
    lane->base.busy--;
    memmove(lane->work + nth, lane->work + nth + 1, (lane->base.busy - nth) * sizeof w);
    w.fn(w.ctx);
    w.done(w.ctx, LOOP_WORK_DONE);
    fake_lane_end(f, lane);
    fake_turn(f);
}

/* The one that began first. */
static inline void fake_come_back(struct fake_loop *f, int back)
{
    fake_come_back_of(f, back, 0);
}

#endif
