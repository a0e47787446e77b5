/* SPDX-License-Identifier: MIT
 *
 * Access tokens: JWTs (HS256) that this daemon issues and alone accepts. Verified tokens are
 * remembered until they expire, so that a client's stream of requests costs one verification.
 */
#ifndef API_HTTP_AUTH_H
#define API_HTTP_AUTH_H

#include "api/http/request.h"

struct token_cache;

/* ERR_NO_TOKEN, ERR_INVALID_TOKEN or ERR_EXPIRED_TOKEN if the request's bearer token is not valid.
 */
int auth_check(struct request *r, struct err *e) MUST_CHECK;

/* Whether tokens for `audience` (a URL; NULL: none) are valid here: our own address as the client
 * or the configuration has it, or the public cloud's resource manager, which clients use if they
 * are not told otherwise. */
bool audience_served(struct request *r, const char *audience);

/* A new token for `client_id` and this audience; caller frees. Sets *lifetime_s. */
char *auth_issue(const struct api_config *c, const char *client_id, const char *audience,
                 int64_t now_us, int *lifetime_s);

struct token_cache *token_cache_create(void);
void token_cache_destroy(struct token_cache *cache);

#endif
