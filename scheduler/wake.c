/* SPDX-License-Identifier: MIT
 *
 * Wake-ups, deadlines, references: how one thing that happened becomes a later step.
 */
#include <stdlib.h>

#include "scheduler/sched_priv.h"

#define US_PER_MS 1000

int64_t sched_now(const struct sched *s)
{
    return clock_now(&s->cfg.clock);
}

void wake(struct sched *s, enum wake_kind kind, int64_t id)
{
    if (s->stopping || id == 0)
        return;
    if (kind == WAKE_DELETIONS)
        s->wake_deletions = true;
    else
        id_map_put(&s->wakes[kind], id, NULL);
}

bool wake_pending(const struct sched *s)
{
    for (int k = 0; k < WAKE_KINDS; k++)
        if (s->wakes[k].n > 0)
            return true;
    return s->wake_deletions;
}

static void deadline_drop(struct sched *s, size_t i)
{
    s->deadlines[i] = s->deadlines[--s->n_deadlines];
}

static size_t deadline_find(const struct sched *s, enum wake_kind kind, int64_t id)
{
    size_t i = 0;
    while (i < s->n_deadlines && (s->deadlines[i].kind != kind || s->deadlines[i].id != id))
        i++;
    return i;
}

void wake_by(struct sched *s, enum wake_kind kind, int64_t id, int64_t at_us)
{
    size_t i = deadline_find(s, kind, id);
    if (i == s->n_deadlines || s->deadlines[i].at_us > at_us)
        wake_at(s, kind, id, at_us);
}

void wake_at(struct sched *s, enum wake_kind kind, int64_t id, int64_t at_us)
{
    size_t i = deadline_find(s, kind, id);
    if (at_us == 0) {
        if (i < s->n_deadlines)
            deadline_drop(s, i);
        return;
    }
    if (i == s->n_deadlines) {
        if (s->n_deadlines == s->cap_deadlines) {
            s->cap_deadlines = s->cap_deadlines ? s->cap_deadlines * 2 : 16;
            s->deadlines = xrealloc(s->deadlines, s->cap_deadlines * sizeof *s->deadlines);
        }
        s->n_deadlines++;
    }
    s->deadlines[i] = (struct deadline){kind, id, at_us};
}

void wake_arm(struct sched *s)
{
    if (s->stopping)
        return;
    if (wake_pending(s)) {
        uv_timer_start(&s->timer, wake_on_timer, 0, 0);
        return;
    }
    int64_t first = 0;
    for (size_t i = 0; i < s->n_deadlines; i++)
        if (first == 0 || s->deadlines[i].at_us < first)
            first = s->deadlines[i].at_us;
    if (first == 0) {
        uv_timer_stop(&s->timer);
        return;
    }
    int64_t left = first - sched_now(s);
    uv_timer_start(&s->timer, wake_on_timer,
                   left > 0 ? (uint64_t)((left + US_PER_MS - 1) / US_PER_MS) : 0, 0);
}

void wake_on_timer(uv_timer_t *t)
{
    struct sched *s = t->data;
    int64_t now = sched_now(s);
    for (size_t i = s->n_deadlines; i-- > 0;) {
        if (s->deadlines[i].at_us > now)
            continue;
        wake(s, s->deadlines[i].kind, s->deadlines[i].id);
        deadline_drop(s, i);
    }
}

struct durable {
    struct sched *s;
    int64_t id;
    sched_effect fn;
};

static void on_durable(void *ctx, const struct err *why)
{
    struct durable d = *(struct durable *)ctx;
    free(ctx);
    if (!d.s->stopping) {
        d.fn(d.s, d.id, why);
        /* After a rollback this runs at the end of a turn, when the timer was armed already. */
        wake_arm(d.s);
    }
    sched_unref(d.s);
}

void sched_after_durable(struct sched *s, int64_t id, sched_effect fn)
{
    struct durable *d = xcalloc(1, sizeof *d);
    *d = (struct durable){s, id, fn};
    sched_ref(s);
    st_when_durable(s->st, on_durable, d);
}

/* After a rollback not at once: on a full disk that would go round and round. */
static void wake_after(struct sched *s, enum wake_kind kind, int64_t id, const struct err *why)
{
    if (why)
        wake_at(s, kind, id, sched_now(s) + WRITE_AGAIN_US);
    else
        wake(s, kind, id);
}

void effect_wake_node(struct sched *s, int64_t id, const struct err *why)
{
    wake_after(s, WAKE_NODE, id, why);
}

void effect_wake_job(struct sched *s, int64_t id, const struct err *why)
{
    wake_after(s, WAKE_JOB, id, why);
}

void wake_short_clusters(struct sched *s)
{
    for (size_t i = 0; i < s->short_clusters.n; i++)
        wake(s, WAKE_CLUSTER, s->short_clusters.e[i].id);
}

/* splitmix64: no secrets depend on it. */
static uint64_t next_random(struct sched *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int64_t sched_jitter(struct sched *s, int64_t us)
{
    return us / 10 * 8 + (int64_t)(next_random(s) % (uint64_t)(us / 10 * 4 + 1));
}

void sched_ref(struct sched *s)
{
    s->refs++;
}
