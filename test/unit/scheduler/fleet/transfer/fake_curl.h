/* SPDX-License-Identifier: MIT
 *
 * A libcurl without a network: what the other end does stands in the URL, "fake:KIND,SIZE,SEED". It
 * calls back when, as often, and with as much as chance has it. It asserts what libcurl asks of its
 * users: one thread at a time, no call from inside a callback, no handle after its end. The program
 * that includes it has its own curl_functions_load(), so that nothing of libcurl is linked.
 */
#ifndef TEST_TRANSFER_FAKE_CURL_H
#define TEST_TRANSFER_FAKE_CURL_H

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scheduler/fleet/transfer/curl_functions.h"

/* What the other end does. */
enum peer {
    PEER_GOOD,
    PEER_AT_ONCE, /* all that there is room for, whenever it is asked */
    PEER_EARLY,   /* it ends in the middle: a GET's answer is shorter, a PUT is refused */
    PEER_BREAKS,  /* the connection ends in the middle */
    PEER_STALLS,  /* it is silent from the middle on */
    PEERS,
};

#define PEER_ANSWER  3000 /* bytes of the answer to a PUT */
#define PEER_TAKEN   201L
#define PEER_REFUSED 403L

/* What stands at `at` of all bytes with this seed, both ways. */
#define PEER_PERIOD 65521
static char peer_pattern[PEER_PERIOD];

__attribute__((constructor)) static void peer_begin(void)
{
    for (size_t i = 0; i < PEER_PERIOD; i++)
        peer_pattern[i] = (char)(i * 31 + i / 251);
}

static inline void peer_fill(char *out, unsigned seed, size_t at, size_t n)
{
    for (size_t done = 0, k; done < n; done += k) {
        size_t from = (seed + at + done) % PEER_PERIOD;
        k = n - done < PEER_PERIOD - from ? n - done : PEER_PERIOD - from;
        memcpy(out + done, peer_pattern + from, k);
    }
}

static inline bool peer_is(const char *bytes, unsigned seed, size_t at, size_t n)
{
    char *wanted = malloc(n + 1);
    assert(wanted);
    peer_fill(wanted, seed, at, n);
    bool same = n == 0 || memcmp(bytes, wanted, n) == 0;
    free(wanted);
    return same;
}

struct fake_easy {
    struct fake_easy *next;
    enum peer peer;
    size_t size;
    unsigned seed, chance; /* chance: of rand_r() */
    bool upload, added, held, over, told;
    CURLcode result;
    size_t at, middle, sent; /* at: of what it was sent, or sends; sent: of its answer to a PUT */
    bool answers;            /* a PUT's body is taken, or refused */
    long status;
    curl_write_callback on_bytes;
    curl_read_callback on_room;
    void *on_bytes_ctx, *on_room_ctx;
    CURLMsg msg;
};

struct fake_multi {
    struct fake_easy *first;
    pthread_mutex_t lock;
    pthread_cond_t wakes;
    bool woken;
    struct timespec performed; /* last */
};

static struct {
    atomic_int inside; /* threads in a call, which but for a wake-up is one at most */
    atomic_int easy;   /* handles that there are */
    atomic_int performed;
} fake_curl;

static inline void fake_enter(void)
{
    int before = atomic_fetch_add(&fake_curl.inside, 1);
    assert(before == 0);
}

static inline void fake_leave(void)
{
    atomic_fetch_sub(&fake_curl.inside, 1);
}

static inline size_t fake_chance(struct fake_easy *c, size_t below)
{
    return (size_t)rand_r(&c->chance) % below;
}

/* --- handles ---------------------------------------------------------------------------------- */

static CURL *fake_easy_init(void)
{
    struct fake_easy *c = calloc(1, sizeof *c);
    assert(c);
    atomic_fetch_add(&fake_curl.easy, 1);
    return c;
}

static void fake_easy_cleanup(CURL *curl)
{
    struct fake_easy *c = curl;
    fake_enter();
    assert(!c->added);
    if (fake_chance(c, 8) == 0)
        usleep(200); /* some take their time, in which the loop goes on */
    free(c);
    atomic_fetch_sub(&fake_curl.easy, 1);
    fake_leave();
}

static void fake_read_url(struct fake_easy *c, const char *url)
{
    int peer;
    int n = sscanf(url, "fake:%d,%zu,%u", &peer, &c->size, &c->seed);
    assert(n == 3 && peer >= 0 && peer < PEERS);
    c->peer = (enum peer)peer;
    c->chance = c->seed;
    c->middle = c->size > 0 ? fake_chance(c, c->size) : 0;
}

