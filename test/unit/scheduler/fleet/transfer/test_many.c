/* SPDX-License-Identifier: MIT
 *
 * Many transfers at a time, of every size and in both directions, to other ends of every kind
 * (fake_curl.h). The loop asks for more at once, later or never, and ends them at any moment. What
 * this is to find are hand-overs between loop and thread that go wrong: it says most when it is
 * built with AddressSanitizer, and with ThreadSanitizer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/loop_uv.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "test/unit/scheduler/fleet/transfer/fake_curl.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/tests.h"

#define LIMIT_MS 60000
#define PIECE    65536
#define SLOTS    64

static const size_t sizes[] = {0,         1,         1000,          16383,  16384,  16385,
                               PIECE - 1, PIECE + 1, 3 * PIECE + 7, 600000, 600000, PIECE};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

struct many_world;

/* One after another of the transfers. */
struct slot {
    struct many_world *w;
    struct transfer *t; /* NULL: the next has not begun */
    enum peer peer;
    bool put, waits; /* waits: for a callback */
    unsigned seed;
    size_t size, at, got;
    int left; /* calls until the loop ends it; < 0: it goes to its end */
};

struct many_world {
    uv_loop_t uv;
    struct loop *loop;
    struct transfers *tr;
    uv_timer_t limit, turns, way;
    bool timed_out, stopped;
    unsigned chance;
    struct slot slots[SLOTS];
    int to_begin, open;
    enum peer worst; /* the kinds of other ends are those up to this one */
    bool ends_some;
    uv_timer_cb on_way; /* once, while they are under way; or NULL */
    int ended_well, ended[PEERS];
};

static size_t chance(struct many_world *w, size_t below)
{
    return (size_t)rand_r(&w->chance) % below;
}

/* --- one transfer ----------------------------------------------------------------------------- */

static void go_on(struct slot *s);

static void finish(struct slot *s)
{
    transfer_end(s->t);
    s->t = NULL;
    s->w->open--;
}

/* At once, or when the timer comes by. */
static void go_on_some_time(struct slot *s)
{
    if (chance(s->w, 2) == 0)
        go_on(s);
}

static void end_well(struct slot *s, long status)
{
    struct many_world *w = s->w;
    bool refused = s->put && s->peer == PEER_EARLY;
    assert_int_equal(status, refused ? PEER_REFUSED : s->put ? PEER_TAKEN : 200);
    if (s->put)
        assert_int_equal(s->got, PEER_ANSWER);
    else if (s->peer == PEER_EARLY)
        assert_true(s->got < s->size || s->size == 0);
    else
        assert_int_equal(s->got, s->size);
    w->ended_well++;
    w->ended[s->peer]++;
    finish(s);
}

static void end_badly(struct slot *s, const struct err *why)
{
    assert_true(s->peer == PEER_BREAKS || s->peer == PEER_STALLS);
    assert_int_equal(why->code, s->peer == PEER_STALLS ? ERR_UNAVAILABLE : ERR_IO);
    s->w->ended[s->peer]++;
    finish(s);
}

static void on_read(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct slot *s = ctx;
    assert_true(s->t && s->waits);
    s->waits = false;
    if (why) {
        end_badly(s, why);
        return;
    }
    assert_true(got->n <= PIECE);
    assert_true(peer_is(got->bytes, s->seed, s->got, got->n));
    s->got += got->n;
    if (got->end)
        end_well(s, got->status);
    else
        go_on_some_time(s);
}

static void on_written(void *ctx, const struct err *why)
{
    struct slot *s = ctx;
    assert_true(s->t && s->waits);
    s->waits = false;
    if (why)
        s->at = s->size; /* the answer says it */
    go_on_some_time(s);
}

static void go_on(struct slot *s)
{
    if (s->left == 0) {
        finish(s);
        return;
    }
    s->left--;
    s->waits = true;
    if (!s->put || s->at == s->size) {
        transfer_read(s->t, PIECE, on_read, s);
        return;
    }
    size_t n = 1 + chance(s->w, s->size - s->at);
    char *bytes = malloc(n);
    peer_fill(bytes, s->seed, s->at, n);
    s->at += n;
    transfer_write(s->t, bytes, n, on_written, s);
}

