/* SPDX-License-Identifier: MIT
 *
 * Access tokens: JWTs (HS256) that this daemon issues and no other accepts. Verified tokens are
 * remembered until they expire, so a client's many requests cost one verification. A token has only
 * the object id of its owner; the directory has the rest, and whether the owner still exists.
 */
#ifndef API_HTTP_AUTH_H
#define API_HTTP_AUTH_H

#include "api/http/request.h"

struct cache_kind;

struct authenticated {
    const struct principal *who; /* arena */
    const char *account;         /* the only account or vault that the token is for; NULL: any */
    int64_t ends_us;
};
/* Gets the owner of a token that is for one of the service's audiences. */
int auth_read(struct request *r, const char *token, struct authenticated *out,
              struct err *e) MUST_CHECK;
/* Sets request.who and token_account from the request's token, or who and session from its cookie,
 * if the service takes sessions and there is no Authorization header. ERR_NO_TOKEN,
 * ERR_INVALID_TOKEN or ERR_EXPIRED_TOKEN if the bearer token is not valid, or for none of the
 * service's audiences; cookies: session.h. */
int auth_check(struct request *r, struct err *e) MUST_CHECK;

/* A new token for a principal who logged in with the application `client_id`; the caller frees it.
 * `base`: the audience is a base URL (audience.h). Sets *lifetime_s. */
char *auth_issue(const struct api_config *c, const struct principal *who, const char *client_id,
                 const char *audience, bool base, int64_t now_us, int *lifetime_s);
/* Drops the remembered tokens of a principal, so that the directory is asked again. */
void auth_forget(struct request *r, const char *object_id);

/* The kind of the cache api.tokens. */
extern const struct cache_kind auth_tokens;

#endif
