/* SPDX-License-Identifier: MIT
 *
 * Handles requests, from the listening sockets through an engine (listener.h, engine.h) to the
 * router and back. A struct request exists from libmicrohttpd's (MHD's) first call to its
 * completion callback, also while the request is suspended.
 *
 *     head -> reading -> dispatched -> [waiting for the pool] -> [waiting for the disk] -> sent
 *
 * The head (token, route, size) is checked before any byte of the body is kept. The rights are
 * checked again if the body is slow.
 */
#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "api/http/auth.h"
#include "api/http/body.h"
#include "api/http/connections.h"
#include "api/http/http_priv.h"
#include "api/http/listen.h"
#include "api/http/listener.h"
#include "api/http/relay.h"
#include "api/http/route_cache.h"
#include "api/http/router.h"
#include "lib/cache.h"

#define CONNECTION_LIMIT     (CONNECTIONS_MAX + 96) /* with connections that are being closed */
#define CONNECTION_TIMEOUT_S 120                    /* of an idle kept-alive connection */
/* Memory of each connection for URI, parameters, headers, and the head of the reply. */
#define CONNECTION_MEMORY (64 * 1024)
#define PATIENCE_MS       20000 /* for a head, or a slow body (connections.h) */
#define STOP_GRACE_MS     2000

static bool has_pending(const struct api_config *c)
{
    return c->disk.has_pending(c->disk.ctx);
}

int request_send(struct request *r)
{
    assert(r->response);
    watch_cut(r);
    struct MHD_Response *resp = r->response;
    r->response = NULL;
    counts_reply(r);
    if ((r->api->stopping || r->hang_up) && r->status != 101)
        MHD_add_response_header(resp, "Connection", "close");
    enum MHD_Result ok = MHD_queue_response(r->conn, (unsigned)r->status, resp);
    MHD_destroy_response(resp);
    return (int)ok;
}

static void resume(struct request *r)
{
    assert(r->response && !r->finished && r->api->suspended > 0);
    r->finished = true;
    r->engine->dirty = true;
    r->api->suspended--;
    MHD_resume_connection(r->conn);
}

/* `why`: all writes of the turn were rolled back, so the prepared reply is replaced by an error. */
static void on_durable(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    if (why) {
        r->n_headers = 0;
        struct replied *done = reply_err(r, why);
        (void)done;
    }
    resume(r);
}

/* Sends the prepared reply when everything written so far is on disk. */
static void finish_when_durable(struct request *r)
{
    r->config->disk.when_durable(r->config->disk.ctx, on_durable, r);
}

/* Finishes a suspended request whose reply is prepared. */
static void finish(struct request *r)
{
    if (has_pending(r->config))
        finish_when_durable(r);
    else
        resume(r);
}

void request_finish(struct request *r, struct replied *token)
{
    (void)token;
    assert(r->later && r->response && !r->finished);
    if (r->inner) {
        request_inner_finished(r);
        return;
    }
    if (r->delayed) {
        r->answered = true; /* go_on() sends the reply */
        return;
    }
    if (r->sink && !r->waiting) {
        r->answered = true; /* deliver() is called at the end of the body */
        body_more(r);
        return;
    }
    finish(r);
}

/* Counts and logs the time of a handler, or of a step of one, that began at `begun_ns` and has just
 * returned. */
static void note_time(struct api *api, const struct route *route, uint64_t begun_ns)
{
    uint64_t us = (uv_hrtime() - begun_ns) / 1000;
    if (us > api->counters.longest_us)
        api->counters.longest_us = us;
    if (us < LOOP_SLOW_US)
        return;
    api->counters.slow++;
    LOG_INFO(api->config.log, "loop.slow", LF_STR("work", "request"),
             LF_STR("method", route->method), LF_STR("route", route->path),
             LF_INT("ms", (int64_t)(us / 1000)));
}

/* Runs one step of one request; called once in each turn of the loop. */
static void on_again(uv_idle_t *i)
{
    struct api *api = i->data;
    struct request *r = api->first_again;
    assert(r && r->step); /* the idle handle is active only while the list has requests */
    api->first_again = r->next_again;
    if (!api->first_again) {
        api->end_again = &api->first_again;
        uv_idle_stop(i);
    }
    r->next_again = NULL;
    const struct route *route = r->route;
    uint64_t begun = uv_hrtime();
    const struct work_item *before = request_enter(r);
    r->step(r, r->step_ctx);
    work_leave(before);
    note_time(api, route, begun);
}

void request_again(struct request *r, void (*step)(struct request *r, void *ctx), void *ctx)
{
    struct api *api = r->api;
    assert(!r->next_again && api->end_again != &r->next_again); /* not in the list */
    r->step = step;
    r->step_ctx = ctx;
    *api->end_again = r;
    api->end_again = &r->next_again;
    uv_idle_start(&api->again, on_again);
}

