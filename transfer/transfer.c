/* SPDX-License-Identifier: MIT
 *
 * The loop hands transfers over in `queue`, under the lock; the thread takes them into `active` and
 * is the only one that touches their curl handles. It returns with those that have something to
 * tell (`told`), and is sent out again, once their callbacks have run, as long as one is asked for.
 * While it is out, all that a transfer has is the thread's, but for its callback and for what is
 * under the lock.
 */
#include "transfer/transfer.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/strbuf.h"
#include "transfer/curl_functions.h"

#define TURN_MS       200 /* the thread looks at what is silent this often */
#define REDIRECTS_MAX 5L
#define STOP_US       INT64_C(5000000)
/* What libcurl hands over at once, at most. */
#define CHUNK_MAX ((size_t)CURL_MAX_WRITE_SIZE)

enum asked { ASKED_NOTHING, ASKED_READ, ASKED_WRITE };

struct wish {
    enum asked asked;
    size_t max; /* to read */
    char *out;  /* to write; owned */
    size_t n_out;
};

struct transfer {
    struct transfers *tr;
    struct transfer *next_queued, *next_active, *next_told;
    /* under the lock */
    bool queued, gone;
    struct wish wish; /* that the thread has not taken over yet */
    /* the loop's */
    union {
        transfer_read_cb read;
        transfer_write_cb write;
    } cb;
    void *ctx;
    bool busy;
    /* what it is */
    char *url;
    bool put, own;
    uint64_t length;
    char **lines;
    size_t n_lines;
    int64_t begin_us;  /* monotonic; not earlier */
    int64_t silent_us; /* so long without a byte ends it */
    /* under way: the thread's */
    CURL *curl; /* NULL: not begun */
    struct curl_slist *headers, *to;
    struct wish now;
    struct strbuf in;
    size_t out_at;
    bool paused, answered, over, is_told;
    int64_t moved_us; /* the last byte */
    struct err why;   /* code ERR_NONE: it went well so far */
    char trouble[CURL_ERROR_SIZE];
};

struct transfers {
    struct loop *loop;
    struct loop_lane *lane;
    int64_t silent_us;
    char *ca_file, *own; /* own: for CURLOPT_CONNECT_TO; NULL: not known */
    bool driven;         /* the thread is out */
    struct transfer *told;
    /* under the lock */
    pthread_mutex_t lock;
    struct transfer *queue, **queue_end;
    CURLM *waiting; /* to be woken; NULL: the thread does not wait */
    bool closing;
    /* the thread's */
    struct curl_functions lib;
    bool loaded;
    CURLM *multi;
    struct transfer *active;
    /* the end */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* The loop's clock is its thread's alone. */
static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- the thread: callbacks of libcurl --------------------------------------------------------- */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    n *= size;
    t->moved_us = now_us();
    t->answered = true;
    if (t->now.asked != ASKED_READ || t->in.len + n > t->now.max) {
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    strbuf_add(&t->in, bytes, n);
    return n;
}

static size_t on_room(char *room, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    size_t left = t->now.n_out - t->out_at;
    n *= size;
    t->moved_us = now_us();
    if (left == 0 && t->now.asked != ASKED_READ) {
        t->paused = true;
        return CURL_READFUNC_PAUSE;
    }
    if (n > left)
        n = left;
    if (n > 0)
        memcpy(room, t->now.out + t->out_at, n);
    t->out_at += n;
    return n;
}

/* --- the thread: one transfer ------------------------------------------------------------------
 */

static void set_trust(struct transfer *t)
{
    const struct transfers *tr = t->tr;
    const struct curl_functions *f = &tr->lib;
    if (!t->own)
        return;
    f->curl_easy_setopt(t->curl, CURLOPT_NOPROXY, "*");
    f->curl_easy_setopt(t->curl, CURLOPT_CAINFO, tr->ca_file);
    t->to = f->curl_slist_append(NULL, tr->own ? tr->own : "");
    f->curl_easy_setopt(t->curl, CURLOPT_CONNECT_TO, t->to);
}

static void start(struct transfer *t)
{
    struct transfers *tr = t->tr;
    const struct curl_functions *f = &tr->lib;
    CURL *c = t->curl = f->curl_easy_init();
    if (!c)
        abort();
    t->moved_us = now_us();
    for (size_t i = 0; i < t->n_lines; i++)
        t->headers = f->curl_slist_append(t->headers, t->lines[i]);
    f->curl_easy_setopt(c, CURLOPT_URL, t->url);
    f->curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    f->curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    f->curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    f->curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->trouble);
    f->curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(tr->silent_us / 1000));
    f->curl_easy_setopt(c, CURLOPT_USERAGENT, "batchaid/" BATCHAID_VERSION);
    f->curl_easy_setopt(c, CURLOPT_HTTPHEADER, t->headers);
    f->curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
    f->curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    set_trust(t);
    if (t->put) {
        f->curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        f->curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->length);
        f->curl_easy_setopt(c, CURLOPT_READFUNCTION, on_room);
        f->curl_easy_setopt(c, CURLOPT_READDATA, t);
    } else {
        f->curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
        f->curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
    }
    f->curl_multi_add_handle(tr->multi, c);
}

