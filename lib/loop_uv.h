/* SPDX-License-Identifier: MIT
 *
 * The daemon's struct loop: libuv's timers and clock, and this room's own threads for lanes.
 */
#ifndef LIB_LOOP_UV_H
#define LIB_LOOP_UV_H

#include <uv.h>

#include "lib/loop.h"
#include "lib/timefmt.h"

/* `uv` is borrowed and initialised. `wall` and `mono` are the clocks behind loop_wall_us() and
 * loop_mono_us(); NULL: the system's. A test may give its own. */
struct loop *loop_uv_create(uv_loop_t *uv, const struct clock *wall, const struct clock *mono);
/* Ends the loop. Its timers are destroyed and its lanes closed; deferred calls still run. uv_run()
 * does not return until the handles behind the loop are closed. */
void loop_uv_destroy(struct loop *loop);
/* The libuv loop below, for users that need libuv handles: sockets, processes, pipes. Only for a
 * loop of loop_uv_create(), or a loop above such a loop. */
uv_loop_t *loop_uv_of(struct loop *loop);
/* Whether work of lanes is running or waiting; how many calls were ever deferred. */
bool loop_uv_has_work(const struct loop *loop);
uint64_t loop_uv_deferred(const struct loop *loop);

#endif
