/* SPDX-License-Identifier: MIT
 *
 * Workspaces and experiments.
 */
#include "storage/storage_priv.h"

int st_workspace_insert(struct storage *st, const struct workspace *w, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_WORKSPACE_INSERT, e) < 0)
        return -1;
    q_row(&q, &workspace_row, w, NULL);
    return q_insert(&q, id, e);
}

int st_workspace_update_tags(struct storage *st, int64_t id, const char *tags, int64_t now_us,
                             struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_WORKSPACE_TAGS, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, tags);
    q_int(&q, now_us);
    return q_change(&q, "workspace", id, e);
}

int st_workspace_get(struct storage *st, struct arena *a, int64_t group_id, const char *name,
                     struct workspace *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_WORKSPACE_GET);
    q_int(&q, group_id);
    q_text(&q, name);
    return q_one(&q, a, &workspace_row, out, e);
}

int st_workspace_by_id(struct storage *st, struct arena *a, int64_t id, struct workspace *out,
                       struct err *e)
{
    struct q q;
    q_read(&q, st, ST_WORKSPACE_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &workspace_row, out, e);
}

int st_workspace_list(struct storage *st, struct arena *a, const char *subscription,
                      int64_t group_id, int64_t after, int limit, struct workspace **rows,
                      size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, group_id ? ST_WORKSPACE_LIST_GROUP : ST_WORKSPACE_LIST_SUBSCRIPTION);
    if (group_id)
        q_int(&q, group_id);
    else
        q_text(&q, subscription);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &workspace_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

/* --- experiments ----------------------------------------------------------------------------- */

int st_experiment_insert(struct storage *st, const struct experiment *x, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_EXPERIMENT_INSERT, e) < 0)
        return -1;
    q_row(&q, &experiment_row, x, NULL);
    return q_insert(&q, id, e);
}

int st_experiment_get(struct storage *st, struct arena *a, int64_t workspace_id, const char *name,
                      struct experiment *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_EXPERIMENT_GET);
    q_int(&q, workspace_id);
    q_text(&q, name);
    return q_one(&q, a, &experiment_row, out, e);
}

int st_experiment_find(struct storage *st, struct arena *a, const struct scope *scope,
                       const char *name, struct experiment *out, struct err *e)
{
    const char *const names[] = {scope->subscription, scope->group, scope->workspace, name, NULL};
    return q_known(st, ST_EXPERIMENT_FIND, names, a, &experiment_row, out, e);
}

int st_experiment_by_id(struct storage *st, struct arena *a, int64_t id, struct experiment *out,
                        struct err *e)
{
    struct q q;
    q_read(&q, st, ST_EXPERIMENT_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &experiment_row, out, e);
}

int st_experiment_list(struct storage *st, struct arena *a, int64_t workspace_id, int64_t after,
                       int limit, struct experiment **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_EXPERIMENT_LIST);
    q_int(&q, workspace_id);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &experiment_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
