/* SPDX-License-Identifier: MIT
 *
 * The daemon's loop: clocks, timers, deferred calls, lanes of threads.
 */
#include <pthread.h>

#include "lib/arena.h"
#include "lib/loop_uv.h"
#include "test/unit/support/says.h"
#include "test/unit/support/tests.h"

struct loop_fixture {
    uv_loop_t uv;
    struct loop *loop;
    int64_t wall;
    char said[512]; /* what callbacks noted, in order */
};

static void note(struct loop_fixture *f, const char *text)
{
    size_t n = strlen(f->said);
    snprintf(f->said + n, sizeof f->said - n, "%s", text);
}

static int64_t fake_wall(void *ctx)
{
    return ((struct loop_fixture *)ctx)->wall;
}

static int setup(void **state)
{
    struct loop_fixture *f = xcalloc(1, sizeof *f);
    const struct clock wall = {fake_wall, f};
    assert_int_equal(uv_loop_init(&f->uv), 0);
    f->loop = loop_uv_create(&f->uv, &wall, NULL);
    *state = f;
    return 0;
}

/* Nothing is left behind: uv_loop_close() refuses a loop with an open handle. */
static int teardown(void **state)
{
    struct loop_fixture *f = *state;
    loop_uv_destroy(f->loop);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->uv), 0);
    free(f);
    return 0;
}

struct loop_note {
    struct loop_fixture *f;
    const char *text;
};

static void say(void *ctx)
{
    struct loop_note *n = ctx;
    note(n->f, n->text);
}

#define LOOP_TEST(name) TEST_IN(name, struct loop_fixture *f, *state, setup, teardown)

LOOP_TEST(clocks_are_two)
{
    f->wall = 5000;
    assert_int_equal(loop_wall_us(f->loop), 5000);
    int64_t a = loop_mono_us(f->loop);
    f->wall = 0;
    int64_t b = loop_mono_us(f->loop);
    assert_true(b >= a);
    assert_ptr_equal(loop_uv_of(f->loop), &f->uv);
}

/* A stored instant becomes one of the monotonic clock, and no further off than it may be. */
LOOP_TEST(stored_instants_are_clamped)
{
    f->wall = 1000000;
    int64_t now = loop_mono_us(f->loop);
    int64_t slack = 1000000;
    const struct {
        int64_t wall, left;
    } rows[] = {{1000300, 300},   {999900, -100},    {1000000 + 600, 500}, {0, -200},
                {INT64_MAX, 500}, {INT64_MIN, -200}, {1000000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t at = loop_mono_of(f->loop, rows[i].wall, 200, 500);
        assert_in_range(at - now - rows[i].left + 1, 1, slack);
    }
}

LOOP_TEST(timers_run_once_and_not_early)
{
    struct loop_note a = {f, "a"}, b = {f, "b"}, c = {f, "c"};
    struct loop_timer *ta = loop_timer_create(f->loop, say, &a);
    struct loop_timer *tb = loop_timer_create(f->loop, say, &b);
    struct loop_timer *tc = loop_timer_create(f->loop, say, &c);
    int64_t now = loop_mono_us(f->loop);
    loop_timer_start(ta, now + 20500);
    loop_timer_start(tb, now - 5); /* has passed: soon */
    loop_timer_start(tc, now + 10000);
    loop_timer_stop(tc);
    assert_string_equal(f->said, "");
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "ba");
    assert_true(loop_mono_us(f->loop) >= now + 20500);
    loop_timer_start(ta, now); /* it can be set again */
    loop_timer_destroy(tb);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "baa");
    loop_timer_start(ta, now);
    loop_timer_destroy(ta);
    loop_timer_destroy(tc);
    loop_timer_destroy(NULL);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "baa");
}

static void defer_again(void *ctx)
{
    struct loop_note *n = ctx;
    note(n->f, "again ");
    loop_defer(n->f->loop, say, n);
}

LOOP_TEST(deferred_calls_keep_their_order)
{
    struct loop_note a = {f, "a"}, b = {f, "b"};
    loop_defer(f->loop, defer_again, &a);
    loop_defer(f->loop, say, &b);
    assert_string_equal(f->said, "");
    uv_run(&f->uv, UV_RUN_NOWAIT);
    assert_string_equal(f->said, "again b");
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "again ba");
}

/* --- lanes --------------------------------------------------------------------------------------
 */

