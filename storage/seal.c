/* SPDX-License-Identifier: MIT
 *
 * Secrets at rest: nonce + crypto_secretbox (XSalsa20-Poly1305) under the key that key.c finds.
 */
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
