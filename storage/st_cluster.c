/* SPDX-License-Identifier: MIT
 *
 * Clusters. Node counts are counted from the nodes' index with every read, never kept aside.
 */
#include "storage/storage_priv.h"

static void read_cluster(struct q *q, struct arena *a, void *row)
{
    struct cluster *c = row;
    c->id = c_int(q);
    c->workspace_id = c_int(q);
    c->name = c_text(q, a);
    c->guid = c_text(q, a);
    c->doc = c_text(q, a);
    c->vm_size = c_text(q, a);
    c->vm_priority = (enum vm_priority)c_int(q);
    c->scale.kind = (enum scale_kind)c_int(q);
    c->scale.target = (int)c_int(q);
    c->scale.dealloc = (enum dealloc_option)c_int(q);
    c->scale.minimum = (int)c_int(q);
    c->scale.maximum = (int)c_int(q);
    c->scale.initial = (int)c_int(q);
    c->auto_target = (int)c_int(q);
    c->prov_state = (enum prov_state)c_int(q);
    c->alloc_state = (enum alloc_state)c_int(q);
    c->prov_us = c_int(q);
    c->alloc_us = c_int(q);
    c->created_us = c_int(q);
    c->updated_us = c_int(q);
    c->errors = c_text(q, a);
    c->scope = (struct scope){0};
    c_scope(q, a, SCOPE_WORKSPACE, &c->scope);
}

static void count_nodes(struct node_counts *counts, enum node_state state, int n)
{
    switch (state) {
    case NODE_PREPARING:
        counts->preparing = n;
        break;
    case NODE_IDLE:
        counts->idle = n;
        break;
    case NODE_RUNNING:
        counts->running = n;
        break;
    case NODE_LEAVING:
        counts->leaving = n;
        break;
    case NODE_UNUSABLE:
        counts->unusable = n;
        break;
    }
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
        count_nodes(&c->counts, state, (int)c_int(&q));
    }
    return rc;
}

static void bind_scale(struct q *q, const struct scale *s)
{
    q_int(q, s->kind);
    q_int(q, s->target);
    q_int(q, s->dealloc);
    q_int(q, s->minimum);
    q_int(q, s->maximum);
    q_int(q, s->initial);
}

int st_cluster_insert(struct storage *st, const struct cluster *c, const char *secrets, int64_t *id,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_INSERT, e) < 0)
        return -1;
    q_int(&q, c->workspace_id);
    q_text(&q, c->name);
    q_text(&q, c->guid);
    q_text(&q, c->doc);
    q_text(&q, c->vm_size);
    q_int(&q, c->vm_priority);
    bind_scale(&q, &c->scale);
    q_int(&q, c->auto_target);
    q_int(&q, c->prov_state);
    q_int(&q, c->alloc_state);
    q_int(&q, c->prov_us);
    q_int(&q, c->alloc_us);
    q_int(&q, c->created_us);
    q_int(&q, c->updated_us);
    q_text(&q, c->errors);
    q_sealed(&q, secrets);
    return q_insert(&q, id, e);
}

int st_cluster_update_scale(struct storage *st, const struct cluster *c, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_UPDATE_SCALE, e) < 0)
        return -1;
    q_int(&q, c->id);
    q_text(&q, c->doc);
    bind_scale(&q, &c->scale);
    q_int(&q, c->updated_us);
    return q_change(&q, "cluster", c->id, e);
}

static int one_with_counts(struct q *q, struct arena *a, struct cluster *out, struct err *e)
{
    int rc = q_one(q, a, read_cluster, out, e);
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
    if (q_rows(&q, a, read_cluster, sizeof **rows, &items, n, e) < 0)
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

int st_cluster_set_alloc(struct storage *st, int64_t id, enum alloc_state from, enum alloc_state to,
                         int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_SET_ALLOC, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, from);
    q_int(&q, to);
    q_int(&q, now_us);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_CLUSTER_ALLOC, "Cluster", alloc_state_names, id, from, to, e);
}

int st_cluster_set_auto_target(struct storage *st, int64_t id, int target, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_SET_AUTO_TARGET, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, target);
    return q_change(&q, "cluster", id, e);
}

int st_cluster_set_errors(struct storage *st, int64_t id, const char *errors, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_CLUSTER_SET_ERRORS, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, errors);
    return q_change(&q, "cluster", id, e);
}

int st_cluster_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_cluster_count(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_CLUSTER_COUNT);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}
