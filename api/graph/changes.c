/* SPDX-License-Identifier: MIT
 *
 * Applications, their service principals, and their secrets: create, remove. Only a sender who may
 * assign the roles that a principal has may change the principal. A new secret is hashed on a
 * thread; then its owner is read again, because it may have been removed. The request owns all
 * memory.
 */
#include <string.h>
#include <strings.h>

#include "api/graph/handlers.h"
#include "lib/guid.h"
#include "lib/timefmt.h"
#include "storage/storage.h"

#define NAME_BYTES_MAX 120
#define TWO_YEARS_US   (INT64_C(2) * 365 * 24 * 3600 * 1000000)

static struct storage *storage_of(const struct request *r)
{
    return graph_of(r)->access->storage;
}

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

/* --- applications and service principals ------------------------------------------------------ */

static struct replied *create(struct request *r, enum identity_kind kind, const char *app_id,
                              const char *name)
{
    char object_id[GUID_SIZE];
    struct err e;
    int64_t id;
    request_guid(r, object_id);
    struct identity i = {.object_id = object_id,
                         .app_id = app_id,
                         .kind = kind,
                         .name = name,
                         .display = name,
                         .created_us = r->now_us,
                         .created_by = r->who->object_id};
    if (st_identity_insert(storage_of(r), &i, &id, &e) < 0)
        return reply_err(r, &e);
    i.id = id;
    LOG_INFO(r->config->log, "identity.added", LF_STR("name", name), LF_STR("object_id", object_id),
             LF_STR("by", r->who->name));
    return graph_show(r, 201, &i);
}

struct replied *graph_apps_create(struct request *r)
{
    const char *name = text_of(r->body, "displayName");
    char app_id[GUID_SIZE];
    struct err e;
    if (!name || !*name || strlen(name) > NAME_BYTES_MAX) {
        err_set(&e, GRAPH_BAD_REQUEST, NULL, "displayName must have 1 to %d bytes.",
                NAME_BYTES_MAX);
        return reply_err(r, &e);
    }
    request_guid(r, app_id);
    return create(r, IDENTITY_APPLICATION, app_id, name);
}

struct replied *graph_services_create(struct request *r)
{
    const char *app_id = text_of(r->body, "appId");
    struct identity app, service;
    struct err e;
    int rc = app_id ? st_identity_by_app(storage_of(r), &r->arena, IDENTITY_APPLICATION, app_id,
                                         &app, &e)
                    : 0;
    if (rc == 0)
        err_set(&e, GRAPH_BAD_REQUEST, NULL,
                "The appId '%.100s' of the service principal does not reference a valid "
                "application object.",
                app_id ? app_id : "");
    if (rc <= 0)
        return reply_err(r, &e);
    rc = access_service(graph_of(r)->access, &r->arena, app_id, &service, &e);
    if (rc > 0)
        err_set(&e, GRAPH_EXISTS, NULL, "The application has a service principal already.");
    return rc == 0 ? create(r, IDENTITY_SERVICE, app.app_id, app.display) : reply_err(r, &e);
}

/* Fails with GRAPH_DENIED if access_check_over() refuses the sender. */
static int check_over(struct request *r, const struct identity *i, struct err *e)
{
    int rc = access_check_over(graph_of(r)->access, r, i, e);
    if (rc == 0 || e->code != ERR_FORBIDDEN)
        return rc;
    return err_set(e, GRAPH_DENIED, NULL,
                   "Insufficient privileges to complete the operation: '%s' has roles that you may "
                   "not assign, or an access policy names it in a vault, perhaps a deleted one, "
                   "where you may not assign roles.",
                   i->name);
}

static bool is_batch_ai(const struct identity *i)
{
    return strcasecmp(i->object_id, BATCHAI_PRINCIPAL) == 0;
}

struct replied *graph_remove(struct request *r)
{
    const struct access *x = graph_of(r)->access;
    struct identity i;
    struct err e;
    const char *type = r->segment[1];
    int kind = strcasecmp(type, "users") == 0          ? IDENTITY_USER
               : strcasecmp(type, "applications") == 0 ? IDENTITY_APPLICATION
                                                       : IDENTITY_SERVICE;
    if (graph_find(r, request_param(r, "id"), kind, &i, &e) < 0)
        return reply_err(r, &e);
    if (!i.id || is_batch_ai(&i)) {
        err_set(&e, GRAPH_BAD_REQUEST, NULL, "%s cannot be removed.",
                i.id ? "The principal of Azure Batch AI" : "The daemon's own principal");
        return reply_err(r, &e);
    }
    if (check_over(r, &i, &e) < 0 || access_remove(x, r, &i, &e) < 0)
        return reply_err(r, &e);
    return reply_empty(r, 204);
}

/* --- secrets ---------------------------------------------------------------------------------- */

