/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd on the loop. One MHD daemon per listening socket, in external epoll mode: its epoll
 * descriptor is watched by a uv_poll, MHD_get_timeout() feeds a uv_timer, and MHD_run() does the
 * rest. A request lives from MHD's first call to MHD's completion callback, also while suspended.
 *
 *     reading -> dispatched -> [waiting for the pool] -> [waiting for the disk] -> sent
 *
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_priv.h"
#include "api/auth.h"
#include "api/error.h"
#include "api/listen.h"
#include "api/router.h"
#include "lib/guid.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

#define CONNECTION_LIMIT     4096
#define CONNECTION_TIMEOUT_S 120 /* idle keep-alive */
#define CONNECTION_MEMORY    (32 * 1024)
#define STOP_GRACE_MS        2000

static struct request *request_create(struct listener *l, struct MHD_Connection *conn,
                                      const char *method, const char *url)
{
    struct request *r = xcalloc(1, sizeof *r);
    r->api = l->api;
    r->config = &l->api->config;
    r->listener = l;
    r->conn = conn;
    arena_init(&r->arena);
    r->method = arena_strdup(&r->arena, method);
    r->path = arena_strdup(&r->arena, url);
    r->now_us = clock_now(&r->config->clock);
    guid_new(r->request_id);
    guid_new(r->correlation_id);
    l->api->under_way++;
    return r;
}

static void request_destroy(struct request *r)
{
    if (!r)
        return;
    r->api->under_way--;
    if (r->response)
        MHD_destroy_response(r->response);
    json_decref(r->body);
    strbuf_free(&r->raw);
    arena_free(&r->arena);
    free(r);
}

int request_send(struct request *r)
{
    assert(r->response);
    struct MHD_Response *resp = r->response;
    r->response = NULL;
    if (r->api->stopping)
        MHD_add_response_header(resp, "Connection", "close");
    enum MHD_Result ok = MHD_queue_response(r->conn, (unsigned)r->status, resp);
    MHD_destroy_response(resp);
    return (int)ok;
}

static void resume(struct request *r)
{
    r->finished = true;
    r->listener->dirty = true;
    r->api->suspended--;
    MHD_resume_connection(r->conn);
}

static void on_durable(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    if (why) {
        struct replied *done = reply_err(r, why);
        (void)done;
    }
    resume(r);
}

/* The reply is prepared; nothing may leave before the disk has what was written. */
static void finish_when_durable(struct request *r)
{
    st_when_durable(r->config->storage, on_durable, r);
}

void request_finish(struct request *r, struct replied *token)
{
    (void)token;
    assert(r->later && r->response);
    if (st_has_pending(r->config->storage))
        finish_when_durable(r);
    else
        resume(r);
}

static enum MHD_Result respond(struct request *r)
{
    if (r->early.code) {
        struct replied *done = reply_err(r, &r->early);
        (void)done;
        return (enum MHD_Result)request_send(r);
    }
    struct replied *token = router_dispatch(r);
    (void)token;
    assert(r->later || r->response);
    if (!r->later && !st_has_pending(r->config->storage))
        return (enum MHD_Result)request_send(r);
    MHD_suspend_connection(r->conn);
    r->api->suspended++;
    if (!r->later)
        finish_when_durable(r);
    return MHD_YES;
}

