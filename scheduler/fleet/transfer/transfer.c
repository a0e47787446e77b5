/* SPDX-License-Identifier: MIT
 *
 * The part of transfers that runs on the loop: requests to transfers, their results, and what the
 * answers of other servers mean.
 */
#include "scheduler/fleet/transfer/transfer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/header.h"
#include "scheduler/fleet/transfer/transfer_priv.h"

#define STOP_US INT64_C(5000000)
/* The most answers that wait for the thread that reads them. */
#define ANSWERS_MAX 10000

/* --- the loop ----------------------------------------------------------------------------------
 */

static void hear_read(struct transfer *t, transfer_read_cb cb)
{
    struct transfer_got got = {.end = t->over, .status = t->status};
    if (t->why.code) {
        cb(t->ctx, &t->why, &got);
        return;
    }
    got.n = t->in.len;
    got.bytes = strbuf_take(&t->in);
    cb(t->ctx, NULL, &got);
    free(got.bytes);
}

/* Passes the result to the callback, which may end the transfer. */
static void hear(struct transfer *t)
{
    struct transfers *tr = t->tr;
    enum transfer_asked asked = t->wish.asked;
    pthread_mutex_lock(&tr->lock);
    t->is_told = false;
    free(t->wish.out);
    t->wish = (struct transfer_wish){.asked = ASKED_NOTHING};
    transfer_step(t, TRANSFER_HEAR);
    bool gone = t->state == TRANSFER_GONE;
    pthread_mutex_unlock(&tr->lock);
    if (gone)
        return;
    if (asked == ASKED_READ)
        hear_read(t, t->cb.read);
    else
        t->cb.write(t->ctx, t->why.code ? &t->why : NULL);
}

static void on_closed(void *ctx)
{
    struct transfers *tr = ctx;
    void (*stopped)(void *) = tr->stopped;
    void *stopped_ctx = tr->stopped_ctx;
    if (tr->loaded) {
        tr->lib.curl_multi_cleanup(tr->multi);
        tr->lib.curl_global_cleanup();
    }
    pthread_mutex_destroy(&tr->lock);
    free(tr->ca_file);
    free(tr->own);
    free(tr);
    stopped(stopped_ctx);
}

static void on_driven(void *ctx, enum loop_work_end how);

static void send_out(struct transfers *tr)
{
    pthread_mutex_lock(&tr->lock);
    tr->out = true;
    pthread_mutex_unlock(&tr->lock);
    tr->driven = loop_work(tr->lane, transfers_drive, on_driven, tr);
    assert(tr->driven); /* loop_work() must accept the work: it is the only one, and the lane is
                           open */
}

static void on_lane_closed(void *ctx)
{
    struct transfers *tr = ctx;
    loop_lane_close(tr->reading, LOOP_LANE_FINISH, STOP_US, on_closed, tr);
}

static void close_lane(struct transfers *tr)
{
    loop_lane_close(tr->lane, LOOP_LANE_FINISH, STOP_US, on_lane_closed, tr);
}

/* The thread has returned. It is started again after the callbacks, so that nothing here is shared
 * with it meanwhile. */
static void on_driven(void *ctx, enum loop_work_end how)
{
    struct transfers *tr = ctx;
    (void)how; /* this work is never dropped */
    for (struct transfer *t; (t = tr->told);) {
        tr->told = t->next_told;
        hear(t);
    }
    bool more = tr->queue != NULL;
    for (struct transfer *t = tr->active; t && !more; t = t->next_active)
        more = t->runs && !tr->closing;
    tr->driven = false;
    if (more)
        send_out(tr);
    else if (tr->closing)
        close_lane(tr);
}

static void hand_over(struct transfer *t, enum transfer_event event)
{
    struct transfers *tr = t->tr;
    pthread_mutex_lock(&tr->lock);
    if (!t->is_queued) {
        t->is_queued = true;
        t->next_queued = NULL;
        *tr->queue_end = t;
        tr->queue_end = &t->next_queued;
    }
    transfer_step(t, event);
    if (tr->waiting)
        tr->lib.curl_multi_wakeup(tr->waiting);
    pthread_mutex_unlock(&tr->lock);
    if (!tr->driven)
        send_out(tr);
}

/* A transfer with an invalid header fails before it connects. */
static void check_lines(struct transfer *t)
{
    for (size_t i = 0; i < t->n_lines; i++)
        if (!header_line_ok(t->lines[i]))
            t->over = true;
    if (t->over)
        err_set(&t->why, ERR_IO, NULL, "one of its headers is invalid");
}

struct transfer *transfer_begin(struct transfers *tr, const struct transfer_ask *ask)
{
    struct transfer *t = xcalloc(1, sizeof *t);
    *t = (struct transfer){.tr = tr,
                           .url = xstrdup(ask->url),
                           .put = ask->put,
                           .own = ask->own,
                           .length = ask->length,
                           .begin_us = transfer_now_us() + ask->delay_us,
                           .silent_us = tr->silent_us + ask->work_us,
                           .lines = xcalloc(ask->n_headers + 1, sizeof *t->lines)};
    for (size_t i = 0; i < ask->n_headers; i++)
        t->lines[t->n_lines++] = xstrdup(ask->headers[i]);
    check_lines(t);
    if (ask->put) /* disables "Expect: 100-continue": the body is sent without waiting for
                     permission */
        t->lines[t->n_lines++] = xstrdup("Expect:");
    return t;
}

