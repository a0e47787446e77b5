/* SPDX-License-Identifier: MIT
 *
 * The thread of all transfers: passes bytes from the loop to libcurl, and collects bytes for the
 * loop.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/version.h"
#include "scheduler/fleet/transfer/authorities.h"
#include "scheduler/fleet/transfer/transfer_priv.h"

/* ms; the period of the thread's checks for silent transfers */
#define TURN_MS       200
#define TURN_US       INT64_C(300000) /* us; a longer time between passes: a standstill */
#define REDIRECTS_MAX 5L

int64_t transfer_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- callbacks of libcurl --------------------------------------------------------- */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    n *= size;
    t->moved_us = transfer_now_us();
    t->answered = true;
    if (!t->runs || t->wish.asked != ASKED_READ || t->in.len + n > t->wish.max) {
        t->is_held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    strbuf_add(&t->in, bytes, n);
    return n;
}

static size_t on_room(char *room, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    struct transfer_wish *w = &t->wish;
    t->moved_us = transfer_now_us();
    if (t->runs && w->asked == ASKED_READ)
        return 0; /* the caller writes no more bytes */
    size_t left = t->runs ? w->n_out - w->out_at : 0;
    if (left == 0) {
        t->is_held = true;
        return CURL_READFUNC_PAUSE;
    }
    n = size * n < left ? size * n : left;
    memcpy(room, w->out + w->out_at, n);
    w->out_at += n;
    return n;
}

/* Called for each header line, and for trailers. Needed because libcurl treats an answer that
 * breaks off within its headers as a good answer without a body. */
static size_t on_line(char *line, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    n *= size;
    if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
        t->in_head = true;
    else if (n > 0 && (line[0] == '\r' || line[0] == '\n'))
        t->in_head = false;
    return n;
}

/* --- one transfer ------------------------------------------------------------------
 */

static void set_trust(struct transfer *t)
{
    struct transfers *tr = t->tr;
    const struct curl_functions *f = &tr->lib;
    const char *authorities = t->own ? NULL : authorities_file();
    if (authorities)
        f->curl_easy_setopt(t->curl, CURLOPT_CAINFO, authorities);
    if (!t->own)
        return;
    f->curl_easy_setopt(t->curl, CURLOPT_NOPROXY, "*");
    f->curl_easy_setopt(t->curl, CURLOPT_CAINFO, tr->ca_file);
    /* Otherwise libcurl would read the machine's other certificate authorities again for each
     * connection. */
    f->curl_easy_setopt(t->curl, CURLOPT_CAPATH, NULL);
    pthread_mutex_lock(&tr->lock);
    t->to = f->curl_slist_append(NULL, tr->own ? tr->own : "");
    pthread_mutex_unlock(&tr->lock);
    f->curl_easy_setopt(t->curl, CURLOPT_CONNECT_TO, t->to);
}

static void start(struct transfer *t)
{
    struct transfers *tr = t->tr;
    const struct curl_functions *f = &tr->lib;
    CURL *c = t->curl = f->curl_easy_init();
    if (!c)
        abort();
    t->moved_us = transfer_now_us();
    for (size_t i = 0; i < t->n_lines; i++)
        t->headers = f->curl_slist_append(t->headers, t->lines[i]);
    f->curl_easy_setopt(c, CURLOPT_URL, t->url);
    f->curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L); /* "a/./b" may be the name of a blob */
    f->curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    f->curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    f->curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Otherwise the end of this transfer would wait for a name server, and all other transfers with
     * it. */
    f->curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
#endif
    f->curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->trouble);
    f->curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(tr->silent_us / 1000));
    f->curl_easy_setopt(c, CURLOPT_USERAGENT, "batchaid/" BATCHAID_VERSION);
    f->curl_easy_setopt(c, CURLOPT_HTTPHEADER, t->headers);
    f->curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
    f->curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    f->curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_line);
    f->curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
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
    if (t->runs && t->curl && !t->over && now - t->moved_us > t->silent_us) {
        t->over = true;
        fail(t, CURLE_OPERATION_TIMEDOUT);
    }
}

static bool is_ready(const struct transfer *t)
{
    const struct transfer_wish *w = &t->wish;
    if (!t->runs || t->over)
        return t->runs;
    if (w->asked == ASKED_WRITE) /* a server that has answered already reads no more bytes */
        return t->answered || w->out_at == w->n_out;
    return t->in.len > 0 && t->in.len + TRANSFER_CHUNK_MAX > w->max;
}

/* Begins a requested transfer, or continues a held transfer that has room for bytes, or bytes to
 * send, again. */
static void go_on(struct transfer *t, int64_t now)
{
    if (!t->runs || t->over)
        return;
    if (!t->curl && now >= t->begin_us)
        start(t);
    if (!t->curl || !t->is_held || is_ready(t))
        return;
    t->is_held = false;
    CURLcode rc = t->tr->lib.curl_easy_pause(t->curl, CURLPAUSE_CONT);
    if (rc != CURLE_OK) {
        t->over = true;
        fail(t, rc);
    }
}

