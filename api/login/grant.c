/* SPDX-License-Identifier: MIT
 *
 * Issues the tokens of a login. A refresh token contains the id of the password of its login, so it
 * becomes invalid when the password is reset.
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

#define TOKEN_KEY_BYTES  32
#define REFRESH_ISSUER   "batchaid-refresh" /* never taken for an access token */
#define REFRESH_LIFETIME (90L * 24 * 3600)

/* "https://host/.default" -> "https://host". Skips words of a scope that are no URLs, such as
 * openid. */
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

/* Signs and adds a token; takes it over. */
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
                        const struct principal *who, long lifetime_s)
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
    jwt_add_grant_int(jwt, "exp", now + lifetime_s);
    return jwt;
}

static void add_id_token(struct request *r, const struct login_grant *login,
                         const struct principal *who, json_t *body)
{
    const char *issuer = arena_concat(&r->arena, request_base(r), "/adfs");
    jwt_t *jwt = new_token(r, issuer, login->client_id, who, r->config->settings.token_lifetime_s);
    jwt_add_grant(jwt, "tid", TENANT_ID);
    jwt_add_grant(jwt, "upn", who->name);
    jwt_add_grant(jwt, "unique_name", who->name);
    jwt_add_grant(jwt, "preferred_username", who->name);
    jwt_add_grant(jwt, "name", who->name);
    if (login->nonce && *login->nonce)
        jwt_add_grant(jwt, "nonce", login->nonce);
    add_token(r, body, "id_token", jwt);
}

/* The id of a user's password; NULL: the user has none, or no longer exists. A getter. */
static int password_of(struct request *r, const char *object_id, const char **key_id, struct err *e)
{
    struct storage *st = aad_of(r)->access->storage;
    struct identity i;
    struct credential *rows;
    size_t n = 0;
    int rc = st_identity_get(st, &r->arena, object_id, &i, e);
    if (rc > 0)
        rc = st_credential_list(st, &r->arena, i.id, &rows, &n, e) < 0 ? -1 : n > 0;
    if (rc > 0)
        *key_id = rows[0].key_id;
    return rc;
}

static int add_refresh_token(struct request *r, const struct login_grant *login,
                             const struct principal *who, json_t *body, struct err *e)
{
    const char *key_id;
    int rc = password_of(r, who->object_id, &key_id, e);
    if (rc <= 0)
        return rc;
    jwt_t *jwt = new_token(r, REFRESH_ISSUER, login->client_id, who, REFRESH_LIFETIME);
    jwt_add_grant(jwt, "key", key_id);
    add_token(r, body, "refresh_token", jwt);
    return 0;
}

int login_refreshed(struct request *r, const char *token, const char *client_id,
                    struct principal *who, struct err *e)
{
    const struct directory *d = r->config->directory;
    const char *issuer, *program, *oid, *key, *now = NULL;
    jwt_t *jwt = NULL;
    int rc = 0;
    if (!aad_of(r)->access || jwt_decode(&jwt, token, r->config->token_key, TOKEN_KEY_BYTES) != 0 ||
        !jwt)
        return 0;
    issuer = jwt_get_grant(jwt, "iss");
    program = jwt_get_grant(jwt, "aud");
    oid = jwt_get_grant(jwt, "oid");
    key = jwt_get_grant(jwt, "key");
    if (jwt_get_alg(jwt) == JWT_ALG_HS256 && issuer && strcmp(issuer, REFRESH_ISSUER) == 0 &&
        program && strcmp(program, client_id ? client_id : "") == 0 && oid && key &&
        jwt_get_grant_int(jwt, "exp") > r->now_us / 1000000)
        rc = password_of(r, oid, &now, e);
    if (rc > 0)
        rc = strcmp(key, now) == 0 ? d->find(d->ctx, oid, who, e) : 0;
    jwt_free(jwt);
    return rc;
}

/* v1 (resource=) sends numbers as strings, v2 (scope=) as numbers. */
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
    struct err e;
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
        if (add_refresh_token(r, login, who, body, &e) < 0)
            return reply_err(r, &e);
    }
    reply_header(r, "Cache-Control", "no-store");
    return reply_json(r, 200, json_incref(body));
}
