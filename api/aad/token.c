/* SPDX-License-Identifier: MIT
 *
 * POST .../oauth2/token (RFC 6749, section 4.4). Errors have OAuth's shape, with the codes that
 * MSAL and ADAL show to their users.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/aad/aad.h"
#include "api/aad/errors.h"
#include "api/aad/handlers.h"
#include "api/http/audience.h"
#include "api/http/auth.h"
#include "api/http/form.h"
#include "lib/jsontext.h"

struct login {
    const char *grant_type, *client_id, *client_secret, *scope, *resource;
};

/* Reads "Authorization: Basic base64(id:secret)", for clients that do not use the form. */
static void parse_basic(struct request *r, struct login *login)
{
    const char *h = request_header(r, "Authorization");
    unsigned char text[512];
    size_t n;
    if (login->client_id || !h || strncasecmp(h, "Basic ", 6) != 0 ||
        sodium_base642bin(text, sizeof text - 1, h + 6, strlen(h + 6), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return;
    text[n] = '\0';
    char *colon = strchr((char *)text, ':');
    if (!colon)
        return;
    login->client_id = arena_strndup(&r->arena, (char *)text, (size_t)(colon - (char *)text));
    login->client_secret = arena_strdup(&r->arena, colon + 1);
}

/* The same answer for right and wrong credentials, so that somebody who guesses learns nothing from
 * it. */
static struct replied *login_refused(struct request *r)
{
    struct err e;
    err_set(&e, AAD_TOO_MANY_LOGINS, NULL,
            "Too many logins from this address have failed. Try again in a while.");
    return reply_err(r, &e);
}

/* Counts and logs a failed login, which may be a guess. */
static struct replied *login_failed(struct request *r, const struct login *login, const char *error,
                                    const char *description)
{
    char who[100];
    snprintf(who, sizeof who, "%s", login->client_id);
    request_login_failed(r);
    LOG_WARN(r->config->log, "login.failed", LF_STR("from", request_peer(r)),
             LF_STR("client_id", who), LF_STR("why", error), LF_STR("req", r->correlation_id));
    return oauth_error(r, 401, error, description);
}

static bool same(const char *a, const char *b)
{
    size_t n = strlen(b);
    return strlen(a) == n && sodium_memcmp(a, b, n) == 0;
}

/* "https://host/.default" -> "https://host" */
static const char *audience_of(struct request *r, const struct login *login)
{
    const char *s = login->resource ? login->resource
                    : login->scope  ? login->scope
                                    : request_base(r);
    const char *end = strstr(s, "/.default");
    return end ? arena_strndup(&r->arena, s, (size_t)(end - s)) : s;
}

/* v1 (resource=) has numbers as strings, v2 (scope=) as numbers. */
static json_t *number(bool as_text, long long v)
{
    return as_text ? json_sprintf("%lld", v) : json_integer(v);
}

static struct replied *grant(struct request *r, const struct login *login,
                             const struct principal *who, const char *audience)
{
    int lifetime;
    char *token = auth_issue(r->config, who, login->client_id, audience, r->now_us, &lifetime);
    bool v1 = login->resource != NULL;
    long long now = r->now_us / 1000000;
    json_t *body =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "token_type", "Bearer", "expires_in",
                  number(v1, lifetime), "ext_expires_in", number(v1, lifetime), "expires_on",
                  number(v1, now + lifetime), "not_before", number(v1, now), "resource", audience,
                  "access_token", token);
    free(token);
    reply_header(r, "Cache-Control", "no-store");
    return reply_json(r, 200, body);
}

struct replied *token_create(struct request *r)
{
    struct login login = {.grant_type = form_value(r->form, "grant_type"),
                          .client_id = form_value(r->form, "client_id"),
                          .client_secret = form_value(r->form, "client_secret"),
                          .scope = form_value(r->form, "scope"),
                          .resource = form_value(r->form, "resource")};
    parse_basic(r, &login);
    if (!login.grant_type)
        return oauth_error(r, 400, "invalid_request", "The form field grant_type is missing.");
    if (strcmp(login.grant_type, "client_credentials") != 0)
        return oauth_error(r, 400, "unsupported_grant_type",
                           "Only grant_type client_credentials is served: log in as the service "
                           "principal that 'batchaid env' shows.");
    if (!login.client_id || !login.client_secret)
        return oauth_error(r, 400, "invalid_request", "client_id and client_secret are required.");
    if (!request_may_log_in(r))
        return login_refused(r);
    if (!same(login.client_id, aad_of(r)->client_id))
        return login_failed(r, &login, "unauthorized_client",
                            "The client_id is unknown here; 'batchaid env' shows the right one.");
    if (!same(login.client_secret, aad_of(r)->client_secret))
        return login_failed(r, &login, "invalid_client",
                            "The client_secret is wrong; 'batchaid env' shows the right one.");
    const char *audience = audience_of(r, &login);
    if (!audience_find(r, audience))
        return oauth_error(r, 400, "invalid_resource",
                           arena_printf(&r->arena,
                                        "No resource '%.200s' is served here: ask for '%s'.",
                                        audience, request_base(r)));
    struct err e;
    struct principal who;
    const struct directory *d = r->config->directory;
    if (d->find(d->ctx, login.client_id, &who, &e) <= 0)
        return login_failed(r, &login, "unauthorized_client",
                            "The client_id is unknown here; 'batchaid env' shows the right one.");
    return grant(r, &login, &who, audience);
}
