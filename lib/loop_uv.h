/* SPDX-License-Identifier: MIT
 *
 * The daemon's struct loop: timers and clock of libuv, and lanes with threads that this room starts
 * itself.
 */
#ifndef LIB_LOOP_UV_H
#define LIB_LOOP_UV_H

#include <uv.h>

#include "lib/loop.h"
#include "lib/timefmt.h"

/* `uv` is borrowed and initialised. `wall` and `mono` are the clocks of loop_wall_us() and
 * loop_mono_us(); NULL: the system's clock. Tests may pass other clocks. */
struct loop *loop_uv_create(uv_loop_t *uv, const struct clock *wall, const struct clock *mono);
/* Ends the loop. The caller must have destroyed its timers and closed its lanes; deferred calls
 * still run. uv_run() does not return until the libuv handles of the loop are closed. */
void loop_uv_destroy(struct loop *loop);
/* The libuv loop that this loop uses, for users that need libuv handles: sockets, processes, pipes.
 * Only for a loop of loop_uv_create(), or for a virtual loop above one. */
uv_loop_t *loop_uv_of(struct loop *loop);
/* Whether lanes have running or waiting work; how many calls were deferred since the start. */
bool loop_uv_has_work(const struct loop *loop);
uint64_t loop_uv_deferred(const struct loop *loop);

#endif
