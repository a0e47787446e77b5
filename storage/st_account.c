/* SPDX-License-Identifier: MIT
 *
 * Storage accounts.
 */
#include "storage/storage_priv.h"

static const struct keys_of keys_of = {RES_STORAGE_ACCOUNT, "storage account", ST_ACCOUNT_KEYS};

int st_account_insert(struct storage *st, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *e)
{
    struct q q;
    char text[ST_KEYS_TEXT + 1];
    if (q_write(&q, st, ST_ACCOUNT_INSERT, e) < 0)
        return -1;
    st_keys_to_text(keys, text);
    q_row(&q, &account_row, s, text);
    int rc = q_insert(&q, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_account_by_name(struct storage *st, struct arena *a, const char *name,
                       struct storage_account *out, struct err *e)
{
    const char *const names[] = {name, NULL};
    return q_known(st, ST_ACCOUNT_BY_NAME, names, a, &account_row, out, e);
}

int st_account_by_id(struct storage *st, struct arena *a, int64_t id, struct storage_account *out,
                     struct err *e)
{
    return q_by_id(st, ST_ACCOUNT_BY_ID, a, id, &account_row, out, e);
}

int st_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return st_keys_get(st, &keys_of, id, out, e);
}

static int write_keys(struct storage *st, int64_t id, const struct account_keys *keys, int which,
                      int64_t now_us, struct err *e)
{
    struct q q;
    char text[ST_KEYS_TEXT + 1];
    if (q_write(&q, st, ST_ACCOUNT_SET_KEYS, e) < 0)
        return -1;
    st_keys_to_text(keys, text);
    q_int(&q, id);
    q_sealed(&q, text);
    sodium_memzero(text, sizeof text);
    for (int i = 0; i < 2; i++)
        q_id(&q, i == which ? now_us : 0);
    return q_change(&q, "storage account", id, e);
}

int st_account_set_key(struct storage *st, int64_t id, int which,
                       const unsigned char key[ACCOUNT_KEY_BYTES], int64_t now_us, struct err *e)
{
    struct account_keys keys;
    if (st_keys_with(st, &keys_of, id, which, key, &keys, e) < 0)
        return -1;
    int rc = write_keys(st, id, &keys, which, now_us, e);
    st_account_forget_keys(&keys);
    return rc;
}

int st_account_update(struct storage *st, const struct storage_account *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_ACCOUNT_UPDATE, e) < 0)
        return -1;
    q_int(&q, s->id);
    q_int(&q, s->group_id);
    q_text(&q, s->scope.location);
    q_text(&q, s->sku);
    q_text(&q, s->kind);
    q_text(&q, s->tags);
    q_text(&q, s->doc);
    q_text(&q, s->created_by);
    q_int(&q, s->prov_state);
    q_int(&q, s->created_us);
    q_int(&q, s->updated_us);
    q_int(&q, s->implicit);
    q_text(&q, s->blob_service);
    q_text(&q, s->file_service);
    return q_change(&q, "storage account", s->id, e);
}

int st_account_list(struct storage *st, struct arena *a, const char *subscription, int64_t group_id,
                    int64_t after, int limit, struct storage_account **rows, size_t *n,
                    struct err *e)
{
    struct q q;
    q_read(&q, st, group_id ? ST_ACCOUNT_LIST_GROUP : ST_ACCOUNT_LIST_SUBSCRIPTION);
    if (group_id)
        q_int(&q, group_id);
    else
        q_text(&q, subscription);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &account_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_account_count(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_ACCOUNT_COUNT);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}
