/* SPDX-License-Identifier: MIT
 *
 * Calls MHD_run() when the epoll descriptor is readable, when libmicrohttpd's timeout has passed,
 * and at the end of a turn that resumed a connection. When an engine is closed, it stops its
 * libmicrohttpd daemon after its three handles are closed. The server owns the engines. Called only
 * on the loop's thread.
 */
#include "api/http/engine.h"

#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>

#include "api/http/http_priv.h"

static void on_timer(uv_timer_t *t);
static void on_idle(uv_idle_t *i);

/* Runs libmicrohttpd. For a timeout of 0 it starts an idle handle, not a timer of 0 ms: libuv would
 * call such a timer again and again in the same pass, and never reach the end of the turn. */
static void pump(struct engine *x)
{
    x->dirty = false;
    MHD_run(x->mhd);
    unsigned long long ms = 0;
    if (MHD_get_timeout(x->mhd, &ms) != MHD_YES)
        return;
    if (ms == 0)
        uv_idle_start(&x->idle, on_idle);
    else
        uv_timer_start(&x->timer, on_timer, ms, 0);
}

static void on_idle(uv_idle_t *i)
{
    uv_idle_stop(i);
    pump(i->data);
}

static void on_timer(uv_timer_t *t)
{
    pump(t->data);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
    (void)status, (void)events;
    pump(p->data);
}

/* Handlers leave work (a commit, a command to a node) to the end of their turn of the loop. For a
 * handler that pump() calls here, the end of this turn has already passed; also, a resumed
 * connection waits for the next pump(). In both cases the loop must turn once more before it
 * sleeps. */
void engine_turn(struct engine *x, bool (*more)(const struct engine *x))
{
    if (!x->dirty)
        return;
    x->handled = false;
    pump(x);
    if (x->handled || x->dirty || more(x))
        uv_idle_start(&x->idle, on_idle);
}

void engine_start(struct engine *x, struct MHD_Daemon *mhd, uv_loop_t *loop)
{
    assert(!x->mhd && mhd);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(mhd, MHD_DAEMON_INFO_EPOLL_FD);
    x->mhd = mhd;
    uv_poll_init(loop, &x->poll, info->epoll_fd);
    uv_timer_init(loop, &x->timer);
    uv_idle_init(loop, &x->idle);
    x->poll.data = x->timer.data = x->idle.data = x;
    x->open_handles = 3;
    uv_poll_start(&x->poll, UV_READABLE, on_poll);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct engine *x = h->data;
    if (--x->open_handles > 0)
        return;
    MHD_stop_daemon(x->mhd);
    x->mhd = NULL;
    x->closed(x);
}

void engine_close(struct engine *x, void (*cb)(struct engine *x))
{
    assert(x->mhd && x->open_handles == 3);
    x->closed = cb;
    uv_poll_stop(&x->poll);
    uv_close((uv_handle_t *)&x->poll, on_handle_closed);
    uv_close((uv_handle_t *)&x->idle, on_handle_closed);
    uv_close((uv_handle_t *)&x->timer, on_handle_closed);
}

/* Gets the certificate for the server name that the client requests. */
void server_pick_certificate(const struct api *api, gnutls_session_t tls, gnutls_pcert_st **chain,
                             unsigned *n, gnutls_privkey_t *key)
{
    char name[256];
    size_t size = sizeof name;
    unsigned type;
    if (gnutls_server_name_get(tls, name, &size, &type, 0) < 0 || type != GNUTLS_NAME_DNS)
        name[0] = '\0';
    api->config.certs.pick(api->config.certs.ctx, name, chain, n, key);
}