static void suspend(struct request *r)
{
    assert(!r->finished && !r->starved);
    MHD_suspend_connection(r->conn);
    r->api->suspended++;
}

/* Called when the reply is prepared and the whole request has been read. */
static enum MHD_Result deliver(struct request *r)
{
    if (!has_pending(r->config))
        return (enum MHD_Result)request_send(r);
    r->api->counters.waited++;
    suspend(r);
    finish_when_durable(r);
    return MHD_YES;
}

static void refusal(struct request *r)
{
    r->api->counters.refused++;
    struct replied *done = watch_answers(r) ? watch_answer(r) : reply_err(r, &r->early);
    (void)done;
}

static enum MHD_Result refuse(struct request *r)
{
    refusal(r);
    return (enum MHD_Result)request_send(r);
}

/* Continues a request after the steps of other requests. */
static void dispatch_on(struct request *r, void *ctx)
{
    r->later = false;
    struct replied *token = router_dispatch(r);
    bool over = token && !r->later;
    r->later = true;
    if (over)
        request_finish(r, token);
    else if (!token)
        request_again(r, dispatch_on, ctx);
}

static void dispatch(struct request *r)
{
    if (router_dispatch(r))
        return;
    r->later = true;
    request_again(r, dispatch_on, NULL);
}

/* Continues a request that a test hook has delayed. A stream is finished later by its sink, another
 * request by a handler that replies later. */
static void go_on(struct request *r)
{
    bool streams = !r->early.code && (r->route->flags & ROUTE_STREAM);
    if (r->early.code) {
        refusal(r);
    } else if (!streams) {
        dispatch_on(r, NULL);
        return;
    } else if (!r->answered && !r->response) {
        if (r->sink)
            r->sink->end(r->sink->ctx);
        return;
    }
    finish(r);
}

static enum MHD_Result wait_for(struct request *r)
{
    r->later = r->waiting = true;
    work_open(&r->work);
    suspend(r);
    return MHD_YES;
}

/* Called when the body is complete, or when a handler that streams has replied to its head. */
static enum MHD_Result respond(struct request *r)
{
    if (!r->early.code && router_still_may(r, &r->early) == 0)
        err_clear(&r->early);
    if (watch_delays(r, go_on))
        return wait_for(r);
    if (!r->early.code && !(r->route->flags & ROUTE_STREAM))
        request_judge(r);
    if (r->early.code)
        return refuse(r);
    if (r->route->flags & ROUTE_STREAM) {
        if (r->sink && !r->answered)
            r->sink->end(r->sink->ctx);
    } else {
        uint64_t begun = uv_hrtime();
        dispatch(r);
        note_time(r->api, r->route, begun);
        r->engine->handled = true;
    }
    assert(r->later || r->response);
    return !r->later || r->answered ? deliver(r) : wait_for(r);
}

static struct connection *connection_of(struct MHD_Connection *conn)
{
    return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Called when the head has been read. If a reply is sent here, before the body, the connection is
 * closed after it. */
static enum MHD_Result begin(struct request *r)
{
    if (head_check(r, &r->early) == 0 && router_accept(r, &r->early) == 0)
        err_clear(&r->early);
    assert(r->early.code || (r->service && r->route));
    if (!r->early.code && (r->route->flags & ROUTE_STREAM))
        request_judge(r);
    if (!r->early.code)
        watch_begin(r);
    body_begin(r);
    if (r->early.code && r->hang_up)
        return refuse(r);
    if (!r->early.code && (r->route->flags & ROUTE_STREAM)) {
        struct replied *token = r->route->handler(r);
        (void)token;
        r->engine->handled = true;
        if (!r->later && body_hang_up(r))
            return respond(r);
    }
    return MHD_YES;
}

static enum MHD_Result take_on(struct request *r, const char *data, size_t *size)
{
    if (r->finished)
        return (enum MHD_Result)request_send(r);
    if (*size)
        return body_take(r, data, size) < 0 ? MHD_NO : MHD_YES;
    connection_busy(r->connection);
    return respond(r);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    (void)version;
    struct request *r = *state;
    bool begins = !r;
    if (begins) {
        struct connection *c = connection_of(conn);
        if (connection_refused(c))
            return MHD_NO;
        connection_busy(c);
        *state = r = request_create(ctx, conn, method, url);
        r->connection = c;
        r->door = connection_door(c);
    }
    const struct work_item *before = request_enter(r);
    enum MHD_Result rc = begins ? begin(r) : take_on(r, data, size);
    work_leave(before);
    return rc;
}

static void on_completed(void *ctx, struct MHD_Connection *conn, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)ctx, (void)code;
    if (!*state)
        return;
    request_log(*state);
    watch_end(*state);
    request_destroy(*state);
    *state = NULL;
    connection_idle(connection_of(conn));
}

