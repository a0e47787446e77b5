/* SPDX-License-Identifier: MIT
 *
 * The struct that loop_uv.c and lane_uv.c share.
 */
#ifndef LIB_LOOP_UV_PRIV_H
#define LIB_LOOP_UV_PRIV_H

#include <pthread.h>

#include "lib/loop_uv.h"

struct deferred {
    struct deferred *next;
    loop_fn fn;
    void *ctx;
};

struct uv_lane;
struct hub;

struct uv_loop_impl {
    struct loop base; /* first */
    uv_loop_t *uv;    /* borrowed */
    pthread_t thread; /* the loop's thread; no other thread may call the loop */
    struct clock wall, mono;
    uv_idle_t idle; /* active while something is deferred */
    struct deferred *deferred, **deferred_end;
    uint64_t n_deferred; /* how many calls were deferred since the start */
    uv_async_t async;    /* threads of lanes use it to report ended work; see lane_uv.c */
    struct hub *hub;
    struct uv_lane *lanes;
    /* n_lanes: all lanes; n_busy: unfinished work and closing lanes, which keep the loop alive */
    size_t n_lanes, n_busy;
    int open_handles;
    bool destroyed;
};

/* --- lane_uv.c ----------------------------------------------------------------------------------
 */
void uv_lanes_init(struct uv_loop_impl *l);
void uv_lanes_free(struct uv_loop_impl *l);
struct loop_lane *uv_lane_create(struct loop *loop, const char *name, int threads, size_t queue);
bool uv_lane_work(struct loop_lane *base, loop_fn work, loop_work_done done, void *ctx);
void uv_lane_close(struct loop_lane *base, enum loop_lane_rest rest, int64_t patience_us,
                   loop_fn closed, void *ctx);

#endif
