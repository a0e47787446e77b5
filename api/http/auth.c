/* SPDX-License-Identifier: MIT
 *
 * Verifies each token once and keeps the result in a cache until the token expires; issues tokens.
 * The server owns the cache. Called only on the loop's thread.
 */
#include "api/http/auth.h"

#include <assert.h>
#include <jwt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/audience.h"
#include "api/http/http_priv.h"
#include "api/http/session.h"
#include "lib/cache.h"

#define US_PER_S        1000000LL
#define TOKEN_KEY_BYTES 32

/* The cache of verified tokens, by their hash. 32 clients at once are plenty; a token that is
 * not in the cache costs 30 us. */
#define CACHED_TOKENS    32
#define TOKEN_HASH_BYTES 32
static_assert(TOKEN_HASH_BYTES >= crypto_generichash_BYTES_MIN &&
                  TOKEN_HASH_BYTES <= crypto_generichash_BYTES_MAX,
              "a length that the hash has");

struct cached_token {
    int64_t expires_us;
    struct token_audience audience;
    struct principal who;
};

const struct cache_kind auth_tokens = {sizeof(struct cached_token), .max_entries = CACHED_TOKENS};

static bool is_of(const void *token, const void *object_id)
{
    return strcasecmp(((const struct cached_token *)token)->who.object_id, object_id) == 0;
}

void auth_forget(struct request *r, const char *object_id)
{
    cache_drop_if(r->api->tokens, is_of, object_id);
}

char *auth_issue(const struct api_config *c, const struct principal *who, const char *client_id,
                 const char *audience, bool base, int64_t now_us, int *lifetime_s)
{
    jwt_t *jwt;
    if (jwt_new(&jwt) != 0)
        abort();
    long now = (long)(now_us / US_PER_S);
    jwt_add_grant(jwt, "aud", audience);
    if (base)
        jwt_add_grant_bool(jwt, "base", 1);
    jwt_add_grant(jwt, "iss", "batchaid");
    jwt_add_grant(jwt, "appid", client_id);
    jwt_add_grant(jwt, "sub", who->object_id);
    jwt_add_grant(jwt, "oid", who->object_id);
    if (who->kind == PRINCIPAL_USER)
        jwt_add_grant(jwt, "upn", who->name);
    jwt_add_grant(jwt, "tid", TENANT_ID);
    jwt_add_grant_int(jwt, "iat", now);
    jwt_add_grant_int(jwt, "nbf", now);
    jwt_add_grant_int(jwt, "exp", now + c->settings.token_lifetime_s);
    jwt_set_alg(jwt, JWT_ALG_HS256, c->token_key, TOKEN_KEY_BYTES);
    char *text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (!text)
        abort();
    *lifetime_s = c->settings.token_lifetime_s;
    return text;
}

static int bad_token(struct err *e, const char *why)
{
    return err_set(e, ERR_INVALID_TOKEN, NULL,
                   "The access token is invalid: %s. Get one from the token endpoint "
                   "('batchaid az-login' does for az).",
                   why);
}

static int check_times(int64_t begins_us, int64_t expires_us, int64_t now_us, struct err *e)
{
    if (begins_us > now_us + TOKEN_SKEW_US)
        return bad_token(e, "it is not valid yet");
    if (expires_us > now_us)
        return 0;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(expires_us, when);
    return err_set(e, ERR_EXPIRED_TOKEN, NULL,
                   "The access token expired at %s. Get a new one from the token endpoint.", when);
}

/* Finds the owner of a token; fails if the owner was removed. */
static int check_owner(struct request *r, const char *object_id, struct principal *who,
                       struct err *e)
{
    const struct directory *d = r->config->directory;
    int rc = object_id ? d->find(d->ctx, object_id, who, e) : 0;
    return rc == 0
               ? bad_token(e, "the user or service principal that it was issued to does not exist")
               : rc;
}

