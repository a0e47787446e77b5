/* SPDX-License-Identifier: MIT
 *
 * Who may log in on nodes of pools of Azure Batch.
 */
#include "storage/storage_priv.h"

int st_batch_user_insert(struct storage *st, const struct batch_node_user *u, const char *password,
                         struct err *e)
{
    return q_new(st, ST_BATCH_USER_INSERT, &batch_node_user_row, u, password, NULL, e);
}

int st_batch_user_get(struct storage *st, struct arena *a, int64_t node_id, const char *name,
                      struct batch_node_user *out, struct err *e)
{
    return q_named(st, ST_BATCH_USER_GET, a, node_id, name, &batch_node_user_row, out, e);
}

int st_batch_user_update(struct storage *st, const struct batch_node_user *u, const char *password,
                         struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_USER_UPDATE, e) < 0)
        return -1;
    q_int(&q, u->id);
    q_int(&q, u->expiry_us);
    q_text(&q, u->ssh_key);
    q_sealed(&q, password);
    return q_change(&q, "user", u->id, e);
}

int st_batch_user_remove(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_USER_REMOVE, id, "user", e);
}

int st_batch_user_list(struct storage *st, struct arena *a, int64_t node_id, int64_t now_us,
                       struct batch_node_user **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_USER_LIST);
    q_int(&q, node_id);
    q_int(&q, now_us);
    if (q_rows(&q, a, &batch_node_user_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_user_password(struct storage *st, struct arena *a, int64_t id, const char **password,
                           struct err *e)
{
    return q_secret_of(st, ST_BATCH_USER_PASSWORD, a, id, password, e);
}
