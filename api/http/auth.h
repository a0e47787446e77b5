/* SPDX-License-Identifier: MIT
 *
 * Access tokens: JWTs (HS256) that this daemon issues and alone accepts. Verified tokens are
 * remembered until they expire, so that a client's stream of requests costs one verification. A
 * token says whose it is by an object id only; the directory says who that is, and whether it is
 * still anybody.
 */
#ifndef API_HTTP_AUTH_H
#define API_HTTP_AUTH_H

#include "api/http/request.h"

struct cache_kind;

struct authenticated {
    const struct principal *who; /* arena */
    const char *account;         /* that the token is for alone, by its audience; NULL: any */
};
/* Whose a token is that is for one of the service's audiences. */
int auth_read(struct request *r, const char *token, struct authenticated *out,
              struct err *e) MUST_CHECK;
/* Sets request.who and token_account by the request's own token. ERR_NO_TOKEN, ERR_INVALID_TOKEN or
 * ERR_EXPIRED_TOKEN if the request's bearer token is not valid, or is for none of the service's
 * audiences. */
int auth_check(struct request *r, struct err *e) MUST_CHECK;

/* A new token for one who logged in with the application `client_id`; caller frees. `base`: the
 * audience is one (audience.h). Sets *lifetime_s. */
char *auth_issue(const struct api_config *c, const struct principal *who, const char *client_id,
                 const char *audience, bool base, int64_t now_us, int *lifetime_s);
/* Forgets what is remembered of somebody's tokens: the directory is asked again. */
void auth_forget(struct request *r, const char *object_id);

/* Of api.tokens. */
extern const struct cache_kind auth_tokens;

#endif
