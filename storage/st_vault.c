/* SPDX-License-Identifier: MIT
 *
 * Key Vaults and secrets. Both are soft-deleted first and keep their names until they are purged.
 */
#include "storage/seeding.h"
#include "storage/storage_priv.h"

int st_vault_insert(struct storage *st, const struct vault *v, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_VAULT_INSERT, e) < 0)
        return -1;
    q_row(&q, &vault_row, v, NULL);
    return q_insert(&q, id, e);
}

int st_vault_get(struct storage *st, struct arena *a, const char *name, struct vault *out,
                 struct err *e)
{
    struct q q;
    q_read(&q, st, ST_VAULT_GET);
    q_text(&q, name);
    return q_one(&q, a, &vault_row, out, e);
}

/* The last two parameters of every list, and its rows. */
static int list(struct q *q, struct arena *a, int64_t after, int limit, const struct st_row *row,
                void **rows, size_t *n, struct err *e)
{
    q_int(q, after);
    q_int(q, limit);
    return q_rows(q, a, row, rows, n, e);
}

int st_vault_list(struct storage *st, struct arena *a, const char *subscription, int64_t group_id,
                  int64_t after, int limit, struct vault **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, group_id ? ST_VAULT_LIST_GROUP : ST_VAULT_LIST_SUBSCRIPTION);
    if (group_id)
        q_int(&q, group_id);
    else
        q_text(&q, subscription);
    int rc = list(&q, a, after, limit, &vault_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_vault_list_deleted(struct storage *st, struct arena *a, const char *subscription,
                          int64_t after, int limit, struct vault **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, ST_VAULT_LIST_DELETED);
    q_text(&q, subscription);
    int rc = list(&q, a, after, limit, &vault_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_vault_update(struct storage *st, int64_t id, const char *tags, const char *doc,
                    int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_VAULT_UPDATE, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, tags);
    q_text(&q, doc);
    q_int(&q, now_us);
    return q_change(&q, "vault", id, e);
}

int st_vault_delete(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_VAULT_DELETE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    return q_change(&q, "vault", id, e);
}

int st_vault_recover(struct storage *st, int64_t id, int64_t group_id, int64_t now_us,
                     struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_VAULT_RECOVER, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, group_id);
    q_int(&q, now_us);
    return q_change(&q, "soft-deleted vault", id, e);
}

int st_vault_purge(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_VAULT_PURGE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "soft-deleted vault", id, e);
}

/* --- secrets --------------------------------------------------------------------------------- */

int st_secret_insert(struct storage *st, const struct secret *s, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_INSERT, e) < 0)
        return -1;
    q_row(&q, &secret_row, s, NULL);
    return q_insert(&q, id, e);
}

int st_secret_get(struct storage *st, struct arena *a, int64_t vault_id, const char *name,
                  struct secret *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SECRET_GET);
    q_int(&q, vault_id);
    q_text(&q, name);
    return q_one(&q, a, &secret_row, out, e);
}

int st_secret_delete(struct storage *st, int64_t id, int64_t now_us, int64_t purge_us,
                     struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_DELETE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    q_int(&q, purge_us);
    return q_change(&q, "secret", id, e);
}

int st_secret_recover(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_RECOVER, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "soft-deleted secret", id, e);
}

int st_secret_purge(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_PURGE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "soft-deleted secret", id, e);
}

int st_secret_version_insert(struct storage *st, const struct secret_version *x, const char *value,
                             int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_VERSION_INSERT, e) < 0)
        return -1;
    q_row(&q, &secret_version_row, x, value);
    return q_insert(&q, id, e);
}

int st_secret_version_get(struct storage *st, struct arena *a, int64_t vault_id, const char *name,
                          const char *version, struct secret_version *out, struct err *e)
{
    struct q q;
    q_read(&q, st, version ? ST_SECRET_VERSION_GET : ST_SECRET_VERSION_NEWEST);
    q_int(&q, vault_id);
    q_text(&q, name);
    if (version)
        q_text(&q, version);
    return q_one(&q, a, &secret_version_row, out, e);
}