/* Verifies signature, issuer, times and owner of one token. */
static int verify(struct request *r, const char *token, struct cached_token *out, struct err *e)
{
    jwt_t *jwt = NULL;
    if (jwt_decode(&jwt, token, r->config->token_key, TOKEN_KEY_BYTES) != 0 || !jwt)
        return bad_token(e, "it is malformed or was not signed by this daemon");
    /* Checks the algorithm, because libjwt also decodes unsigned tokens. */
    const char *issuer = jwt_get_grant(jwt, "iss");
    bool ours = jwt_get_alg(jwt) == JWT_ALG_HS256 && issuer && strcmp(issuer, "batchaid") == 0;
    out->expires_us = claim_instant(jwt, "exp");
    audience_read(r->config, jwt_get_grant(jwt, "aud"), jwt_get_grant_bool(jwt, "base") == 1,
                  &out->audience);
    int rc = !ours ? bad_token(e, "it was not signed by this daemon")
                   : check_times(claim_instant(jwt, "nbf"), out->expires_us, r->now_us, e);
    if (rc == 0)
        rc = check_owner(r, jwt_get_grant(jwt, "oid"), &out->who, e);
    jwt_free(jwt);
    return rc < 0 ? -1 : 0;
}

/* The token after "Bearer" in the request's Authorization header; NULL: err, there is none. */
static const char *bearer_of(const struct request *r, struct err *e)
{
    const char *header = request_header(r, "Authorization");
    if (header && strncasecmp(header, "Bearer ", 7) == 0)
        return header + 7;
    size_t scheme = header ? strcspn(header, " ") : 0;
    if (header)
        err_set(e, ERR_NO_TOKEN, NULL,
                "Authentication failed. The 'Authorization' header uses the scheme '%.*s'; only "
                "Bearer is accepted.",
                (int)(scheme < 40 ? scheme : 40), header);
    else
        err_set(e, ERR_NO_TOKEN, NULL,
                "Authentication failed. The 'Authorization' header is missing; it must be "
                "'Bearer <access token>'.");
    return NULL;
}

/* Whether the first label of the request's host is the account or vault. For storage,
 * "ACCOUNT-secondary" is the same account, for reading. */
static bool is_account(const struct request *r, const char *account)
{
    size_t n = strlen(account);
    const char *label = r->label;
    bool has_secondary = r->service->audiences & AUDIENCE_STORAGE;
    return strncasecmp(label, account, n) == 0 &&
           (label[n] == '\0' || (has_secondary && strcmp(label + n, "-secondary") == 0));
}

int auth_read(struct request *r, const char *token, struct authenticated *out, struct err *e)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    struct cached_token fresh = {0};
    crypto_generichash(hash, sizeof hash, (const unsigned char *)token, strlen(token), NULL, 0);
    const struct cached_token *t = cache_find(r->api->tokens, hash, sizeof hash);
    bool known = t && t->expires_us > r->now_us;
    if (!known) {
        if (verify(r, token, &fresh, e) < 0)
            return -1;
        t = &fresh;
    }
    if (!(t->audience.services & r->service->audiences))
        return bad_token(e, "it was issued for another audience");
    if (!known)
        *(struct cached_token *)cache_add(r->api->tokens, hash, sizeof hash, 0) = fresh;
    /* Copy it: during the request another token may displace this token from the cache. */
    out->who = memcpy(arena_alloc(&r->arena, sizeof t->who), &t->who, sizeof t->who);
    out->account = *t->audience.account ? arena_strdup(&r->arena, t->audience.account) : NULL;
    out->ends_us = t->expires_us;
    return 0;
}

int auth_check(struct request *r, struct err *e)
{
    struct authenticated a = {NULL, NULL, 0};
    bool by_cookie = r->service->sessions && !request_header(r, "Authorization");
    int rc = by_cookie ? session_check(r, e) : 0;
    const char *token = rc == 0 ? bearer_of(r, e) : NULL;
    if (rc > 0)
        return 0;
    if (!token || auth_read(r, token, &a, e) < 0)
        return -1;
    if (a.account && r->label && !is_account(r, a.account))
        return bad_token(e, "it was issued for another account or vault");
    r->who = a.who;
    r->token_account = a.account;
    r->login_ends_us = a.ends_us;
    return 0;
}
