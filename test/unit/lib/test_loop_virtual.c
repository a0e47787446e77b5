/* SPDX-License-Identifier: MIT
 *
 * A loop whose time tests change: clocks, timers, walks.
 */
#include <unistd.h>

#include <uv.h>

#include "lib/arena.h"
#include "lib/loop_uv.h"
#include "lib/loop_virtual.h"
#include "test/unit/support/tests.h"

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)

struct loop_world {
    uv_loop_t uv;
    struct loop *below, *loop;
    struct loop_virtual *v;
    int64_t below_mono, below_wall;
    bool busy, arrived, done;
    uint64_t timers;
    char order[64];
    int64_t at[64]; /* when each fired */
    size_t n;
};

struct alarm {
    struct loop_world *w;
    struct loop_timer *timer;
    char name;
    int64_t every_us; /* 0: once */
};

static int64_t read_int(void *at)
{
    return *(int64_t *)at;
}

static bool is_busy(void *ctx)
{
    const struct loop_world *w = ctx;
    return w->busy || loop_uv_has_work(w->below);
}

static uint64_t moves(void *ctx)
{
    return loop_uv_deferred(((struct loop_world *)ctx)->below);
}

static void open_world(struct loop_world *w)
{
    *w = (struct loop_world){.below_mono = 100 * SECOND, .below_wall = 1700000000 * SECOND};
    assert_int_equal(uv_loop_init(&w->uv), 0);
    const struct clock wall = {read_int, &w->below_wall}, mono = {read_int, &w->below_mono};
    w->below = loop_uv_create(&w->uv, &wall, &mono);
    w->v = loop_virtual_create(&(struct loop_virtual_config){w->below, is_busy, moves, w});
    w->loop = loop_virtual_loop(w->v);
}

static void close_world(struct loop_world *w)
{
    loop_virtual_free(w->v);
    loop_uv_destroy(w->below);
    uv_run(&w->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->uv), 0);
}

static void pass(struct loop_world *w, int64_t us)
{
    w->below_mono += us;
    w->below_wall += us;
    for (int i = 0; i < 5; i++)
        uv_run(&w->uv, UV_RUN_NOWAIT);
}

static void on_alarm(void *ctx)
{
    struct alarm *a = ctx;
    struct loop_world *w = a->w;
    w->order[w->n] = a->name;
    w->at[w->n++] = loop_mono_us(w->loop);
    if (a->every_us > 0)
        loop_timer_start(a->timer, loop_mono_us(w->loop) + a->every_us);
}

static void set_alarm(struct loop_world *w, struct alarm *a, char name, int64_t in_us)
{
    *a = (struct alarm){.w = w, .name = name};
    a->timer = loop_timer_create(w->loop, on_alarm, a);
    loop_timer_start(a->timer, loop_mono_us(w->loop) + in_us);
}

static void on_walked(void *ctx, const struct loop_walked *how)
{
    struct loop_world *w = ctx;
    w->done = true;
    w->arrived = how->arrived;
    w->timers = how->timers;
}

static void walk(struct loop_world *w, int64_t us)
{
    w->done = false;
    loop_virtual_walk(w->v, loop_mono_us(w->loop) + us, on_walked, w);
    for (int i = 0; i < 100000 && !w->done; i++)
        uv_run(&w->uv, UV_RUN_NOWAIT);
    assert_true(w->done && w->arrived);
}

TEST(test_untouched_it_is_the_loop_below)
{
    struct loop_world w;
    struct alarm a;
    open_world(&w);
    assert_int_equal(loop_wall_us(w.loop), w.below_wall);
    set_alarm(&w, &a, 'a', 10 * SECOND);
    pass(&w, 9 * SECOND);
    assert_int_equal(w.n, 0);
    w.below_wall -= HOUR; /* a wall clock that is set is passed on */
    assert_int_equal(loop_wall_us(w.loop), w.below_wall);
    loop_timer_destroy(a.timer);
    close_world(&w);
}

