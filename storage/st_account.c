/* SPDX-License-Identifier: MIT
 *
 * Storage accounts and accounts of Azure Batch, and the keys of both. The two keys of an account
 * are sealed as one text.
 */
#include <assert.h>
#include <string.h>

#include "lib/base64.h"
#include "storage/storage_priv.h"

#define KEY_TEXT  88 /* 64 bytes in base64 */
#define KEYS_TEXT (2 * KEY_TEXT + 1)

/* The kind of keys: `get` unseals the column by the account's id. */
struct keys_of {
    enum resource_kind kind;
    const char *noun;
    int (*get)(struct storage *, struct arena *, int64_t id, const char **keys, struct err *);
};

void st_account_new_keys(struct account_keys *out)
{
    randombytes_buf(out, sizeof *out);
}

void st_account_forget_keys(struct account_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

/* The text that is sealed: both keys in base64, with a space between them. */
static void to_text(const struct account_keys *keys, char text[KEYS_TEXT + 1])
{
    for (size_t i = 0; i < 2; i++)
        sodium_bin2base64(text + i * (KEY_TEXT + 1), KEY_TEXT + 1, keys->key[i], ACCOUNT_KEY_BYTES,
                          sodium_base64_VARIANT_ORIGINAL);
    text[KEY_TEXT] = ' ';
}

static int from_text(const struct keys_of *of, const char *text, int64_t id,
                     struct account_keys *out, struct err *e)
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
    return err_set(e, ERR_STORAGE, NULL, "The keys of the %s with the id %lld are damaged.",
                   of->noun, (long long)id);
}

static int read_keys(struct storage *st, const struct keys_of *of, int64_t id,
                     struct account_keys *out, struct err *e)
{
    struct arena a;
    const char *text;
    arena_init(&a);
    int rc = of->get(st, &a, id, &text, e);
    if (rc == 1 && from_text(of, text, id, out, e) < 0)
        rc = -1;
    if (text)
        sodium_memzero((char *)(uintptr_t)text, strlen(text));
    arena_free(&a);
    return rc;
}

/* A getter. Caches the keys for the next caller, so sql.c must count the writes of the table. */
static int get_keys(struct storage *st, const struct keys_of *of, int64_t id,
                    struct account_keys *out, struct err *e)
{
    const struct account_keys *known = st_known_keys(st, of->kind, id);
    if (known) {
        *out = *known;
        return 1;
    }
    int rc = read_keys(st, of, id, out, e);
    if (rc == 1)
        st_keep_keys(st, of->kind, id, out);
    return rc;
}

/* The text of an account's keys with another key in the place of the key with this number, 0 or 1.
 * The account must exist. The caller wipes the text. */
static int text_with(struct storage *st, const struct keys_of *of, int64_t id, int which,
                     const unsigned char key[ACCOUNT_KEY_BYTES], char text[KEYS_TEXT + 1],
                     struct err *e)
{
    struct account_keys keys;
    assert(which == 0 || which == 1);
    int rc = read_keys(st, of, id, &keys, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no %s with the id %lld.",
                       of->noun, (long long)id);
    if (rc < 0)
        return -1;
    memcpy(keys.key[which], key, ACCOUNT_KEY_BYTES);
    to_text(&keys, text);
    st_account_forget_keys(&keys);
    return 0;
}

/* ---- storage accounts ---- */

static const struct keys_of storage_keys = {RES_STORAGE_ACCOUNT, "storage account",
                                            st_account_sealed_keys};

int st_account_insert(struct storage *st, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *e)
{
    char text[KEYS_TEXT + 1];
    to_text(keys, text);
    int rc = st_account_insert_row(st, s, text, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

static int move_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct storage_account *s = ctx;
    return st_end_roles_of_account(st, s->id, e) < 0 ? -1 : st_account_update(st, s, e);
}

int st_account_move(struct storage *st, const struct storage_account *s, struct err *e)
{
    struct storage_account copy = *s;
    return st_tx(st, "move storage account", move_in_tx, &copy, e);
}

int st_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return get_keys(st, &storage_keys, id, out, e);
}

int st_account_has_key(struct storage *st, int64_t id, const char *text, struct err *e)
{
    struct account_keys keys;
    unsigned char given[ACCOUNT_KEY_BYTES];
    size_t n = 0;
    int rc = st_account_keys(st, id, &keys, e);
    if (rc <= 0)
        return rc;
    bool has =
        text &&
        sodium_base642bin(given, sizeof given, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0 &&
        n == sizeof given &&
        (sodium_memcmp(given, keys.key[0], n) == 0 || sodium_memcmp(given, keys.key[1], n) == 0);
    sodium_memzero(given, sizeof given);
    st_account_forget_keys(&keys);
    return has;
}

int st_account_set_key(struct storage *st, int64_t id, int which,
                       const unsigned char key[ACCOUNT_KEY_BYTES], int64_t now_us, struct err *e)
{
    char text[KEYS_TEXT + 1];
    if (text_with(st, &storage_keys, id, which, key, text, e) < 0)
        return -1;
    int rc =
        st_account_write_keys(st, id, text, which == 0 ? now_us : 0, which == 1 ? now_us : 0, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_account_list(struct storage *st, struct arena *a, const struct st_filter *in,
                    const struct st_page *page, struct storage_account_rows *rows, struct err *e)
{
    return in->group_id ? st_account_list_group(st, a, in->group_id, page, rows, e)
                        : st_account_list_subscription(st, a, in->subscription, page, rows, e);
}

/* ---- accounts of Azure Batch ---- */

static const struct keys_of batch_keys = {RES_BATCH_ACCOUNT, "Batch account",
                                          st_batch_account_sealed_keys};

int st_batch_account_insert(struct storage *st, const struct batch_account *b,
                            const struct account_keys *keys, int64_t *id, struct err *e)
{
    char text[KEYS_TEXT + 1];
    to_text(keys, text);
    int rc = st_batch_account_insert_row(st, b, text, id, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_batch_account_keys(struct storage *st, int64_t id, struct account_keys *out, struct err *e)
{
    return get_keys(st, &batch_keys, id, out, e);
}

int st_batch_account_set_key(struct storage *st, int64_t id, int which,
                             const unsigned char key[ACCOUNT_KEY_BYTES], struct err *e)
{
    char text[KEYS_TEXT + 1];
    if (text_with(st, &batch_keys, id, which, key, text, e) < 0)
        return -1;
    int rc = st_batch_account_write_keys(st, id, text, e);
    sodium_memzero(text, sizeof text);
    return rc;
}

int st_batch_account_list(struct storage *st, struct arena *a, const struct st_filter *in,
                          const struct st_page *page, struct batch_account_rows *rows,
                          struct err *e)
{
    return in->group_id
               ? st_batch_account_list_group(st, a, in->group_id, page, rows, e)
               : st_batch_account_list_subscription(st, a, in->subscription, page, rows, e);
}
