/* SPDX-License-Identifier: MIT
 *
 * An engine is a libmicrohttpd daemon on the loop, in external epoll mode: a uv_poll watches its
 * epoll descriptor, a uv_timer waits for MHD_get_timeout(), and both call MHD_run(). One engine is
 * for TLS and one for plain HTTP. They do not listen: listener.h passes connections to them.
 */
#ifndef API_HTTP_ENGINE_H
#define API_HTTP_ENGINE_H

#include <stdbool.h>
#include <uv.h>

struct api;
struct connection;
struct MHD_Daemon;

enum api_engine { ENGINE_TLS, ENGINE_PLAIN, API_ENGINES };

struct engine {
    struct api *api;
    bool tls;
    struct MHD_Daemon *mhd; /* owned; NULL: the engine was not started */
    uv_poll_t poll;         /* on the epoll descriptor of mhd */
    uv_timer_t timer;       /* for the timeout of MHD_get_timeout */
    uv_idle_t idle;         /* for a timeout of 0 */
    bool dirty;             /* call pump() before the loop sleeps */
    bool handled;           /* a handler ran since the pump began */
    int open_handles;
    struct connection *arriving; /* the connection that is being added to mhd */
    void (*closed)(struct engine *x);
};

/* Takes over `mhd`. */
void engine_start(struct engine *x, struct MHD_Daemon *mhd, uv_loop_t *loop);
/* Call it at the end of a turn of the loop, after its commit. `more` returns whether a reply waits
 * for the next commit. */
void engine_turn(struct engine *x, bool (*more)(const struct engine *x));
/* Call it after all requests were answered. When the engine's handles are closed, stops `mhd` and
 * calls `cb`. */
void engine_close(struct engine *x, void (*cb)(struct engine *x));

#endif
