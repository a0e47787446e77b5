/* SPDX-License-Identifier: MIT
 *
 * Path literals match in any case, because clients send both resourceGroups and resourcegroups. A
 * path that matches under another method is 405 with Allow; one that matches nothing is 404.
 */
#include "api/http/router.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/http/content.h"
#include "api/http/url.h"
#include "api/http/ways.h"
#include "lib/jsontext.h"

#define VERSION_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

static size_t segment_length(const char *p)
{
    return (size_t)(strchrnul(p, '/') - p);
}

/* Takes the next segment off a template: [*s, *s + *n). False: there is none. */
static bool next_segment(const char **template, const char **s, size_t *n)
{
    if (**template != '/')
        return false;
    *s = *template + 1;
    *n = segment_length(*s);
    *template = *s + *n;
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

/* Tries an exact match first: most clients spell a path as the table does. */
static bool is_literal(const struct request *r, int i, const char *s, size_t n)
{
    return r->segment_len[i] == n &&
           (memcmp(r->segment[i], s, n) == 0 || strncasecmp(r->segment[i], s, n) == 0);
}

/* Runs for every route of a table at every request, so it reads the template only once. */
static bool matches(const char *template, const struct request *r)
{
    const char *p = template;
    for (int i = 0; i < r->n_segments; i++) {
        if (*p++ != '/')
            return false;
        size_t n = segment_length(p);
        if (is_tail(p, n))
            return true;
        if (!is_param(p, n) && !is_literal(r, i, p, n))
            return false;
        p += n;
    }
    return *p == '\0';
}

const char *request_param(const struct request *r, const char *name)
{
    const char *template = r->route->path, *s;
    size_t n, len = strlen(name);
    for (int i = 0; next_segment(&template, &s, &n); i++) {
        if (is_tail(s, n) && n == len + 3 && strncmp(s + 1, name, len) == 0)
            return r->rest;
        if (is_param(s, n) && n == len + 2 && strncmp(s + 1, name, len) == 0)
            return r->segment[i];
    }
    assert(!"a handler asked for a parameter that its route does not have");
    return "";
}

static int bad_path(const char *at, size_t n, const char *what, struct err *e)
{
    return err_set(e, ERR_INVALID_PATH, NULL, "The request path has %s in '%.*s'.", what,
                   (int)(n > 200 ? 200 : n), at);
}

/* Splits and decodes the path. -1: a malformed escape or text that is not UTF-8, which rooms below
 * never see. */
static int split_path(struct request *r, struct err *e)
{
    const char *p = r->path;
    while (*p == '/') {
        p++;
        size_t n = segment_length(p);
        if (n == 0 && p[0] == '\0')
            break; /* a trailing slash has no meaning */
        if (r->n_segments == REQUEST_SEGMENTS_MAX)
            return 0; /* only templates with a tail are that deep, and the tail reads r->path */
        char *seg = url_decode(&r->arena, p, n);
        size_t len = seg ? strlen(seg) : 0;
        if (!seg || !jsontext_is_utf8(seg, len))
            return bad_path(p, n, seg ? "bytes that are not UTF-8" : "a malformed percent escape",
                            e);
        r->segment_len[r->n_segments] = len;
        r->segment[r->n_segments++] = seg;
        p += n;
    }
    return 0;
}

/* Decodes the part of the path that a {name*} matched. */
static int take_tail(struct request *r, struct err *e)
{
    const char *template = r->route->path, *s, *p = r->path;
    size_t n;
    while (next_segment(&template, &s, &n)) {
        if (is_tail(s, n)) {
            n = strlen(++p);
            r->rest = url_decode(&r->arena, p, n);
            if (!r->rest || !jsontext_is_utf8(r->rest, strlen(r->rest)))
                return bad_path(
                    p, n, r->rest ? "bytes that are not UTF-8" : "a malformed percent escape", e);
            return 0;
        }
        p += 1 + segment_length(p + 1);
    }
    return 0;
}

/* --- which service -------------------------------------------------------------------------- */

/* The rank of a segment: a literal counts more than a parameter, that more than a tail, that more
 * than nothing. */
static int literalness(const char *s, size_t n)
{
    return n == 0 ? 0 : is_tail(s, n) ? 1 : is_param(s, n) ? 2 : 3;
}

/* Whether `a` is the more literal of two matching templates, at the first segment where they
 * differ. */
static bool more_literal(const char *a, const char *b)
{
    while (*a || *b) {
        a += *a == '/';
        b += *b == '/';
        size_t n = segment_length(a), m = segment_length(b);
        int x = literalness(a, n), y = literalness(b, m);
        if (x != y)
            return x > y;
        a += n;
        b += m;
    }
    return false;
}

/* `host` as sent, perhaps with a port. */
static bool host_is(const char *pattern, const char *host)
{
    const char *colon = strrchr(host, ':');
    size_t n = colon && strspn(colon + 1, "0123456789") == strlen(colon + 1)
                   ? (size_t)(colon - host)
                   : strlen(host);
    size_t m = strlen(pattern);
    if (*pattern != '*')
        return n == m && strncasecmp(host, pattern, n) == 0;
    return n >= m && strncasecmp(host + n - (m - 1), pattern + 1, m - 1) == 0;
}

static bool host_matches(const struct service *s, const char *host)
{
    for (size_t i = 0; s->hosts && s->hosts[i]; i++)
        if (host_is(s->hosts[i], host))
            return true;
    return !s->hosts;
}

/* The most literal matching template of the service; NULL: none matches. */
static const char *path_matches(const struct service *s, const struct request *r)
{
    const char *best = s->paths ? NULL : "";
    for (size_t i = 0; s->paths && s->paths[i]; i++)
        if (matches(s->paths[i], r) && (!best || more_literal(s->paths[i], best)))
            best = s->paths[i];
    return best;
}

/* A service with a list of hosts goes before those without. */
static void find_service(struct request *r)
{
    const char *best = NULL;
    for (size_t i = 0; i < r->config->n_services; i++) {
        const struct served *served = &r->config->services[i];
        const struct service *s = served->service;
        const char *path = host_matches(s, r->host) ? path_matches(s, r) : NULL;
        if (!path)
            continue;
        assert(!r->service || best); /* the service was found by its path before */
        bool both = r->service && !r->service->hosts == !s->hosts;
        if (r->service && (both ? !more_literal(path, best) : !s->hosts))
            continue;
        best = path;
        r->service = s;
        r->deps = served->deps;
    }
}

/* --- api-versions --------------------------------------------------------------------------- */

/* The versions that serve this path and method. */
static unsigned versions_here(const struct request *r)
{
    unsigned served = 0;
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if (strcmp(route->method, r->method) == 0 && matches(route->path, r))
            served |= route->versions;
    }
    return served;
}

