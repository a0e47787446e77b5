/* SPDX-License-Identifier: MIT
 *
 * Renders and finds objects of the directory.
 */
#include <string.h>
#include <strings.h>

#include "api/access/filter.h"
#include "api/graph/handlers.h"
#include "lib/timefmt.h"
#include "storage/storage.h"

static json_t *time_or_null(int64_t us)
{
    char text[TIMEFMT_SIZE];
    if (us == 0)
        return json_null();
    timefmt_wire(us, text);
    return json_string(text);
}

/* Without the secret texts. NULL: *e is set. */
static json_t *passwords_of(struct request *r, const struct identity *i, struct err *e)
{
    struct credential *rows = NULL;
    size_t n = 0;
    if (i->id &&
        st_credential_list(graph_of(r)->access->storage, &r->arena, i->id, &rows, &n, e) < 0)
        return NULL;
    json_t *out = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(
            out, json_pack("{s:s, s:s?, s:s?, s:o, s:o, s:n, s:n}", "keyId", rows[k].key_id, "hint",
                           rows[k].hint, "displayName", rows[k].display, "startDateTime",
                           time_or_null(rows[k].starts_us), "endDateTime",
                           time_or_null(rows[k].ends_us), "secretText", "customKeyIdentifier"));
    return out;
}

static json_t *render_user(const struct identity *i)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:n, s:n, s:n, s:[]}", "@odata.type",
                     "#microsoft.graph.user", "id", i->object_id, "userPrincipalName", i->name,
                     "displayName", i->display, "accountEnabled", 1, "mail", "givenName", "surname",
                     "businessPhones");
}

json_t *graph_render(struct request *r, const struct identity *i, struct err *e)
{
    if (i->kind == IDENTITY_USER)
        return render_user(i);
    json_t *passwords = passwords_of(r, i, e);
    if (!passwords)
        return NULL;
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:o, s:[], s:o, s:[]}", "id", i->object_id, "appId", i->app_id,
                  "displayName", i->display, "passwordCredentials", passwords, "keyCredentials",
                  "createdDateTime", time_or_null(i->created_us), "tags");
    json_auto_t *more =
        i->kind == IDENTITY_APPLICATION
            ? json_pack("{s:s, s:[], s:s}", "@odata.type", "#microsoft.graph.application",
                        "identifierUris", "signInAudience", "AzureADMyOrg")
            : json_pack("{s:s, s:s, s:[s], s:s, s:b, s:s}", "@odata.type",
                        "#microsoft.graph.servicePrincipal", "appDisplayName", i->display,
                        "servicePrincipalNames", i->app_id, "servicePrincipalType", "Application",
                        "accountEnabled", 1, "appOwnerOrganizationId", TENANT_ID);
    json_object_update(out, more);
    return out;
}

struct replied *graph_show(struct request *r, int status, const struct identity *i)
{
    struct err e;
    json_t *body = graph_render(r, i, &e);
    return body ? reply_json(r, status, body) : reply_err(r, &e);
}