static CURLcode fake_easy_setopt(CURL *curl, CURLoption option, ...)
{
    struct fake_easy *c = curl;
    va_list args;
    va_start(args, option);
    if (option == CURLOPT_URL)
        fake_read_url(c, va_arg(args, const char *));
    else if (option == CURLOPT_UPLOAD)
        c->upload = va_arg(args, long) != 0;
    else if (option == CURLOPT_WRITEFUNCTION)
        c->on_bytes = va_arg(args, curl_write_callback);
    else if (option == CURLOPT_WRITEDATA)
        c->on_bytes_ctx = va_arg(args, void *);
    else if (option == CURLOPT_READFUNCTION)
        c->on_room = va_arg(args, curl_read_callback);
    else if (option == CURLOPT_READDATA)
        c->on_room_ctx = va_arg(args, void *);
    va_end(args);
    return CURLE_OK;
}

static CURLcode fake_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
    const struct fake_easy *c = curl;
    va_list args;
    assert(info == CURLINFO_RESPONSE_CODE);
    va_start(args, info);
    *va_arg(args, long *) = c->status;
    va_end(args);
    return CURLE_OK;
}

static const char *fake_easy_strerror(CURLcode rc)
{
    return rc == CURLE_OK ? "well" : "broken";
}

static struct curl_slist *fake_slist_append(struct curl_slist *list, const char *text)
{
    struct curl_slist *s = calloc(1, sizeof *s);
    assert(s);
    s->data = strdup(text);
    s->next = list;
    return s;
}

static void fake_slist_free_all(struct curl_slist *list)
{
    struct curl_slist *next;
    for (; list; list = next) {
        next = list->next;
        free(list->data);
        free(list);
    }
}

/* --- what the other end does ------------------------------------------------------------------ */

static void fake_end(struct fake_easy *c, CURLcode result)
{
    c->over = true;
    c->result = result;
}

/* Sends up to `upto` bytes of its body. True: it went on. */
static bool fake_send(struct fake_easy *c, size_t *at, size_t upto)
{
    char bytes[CURL_MAX_WRITE_SIZE];
    size_t n = upto - *at < sizeof bytes ? upto - *at : sizeof bytes;
    if (c->peer != PEER_AT_ONCE && n > 1)
        n = 1 + fake_chance(c, n);
    peer_fill(bytes, c->seed, *at, n);
    size_t took = c->on_bytes(bytes, 1, n, c->on_bytes_ctx);
    c->held = took == CURL_WRITEFUNC_PAUSE;
    assert(c->held || took == n);
    *at += c->held ? 0 : n;
    return !c->held;
}

static bool fake_get(struct fake_easy *c)
{
    size_t upto = c->peer <= PEER_AT_ONCE ? c->size : c->middle;
    c->status = 200;
    if (c->at < upto)
        return fake_send(c, &c->at, upto);
    if (c->peer == PEER_BREAKS)
        fake_end(c, CURLE_PARTIAL_FILE);
    else if (c->peer != PEER_STALLS)
        fake_end(c, CURLE_OK);
    return false;
}

static bool fake_answer(struct fake_easy *c)
{
    if (c->sent < PEER_ANSWER)
        return fake_send(c, &c->sent, PEER_ANSWER);
    fake_end(c, CURLE_OK);
    return false;
}

static bool fake_take(struct fake_easy *c)
{
    char bytes[CURL_MAX_WRITE_SIZE];
    size_t n = c->peer == PEER_AT_ONCE ? sizeof bytes : 1 + fake_chance(c, sizeof bytes);
    n = c->on_room(bytes, 1, n, c->on_room_ctx);
    c->held = n == CURL_READFUNC_PAUSE;
    if (c->held)
        return false;
    if (n == 0) { /* fewer than were announced */
        fake_end(c, CURLE_PARTIAL_FILE);
        return false;
    }
    assert(peer_is(bytes, c->seed, c->at, n));
    c->at += n;
    assert(c->at <= c->size);
    return true;
}

static bool fake_put(struct fake_easy *c)
{
    if (c->answers)
        return fake_answer(c);
    if (c->peer > PEER_AT_ONCE && c->at >= c->middle) {
        c->answers = c->peer == PEER_EARLY;
        c->status = c->answers ? PEER_REFUSED : 0;
        if (c->peer == PEER_BREAKS)
            fake_end(c, CURLE_SEND_ERROR);
        return c->answers;
    }
    if (c->at < c->size)
        return fake_take(c);
    c->answers = true;
    c->status = PEER_TAKEN;
    return true;
}

static void fake_step(struct fake_easy *c)
{
    size_t times = c->peer == PEER_AT_ONCE ? 1000 : fake_chance(c, 6);
    while (times-- > 0 && !c->held && !c->over)
        if (!(c->upload ? fake_put(c) : fake_get(c)))
            break;
}

/* As libcurl does, what was held back is offered at once. */
static CURLcode fake_easy_pause(CURL *curl, int what)
{
    struct fake_easy *c = curl;
    fake_enter();
    assert(what == CURLPAUSE_CONT && c->added && c->held);
    c->held = false;
    if (fake_chance(c, 2) == 0)
        fake_step(c);
    fake_leave();
    return CURLE_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

static CURLM *fake_multi_init(void)
{
    struct fake_multi *m = calloc(1, sizeof *m);
    assert(m);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wakes, NULL);
    return m;
}

