/* SPDX-License-Identifier: MIT
 *
 * Keys that users sign with instead of an account: made of the daemon's secret and of what a
 * signature says of its key, so that none is stored. The loop's thread.
 */
#include "api/plane/storage/delegation.h"

#include <sodium.h>
#include <string.h>

#include "api/plane/storage/shared_key.h"

/* How far a client's clock may be from ours. */
#define SKEW_US (15 * 60 * INT64_C(1000000))

void delegation_key(const uint8_t secret[32], const struct sas *s,
                    unsigned char out[DELEGATION_KEY_BYTES])
{
    static const enum sas_field parts[] = {SAS_KEY_OBJECT, SAS_KEY_TENANT,  SAS_KEY_START,
                                           SAS_KEY_EXPIRY, SAS_KEY_SERVICE, SAS_KEY_VERSION};
    crypto_auth_hmacsha256_state h;
    static const char purpose[] = "user delegation key";
    crypto_auth_hmacsha256_init(&h, secret, 32);
    crypto_auth_hmacsha256_update(&h, (const unsigned char *)purpose, sizeof purpose);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *text = s->field[parts[i]] ? s->field[parts[i]] : "";
        crypto_auth_hmacsha256_update(&h, (const unsigned char *)text, strlen(text) + 1);
    }
    crypto_auth_hmacsha256_final(&h, out);
    sodium_memzero(&h, sizeof h);
}

bool delegation_signed(const uint8_t secret[32], const struct sas *s, const struct strbuf *text)
{
    unsigned char key[DELEGATION_KEY_BYTES];
    char made[SIGNATURE_SIZE];
    delegation_key(secret, s, key);
    signature_make(key, sizeof key, text->s, text->len, made);
    sodium_memzero(key, sizeof key);
    return signature_equals(s->field[SAS_SIGNATURE], made);
}

int delegation_who(const struct directory *d, const struct sas *s, int64_t now_us,
                   struct principal *who, const char **why, struct err *e)
{
    int64_t start = 0, end = 0;
    const char *begins = s->field[SAS_KEY_START], *ends = s->field[SAS_KEY_EXPIRY];
    *why = "The time of the user delegation key (skt, ske) is over, or not yet there.";
    if (!begins || !ends || sas_time(begins, &start) < 0 || sas_time(ends, &end) < 0 ||
        start > now_us + SKEW_US || end <= now_us)
        return 0;
    *why = "Nobody has the object id of the user delegation key (skoid).";
    return d && s->field[SAS_KEY_OBJECT] ? d->find(d->ctx, s->field[SAS_KEY_OBJECT], who, e) : 0;
}
