/* SPDX-License-Identifier: MIT
 *
 * POST .../oauth2/token (RFC 6749, section 4): one row per grant type. Errors have OAuth's shape,
 * with the codes that MSAL and ADAL show to their users.
 */
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/http/form.h"
#include "api/http/request.h"
#include "api/login/codes.h"
#include "api/login/errors.h"
#include "api/login/login.h"
#include "api/login/routes.h"

/* The client's id and secret from the form or the Authorization header. */
struct token_client {
    const char *id, *secret;
};

static const char *field(const struct request *r, const char *name)
{
    return form_value(r->form, name);
}

/* Reads "Authorization: Basic base64(id:secret)", which some clients send instead of the form's
 * fields. */
static void parse_basic(struct request *r, struct token_client *client)
{
    const char *h = request_header(r, "Authorization");
    unsigned char text[512];
    size_t n;
    if (client->id || !h || strncasecmp(h, "Basic ", 6) != 0 ||
        sodium_base642bin(text, sizeof text - 1, h + 6, strlen(h + 6), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return;
    text[n] = '\0';
    char *colon = strchr((char *)text, ':');
    if (!colon)
        return;
    client->id = arena_strndup(&r->arena, (char *)text, (size_t)(colon - (char *)text));
    client->secret = arena_strdup(&r->arena, colon + 1);
}

static struct login_grant *login_of(struct request *r, const char *client_id)
{
    struct login_grant *login = arena_alloc(&r->arena, sizeof *login);
    *login = (struct login_grant){.client_id = client_id ? client_id : "",
                                  .scope = field(r, "scope"),
                                  .resource = field(r, "resource"),
                                  .key_id = ""};
    return login;
}

static struct replied *missing(struct request *r, const char *what)
{
    return oauth_error(r, 400, "invalid_request", what);
}

static struct replied *login_is_over(struct request *r)
{
    return oauth_error(r, 400, "invalid_grant",
                       "The login is over, or the password was reset. Log in again.");
}

/* Grants a token for a code, if the password that confirmed the code is still valid. */
static struct replied *find_and_grant(struct request *r, const struct login_grant *login,
                                      const char *object_id)
{
    const struct directory *d = r->config->directory;
    const struct access *x = aad_of(r)->access;
    struct principal who;
    struct err e;
    int rc =
        x && *login->key_id ? access_has_secret(x, object_id, login->key_id, r->now_us, &e) : 1;
    if (rc <= 0)
        return rc < 0 ? reply_err(r, &e) : login_is_over(r);
    rc = d->find(d->ctx, object_id, &who, &e);
    if (rc == 0)
        return oauth_error(
            r, 400, "invalid_grant",
            "The user or service principal of the token or code does not exist any more.");
    return rc < 0 ? reply_err(r, &e) : login_grant(r, login, &who);
}

/* --- client_credentials ----------------------------------------------------------------------- */

static struct replied *wrong_secret(struct request *r, const char *client_id)
{
    return login_failed(r, client_id, "invalid_client",
                        "The client_secret is wrong; 'batchaid env' shows the right one.");
}

static struct replied *app_known(struct request *r, void *ctx, const struct principal *who,
                                 const char *key_id)
{
    const struct login_grant *login = ctx;
    (void)key_id;
    return who ? login_grant(r, login, who) : wrong_secret(r, login->client_id);
}

static struct replied *by_client(struct request *r, const struct token_client *client)
{
    struct err e;
    if (!client->id || !client->secret)
        return missing(r, "client_id and client_secret are required.");
    if (!request_may_log_in(r, client->id))
        return login_limited(r);
    int known = login_app_is_known(r, client->id, &e);
    if (known < 0)
        return reply_err(r, &e);
    if (known == 0)
        return login_failed(r, client->id, "unauthorized_client",
                            "The client_id is unknown here; 'batchaid env' shows the right one.");
    return login_app(r, client->id, client->secret, app_known, login_of(r, client->id));
}

/* --- users ------------------------------------------------------------------------------------ */

static struct replied *user_known(struct request *r, void *ctx, const struct principal *who,
                                  const char *key_id)
{
    struct login_grant *login = ctx;
    login->key_id = key_id;
    if (who)
        return login_grant(r, login, who);
    login_note_failure(r, field(r, "username"), "invalid_grant");
    return oauth_error(r, 400, "invalid_grant", "The user name or the password is wrong.");
}

static struct replied *by_password(struct request *r, const struct token_client *client)
{
    const char *name = field(r, "username"), *password = field(r, "password");
    if (!name || !password)
        return missing(r, "username and password are required.");
    return login_user(r, name, password, user_known, login_of(r, client->id));
}

static struct replied *by_refresh(struct request *r, const struct token_client *client)
{
    const char *token = field(r, "refresh_token");
    struct login_grant *login = login_of(r, client->id);
    struct login_refresh given;
    struct err e;
    if (!token)
        return missing(r, "refresh_token is required.");
    int rc = login_refreshed(r, token, &given, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc == 0 || strcmp(given.client_id, login->client_id) != 0)
        return login_is_over(r);
    login->key_id = given.key_id;
    login->ends_us = given.ends_us;
    return login_grant(r, login, &given.who);
}

/* --- codes ------------------------------------------------------------------------------------ */

static struct replied *by_device(struct request *r, const struct token_client *client)
{
    const char *text = field(r, "device_code") ? field(r, "device_code") : field(r, "code");
    struct codes *codes = aad_of(r)->codes;
    struct code *code = text && codes ? codes_by_code(codes, text, r->now_us) : NULL;
    if (!code || !*code->user_code || !code_is_for(code, client->id, NULL))
        return oauth_error(r, 400, "expired_token", "The code is unknown, or its time is over.");
    if (!*code->object_id)
        return oauth_error(r, 400, "authorization_pending", "Nobody has typed the code yet.");
    struct login_grant *login = login_of(r, client->id);
    const char *object_id = arena_strdup(&r->arena, code->object_id);
    login->key_id = arena_strdup(&r->arena, code->key_id);
    codes_remove(code);
    return find_and_grant(r, login, object_id);
}

/* RFC 7636: the program that opened the page sent the hash of a text. Whoever asks for the token
 * must send that text, which proves that it is the same program. */
static bool verifies(const struct code *code, const char *verifier)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[64];
    if (!*code->challenge)
        return true;
    if (!verifier)
        return false;
    crypto_hash_sha256(hash, (const unsigned char *)verifier, strlen(verifier));
    sodium_bin2base64(text, sizeof text, hash, sizeof hash,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return login_is_same(text, code->challenge);
}

static struct replied *by_code(struct request *r, const struct token_client *client)
{
    const char *text = field(r, "code");
    struct codes *codes = aad_of(r)->codes;
    struct code *code = text && codes ? codes_by_code(codes, text, r->now_us) : NULL;
    if (!code || !*code->object_id || *code->user_code ||
        !code_is_for(code, client->id, field(r, "redirect_uri")) ||
        !verifies(code, field(r, "code_verifier")))
        return oauth_error(r, 400, "invalid_grant",
                           "The code is unknown, or its time is over, or it was given to another "
                           "client_id or redirect_uri.");
    struct login_grant *login = login_of(r, client->id);
    const char *object_id = arena_strdup(&r->arena, code->object_id);
    login->nonce = arena_strdup(&r->arena, code->nonce);
    login->key_id = arena_strdup(&r->arena, code->key_id);
    codes_remove(code);
    return find_and_grant(r, login, object_id);
}

static const struct {
    const char *type;
    struct replied *(*grant)(struct request *r, const struct token_client *client);
} grants[] = {
    {"client_credentials", by_client}, {"password", by_password},
    {"refresh_token", by_refresh},     {"urn:ietf:params:oauth:grant-type:device_code", by_device},
    {"device_code", by_device}, /* this name is sent by ADAL */
    {"authorization_code", by_code},
};

struct replied *token_create(struct request *r)
{
    const char *type = field(r, "grant_type");
    struct token_client *client = arena_alloc(&r->arena, sizeof *client);
    *client = (struct token_client){field(r, "client_id"), field(r, "client_secret")};
    parse_basic(r, client);
    if (!type)
        return missing(r, "The form field grant_type is missing.");
    for (size_t i = 0; i < sizeof grants / sizeof grants[0]; i++)
        if (strcmp(type, grants[i].type) == 0)
            return grants[i].grant(r, client);
    return oauth_error(r, 400, "unsupported_grant_type",
                       "Only grant_type client_credentials, password, refresh_token, device_code "
                       "and authorization_code are served.");
}

/* --- OpenID discovery ------------------------------------------------------------------------ */

struct replied *openid_configuration(struct request *r)
{
    const char *base = request_base(r);
    return reply_json(
        r, 200,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:[s, s], s:[s, s, s, s, s], s:[s, s], "
                  "s:[s], s:[s]}",
                  "issuer", json_sprintf("%s/adfs", base), "authorization_endpoint",
                  json_sprintf("%s/adfs/oauth2/authorize", base), "token_endpoint",
                  json_sprintf("%s/adfs/oauth2/token", base), "jwks_uri",
                  json_sprintf("%s/adfs/discovery/keys", base), "device_authorization_endpoint",
                  json_sprintf("%s/adfs/oauth2/devicecode", base),
                  "token_endpoint_auth_methods_supported", "client_secret_post",
                  "client_secret_basic", "grant_types_supported", "client_credentials", "password",
                  "refresh_token", "authorization_code",
                  "urn:ietf:params:oauth:grant-type:device_code", "response_types_supported",
                  "token", "code", "subject_types_supported", "public",
                  "id_token_signing_alg_values_supported", "HS256"));
}

/* Replies with an empty list: the daemon signs tokens with a symmetric key, so there is no public
 * key. */
struct replied *signing_keys(struct request *r)
{
    return reply_json(r, 200, json_pack("{s:[]}", "keys"));
}
