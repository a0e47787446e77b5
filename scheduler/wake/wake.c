/* SPDX-License-Identifier: MIT
 *
 * A queue of woken ids for each kind, the deadlines that fill them, and effects that wait for the
 * disk.
 */
#include "scheduler/wake/paced.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/deadlines.h"
#include "lib/hash.h"
#include "lib/idmap.h"
#include "lib/work.h"
#include "storage/storage.h"

/* Reconciles per turn: some 50 us each, so a turn stays well under 10 ms and requests are answered
 * in between. The next turn follows at once with the rest. */
#define RECONCILES_PER_TURN 100
/* An operator allows a refused step by a file. That wakes nobody, so the step is tried again after
 * this time. */
#define REFUSED_AGAIN_US (INT64_C(60) * 1000000)

/* The state of a kind. Its number in struct wakes is also the number of its deadlines. */
struct queue {
    const struct wake_kind *kind; /* borrowed */
    wake_fn reconcile;            /* NULL: no handler was set yet */
    wake_refused_fn refused;      /* or NULL */
    void *ctx;
    struct id_queue ids; /* woken ids */
    uint64_t woken;      /* since the start */
};

struct wakes {
    struct storage *st; /* borrowed, as are loop and log */
    struct loop *loop;
    const struct log *log;
    const struct pace *pace; /* borrowed; may be NULL */
    struct queue queues[WAKE_KINDS_MAX];
    int order[WAKE_KINDS_MAX]; /* indexes into `queues`, in the order of reconciling */
    int n_kinds;
    struct deadlines *deadlines; /* when a deadline passes, its id is woken */
    struct loop_timer *timer;    /* fires at the earliest deadline */
    struct wake_counts counts;
    int64_t wall_ahead_us; /* wall clock minus monotonic clock at the start */
    uint64_t random;       /* state of the generator behind wakes_jitter() */
    int refs;              /* references: durable callbacks, links and work of threads */
    int holds;             /* wakes_hold() */
    bool stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* --- start and end --- */

static void on_timer(void *ctx);

struct wakes *wakes_create(const struct wakes_config *c)
{
    struct wakes *w = xcalloc(1, sizeof *w);
    w->st = c->storage;
    w->loop = c->loop;
    w->log = c->log;
    w->deadlines = deadlines_new(WAKE_KINDS_MAX);
    w->timer = loop_timer_create(c->loop, on_timer, w);
    w->wall_ahead_us = loop_wall_us(c->loop) - loop_mono_us(c->loop);
    w->random = (uint64_t)loop_mono_us(c->loop);
    wakes_ref(w); /* our own reference, until wakes_stop() */
    return w;
}

void wakes_free(struct wakes *w)
{
    assert(w->refs == 0);
    for (int k = 0; k < w->n_kinds; k++)
        id_queue_free(&w->queues[k].ids);
    deadlines_free(w->deadlines);
    free(w);
}

/* Inserts a new kind after the other kinds of its place. */
static int add_kind(struct wakes *w, const struct wake_kind *kind)
{
    assert(w->n_kinds < WAKE_KINDS_MAX);
    int number = w->n_kinds++, at = number;
    for (; at > 0 && w->queues[w->order[at - 1]].kind->place > kind->place; at--)
        w->order[at] = w->order[at - 1];
    w->order[at] = number;
    w->queues[number] = (struct queue){.kind = kind};
    return number;
}

/* Adds an unknown kind, because a kind may be woken before its owner has set a handler. */
static int number_of(struct wakes *w, const struct wake_kind *kind)
{
    int k = 0;
    while (k < w->n_kinds && w->queues[k].kind != kind)
        k++;
    return k < w->n_kinds ? k : add_kind(w, kind);
}

void wakes_handle(struct wakes *w, const struct wake_kind *kind, wake_fn reconcile, void *ctx)
{
    struct queue *q = &w->queues[number_of(w, kind)];
    assert(!q->reconcile);
    q->reconcile = reconcile;
    q->ctx = ctx;
}

void wakes_handle_refused(struct wakes *w, const struct wake_kind *kind, wake_refused_fn refused)
{
    struct queue *q = &w->queues[number_of(w, kind)];
    assert(q->reconcile && !q->refused);
    q->refused = refused;
}

void wakes_ref(struct wakes *w)
{
    w->refs++;
}

void wakes_unref(struct wakes *w)
{
    assert(w->refs > 0);
    if (--w->refs > 0)
        return;
    assert(w->stopping);
    w->stopped(w->stopped_ctx);
}

static void on_idle(void *ctx)
{
    wakes_unref(ctx);
}

void wakes_stop(struct wakes *w, void (*stopped)(void *ctx), void *ctx)
{
    assert(!w->stopping);
    w->stopping = true;
    w->stopped = stopped;
    w->stopped_ctx = ctx;
    loop_timer_destroy(w->timer);
    w->timer = NULL;
    loop_defer(w->loop, on_idle, w);
}

bool wakes_stopping(const struct wakes *w)
{
    return w->stopping;
}

const struct wake_kind *wakes_kind(const struct wakes *w, size_t i)
{
    return i < (size_t)w->n_kinds ? w->queues[w->order[i]].kind : NULL;
}

uint64_t wakes_woken(const struct wakes *w, const struct wake_kind *kind)
{
    for (int k = 0; k < w->n_kinds; k++)
        if (w->queues[k].kind == kind)
            return w->queues[k].woken;
    return 0;
}

const struct wake_counts *wakes_counts(const struct wakes *w)
{
    return &w->counts;
}

/* --- waking --------------------------------------------------------------------------------- */

static void put(struct wakes *w, struct queue *q, int64_t id)
{
    if (!w->stopping && id != 0 && id_queue_put(&q->ids, id))
        q->woken++;
}

void wake(struct wakes *w, const struct wake_kind *kind, int64_t id)
{
    put(w, &w->queues[number_of(w, kind)], id);
}

int wake_listed(struct wakes *w, const struct wake_kind *kind, wake_list *list, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    int rc = list(w->st, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        wake(w, kind, ids[i]);
    arena_free(&a);
    return rc;
}

static bool is_pending(const struct wakes *w)
{
    for (int k = 0; k < w->n_kinds; k++)
        if (w->queues[k].ids.n > 0)
            return true;
    return false;
}

void wake_by(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t at_us)
{
    int k = number_of(w, kind);
    int64_t before;
    if (!deadlines_get(w->deadlines, k, id, &before) || before > at_us)
        deadlines_set(w->deadlines, k, id, at_us);
}

void wake_at(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t at_us)
{
    if (at_us == 0)
        deadlines_remove(w->deadlines, number_of(w, kind), id);
    else
        deadlines_set(w->deadlines, number_of(w, kind), id, at_us);
}

static void on_timer(void *ctx)
{
    struct wakes *w = ctx;
    int64_t now = wakes_mono(w);
    struct deadline first;
    while (deadlines_first(w->deadlines, &first) && first.at_us <= now) {
        deadlines_remove(w->deadlines, first.kind, first.id);
        w->counts.deadlines++;
        put(w, &w->queues[first.kind], first.id);
    }
}

void wake_arm(struct wakes *w)
{
    struct deadline first;
    if (w->stopping || w->holds > 0)
        return;
    if (is_pending(w))
        loop_timer_start(w->timer, wakes_mono(w));
    else if (deadlines_first(w->deadlines, &first))
        loop_timer_start(w->timer, first.at_us);
    else
        loop_timer_stop(w->timer);
}

/* --- turns ---------------------------------------------------------------------------------- */

static void note_time(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t us)
{
    if (us > w->counts.longest_us)
        w->counts.longest_us = us;
    if (us < LOOP_SLOW_US)
        return;
    w->counts.slow++;
    LOG_INFO(w->log, "loop.slow", LF_STR("work", kind->name), LF_INT("id", id),
             LF_INT("ms", us / 1000));
}

/* A step that has crashed the daemon before is skipped, so that all other work continues; so is its
 * refusal handler, if that has crashed the daemon too. */
static void refuse(struct wakes *w, const struct queue *q, int64_t id, const struct err *why)
{
    const struct work_item saying = {.kind = q->kind->name, .verb = "refusal", .id = id};
    struct err e;
    LOG_ERROR(w->log, "work.refused", LF_STR("work", q->kind->name), LF_INT("id", id),
              LF_STR("why", why->msg));
    const struct work_item *before = work_enter(&saying);
    if (q->refused && work_may_begin(&saying, &e) == 0)
        q->refused(q->ctx, id, why);
    work_leave(before);
    wake_by(w, q->kind, id, wakes_mono(w) + REFUSED_AGAIN_US);
}

static void reconcile(struct wakes *w, const struct queue *q, int64_t id)
{
    const struct work_item step = {.kind = q->kind->name, .id = id};
    struct err e;
    const struct work_item *before = work_enter(&step);
    int64_t begun = wakes_mono(w);
    if (work_may_begin(&step, &e) == 0)
        q->reconcile(q->ctx, id);
    else
        refuse(w, q, id, &e);
    note_time(w, q->kind, id, wakes_mono(w) - begun);
    work_leave(before);
}

static bool reconcile_one(struct wakes *w)
{
    for (int i = 0; i < w->n_kinds; i++) {
        struct queue *q = &w->queues[w->order[i]];
        int64_t id;
        if (!id_queue_pop(&q->ids, &id))
            continue;
        assert(q->reconcile);
        reconcile(w, q, id);
        return true;
    }
    return false;
}

void wakes_hold(struct wakes *w)
{
    w->holds++;
}

void wakes_go_on(struct wakes *w)
{
    assert(w->holds > 0);
    w->holds--;
    wake_arm(w);
}

void wakes_turn(struct wakes *w)
{
    if (w->stopping || w->holds > 0)
        return;
    for (int i = 0; i < RECONCILES_PER_TURN; i++)
        if (!reconcile_one(w))
            break;
    wake_arm(w);
}

/* --- effects that wait for the disk ----------------------------------------------------------- */

struct durable_effect {
    struct wakes *w;
    int64_t id;
    wake_effect fn; /* NULL: wake `kind` */
    void *ctx;
    const struct wake_kind *kind;
    bool if_lost; /* act only if the writes are lost */
};

static void on_durable(void *ctx, const struct err *why)
{
    struct durable_effect d = *(struct durable_effect *)ctx;
    free(ctx);
    if (!d.w->stopping && (why || !d.if_lost)) {
        if (d.fn)
            d.fn(d.ctx, d.id, why);
        else
            wake_after(d.w, d.kind, d.id, why);
        /* After a rollback this runs at the end of a turn, after the timer was armed; so it is
         * armed again. */
        wake_arm(d.w);
    }
    wakes_unref(d.w);
}

static void when_durable(const struct durable_effect *d)
{
    struct durable_effect *copy = xcalloc(1, sizeof *copy);
    *copy = *d;
    wakes_ref(d->w);
    st_when_durable(d->w->st, on_durable, copy);
}

void wake_when_durable(struct wakes *w, wake_effect fn, void *ctx, int64_t id)
{
    when_durable(&(struct durable_effect){.w = w, .id = id, .fn = fn, .ctx = ctx});
}

void wake_durable(struct wakes *w, const struct wake_kind *kind, int64_t id)
{
    when_durable(&(struct durable_effect){.w = w, .id = id, .kind = kind});
}

void wake_if_lost(struct wakes *w, const struct wake_kind *kind, int64_t id)
{
    when_durable(&(struct durable_effect){.w = w, .id = id, .kind = kind, .if_lost = true});
}

/* After a rollback the id is woken a moment later, because waking at once would loop on a full
 * disk. */
void wake_after(struct wakes *w, const struct wake_kind *kind, int64_t id, const struct err *why)
{
    if (why)
        wake_at(w, kind, id, wakes_mono(w) + WRITE_AGAIN_US);
    else
        wake(w, kind, id);
}

/* --- delays of strict mode -------------------------------------------------------------------- */

void wakes_set_pace(struct wakes *w, const struct pace *pace)
{
    w->pace = pace;
}

const struct pace *wakes_pace(const struct wakes *w)
{
    return w->pace;
}

/* Wakes all ids that have a deadline. The deadlines stay, because most of them have other
 * reasons. */
void wakes_pace_changed(struct wakes *w)
{
    struct deadline *all = NULL, first;
    size_t n = 0, cap = 0;
    while (deadlines_first(w->deadlines, &first)) {
        if (n == cap) {
            cap = cap ? 2 * cap : 64;
            all = xrealloc(all, cap * sizeof *all);
        }
        all[n++] = first;
        deadlines_remove(w->deadlines, first.kind, first.id);
    }
    for (size_t i = 0; i < n; i++) {
        deadlines_set(w->deadlines, all[i].kind, all[i].id, all[i].at_us);
        put(w, &w->queues[all[i].kind], all[i].id);
    }
    free(all);
    wake_arm(w);
}

/* The subscription of a pool, in the arena; NULL: none, or not needed. */
static const char *subscription_of(const struct wakes *w, struct arena *a, int64_t pool_id)
{
    struct pool_place place;
    struct err e;
    bool found = pace_is_on(w->pace, NULL) && st_pool_place(w->st, a, pool_id, &place, &e) == 1;
    return found ? place.subscription : NULL;
}

int64_t wakes_pace_us(const struct wakes *w, int64_t pool_id, enum pace_step step)
{
    struct arena a;
    if (!pace_is_on(w->pace, NULL))
        return 0;
    arena_init(&a);
    int64_t us = pace_us(w->pace, subscription_of(w, &a, pool_id), step);
    arena_free(&a);
    return us;
}

bool wakes_pace_is_on(const struct wakes *w, int64_t pool_id)
{
    struct arena a;
    if (!pace_is_on(w->pace, NULL))
        return false;
    arena_init(&a);
    const char *subscription = subscription_of(w, &a, pool_id);
    bool on = subscription && pace_is_on(w->pace, subscription);
    arena_free(&a);
    return on;
}

int64_t wakes_paced_until(const struct wakes *w, const struct paced *what)
{
    int64_t takes_us = what->subscription ? pace_us(w->pace, what->subscription, what->step)
                                          : wakes_pace_us(w, what->pool_id, what->step);
    return takes_us > 0 ? wakes_until(w, what->since_us, what->before_us + takes_us) : 0;
}

bool wake_paced(struct wakes *w, const struct wake_kind *kind, int64_t id, const struct paced *what)
{
    int64_t until_us = wakes_paced_until(w, what);
    if (until_us > 0)
        wake_by(w, kind, id, until_us);
    return until_us > 0;
}

/* --- time ----------------------------------------------------------------------------------- */

int64_t wakes_wall(const struct wakes *w)
{
    return loop_wall_us(w->loop);
}

int64_t wakes_mono(const struct wakes *w)
{
    return loop_mono_us(w->loop);
}

int64_t wakes_mono_of(const struct wakes *w, int64_t wall_us, int64_t past_max)
{
    return loop_mono_of(w->loop, wall_us, past_max, 0);
}

int64_t wakes_steady_wall(const struct wakes *w)
{
    int64_t steady = wakes_mono(w) + w->wall_ahead_us, wall = wakes_wall(w);
    return steady < wall ? steady : wall;
}

int64_t wakes_until(const struct wakes *w, int64_t since_us, int64_t takes_us)
{
    int64_t gone_us = wakes_wall(w) - since_us;
    bool goes_on = takes_us > 0 && gone_us >= -PACE_AHEAD_US && gone_us < takes_us;
    return goes_on ? wakes_mono(w) + takes_us - gone_us : 0;
}

bool wake_until_over(struct wakes *w, const struct wake_kind *kind, int64_t id, int64_t since_us,
                     int64_t takes_us)
{
    int64_t until_us = wakes_until(w, since_us, takes_us);
    if (until_us > 0)
        wake_by(w, kind, id, until_us);
    return until_us > 0;
}

int64_t wakes_jitter(struct wakes *w, int64_t us)
{
    assert(us >= 0);
    return us / 10 * 8 + (int64_t)(random_next(&w->random) % (uint64_t)(us / 10 * 4 + 1));
}
