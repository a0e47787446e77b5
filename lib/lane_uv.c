/* SPDX-License-Identifier: MIT
 *
 * Lanes: threads for work that may block; each lane has its own.
 *
 * uv_lane_work() -> waiting --a thread takes it--> running -> ended --on_async()--> done
 *
 * One lock, the hub's, protects the lists of all lanes; no callback is called while it is held.
 * Threads inform the loop through one uv_async, which keeps the loop alive only while there is work
 * or a lane is being closed. If threads are abandoned because they are blocked in system calls,
 * they own the memory of their lane and share the hub's. When their calls return they use nothing
 * else.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/loop_uv_priv.h"

struct hub {
    pthread_mutex_t lock;
    int refs; /* the number of users: the loop and each abandoned thread */
};

struct lane_work {
    struct lane_work *next;
    struct uv_lane *lane;
    loop_fn fn;
    loop_work_done done;
    void *ctx;
    enum loop_work_end how;
};

struct work_list {
    struct lane_work *first, **end;
};

struct lane_worker {
    struct uv_lane *lane;
    pthread_t thread;
    bool ended; /* its thread is about to return */
};

struct uv_lane {
    struct loop_lane base; /* first */
    struct uv_loop_impl *loop;
    struct hub *hub;
    struct uv_lane *next;
    const char *name;
    pthread_cond_t more; /* signalled when work waits, or when no more work will be added */
    struct work_list waiting, ended;
    size_t n_waiting, queue;
    int max_threads, n_threads, n_idle;
    bool closing, finish; /* finish: threads end when no work waits */
    bool left_behind;
    struct loop_timer *patience;
    loop_fn closed;
    void *closed_ctx;
    struct lane_worker workers[];
};

static void list_init(struct work_list *l)
{
    l->first = NULL;
    l->end = &l->first;
}

static void list_add(struct work_list *l, struct lane_work *w)
{
    w->next = NULL;
    *l->end = w;
    l->end = &w->next;
}

static struct lane_work *list_take(struct work_list *l)
{
    struct lane_work *w = l->first;
    if (!w)
        return NULL;
    l->first = w->next;
    if (!l->first)
        l->end = &l->first;
    return w;
}

static void list_move(struct work_list *to, struct work_list *from)
{
    struct lane_work *w;
    while ((w = list_take(from)))
        list_add(to, w);
}

/* Gives up one reference to the hub, and frees the hub after the last. Call with the lock held;
 * releases it. */