static void discard(struct transfer *t)
{
    const struct curl_functions *f = &t->tr->lib;
    if (t->curl) {
        f->curl_multi_remove_handle(t->tr->multi, t->curl);
        f->curl_easy_cleanup(t->curl);
        f->curl_slist_free_all(t->to);
        f->curl_slist_free_all(t->headers);
    }
    for (size_t i = 0; i < t->n_lines; i++)
        free(t->lines[i]);
    free(t->lines);
    free(t->url);
    free(t->now.out);
    free(t->wish.out);
    strbuf_free(&t->in);
    free(t);
}

static void fail(struct transfer *t, CURLcode rc)
{
    const struct transfers *tr = t->tr;
    if (rc == CURLE_OPERATION_TIMEDOUT)
        err_set(&t->why, ERR_UNAVAILABLE, NULL, "it did not answer within %lld seconds",
                (long long)(t->silent_us / 1000000));
    else
        err_set(&t->why, ERR_IO, NULL, "%s",
                *t->trouble ? t->trouble : tr->lib.curl_easy_strerror(rc));
}

static void check_silence(struct transfer *t, int64_t now)
{
    if (!t->over && t->curl && t->now.asked != ASKED_NOTHING && now - t->moved_us > t->silent_us) {
        t->over = true;
        fail(t, CURLE_OPERATION_TIMEDOUT);
    }
}

static bool is_ready(const struct transfer *t)
{
    if (t->now.asked == ASKED_NOTHING || t->is_told)
        return false;
    if (t->over)
        return true;
    if (t->now.asked == ASKED_WRITE) /* one that has refused reads no further */
        return t->answered || t->out_at == t->now.n_out;
    return t->in.len > 0 && t->in.len + CHUNK_MAX > t->now.max;
}

/* --- the thread: all of them -------------------------------------------------------------------
 */

static int load(struct transfers *tr, struct err *e)
{
    if (tr->loaded)
        return 0;
    if (curl_functions_load(&tr->lib, e) < 0)
        return -1;
    if (tr->lib.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        !(tr->multi = tr->lib.curl_multi_init()))
        return err_set(e, ERR_INTERNAL, NULL, "libcurl does not begin");
    tr->loaded = true;
    return 0;
}

static void remove_gone(struct transfers *tr)
{
    struct transfer **at = &tr->active;
    while (*at) {
        struct transfer *t = *at;
        pthread_mutex_lock(&tr->lock);
        bool gone = t->gone && !t->is_told;
        pthread_mutex_unlock(&tr->lock);
        if (gone) {
            *at = t->next_active;
            discard(t);
        } else {
            at = &t->next_active;
        }
    }
}

static bool is_active(const struct transfers *tr, const struct transfer *t)
{
    const struct transfer *x = tr->active;
    while (x && x != t)
        x = x->next_active;
    return x != NULL;
}

static void take_wish(struct transfer *t)
{
    if (t->wish.asked == ASKED_NOTHING)
        return;
    t->now = t->wish;
    t->wish = (struct wish){.asked = ASKED_NOTHING};
    t->out_at = 0;
    t->moved_us = now_us();
}

