/* SPDX-License-Identifier: MIT
 *
 * A libmicrohttpd daemon on the loop, in external epoll mode: a uv_poll watches its epoll
 * descriptor, a uv_timer follows MHD_get_timeout(), and MHD_run() does the rest. One engine is for
 * TLS and one for plain HTTP; neither listens, because listener.h hands them connections.
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
    struct MHD_Daemon *mhd; /* owned; NULL: was not started */
    uv_poll_t poll;         /* on the epoll descriptor of mhd */
    uv_timer_t timer;       /* for the timeout of MHD_get_timeout */
    uv_idle_t idle;         /* for a timeout of 0 */
    bool dirty;             /* a connection was added or resumed: run before the loop sleeps */
    bool handled;           /* a handler ran since the pump began */
    int open_handles;
    struct connection *arriving; /* the connection that is just being added to mhd */
    void (*closed)(struct engine *x);
};

/* Takes over `mhd`. */
void engine_start(struct engine *x, struct MHD_Daemon *mhd, uv_loop_t *loop);
/* Call at the end of a turn, after its commit. `more`: whether a reply waits for the next
 * commit. */
void engine_turn(struct engine *x, bool (*more)(const struct engine *x));
/* Call after all requests are answered. Stops the daemon when its handles are closed, then calls
 * `cb`. */
void engine_close(struct engine *x, void (*cb)(struct engine *x));

#endif
