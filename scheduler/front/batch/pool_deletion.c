/* SPDX-License-Identifier: MIT
 *
 * The core removes the nodes of pools in state deleting; a pool is removed when it has no node and
 * no waiting run.
 */
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/wake/paced.h"

/* One reconcile for all pools that are being deleted. */
static const struct wake_kind woken_pool_deletions = {"batch deletions", WAKE_LAST};

static int is_held_up(struct batch_front *f, struct arena *a, int64_t id, bool *held, struct err *e)
{
    struct batch_pool p;
    *held = false;
    if (!pace_is_on(wakes_pace(f->wakes), NULL))
        return 0;
    int rc = st_batch_pool_by_id(f->st, a, id, &p, e);
    if (rc <= 0)
        return rc;
    const struct paced deletion = {
        .step = PACE_POOL_DELETION, .pool_id = id, .since_us = p.state_us};
    *held = wake_paced(f->wakes, &woken_pool_deletions, WAKE_ALL, &deletion);
    return 0;
}

static int remove_pool(struct batch_front *f, struct arena *a, int64_t id, bool *gone,
                       struct err *e)
{
    bool may, held;
    *gone = false;
    if (is_held_up(f, a, id, &held, e) < 0 || sched_pool_cleared(f->sched, a, id, &may, e) < 0)
        return -1;
    if (held || !may)
        return 0;
    *gone = true;
    if (st_batch_pool_remove(f->st, id, e) < 0)
        return -1;
    id_map_remove(&f->unsettled, id);
    id_map_remove(&f->enabled, id);
    wake_at(f->wakes, &woken_size, id, 0);
    sched_pool_gone(f->sched, id);
    LOG_INFO(f->log, "pool.deleted", LF_INT("pool_id", id));
    return 0;
}

/* If a deletion could not be written, the pools continue as before. */
static void effect_marked(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    (void)id;
    if (!why)
        return;
    pools_go_on(f);
    autoscale_go_on(f);
}

static void effect_removed(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    effect_marked(f, id, why);
    if (why)
        wake_at(f->wakes, &woken_pool_deletions, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

static void reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    int64_t *ids;
    size_t n;
    bool any = false;
    arena_init(&a);
    int rc = st_batch_pool_removable_ids(f->st, &a, &ids, &n, &e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool gone = false;
        rc = remove_pool(f, &a, ids[i], &gone, &e);
        any = any || gone;
    }
    if (rc < 0) {
        LOG_ERROR(f->log, "pool.not_removed", LF_STR("why", e.msg));
        wake_at(f->wakes, &woken_pool_deletions, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    }
    if (any) {
        wake_when_durable(f->wakes, effect_removed, f, id);
        sched_row_gone(f->sched);
    }
    arena_free(&a);
}

void pools_may_remove(struct front *f)
{
    wake(batch_self_rw(f)->wakes, &woken_pool_deletions, WAKE_ALL);
}

int batch_pool_delete(struct batch_front *f, const struct batch_pool *p, int64_t now_us,
                      struct err *e)
{
    if (st_batch_pool_mark(f->st, p->id, now_us, e) < 0)
        return -1;
    sched_wake_pool(f->sched, p->id);
    pools_may_remove(&f->front);
    wake_when_durable(f->wakes, effect_marked, f, p->id);
    return 0;
}

void pool_deletions_begin(struct batch_front *f)
{
    struct err e;
    wakes_handle(f->wakes, &woken_pool_deletions, reconcile, f);
    if (wake_listed(f->wakes, &woken_pool, st_batch_pool_deleting_ids, &e) < 0)
        LOG_ERROR(f->log, "pools.not_read", LF_STR("why", e.msg));
    pools_may_remove(&f->front);
}
