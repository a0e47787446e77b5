/* SPDX-License-Identifier: MIT
 *
 * Clusters. Node counts are computed from the nodes' index at every read, never stored.
 */
#include "storage/storage_priv.h"

static int *count_of(struct node_counts *counts, enum node_state state, bool runs)
{
    switch (state) {
    case NODE_PREPARING:
        return &counts->preparing;
    case NODE_IDLE:
        return runs ? &counts->running : &counts->idle;
    case NODE_LEAVING:
        return &counts->leaving;
    case NODE_UNUSABLE:
        return &counts->unusable;
    }
    return &counts->unusable;
}

static int fill_counts(struct storage *st, struct cluster *c, struct err *e)
{
    c->counts = (struct node_counts){0};
    struct q q;
    q_read(&q, st, ST_CLUSTER_NODE_COUNTS);
    q_int(&q, c->id);
    int rc;
    while ((rc = q_step(&q, e)) == 1) {
        enum node_state state = (enum node_state)c_int(&q);
        bool runs = c_int(&q) != 0;
        *count_of(&c->counts, state, runs) = (int)c_int(&q);
    }
    return rc;
}

struct new_cluster {
    const struct cluster *c;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct new_cluster *new = ctx;
    struct cluster c = *new->c;
    const struct pool p = {.kind = RES_CLUSTER,
                           .vm_size = c.vm_size,
                           .vm_priority = c.vm_priority,
                           .scale = c.scale,
                           .auto_target = c.auto_target,
                           .alloc_state = c.alloc_state,
                           .alloc_us = c.alloc_us,
                           .is_new = true,
                           .errors = c.errors};
    if (st_pool_insert(st, &p, &c.id, e) < 0)
        return -1;
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_INSERT, e) < 0)
        return -1;
    q_row(&q, &cluster_row, &c, new->secrets);
    if (q_insert(&q, new->id, e) < 0)
        return -1;
    const struct event ev = {
        .at_us = c.created_us, .kind = RES_CLUSTER, .resource_id = c.id, .to = (int)c.alloc_state};
    return st_event_add(st, &ev, e);
}

int st_cluster_insert(struct storage *st, const struct cluster *c, const char *secrets, int64_t *id,
                      struct err *e)
{
    struct new_cluster new = {c, secrets, id};
    return st_tx(st, "insert cluster", insert_both, &new, e);
}

int st_cluster_update_scale(struct storage *st, const struct cluster *c, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_UPDATE_SCALE, e) < 0)
        return -1;
    q_int(&q, c->id);
    q_text(&q, c->doc);
    q_int(&q, c->updated_us);
    if (q_change(&q, "cluster", c->id, e) < 0)
        return -1;
    return st_pool_set_scale(st, c->id, &c->scale, e);
}

static int one_with_counts(struct q *q, struct arena *a, struct cluster *out, struct err *e)
{
    int rc = q_one(q, a, &cluster_row, out, e);
    if (rc != 1)
        return rc;
    return fill_counts(q->st, out, e) < 0 ? -1 : 1;
}

int st_cluster_get(struct storage *st, struct arena *a, int64_t workspace_id, const char *name,
                   struct cluster *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_GET);
    q_int(&q, workspace_id);
    q_text(&q, name);
    return one_with_counts(&q, a, out, e);
}

int st_cluster_find(struct storage *st, struct arena *a, const struct scope *scope,
                    const char *name, struct cluster *out, struct err *e)
{
    const char *const names[] = {scope->subscription, scope->group, scope->workspace, name, NULL};
    return q_known(st, ST_CLUSTER_FIND, names, a, &cluster_row, out, e);
}

int st_cluster_by_id(struct storage *st, struct arena *a, int64_t id, struct cluster *out,
                     struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_BY_ID);
    q_int(&q, id);
    return one_with_counts(&q, a, out, e);
}

int st_cluster_list(struct storage *st, struct arena *a, const struct st_filter *f, int64_t after,
                    int limit, struct cluster **rows, size_t *n, struct err *e)
{
    static const struct filter_statements by = {ST_CLUSTER_LIST_SUBSCRIPTION, ST_CLUSTER_LIST_GROUP,
                                                ST_CLUSTER_LIST_WORKSPACE, ST_CLUSTER_LIST_NAMED};
    struct q q;
    q_filter(&q, st, f, &by);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &cluster_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    for (size_t i = 0; i < *n; i++) {
        if (fill_counts(st, &(*rows)[i], e) < 0)
            return -1;
    }
    return 0;
}

int st_cluster_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                       struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_SECRETS);
    q_int(&q, id);
    return q_secret(&q, a, secrets, e);
}

int st_cluster_names(struct storage *st, struct arena *a, int64_t id, const char **name,
                     const char **workspace, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_NAMES);
    q_int(&q, id);
    int rc = q_step(&q, e);
    if (rc != 1)
        return rc;
    *name = c_text(&q, a);
    *workspace = c_text(&q, a);
    q_end(&q);
    return 1;
}

int st_cluster_count(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_COUNT);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}
