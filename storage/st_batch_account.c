/* SPDX-License-Identifier: MIT
 *
 * Accounts of Azure Batch.
 */
#include "storage/storage_priv.h"

static const struct keys_of keys_of = {RES_BATCH_ACCOUNT, "Batch account",
                                       st_batch_account_sealed_keys};

int st_batch_account_insert(struct storage *st, const struct batch_account *b,
                            const struct account_keys *keys, int64_t *id, struct err *e)
{
    char text[ST_KEYS_TEXT + 1];
    st_keys_to_text(keys, text);
    int rc = st_batch_account_insert_row(st, b, text, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_batch_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return st_keys_get(st, &keys_of, id, out, e);
}

static int write_keys(struct storage *st, int64_t id, const struct account_keys *keys,
                      struct err *e)
{
    char text[ST_KEYS_TEXT + 1];
    st_keys_to_text(keys, text);
    int rc = st_batch_account_write_keys(st, id, text, e);
    sodium_memzero(text, sizeof text);
    return rc;
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

int st_batch_account_list(struct storage *st, struct arena *a, const char *subscription,
                          int64_t group_id, const struct st_page *page,
                          struct batch_account_rows *rows, struct err *e)
{
    return group_id ? st_batch_account_list_group(st, a, group_id, page, rows, e)
                    : st_batch_account_list_subscription(st, a, subscription, page, rows, e);
}
