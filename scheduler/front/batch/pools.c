/* SPDX-License-Identifier: MIT
 *
 * The sizes of pools. A resize ends when the core has reached the target, when the target can never
 * be reached, when it is stopped, or when its time limit has passed. In the last three cases the
 * core's target becomes the present size, and the pool's errors list the missing nodes.
 */
#include <limits.h>

#include "lib/strbuf.h"
#include "scheduler/front/batch/front_priv.h"

/* Why a resize ends before the target is reached. */
struct shortfall {
    /* "Desired number of CLASS nodes could not be allocated WHY"; or "removed" */
    const char *code, *why;
};
static const struct shortfall stopped = {"ResizeStopped", "due to a stop resize operation"},
                              timed_out = {"AllocationTimedout",
                                           "as the resize timeout was reached"},
                              too_many = {"AccountCoreQuotaReached",
                                          "because the site has no more nodes of this size"};

/* --- the present nodes ------------------------------------------------------------------------ */

struct nodes_of_pool {
    struct node *nodes;
    size_t n;
    int dedicated, low; /* nodes that stay */
};

static int count_nodes(struct storage *st, struct arena *a, int64_t pool_id,
                       struct nodes_of_pool *out, struct err *e)
{
    *out = (struct nodes_of_pool){0};
    if (st_node_list(st, a, pool_id, &out->nodes, &out->n, e) != 0)
        return -1;
    for (size_t i = 0; i < out->n; i++) {
        bool stays = out->nodes[i].state != NODE_LEAVING;
        bool low = out->nodes[i].vm_priority == VM_LOWPRIORITY;
        out->dedicated += stays && !low;
        out->low += stays && low;
    }
    return 0;
}

static void add_error(struct strbuf *out, const struct shortfall *why, const char *class,
                      bool shrinking)
{
    strbuf_printf(out,
                  "%s{\"code\":\"%s\","
                  "\"message\":\"Desired number of %s nodes could not be %s %s\"}",
                  out->len > 0 ? "," : "[", why->code, class, shrinking ? "removed" : "allocated",
                  why->why);
}

/* JSON text in the arena. NULL: no node is missing. */
static const char *errors_of(struct arena *a, const struct shortfall *why,
                             const struct batch_size *want, const struct nodes_of_pool *have)
{
    struct strbuf b = STRBUF_INIT;
    if (have->dedicated != want->dedicated)
        add_error(&b, why, "dedicated", have->dedicated > want->dedicated);
    if (have->low != want->low)
        add_error(&b, why, "low priority", have->low > want->low);
    const char *text = b.len > 0 ? arena_printf(a, "%s]", b.s) : NULL;
    strbuf_free(&b);
    return text;
}

/* --- the end of a resize ---------------------------------------------------------------------- */

/* Withdraws the request to leave from nodes that have not begun to leave. */
static int keep_nodes(const struct batch_front *f, const struct nodes_of_pool *have, struct err *e)
{
    for (size_t i = 0; i < have->n; i++)
        if (wish_leaves(have->nodes[i].wish) && have->nodes[i].state != NODE_LEAVING &&
            sched_node_ask(f->sched, &have->nodes[i], WISH_NOTHING, 0, e) < 0)
            return -1;
    return 0;
}

struct cut {
    const struct batch_front *f;
    struct arena *a;
    const struct batch_pool *p;
    const struct shortfall *why;
    const char *errors;          /* instead of the errors of `why`, or NULL */
    enum batch_allocation state; /* the new allocation state */
    int64_t now_us;
};

/* Sets the core's target to the present size. The pool's own target stays if nodes are missing. If
 * nodes were to leave, they stay, and a later resize of the other class alone must not remove them.
 */
static int cut_short(struct storage *st, void *ctx, struct err *e)
{
    const struct cut *c = ctx;
    struct nodes_of_pool have;
    struct batch_size size = c->p->size;
    if (count_nodes(st, c->a, c->p->id, &have, e) < 0)
        return -1;
    const struct scale scale = {SCALE_MANUAL, have.dedicated, .dealloc = c->p->dealloc,
                                .low = have.low};
    if (st_pool_set_scale(st, c->p->id, &scale, e) < 0 || keep_nodes(c->f, &have, e) < 0)
        return -1;
    if (c->state != size.state)
        size.state_us = c->now_us;
    size.state = c->state;
    size.errors = c->errors ? c->errors : errors_of(c->a, c->why, &size, &have);
    size.dedicated = have.dedicated > size.dedicated ? have.dedicated : size.dedicated;
    size.low = have.low > size.low ? have.low : size.low;
    if (st_batch_pool_set_size(st, c->p->id, &size, c->p->updated_us, e) < 0)
        return -1;
    sched_wake_pool(c->f->sched, c->p->id);
    return 0;
}

/* The deadline of a resize (monotonic). It is converted only once, because the wall clock may be
 * set later. */
