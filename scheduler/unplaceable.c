/* SPDX-License-Identifier: MIT
 *
 * Waiting runs that request more nodes than their pool has. A run that requests more than the
 * pool's scale allows is skipped until the pool is resized (plan.h); this is reported to the front
 * once for each size of the pool. A run within the scale that cannot have its nodes now blocks all
 * runs behind it; this is reported once for each number of nodes.
 */
#include "scheduler/unplaceable.h"

#include <assert.h>

#include "model/capacity.h"
#include "scheduler/plan.h"

/* The most runs to report for one size of a pool. Nobody reads more reports. Each report writes a
 * file, and a user who submits thousands of runs before scaling up should not wait for so many
 * files. */
#define TOLD_MOST 64

static void tell(struct sched *s, const struct run_waiting *w)
{
    const struct front *f = front_of(&s->fronts, w->pool->kind);
    if (f->ops->waits)
        f->ops->waits(f, s->st, w);
}

static void tell_too_large(struct sched *s, const struct pool *p, const struct run *r)
{
    tell(s, &(struct run_waiting){.pool = p, .run = r, .why = WAITS_FOR_SCALE});
}

/* Packs a value of told_sizes: the most nodes that the pool's scale allows a run, plus 1, and how
 * many runs were reported; or of told_blocked: how many nodes were available, and the reported
 * run. */
static int64_t told(int largest, size_t n)
{
    assert(largest >= 0);
    return ((int64_t)n << 32) | ((int64_t)largest + 1);
}

static bool is_told(const struct sched *s, int64_t pool, int largest, size_t *n)
{
    int64_t was = id_map_number(&s->told_sizes, pool);
    *n = (size_t)(was >> 32);
    return (was & UINT32_MAX) == (int64_t)largest + 1;
}

int oversized_look(struct sched *s, struct arena *a, const struct pool *p, struct err *e)
{
    int largest = plan_largest(&p->scale);
    struct run *runs;
    size_t n;
    if (is_told(s, p->id, largest, &n))
        return 0;
    if (st_run_oversized(s->st, a, p->id, largest, TOLD_MOST, &runs, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        tell_too_large(s, p, &runs[i]);
    id_map_put_number(&s->told_sizes, p->id, told(largest, n));
    return 0;
}

int oversized_blocks(struct sched *s, struct arena *a, const struct pool *p,
                     const struct pool_nodes *have, struct err *e)
{
    int largest = plan_largest(&p->scale);
    struct run *first;
    size_t n;
    if (have->no_use + have->missing == 0 || have->usable >= largest)
        return 0;
    if (st_run_queue(s->st, a, p->id, largest, 1, &first, &n, e) != 0)
        return -1;
    if (n == 0 || first->nodes <= have->usable)
        return 0;
    int64_t now = told(have->usable, (size_t)first->id);
    if (id_map_number(&s->told_blocked, p->id) == now)
        return 0;
    id_map_put_number(&s->told_blocked, p->id, now);
    tell(s, &(struct run_waiting){.pool = p, .run = first, .why = WAITS_FOR_NODES, .have = have});
    return 0;
}

static bool fits_some(const struct run *r, const struct node *nodes, size_t n_nodes)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (capacity_fits(&nodes[i].has, &r->need))
            return true;
    return false;
}

static bool some_are_known(const struct node *nodes, size_t n_nodes)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (nodes[i].state == NODE_IDLE)
            return true;
    return false;
}

/* The most runs to remember as reported. If there are more, all are reported again. */
#define LARGER_MAX 65536

static void tell_larger(struct sched *s, const struct pool *p, const struct run *r)
{
    if (id_map_has(&s->told_larger, r->id))
        return;
    tell(s, &(struct run_waiting){.pool = p, .run = r, .why = WAITS_FOR_LARGER_NODES});
    if (s->told_larger.n >= LARGER_MAX) {
        id_map_free(&s->told_larger);
        s->told_larger = (struct id_map){0};
    }
    id_map_put_number(&s->told_larger, r->id, p->id);
}

/* Begins again with the first run after the last, because nodes leave, and because a run that was
 * held has a lower id than runs that were checked before its release. */
int oversized_parts(struct sched *s, struct arena *a, const struct pool *p,
                    const struct node *nodes, size_t n_nodes, struct err *e)
{
    struct run_rows runs;
    int64_t last = id_map_number(&s->told_parts, p->id);
    if (!some_are_known(nodes, n_nodes))
        return 0;
    if (st_run_parts_after(s->st, a, p->id, &(struct st_page){.after = last, .limit = TOLD_MOST},
                           &runs, e) != 0)
        return -1;
    for (size_t i = 0; i < runs.n; i++)
        if (!fits_some(&runs.items[i], nodes, n_nodes))
            tell_larger(s, p, &runs.items[i]);
    if (runs.n == TOLD_MOST)
        id_map_put_number(&s->told_parts, p->id, runs.items[runs.n - 1].id);
    else
        id_map_remove(&s->told_parts, p->id);
    return 0;
}

void oversized_forget(struct sched *s, int64_t pool_id)
{
    for (size_t i = s->told_larger.n; i-- > 0;)
        if (id_map_number(&s->told_larger, s->told_larger.e[i].id) == pool_id)
            id_map_remove(&s->told_larger, s->told_larger.e[i].id);
    id_map_remove(&s->told_parts, pool_id);
    id_map_remove(&s->told_sizes, pool_id);
    id_map_remove(&s->told_blocked, pool_id);
}

static int tell_of(struct sched *s, struct arena *a, int64_t pool_id, enum resource_kind owner,
                   int64_t owner_id, struct err *e)
{
    struct run r;
    struct pool p;
    int rc = st_run_of(s->st, a, owner, owner_id, 0, &r, e);
    if (rc == 1)
        rc = st_pool_by_id(s->st, a, pool_id, &p, e);
    if (rc == 1)
        tell_too_large(s, &p, &r);
    return rc;
}

void sched_run_queued(struct sched *s, int64_t pool_id, const struct scale *scale,
                      enum resource_kind owner, int64_t owner_id, int nodes)
{
    struct arena a;
    struct err e = {0};
    int largest = plan_largest(scale);
    size_t n = 0;
    bool known = is_told(s, pool_id, largest, &n);
    wake(s->wakes, &woken_pool, pool_id);
    if (nodes <= largest || (known && n >= TOLD_MOST))
        return;
    arena_init(&a);
    if (tell_of(s, &a, pool_id, owner, owner_id, &e) < 0)
        LOG_ERROR(s->log, "run.node_count_not_checked", LF_INT("row_id", owner_id),
                  LF_STR("why", e.msg));
    else if (known)
        id_map_put_number(&s->told_sizes, pool_id, told(largest, n + 1));
    arena_free(&a);
}
