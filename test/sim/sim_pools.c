/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch beside clusters: they are made, resized, stopped, scaled by formulas and
 * deleted, and lose nodes that are taken out of them.
 */
#include <stdio.h>
#include <string.h>

#include "test/sim/sim_view.h"

#define POOLS_MAX         3
#define MINUTE            (60 * SECOND)
#define INTERVAL_US       (5 * MINUTE)
#define LONGEST_RESIZE_US (16 * MINUTE) /* of those that are asked for here, and some more */

static int any(struct sim *m, int n)
{
    return (int)(sim_random(&m->t) % (uint64_t)n);
}

static int64_t now_us(const struct sim *m)
{
    return loop_wall_us(m->life->loop);
}

/* --- what there is ---------------------------------------------------------------------------- */

struct pools {
    struct batch_pool *all;
    size_t n;
    int64_t account; /* 0: there is none */
};

/* Of all pools of the core those that are Azure Batch's. */
static int read_all(struct sim *m, struct pools *out, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_pool_ids(m->life->st, &m->a, &ids, &n, e) < 0)
        return -1;
    out->all = arena_alloc(&m->a, (n + 1) * sizeof *out->all);
    for (size_t i = 0; i < n; i++) {
        int rc = st_batch_pool_by_id(m->life->st, &m->a, ids[i], &out->all[out->n], e);
        if (rc < 0)
            return -1;
        out->n += (size_t)rc;
    }
    return 0;
}

static bool read_pools(struct sim *m, struct pools *out)
{
    struct batch_account b;
    struct err e = {0};
    *out = (struct pools){0};
    int rc = st_batch_account_by_name(m->life->st, &m->a, "acct", &b, &e);
    if (rc == 1) {
        out->account = b.id;
        rc = read_all(m, out, &e);
    }
    return sim_ok(m, rc < 0 ? -1 : 0, &e, "pools");
}

static const struct batch_pool *active_pool(struct sim *m, struct pools *p)
{
    if (!read_pools(m, p) || p->n == 0)
        return NULL;
    const struct batch_pool *one = &p->all[any(m, (int)p->n)];
    return one->state == BATCH_POOL_ACTIVE ? one : NULL;
}

/* --- requests --------------------------------------------------------------------------------- */

/* In the turn of the first pool, so that both are there or neither. */
static bool make_account(struct sim *m, int64_t *id)
{
    struct err e = {0};
    int64_t group, now = now_us(m);
    const struct account_keys keys = {0};
    const struct resource_group g = {.subscription = "sub",
                                     .name = "batch",
                                     .location = "here",
                                     .prov_state = PROV_SUCCEEDED,
                                     .created_us = now,
                                     .updated_us = now};
    if (!sim_ok(m, st_group_insert(m->life->st, &g, &group, &e), &e, "group"))
        return false;
    const struct batch_account b = {.group_id = group,
                                    .name = "acct",
                                    .scope = {.location = "here"},
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED,
                                    .created_us = now,
                                    .updated_us = now};
    return sim_ok(m, st_batch_account_insert(m->life->st, &b, &keys, id, &e), &e, "account");
}

/* Half of the pools have no order of jobs, as those of older versions. */
static const char *pool_doc(struct sim *m, bool team)
{
    static const char *const orders[] = {"none", "creationtime"};
    const char *order = any(m, 2) ? orders[any(m, 2)] : NULL;
    return arena_printf(&m->a, "{\"enableInterNodeCommunication\":%s%s%s%s}",
                        team ? "true" : "false",
                        order ? ",\"taskSchedulingPolicy\":{\"nodeFillType\":\"spread\","
                                "\"jobDefaultOrder\":\""
                              : "",
                        order ? order : "", order ? "\"}" : "");
}