TEST(test_a_stopped_clock_stands)
{
    struct loop_world w;
    struct alarm a, b;
    open_world(&w);
    set_alarm(&w, &a, 'a', SECOND);
    loop_virtual_set_rate(w.v, 0);
    int64_t mono = loop_mono_us(w.loop), wall = loop_wall_us(w.loop);
    pass(&w, HOUR);
    assert_int_equal(loop_mono_us(w.loop), mono);
    assert_int_equal(loop_wall_us(w.loop), wall);
    assert_int_equal(w.n, 0);
    set_alarm(&w, &b, 'b', 0); /* what is due at once still happens */
    pass(&w, SECOND);
    assert_string_equal(w.order, "b");
    loop_timer_destroy(a.timer);
    loop_timer_destroy(b.timer);
    close_world(&w);
}

TEST(test_a_scaled_clock_runs)
{
    struct loop_world w;
    open_world(&w);
    loop_virtual_set_rate(w.v, 60);
    int64_t mono = loop_mono_us(w.loop), wall = loop_wall_us(w.loop);
    pass(&w, 60 * SECOND);
    assert_int_equal(loop_mono_us(w.loop) - mono, HOUR);
    assert_int_equal(loop_wall_us(w.loop) - wall, HOUR);
    loop_virtual_set_rate(w.v, 1);
    pass(&w, SECOND);
    assert_int_equal(loop_mono_us(w.loop) - mono, HOUR + SECOND);
    close_world(&w);
}

TEST(test_a_clock_that_hardly_runs_stands)
{
    struct loop_world w;
    struct alarm a;
    open_world(&w);
    loop_virtual_set_rate(w.v, 1e-13);
    set_alarm(&w, &a, 'a', HOUR);
    pass(&w, HOUR);
    assert_int_equal(w.n, 0);
    assert_int_equal(uv_loop_alive(&w.uv), 0); /* no timer is set below */
    loop_timer_destroy(a.timer);
    close_world(&w);
}

TEST(test_a_walk_stops_at_each_timer_in_order)
{
    struct loop_world w;
    struct alarm a, b, c, late;
    open_world(&w);
    loop_virtual_set_rate(w.v, 0);
    int64_t began = loop_mono_us(w.loop);
    set_alarm(&w, &late, 'z', 7 * HOUR);
    set_alarm(&w, &b, 'b', 3 * HOUR);
    set_alarm(&w, &a, 'a', HOUR);
    set_alarm(&w, &c, 'c', 3 * HOUR); /* the same instant: as they were made */
    a.every_us = 2 * HOUR;
    walk(&w, 6 * HOUR);
    static const struct {
        char name;
        int hour;
    } wanted[] = {{'a', 1}, {'b', 3}, {'a', 3}, {'c', 3}, {'a', 5}};
    assert_int_equal(w.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(w.order[i], wanted[i].name);
        assert_int_equal(w.at[i] - began, wanted[i].hour * HOUR);
    }
    assert_int_equal(loop_mono_us(w.loop) - began, 6 * HOUR);
    struct alarm *const all[] = {&a, &b, &c, &late};
    for (size_t i = 0; i < 4; i++)
        loop_timer_destroy(all[i]->timer);
    close_world(&w);
}

/* What follows from a timer comes before the next one. */
static void work(void *ctx)
{
    (void)ctx;
    usleep(20000);
}

static void worked(void *ctx, enum loop_work_end how)
{
    struct loop_world *w = ctx;
    (void)how;
    w->order[w->n] = 'w';
    w->at[w->n++] = loop_mono_us(w->loop);
}

static void on_closed(void *ctx)
{
    ((struct loop_world *)ctx)->done = true;
}

struct chain {
    struct loop_world *w;
    struct loop_lane *lane;
    int left;
};