static int list_versions(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t of,
                         int64_t after, int limit, struct secret_version **rows, size_t *n,
                         struct err *e)
{
    struct q q;
    void *items = NULL;
    q_read(&q, st, stmt);
    q_int(&q, of);
    int rc = list(&q, a, after, limit, &secret_version_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_secret_version_list(struct storage *st, struct arena *a, int64_t secret_id, int64_t after,
                           int limit, struct secret_version **rows, size_t *n, struct err *e)
{
    return list_versions(st, ST_SECRET_VERSION_LIST, a, secret_id, after, limit, rows, n, e);
}

int st_secret_list(struct storage *st, struct arena *a, int64_t vault_id, bool deleted,
                   int64_t after, int limit, struct secret_version **rows, size_t *n, struct err *e)
{
    return list_versions(st, deleted ? ST_SECRET_VERSION_LIST_DELETED : ST_SECRET_VERSION_LIST_LIVE,
                         a, vault_id, after, limit, rows, n, e);
}

int st_secret_version_update(struct storage *st, const struct secret_version *x, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_VERSION_UPDATE, e) < 0)
        return -1;
    q_int(&q, x->id);
    q_int(&q, x->enabled);
    q_id(&q, x->not_before_s);
    q_id(&q, x->expires_s);
    q_text(&q, x->content_type);
    q_text(&q, x->tags);
    q_int(&q, x->updated_us);
    return q_change(&q, "version of a secret", x->id, e);
}

int st_secret_version_name(struct storage *st, int64_t id, const char *version, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_VERSION_NAME, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, version);
    return q_change(&q, "version of a secret", id, e);
}

int st_secret_value(struct storage *st, struct arena *a, int64_t version_id, const char **value,
                    struct err *e)
{
    struct q q;
    q_read(&q, st, ST_SECRET_VERSION_VALUE);
    q_int(&q, version_id);
    return q_secret(&q, a, value, e);
}

/* --- what runs have got ---------------------------------------------------------------------- */

int st_run_secret_put(struct storage *st, const struct run_secret *s, const char *value,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_RUN_SECRET_PUT, e) < 0)
        return -1;
    q_row(&q, &run_secret_row, s, value);
    return q_run(&q, e);
}

int st_run_secret_get(struct storage *st, struct arena *a, const struct run_secret *s,
                      const char **value, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_SECRET_GET);
    q_int(&q, s->run_id);
    q_int(&q, s->attempt);
    q_text(&q, s->url);
    return q_secret(&q, a, value, e);
}

/* --- what nobody can recover any more -------------------------------------------------------- */

static int expired(struct storage *st, enum stmt_id which, int64_t now_us, int limit,
                   struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, which);
    q_int(&q, now_us);
    q_int(&q, limit);
    return q_ids(&q, a, ids, n, e);
}

/* Its secrets first, as far as *left goes, as they would take long all at once. */
static int purge_vault(struct storage *st, int64_t id, int *left, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_SECRET_REMOVE_OF, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, *left);
    if (q_run(&q, e) < 0)
        return -1;
    *left -= q_changed(st);
    if (*left == 0)
        return 0;
    --*left;
    return st_vault_purge(st, id, e);
}

int st_vault_expire(struct storage *st, int64_t now_us, int limit, int *gone, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n = 0;
    int left = limit;
    arena_init(&a);
    int rc = expired(st, ST_VAULT_EXPIRED, now_us, left, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && left > 0 && i < n; i++)
        rc = purge_vault(st, ids[i], &left, e);
    if (rc == 0 && left > 0)
        rc = expired(st, ST_SECRET_EXPIRED, now_us, left, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && left > 0 && i < n; i++, left--)
        rc = st_secret_purge(st, ids[i], e);
    *gone = limit - left;
    arena_free(&a);
    return rc;
}
