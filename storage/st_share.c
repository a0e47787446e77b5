/* SPDX-License-Identifier: MIT
 *
 * Shares and containers.
 */
#include <stdio.h>

#include "storage/storage_priv.h"

int st_share_insert(struct storage *st, const struct share *s, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SHARE_INSERT, e) < 0)
        return -1;
    q_row(&q, &share_row, s, NULL);
    return q_insert(&q, id, e);
}

/* Its parameters are texts, as all that are known by; SQLite compares a column of numbers with them
 * as with numbers. */
int st_share_by_name(struct storage *st, struct arena *a, int64_t account_id, enum share_kind kind,
                     const char *name, struct share *out, struct err *e)
{
    char account[24], of_kind[12];
    snprintf(account, sizeof account, "%lld", (long long)account_id);
    snprintf(of_kind, sizeof of_kind, "%d", (int)kind);
    const char *const names[] = {account, of_kind, name, NULL};
    return q_known(st, ST_SHARE_BY_NAME, names, a, &share_row, out, e);
}

int st_share_by_id(struct storage *st, struct arena *a, int64_t id, struct share *out,
                   struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SHARE_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &share_row, out, e);
}

static int read_all(struct q *q, struct arena *a, struct share **rows, size_t *n, struct err *e)
{
    void *items;
    if (q_rows(q, a, &share_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_share_list(struct storage *st, struct arena *a, int64_t account_id, enum share_kind kind,
                  const char *after, const char *prefix, int limit, struct share **rows, size_t *n,
                  struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SHARE_LIST);
    q_int(&q, account_id);
    q_int(&q, kind);
    q_text(&q, after);
    q_text(&q, prefix);
    q_int(&q, limit);
    return read_all(&q, a, rows, n, e);
}

int st_share_update(struct storage *st, const struct share *s, int64_t was, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SHARE_UPDATE, e) < 0)
        return -1;
    q_int(&q, s->id);
    q_int(&q, was);
    q_int(&q, s->quota);
    q_text(&q, s->metadata);
    q_text(&q, s->acl);
    q_int(&q, s->public_access);
    q_text(&q, s->access_tier);
    q_int(&q, s->lease_state);
    q_text(&q, s->lease_id);
    q_int(&q, s->lease_duration_s);
    q_int(&q, s->lease_until_us);
    q_int(&q, s->etag);
    q_int(&q, s->updated_us);
    if (q_run(&q, e) < 0)
        return -1;
    if (q_changed(st) == 1)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL, "%s has changed meanwhile, or is gone.", s->name);
}

#define TICKS_OF_1970 INT64_C(621355968000000000)

int64_t st_next_etag(int64_t was, int64_t now_us)
{
    int64_t now = TICKS_OF_1970 + now_us * 10;
    return now > was ? now : was + 1;
}

int st_share_move(struct storage *st, const struct st_share_move *m, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SHARE_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_id(&q, m->to == SHARE_DELETED ? 0 : m->account_id);
    q_int(&q, m->deleted_us);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_SHARE_STATE, "share", share_state_names, m->id, m->from, m->to, e);
}

int st_share_ids_of(struct storage *st, struct arena *a, int64_t account_id, int64_t **ids,
                    size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SHARE_IDS_OF_ACCOUNT);
    q_int(&q, account_id);
    return q_ids(&q, a, ids, n, e);
}

int st_share_unsettled_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                           struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SHARE_UNSETTLED);
    return q_ids(&q, a, ids, n, e);
}

int st_share_deleted(struct storage *st, struct arena *a, int64_t before_us, int64_t after,
                     int limit, struct share **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SHARE_DELETED);
    q_int(&q, before_us);
    q_int(&q, after);
    q_int(&q, limit);
    return read_all(&q, a, rows, n, e);
}

static int empty(struct storage *st, enum stmt_id which, int64_t id, int limit, int *gone,
                 struct err *e)
{
    struct q q;
    if (q_write(&q, st, which, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, limit);
    if (q_run(&q, e) < 0)
        return -1;
    *gone = q_changed(st);
    return 0;
}

int st_share_empty(struct storage *st, int64_t id, int limit, int *gone, struct err *e)
{
    int more = 0;
    if (empty(st, ST_SHARE_EMPTY, id, limit, gone, e) < 0 ||
        (*gone < limit && empty(st, ST_SHARE_EMPTY_SNAPSHOTS, id, limit - *gone, &more, e) < 0))
        return -1;
    *gone += more;
    return 0;
}

int st_share_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SHARE_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "share", id, e);
}