void sim_add_pool(struct sim *m)
{
    struct pools p;
    struct err e = {0};
    int64_t now = now_us(m);
    if (!read_pools(m, &p) || p.n >= POOLS_MAX || (p.account == 0 && !make_account(m, &p.account)))
        return;
    bool team = any(m, 5) < 2;
    const struct batch_pool pool = {
        .account_id = p.account,
        .name = arena_printf(&m->a, "p%d", m->n_made++),
        .doc = pool_doc(m, team),
        .created_us = now,
        .updated_us = now,
        .size = {.dedicated = any(m, 4), .low = any(m, 3), .timeout_us = (5 + any(m, 10)) * MINUTE},
        .vm_size = any(m, 3) ? LOCAL_SIZE : MACHINE_SIZE,
        .dealloc = DEALLOC_REQUEUE,
        .slots = team ? 1 : 1 + any(m, 3)};
    int64_t id;
    if (sim_ok(m, batch_pool_add(&m->life->batch, &pool, NULL, &id, &e), &e, "pool"))
        sim_trace(m, "pool %s of %d and %d", pool.name, pool.size.dedicated, pool.size.low);
}

static void resize(struct sim *m, const struct batch_pool *p)
{
    static const enum dealloc_option options[] = {DEALLOC_REQUEUE, DEALLOC_TERMINATE,
                                                  DEALLOC_WAIT_FOR_COMPLETION};
    struct err e = {0};
    const struct batch_targets t = {any(m, 5), any(m, 4), (5 + any(m, 10)) * MINUTE,
                                    options[any(m, 3)]};
    if (!batch_pool_is_steady(p) || p->scaling.enabled)
        return;
    sim_trace(m, "pool %s becomes one of %d and %d", p->name, t.dedicated, t.low);
    (void)sim_ok(m, batch_pool_resize(&m->life->batch, p, &t, now_us(m), &e), &e, "resize");
}

static void stop_resize(struct sim *m, const struct batch_pool *p)
{
    struct err e = {0};
    if (p->size.state != BATCH_ALLOCATION_RESIZING)
        return;
    sim_trace(m, "the resize of pool %s stops", p->name);
    (void)sim_ok(m, batch_pool_stop_resize(&m->life->batch, p, &e), &e, "stop resize");
}

static void remove_node(struct sim *m, const struct batch_pool *p)
{
    struct err e = {0};
    struct node *nodes;
    size_t n;
    if (!batch_pool_is_steady(p) || p->scaling.enabled ||
        !sim_ok(m, st_node_list(m->life->st, &m->a, p->id, &nodes, &n, &e), &e, "nodes") || n == 0)
        return;
    const struct node *one = &nodes[any(m, (int)n)];
    const struct batch_targets t = {.timeout_us = 5 * MINUTE, .how = DEALLOC_REQUEUE};
    sim_trace(m, "node %s is to leave pool %s", one->name, p->name);
    (void)sim_ok(m, batch_pool_remove_nodes(&m->life->batch, p, &one, 1, &t, now_us(m), &e), &e,
                 "removal");
}

static void scale_by(struct sim *m, const struct batch_pool *p, const char *formula)
{
    struct err e = {0};
    const struct batch_auto_scale s = {
        .enabled = formula != NULL, .formula = formula, .interval_us = INTERVAL_US};
    sim_trace(m, "pool %s is scaled by %s", p->name, formula ? formula : "nothing");
    (void)sim_ok(m, batch_pool_scale_by(&m->life->batch, p, &s, now_us(m), &e), &e, "formula");
}

static void scale(struct sim *m, const struct batch_pool *p)
{
    static const char *const formulas[] = {
        NULL,
        "$TargetDedicatedNodes = rand() * 4; $TargetLowPriorityNodes = rand() * 3",
        "$TargetDedicatedNodes = min(3, $PendingTasks.GetSample(TimeInterval_Minute * 2, 60) + 1)",
        "$TargetDedicatedNodes = $CurrentDedicatedNodes > 1 ? 0 : 2",
        "$TargetDedicatedNodes = $CPUPercent.GetSamplePercent(TimeInterval_Hour) > 1 ? 1 : 2",
        "nothing"};
    if (batch_pool_is_steady(p))
        scale_by(m, p, formulas[any(m, (int)(sizeof formulas / sizeof *formulas))]);
}

static void delete (struct sim *m, const struct batch_pool *p)
{
    struct err e = {0};
    sim_trace(m, "pool %s is deleted", p->name);
    (void)sim_ok(m, batch_pool_delete(&m->life->batch, p, now_us(m), &e), &e, "delete");
}

const struct batch_pool *sim_any_pool(struct sim *m)
{
    struct pools p;
    return active_pool(m, &p);
}

