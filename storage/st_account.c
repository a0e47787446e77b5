/* SPDX-License-Identifier: MIT
 *
 * Storage accounts. Both keys are sealed as one text: in base64, with a space between them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "storage/storage_priv.h"

#define KEY_TEXT  88 /* 64 bytes in base64 */
#define KEYS_TEXT (2 * KEY_TEXT + 1)

void st_account_new_keys(struct account_keys *out)
{
    randombytes_buf(out, sizeof *out);
}

void st_account_forget_keys(struct account_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

static void keys_to_text(const struct account_keys *keys, char text[KEYS_TEXT + 1])
{
    for (size_t i = 0; i < 2; i++)
        sodium_bin2base64(text + i * (KEY_TEXT + 1), KEY_TEXT + 1, keys->key[i], ACCOUNT_KEY_BYTES,
                          sodium_base64_VARIANT_ORIGINAL);
    text[KEY_TEXT] = ' ';
}

static int keys_from_text(const char *text, int64_t id, struct account_keys *out, struct err *e)
{
    size_t n = strlen(text), got = 0;
    for (size_t i = 0; n == KEYS_TEXT && i < 2; i++) {
        size_t len = 0;
        if (sodium_base642bin(out->key[i], ACCOUNT_KEY_BYTES, text + i * (KEY_TEXT + 1), KEY_TEXT,
                              NULL, &len, NULL, sodium_base64_VARIANT_ORIGINAL) == 0)
            got += len;
    }
    if (got == sizeof *out)
        return 0;
    return err_set(e, ERR_STORAGE, NULL,
                   "The keys of the storage account with the id %lld are damaged.", (long long)id);
}

int st_account_insert(struct storage *st, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *e)
{
    struct q q;
    char text[KEYS_TEXT + 1];
    if (q_write(&q, st, ST_ACCOUNT_INSERT, e) < 0)
        return -1;
    keys_to_text(keys, text);
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
    struct q q;
    q_read(&q, st, ST_ACCOUNT_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &account_row, out, e);
}

static int read_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    struct q q;
    struct arena a;
    const char *text;
    arena_init(&a);
    q_read(&q, st, ST_ACCOUNT_KEYS);
    q_int(&q, id);
    int rc = q_secret(&q, &a, &text, e);
    if (rc == 1 && keys_from_text(text, id, out, e) < 0)
        rc = -1;
    if (text)
        sodium_memzero((char *)(uintptr_t)text, strlen(text));
    arena_free(&a);
    return rc;
}

int st_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    struct known_keys *k = st_known_keys(st, id);
    if (k->id == id && id != 0) {
        *out = k->keys;
        return 1;
    }
    int rc = read_keys(st, id, out, e);
    if (rc == 1)
        *k = (struct known_keys){id, *out};
    return rc;
}

static int write_keys(struct storage *st, int64_t id, const struct account_keys *keys, int which,
                      int64_t now_us, struct err *e)
{
    struct q q;
    char text[KEYS_TEXT + 1];
    if (q_write(&q, st, ST_ACCOUNT_SET_KEYS, e) < 0)
        return -1;
    keys_to_text(keys, text);
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
    assert(which == 0 || which == 1);
    int rc = read_keys(st, id, &keys, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL,
                       "There is no storage account with the id %lld.", (long long)id);
    if (rc < 0)
        return -1;
    memcpy(keys.key[which], key, ACCOUNT_KEY_BYTES);
    rc = write_keys(st, id, &keys, which, now_us, e);
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