static void take_body(struct request *r, const char *data, size_t size)
{
    if (r->early.code)
        return;
    if (r->raw.len + size > REQUEST_BODY_MAX) {
        err_set(&r->early, ERR_BODY_TOO_LARGE, NULL,
                "The request body is larger than %d bytes (4 MiB).", REQUEST_BODY_MAX);
        return;
    }
    strbuf_add(&r->raw, data, size);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    (void)version;
    struct listener *l = ctx;
    struct request *r = *state;
    if (!r) {
        *state = request_create(l, conn, method, url);
        return MHD_YES;
    }
    if (r->finished)
        return (enum MHD_Result)request_send(r);
    if (*size) {
        take_body(r, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return respond(r);
}

static void log_request(const struct request *r)
{
    LOG_DEBUG(r->config->log, "request.done", LF_STR("method", r->method), LF_STR("path", r->path),
              LF_STR("operation", r->route ? r->route->operation_id : NULL),
              LF_STR("version", r->version_name), LF_INT("status", r->status),
              LF_INT("us", clock_now(&r->config->clock) - r->now_us),
              LF_STR("req", r->correlation_id));
}

static void on_completed(void *ctx, struct MHD_Connection *conn, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)ctx, (void)conn, (void)code;
    if (*state)
        log_request(*state);
    request_destroy(*state);
    *state = NULL;
}

/* Paths and queries are decoded by us, segment by segment, so that %2F stays inside a segment. */
static size_t keep_escaped(void *ctx, struct MHD_Connection *conn, char *s)
{
    (void)ctx, (void)conn;
    return strlen(s);
}

static void on_timer(uv_timer_t *t);
static void on_idle(uv_idle_t *i);

/* "At once" is an idle handle, not a timer of 0 ms: libuv runs a timer that its own callback arms
 * again for now in the same pass, and would never come to the turn's hooks. */
static void pump(struct listener *l)
{
    l->dirty = false;
    MHD_run(l->mhd);
    unsigned long long ms = 0;
    if (MHD_get_timeout(l->mhd, &ms) != MHD_YES)
        return;
    if (ms == 0)
        uv_idle_start(&l->idle, on_idle);
    else
        uv_timer_start(&l->timer, on_timer, ms, 0);
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

/* Runs inside the turn's hook, after its commit: if new requests came in and wrote, the loop must
 * turn once more before it sleeps. */
static void pump_in_turn(struct listener *l)
{
    pump(l);
    if (st_has_pending(l->api->config.storage))
        uv_idle_start(&l->idle, on_idle);
}

void api_turn(struct api *api)
{
    for (int i = 0; i < api->n_listeners; i++)
        if (api->listener[i].dirty)
            pump_in_turn(&api->listener[i]);
}

static int start_mhd(struct listener *l, int fd, struct err *e)
{
    const struct api_config *c = &l->api->config;
    l->mhd = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TLS, 0, NULL, NULL, on_request, l,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_HTTPS_MEM_CERT, c->cert_pem,
        MHD_OPTION_HTTPS_MEM_KEY, c->key_pem, MHD_OPTION_HTTPS_PRIORITIES,
        "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1", MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTION_LIMIT, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    if (!l->mhd)
        return err_set(e, ERR_CONFIG, NULL, "the HTTPS server did not start (certificate or key?)");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(l->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    uv_poll_init(c->loop, &l->poll, info->epoll_fd);
    uv_timer_init(c->loop, &l->timer);
    uv_idle_init(c->loop, &l->idle);
    l->poll.data = l->timer.data = l->idle.data = l;
    l->open_handles = 3;
    uv_poll_start(&l->poll, UV_READABLE, on_poll);
    return 0;
}

static int open_listener(struct api *api, const struct listen_socket *s, struct err *e)
{
    struct listener *l = &api->listener[api->n_listeners];
    l->api = api;
    l->port = s->port;
    if (start_mhd(l, s->fd, e) < 0)
        return -1;
    if (api->n_listeners++ == 0)
        snprintf(api->endpoint, sizeof api->endpoint, "https://%s:%d", s->url_host, s->port);
    LOG_INFO(api->config.log, "api.listening", LF_STR("address", s->url_host),
             LF_INT("port", s->port));
    return 0;
}

const char *api_endpoint(const struct api *api)
{
    return api->endpoint;
}

static void api_destroy(struct api *api)
{
    token_cache_destroy(api->tokens);
    void (*cb)(void *) = api->stopped;
    void *ctx = api->stopped_ctx;
    free(api);
    cb(ctx);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct listener *l = h->data;
    struct api *api = l->api;
    if (--l->open_handles == 0)
        MHD_stop_daemon(l->mhd);
    if (--api->closing_handles == 0)
        api_destroy(api);
}

/* Replies under way are sent, then all connections are closed. A client that does not finish its
 * request, or does not read its reply, is waited for STOP_GRACE_MS at most, and so is a node.
 * libmicrohttpd must not stop before all suspended requests were resumed; then they wait for the
 * disk or the pool only. */
static void close_when_quiet(uv_timer_t *t)
{
    struct api *api = t->data;
    bool patient = uv_now(api->config.loop) < api->stop_by_ms;
    if (!patient)
        sched_end_looks(api->config.sched);
    api_turn(api); /* after all that resumes: nothing may be pumped once the handles are closed */
    if (api->suspended > 0 || (api->under_way > 0 && patient)) {
        uv_timer_start(t, close_when_quiet, 2, 0);
        return;
    }
    api->closing_handles = 1;
    for (int i = 0; i < api->n_listeners; i++) {
        struct listener *l = &api->listener[i];
        uv_poll_stop(&l->poll);
        api->closing_handles += l->open_handles;
        uv_close((uv_handle_t *)&l->poll, on_handle_closed);
        uv_close((uv_handle_t *)&l->idle, on_handle_closed);
        uv_close((uv_handle_t *)&l->timer, on_handle_closed);
    }
    uv_close((uv_handle_t *)t, (uv_close_cb)free);
    if (--api->closing_handles == 0)
        api_destroy(api);
}

void api_stop(struct api *api, void (*cb)(void *ctx), void *ctx)
{
    api->stopping = true;
    api->stopped = cb;
    api->stopped_ctx = ctx;
    api->stop_by_ms = uv_now(api->config.loop) + STOP_GRACE_MS;
    for (int i = 0; i < api->n_listeners; i++) {
        MHD_socket fd = MHD_quiesce_daemon(api->listener[i].mhd);
        if (fd != MHD_INVALID_SOCKET)
            listen_close(fd);
    }
    uv_timer_t *t = xcalloc(1, sizeof *t);
    uv_timer_init(api->config.loop, t);
    t->data = api;
    uv_timer_start(t, close_when_quiet, 1, 0);
}

static void on_given_up(void *ctx)
{
    (void)ctx;
}

/* The handles that are open already are closed as the loop turns. The first socket, which could not
 * be served, is libmicrohttpd's: after some failures it has closed it, after others it has not. */
static void give_up(struct api *api, const struct listen_socket *rest, size_t n)
{
    for (size_t i = 1; i < n; i++)
        listen_close(rest[i].fd);
    api_stop(api, on_given_up, NULL);
}

int api_create(const struct api_config *c, struct api **out, struct err *e)
{
    struct listen_socket sockets[API_LISTENERS_MAX];
    size_t n = 0;
    if (listen_open(c->listen, c->n_listen, sockets, API_LISTENERS_MAX, &n, e) < 0)
        return -1;
    struct api *api = xcalloc(1, sizeof *api);
    api->config = *c;
    api->tokens = token_cache_create();
    for (size_t i = 0; i < n; i++)
        if (open_listener(api, &sockets[i], e) < 0) {
            give_up(api, &sockets[i], n - i);
            return -1;
        }
    *out = api;
    return 0;
}
