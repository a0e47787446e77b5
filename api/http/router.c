/* SPDX-License-Identifier: MIT
 *
 * Errors: 405 with Allow if routes of the path have other methods; 400 if routes of the path and
 * method need another query; 404 if no route has the path.
 */
#include "api/http/router.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/http/content.h"
#include "api/http/http_priv.h"
#include "api/http/route_cache.h"
#include "api/http/template.h"
#include "api/http/url.h"
#include "api/http/versions.h"
#include "lib/jsontext.h"

/* if the body is complete later than this after the head, access is checked again */
#define LATE_US 1000000

const char *request_param(const struct request *r, const char *name)
{
    const char *t = r->route->path, *s;
    size_t n, len = strlen(name);
    for (int i = 0; template_next(&t, &s, &n); i++) {
        if (template_is_tail(s, n) && n == len + 3 && strncmp(s + 1, name, len) == 0)
            return r->rest;
        if (template_is_param(s, n) && n == len + 2 && strncmp(s + 1, name, len) == 0)
            return r->segment[i];
        size_t opening = template_opening(s, n);
        if (opening && n == opening + len + 3 && strncmp(s + opening + 1, name, len) == 0)
            return r->segment[i] + opening;
    }
    assert(!"a handler asked for a parameter that its route does not have");
    return "";
}

static int bad_path(const char *at, size_t n, const char *what, struct err *e)
{
    return err_set(e, ERR_INVALID_PATH, NULL, "The request path has %s in '%.*s'.", what,
                   (int)(n > 200 ? 200 : n), at);
}

/* In paths of the resource manager, replaces several slashes by one: some clients join a base URL
 * that ends with a slash and a path that begins with a slash. Other paths stay, because in names of
 * blobs each slash counts. */
static void join_slashes(struct request *r)
{
    static const char *const managed[] = {"subscriptions", "providers"};
    const char *first = r->path + strspn(r->path, "/");
    bool is_managed = false;
    if (!strstr(r->path, "//") || r->door->service || served_at(r->config, r->door, r->host))
        return;
    for (size_t i = 0; i < sizeof managed / sizeof managed[0]; i++)
        is_managed |= strncasecmp(first, managed[i], strlen(managed[i])) == 0;
    if (!is_managed)
        return;
    char *path = arena_strdup(&r->arena, r->path), *to = path;
    for (const char *at = path; *at; at++)
        if (at[0] != '/' || at[1] != '/')
            *to++ = *at;
    *to = '\0';
    r->path = path;
}

/* Splits and decodes the path. -1: it has a malformed escape or text that is not UTF-8; so handlers
 * never get such text. */
static int split_path(struct request *r, struct err *e)
{
    join_slashes(r);
    const char *p = r->path;
    while (*p == '/') {
        p++;
        size_t n = segment_length(p);
        if (n == 0 && p[0] == '\0')
            break; /* a trailing slash has no meaning */
        if (r->n_segments == REQUEST_SEGMENTS_MAX)
            return 0; /* only a template with a tail can match; tails use r->path */
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
    const char *t = r->route->path, *s, *p = r->path;
    size_t n;
    while (template_next(&t, &s, &n)) {
        if (template_is_tail(s, n)) {
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

/* --- api-versions --------------------------------------------------------------------------- */

static int check_version(struct request *r, struct err *e)
{
    if (r->service->versions == VERSIONS_NONE)
        return 0;
    if (!r->version_name || !*r->version_name)
        return err_set(e, ERR_MISSING_API_VERSION, "api-version",
                       "The api-version query parameter (?api-version=) is required for all "
                       "requests.");
    if (version_check_form(r, e) < 0)
        return -1;
    if (r->service->versions == VERSIONS_ANY || (r->route->flags & ROUTE_ANY_VERSION))
        return 0;
    return (r->route->versions & r->version) ? 0 : version_refuse(r, e);
}

/* --- the route ------------------------------------------------------------------------------ */

static bool allow_has(const struct strbuf *allow, const char *method)
{
    return allow->len > 0 && strstr(allow->s, method);
}

static const struct route *find_route(struct request *r)
{
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if ((route->versions == 0 || (route->versions & r->version)) &&
            strcmp(route->method, r->method) == 0 && template_fits_path(route->path, r) &&
            template_fits_query(route->path, r))
            return route;
    }
    return NULL;
}

/* The reason why no route matches. */
struct misfit {
    struct strbuf allow; /* the methods of the path */
    bool query;          /* routes with this path and method exist */
};

/* Called if no route matches in the request's api-version: the first route that matches in another
 * version; check_version() will refuse it. NULL: there is none, and *why shows the reason. */
static const struct route *nearest_route(struct request *r, struct misfit *why)
{
    for (size_t i = 0; i < r->service->n_routes; i++) {
        const struct route *route = &r->service->routes[i];
        if (!template_fits_path(route->path, r))
            continue;
        if (strcmp(route->method, r->method) != 0) {
            if (!allow_has(&why->allow, route->method))
                strbuf_printf(&why->allow, "%s%s", why->allow.len ? ", " : "", route->method);
            continue;
        }
        if (template_fits_query(route->path, r))
            return route;
        why->query = true;
    }
    return NULL;
}

static int no_route(struct request *r, const struct misfit *why, struct err *e)
{
    const struct strbuf *allow = &why->allow;
    const char *comp = request_query(r, "comp");
    if (why->query)
        return err_set(e, ERR_INVALID_QUERY, "comp",
                       "No operation at '%.300s' has the query parameter comp '%.60s' (and "
                       "restype '%.60s').",
                       r->path, comp ? comp : "",
                       request_query(r, "restype") ? request_query(r, "restype") : "");
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
    struct misfit why = {.allow = STRBUF_INIT};
    if (r->service->versions != VERSIONS_NONE)
        r->version_name = request_query(r, "api-version");
    if (r->service->version_of && r->version_name)
        r->version = version_of_request(r);
    r->route = find_route(r);
    if (!r->route)
        r->route = nearest_route(r, &why);
    int rc = r->route ? 0 : no_route(r, &why, e);
    strbuf_free(&why.allow);
    return rc;
}

/* Finds service and route by host, path, method and query; does not check rights. */
static int find_way(struct request *r, struct err *e)
{
    if (split_path(r, e) < 0 || request_check_query(r, e) < 0) {
        find_service_of_host(r);
        return -1;
    }
    find_service(r);
    if (!r->service)
        return err_set(e, ERR_ROUTE_NOT_FOUND, NULL, "Nothing is served at '%.300s'.", r->path);
    return match(r, e) < 0 || take_tail(r, e) < 0 ? -1 : 0;
}

static int may(struct request *r, struct err *e)
{
    bool asks = r->service->may && !(r->route->flags & ROUTE_OPEN);
    return asks ? r->service->may(r, e) : 0;
}

int router_still_may(struct request *r, struct err *e)
{
    int64_t now_us = clock_now(&r->config->clock);
    bool late = now_us < r->now_us || now_us - r->now_us > LATE_US;
    if (!late || (r->route->flags & ROUTE_STREAM))
        return 0;
    r->now_us = now_us;
    r->grant = NULL;
    return may(r, e);
}

int router_accept(struct request *r, struct err *e)
{
    if (!route_cache_find(r) && find_way(r, e) < 0)
        return -1;
    if (may(r, e) < 0)
        return -1;
    if (!r->cached && check_version(r, e) < 0)
        return -1;
    route_cache_add(r);
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