/* Keeps libmicrohttpd from decoding paths and queries: the router decodes them segment by segment,
 * so that %2F stays inside a segment. */
static size_t keep_escaped(void *ctx, struct MHD_Connection *conn, char *s)
{
    (void)ctx, (void)conn;
    return strlen(s);
}

static void on_connection(void *ctx, struct MHD_Connection *conn, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct engine *x = ctx;
    (void)conn;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        connection_closed(*state);
        return;
    }
    assert(x->arriving);
    *state = x->arriving;
    x->arriving = NULL;
}

/* Passes a new connection to an engine. If MHD does not accept the socket, MHD itself closes it. */
static void on_arrival(void *ctx, const struct arrival *a)
{
    struct api *api = ctx;
    bool relayed = a->tls && relay_is_for(a->fd);
    struct engine *x = &api->engine[a->tls && !relayed ? ENGINE_TLS : ENGINE_PLAIN];
    int fd = relayed ? relay_open(api, a) : a->fd;
    x->arriving = a->connection;
    if (relayed && fd >= 0)
        connection_set_relayed(a->connection);
    if (fd >= 0)
        MHD_add_connection(x->mhd, fd, a->from, a->from_len);
    if (x->arriving)
        connection_closed(x->arriving);
    x->arriving = NULL;
    x->dirty = true;
}

static bool has_more(const struct engine *x)
{
    return has_pending(&x->api->config);
}

/* Called at the end of each turn of the loop, after its commit. */
void api_turn(struct api *api)
{
    for (int i = 0; i < API_ENGINES; i++)
        engine_turn(&api->engine[i], has_more);
}