static void leave_hub(struct hub *h)
{
    bool last = --h->refs == 0;
    pthread_mutex_unlock(&h->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static void free_lane(struct uv_lane *l)
{
    assert(!l->waiting.first && !l->ended.first);
    pthread_cond_destroy(&l->more);
    free(l);
}

/* Ends a thread that the loop has abandoned; the loop may not exist any more. */
static void end_left_behind(struct uv_lane *l)
{
    struct hub *h = l->hub;
    assert(l->n_threads > 0);
    if (--l->n_threads == 0)
        free_lane(l);
    leave_hub(h);
}

static void *run(void *arg)
{
    struct lane_worker *me = arg;
    struct uv_lane *l = me->lane;
    pthread_mutex_lock(&l->hub->lock);
    for (;;) {
        l->n_idle++;
        while (!l->waiting.first && !l->finish)
            pthread_cond_wait(&l->more, &l->hub->lock);
        l->n_idle--;
        struct lane_work *w = list_take(&l->waiting);
        if (!w)
            break;
        l->n_waiting--;
        pthread_mutex_unlock(&l->hub->lock);
        w->fn(w->ctx);
        pthread_mutex_lock(&l->hub->lock);
        if (l->left_behind) {
            free(w);
            end_left_behind(l);
            return NULL;
        }
        list_add(&l->ended, w);
        uv_async_send(&l->loop->async);
    }
    if (l->left_behind) {
        end_left_behind(l);
        return NULL;
    }
    me->ended = true;
    uv_async_send(&l->loop->async);
    pthread_mutex_unlock(&l->hub->lock);
    return NULL;
}

/* Call with the lock held. The new thread blocks all signals, which are for the loop's thread,
 * except signals that the thread causes itself. */
static bool start_thread(struct uv_lane *l)
{
    sigset_t all, before;
    assert(l->n_threads < l->max_threads);
    struct lane_worker *w = &l->workers[l->n_threads];
    w->lane = l;
    sigfillset(&all);
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok)
        return false;
    pthread_setname_np(w->thread, l->name);
    l->n_threads++;
    return true;
}

/* --- the loop's side ----------------------------------------------------------------------------
 */

/* Keeps uv_run() from returning while there is unfinished work or a lane is being closed. */
static void hold(struct uv_loop_impl *l)
{
    if (l->n_busy++ == 0)
        uv_ref((uv_handle_t *)&l->async);
}

static void let_go(struct uv_loop_impl *l)
{
    assert(l->n_busy > 0);
    if (--l->n_busy == 0)
        uv_unref((uv_handle_t *)&l->async);
}

/* Frees a lane that is closed, unless it was left to abandoned threads, and informs its owner. Call
 * with the lock held; releases it. After that, abandoned threads may free the lane. */
static void forget(struct uv_lane *lane)
{
    struct uv_loop_impl *l = lane->loop;
    struct uv_lane **at = &l->lanes;
    assert(lane->closing && lane->base.busy == 0);
    while (*at != lane) {
        assert(*at); /* a lane is in its loop's list until this function */
        at = &(*at)->next;
    }
    *at = lane->next;
    l->n_lanes--;
    loop_timer_destroy(lane->patience);
    loop_fn closed = lane->closed;
    void *ctx = lane->closed_ctx;
    if (!lane->left_behind)
        free_lane(lane);
    pthread_mutex_unlock(&l->hub->lock);
    let_go(l);
    if (closed)
        closed(ctx);
}

static bool all_ended(const struct uv_lane *lane)
{
    for (int i = 0; i < lane->n_threads; i++)
        if (!lane->workers[i].ended)
            return false;
    return true;
}

/* Finds a closing lane whose work is all reported and whose threads have ended, and joins the
 * threads; NULL: there is none. */
static struct uv_lane *find_finished(struct uv_loop_impl *l)
{
    for (struct uv_lane *lane = l->lanes; lane; lane = lane->next) {
        if (!lane->closing || lane->base.busy > 0)
            continue;
        pthread_mutex_lock(&l->hub->lock);
        bool ended = all_ended(lane);
        pthread_mutex_unlock(&l->hub->lock);
        if (!ended)
            continue;
        for (int i = 0; i < lane->n_threads; i++)
            pthread_join(lane->workers[i].thread, NULL);
        return lane;
    }
    return NULL;
}

static void tell_ended(struct uv_loop_impl *l)
{
    struct work_list ended;
    list_init(&ended);
    pthread_mutex_lock(&l->hub->lock);
    for (struct uv_lane *lane = l->lanes; lane; lane = lane->next)
        list_move(&ended, &lane->ended);
    pthread_mutex_unlock(&l->hub->lock);
    struct lane_work *next;
    while ((next = list_take(&ended))) {
        struct lane_work w = *next;
        free(next);
        assert(w.lane->base.busy > 0);
        w.lane->base.busy--;
        let_go(l);
        w.done(w.ctx, w.how);
    }
}

static void on_async(uv_async_t *async)
{
    struct uv_loop_impl *l = async->data;
    tell_ended(l);
    struct uv_lane *lane;
    while ((lane = find_finished(l))) {
        pthread_mutex_lock(&l->hub->lock);
        forget(lane);
    }
}

void uv_lanes_init(struct uv_loop_impl *l)
{
    l->hub = xcalloc(1, sizeof *l->hub);
    pthread_mutex_init(&l->hub->lock, NULL);
    l->hub->refs = 1;
    int rc = uv_async_init(l->uv, &l->async, on_async);
    assert(rc == 0); /* fails only without free descriptors, and the loop has its own already */
    (void)rc;
    l->async.data = l;
    uv_unref((uv_handle_t *)&l->async);
}

void uv_lanes_free(struct uv_loop_impl *l)
{
    pthread_mutex_lock(&l->hub->lock);
    leave_hub(l->hub);
}

struct loop_lane *uv_lane_create(struct loop *loop, const char *name, int threads, size_t queue)
{
    assert(loop->ops->lane_create == uv_lane_create); /* only for a loop of libuv */
    struct uv_loop_impl *l = CONTAINER_OF(loop, struct uv_loop_impl, base);
    struct uv_lane *lane = xcalloc(1, sizeof *lane + (size_t)threads * sizeof lane->workers[0]);
    lane->base.loop = loop;
    lane->loop = l;
    lane->hub = l->hub;
    lane->name = name;
    lane->max_threads = threads;
    lane->queue = queue;
    pthread_cond_init(&lane->more, NULL);
    list_init(&lane->waiting);
    list_init(&lane->ended);
    pthread_mutex_lock(&l->hub->lock);
    lane->next = l->lanes;
    l->lanes = lane;
    l->n_lanes++;
    pthread_mutex_unlock(&l->hub->lock);
    return &lane->base;
}

/* Call with the lock held. Whether one more piece of work may wait, and a thread will take it. */
static bool has_room(struct uv_lane *l)
{
    int free_threads = l->n_idle > (int)l->n_waiting ? l->n_idle - (int)l->n_waiting : 0;
    if (free_threads == 0 && l->n_threads < l->max_threads && start_thread(l))
        return true;
    return l->n_threads > 0 && (free_threads > 0 || l->n_waiting < l->queue);
}

bool uv_lane_work(struct loop_lane *base, loop_fn fn, loop_work_done done, void *ctx)
{
    struct uv_lane *l = CONTAINER_OF(base, struct uv_lane, base);
    assert(pthread_equal(l->loop->thread, pthread_self()));
    if (l->closing)
        return false;
    pthread_mutex_lock(&l->hub->lock);
    bool taken = has_room(l);
    if (taken) {
        struct lane_work *w = xcalloc(1, sizeof *w);
        *w = (struct lane_work){
            .lane = l, .fn = fn, .done = done, .ctx = ctx, .how = LOOP_WORK_DONE};
        list_add(&l->waiting, w);
        l->n_waiting++;
    }
    pthread_mutex_unlock(&l->hub->lock);
    if (taken) {
        /* after the unlock, so that the thread does not wake up and then wait for the lock */
        pthread_cond_signal(&l->more);
        base->busy++;
        hold(l->loop);
    }
    return taken;
}

/* --- the end of a lane
 * ---------------------------------------------------------------------------- */

/* Call with the lock held. Ends all waiting work with LOOP_WORK_DROPPED. */
static void drop_waiting(struct uv_lane *l)
{
    struct lane_work *w;
    while ((w = list_take(&l->waiting))) {
        w->how = LOOP_WORK_DROPPED;
        list_add(&l->ended, w);
    }
    l->n_waiting = 0;
}

/* Call with the lock held. From now on the threads that have not ended own the lane. */
static void leave_behind(struct uv_lane *l)
{
    int hanging = 0;
    for (int i = 0; i < l->n_threads; i++) {
        pthread_detach(l->workers[i].thread);
        hanging += !l->workers[i].ended;
    }
    assert(hanging > 0);
    l->n_threads = hanging;
    l->hub->refs += hanging;
    l->left_behind = true;
    for (; l->base.busy > 0; l->base.busy--)
        let_go(l->loop);
}

static void on_patience_over(void *ctx)
{
    struct uv_lane *l = ctx;
    pthread_mutex_t *lock = &l->hub->lock;
    pthread_mutex_lock(lock);
    drop_waiting(l);
    do {
        pthread_mutex_unlock(lock);
        tell_ended(l->loop);
        pthread_mutex_lock(lock);
    } while (l->ended.first);
    if (l->base.busy == 0) { /* no work is left, so its threads are about to end */
        pthread_mutex_unlock(lock);
        return;
    }
    leave_behind(l);
    forget(l);
}

void uv_lane_close(struct loop_lane *base, enum loop_lane_rest rest, int64_t patience_us,
                   loop_fn closed, void *ctx)
{
    struct uv_lane *l = CONTAINER_OF(base, struct uv_lane, base);
    assert(!l->closing);
    l->closing = true;
    l->closed = closed;
    l->closed_ctx = ctx;
    hold(l->loop);
    pthread_mutex_lock(&l->hub->lock);
    if (rest == LOOP_LANE_DROP)
        drop_waiting(l);
    l->finish = true;
    pthread_cond_broadcast(&l->more);
    pthread_mutex_unlock(&l->hub->lock);
    if (patience_us > 0) {
        l->patience = loop_timer_create(base->loop, on_patience_over, l);
        loop_timer_start(l->patience, loop_mono_us(base->loop) + patience_us);
    }
    uv_async_send(&l->loop->async);
}