/* Takes over what the loop has asked for since. */
static void take_queue(struct transfers *tr)
{
    pthread_mutex_lock(&tr->lock);
    struct transfer *list = tr->queue;
    tr->queue = NULL;
    tr->queue_end = &tr->queue;
    for (struct transfer *t = list; t; t = t->next_queued) {
        t->queued = false;
        take_wish(t);
        if (!is_active(tr, t)) {
            t->next_active = tr->active;
            tr->active = t;
        }
    }
    pthread_mutex_unlock(&tr->lock);
    remove_gone(tr);
}

/* Those whose time has come begin; those that were paused go on if they have room again. */
static void go_on(struct transfers *tr, int64_t now)
{
    for (struct transfer *t = tr->active; t; t = t->next_active) {
        if (t->now.asked == ASKED_NOTHING || t->is_told || t->over)
            continue;
        if (!t->curl && now >= t->begin_us)
            start(t);
        if (t->curl && t->paused && !is_ready(t)) {
            t->paused = false;
            tr->lib.curl_easy_pause(t->curl, CURLPAUSE_CONT);
        }
    }
}

static void note_ends(struct transfers *tr)
{
    int left;
    for (CURLMsg *m; (m = tr->lib.curl_multi_info_read(tr->multi, &left));) {
        struct transfer *t = tr->active;
        while (t && t->curl != m->easy_handle)
            t = t->next_active;
        if (m->msg != CURLMSG_DONE || !t || t->over)
            continue;
        t->over = true;
        if (m->data.result != CURLE_OK)
            fail(t, m->data.result);
    }
}

/* True: the loop is to hear of some. */
static bool collect(struct transfers *tr, int64_t now)
{
    for (struct transfer *t = tr->active; t; t = t->next_active) {
        check_silence(t, now);
        if (!is_ready(t))
            continue;
        t->is_told = true;
        t->next_told = tr->told;
        tr->told = t;
    }
    return tr->told != NULL;
}

static bool is_wanted(struct transfers *tr)
{
    bool wanted = false;
    for (struct transfer *t = tr->active; t && !wanted; t = t->next_active)
        wanted = t->now.asked != ASKED_NOTHING;
    pthread_mutex_lock(&tr->lock);
    wanted = (wanted || tr->queue) && !tr->closing;
    tr->waiting = wanted ? tr->multi : NULL;
    pthread_mutex_unlock(&tr->lock);
    return wanted;
}

/* Nothing can be done: says so to all. */
static void fail_all(struct transfers *tr, const struct err *why)
{
    for (struct transfer *t = tr->active; t; t = t->next_active) {
        t->over = true;
        t->why = *why;
    }
    (void)collect(tr, 0);
}

static void drive(void *ctx)
{
    struct transfers *tr = ctx;
    struct err e;
    int running;
    bool good = load(tr, &e) == 0;
    for (;;) {
        take_queue(tr);
        if (!good) {
            fail_all(tr, &e);
            break;
        }
        go_on(tr, now_us());
        tr->lib.curl_multi_perform(tr->multi, &running);
        note_ends(tr);
        if (collect(tr, now_us()) || !is_wanted(tr))
            break;
        tr->lib.curl_multi_poll(tr->multi, NULL, 0, TURN_MS, NULL);
    }
    pthread_mutex_lock(&tr->lock);
    tr->waiting = NULL;
    pthread_mutex_unlock(&tr->lock);
}

/* --- the loop ----------------------------------------------------------------------------------
 */

static void tell_read(struct transfer *t, transfer_read_cb cb)
{
    struct transfer_got got = {.end = t->over};
    if (t->why.code) {
        cb(t->ctx, &t->why, &got);
        return;
    }
    t->tr->lib.curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &got.status);
    got.n = t->in.len;
    got.bytes = strbuf_take(&t->in);
    cb(t->ctx, NULL, &got);
    free(got.bytes);
}

static void tell(struct transfer *t)
{
    enum asked asked = t->now.asked;
    free(t->now.out);
    t->now = (struct wish){.asked = ASKED_NOTHING};
    t->is_told = false;
    t->busy = false;
    if (t->gone)
        return;
    if (asked == ASKED_READ)
        tell_read(t, t->cb.read);
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
    tr->driven = loop_work(tr->lane, drive, on_driven, tr);
    assert(tr->driven); /* there is one piece of work at most, and the lane is open */
}