struct new_password {
    struct credential row;
    char key_id[GUID_SIZE], hint[ACCESS_HINT_SIZE], secret[ACCESS_SECRET_SIZE];
};

static int read_time(const json_t *o, const char *name, int64_t fallback, int64_t *out,
                     struct err *e)
{
    const char *text = text_of(o, name);
    *out = fallback;
    if (!text || timefmt_parse(text, out) == 0)
        return 0;
    return err_set(e, GRAPH_BAD_REQUEST, NULL, "%s '%.60s' is not a valid time.", name, text);
}

/* Reads the times of a secret. ends_us may not be 0: that would mean that the secret never ends. */
static int read_times(const struct request *r, const json_t *o, struct credential *out,
                      struct err *e)
{
    if (read_time(o, "startDateTime", r->now_us, &out->starts_us, e) < 0 ||
        read_time(o, "endDateTime", r->now_us + TWO_YEARS_US, &out->ends_us, e) < 0)
        return -1;
    if (out->ends_us > out->starts_us && out->ends_us > 0)
        return 0;
    const char *ends = text_of(o, "endDateTime");
    return err_set(e, GRAPH_BAD_REQUEST, NULL,
                   "endDateTime is %.60s; it must be later than startDateTime, and than "
                   "1970-01-01T00:00:00Z.",
                   ends ? ends : "in two years");
}

/* Finds the application or service principal in the path; users cannot have secrets here. Refuses
 * Azure Batch AI's service principal, because its secret would give access to the vaults that users
 * have opened to it. */
static int find_owner(struct request *r, struct identity *i, struct err *e)
{
    if (graph_find(r, request_param(r, "id"), 0, i, e) < 0)
        return -1;
    if (i->id && i->kind != IDENTITY_USER && !is_batch_ai(i))
        return check_over(r, i, e);
    return err_set(e, GRAPH_BAD_REQUEST, NULL, "'%.100s' can have no secrets.", i->object_id);
}

static struct replied *keep(struct secret_work *w)
{
    struct request *r = w->r;
    struct new_password *p = w->ctx;
    struct identity i;
    struct err e;
    char from[TIMEFMT_SIZE], to[TIMEFMT_SIZE];
    if (find_owner(r, &i, &e) < 0) /* the owner may have been removed */
        return reply_err(r, &e);
    p->row.hash = w->hash;
    if (st_credential_insert(storage_of(r), &p->row, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "identity.secret_added", LF_STR("name", i.name),
             LF_STR("by", r->who->name));
    timefmt_wire(p->row.starts_us, from);
    timefmt_wire(p->row.ends_us, to);
    return reply_json(r, 200,
                      json_pack("{s:n, s:s?, s:s, s:s, s:s, s:s, s:s}", "customKeyIdentifier",
                                "displayName", p->row.display, "startDateTime", from, "endDateTime",
                                to, "hint", p->hint, "keyId", p->key_id, "secretText", p->secret));
}

static void hashed(struct secret_work *w, const struct err *e)
{
    request_finish(w->r, e ? reply_err(w->r, e) : keep(w));
}

struct replied *graph_add_password(struct request *r)
{
    const json_t *given = json_object_get(r->body, "passwordCredential");
    struct new_password *p = arena_alloc(&r->arena, sizeof *p);
    struct secret_work *w = arena_alloc(&r->arena, sizeof *w);
    struct identity i;
    struct err e;
    if (find_owner(r, &i, &e) < 0 || read_times(r, given, &p->row, &e) < 0)
        return reply_err(r, &e);
    request_guid(r, p->key_id);
    access_make_secret(p->secret);
    (void)snprintf(p->hint, sizeof p->hint, "%.*s", ACCESS_HINT_SIZE - 1, p->secret);
    p->row.identity_id = i.id;
    p->row.key_id = p->key_id;
    p->row.hint = p->hint;
    p->row.display = text_of(given, "displayName");
    *w = (struct secret_work){.r = r, .secret = p->secret, .done = hashed, .ctx = p};
    reply_header(r, "Cache-Control", "no-store");
    return access_work(graph_of(r)->access, w, &e) < 0 ? reply_err(r, &e) : reply_later(r);
}

struct replied *graph_remove_password(struct request *r)
{
    const char *key_id = text_of(r->body, "keyId");
    struct identity i;
    struct err e;
    int gone = 0;
    if (find_owner(r, &i, &e) < 0 ||
        (key_id && st_credential_remove(storage_of(r), i.id, key_id, &gone, &e) < 0))
        return reply_err(r, &e);
    if (gone > 0)
        return reply_empty(r, 204);
    err_set(&e, GRAPH_BAD_REQUEST, NULL, "No password credential found with keyId '%.60s'.",
            key_id ? key_id : "");
    return reply_err(r, &e);
}
