/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch in a world of virtual time.
 */
#ifndef TEST_SCHEDULER_BATCH_POOLS_H
#define TEST_SCHEDULER_BATCH_POOLS_H

#include "nodeagent-proto/link/fake_priv.h"
#include "scheduler/wake/wake.h"
#include "test/unit/scheduler/virtual.h"

#define MINUTE (60 * SECOND)

static inline int64_t add_account(struct world *w)
{
    struct err e = {0};
    int64_t id, now = time_now_us();
    const struct account_keys keys = {0};
    const struct batch_account b = {.group_id = w->group,
                                    .name = "acct",
                                    .scope = {.location = "here"},
                                    .doc = "{}",
                                    .prov_state = PROV_SUCCEEDED,
                                    .created_us = now,
                                    .updated_us = now};
    struct batch_account there;
    int rc = st_batch_account_by_name(w->st, &w->a, "acct", &there, &e);
    ok(rc, &e);
    if (rc == 1)
        return there.id;
    ok(st_batch_account_insert(w->st, &b, &keys, &id, &e), &e);
    return id;
}

/* Sets the account and the times of the pool, and the document if there is none. */
static inline int64_t put_pool(struct world *w, struct batch_pool p)
{
    struct err e = {0};
    int64_t id;
    p.account_id = add_account(w);
    p.doc = p.doc ? p.doc : "{}";
    p.created_us = p.updated_us = wakes_wall(sched_wakes(w->s));
    p.size.timeout_us = 15 * MINUTE;
    ok(batch_pool_add(&w->batch, &p, NULL, &id, &e), &e);
    return id;
}

static inline int64_t add_pool_of(struct world *w, const char *name, const char *vm_size, int own,
                                  int low)
{
    return put_pool(w, (struct batch_pool){.name = name,
                                           .size = {.dedicated = own, .low = low},
                                           .vm_size = vm_size,
                                           .dealloc = DEALLOC_REQUEUE,
                                           .slots = 2});
}

static inline int64_t add_pool(struct world *w, const char *name, int own, int low)
{
    return add_pool_of(w, name, "STANDARD_D1", own, low);
}

static inline struct batch_pool pool_row(struct world *w, int64_t id)
{
    struct err e = {0};
    struct batch_pool p;
    if (st_batch_pool_by_id(w->st, &w->a, id, &p, &e) != 1)
        fail_msg("the pool %lld is not there: %s", (long long)id, e.msg);
    return p;
}

static inline bool steady(struct world *w, int64_t id)
{
    struct batch_pool p = pool_row(w, id);
    return batch_pool_is_steady(&p);
}

static inline size_t nodes_in(struct world *w, int64_t id, enum node_state state, struct node **out)
{
    struct node *nodes;
    size_t n, k = 0;
    n = nodes_of(w, id, &nodes);
    for (size_t i = 0; i < n; i++)
        if (nodes[i].state == state)
            nodes[k++] = nodes[i];
    if (out)
        *out = nodes;
    return k;
}

/* The pool is steady, and so many of its nodes are idle. */
static inline bool has_nodes(struct world *w, int64_t id, size_t n)
{
    return steady(w, id) && nodes_in(w, id, NODE_IDLE, NULL) == n;
}

/* How many tasks the node has not forgotten. */
static inline int tasks_known(const struct fake_node *n)
{
    int known = 0;
    for (const struct fake_node_task *t = n->tasks; t; t = t->next)
        known++;
    return known;
}

static inline void resize_to(struct world *w, int64_t id, int own, int low)
{
    struct err e = {0};
    struct batch_pool p = pool_row(w, id);
    const struct batch_targets t = {own, low, 15 * MINUTE, DEALLOC_REQUEUE};
    ok(batch_pool_resize(&w->batch, &p, &t, p.updated_us + 1, &e), &e);
}

#endif