int graph_find(struct request *r, const char *id, int kind, struct identity *out, struct err *e)
{
    const struct access *x = graph_of(r)->access;
    int rc = kind == IDENTITY_USER && strchr(id, '@')
                 ? st_identity_user(x->storage, &r->arena, id, out, e)
                 : access_identity(x, &r->arena, id, out, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && (!kind || (int)out->kind == kind))
        return 0;
    return err_set(e, GRAPH_NOT_FOUND, NULL,
                   "Resource '%.100s' does not exist or one of its queried reference-property "
                   "objects are not present.",
                   id);
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool begins(const char *s, const char *with)
{
    return strncasecmp(s, with, strlen(with)) == 0;
}

static bool by_name(const struct identity *i, const char *text)
{
    return strcasecmp(i->display, text) == 0;
}

static bool by_name_begin(const struct identity *i, const char *text)
{
    return begins(i->display, text);
}

static bool by_app(const struct identity *i, const char *text)
{
    return i->app_id && strcasecmp(i->app_id, text) == 0;
}

static bool by_user(const struct identity *i, const char *text)
{
    return strcasecmp(i->name, text) == 0;
}

static bool by_user_begin(const struct identity *i, const char *text)
{
    return begins(i->name, text);
}

static bool by_id(const struct identity *i, const char *text)
{
    return strcasecmp(i->object_id, text) == 0;
}

static bool by_nothing(const struct identity *i, const char *text)
{
    (void)i, (void)text;
    return false;
}

static const char *const forms[] = {"servicePrincipalNames/any(c:c eq %)",
                                    "displayName eq %",
                                    "startswith(displayName,%)",
                                    "appId eq %",
                                    "userPrincipalName eq %",
                                    "startswith(userPrincipalName,%)",
                                    "id eq %",
                                    "identifierUris/any(s:s eq %)",
                                    "mail eq %",
                                    NULL};
static bool (*const tests[])(const struct identity *i, const char *text) = {
    by_app, by_name, by_name_begin, by_app, by_user, by_user_begin, by_id, by_nothing, by_nothing};

static struct replied *list(struct request *r, enum identity_kind kind)
{
    const char *filter = request_query(r, "$filter"), *text = NULL;
    int form = filter && *filter ? filter_form(&r->arena, filter, forms, &text) : -1;
    struct identity *rows;
    size_t n;
    struct err e;
    if (filter && *filter && form < 0) {
        err_set(&e, GRAPH_BAD_FILTER, NULL, "The filter '%.200s' is not served.", filter);
        return reply_err(r, &e);
    }
    if (access_list(graph_of(r)->access, &r->arena, kind, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *found = request_own(r, json_array());
    for (size_t i = 0; i < n; i++) {
        if (form >= 0 && !tests[form](&rows[i], text))
            continue;
        json_t *one = graph_render(r, &rows[i], &e);
        if (!one)
            return reply_err(r, &e);
        json_array_append_new(found, one);
    }
    return reply_json(r, 200, json_pack("{s:O}", "value", found));
}

struct replied *graph_users_list(struct request *r)
{
    return list(r, IDENTITY_USER);
}

struct replied *graph_services_list(struct request *r)
{
    return list(r, IDENTITY_SERVICE);
}

struct replied *graph_apps_list(struct request *r)
{
    return list(r, IDENTITY_APPLICATION);
}

/* --- one -------------------------------------------------------------------------------------- */

static struct replied *get(struct request *r, const char *id, enum identity_kind kind)
{
    struct identity i;
    struct err e;
    return graph_find(r, id, kind, &i, &e) < 0 ? reply_err(r, &e) : graph_show(r, 200, &i);
}

struct replied *graph_users_get(struct request *r)
{
    return get(r, request_param(r, "id"), IDENTITY_USER);
}

struct replied *graph_services_get(struct request *r)
{
    return get(r, request_param(r, "id"), IDENTITY_SERVICE);
}

struct replied *graph_apps_get(struct request *r)
{
    return get(r, request_param(r, "id"), IDENTITY_APPLICATION);
}

/* Refuses; clients take this refusal to mean that a service principal is logged in. */
struct replied *graph_me(struct request *r)
{
    struct err e;
    if (r->who->kind == PRINCIPAL_USER)
        return get(r, r->who->object_id, IDENTITY_USER);
    err_set(&e, GRAPH_BAD_REQUEST, NULL,
            "/me request is only valid with delegated authentication flow.");
    return reply_err(r, &e);
}

/* An empty list: objects have no owners and members here. */
struct replied *graph_nobody(struct request *r)
{
    return reply_json(r, 200, json_pack("{s:[]}", "value"));
}

struct replied *graph_by_ids(struct request *r)
{
    const json_t *ids = json_object_get(r->body, "ids"), *id;
    json_t *found = request_own(r, json_array());
    struct err e;
    size_t k;
    err_clear(&e);
    json_array_foreach(ids, k, id) {
        struct identity i;
        const char *text = json_string_value(id);
        int rc = text ? access_identity(graph_of(r)->access, &r->arena, text, &i, &e) : 0;
        json_t *one = rc > 0 ? graph_render(r, &i, &e) : NULL;
        if (one)
            json_array_append_new(found, one);
        if (rc < 0 || (rc > 0 && !one))
            return reply_err(r, &e);
    }
    return reply_json(r, 200, json_pack("{s:O}", "value", found));
}
