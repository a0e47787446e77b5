/* SPDX-License-Identifier: MIT
 *
 * JSON Web Tokens (RFC 7519, 7515) signed by HMAC-SHA256 ("HS256") with a key of 32 bytes: the one
 * kind that this daemon issues and accepts.
 */
#ifndef API_HTTP_JWT_H
#define API_HTTP_JWT_H

#include <jansson.h>
#include <stdint.h>

#define JWT_KEY_BYTES 32

/* The claims of every token: who issued it, for which audience and to whom, as "sub" and "oid", and
 * when it begins and ends. Caller decrefs. */
json_t *jwt_begin(const char *issuer, const char *audience, const char *object_id, int64_t now_us,
                  int64_t lifetime_s);
/* One more. NULL, or what is not UTF-8: none. */
void jwt_add(json_t *claims, const char *name, const char *value);

/* The token with these claims (borrowed); caller frees. */
char *jwt_sign(const json_t *claims, const uint8_t key[JWT_KEY_BYTES]);

/* The claims of a token that was signed with this key, which the caller decrefs; NULL: it was not,
 * or is none. Whether its times and issuer are right is for the caller to see. */
json_t *jwt_claims(const char *token, const uint8_t key[JWT_KEY_BYTES]);

/* A claim; NULL: there is none, or it is no text. Borrowed from the claims. */
const char *jwt_text(const json_t *claims, const char *name);
/* 0: there is none, or it is no whole number. */
int64_t jwt_number(const json_t *claims, const char *name);

#endif