static int64_t deadline(struct batch_front *f, const struct batch_pool *p)
{
    int64_t at_us = id_map_number(&f->unsettled, p->id);
    if (at_us == 0) {
        at_us = wakes_mono_of(f->wakes, p->size.began_us, p->size.timeout_us) + p->size.timeout_us;
        id_map_put_number(&f->unsettled, p->id, at_us);
    }
    return at_us;
}

static void settle_in_time(struct batch_front *f, const struct batch_pool *p)
{
    if (p->size.state == BATCH_ALLOCATION_RESIZING)
        wake_at(f->wakes, &woken_size, p->id, deadline(f, p));
}

/* Ends the resize of a pool if its time limit is over. 1: the pool exists; 0: it does not; -1:
 * error. */
static int look_at(struct batch_front *f, struct arena *a, int64_t id, struct err *e)
{
    struct batch_pool p;
    int rc = st_batch_pool_by_id(f->st, a, id, &p, e);
    if (rc == 0)
        id_map_remove(&f->unsettled, id);
    if (rc <= 0 || p.state == BATCH_POOL_DELETING || batch_pool_is_steady(&p))
        return rc;
    if (p.size.state == BATCH_ALLOCATION_STOPPING || wakes_mono(f->wakes) < deadline(f, &p)) {
        settle_in_time(f, &p);
        return 1;
    }
    /* Tries again later, because this write may be rolled back. */
    wake_at(f->wakes, &woken_size, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    struct cut c = {f, a, &p, &timed_out, NULL, BATCH_ALLOCATION_RESIZING, wakes_wall(f->wakes)};
    return st_tx(f->st, "end resize", cut_short, &c, e) < 0 ? -1 : 1;
}

static void reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    arena_init(&a);
    if (look_at(f, &a, id, &e) < 0) {
        LOG_ERROR(f->log, "pool.size_not_written", LF_INT("pool_id", id), LF_STR("why", e.msg));
        wake_at(f->wakes, &woken_size, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    }
    arena_free(&a);
}

/* Whether the target can never be reached: local nodes are limited. */
static bool never_so_many(const struct batch_front *f, const struct batch_pool *p)
{
    const struct scale any = {SCALE_MANUAL, INT_MAX, .dealloc = DEALLOC_REQUEUE};
    if (!sched_is_local(f->sched, p->vm_size, VM_DEDICATED))
        return false;
    int most = sched_most_nodes(f->sched, p->vm_size, VM_DEDICATED, &any);
    return (int64_t)p->size.dedicated + p->size.low > most;
}

static int settle(struct storage *st, const struct batch_pool *p, int64_t now_us, struct err *e)
{
    struct batch_size size = p->size;
    size.state = BATCH_ALLOCATION_STEADY;
    size.state_us = now_us;
    return st_batch_pool_set_size(st, p->id, &size, p->updated_us, e);
}

/* The resize has ended and is on disk: forgets it, unless another resize has begun meanwhile. */
static void effect_settled(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct batch_pool p;
    struct err e;
    arena_init(&a);
    int rc = why ? -1 : st_batch_pool_by_id(f->st, &a, id, &p, &e);
    if (rc == 0 || (rc == 1 && batch_pool_is_steady(&p)))
        id_map_remove(&f->unsettled, id);
    arena_free(&a);
}

int pool_scaled(const struct front *base, struct storage *st, const struct pool *core,
                const struct pool_scaled *s, int64_t now_us, struct err *e)
{
    const struct batch_front *f = batch_self(base);
    struct arena a;
    struct batch_pool p;
    if (!id_map_has(&f->unsettled, core->id) || (!s->settled && s->missing == 0))
        return 0;
    arena_init(&a);
    int rc = st_batch_pool_by_id(st, &a, core->id, &p, e);
    if (rc == 1 && !batch_pool_is_steady(&p)) {
        struct cut c = {f, &a, &p, &too_many, s->refused, p.size.state, now_us};
        if (s->settled)
            rc = settle(st, &p, now_us, e);
        else if (p.size.state == BATCH_ALLOCATION_RESIZING && (s->refused || never_so_many(f, &p)))
            rc = cut_short(st, &c, e);
    }
    if (rc >= 0 && s->settled)
        wake_when_durable(f->wakes, effect_settled, batch_self_rw((struct front *)base), core->id);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

/* --- requests --------------------------------------------------------------------------------- */

/* If the write of a request was rolled back, the earlier request is valid again, with its
 * deadline. */
static void effect_written(void *ctx, int64_t id, const struct err *why)
{
    struct batch_front *f = ctx;
    if (!why)
        return;
    id_map_put(&f->unsettled, id, NULL);
    wake(f->wakes, &woken_size, id);
}

static void begun(struct batch_front *f, const struct batch_pool *p)
{
    id_map_put(&f->unsettled, p->id, NULL);
    settle_in_time(f, p);
    wake_when_durable(f->wakes, effect_written, f, p->id);
    sched_wake_pool(f->sched, p->id);
}

int batch_pool_may_add(const struct batch_front *f, int64_t account_id, bool for_job, struct err *e)
{
    int64_t pools;
    if (f->quotas.pools == 0) /* without a limit, saves the time for counting rows */
        return 1;
    if (st_batch_pool_count(f->st, account_id, !for_job, &pools, e) < 0)
        return -1;
    return pools < f->quotas.pools;
}

int batch_pool_add(struct batch_front *f, const struct batch_pool *p, const char *secrets,
                   int64_t *id, struct err *e)
{
    struct batch_pool row = *p;
    row.state = BATCH_POOL_ACTIVE;
    row.state_us = row.size.state_us = row.size.began_us = row.created_us;
    row.size.state = BATCH_ALLOCATION_RESIZING;
    row.size.errors = NULL;
    if (batch_account_accepts(f, p->account_id, e) < 0 ||
        st_batch_pool_insert(f->st, &row, secrets, &row.id, e) < 0)
        return -1;
    *id = row.id;
    begun(f, &row);
    if (row.scaling.enabled)
        wake(f->wakes, &woken_formula, row.id);
    return 0;
}

struct resize {
    struct batch_front *f;
    struct batch_pool p; /* the pool after the resize */
    struct scale scale;
    const struct node *const *nodes; /* nodes that are to leave */
    size_t n;
};

static int write_resize(struct storage *st, void *ctx, struct err *e)
{
    const struct resize *z = ctx;
    for (size_t i = 0; i < z->n; i++)
        if (sched_node_ask(z->f->sched, z->nodes[i], WISH_LEAVE, z->scale.dealloc, e) < 0)
            return -1;
    if (st_pool_set_scale(st, z->p.id, &z->scale, e) < 0)
        return -1;
    return st_batch_pool_set_size(st, z->p.id, &z->p.size, z->p.updated_us, e);
}

static int begin_resize(struct resize *z, const struct batch_targets *t, int64_t updated_us,
                        struct err *e)
{
    int64_t now = wakes_wall(z->f->wakes);
    z->p.size = (struct batch_size){.dedicated = t->dedicated,
                                    .low = t->low,
                                    .timeout_us = t->timeout_us,
                                    .state = BATCH_ALLOCATION_RESIZING,
                                    .state_us = now,
                                    .began_us = now};
    z->p.updated_us = updated_us;
    z->scale = (struct scale){SCALE_MANUAL, t->dedicated, .dealloc = t->how, .low = t->low};
    if (st_tx(z->f->st, "resize pool", write_resize, z, e) < 0)
        return -1;
    begun(z->f, &z->p);
    return 0;
}

int batch_pool_resize(struct batch_front *f, const struct batch_pool *p,
                      const struct batch_targets *t, int64_t updated_us, struct err *e)
{
    struct resize z = {.f = f, .p = *p};
    return begin_resize(&z, t, updated_us, e);
}

/* A node that leaves already is not counted in the core's target. */
static void take_off(struct batch_targets *t, const struct node *nd)
{
    int *count = nd->vm_priority == VM_LOWPRIORITY ? &t->low : &t->dedicated;
    if (nd->state != NODE_LEAVING && *count > 0)
        (*count)--;
}

int batch_pool_remove_nodes(struct batch_front *f, const struct batch_pool *p,
                            const struct node *const *nodes, size_t n,
                            const struct batch_targets *t, int64_t updated_us, struct err *e)
{
    struct resize z = {.f = f, .p = *p, .nodes = nodes, .n = n};
    struct batch_targets left = *t;
    struct pool core;
    struct arena a;
    arena_init(&a);
    int rc = st_pool_by_id(f->st, &a, p->id, &core, e);
    if (rc == 1) {
        left.dedicated = core.scale.target;
        left.low = core.scale.low;
        for (size_t i = 0; i < n; i++)
            take_off(&left, nodes[i]);
        rc = begin_resize(&z, &left, updated_us, e);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

int batch_pool_stop_resize(struct batch_front *f, const struct batch_pool *p, struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct cut c = {f, &a, p, &stopped, NULL, BATCH_ALLOCATION_STOPPING, wakes_wall(f->wakes)};
    int rc = st_tx(f->st, "stop resize", cut_short, &c, e);
    if (rc == 0) {
        wake_at(f->wakes, &woken_size, p->id, 0);
        id_map_put(&f->unsettled, p->id, NULL);
        wake_when_durable(f->wakes, effect_written, f, p->id);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

void pools_go_on(struct batch_front *f)
{
    struct arena a;
    struct err e;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    if (st_batch_pool_unsettled_ids(f->st, &a, &ids, &n, &e) < 0) {
        LOG_ERROR(f->log, "pools.not_read", LF_STR("why", e.msg));
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (!id_map_has(&f->unsettled, ids[i])) /* otherwise its deadline stays */
            id_map_put(&f->unsettled, ids[i], NULL);
        wake(f->wakes, &woken_size, ids[i]);
    }
    arena_free(&a);
}

void pools_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_size, reconcile, f);
    pools_go_on(f);
}
