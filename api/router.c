/* SPDX-License-Identifier: MIT
 *
 * Path literals match without regard to case, as clients send resourceGroups and resourcegroups.
 * A path that matches under another method is 405 with Allow; one that matches nothing is 404.
 */
#include "api/router.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/auth.h"
#include "api/url.h"

#define VERSION_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* The template's segment i: [*s, *s + *n). Returns false past its end. */
static bool template_segment(const char *path, int i, const char **s, size_t *n)
{
    const char *p = path;
    for (; i >= 0; i--) {
        if (*p != '/')
            return false;
        p++;
        *s = p;
        *n = strcspn(p, "/");
        p += *n;
    }
    return *n > 0;
}

static bool is_param(const char *s, size_t n)
{
    return n > 2 && s[0] == '{' && s[n - 1] == '}';
}

static bool is_tail(const char *s, size_t n)
{
    return is_param(s, n) && s[n - 2] == '*';
}

/* Runs for every route of the table at every request: no look at the template but this one. */
static bool matches(const struct route *route, const struct request *r)
{
    const char *p = route->path;
    for (int i = 0; i < r->n_segments; i++) {
        if (*p++ != '/')
            return false;
        size_t n = strcspn(p, "/");
        if (is_tail(p, n))
            return true;
        if (!is_param(p, n) && (r->segment_len[i] != n || strncasecmp(r->segment[i], p, n) != 0))
            return false;
        p += n;
    }
    return *p == '\0';
}

const char *request_param(const struct request *r, const char *name)
{
    const char *s = "";
    size_t n = 0, len = strlen(name);
    for (int i = 0; template_segment(r->route->path, i, &s, &n); i++) {
        if (is_tail(s, n) && n == len + 3 && strncmp(s + 1, name, len) == 0)
            return r->rest;
        if (is_param(s, n) && n == len + 2 && strncmp(s + 1, name, len) == 0)
            return r->segment[i];
    }
    assert(!"a handler asked for a parameter that its route does not have");
    return "";
}

/* Splits and decodes the path. -1: too deep, or a malformed escape. */
static int split_path(struct request *r, struct err *e)
{
    const char *p = r->path;
    while (*p == '/') {
        p++;
        size_t n = strcspn(p, "/");
        if (n == 0 && p[0] == '\0')
            break; /* a trailing slash says nothing */
        if (r->n_segments == REQUEST_SEGMENTS_MAX)
            return 0; /* no template but a tail's is that deep; the tail reads r->path */
        char *seg = url_decode(&r->arena, p, n);
        if (!seg)
            return err_set(e, ERR_INVALID_PATH, NULL,
                           "The request path has a malformed percent escape in '%.*s'.",
                           (int)(n > 200 ? 200 : n), p);
        r->segment_len[r->n_segments] = strlen(seg);
        r->segment[r->n_segments++] = seg;
        p += n;
    }
    return 0;
}

/* Decodes what a {name*} matched. */
static int take_tail(struct request *r, struct err *e)
{
    const char *s = "", *p = r->path;
    size_t n = 0;
    int i = 0;
    for (; template_segment(r->route->path, i, &s, &n); i++) {
        if (is_tail(s, n)) {
            r->rest = url_decode(&r->arena, p + 1, strlen(p + 1));
            if (!r->rest)
                return err_set(e, ERR_INVALID_PATH, NULL,
                               "The request path has a malformed percent escape.");
            return 0;
        }
        p += 1 + strcspn(p + 1, "/");
    }
    return 0;
}

unsigned router_versions(void)
{
    unsigned all = 0;
    for (size_t i = 0; i < api_routes_n; i++)
        all |= api_routes[i].versions;
    return all;
}

/* The versions that serve this path and method. */
static unsigned versions_here(const struct request *r)
{
    unsigned served = 0;
    for (size_t i = 0; i < api_routes_n; i++)
        if (strcmp(api_routes[i].method, r->method) == 0 && matches(&api_routes[i], r))
            served |= api_routes[i].versions;
    return served;
}

static int unknown_version(const char *given, unsigned served, struct err *e)
{
    char list[200] = "";
    for (unsigned v = 1; v < V_ALL; v <<= 1) {
        if (!(served & v))
            continue;
        if (list[0])
            strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, api_version_name((enum api_version)v), sizeof list - strlen(list) - 1);
    }
    return err_set(e, ERR_UNKNOWN_API_VERSION, "api-version",
                   "No registered resource provider found for API version '%.100s'. "
                   "The supported api-versions are '%s'.",
                   given, list);
}

