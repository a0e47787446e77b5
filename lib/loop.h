/* SPDX-License-Identifier: MIT
 *
 * Time and the event loop, for all rooms: two clocks, timers, deferred calls and work on other
 * threads. A loop has a table of functions, so that a simulation can use another loop than the
 * daemon, which uses loop_uv.h.
 *
 * Two clocks. mono_us() only grows, even if somebody sets the machine's clock: use it for waiting
 * and measuring; its values mean nothing in another process. wall_us() is the time for people and
 * other machines (microseconds since 1970); the clock may be set at any moment, so use it for
 * stored and displayed times, never for waiting. A stored wall time is converted to the monotonic
 * clock once, when it is read: loop_mono_of().
 *
 * All calls are made on the loop's thread, and every callback runs there, never inside the original
 * call. The one exception is the work function of loop_work(), which runs on a thread of its lane.
 */
#ifndef LIB_LOOP_H
#define LIB_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct loop;
struct loop_timer;
struct loop_lane;

typedef void (*loop_fn)(void *ctx);

/* How a piece of work ended. */
enum loop_work_end {
    LOOP_WORK_DONE,
    LOOP_WORK_DROPPED /* its lane was closed before the work began, so it never ran */
};
typedef void (*loop_work_done)(void *ctx, enum loop_work_end how);

int64_t loop_wall_us(struct loop *loop);
int64_t loop_mono_us(struct loop *loop);
/* Converts a stored wall time to the monotonic clock, by the present difference of the clocks. The
 * result is at most `past_max` us before and `ahead_max` us after now, which limits the error if
 * the wall clock was set. */
int64_t loop_mono_of(struct loop *loop, int64_t wall_us, int64_t past_max, int64_t ahead_max);

/* Makes a timer, which is not set yet. The caller owns it until loop_timer_destroy(). */
struct loop_timer *loop_timer_create(struct loop *loop, loop_fn cb, void *ctx);
/* Sets the timer: `cb` runs once, not before `at_us` of the monotonic clock. Replaces an earlier
 * setting. If the instant is in the past, `cb` runs soon. */
void loop_timer_start(struct loop_timer *timer, int64_t at_us);
void loop_timer_stop(struct loop_timer *timer);
/* Destroys the timer; `cb` does not run any more. NULL is accepted. May be called from inside
 * `cb`. */
void loop_timer_destroy(struct loop_timer *timer);

/* Runs `fn` in the next turn of the loop, in the order of the calls. Cannot be cancelled. */
void loop_defer(struct loop *loop, loop_fn fn, void *ctx);

/* A callback that takes longer (us) is counted and logged, because it delays everything else. */
#define LOOP_SLOW_US 50000

/* --- lanes: work that may block --------------------------------------------------------------- */

/* Makes a lane: a thread pool for one kind of blocking work, so that no kind waits for another. At
 * most `threads` threads are started, each when there is work and no thread is free. At most
 * `queue` pieces of work (at least 1) wait for a thread. `name` (at most 15 bytes, static) is the
 * threads' name. With one thread, work is done and reported in the order of the calls. */
struct loop_lane *loop_lane_create(struct loop *loop, const char *name, int threads, size_t queue);
/* Runs `work` on a thread of the lane, then `done` on the loop. False: the queue is full or the
 * lane is closed; neither is called. */
bool loop_work(struct loop_lane *lane, loop_fn work, loop_work_done done, void *ctx) MUST_CHECK;

/* What is done with waiting work when its lane is closed. */
enum loop_lane_rest {
    LOOP_LANE_FINISH, /* waiting work is carried out first */
    LOOP_LANE_DROP    /* waiting work is not carried out; its `done` gets LOOP_WORK_DROPPED */
};
/* Closes the lane: no more work is accepted; `closed` (or NULL) runs after the last `done`, and the
 * lane is freed. If a piece of work has not ended after `patience_us` (0: no limit), it is assumed
 * to be blocked in a system call, and is abandoned: its `done` never runs, its ctx is never freed,
 * and its thread ends with the process. */
void loop_lane_close(struct loop_lane *lane, enum loop_lane_rest rest, int64_t patience_us,
                     loop_fn closed, void *ctx);

/* --- for implementations --- */

struct loop_ops {
    int64_t (*wall_us)(struct loop *loop);
    int64_t (*mono_us)(struct loop *loop);
    struct loop_timer *(*timer_create)(struct loop *loop, loop_fn cb, void *ctx);
    void (*timer_start)(struct loop_timer *timer, int64_t at_us);
    void (*timer_stop)(struct loop_timer *timer);
    void (*timer_destroy)(struct loop_timer *timer);
    void (*defer)(struct loop *loop, loop_fn fn, void *ctx);
    struct loop_lane *(*lane_create)(struct loop *loop, const char *name, int threads,
                                     size_t queue);
    bool (*work)(struct loop_lane *lane, loop_fn work, loop_work_done done, void *ctx);
    void (*lane_close)(struct loop_lane *lane, enum loop_lane_rest rest, int64_t patience_us,
                       loop_fn closed, void *ctx);
    /* The other loop whose lanes this loop uses; NULL: none. */
    struct loop *(*below)(struct loop *loop);
};

/* First member of the struct of each implementation. */
struct loop {
    const struct loop_ops *ops;
};
struct loop_timer {
    struct loop *loop; /* borrowed */
};
struct loop_lane {
    struct loop *loop; /* borrowed */
    /* pieces of work whose `done` has not run yet; only the implementation changes it, on the
     * loop's thread */
    size_t busy;
};

#endif
