/* SPDX-License-Identifier: MIT
 *
 * The keys of accounts. Both keys are sealed as one text.
 */
#include <assert.h>
#include <string.h>

#include "lib/base64.h"
#include "storage/storage_priv.h"

void st_account_new_keys(struct account_keys *out)
{
    randombytes_buf(out, sizeof *out);
}

void st_account_forget_keys(struct account_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

void st_keys_to_text(const struct account_keys *keys, char text[ST_KEYS_TEXT + 1])
{
    for (size_t i = 0; i < 2; i++)
        sodium_bin2base64(text + i * (ST_KEY_TEXT + 1), ST_KEY_TEXT + 1, keys->key[i],
                          ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
    text[ST_KEY_TEXT] = ' ';
}

static int from_text(const struct keys_of *of, const char *text, int64_t id,
                     struct account_keys *out, struct err *e)
{
    size_t n = strlen(text), got = 0;
    for (size_t i = 0; n == ST_KEYS_TEXT && i < 2; i++) {
        size_t len = 0;
        if (sodium_base642bin(out->key[i], ACCOUNT_KEY_BYTES, text + i * (ST_KEY_TEXT + 1),
                              ST_KEY_TEXT, NULL, &len, NULL, sodium_base64_VARIANT_ORIGINAL) == 0)
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

int st_keys_get(struct storage *st, const struct keys_of *of, int64_t id, struct account_keys *out,
                struct err *e)
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

int st_keys_with(struct storage *st, const struct keys_of *of, int64_t id, int which,
                 const unsigned char key[ACCOUNT_KEY_BYTES], struct account_keys *out,
                 struct err *e)
{
    assert(which == 0 || which == 1);
    int rc = read_keys(st, of, id, out, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no %s with the id %lld.",
                       of->noun, (long long)id);
    if (rc < 0)
        return -1;
    memcpy(out->key[which], key, ACCOUNT_KEY_BYTES);
    return 0;
}