static CURLMcode fake_multi_cleanup(CURLM *multi)
{
    struct fake_multi *m = multi;
    assert(!m->first);
    pthread_cond_destroy(&m->wakes);
    pthread_mutex_destroy(&m->lock);
    free(m);
    return CURLM_OK;
}

static CURLMcode fake_multi_add_handle(CURLM *multi, CURL *curl)
{
    struct fake_multi *m = multi;
    struct fake_easy *c = curl;
    fake_enter();
    assert(!c->added && c->on_bytes && (c->on_room || !c->upload));
    c->added = true;
    c->next = m->first;
    m->first = c;
    fake_leave();
    return CURLM_OK;
}

static CURLMcode fake_multi_remove_handle(CURLM *multi, CURL *curl)
{
    struct fake_multi *m = multi;
    struct fake_easy **at = &m->first, *c = curl;
    fake_enter();
    while (*at != c) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = c->next;
    c->added = false;
    fake_leave();
    return CURLM_OK;
}

static bool fake_stood_still(struct fake_multi *m)
{
    struct timespec before = m->performed;
    clock_gettime(CLOCK_MONOTONIC, &m->performed);
    return before.tv_sec > 0 && (m->performed.tv_sec - before.tv_sec) * 1000 +
                                        (m->performed.tv_nsec - before.tv_nsec) / 1000000 >
                                    1000;
}

static CURLMcode fake_multi_perform(CURLM *multi, int *running)
{
    struct fake_multi *m = multi;
    fake_enter();
    *running = 0;
    bool nothing_yet = fake_stood_still(m); /* what others sent since is still on its way */
    for (struct fake_easy *c = m->first; c; c = c->next) {
        if (!nothing_yet)
            fake_step(c);
        *running += !c->over;
    }
    atomic_fetch_add(&fake_curl.performed, 1);
    fake_leave();
    return CURLM_OK;
}

static CURLMsg *fake_multi_info_read(CURLM *multi, int *left)
{
    const struct fake_multi *m = multi;
    *left = 0;
    for (struct fake_easy *c = m->first; c; c = c->next) {
        if (!c->over || c->told)
            continue;
        c->told = true;
        c->msg = (CURLMsg){.msg = CURLMSG_DONE, .easy_handle = c};
        c->msg.data.result = c->result;
        return &c->msg;
    }
    return NULL;
}

static bool fake_moves(const struct fake_multi *m)
{
    for (const struct fake_easy *c = m->first; c; c = c->next)
        if (!c->held && !c->over && !(c->peer == PEER_STALLS && c->at >= c->middle))
            return true;
    return false;
}

static CURLMcode fake_multi_poll(CURLM *multi, struct curl_waitfd *fds, unsigned n_fds,
                                 int limit_ms, int *n)
{
    struct fake_multi *m = multi;
    struct timespec until;
    (void)fds, (void)n_fds, (void)n;
    if (fake_moves(m)) {
        sched_yield();
        return CURLM_OK;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)limit_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&m->lock);
    while (!m->woken && pthread_cond_timedwait(&m->wakes, &m->lock, &until) == 0)
        ;
    m->woken = false;
    pthread_mutex_unlock(&m->lock);
    return CURLM_OK;
}

static CURLMcode fake_multi_wakeup(CURLM *multi)
{
    struct fake_multi *m = multi;
    pthread_mutex_lock(&m->lock);
    m->woken = true;
    pthread_cond_signal(&m->wakes);
    pthread_mutex_unlock(&m->lock);
    return CURLM_OK;
}

static CURLcode fake_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

static void fake_global_cleanup(void)
{
}

int curl_functions_load(struct curl_functions *f, struct err *e)
{
    (void)e;
    *f = (struct curl_functions){.curl_global_init = fake_global_init,
                                 .curl_global_cleanup = fake_global_cleanup,
                                 .curl_easy_init = fake_easy_init,
                                 .curl_easy_cleanup = fake_easy_cleanup,
                                 .curl_easy_setopt = fake_easy_setopt,
                                 .curl_easy_getinfo = fake_easy_getinfo,
                                 .curl_easy_strerror = fake_easy_strerror,
                                 .curl_slist_append = fake_slist_append,
                                 .curl_slist_free_all = fake_slist_free_all,
                                 .curl_easy_pause = fake_easy_pause,
                                 .curl_multi_init = fake_multi_init,
                                 .curl_multi_cleanup = fake_multi_cleanup,
                                 .curl_multi_add_handle = fake_multi_add_handle,
                                 .curl_multi_remove_handle = fake_multi_remove_handle,
                                 .curl_multi_perform = fake_multi_perform,
                                 .curl_multi_info_read = fake_multi_info_read,
                                 .curl_multi_poll = fake_multi_poll,
                                 .curl_multi_wakeup = fake_multi_wakeup};
    return 0;
}

#endif
