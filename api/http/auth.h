/* SPDX-License-Identifier: MIT
 *
 * Access tokens: JWTs (HS256) that this daemon issues and only this daemon accepts. Verified tokens
 * are cached until they expire, so many requests of a client cost one verification. A token
 * contains only the object id of its owner; the directory has the owner's other data, if the owner
 * still exists.
 */
#ifndef API_HTTP_AUTH_H
#define API_HTTP_AUTH_H

#include "api/http/request.h"

struct cache_kind;

struct authenticated {
    const struct principal *who; /* arena */
    const char *account;         /* the token's only account or vault; NULL: any */
    int64_t ends_us;
};
/* Verifies a token for one of the service's audiences, and gets its owner. */
int auth_read(struct request *r, const char *token, struct authenticated *out,
              struct err *e) MUST_CHECK;
/* Sets request.who and token_account from the request's bearer token. Without an Authorization
 * header, if the service accepts sessions, sets who and session from the request's cookie (errors:
 * session.h). ERR_NO_TOKEN, ERR_INVALID_TOKEN, ERR_EXPIRED_TOKEN: there is no bearer token, or it
 * is not valid for the service's audiences. */
int auth_check(struct request *r, struct err *e) MUST_CHECK;

/* A new token for a principal who logged in with the application `client_id`; the caller frees it.
 * `base`: the audience is a base URL (audience.h). Sets *lifetime_s. */
char *auth_issue(const struct api_config *c, const struct principal *who, const char *client_id,
                 const char *audience, bool base, int64_t now_us, int *lifetime_s);
/* Drops the cached tokens of a principal, so that the directory is asked again. */
void auth_forget(struct request *r, const char *object_id);

/* The kind of the cache api.tokens. */
extern const struct cache_kind auth_tokens;

#endif