/* --- all transfers ---------------------------------------------------------------------------- */

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

static void add_active(struct transfer *t)
{
    struct transfers *tr = t->tr;
    if (t->is_active)
        return;
    t->is_active = true;
    t->next_active = tr->active;
    tr->active = t;
}

static void remove_active(struct transfer *t)
{
    struct transfer **at = &t->tr->active;
    while (*at != t) {
        assert(*at); /* a transfer in a list must be found there */
        at = &(*at)->next_active;
    }
    *at = t->next_active;
}

/* Takes one transfer from the queue. An ended transfer is added to *gone, and freed later, because
 * the loop may end other transfers at any moment. */
static void take(struct transfer *t, struct transfer **gone)
{
    t->is_queued = false;
    if (t->state == TRANSFER_GONE) {
        transfer_step(t, TRANSFER_TAKE);
        t->next_queued = *gone;
        *gone = t;
        return;
    }
    add_active(t);
    transfer_step(t, TRANSFER_TAKE);
    t->runs = true;
    t->moved_us = transfer_now_us();
}

/* Takes over the requests of the loop since the last call. */
static void take_queue(struct transfers *tr)
{
    struct transfer *gone = NULL, *next;
    pthread_mutex_lock(&tr->lock);
    for (struct transfer *t = tr->queue; t; t = next) {
        next = t->next_queued;
        take(t, &gone);
    }
    tr->queue = NULL;
    tr->queue_end = &tr->queue;
    pthread_mutex_unlock(&tr->lock);
    for (; gone; gone = next) {
        next = gone->next_queued;
        if (gone->is_active)
            remove_active(gone);
        discard(gone);
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
        else if (t->in_head)
            err_set(&t->why, ERR_IO, NULL, "its answer breaks off in its head");
    }
}

static void tell(struct transfer *t)
{
    struct transfers *tr = t->tr;
    if (t->curl && !t->why.code)
        tr->lib.curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->status);
    pthread_mutex_lock(&tr->lock);
    if (t->state == TRANSFER_RUNNING) { /* otherwise the loop has ended the transfer meanwhile */
        t->runs = false;
        t->is_told = true;
        t->next_told = tr->told;
        tr->told = t;
        transfer_step(t, TRANSFER_TELL);
    }
    pthread_mutex_unlock(&tr->lock);
}

/* True: a transfer has a result, so the loop must be informed. */
static bool tell_all(struct transfers *tr)
{
    for (struct transfer *t = tr->active; t; t = t->next_active) {
        check_silence(t, tr->looked_us);
        if (is_ready(t))
            tell(t);
    }
    return tr->told != NULL;
}

/* Waits for the other servers, or for the loop. False: no transfer has a request, or all transfers
 * are being stopped. */
static bool wait_on(struct transfers *tr)
{
    bool runs = false;
    for (struct transfer *t = tr->active; t && !runs; t = t->next_active)
        runs = t->runs;
    pthread_mutex_lock(&tr->lock);
    bool queued = tr->queue != NULL, wanted = (runs || queued) && !tr->closing;
    bool waits = wanted && !queued;
    tr->waiting = waits ? tr->multi : NULL;
    pthread_mutex_unlock(&tr->lock);
    if (waits)
        tr->lib.curl_multi_poll(tr->multi, NULL, 0, TURN_MS, NULL);
    return wanted;
}

/* Does not count the time in which the thread did not run, or the machine stood still, as silence
 * of a server. */
static void forgive(struct transfers *tr, int64_t now)
{
    int64_t away = now - tr->looked_us - TURN_US;
    for (struct transfer *t = away > 0 ? tr->active : NULL; t; t = t->next_active)
        t->moved_us = t->moved_us + away < now ? t->moved_us + away : now;
}

static void turn(struct transfers *tr)
{
    int running;
    int64_t now = transfer_now_us();
    forgive(tr, now);
    tr->looked_us = now; /* a standstill within this pass is not counted either */
    for (struct transfer *t = tr->active; t; t = t->next_active)
        go_on(t, now);
    tr->lib.curl_multi_perform(tr->multi, &running);
    note_ends(tr);
}

/* libcurl is not usable: reports this to all transfers. */
static void fail_all(struct transfers *tr, const struct err *why)
{
    for (struct transfer *t = tr->active; t; t = t->next_active) {
        t->over = true;
        t->why = *why;
    }
}

void transfers_drive(void *ctx)
{
    struct transfers *tr = ctx;
    struct err e;
    bool good = load(tr, &e) == 0;
    do {
        take_queue(tr);
        if (good)
            turn(tr);
        else
            fail_all(tr, &e);
    } while (!tell_all(tr) && good && wait_on(tr));
    pthread_mutex_lock(&tr->lock);
    tr->waiting = NULL;
    tr->out = false;
    pthread_mutex_unlock(&tr->lock);
}
