/* SPDX-License-Identifier: MIT
 *
 * Use that is added up in memory, by groups and by owners, for metrics. What a turn has added can
 * be taken back until the turn is committed.
 */
#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/loop.h"
#include "storage/storage_priv.h"
#include "storage/usage.h"

/* The sums of a counter before the turn added to them. */
struct used_before {
    size_t at;
    struct usage_sums sums;
};

struct used {
    struct usage_counted *list; /* owned, as are its texts */
    size_t n;
    struct loop *loop;        /* borrowed */
    int64_t since_mono_us;    /* since when use is counted, on the monotonic clock */
    struct used_before *turn; /* in the order of the additions; owned */
    size_t n_turn, cap_turn;
};

/* The most counters: so few that a linear search is as good as a hash. When the list is full,
 * further groups share its last counter, and further people are not counted; only a daemon for
 * tests may have so many. */
#define COUNTED_MAX 1000

static struct usage_counted *counter(struct used *u, const char *subscription, const char *group,
                                     const char *owner)
{
    bool rest = u->n >= COUNTED_MAX - 1;
    for (size_t i = 0; i < u->n; i++)
        if (strcasecmp(u->list[i].owner, owner) == 0 && strcasecmp(u->list[i].group, group) == 0 &&
            strcasecmp(u->list[i].subscription, subscription) == 0)
            return &u->list[i];
    if (rest && *owner)
        return NULL;
    if (u->n == COUNTED_MAX)
        return &u->list[u->n - 1];
    u->list = xrealloc(u->list, (u->n + 1) * sizeof *u->list);
    u->list[u->n] = (struct usage_counted){xstrdup(rest ? "" : subscription),
                                           xstrdup(rest ? USAGE_OTHERS : group),
                                           xstrdup(owner),
                                           {0},
                                           {0}};
    return &u->list[u->n++];
}

void st_used_add(struct storage *st, const char *subscription, const char *group, const char *owner,
                 const struct usage_sums *sums)
{
    struct used *u = st->used;
    struct usage_counted *c = counter(u, subscription, group, owner);
    if (!c)
        return;
    if (u->n_turn == u->cap_turn) {
        u->cap_turn = u->cap_turn ? u->cap_turn * 2 : 16;
        u->turn = xrealloc(u->turn, u->cap_turn * sizeof *u->turn);
    }
    u->turn[u->n_turn++] = (struct used_before){(size_t)(c - u->list), c->sums};
    usage_add(&c->sums, sums);
}

size_t st_used_in_turn(const struct storage *st)
{
    return st->used ? st->used->n_turn : 0;
}

void st_used_undo(struct storage *st, size_t n)
{
    struct used *u = st->used;
    for (; u && u->n_turn > n; u->n_turn--) {
        const struct used_before *was = &u->turn[u->n_turn - 1];
        u->list[was->at].sums = was->sums;
    }
}

void st_used_keep(struct storage *st)
{
    if (st->used)
        st->used->n_turn = 0;
}

bool st_usage_counted_since(const struct storage *st, int64_t *since_ms)
{
    const struct used *u = st->used;
    int64_t passed_us = u ? loop_mono_us(u->loop) - u->since_mono_us : 0;
    *since_ms = u ? (loop_wall_us(u->loop) - passed_us) / 1000 : 0;
    return u;
}

void st_usage_count_from(struct storage *st, struct loop *loop, int64_t since_us)
{
    assert(!st->used);
    st->used = xcalloc(1, sizeof *st->used);
    st->used->loop = loop;
    st->used->since_mono_us = loop_mono_of(loop, since_us, INT64_MAX, INT64_MAX);
}

const struct usage_counted *st_usage_counted(const struct storage *st, struct arena *a, size_t *n)
{
    const struct used *u = st->used;
    *n = u ? u->n : 0;
    struct usage_counted *list = arena_alloc(a, (*n + 1) * sizeof *list);
    for (size_t i = 0; i < *n; i++) {
        list[i] = u->list[i];
        list[i].subscription = arena_strdup(a, u->list[i].subscription);
        list[i].group = arena_strdup(a, u->list[i].group);
        list[i].owner = arena_strdup(a, u->list[i].owner);
    }
    for (size_t i = st_used_in_turn(st); i > 0; i--)
        list[u->turn[i - 1].at].sums = u->turn[i - 1].sums;
    return list;
}

static void raise_to(int64_t *shown, int64_t *now)
{
    if (*now < *shown)
        *now = *shown;
    *shown = *now;
}

void st_usage_show(struct storage *st, const char *subscription, const char *group,
                   const char *owner, struct usage_sums *sums)
{
    struct usage_counted *c = st->used ? counter(st->used, subscription, group, owner) : NULL;
    if (!c || strcasecmp(c->group, group) != 0)
        return;
    raise_to(&c->shown.gpu_ms, &sums->gpu_ms);
    raise_to(&c->shown.busy_ms, &sums->busy_ms);
    raise_to(&c->shown.idle_ms, &sums->idle_ms);
    raise_to(&c->shown.lost_ms, &sums->lost_ms);
}

void st_used_free(struct storage *st)
{
    for (size_t i = 0; st->used && i < st->used->n; i++) {
        free((char *)st->used->list[i].subscription);
        free((char *)st->used->list[i].group);
        free((char *)st->used->list[i].owner);
    }
    if (st->used) {
        free(st->used->list);
        free(st->used->turn);
    }
    free(st->used);
}
