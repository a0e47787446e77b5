/* SPDX-License-Identifier: MIT */
#include "storage/burial.h"

#include "storage/storage_priv.h"

static int free_names(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    /* Shares are found by the names that their accounts have until then. */
    static int (*const names[])(struct storage *, int64_t, struct err *) = {
        st_bury_shares, st_bury_deleted_shares, st_bury_accounts, st_bury_batch_accounts};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i](st, id, e) < 0)
            return -1;
    return st_bury_deletions(st, id, now_us, e) < 0 || st_bury_vaults(st, id, now_us, e) < 0
               ? -1
               : st_bury_group(st, id, e);
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
    int64_t most = st_sql_changes(st) + limit;
    arena_init(&a);
    int rc = st_buried_unmarked(st, &a, limit, &ids, &n, e);
    for (; rc == 0 && i < n && st_sql_changes(st) < most; i++) {
        st->changes_muted = true;
        rc = st_mark_deleting(st, RES_GROUP, ids[i], now_us, e);
        st->changes_muted = false;
    }
    *more = i < n;
    arena_free(&a);
    return rc;
}

int st_roles_bury(struct storage *st, const char *scope, struct err *e)
{
    st->changes_muted = true;
    int rc = st_bury_roles(st, scope, e);
    st->changes_muted = false;
    return rc;
}