/* A new request while a callback is pending is a bug: the thread may be reading the request. */
static void ask(struct transfer *t, const struct transfer_wish *wish, void *ctx)
{
    assert(t->wish.asked == ASKED_NOTHING);
    t->wish = *wish;
    t->ctx = ctx;
    hand_over(t, TRANSFER_ASK);
}

void transfer_read(struct transfer *t, size_t max, transfer_read_cb cb, void *ctx)
{
    const struct transfer_wish wish = {.asked = ASKED_READ, .max = max};
    assert(max >= TRANSFER_CHUNK_MAX);
    t->cb.read = cb;
    ask(t, &wish, ctx);
}

void transfer_write(struct transfer *t, char *bytes, size_t n, transfer_write_cb cb, void *ctx)
{
    const struct transfer_wish wish = {.asked = ASKED_WRITE, .out = bytes, .n_out = n};
    assert(t->put);
    t->cb.write = cb;
    ask(t, &wish, ctx);
}

void transfer_end(struct transfer *t)
{
    hand_over(t, TRANSFER_END);
}

/* --- begin and end ------------------------------------------------------------------------------
 */

struct transfers *transfers_create(const struct transfers_config *c)
{
    struct transfers *tr = xcalloc(1, sizeof *tr);
    *tr = (struct transfers){.loop = c->loop,
                             .loop_thread = pthread_self(),
                             .silent_us = c->silent_s * INT64_C(1000000),
                             .ca_file = xstrdup(c->ca_file ? c->ca_file : "")};
    tr->queue_end = &tr->queue;
    pthread_mutex_init(&tr->lock, NULL);
    tr->lane = loop_lane_create(c->loop, "transfers", 1, 1);
    tr->reading = loop_lane_create(c->loop, "answers", 1, ANSWERS_MAX);
    return tr;
}

bool transfers_work(struct transfers *tr, loop_fn work, loop_work_done done, void *ctx)
{
    return loop_work(tr->reading, work, done, ctx);
}

void transfers_set_own(struct transfers *tr, const char *url)
{
    struct strbuf to = STRBUF_INIT;
    const char *host = strstr(url, "://");
    strbuf_printf(&to, "::%s", host ? host + 3 : url);
    pthread_mutex_lock(&tr->lock);
    free(tr->own);
    tr->own = strbuf_take(&to);
    pthread_mutex_unlock(&tr->lock);
}

void transfers_stop(struct transfers *tr, void (*stopped)(void *ctx), void *ctx)
{
    tr->stopped = stopped;
    tr->stopped_ctx = ctx;
    pthread_mutex_lock(&tr->lock);
    tr->closing = true;
    if (tr->waiting)
        tr->lib.curl_multi_wakeup(tr->waiting);
    pthread_mutex_unlock(&tr->lock);
    if (!tr->driven)
        close_lane(tr);
}

/* --- answers of other servers ----------------------------------------------------------------- */

#define CODE_MAX 64

bool transfer_may_pass(long status)
{
    return status == 408 || status == 429 || status >= 500;
}

/* Finds "<Code>ContainerNotFound</Code>" of storage services. False: there is no code, or it has
 * characters other than letters. */
static bool find_code(const char *body, size_t n, char out[CODE_MAX])
{
    static const char begin[] = "<Code>";
    const char *at = n > 0 ? memmem(body, n, begin, sizeof begin - 1) : NULL;
    size_t len = 0;
    if (!at)
        return false;
    at += sizeof begin - 1;
    size_t left = n - (size_t)(at - body);
    while (len < left && len < CODE_MAX - 1 &&
           ((at[len] >= 'A' && at[len] <= 'Z') || (at[len] >= 'a' && at[len] <= 'z')))
        len++;
    memcpy(out, at, len);
    out[len] = '\0';
    return len > 0 && len < left && at[len] == '<';
}

int transfer_refused(long status, const char *body, size_t n, struct err *e)
{
    char code[CODE_MAX];
    int kind = status == 404                    ? ERR_FILE_NOT_FOUND
               : status == 401 || status == 403 ? ERR_FORBIDDEN
                                                : ERR_IO;
    if (find_code(body, n, code))
        return err_set(e, kind, NULL, "it answered with status %ld (%s)", status, code);
    return err_set(e, kind, NULL, "it answered with status %ld", status);
}

const char *transfer_shown(struct arena *a, const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t n = strcspn(host, "?#"), authority = strcspn(host, "/?#");
    const char *user = memchr(host, '@', authority);
    const char *from = user ? user + 1 : host;
    return arena_concat(a, arena_strndup(a, url, (size_t)(host - url)),
                        arena_strndup(a, from, n - (size_t)(from - host)));
}