/* The TLS session's user pointer is libmicrohttpd's connection. */
static int pick_certificate(gnutls_session_t tls, const gnutls_datum_t *authorities,
                            int n_authorities, const gnutls_pk_algorithm_t *algorithms,
                            int n_algorithms, gnutls_pcert_st **chain, unsigned *n,
                            gnutls_privkey_t *key)
{
    (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    server_pick_certificate(connection_owner(connection_of(gnutls_session_get_ptr(tls))), tls,
                            chain, n, key);
    return 0;
}

static int start_engine(struct api *api, enum api_engine which, struct err *e)
{
    const struct api_config *c = &api->config;
    struct engine *x = &api->engine[which];
    const struct MHD_OptionItem certificate[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)pick_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    x->api = api;
    x->tls = which == ENGINE_TLS;
    struct MHD_Daemon *mhd = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_NO_LISTEN_SOCKET |
            SINGLE_THREADED | (x->tls ? MHD_USE_TLS : 0),
        0, NULL, NULL, on_request, x, MHD_OPTION_ARRAY, x->tls ? certificate : none,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, x, MHD_OPTION_URI_LOG_CALLBACK, target_check, x,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTION_LIMIT, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    if (!mhd)
        return err_set(e, ERR_CONFIG, NULL, "the %s server did not start",
                       x->tls ? "HTTPS" : "HTTP");
    engine_start(x, mhd, c->loop);
    api->open_engines++;
    return 0;
}

const char *api_local_endpoint(const struct api *api)
{
    return api->local_endpoint;
}

const char *api_endpoint(const struct api *api)
{
    return api->endpoint;
}

static void api_free(void *arg)
{
    struct api *api = arg;
    cache_free(api->tokens);
    cache_free(api->routes);
    requests_free_spare(api);
    free(api->replies);
    void (*cb)(void *) = api->stopped;
    void *ctx = api->stopped_ctx;
    free(api);
    cb(ctx);
}

static void on_again_closed(uv_handle_t *h)
{
    struct api *api = h->data;
    connections_close(api->connections, api_free, api);
}

static void api_destroy(struct api *api)
{
    assert(api->under_way == 0 && api->suspended == 0 && api->held == 0 && api->held_open == 0);
    assert(!api->first_again && !api->starved && !api->senders && !api->relays && !api->lives);
    struct api_counters c = api_counters(api);
    LOG_DEBUG(
        api->config.log, "api.served", LF_INT("connections", (int64_t)c.connections),
        LF_INT("closed_by_daemon", (int64_t)c.hung_up), LF_INT("requests", (int64_t)c.requests),
        LF_INT("refused_at_once", (int64_t)c.refused), LF_INT("status_5xx", (int64_t)c.failed),
        LF_INT("waited_for_disk", (int64_t)c.waited), LF_INT("body_bytes", (int64_t)c.body_bytes));
    uv_close((uv_handle_t *)&api->again, on_again_closed);
}

static void on_engine_closed(struct engine *x)
{
    if (--x->api->open_engines == 0)
        api_destroy(x->api);
}

static void on_doors_closed(void *ctx)
{
    struct api *api = ctx;
    api->doors = NULL;
}

static void hurry(struct api *api)
{
    body_hurry(api);
    watch_hurry(api);
    if (api->config.hurry)
        api->config.hurry(api->config.hurry_ctx);
}

/* Waits until the replies under way are sent, then closes all connections. Waits at most
 * STOP_GRACE_MS for clients that do not finish their request or do not read their reply, and for
 * nodes and shares. libmicrohttpd must not be stopped before all suspended requests were resumed;
 * after STOP_GRACE_MS they wait only for the disk or the thread pool. */
static void close_when_quiet(uv_timer_t *t)
{
    struct api *api = t->data;
    bool patient = uv_now(api->config.loop) < api->stop_by_ms;
    if (!patient)
        hurry(api);
    if (api->under_way == 0 || !patient)
        relay_hurry(api);
    /* After all code that resumes requests, because engines cannot run after their handles are
     * closed. */
    api_turn(api);
    if (api->doors || api->suspended > 0 || (api->under_way > 0 && patient) || api->relays ||
        api->relays_closing > 0) {
        uv_timer_start(t, close_when_quiet, 2, 0);
        return;
    }
    uv_close((uv_handle_t *)t, (uv_close_cb)free);
    if (api->open_engines == 0)
        api_destroy(api);
    for (int i = 0; i < API_ENGINES; i++)
        if (api->engine[i].mhd)
            engine_close(&api->engine[i], on_engine_closed);
}

void api_stop(struct api *api, void (*cb)(void *ctx), void *ctx)
{
    assert(!api->stopping && cb);
    api->stopping = true;
    api->stopped = cb;
    api->stopped_ctx = ctx;
    api->stop_by_ms = uv_now(api->config.loop) + STOP_GRACE_MS;
    if (api->doors)
        doors_close(api->doors, on_doors_closed, api);
    upgrade_hurry(api);
    live_hurry(api);
    uv_timer_t *t = xcalloc(1, sizeof *t);
    uv_timer_init(api->config.loop, t);
    t->data = api;
    uv_timer_start(t, close_when_quiet, 1, 0);
}

static void on_given_up(void *ctx)
{
    (void)ctx;
}

/* The most client connections: half of the descriptors are reserved for agents, links and files. */
static int connections_max(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur / 2 > CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    return (int)(r.rlim_cur / 2);
}

static void name_endpoint(const struct listen_socket *s, char out[ENDPOINT_SIZE])
{
    snprintf(out, ENDPOINT_SIZE, "https://%.*s:%d", (int)sizeof s->url_host - 1, s->url_host,
             s->port);
}

static void open_doors(struct api *api, const struct listen_socket *sockets, size_t n)
{
    const struct doors_config dc = {.loop = api->config.loop,
                                    .log = api->config.log,
                                    .connections = api->connections,
                                    .arrived = on_arrival,
                                    .ctx = api};
    name_endpoint(&sockets[0], api->endpoint);
    name_endpoint(listen_local(sockets, n), api->local_endpoint);
    for (size_t i = 0; i < n; i++)
        LOG_INFO(api->config.log, "api.listening", LF_STR("address", sockets[i].url_host),
                 LF_INT("port", sockets[i].port), LF_STR("service", sockets[i].listen->service));
    api->doors = doors_open(&dc, sockets, n);
}

void api_change(struct api *api, const struct api_settings *settings)
{
    api->config.settings = *settings;
    cache_clear(api->routes);
}

int api_create(const struct api_config *c, struct api **out, struct err *e)
{
    struct listen_socket sockets[API_SOCKETS_MAX];
    size_t n = 0;
    if (listen_open(c->listen, c->n_listen, sockets, API_SOCKETS_MAX, &n, e) < 0)
        return -1;
    struct api *api = xcalloc(1, sizeof *api);
    api->config = *c;
    counts_begin(api);
    api->tokens = cache_new(&auth_tokens);
    api->routes = cache_new(&route_cache_kind);
    api->connections = connections_create(c->loop, api, PATIENCE_MS, connections_max());
    uv_idle_init(c->loop, &api->again);
    api->again.data = api;
    api->end_again = &api->first_again;
    if (start_engine(api, ENGINE_TLS, e) < 0 || start_engine(api, ENGINE_PLAIN, e) < 0) {
        for (size_t i = 0; i < n; i++)
            listen_close(sockets[i].fd);
        api_stop(api, on_given_up, NULL);
        return -1;
    }
    open_doors(api, sockets, n);
    *out = api;
    return 0;
}
