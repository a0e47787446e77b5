/* SPDX-License-Identifier: MIT
 *
 * Accounts of Azure Batch.
 */
#include "storage/storage_priv.h"

static const struct keys_of keys_of = {RES_BATCH_ACCOUNT, "Batch account", ST_BATCH_ACCOUNT_KEYS};

int st_batch_account_insert(struct storage *st, const struct batch_account *b,
                            const struct account_keys *keys, int64_t *id, struct err *e)
{
    struct q q;
    char text[ST_KEYS_TEXT + 1];
    if (q_write(&q, st, ST_BATCH_ACCOUNT_INSERT, e) < 0)
        return -1;
    st_keys_to_text(keys, text);
    q_row(&q, &batch_account_row, b, text);
    int rc = q_insert(&q, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_batch_account_by_name(struct storage *st, struct arena *a, const char *name,
                             struct batch_account *out, struct err *e)
{
    const char *const names[] = {name, NULL};
    return q_known(st, ST_BATCH_ACCOUNT_BY_NAME, names, a, &batch_account_row, out, e);
}

int st_batch_account_by_id(struct storage *st, struct arena *a, int64_t id,
                           struct batch_account *out, struct err *e)
{
    return q_by_id(st, ST_BATCH_ACCOUNT_BY_ID, a, id, &batch_account_row, out, e);
}

int st_batch_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return st_keys_get(st, &keys_of, id, out, e);
}

static int write_keys(struct storage *st, int64_t id, const struct account_keys *keys,
                      struct err *e)
{
    struct q q;
    char text[ST_KEYS_TEXT + 1];
    if (q_write(&q, st, ST_BATCH_ACCOUNT_SET_KEYS, e) < 0)
        return -1;
    st_keys_to_text(keys, text);
    q_int(&q, id);
    q_sealed(&q, text);
    sodium_memzero(text, sizeof text);
    return q_change(&q, "Batch account", id, e);
}

int st_batch_account_set_key(struct storage *st, int64_t id, int which,
                             const unsigned char key[ACCOUNT_KEY_BYTES], struct err *e)
{
    struct account_keys keys;
    if (st_keys_with(st, &keys_of, id, which, key, &keys, e) < 0)
        return -1;
    int rc = write_keys(st, id, &keys, e);
    st_account_forget_keys(&keys);
    return rc;
}

int st_batch_account_update(struct storage *st, const struct batch_account *b, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_ACCOUNT_UPDATE, e) < 0)
        return -1;
    q_int(&q, b->id);
    q_text(&q, b->tags);
    q_text(&q, b->doc);
    q_int(&q, b->updated_us);
    return q_change(&q, "Batch account", b->id, e);
}

static int accounts(struct q *q, struct arena *a, struct batch_account **rows, size_t *n,
                    struct err *e)
{
    void *items = NULL;
    int rc = q_rows(q, a, &batch_account_row, &items, n, e);
    *rows = items;
    return rc;
}

int st_batch_account_list(struct storage *st, struct arena *a, const char *subscription,
                          int64_t group_id, int64_t after, int limit, struct batch_account **rows,
                          size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, group_id ? ST_BATCH_ACCOUNT_LIST_GROUP : ST_BATCH_ACCOUNT_LIST_SUBSCRIPTION);
    if (group_id)
        q_int(&q, group_id);
    else
        q_text(&q, subscription);
    q_int(&q, after);
    q_int(&q, limit);
    return accounts(&q, a, rows, n, e);
}

int st_batch_account_with_task(struct storage *st, struct arena *a, const char *job,
                               const char *task, struct batch_account **rows, size_t *n,
                               struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_ACCOUNT_WITH_TASK);
    q_text(&q, job);
    q_text(&q, task);
    return accounts(&q, a, rows, n, e);
}

int st_batch_account_count(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_ACCOUNT_COUNT);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}
