/* SPDX-License-Identifier: MIT
 *
 * A look at a kind of rows first counts them, from the newest, in pages, up to the allowed number
 * (count). Then it forgets older rows (forget). `at` is the position of the count. If several rows
 * have the same time, a kind may keep a few rows more than the allowed number.
 */
#include "scheduler/keep.h"

#include <assert.h>

#include "scheduler/sched_priv.h"

/* The id of the wake is the kind's number, from 1. */
static const struct wake_kind woken_keep = {"kept", WAKE_LAST};

#define LOOK_EVERY_US (600LL * 1000000)
/* Rows of an index that are counted in one turn of the loop: some 50 ns each. */
#define COUNTED_PER_TURN 5000

static void start_look(struct kept *k, const struct keep_limit *l)
{
    k->counting = l->most > 0 && k->kind->nth;
    k->left = l->most;
    k->at = INT64_MAX;
    k->before = 0;
}

static int count(struct sched *s, struct kept *k, struct err *e)
{
    int n = k->left < COUNTED_PER_TURN ? (int)k->left : COUNTED_PER_TURN;
    int64_t at = 0;
    int rc = k->kind->nth(s->st, k->at, n, &at, e);
    if (rc < 0)
        return -1;
    k->left -= n;
    k->at = at;
    k->counting = rc > 0 && k->left > 0;
    if (rc > 0 && k->left == 0)
        k->before = at;
    return 0;
}

/* Takes one step of a look. 1: another step must follow at once; 0: the look is finished. */
static int look(struct sched *s, struct kept *k, struct err *e)
{
    const struct keep_limit *l = &s->keep.of[k->kind->of];
    int64_t now_us = wakes_steady_wall(s->wakes);
    const struct keep_cut cut = {.before_us = l->age_us > 0 ? now_us - l->age_us : 0,
                                 .before = k->before,
                                 .now_us = wakes_wall(s->wakes)};
    int gone = 0;
    if (k->counting)
        return count(s, k, e) < 0 ? -1 : 1;
    if (cut.before_us <= 0 && cut.before == 0)
        return 0;
    if (k->kind->forget(k->ctx, &cut, k->kind->limit, &gone, e) < 0)
        return -1;
    k->gone += gone;
    return gone == k->kind->limit;
}

static void keep_reconcile(void *ctx, int64_t id)
{
    struct sched *s = ctx;
    struct kept *k = &s->kept[id - 1];
    struct err e = {0};
    int rc = look(s, k, &e);
    wake_if_lost(s->wakes, &woken_keep, id);
    if (rc > 0) {
        wake_at(s->wakes, &woken_keep, id, wakes_mono(s->wakes)); /* in the next turn of the loop */
        return;
    }
    if (rc < 0)
        LOG_ERROR(s->log, "old_data.not_removed", LF_STR("kind", k->kind->what),
                  LF_STR("why", e.msg));
    if (k->gone > 0)
        LOG_INFO(s->log, "old_data.removed", LF_STR("kind", k->kind->what),
                 LF_INT("count", k->gone));
    k->gone = 0;
    start_look(k, &s->keep.of[k->kind->of]);
    wake_at(s->wakes, &woken_keep, id, wakes_mono(s->wakes) + LOOK_EVERY_US);
}

void keep_begin(struct sched *s, const struct keep_kind *kind, void *ctx)
{
    assert(s->n_kept < KEPT_MAX);
    if (s->n_kept == 0)
        wakes_handle(s->wakes, &woken_keep, keep_reconcile, s);
    struct kept *k = &s->kept[s->n_kept++];
    *k = (struct kept){.kind = kind, .ctx = ctx};
    start_look(k, &s->keep.of[kind->of]);
    wake(s->wakes, &woken_keep, s->n_kept);
}

void keep_change(struct sched *s, const struct keep_limits *limits)
{
    s->keep = *limits;
    for (int i = 0; i < s->n_kept; i++) {
        start_look(&s->kept[i], &limits->of[s->kept[i].kind->of]);
        wake(s->wakes, &woken_keep, i + 1);
    }
    wake_arm(s->wakes);
}

/* --- the kinds of the core -------------------------------------------------------------------- */

static int forget_events(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e)
{
    const struct sched *s = ctx;
    bool any;
    if (st_event_any_old(s->st, cut->before_us, cut->before, &any, e) < 0)
        return -1;
    return any ? st_event_forget_old(s->st, cut->before_us, cut->before, limit, gone, e) : 0;
}

/* Forgets kept output directories: the nodes remove the directories; the rows of the ended runs
 * stay. */
static int forget_outputs(void *ctx, const struct keep_cut *cut, int limit, int *gone,
                          struct err *e)
{
    const struct sched *s = ctx;
    int64_t *nodes;
    size_t n;
    struct arena a;
    arena_init(&a);
    int rc = st_allocation_kept_before(s->st, &a, cut->before_us, limit, &nodes, &n, e);
    if (rc == 0 && n > 0)
        rc = st_allocation_drop_before(s->st, cut->before_us, limit, gone, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        fleet_sweep_when_durable(s->fleet, nodes[i]);
    arena_free(&a);
    return rc;
}

static const struct keep_kind own[] = {
    {KEEP_EVENTS, "events", st_event_nth, forget_events, 500},
    {KEEP_OUTPUTS, "output directories", NULL, forget_outputs, 100},
};

void keep_own(struct sched *s)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        keep_begin(s, &own[i], s);
}
