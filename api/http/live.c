/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd requests bytes; if there are none, the connection is suspended until the next push.
 * libmicrohttpd does not notice that the client of a suspended connection disconnects, so the loop
 * watches the socket for this. Memory: struct live belongs to the reply; it is freed after the end
 * of the reply, when the loop has closed its handle.
 */
#include "api/http/live.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/connections.h"
#include "api/http/http_priv.h"

/* The most bytes that libmicrohttpd requests at a time. */
#define BLOCK (16 * 1024)

struct live {
    struct live *next, **prev; /* in the server's list */
    struct engine *engine;
    struct MHD_Connection *conn;
    struct connection *connection;
    const struct live_events *events;
    void *ctx;
    struct live_text *text; /* NULL: the client has taken everything */
    size_t taken;           /* bytes of `text` */
    uv_poll_t poll;
    bool suspended, has_poll, released;
    bool ending; /* the reply ends after `text` */
    bool gone;   /* the client has disconnected */
};

/* --- texts --------------------------------------------------------------------------------------
 */

struct live_text *live_text_new(struct strbuf *b)
{
    struct live_text *t = xcalloc(1, sizeof *t);
    t->refs = 1;
    t->n = b->len;
    t->bytes = strbuf_take(b);
    return t;
}

void live_text_drop(struct live_text *t)
{
    assert(!t || t->refs > 0);
    if (!t || --t->refs > 0)
        return;
    free(t->bytes);
    free(t);
}

/* --- the reply ----------------------------------------------------------------------------------
 */

static void free_if_over(struct live *l)
{
    if (!l->released || l->has_poll)
        return;
    live_text_drop(l->text);
    free(l);
}

static void on_poll_closed(uv_handle_t *h)
{
    struct live *l = h->data;
    l->has_poll = false;
    free_if_over(l);
}

/* The reply has ended; libmicrohttpd closes the socket only after this call. */
static void on_released(void *ctx)
{
    struct live *l = ctx;
    *l->prev = l->next;
    if (l->next)
        l->next->prev = l->prev;
    l->released = true;
    uv_poll_stop(&l->poll);
    uv_close((uv_handle_t *)&l->poll, on_poll_closed);
    l->events->closed(l->ctx);
}

static void resume(struct live *l)
{
    if (!l->suspended)
        return;
    assert(l->engine->api->suspended > 0);
    l->suspended = false;
    l->engine->dirty = true;
    l->engine->api->suspended--;
    MHD_resume_connection(l->conn);
}

static ssize_t take(struct live *l, char *buf, size_t max)
{
    size_t left = l->text->n - l->taken, n = left < max ? left : max;
    memcpy(buf, l->text->bytes + l->taken, n);
    l->taken += n;
    if (l->taken == l->text->n) {
        live_text_drop(l->text);
        l->text = NULL;
    }
    return (ssize_t)n;
}

static ssize_t on_read(void *ctx, uint64_t pos, char *buf, size_t max)
{
    struct live *l = ctx;
    (void)pos; /* bytes are sent only in order */
    if (l->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (l->text)
        return take(l, buf, max);
    if (l->ending)
        return MHD_CONTENT_READER_END_OF_STREAM;
    l->suspended = true;
    l->engine->api->suspended++;
    MHD_suspend_connection(l->conn);
    l->events->ready(l->ctx);
    return 0;
}

/* The client has disconnected. A client that has only shut down its sending side counts as
 * disconnected, too: no client of such replies does that and continues to read. */
static void on_left(uv_poll_t *p, int status, int events)
{
    struct live *l = p->data;
    (void)status, (void)events;
    uv_poll_stop(p);
    l->gone = true;
    resume(l);
}

/* Watches libmicrohttpd's socket for the end of the client. It is the client's own socket, or one
 * end of a relay's socket pair, which the relay shuts down when the client disconnects. */
static int watch(struct live *l, struct err *e)
{
    int fd = MHD_get_connection_info(l->conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    int rc = uv_poll_init(l->engine->api->config.loop, &l->poll, fd);
    if (rc < 0)
        return err_set(e, ERR_INTERNAL, NULL, "The connection cannot be watched: %s.",
                       uv_strerror(rc));
    l->poll.data = l;
    l->has_poll = true;
    uv_poll_start(&l->poll, UV_DISCONNECT, on_left);
    return 0;
}

static void add(struct api *api, struct live *l)
{
    l->next = api->lives;
    l->prev = &api->lives;
    if (l->next)
        l->next->prev = &l->next;
    api->lives = l;
}

struct replied *reply_live(struct request *r, const char *content_type, struct live_text *first,
                           const struct live_events *events, void *ctx, struct live **out,
                           struct err *e)
{
    if (r->inner || !r->connection) {
        live_text_drop(first);
        err_set(e, ERR_NOT_SUPPORTED, NULL, "A reply without an end cannot be a part of another.");
        return NULL;
    }
    struct live *l = xcalloc(1, sizeof *l);
    *l = (struct live){.engine = r->engine,
                       .conn = r->conn,
                       .connection = r->connection,
                       .events = events,
                       .ctx = ctx,
                       .text = first,
                       .ending = r->api->stopping};
    if (watch(l, e) < 0) {
        live_text_drop(first);
        free(l);
        return NULL;
    }
    add(r->api, l);
    connection_streams(r->connection);
    *out = l;
    return reply_response(
        r, 200, content_type,
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, l, on_released));
}

size_t live_most(const struct request *r)
{
    return r->connection ? (size_t)connection_most(r->connection) / 4 : 0;
}

/* --- pushing ------------------------------------------------------------------------------------
 */

bool live_is_ready(const struct live *l)
{
    return l->suspended && !l->gone && !l->ending;
}

static void send_text(struct live *l, struct live_text *t)
{
    t->refs++;
    l->text = t;
    l->taken = 0;
}

void live_push(struct live *l, struct live_text *t)
{
    assert(live_is_ready(l) && !l->text && t->n > 0);
    send_text(l, t);
    resume(l);
}

/* Also breaks off a reply that has not begun. */
void live_end(struct live *l, struct live_text *last)
{
    bool ready = live_is_ready(l);
    l->ending = true;
    if (ready && last)
        send_text(l, last);
    if (ready)
        resume(l);
    else
        connection_hang_up(l->connection);
}

void live_hurry(struct api *api)
{
    for (struct live *l = api->lives, *next; l; l = next) {
        next = l->next; /* libmicrohttpd ends it later */
        live_end(l, NULL);
    }
}