static void on_chain(void *ctx)
{
    struct chain *c = ctx;
    if (c->left-- > 0)
        loop_defer(c->w->loop, on_chain, c);
    else if (!loop_work(c->lane, work, worked, c->w))
        fail();
}

TEST(test_a_walk_waits_for_what_a_timer_has_begun)
{
    struct loop_world w;
    struct alarm after;
    open_world(&w);
    struct chain c = {&w, loop_lane_create(w.loop, "test", 1, 4), 10};
    struct loop_timer *first = loop_timer_create(w.loop, on_chain, &c);
    int64_t began = loop_mono_us(w.loop);
    loop_timer_start(first, began + HOUR);
    set_alarm(&w, &after, 'x', HOUR + 1);
    walk(&w, 2 * HOUR);
    assert_string_equal(w.order, "wx");
    assert_int_equal(w.at[0] - began, HOUR);
    assert_int_equal(w.timers, 2);
    loop_timer_destroy(first);
    loop_timer_destroy(after.timer);
    w.done = false;
    loop_lane_close(c.lane, LOOP_LANE_FINISH, 0, on_closed, &w);
    while (!w.done)
        uv_run(&w.uv, UV_RUN_NOWAIT);
    close_world(&w);
}

TEST(test_a_walk_can_be_halted_and_the_clock_goes_on_from_there)
{
    struct loop_world w;
    open_world(&w);
    w.busy = true; /* it does not come to rest */
    int64_t began = loop_mono_us(w.loop);
    loop_virtual_walk(w.v, began + HOUR, on_walked, &w);
    pass(&w, SECOND);
    assert_false(w.done);
    loop_virtual_halt(w.v);
    assert_true(w.done && !w.arrived);
    pass(&w, SECOND);
    assert_int_equal(loop_mono_us(w.loop) - began, SECOND);
    loop_virtual_walk(w.v, began + HOUR, on_walked, &w);
    w.done = false;
    pass(&w, 31 * SECOND); /* longer than it is waited for */
    assert_true(w.done && !w.arrived);
    close_world(&w);
}

/* Defers itself until `stop`, as a large seed does from slice to slice. */
struct time_slices {
    struct loop_world *w;
    bool stop;
};

static void on_slice(void *ctx)
{
    struct time_slices *s = ctx;
    if (!s->stop)
        loop_defer(s->w->below, on_slice, s);
}

TEST(test_a_walk_waits_longer_for_work_that_moves_but_not_forever)
{
    struct loop_world w;
    open_world(&w);
    struct time_slices s = {&w, false};
    w.busy = true;
    loop_defer(w.below, on_slice, &s);
    int64_t began = loop_mono_us(w.loop);
    loop_virtual_walk(w.v, began + HOUR, on_walked, &w);
    for (int i = 0; i < 10; i++)
        pass(&w, 25 * SECOND);
    assert_false(w.done);
    pass(&w, 60 * SECOND);
    assert_true(w.done && !w.arrived);
    w.done = false;
    loop_virtual_walk(w.v, began + HOUR, on_walked, &w);
    pass(&w, 60 * SECOND);
    w.busy = false;
    s.stop = true;
    while (!w.done)
        pass(&w, 0);
    assert_true(w.arrived);
    assert_int_equal(loop_mono_us(w.loop) - began, HOUR);
    close_world(&w);
}

TEST(test_it_can_follow_the_loop_below_again)
{
    struct loop_world w;
    open_world(&w);
    walk(&w, 6 * HOUR);
    int64_t mono = loop_mono_us(w.loop);
    assert_int_equal(loop_wall_us(w.loop), w.below_wall + 6 * HOUR);
    loop_virtual_follow(w.v);
    assert_int_equal(loop_wall_us(w.loop), w.below_wall);
    assert_int_equal(loop_mono_us(w.loop), mono);
    struct loop_virtual_state s;
    loop_virtual_look(w.v, &s);
    assert_false(s.touched || s.walking || s.has_next);
    close_world(&w);
}
