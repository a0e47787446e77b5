/* SPDX-License-Identifier: MIT */
#include "lib/loop.h"

#include <assert.h>

int64_t loop_wall_us(struct loop *loop)
{
    return loop->ops->wall_us(loop);
}

int64_t loop_mono_us(struct loop *loop)
{
    return loop->ops->mono_us(loop);
}

int64_t loop_mono_of(struct loop *loop, int64_t wall_us, int64_t past_max, int64_t ahead_max)
{
    assert(past_max >= 0 && ahead_max >= 0);
    int64_t left;
    if (__builtin_sub_overflow(wall_us, loop_wall_us(loop), &left))
        left = wall_us < 0 ? -past_max : ahead_max;
    if (left < -past_max)
        left = -past_max;
    if (left > ahead_max)
        left = ahead_max;
    int64_t at;
    if (__builtin_add_overflow(loop_mono_us(loop), left, &at))
        at = left < 0 ? INT64_MIN : INT64_MAX;
    return at;
}

struct loop_timer *loop_timer_create(struct loop *loop, loop_fn cb, void *ctx)
{
    assert(cb);
    return loop->ops->timer_create(loop, cb, ctx);
}

void loop_timer_start(struct loop_timer *timer, int64_t at_us)
{
    timer->loop->ops->timer_start(timer, at_us);
}

void loop_timer_stop(struct loop_timer *timer)
{
    timer->loop->ops->timer_stop(timer);
}

void loop_timer_destroy(struct loop_timer *timer)
{
    if (timer)
        timer->loop->ops->timer_destroy(timer);
}

void loop_defer(struct loop *loop, loop_fn fn, void *ctx)
{
    assert(fn);
    loop->ops->defer(loop, fn, ctx);
}

struct loop_lane *loop_lane_create(struct loop *loop, const char *name, int threads, size_t queue)
{
    assert(threads > 0 && queue > 0);
    return loop->ops->lane_create(loop, name, threads, queue);
}

bool loop_work(struct loop_lane *lane, loop_fn work, loop_work_done done, void *ctx)
{
    assert(work && done);
    return lane->loop->ops->work(lane, work, done, ctx);
}

void loop_lane_close(struct loop_lane *lane, enum loop_lane_rest rest, int64_t patience_us,
                     loop_fn closed, void *ctx)
{
    assert(patience_us >= 0);
    lane->loop->ops->lane_close(lane, rest, patience_us, closed, ctx);
}
