/* SPDX-License-Identifier: MIT
 *
 * Secrets at rest: nonce + crypto_secretbox (XSalsa20-Poly1305) under the key that key.c finds.
 */
#include <stdlib.h>
#include <string.h>

#include "storage/storage_priv.h"

#define NONCE crypto_secretbox_NONCEBYTES

void st_seal(const struct storage *st, const char *plain, unsigned char **blob, size_t *len)
{
    *blob = NULL;
    *len = 0;
    if (!plain)
        return;
    size_t n = strlen(plain);
    *len = n + ST_SEAL_OVERHEAD;
    *blob = xcalloc(1, *len);
    randombytes_buf(*blob, NONCE);
    crypto_secretbox_easy(*blob + NONCE, (const unsigned char *)plain, n, *blob, st->key);
}

int st_unseal(const struct storage *st, struct arena *a, const void *blob, size_t len,
              const char **plain, struct err *e)
{
    *plain = NULL;
    if (!blob)
        return 0;
    const unsigned char *b = blob;
    if (len < ST_SEAL_OVERHEAD)
        return err_set(e, ERR_STORAGE, NULL, "A sealed secret is cut short (%zu bytes).", len);
    unsigned char *out = arena_alloc(a, len - ST_SEAL_OVERHEAD + 1);
    if (crypto_secretbox_open_easy(out, b + NONCE, len - NONCE, b, st->key) != 0)
        return err_set(e, ERR_STORAGE, NULL,
                       "A sealed secret does not open with this key: it is damaged.");
    *plain = (const char *)out;
    return 0;
}

#define WRAPPING sodium_base64_VARIANT_URLSAFE_NO_PADDING

char *st_wrap(const struct storage *st, const char *plain)
{
    unsigned char *blob;
    size_t n;
    st_seal(st, plain, &blob, &n);
    size_t size = sodium_base64_encoded_len(n, WRAPPING);
    char *out = xcalloc(1, size);
    sodium_bin2base64(out, size, blob, n, WRAPPING);
    free(blob);
    return out;
}

int st_unwrap(const struct storage *st, struct arena *a, const char *wrapped, const char **plain,
              struct err *e)
{
    size_t n = strlen(wrapped), used = 0;
    unsigned char *blob = arena_alloc(a, n + 1);
    struct err why;
    if (sodium_base642bin(blob, n + 1, wrapped, n, "=", &used, NULL, WRAPPING) == 0 &&
        st_unseal(st, a, blob, used, plain, &why) == 0)
        return 0;
    return err_set(e, ERR_INVALID_CONTENT, NULL,
                   "It was not created by this service, or is damaged.");
}
