/* SPDX-License-Identifier: MIT
 *
 * Reads the rules from the account's settings and adds the headers of the first matching rule.
 * Keeps no state. On the loop's thread.
 */
#include "api/plane/storage/cors.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/data_plane.h"
#include "storage/storage.h"

/* What a browser asks for in its headers. */
struct wish {
    const char *origin, *method;
    const char *headers; /* separated by commas; NULL: only the usual headers */
};

static bool has(const json_t *rule, const char *member, const char *word, size_t n, bool prefixes)
{
    const json_t *list = json_object_get(rule, member);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));
        size_t len = one ? strlen(one) : 0;
        if (len == 0)
            continue;
        if (len == n && strncasecmp(one, word, n) == 0)
            return true;
        if (strcmp(one, "*") == 0 || (prefixes && one[len - 1] == '*' && n >= len - 1 &&
                                      strncasecmp(one, word, len - 1) == 0))
            return true;
    }
    return false;
}

static bool has_headers(const json_t *rule, const char *names)
{
    for (const char *p = names ? names : ""; *p;) {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ", \t");
        if (n > 0 && !has(rule, "allowedHeaders", p, n, true))
            return false;
        p += n;
    }
    return true;
}

static const json_t *find_rule(const json_t *settings, const struct wish *w)
{
    const json_t *rules = json_object_get(json_object_get(settings, "cors"), "corsRules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        const json_t *rule = json_array_get(rules, i);
        if (has(rule, "allowedOrigins", w->origin, strlen(w->origin), false) &&
            has(rule, "allowedMethods", w->method, strlen(w->method), false) &&
            has_headers(rule, w->headers))
            return rule;
    }
    return NULL;
}

/* The settings of the request's service; NULL: none are set. The caller owns the result. */
static json_t *settings_of(const struct request *r, const struct storage_account *s)
{
    bool files = strcmp(r->service->name, "azfiles") == 0;
    const char *text = files ? s->file_service : s->blob_service;
    return text ? json_loads(text, 0, NULL) : NULL;
}

static bool allows_all(const json_t *rule)
{
    return has(rule, "allowedOrigins", "*", 1, false);
}

/* Adds the origin. For a rule for all origins this is "*", and credentials are not allowed.
 * https://learn.microsoft.com/rest/api/storageservices/cross-origin-resource-sharing--cors--support-for-the-azure-storage-services
 */
static void add_origin(struct request *r, const json_t *rule, const char *origin)
{
    if (allows_all(rule)) {
        reply_header_text(r, "Access-Control-Allow-Origin", "*");
        return;
    }
    reply_header_text(r, "Access-Control-Allow-Origin", origin);
    reply_header_text(r, "Access-Control-Allow-Credentials", "true");
    reply_header_text(r, "Vary", "Origin");
}

/* --- asked before --------------------------------------------------------------------------- */

static int read_wish(struct request *r, struct wish *out, struct err *e)
{
    *out = (struct wish){request_header(r, "Origin"),
                         request_header(r, "Access-Control-Request-Method"),
                         request_header(r, "Access-Control-Request-Headers")};
    if (out->origin && out->method)
        return 0;
    return err_set(e, AZSTORAGE_HEADER_MISSING,
                   out->origin ? "Access-Control-Request-Method" : "Origin",
                   "An HTTP header that's mandatory for this request is not specified: %s.",
                   out->origin ? "Access-Control-Request-Method" : "Origin");
}

struct replied *plane_preflight(struct request *r)
{
    struct err e;
    struct wish w;
    struct storage_account s;
    if (read_wish(r, &w, &e) < 0)
        return reply_err(r, &e);
    int rc =
        r->label ? st_account_by_name(azstorage_of(r)->storage, &r->arena, r->label, &s, &e) : 0;
    if (rc < 0)
        return reply_err(r, &e);
    const json_t *settings = rc > 0 ? request_own(r, settings_of(r, &s)) : NULL;
    const json_t *rule = find_rule(settings, &w);
    if (!rule) {
        err_set(&e, AZSTORAGE_CORS, NULL,
                "CORS not enabled or no matching rule found for this request.");
        return reply_err(r, &e);
    }
    add_origin(r, rule, w.origin);
    reply_header_text(r, "Access-Control-Allow-Methods", w.method);
    if (w.headers)
        reply_header_text(r, "Access-Control-Allow-Headers", w.headers);
    reply_header(r, "Access-Control-Max-Age", "%lld",
                 (long long)json_integer_value(json_object_get(rule, "maxAgeInSeconds")));
    return reply_empty(r, 200);
}

/* --- asked for ------------------------------------------------------------------------------ */

/* Adds the list of reply headers that the rule lets a page read. */
static void add_exposed(struct request *r, const json_t *rule)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < r->n_headers; i++) {
        const char *name = r->header[i].name;
        if (has(rule, "exposedHeaders", name, strlen(name), true))
            strbuf_concat(&b, b.len ? "," : "", name);
    }
    if (b.len)
        reply_header_text(r, "Access-Control-Expose-Headers", arena_strdup(&r->arena, b.s));
    strbuf_free(&b);
}

/* No rule matches. Adds Vary: Origin, even if the request has no Origin, because a cache might give
 * this reply to pages of other origins. */
static void add_without_rule(struct request *r, const json_t *settings, const struct wish *w)
{
    const json_t *rules = json_object_get(json_object_get(settings, "cors"), "corsRules");
    bool reads = strcmp(w->method, "GET") == 0 || strcmp(w->method, "HEAD") == 0;
    if (reads && json_array_size(rules) > 0)
        reply_header_text(r, "Vary", "Origin");
}

void cors_headers(struct request *r)
{
    const struct grant *g = grant_of(r);
    const char *origin = request_header(r, "Origin");
    /* Without an origin only a rule for all origins ("*") matches. */
    const struct wish w = {origin ? origin : "*", r->method, NULL};
    if (!g || g->account.id == 0)
        return;
    json_auto_t *settings = settings_of(r, &g->account);
    const json_t *rule = settings ? find_rule(settings, &w) : NULL;
    if (rule && (origin || strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0)) {
        add_exposed(r, rule);
        add_origin(r, rule, w.origin);
    } else if (settings) {
        add_without_rule(r, settings, &w);
    }
}
