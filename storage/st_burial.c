/* SPDX-License-Identifier: MIT */
#include "storage/burial.h"

#include "storage/storage_priv.h"

static int of_group(struct storage *st, enum stmt_id stmt, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, id);
    return q_run(&q, e);
}

static int of_group_at(struct storage *st, enum stmt_id stmt, int64_t id, int64_t now_us,
                       struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    return q_run(&q, e);
}

static int free_names(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    /* Shares are found by the names that their accounts have until then. */
    static const enum stmt_id names[] = {ST_BURY_SHARES, ST_BURY_DELETED_SHARES, ST_BURY_ACCOUNTS,
                                         ST_BURY_BATCH_ACCOUNTS};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (of_group(st, names[i], id, e) < 0)
            return -1;
    return of_group_at(st, ST_BURY_DELETIONS, id, now_us, e) < 0 ||
                   of_group_at(st, ST_BURY_VAULTS, id, now_us, e) < 0
               ? -1
               : q_change_of(st, ST_BURY_GROUP, id, "resource group", e);
}

int st_group_bury(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    st->changes_muted = true;
    int rc = free_names(st, id, now_us, e);
    st->changes_muted = false;
    return rc;
}

int st_buried_mark(struct storage *st, int64_t now_us, int limit, bool *more, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n = 0, i = 0;
    struct q q;
    int64_t most = st_sql_changes(st) + limit;
    arena_init(&a);
    q_read(&q, st, ST_BURIED_UNMARKED);
    q_int(&q, limit);
    int rc = q_ids(&q, &a, &ids, &n, e);
    for (; rc == 0 && i < n && st_sql_changes(st) < most; i++) {
        st->changes_muted = true;
        rc = st_mark_deleting(st, RES_GROUP, ids[i], now_us, e);
        st->changes_muted = false;
    }
    *more = i < n;
    arena_free(&a);
    return rc;
}

int st_vaults_bury(struct storage *st, const char *subscription, const char *group, int64_t after,
                   int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BURY_DELETED_VAULTS, e) < 0)
        return -1;
    q_text(&q, subscription);
    q_int(&q, now_us);
    q_text(&q, group);
    q_int(&q, after);
    return q_run(&q, e);
}

int st_last_vault(struct storage *st, int64_t *id, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_LAST_VAULT);
    return q_one_int(&q, id, e) < 0 ? -1 : 0;
}

int st_roles_bury(struct storage *st, const char *scope, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BURY_ROLES, e) < 0)
        return -1;
    q_text(&q, scope);
    st->changes_muted = true;
    int rc = q_run(&q, e);
    st->changes_muted = false;
    return rc;
}