/* Work that waits until it is let go, as in a system call that hangs. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int inside, most;
    bool open;
};

struct loop_job {
    struct loop_fixture *f;
    struct gate *gate;
    pthread_t ran_on;
    char name;
};

static void gate_init(struct gate *g)
{
    *g = (struct gate){0};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

static void gate_free(struct gate *g)
{
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
}

static void pass(void *ctx)
{
    struct loop_job *j = ctx;
    struct gate *g = j->gate;
    j->ran_on = pthread_self();
    pthread_mutex_lock(&g->lock);
    g->inside++;
    g->most = g->inside > g->most ? g->inside : g->most;
    pthread_cond_broadcast(&g->changed);
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
    g->inside--;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void passed(void *ctx, enum loop_work_end how)
{
    struct loop_job *j = ctx;
    const char text[] = {how == LOOP_WORK_DROPPED ? '-' : '+', j->name, '\0'};
    note(j->f, text);
}

static void open_gate(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void wait_inside(struct gate *g, int n)
{
    pthread_mutex_lock(&g->lock);
    while (g->inside != n)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

LOOP_TEST(a_lane_of_one_keeps_the_order)
{
    struct gate g;
    gate_init(&g);
    struct loop_lane *lane = loop_lane_create(f->loop, "one", 1, 8);
    struct loop_job jobs[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct loop_job){.f = f, .gate = &g, .name = (char)('a' + i)};
        assert_true(loop_work(lane, pass, passed, &jobs[i]));
    }
    assert_int_equal(lane->busy, 4);
    open_gate(&g);
    uv_run(&f->uv, UV_RUN_DEFAULT); /* returns once nothing is under way */
    assert_string_equal(f->said, "+a+b+c+d");
    assert_int_equal(g.most, 1);
    assert_int_equal(lane->busy, 0);
    assert_false(pthread_equal(jobs[0].ran_on, pthread_self()));
    struct loop_note closed = {f, "."};
    loop_lane_close(lane, LOOP_LANE_FINISH, 0, say, &closed);
    assert_false(loop_work(lane, pass, passed, &jobs[0]));
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "+a+b+c+d.");
    gate_free(&g);
}

/* Two at once, one waits, the next is refused; another lane goes on beside it. */
LOOP_TEST(a_full_lane_says_so_and_stops_no_other)
{
    struct gate g, open;
    gate_init(&g);
    gate_init(&open);
    open.open = true;
    struct loop_lane *lane = loop_lane_create(f->loop, "two", 2, 1);
    struct loop_lane *other = loop_lane_create(f->loop, "other", 1, 1);
    struct loop_job jobs[5];
    for (int i = 0; i < 5; i++)
        jobs[i] = (struct loop_job){.f = f, .gate = i == 4 ? &open : &g, .name = (char)('a' + i)};
    assert_true(loop_work(lane, pass, passed, &jobs[0]));
    assert_true(loop_work(lane, pass, passed, &jobs[1]));
    wait_inside(&g, 2);
    assert_true(loop_work(lane, pass, passed, &jobs[2]));
    assert_false(loop_work(lane, pass, passed, &jobs[3]));
    assert_true(loop_work(other, pass, passed, &jobs[4]));
    while (f->said[0] == '\0')
        uv_run(&f->uv, UV_RUN_ONCE);
    assert_string_equal(f->said, "+e");
    open_gate(&g);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_int_equal(strlen(f->said), strlen("+e+a+b+c"));
    assert_int_equal(g.most, 2);
    loop_lane_close(lane, LOOP_LANE_DROP, 0, NULL, NULL);
    loop_lane_close(other, LOOP_LANE_FINISH, 0, NULL, NULL);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    gate_free(&g);
    gate_free(&open);
}

LOOP_TEST(closing_finishes_or_drops_what_waits)
{
    for (int drop = 0; drop < 2; drop++) {
        struct gate g;
        gate_init(&g);
        f->said[0] = '\0';
        struct loop_lane *lane = loop_lane_create(f->loop, "closing", 1, 4);
        struct loop_job jobs[3];
        for (int i = 0; i < 3; i++) {
            jobs[i] = (struct loop_job){.f = f, .gate = &g, .name = (char)('a' + i)};
            assert_true(loop_work(lane, pass, passed, &jobs[i]));
        }
        wait_inside(&g, 1);
        struct loop_note closed = {f, "."};
        loop_lane_close(lane, drop ? LOOP_LANE_DROP : LOOP_LANE_FINISH, 0, say, &closed);
        open_gate(&g);
        uv_run(&f->uv, UV_RUN_DEFAULT);
        assert_int_equal(f->said[strlen(f->said) - 1], '.');
        if (!drop)
            assert_string_equal(f->said, "+a+b+c.");
        else
            assert_says(f->said, "-b-c");
        gate_free(&g);
    }
}

/* The thread comes back when nobody knows its lane, or the loop, any more. */
LOOP_TEST(work_that_hangs_is_left_behind)
{
    static struct gate g;
    gate_init(&g);
    struct loop_lane *lane = loop_lane_create(f->loop, "hangs", 2, 4);
    struct loop_job jobs[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct loop_job){.f = f, .gate = &g, .name = (char)('a' + i)};
        assert_true(loop_work(lane, pass, passed, &jobs[i]));
    }
    wait_inside(&g, 2);
    struct loop_note closed = {f, "."};
    loop_lane_close(lane, LOOP_LANE_FINISH, 20000, say, &closed);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_string_equal(f->said, "-c.");
    open_gate(&g);
    wait_inside(&g, 0);
}
