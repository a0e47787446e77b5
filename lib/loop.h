/* SPDX-License-Identifier: MIT
 *
 * Time and the event loop, as everything above sees them: two clocks, timers, deferred calls and
 * work on other threads. There is one vtable, so that a simulation can bring its own loop; the
 * daemon's is loop_uv.h.
 *
 * Two clocks. mono_us() only ever grows, at one second a second: whatever waits or measures uses
 * it, and its values mean nothing to another process. wall_us() is what people and other machines
 * call the time (microseconds since 1970); it may be set back or forward at any moment, so use it
 * for what is stored and shown, never to wait for something. An instant that was stored as wall
 * time is turned into one of the monotonic clock once, when it is read: loop_mono_of().
 *
 * All calls are made on the loop's thread, and every callback runs there, never inside the call
 * that asked for it. The one exception is the work function of loop_work(), which runs on a thread
 * of its lane.
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
    LOOP_WORK_DROPPED /* its lane was closed before it began */
};
typedef void (*loop_work_done)(void *ctx, enum loop_work_end how);

int64_t loop_wall_us(struct loop *loop);
int64_t loop_mono_us(struct loop *loop);
/* Turns a stored wall instant into a monotonic one, by the present clocks. The result lies at most
 * `past_max` before and `ahead_max` after now: a wall clock that was set while nobody looked can do
 * no more harm than that. */
int64_t loop_mono_of(struct loop *loop, int64_t wall_us, int64_t past_max, int64_t ahead_max);

/* Makes a timer, which is not set yet. Owned by the caller until loop_timer_destroy(). */
struct loop_timer *loop_timer_create(struct loop *loop, loop_fn cb, void *ctx);
/* Sets the timer: `cb` runs once, not before `at_us` of the monotonic clock. Replaces an earlier
 * setting; an instant in the past means soon. */
void loop_timer_start(struct loop_timer *timer, int64_t at_us);
void loop_timer_stop(struct loop_timer *timer);
/* `cb` does not run any more. NULL is accepted. May be called from inside `cb`. */
void loop_timer_destroy(struct loop_timer *timer);

/* Runs `fn` in the next turn of the loop, in the order of the calls. Cannot be taken back. */
void loop_defer(struct loop *loop, loop_fn fn, void *ctx);

/* A callback that takes longer holds up everybody, so it is counted and logged. */
#define LOOP_SLOW_US 50000

/* --- lanes: work that may block --------------------------------------------------------------- */

/* Makes a lane: threads for one kind of blocking work, so that no kind waits for another. Threads
 * are started when there is work and none is free, up to `threads`. At most `queue` pieces of work
 * (at least 1) wait for a thread. `name` (at most 15 bytes, of static life) is what the threads are
 * called. With one thread, work is done and reported in the order of the calls. */
struct loop_lane *loop_lane_create(struct loop *loop, const char *name, int threads, size_t queue);
/* Runs `work` on a thread of the lane, then `done` on the loop. False: the queue is full or the
 * lane is closed; nothing will be called. */
bool loop_work(struct loop_lane *lane, loop_fn work, loop_work_done done, void *ctx) MUST_CHECK;

/* What becomes of work that no thread has begun when its lane is closed. */
enum loop_lane_rest {
    LOOP_LANE_FINISH, /* it is done first */
    LOOP_LANE_DROP    /* its `done` says LOOP_WORK_DROPPED */
};
/* Closes the lane: no more work is taken; `closed` (or NULL) runs after the last `done`, and the
 * lane is gone. A piece of work that has not ended `patience_us` from now (0: there is no such
 * limit) is left behind: its `done` never runs, its ctx is never freed, and its thread ends with
 * the process: it hangs in a system call. */
void loop_lane_close(struct loop_lane *lane, enum loop_lane_rest rest, int64_t patience_us,
                     loop_fn closed, void *ctx);

/* --- for those who give a loop -----------------------------------------------------------------
 */

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
    /* The loop that it stands on, whose lanes it has; NULL: none. */
    struct loop *(*below)(struct loop *loop);
};

/* First member of what an implementation allocates for each. */
struct loop {
    const struct loop_ops *ops;
};
struct loop_timer {
    struct loop *loop; /* borrowed */
};
struct loop_lane {
    struct loop *loop; /* borrowed */
    size_t busy;       /* kept by the implementation, on the loop's thread */
};

#endif