static int check_version(struct request *r, struct err *e)
{
    if (r->route->flags & ROUTE_NO_VERSION)
        return 0;
    r->version_name = request_query(r, "api-version");
    if (!r->version_name || !*r->version_name)
        return err_set(e, ERR_MISSING_API_VERSION, "api-version",
                       "The api-version query parameter (?api-version=) is required for all "
                       "requests.");
    if (strspn(r->version_name, VERSION_CHARS) != strlen(r->version_name))
        return err_set(e, ERR_INVALID_QUERY, "api-version",
                       "The api-version '%.100s' is malformed; it must be a date such as "
                       "2018-05-01.",
                       r->version_name);
    if (r->route->flags & ROUTE_ANY_VERSION)
        return 0;
    r->version = api_version_from_name(r->version_name);
    if (!r->version || !(r->route->versions & r->version))
        return unknown_version(r->version_name, versions_here(r), e);
    return 0;
}

static int check_media(const struct request *r, struct err *e)
{
    const char *type = request_header(r, "Content-Type");
    if (!type || strncasecmp(type, "application/json", 16) == 0 ||
        strncasecmp(type, "text/json", 9) == 0)
        return 0;
    return err_set(e, ERR_UNSUPPORTED_MEDIA, "Content-Type",
                   "The Content-Type is '%.100s'; it must be application/json.", type);
}

static int parse_body(struct request *r, struct err *e)
{
    unsigned flags = r->route->flags;
    if (!(flags & (ROUTE_JSON | ROUTE_JSON_OPTIONAL)))
        return 0;
    if (r->raw.len == 0) {
        if (flags & ROUTE_JSON_OPTIONAL)
            return 0;
        return err_set(e, ERR_INVALID_JSON, NULL,
                       "The request body is empty; a JSON object is expected.");
    }
    if (check_media(r, e) < 0)
        return -1;
    json_error_t je;
    r->body = json_loadb(r->raw.s, r->raw.len, JSON_REJECT_DUPLICATES, &je);
    if (!r->body)
        return err_set(e, ERR_INVALID_JSON, NULL,
                       "The request content is not valid JSON: %s (line %d, column %d).", je.text,
                       je.line, je.column);
    if (!json_is_object(r->body))
        return err_set(e, ERR_INVALID_JSON, NULL,
                       "The request content must be a JSON object, not %s.",
                       json_is_array(r->body) ? "an array" : "a plain value");
    return 0;
}

static bool allow_has(const struct strbuf *allow, const char *method)
{
    return allow->len > 0 && strstr(allow->s, method);
}

/* The row of the asked version, or else the first that matches: check_version() refuses it. */
static const struct route *find_route(struct request *r, struct strbuf *allow)
{
    enum api_version asked = api_version_from_name(request_query(r, "api-version"));
    const struct route *first = NULL;
    for (size_t i = 0; i < api_routes_n; i++) {
        const struct route *route = &api_routes[i];
        if (!matches(route, r))
            continue;
        if (strcmp(route->method, r->method) != 0) {
            if (!allow_has(allow, route->method))
                strbuf_printf(allow, "%s%s", allow->len ? ", " : "", route->method);
            continue;
        }
        if (route->versions == 0 || (route->versions & asked))
            return route;
        first = first ? first : route;
    }
    return first;
}

static struct replied *no_route(struct request *r, const struct strbuf *allow)
{
    struct err e;
    if (allow->len == 0) {
        err_set(&e, ERR_ROUTE_NOT_FOUND, NULL,
                "No resource type is served at '%.300s'. Check the path and the provider "
                "namespace (Microsoft.BatchAI).",
                r->path);
        return reply_err(r, &e);
    }
    reply_header(r, "Allow", "%s", allow->s);
    err_set(&e, ERR_METHOD_NOT_ALLOWED, NULL,
            "The method %.20s is not allowed at '%.300s'; allowed: %s.", r->method, r->path,
            allow->s);
    return reply_err(r, &e);
}

struct replied *router_dispatch(struct request *r)
{
    struct err e;
    err_clear(&e);
    if (split_path(r, &e) < 0)
        return reply_err(r, &e);
    struct strbuf allow = STRBUF_INIT;
    r->route = find_route(r, &allow);
    if (!r->route) {
        struct replied *done = no_route(r, &allow);
        strbuf_free(&allow);
        return done;
    }
    strbuf_free(&allow);
    if (take_tail(r, &e) < 0)
        return reply_err(r, &e);
    if (!(r->route->flags & ROUTE_NO_AUTH) && auth_check(r, &e) < 0)
        return reply_err(r, &e);
    if (check_version(r, &e) < 0 || parse_body(r, &e) < 0)
        return reply_err(r, &e);
    return r->route->handler(r);
}
