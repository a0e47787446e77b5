/* SPDX-License-Identifier: MIT
 *
 * Workspaces, file servers and clusters of Batch AI: functions with more than one statement. A
 * cluster is a row beside the row of its pool; both are made and removed together, and its counts
 * of nodes are read with it. Each function runs in the transaction of its caller's turn, on the
 * loop.
 */
#include <assert.h>

#include "storage/storage_priv.h"

/* --- workspaces ------------------------------------------------------------------------------ */

int st_workspace_list(struct storage *st, struct arena *a, const struct st_filter *in,
                      const struct st_page *page, struct workspace_rows *rows, struct err *e)
{
    return in->group_id ? st_workspace_list_group(st, a, in->group_id, page, rows, e)
                        : st_workspace_list_subscription(st, a, in->subscription, page, rows, e);
}

/* --- file servers ---------------------------------------------------------------------------- */

int st_file_server_move(struct storage *st, int64_t id, enum prov_state from, enum prov_event ev,
                        int64_t now_us, struct err *e)
{
    enum prov_state to = prov_next(from, ev);
    assert(to != 0);
    return st_file_server_move_row(st, id, from, to, now_us, e);
}

int st_file_server_list(struct storage *st, struct arena *a, const struct st_filter *f,
                        const struct st_page *page, struct file_server_rows *rows, struct err *e)
{
    if (f->workspace_id)
        return st_file_server_list_workspace(st, a, f->workspace_id, page, rows, e);
    if (f->group_id)
        return st_file_server_list_group(st, a, f->group_id, page, rows, e);
    if (f->workspace)
        return st_file_server_list_named(st, a, f->subscription, f->workspace, page, rows, e);
    return st_file_server_list_subscription(st, a, f->subscription, page, rows, e);
}

/* --- clusters -------------------------------------------------------------------------------- */

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

static int fill_counts(struct storage *st, struct arena *a, struct cluster *c, struct err *e)
{
    struct node_tally *rows;
    size_t n;
    c->counts = (struct node_counts){0};
    if (st_cluster_tallies(st, a, c->id, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        *count_of(&c->counts, rows[i].state, rows[i].runs) = rows[i].n;
    return 0;
}

struct cluster_insert {
    const struct cluster *c;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct cluster_insert *new = ctx;
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
    if (st_cluster_insert_row(st, &c, new->secrets, new->id, e) < 0)
        return -1;
    const struct event ev = {
        .at_us = c.created_us, .kind = RES_CLUSTER, .resource_id = c.id, .to = (int)c.alloc_state};
    return st_event_add(st, &ev, e);
}

int st_cluster_insert(struct storage *st, const struct cluster *c, const char *secrets, int64_t *id,
                      struct err *e)
{
    struct cluster_insert new = {c, secrets, id};
    return st_tx(st, "insert cluster", insert_both, &new, e);
}

int st_cluster_update_scale(struct storage *st, const struct cluster *c, struct err *e)
{
    return st_cluster_write_doc(st, c, e) < 0 ? -1 : st_pool_set_scale(st, c->id, &c->scale, e);
}

int st_cluster_get(struct storage *st, struct arena *a, int64_t workspace_id, const char *name,
                   struct cluster *out, struct err *e)
{
    int rc = st_cluster_named(st, a, workspace_id, name, out, e);
    return rc == 1 && fill_counts(st, a, out, e) < 0 ? -1 : rc;
}

int st_cluster_by_id(struct storage *st, struct arena *a, int64_t id, struct cluster *out,
                     struct err *e)
{
    int rc = st_cluster_with_id(st, a, id, out, e);
    return rc == 1 && fill_counts(st, a, out, e) < 0 ? -1 : rc;
}

static int rows_of(struct storage *st, struct arena *a, const struct st_filter *f,
                   const struct st_page *page, struct cluster_rows *rows, struct err *e)
{
    if (f->workspace_id)
        return st_cluster_list_workspace(st, a, f->workspace_id, page, rows, e);
    if (f->group_id)
        return st_cluster_list_group(st, a, f->group_id, page, rows, e);
    if (f->workspace)
        return st_cluster_list_named(st, a, f->subscription, f->workspace, page, rows, e);
    return st_cluster_list_subscription(st, a, f->subscription, page, rows, e);
}

int st_cluster_list(struct storage *st, struct arena *a, const struct st_filter *f,
                    const struct st_page *page, struct cluster_rows *rows, struct err *e)
{
    if (rows_of(st, a, f, page, rows, e) < 0)
        return -1;
    for (size_t i = 0; i < rows->n; i++)
        if (fill_counts(st, a, &rows->items[i], e) < 0)
            return -1;
    return 0;
}