void sim_change_pool(struct sim *m)
{
    static void (*const changes[])(struct sim *, const struct batch_pool *) = {
        resize, resize, stop_resize, remove_node, scale, scale, delete};
    struct pools p;
    const struct batch_pool *one = active_pool(m, &p);
    if (one)
        changes[any(m, (int)(sizeof changes / sizeof *changes))](m, one);
}

/* --- what must hold --------------------------------------------------------------------------- */

/* Machines that were taken back leave while others come in their place. */
static int leaving(struct sim *m, int64_t pool)
{
    struct node *nodes;
    size_t n;
    struct err e;
    int found = 0;
    if (st_node_list(m->life->st, &m->a, pool, &nodes, &n, &e) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        found += nodes[i].state == NODE_LEAVING;
    return found;
}

void sim_pools_check(struct sim *m)
{
    struct pools p;
    if (!read_pools(m, &p))
        return;
    for (size_t i = 0; i < p.n; i++) {
        const struct batch_pool *one = &p.all[i];
        int more = one->has_dedicated + one->has_low - one->size.dedicated - one->size.low;
        if (one->state == BATCH_POOL_ACTIVE && batch_pool_is_steady(one) && !one->size.errors &&
            more > 0 && more > leaving(m, one->id))
            sim_fail(m, "pool %s is steady at %d and %d nodes, and has %d and %d", one->name,
                     one->size.dedicated, one->size.low, one->has_dedicated, one->has_low);
    }
}

/* By now every resize is over, and formulas were evaluated by their interval. */
static void check_one(struct sim *m, const struct batch_pool *p)
{
    int64_t ago = now_us(m) - p->scaling.evaluated_us;
    if (!p->scaling.enabled && !batch_pool_is_steady(p))
        sim_fail(m, "the resize of pool %s does not end", p->name);
    if (p->scaling.enabled && ago > INTERVAL_US + MINUTE)
        sim_fail(m, "the formula of pool %s was evaluated %lld s ago", p->name,
                 (long long)(ago / SECOND));
}

void sim_pools_settle(struct sim *m)
{
    struct pools p;
    sim_pass(m, LONGEST_RESIZE_US);
    if (sim_failed(m) || !read_pools(m, &p))
        return;
    for (size_t i = 0; i < p.n && !sim_failed(m); i++)
        if (p.all[i].state == BATCH_POOL_ACTIVE)
            check_one(m, &p.all[i]);
}

static void give(struct sim *m, const struct batch_pool *p, int nodes)
{
    const struct batch_targets t = {
        .dedicated = nodes, .timeout_us = 5 * MINUTE, .how = DEALLOC_REQUEUE};
    struct err e = {0};
    if (p->scaling.enabled)
        scale_by(m, p, NULL);
    (void)sim_ok(m, batch_pool_resize(&m->life->batch, p, &t, now_us(m), &e), &e, "resize");
}

void sim_pools_resize(struct sim *m, int nodes)
{
    struct pools p;
    if (!read_pools(m, &p))
        return;
    for (size_t i = 0; i < p.n && !sim_failed(m); i++)
        if (p.all[i].state == BATCH_POOL_ACTIVE)
            give(m, &p.all[i], nodes);
}

void sim_pools_heal(struct sim *m)
{
    struct pools p;
    if (!read_pools(m, &p))
        return;
    for (size_t i = 0; i < p.n && !sim_failed(m); i++) {
        if (p.all[i].state != BATCH_POOL_ACTIVE)
            continue;
        if (i % 2)
            delete (m, &p.all[i]);
        else
            give(m, &p.all[i], 0);
    }
}

bool sim_pools_at_rest(struct sim *m, char *why, size_t size)
{
    struct pools p;
    if (!read_pools(m, &p))
        return true;
    for (size_t i = 0; i < p.n; i++) {
        const struct batch_pool *one = &p.all[i];
        if (one->state == BATCH_POOL_ACTIVE && batch_pool_is_steady(one) &&
            one->has_dedicated + one->has_low == 0)
            continue;
        snprintf(why, size, "pool %s in state %d, allocation state %d, has %d and %d nodes",
                 one->name, (int)one->state, (int)one->size.state, one->has_dedicated,
                 one->has_low);
        return false;
    }
    return true;
}