static int unknown_version(const struct request *r, struct err *e)
{
    char list[200] = "";
    unsigned served = versions_here(r);
    for (unsigned v = 1; v && v <= served; v <<= 1) {
        if (!(served & v))
            continue;
        if (list[0])
            strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, r->service->version_name(v), sizeof list - strlen(list) - 1);
    }
    return err_set(e, ERR_UNKNOWN_API_VERSION, "api-version",
                   "No registered resource provider found for API version '%.100s'. "
                   "The supported api-versions are '%s'.",
                   r->version_name, list);
}

static int check_version(struct request *r, struct err *e)
{
    if (r->service->versions == VERSIONS_NONE)
        return 0;
    if (!r->version_name || !*r->version_name)
        return err_set(e, ERR_MISSING_API_VERSION, "api-version",
                       "The api-version query parameter (?api-version=) is required for all "
                       "requests.");
    if (strspn(r->version_name, VERSION_CHARS) != strlen(r->version_name))
        return err_set(e, ERR_INVALID_QUERY, "api-version",
                       "The api-version '%.100s' is malformed; it must be a date such as "
                       "2018-05-01.",
                       r->version_name);
    if (r->service->versions == VERSIONS_ANY || (r->route->flags & ROUTE_ANY_VERSION))
        return 0;
    return (r->route->versions & r->version) ? 0 : unknown_version(r, e);
}

/* --- the route ------------------------------------------------------------------------------ */

static bool allow_has(const struct strbuf *allow, const char *method)
{
    return allow->len > 0 && strstr(allow->s, method);
}

static const struct route *find_route(const struct request *r)
{
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if ((route->versions == 0 || (route->versions & r->version)) &&
            strcmp(route->method, r->method) == 0 && matches(route->path, r))
            return route;
    }
    return NULL;
}

/* If no row fits: the first row of another version, which check_version() refuses; without one,
 * collects the methods of the path. */
static const struct route *nearest_route(const struct request *r, struct strbuf *allow)
{
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if (!matches(route->path, r))
            continue;
        if (strcmp(route->method, r->method) != 0) {
            if (!allow_has(allow, route->method))
                strbuf_printf(allow, "%s%s", allow->len ? ", " : "", route->method);
            continue;
        }
        return route;
    }
    return NULL;
}

static int no_route(struct request *r, const struct strbuf *allow, struct err *e)
{
    if (allow->len == 0)
        return err_set(e, ERR_ROUTE_NOT_FOUND, NULL,
                       "No resource type is served at '%.300s'. Check the path and the provider "
                       "namespace.",
                       r->path);
    reply_header(r, "Allow", "%s", allow->s);
    return err_set(e, ERR_METHOD_NOT_ALLOWED, NULL,
                   "The method %.20s is not allowed at '%.300s'; allowed: %s.", r->method, r->path,
                   allow->s);
}

static int match(struct request *r, struct err *e)
{
    struct strbuf allow = STRBUF_INIT;
    if (r->service->versions != VERSIONS_NONE)
        r->version_name = request_query(r, "api-version");
    if (r->service->version_of && r->version_name)
        r->version = r->service->version_of(r->version_name);
    r->route = find_route(r);
    if (!r->route)
        r->route = nearest_route(r, &allow);
    int rc = r->route ? 0 : no_route(r, &allow, e);
    strbuf_free(&allow);
    return rc;
}

/* Finds what follows from path and query alone: service and route. */
static int find_way(struct request *r, struct err *e)
{
    if (split_path(r, e) < 0 || request_check_query(r, e) < 0)
        return -1;
    find_service(r);
    if (!r->service)
        return err_set(e, ERR_ROUTE_NOT_FOUND, NULL, "Nothing is served at '%.300s'.", r->path);
    return match(r, e) < 0 || take_tail(r, e) < 0 ? -1 : 0;
}

int router_accept(struct request *r, struct err *e)
{
    if (!ways_take(r) && find_way(r, e) < 0)
        return -1;
    if (r->service->may && !(r->route->flags & ROUTE_OPEN) && r->service->may(r, e) < 0)
        return -1;
    if (!r->way && check_version(r, e) < 0)
        return -1;
    ways_keep(r);
    return request_has_body(r) ? content_check_type(r, e) : 0;
}

struct replied *router_dispatch(struct request *r)
{
    struct err e;
    assert(r->route && !r->early.code);
    err_clear(&e);
    int rc = content_decode(r, &e);
    if (rc > 0)
        return NULL;
    return rc < 0 ? reply_err(r, &e) : r->route->handler(r);
}
