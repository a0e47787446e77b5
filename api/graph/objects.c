/* SPDX-License-Identifier: MIT
 *
 * Objects of the directory: shows them as JSON, finds them by id, lists them. A filter on an
 * indexed column finds one object; for other filters each row is tested, some rows in each turn of
 * the loop. The request owns all memory. Called only on the loop's thread.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/access/filter.h"
#include "api/graph/handlers.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
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

/* Shows the passwords without their secret texts. NULL: *e is set. */
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

static bool by_user_begin(const struct identity *i, const char *text)
{
    return begins(i->name, text);
}

/* --- filters for equality with an indexed column: return 1, 0 (none) or -1 --- */

static int find_app(struct request *r, enum identity_kind kind, const char *text,
                    struct identity *out, struct err *e)
{
    const struct access *x = graph_of(r)->access;
    return kind == IDENTITY_SERVICE ? access_service(x, &r->arena, text, out, e)
                                    : st_identity_by_app(x->storage, &r->arena, kind, text, out, e);
}

static int find_user(struct request *r, enum identity_kind kind, const char *text,
                     struct identity *out, struct err *e)
{
    if (kind != IDENTITY_USER)
        return 0;
    return st_identity_user(graph_of(r)->access->storage, &r->arena, text, out, e);
}

static int find_id(struct request *r, enum identity_kind kind, const char *text,
                   struct identity *out, struct err *e)
{
    int rc = access_identity(graph_of(r)->access, &r->arena, text, out, e);
    return rc > 0 && out->kind != kind ? 0 : rc;
}

static int find_nothing(struct request *r, enum identity_kind kind, const char *text,
                        struct identity *out, struct err *e)
{
    (void)r, (void)kind, (void)text, (void)out, (void)e;
    return 0;
}

/* --- objects of a filter ---------------------------------------------------------------------- */

struct graph_filter {
    bool (*test)(const struct identity *i, const char *text); /* NULL: use find */
    int (*find)(struct request *r, enum identity_kind kind, const char *text, struct identity *out,
                struct err *e); /* finds the only object */
};
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
static const struct graph_filter filters[] = {
    {NULL, find_app}, {by_name, NULL},      {by_name_begin, NULL},
    {NULL, find_app}, {NULL, find_user},    {by_user_begin, NULL},
    {NULL, find_id},  {NULL, find_nothing}, {NULL, find_nothing}};

/* --- pages --- */

#define PAGE_OBJECTS  999 /* Microsoft Graph's limit */
#define BATCH_OBJECTS 128

struct object_walk {
    struct request *r;
    enum identity_kind kind;
    struct graph_filter filter;
    const char *text; /* the text in the filter */
    int64_t after;    /* the id of the last object that was read; -1: none */
};

/* Makes `one` the only object of the batch: an object without a row, or the one that a filter
 * found. */
static int fetch_one(struct slices *s, int found, const struct identity *one)
{
    struct object_walk *w = s->of;
    struct identity *rows = arena_alloc(&w->r->arena, sizeof *rows);
    *rows = *one;
    s->rows = rows;
    s->n = found > 0;
    return found < 0 ? -1 : 0;
}

static int fetch(struct slices *s, struct err *e)
{
    struct object_walk *w = s->of;
    struct identity one = {0};
    if (w->filter.find) {
        s->at_end = true;
        return fetch_one(s, w->filter.find(w->r, w->kind, w->text, &one, e), &one);
    }
    if (w->after < 0 && w->kind == IDENTITY_SERVICE) {
        w->after = 0;
        one = access_first(graph_of(w->r)->access);
        return fetch_one(s, 1, &one);
    }
    struct identity_rows found = {NULL, 0};
    if (st_identity_list(graph_of(w->r)->access->storage, &w->r->arena, w->kind,
                         &(struct st_page){.after = w->after, .limit = BATCH_OBJECTS}, &found,
                         e) < 0)
        return -1;
    s->rows = found.items;
    s->n = found.n;
    s->at_end = found.n < BATCH_OBJECTS;
    if (found.n > 0)
        w->after = found.items[found.n - 1].id;
    return 0;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    const struct object_walk *w = s->of;
    const struct identity *i = row;
    if (w->filter.test && !w->filter.test(i, w->text)) {
        page_pass_id(s->page, i->id);
        return 0;
    }
    struct strbuf *out = page_row_of_id(s->page, i->id);
    if (!out)
        return 0;
    json_auto_t *shown = graph_render(w->r, i, e);
    if (!shown)
        return -1;
    jsontext_add(out, shown);
    return 0;
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    static const char *const own[] = {"$skiptoken", NULL};
    strbuf_putc(&p->text, ']');
    if (p->more)
        page_add_link(p, "@odata.nextLink", own,
                      arena_concat(&p->r->arena, "%24skiptoken=", p->last.s));
    strbuf_putc(&p->text, '}');
}

static int read_filter(struct object_walk *w, struct err *e)
{
    const char *filter = request_query(w->r, "$filter");
    if (!filter || !*filter)
        return 0;
    int form = filter_form(&w->r->arena, filter, forms, &w->text);
    if (form < 0)
        return err_set(e, GRAPH_BAD_FILTER, NULL, "The filter '%.200s' is not served.", filter);
    w->filter = filters[form];
    return 0;
}

static struct replied *list(struct request *r, enum identity_kind kind)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    static const struct slices_kind slices = {fetch, add, NULL};
    struct object_walk *w = arena_alloc(&r->arena, sizeof *w);
    long after;
    struct err e;
    *w = (struct object_walk){.r = r, .kind = kind};
    if (read_filter(w, &e) < 0 ||
        request_query_int(r, "$skiptoken", (struct query_bounds){0, LONG_MAX, -1}, &after, &e) < 0)
        return reply_err(r, &e);
    w->after = after;
    return slices_reply(page_begin(r, &form, PAGE_OBJECTS, ""), &slices, w,
                        sizeof(struct identity));
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

/* Replies with the logged-in user. For a service principal it fails: clients conclude from this
 * error that a service principal is logged in. */
struct replied *graph_me(struct request *r)
{
    struct err e;
    if (r->who->kind == PRINCIPAL_USER)
        return get(r, r->who->object_id, IDENTITY_USER);
    err_set(&e, GRAPH_BAD_REQUEST, NULL,
            "/me request is only valid with delegated authentication flow.");
    return reply_err(r, &e);
}

/* Replies with an empty list, because objects have no owners and no members here. */
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
