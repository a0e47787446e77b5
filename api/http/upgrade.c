/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd passes a descriptor: the connection's socket, or with TLS one end of the relay's
 * socket pair. An open upgraded connection is counted as a suspended request, so that libmicrohttpd
 * is not stopped before it gets the connection back. Memory: struct upgraded is freed after the end
 * of the request, when the loop has closed its handle.
 */
#include "api/http/upgrade.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/connections.h"
#include "api/http/http_priv.h"

struct upgraded {
    struct upgraded *next; /* in the server's list */
    struct engine *engine;
    struct connection *connection;
    struct MHD_UpgradeResponseHandle *handle; /* NULL: not open or given back */
    int fd;
    uv_poll_t poll;
    bool has_poll;
    struct strbuf out;
    size_t sent;   /* bytes of `out` that were sent */
    bool closed;   /* no further event is called */
    bool released; /* the request has ended */
    const struct upgraded_events *events;
    void *ctx;
};

static void free_if_over(struct upgraded *u)
{
    if (!u->released || u->has_poll)
        return;
    strbuf_free(&u->out);
    free(u);
}

static void on_poll_closed(uv_handle_t *h)
{
    struct upgraded *u = h->data;
    u->has_poll = false;
    free_if_over(u);
}

/* Gives the connection back to libmicrohttpd, which closes it. The socket is shut down first;
 * otherwise a client that does not read would keep the connection open for ever. */
static void give_back(struct upgraded *u)
{
    struct upgraded **at = &u->engine->api->upgraded;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    uv_poll_stop(&u->poll);
    uv_close((uv_handle_t *)&u->poll, on_poll_closed);
    connection_hang_up(u->connection);
    MHD_upgrade_action(u->handle, MHD_UPGRADE_ACTION_CLOSE);
    u->handle = NULL;
    u->engine->dirty = true;
}

void upgraded_close(struct upgraded *u)
{
    assert(!u->closed);
    u->closed = true;
    if (u->handle)
        give_back(u);
}

static void lose(struct upgraded *u)
{
    upgraded_close(u);
    u->events->closed(u->ctx);
}

void upgrade_hurry(struct api *api)
{
    while (api->upgraded)
        lose(api->upgraded);
}

/* --- bytes --------------------------------------------------------------------------------------
 */

static void on_ready(uv_poll_t *p, int status, int events);

static void watch(struct upgraded *u)
{
    int events = UV_READABLE | (upgraded_waiting(u) > 0 ? UV_WRITABLE : 0);
    if (u->handle)
        uv_poll_start(&u->poll, events, on_ready);
}

size_t upgraded_waiting(const struct upgraded *u)
{
    return u->out.len - u->sent;
}

/* Sends as many bytes as the socket takes. False: the client has disconnected. */
static bool flush(struct upgraded *u)
{
    while (upgraded_waiting(u) > 0) {
        ssize_t n = send(u->fd, u->out.s + u->sent, upgraded_waiting(u), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        u->sent += (size_t)n;
    }
    explicit_bzero(u->out.s, u->out.len);
    strbuf_reset(&u->out);
    u->sent = 0;
    return true;
}

/* Only stores the bytes: they are sent from the loop, so that the caller's events are called from
 * there if the client has disconnected. */
void upgraded_send(struct upgraded *u, const void *bytes, size_t n)
{
    if (u->sent > 0 && u->sent >= u->out.len / 2) {
        memmove(u->out.s, u->out.s + u->sent, upgraded_waiting(u));
        strbuf_cut(&u->out, upgraded_waiting(u));
        u->sent = 0;
    }
    strbuf_add(&u->out, bytes, n);
    watch(u);
}

/* Reads bytes and passes them to got(). False: the client has disconnected. */
static bool read_some(struct upgraded *u)
{
    char buf[UPGRADED_READ_MAX];
    ssize_t n = recv(u->fd, buf, sizeof buf, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return true;
    if (n > 0)
        u->events->got(u->ctx, buf, (size_t)n);
    if (n > 0)
        explicit_bzero(buf, (size_t)n);
    return n > 0;
}

static void on_ready(uv_poll_t *p, int status, int events)
{
    struct upgraded *u = p->data;
    bool waited = upgraded_waiting(u) > 0;
    bool there = status >= 0 && (!waited || flush(u));
    if (there && waited && upgraded_waiting(u) == 0)
        u->events->drained(u->ctx);
    if (there && !u->closed && (events & UV_READABLE))
        there = read_some(u);
    if (u->closed)
        return;
    if (there)
        watch(u);
    else
        lose(u);
}

/* --- opening ------------------------------------------------------------------------------------
 */

static void on_upgrade(void *ctx, struct MHD_Connection *conn, void *state, const char *extra,
                       size_t n_extra, MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
    struct upgraded *u = ctx;
    struct api *api = u->engine->api;
    (void)conn, (void)state;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    connection_lasts(u->connection);
    u->handle = handle;
    u->fd = fd;
    u->next = api->upgraded;
    api->upgraded = u;
    api->suspended++;
    uv_poll_init(api->config.loop, &u->poll, fd);
    u->poll.data = u;
    u->has_poll = true;
    if (u->closed) {
        give_back(u);
        return;
    }
    if (api->stopping) {
        lose(u);
        return;
    }
    watch(u);
    if (n_extra > 0)
        u->events->got(u->ctx, extra, n_extra);
}

/* Called at the end of the request: libmicrohttpd has closed the connection. */
static void on_released(void *kept)
{
    struct upgraded *u = kept;
    bool was_open = u->has_poll || u->fd >= 0;
    if (was_open)
        u->engine->api->suspended--;
    u->released = true;
    if (!u->closed) {
        u->closed = true;
        u->events->closed(u->ctx);
    }
    free_if_over(u);
}

bool request_may_upgrade(const struct request *r)
{
    const char *to = request_header(r, "Upgrade");
    return to && strcasecmp(to, UPGRADE_PROTOCOL) == 0 && !r->engine->tls;
}

struct replied *reply_upgrade(struct request *r, const struct upgraded_events *events, void *ctx,
                              struct upgraded **out)
{
    struct upgraded *u = xcalloc(1, sizeof *u);
    *u = (struct upgraded){
        .engine = r->engine, .connection = r->connection, .fd = -1, .events = events, .ctx = ctx};
    *out = u;
    request_keep(r, u, on_released);
    reply_header_text(r, "Upgrade", UPGRADE_PROTOCOL);
    return reply_response(r, 101, NULL, MHD_create_response_for_upgrade(on_upgrade, u));
}