static void begin(struct slot *s)
{
    struct many_world *w = s->w;
    char url[64];
    *s = (struct slot){.w = w,
                       .peer = (enum peer)chance(w, w->worst + 1),
                       .put = chance(w, 2) == 0,
                       .size = sizes[chance(w, N_SIZES)],
                       .seed = (unsigned)chance(w, 1000000),
                       .left = w->ends_some && chance(w, 4) == 0 ? (int)chance(w, 5) : -1};
    snprintf(url, sizeof url, "fake:%d,%zu,%u", (int)s->peer, s->size, s->seed);
    const struct transfer_ask ask = {.url = url,
                                     .put = s->put,
                                     .own = chance(w, 4) == 0,
                                     .length = s->size,
                                     .delay_us = (int64_t)(chance(w, 8) == 0 ? 1000 : 0)};
    s->t = transfer_begin(w->tr, &ask);
    w->to_begin--;
    w->open++;
    go_on_some_time(s);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The loop's other events. */
static void on_turn(uv_timer_t *turns)
{
    struct many_world *w = turns->data;
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *s = &w->slots[i];
        if (!s->t && w->to_begin > 0)
            begin(s);
        else if (s->t && w->ends_some && chance(w, 100) == 0)
            finish(s); /* also while it waits */
        else if (s->t && !s->waits && chance(w, 2) == 0)
            go_on(s);
    }
    if (chance(w, 16) == 0)
        transfers_set_own(w->tr, "https://127.0.0.1:1");
    if (w->to_begin == 0 && w->open == 0)
        uv_timer_stop(turns);
}

static void on_limit(uv_timer_t *t)
{
    ((struct many_world *)t->data)->timed_out = true;
}

static void on_stopped(void *ctx)
{
    ((struct many_world *)ctx)->stopped = true;
}

#define WAIT(w, condition)                                                                         \
    do {                                                                                           \
        uv_timer_start(&(w)->limit, on_limit, patient_ms(LIMIT_MS), 0);                            \
        while (!(condition) && !(w)->timed_out)                                                    \
            uv_run(&(w)->uv, UV_RUN_ONCE);                                                         \
        uv_timer_stop(&(w)->limit);                                                                \
        assert_true(condition);                                                                    \
    } while (0)

static void run(struct many_world *w, int many)
{
    assert_int_equal(uv_loop_init(&w->uv), 0);
    w->loop = loop_uv_create(&w->uv, NULL, NULL);
    uv_timer_init(&w->uv, &w->limit);
    uv_timer_init(&w->uv, &w->turns);
    w->limit.data = w->turns.data = w;
    const struct transfers_config c = {.loop = w->loop, .silent_s = 1};
    w->tr = transfers_create(&c);
    w->to_begin = many;
    for (size_t i = 0; i < SLOTS; i++)
        w->slots[i].w = w;
    uv_timer_init(&w->uv, &w->way);
    if (w->on_way)
        uv_timer_start(&w->way, w->on_way, 30, 0);
    uv_timer_start(&w->turns, on_turn, 0, 1);
    WAIT(w, !uv_is_active((uv_handle_t *)&w->turns));
    transfers_stop(w->tr, on_stopped, w);
    WAIT(w, w->stopped);
    assert_int_equal(atomic_load(&fake_curl.easy), 0);
    uv_close((uv_handle_t *)&w->limit, NULL);
    uv_close((uv_handle_t *)&w->turns, NULL);
    uv_close((uv_handle_t *)&w->way, NULL);
    loop_uv_destroy(w->loop);
    uv_run(&w->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->uv), 0);
}

/* UNIT_MANY: how many there are, for whoever wants to search longer. */
static int many(int usual)
{
    const char *wanted = getenv("UNIT_MANY");
    return wanted ? atoi(wanted) : usual;
}

TEST(all_bytes_arrive_beside_those_of_others)
{
    struct many_world w = {.chance = 1, .worst = PEER_AT_ONCE};
    run(&w, many(1500));
    assert_int_equal(w.ended_well, many(1500));
}

TEST(whoever_breaks_off_or_ends_early_disturbs_nobody)
{
    struct many_world w = {.chance = 2, .worst = PEER_BREAKS};
    run(&w, many(1500));
    assert_true(w.ended[PEER_EARLY] > 0 && w.ended[PEER_BREAKS] > 0);
}

TEST(they_are_ended_at_any_moment)
{
    struct many_world w = {.chance = 3, .worst = PEER_BREAKS, .ends_some = true};
    run(&w, many(6000));
}

/* Both threads stand still for longer than others may be silent. */
static void stand_still(uv_timer_t *t)
{
    pid_t own = getpid(), child = fork();
    (void)t;
    if (child == 0) {
        usleep(1500000);
        kill(own, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(child, NULL, 0);
}

TEST(whoever_stood_still_gives_nobody_up)
{
    struct many_world w = {.chance = 5, .worst = PEER_AT_ONCE, .on_way = stand_still};
    run(&w, many(400));
    assert_int_equal(w.ended_well, many(400));
}

TEST(whoever_is_silent_is_given_up_beside_others)
{
    struct many_world w = {.chance = 4, .worst = PEER_STALLS};
    run(&w, many(200));
    assert_true(w.ended[PEER_STALLS] > 0);
}
