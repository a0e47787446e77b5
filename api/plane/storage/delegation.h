/* SPDX-License-Identifier: MIT
 *
 * Signatures that somebody makes who has logged in: with a key that they were given for a while.
 * They allow no more than a role of theirs. Knows no request.
 * https://learn.microsoft.com/rest/api/storageservices/create-user-delegation-sas
 */
#ifndef API_PLANE_STORAGE_DELEGATION_H
#define API_PLANE_STORAGE_DELEGATION_H

#include "api/http/principal.h"
#include "api/plane/storage/sas.h"
#include "lib/strbuf.h"

#define DELEGATION_KEY_BYTES 32
/* The key that a login was given to sign with, from what each signature says of it; nothing is
 * kept. `secret`: the daemon's. */
void delegation_key(const uint8_t secret[32], const struct sas *s,
                    unsigned char out[DELEGATION_KEY_BYTES]);
/* Whether a signature was made with that key of this text. */
bool delegation_signed(const uint8_t secret[32], const struct sas *s, const struct strbuf *text);
/* Whose the key is. 1: *who; 0: nobody's any more, or its time is not now, as *why says; -1. */
int delegation_who(const struct directory *d, const struct sas *s, int64_t now_us,
                   struct principal *who, const char **why, struct err *e) MUST_CHECK;

#endif