static void close_lane(struct transfers *tr)
{
    loop_lane_close(tr->lane, LOOP_LANE_FINISH, STOP_US, on_closed, tr);
}

/* The thread has come back. It is sent out again after the callbacks, so that nothing here is
 * shared with it meanwhile. */
static void on_driven(void *ctx, enum loop_work_end how)
{
    struct transfers *tr = ctx;
    (void)how; /* it is never dropped */
    for (struct transfer *t; (t = tr->told);) {
        tr->told = t->next_told;
        tell(t);
    }
    bool more = tr->queue != NULL;
    for (struct transfer *t = tr->active; t && !more; t = t->next_active)
        more = t->gone || (t->now.asked != ASKED_NOTHING && !tr->closing);
    tr->driven = false;
    if (more)
        send_out(tr);
    else if (tr->closing)
        close_lane(tr);
}

static void hand_over(struct transfer *t, const struct wish *wish)
{
    struct transfers *tr = t->tr;
    pthread_mutex_lock(&tr->lock);
    if (wish)
        t->wish = *wish;
    else
        t->gone = true;
    if (!t->queued) {
        t->queued = true;
        t->next_queued = NULL;
        *tr->queue_end = t;
        tr->queue_end = &t->next_queued;
    }
    if (tr->waiting)
        tr->lib.curl_multi_wakeup(tr->waiting);
    pthread_mutex_unlock(&tr->lock);
    if (!tr->driven)
        send_out(tr);
}

struct transfer *transfer_begin(struct transfers *tr, const struct transfer_ask *ask)
{
    struct transfer *t = xcalloc(1, sizeof *t);
    *t = (struct transfer){.tr = tr,
                           .url = xstrdup(ask->url),
                           .put = ask->put,
                           .own = ask->own,
                           .length = ask->length,
                           .begin_us = now_us() + ask->delay_us,
                           .silent_us = tr->silent_us + ask->work_us,
                           .lines = xcalloc(ask->n_headers + 1, sizeof *t->lines)};
    for (size_t i = 0; i < ask->n_headers; i++)
        t->lines[t->n_lines++] = xstrdup(ask->headers[i]);
    if (ask->put) /* nobody waits for permission to send */
        t->lines[t->n_lines++] = xstrdup("Expect:");
    return t;
}

void transfer_read(struct transfer *t, size_t max, transfer_read_cb cb, void *ctx)
{
    const struct wish wish = {.asked = ASKED_READ, .max = max};
    assert(!t->busy && max >= CHUNK_MAX);
    t->busy = true;
    t->cb.read = cb;
    t->ctx = ctx;
    hand_over(t, &wish);
}

void transfer_write(struct transfer *t, char *bytes, size_t n, transfer_write_cb cb, void *ctx)
{
    const struct wish wish = {.asked = ASKED_WRITE, .out = bytes, .n_out = n};
    assert(!t->busy && t->put);
    t->busy = true;
    t->cb.write = cb;
    t->ctx = ctx;
    hand_over(t, &wish);
}

/* The thread frees it. */
void transfer_end(struct transfer *t)
{
    hand_over(t, NULL);
}

/* --- begin and end ------------------------------------------------------------------------------
 */

struct transfers *transfers_create(const struct transfers_config *c)
{
    struct transfers *tr = xcalloc(1, sizeof *tr);
    *tr = (struct transfers){.loop = c->loop,
                             .silent_us = c->silent_s * INT64_C(1000000),
                             .ca_file = xstrdup(c->ca_file ? c->ca_file : "")};
    tr->queue_end = &tr->queue;
    pthread_mutex_init(&tr->lock, NULL);
    tr->lane = loop_lane_create(c->loop, "transfers", 1, 1);
    return tr;
}

void transfers_set_own(struct transfers *tr, const char *url)
{
    struct strbuf to = STRBUF_INIT;
    const char *host = strstr(url, "://");
    strbuf_printf(&to, "::%s", host ? host + 3 : url);
    free(tr->own);
    tr->own = strbuf_take(&to);
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
