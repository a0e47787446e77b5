/* SPDX-License-Identifier: MIT
 *
 * POST .../oauth2/token (RFC 6749, section 4.4). Errors have OAuth's shape, with the codes that
 * MSAL and ADAL show to their users.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/aad/handlers.h"
#include "api/auth.h"
#include "api/url.h"

struct form {
    const char *grant_type, *client_id, *client_secret, *scope, *resource;
};

/* '+' is a space in forms. */
static char *decode(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_strndup(a, s, n);
    for (char *p = copy; *p; p++)
        if (*p == '+')
            *p = ' ';
    return url_decode(a, copy, n);
}

static void set_field(struct form *f, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **slot;
    } fields[] = {{"grant_type", &f->grant_type},
                  {"client_id", &f->client_id},
                  {"client_secret", &f->client_secret},
                  {"scope", &f->scope},
                  {"resource", &f->resource}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i].name, name) == 0)
            *fields[i].slot = value;
}

static void parse_form(struct request *r, struct form *f)
{
    const char *p = r->raw.s ? r->raw.s : "";
    while (*p) {
        size_t n = strcspn(p, "&");
        const char *eq = memchr(p, '=', n);
        if (eq) {
            char *name = decode(&r->arena, p, (size_t)(eq - p));
            char *value = decode(&r->arena, eq + 1, n - (size_t)(eq + 1 - p));
            if (name && value)
                set_field(f, name, value);
        }
        p += n + (p[n] == '&');
    }
}

/* Authorization: Basic base64(id:secret), where a client does not use the form. */
static void parse_basic(struct request *r, struct form *f)
{
    const char *h = request_header(r, "Authorization");
    unsigned char text[512];
    size_t n;
    if (f->client_id || !h || strncasecmp(h, "Basic ", 6) != 0 ||
        sodium_base642bin(text, sizeof text - 1, h + 6, strlen(h + 6), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return;
    text[n] = '\0';
    char *colon = strchr((char *)text, ':');
    if (!colon)
        return;
    f->client_id = arena_strndup(&r->arena, (char *)text, (size_t)(colon - (char *)text));
    f->client_secret = arena_strdup(&r->arena, colon + 1);
}

static struct replied *oauth_error(struct request *r, int status, const char *error,
                                   const char *description)
{
    return reply_json(r, status,
                      json_pack("{s:s, s:s, s:s}", "error", error, "error_description", description,
                                "correlation_id", r->correlation_id));
}

static bool same(const char *a, const char *b)
{
    size_t n = strlen(b);
    return strlen(a) == n && sodium_memcmp(a, b, n) == 0;
}

/* "https://host/.default" -> "https://host" */
static const char *audience_of(struct request *r, const struct form *f)
{
    const char *s = f->resource ? f->resource : f->scope ? f->scope : request_base(r);
    const char *end = strstr(s, "/.default");
    return end ? arena_strndup(&r->arena, s, (size_t)(end - s)) : s;
}

/* v1 (resource=) gives numbers as strings, v2 (scope=) as numbers. */
static json_t *number(bool as_text, long long v)
{
    return as_text ? json_sprintf("%lld", v) : json_integer(v);
}

static struct replied *grant(struct request *r, const struct form *f)
{
    int lifetime;
    const char *audience = audience_of(r, f);
    char *token = auth_issue(r->config, f->client_id, audience, r->now_us, &lifetime);
    bool v1 = f->resource != NULL;
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
    struct form f = {0};
    parse_form(r, &f);
    parse_basic(r, &f);
    if (!f.grant_type)
        return oauth_error(r, 400, "invalid_request", "The form field grant_type is missing.");
    if (strcmp(f.grant_type, "client_credentials") != 0)
        return oauth_error(r, 400, "unsupported_grant_type",
                           "Only grant_type client_credentials is served: log in as the service "
                           "principal that 'batchaid env' shows.");
    if (!f.client_id || !f.client_secret)
        return oauth_error(r, 400, "invalid_request", "client_id and client_secret are required.");
    if (!same(f.client_id, r->config->client_id))
        return oauth_error(r, 401, "unauthorized_client",
                           "The client_id is unknown here; 'batchaid env' shows the right one.");
    if (!same(f.client_secret, r->config->client_secret))
        return oauth_error(r, 401, "invalid_client",
                           "The client_secret is wrong; 'batchaid env' shows the right one.");
    return grant(r, &f);
}
