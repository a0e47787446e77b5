/* SPDX-License-Identifier: MIT
 *
 * Issues the tokens of a login. A refresh token contains the id of the password that the user
 * logged in with, so it becomes invalid when that password is reset.
 */
#include <jwt.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/http/audience.h"
#include "api/http/auth.h"
#include "api/login/errors.h"
#include "api/login/login.h"
#include "storage/storage.h"

#define TOKEN_KEY_BYTES 32
/* differs from the issuer of access tokens, so a refresh token is never accepted as one */
#define REFRESH_ISSUER "batchaid-refresh"

/* The audience of a scope: "https://host/.default" -> "https://host". Skips words of the scope that
 * are no URLs, such as openid. */
static const char *audience_of(struct request *r, const struct login_grant *login)
{
    if (login->resource)
        return login->resource;
    const char *at = login->scope ? strstr(login->scope, "://") : NULL;
    if (!at)
        return login->scope && !strchr(login->scope, ' ') && strcmp(login->scope, "openid") != 0
                   ? login->scope
                   : request_base(r);
    while (at > login->scope && at[-1] != ' ')
        at--;
    const char *word = arena_strndup(&r->arena, at, strcspn(at, " ")), *end;
    if (!(end = strstr(word, "/.default")) && !(end = strstr(word, "/user_impersonation")))
        return word;
    return arena_strndup(&r->arena, word, (size_t)(end - word));
}

/* Signs the token, adds it to the body under `name`, and frees it. */
static void add_token(struct request *r, json_t *body, const char *name, jwt_t *jwt)
{
    jwt_set_alg(jwt, JWT_ALG_HS256, r->config->token_key, TOKEN_KEY_BYTES);
    char *text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (!text)
        abort();
    json_object_set_new(body, name, json_string(text));
    free(text);
}

static jwt_t *new_token(const struct request *r, const char *issuer, const char *audience,
                        const struct principal *who, long ends_s)
{
    jwt_t *jwt;
    long now = (long)(r->now_us / 1000000);
    if (jwt_new(&jwt) != 0)
        abort();
    jwt_add_grant(jwt, "iss", issuer);
    jwt_add_grant(jwt, "aud", audience);
    jwt_add_grant(jwt, "sub", who->object_id);
    jwt_add_grant(jwt, "oid", who->object_id);
    jwt_add_grant_int(jwt, "iat", now);
    jwt_add_grant_int(jwt, "nbf", now);
    jwt_add_grant_int(jwt, "exp", ends_s);
    return jwt;
}

static void add_id_token(struct request *r, const struct login_grant *login,
                         const struct principal *who, json_t *body)
{
    const char *issuer = arena_concat(&r->arena, request_base(r), "/adfs");
    long ends_s = (long)(r->now_us / 1000000) + r->config->settings.token_lifetime_s;
    jwt_t *jwt = new_token(r, issuer, login->client_id, who, ends_s);
    jwt_add_grant(jwt, "tid", TENANT_ID);
    jwt_add_grant(jwt, "upn", who->name);
    jwt_add_grant(jwt, "unique_name", who->name);
    jwt_add_grant(jwt, "preferred_username", who->name);
    jwt_add_grant(jwt, "name", who->name);
    if (login->nonce && *login->nonce)
        jwt_add_grant(jwt, "nonce", login->nonce);
    add_token(r, body, "id_token", jwt);
}

static void add_refresh_token(struct request *r, const struct login_grant *login,
                              const struct principal *who, json_t *body)
{
    if (!*login->key_id)
        return;
    int64_t ends_us = login->ends_us ? login->ends_us : r->now_us + LOGIN_SECONDS * 1000000;
    jwt_t *jwt = new_token(r, REFRESH_ISSUER, login->client_id, who, (long)(ends_us / 1000000));
    jwt_add_grant(jwt, "key", login->key_id);
    add_token(r, body, "refresh_token", jwt);
}

static const char *text_of(struct request *r, jwt_t *jwt, const char *claim)
{
    const char *text = jwt_get_grant(jwt, claim);
    return text ? arena_strdup(&r->arena, text) : NULL;
}

int login_refreshed(struct request *r, const char *token, struct login_refresh *out, struct err *e)
{
    const struct directory *d = r->config->directory;
    const struct access *x = aad_of(r)->access;
    jwt_t *jwt = NULL;
    int rc = 0;
    if (!x || jwt_decode(&jwt, token, r->config->token_key, TOKEN_KEY_BYTES) != 0 || !jwt)
        return 0;
    const char *issuer = jwt_get_grant(jwt, "iss"), *oid = jwt_get_grant(jwt, "oid");
    long ends = jwt_get_grant_int(jwt, "exp");
    out->client_id = text_of(r, jwt, "aud");
    out->key_id = text_of(r, jwt, "key");
    out->ends_us = ends * 1000000LL;
    if (jwt_get_alg(jwt) == JWT_ALG_HS256 && issuer && strcmp(issuer, REFRESH_ISSUER) == 0 &&
        out->client_id && oid && out->key_id && ends > r->now_us / 1000000)
        rc = access_has_secret(x, oid, out->key_id, r->now_us, e);
    if (rc > 0)
        rc = d->find(d->ctx, oid, &out->who, e);
    jwt_free(jwt);
    return rc;
}

/* Replies of endpoint v1 (resource=) contain numbers as strings, those of v2 (scope=) as
 * numbers. */
static json_t *number(bool as_text, long long v)
{
    return as_text ? json_sprintf("%lld", v) : json_integer(v);
}

static json_t *access_token(struct request *r, const struct login_grant *login,
                            const struct principal *who, const char *audience, bool base)
{
    int lifetime;
    char *token =
        auth_issue(r->config, who, login->client_id, audience, base, r->now_us, &lifetime);
    bool v1 = login->resource != NULL;
    long long now = r->now_us / 1000000;
    json_t *body =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "token_type", "Bearer", "expires_in",
                  number(v1, lifetime), "ext_expires_in", number(v1, lifetime), "expires_on",
                  number(v1, now + lifetime), "not_before", number(v1, now), "resource", audience,
                  "access_token", token);
    free(token);
    return body;
}

struct replied *login_grant(struct request *r, const struct login_grant *login,
                            const struct principal *who)
{
    bool base;
    const char *audience = audience_of(r, login);
    if (!audience_is_ours(r, audience, &base))
        return oauth_error(r, 400, "invalid_resource",
                           arena_printf(&r->arena,
                                        "No resource '%.200s' is served here: ask for '%s'.",
                                        audience, request_base(r)));
    json_t *body = request_own(r, access_token(r, login, who, audience, base));
    if (who->kind == PRINCIPAL_USER) {
        add_id_token(r, login, who, body);
        add_refresh_token(r, login, who, body);
    }
    reply_header(r, "Cache-Control", "no-store");
    return reply_json(r, 200, json_incref(body));
}
