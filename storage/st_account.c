/* SPDX-License-Identifier: MIT
 *
 * Storage accounts.
 */
#include "storage/storage_priv.h"

static const struct keys_of keys_of = {RES_STORAGE_ACCOUNT, "storage account",
                                       st_account_sealed_keys};

int st_account_insert(struct storage *st, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *e)
{
    char text[ST_KEYS_TEXT + 1];
    st_keys_to_text(keys, text);
    int rc = st_account_insert_row(st, s, text, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return st_keys_get(st, &keys_of, id, out, e);
}

static int write_keys(struct storage *st, int64_t id, const struct account_keys *keys, int which,
                      int64_t now_us, struct err *e)
{
    char text[ST_KEYS_TEXT + 1];
    st_keys_to_text(keys, text);
    int rc =
        st_account_write_keys(st, id, text, which == 0 ? now_us : 0, which == 1 ? now_us : 0, e);
    sodium_memzero(text, sizeof text);
    return rc;
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

int st_account_list(struct storage *st, struct arena *a, const char *subscription, int64_t group_id,
                    const struct st_page *page, struct storage_account_rows *rows, struct err *e)
{
    return group_id ? st_account_list_group(st, a, group_id, page, rows, e)
                    : st_account_list_subscription(st, a, subscription, page, rows, e);
}
