/* SPDX-License-Identifier: MIT
 *
 * The users of the site: add, remove, and a new password. `batchaid user` is the client. A
 * generated password is shown only in the reply to its request; it is not stored.
 */
#include <string.h>

#include "api/access/access.h"
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/admin/users.h"
#include "api/http/accept.h"
#include "api/http/auth.h"
#include "api/http/request.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/schema_rows.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

#define PASSWORD_MIN   8
#define PASSWORD_MAX   256
#define DISPLAY_MAX    256
#define NO_ROLE        "none"
#define DEFAULT_DOMAIN "@batchaid"

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *render_time(int64_t us)
{
    char text[TIMEFMT_SIZE];
    timefmt_wire(us, text);
    return us ? json_string(text) : NULL;
}

static json_t *render_roles(struct request *r, const char *object_id, struct err *e)
{
    struct role_assignment *rows;
    size_t n;
    if (st_role_assignment_of(admin_of(r)->storage, &r->arena, object_id, &rows, &n, e) < 0)
        return NULL;
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct role *role = role_by_guid(rows[i].role);
        json_array_append_new(out, json_pack("{s:s, s:s}", "role", role ? role->name : rows[i].role,
                                             "scope", *rows[i].scope ? rows[i].scope : "/"));
    }
    return out;
}

/* A note about jobs on local nodes if there are principals other than the first; NULL: none. */
static const char *note_on_nodes(const struct request *r)
{
    const struct fleet *fleet = admin_of(r)->fleet;
    const struct site *site = fleet_site(fleet);
    if (!site || !fleet_has_local(fleet))
        return NULL;
    if (site->first_alone)
        return "Jobs on local nodes can read the daemon's files, so only the daemon's own "
               "principal may use local nodes; local.shared_user: true lets all users use local "
               "nodes: people.md.";
    return site->hidden ? "From now on jobs on local nodes cannot reach the daemon's files, and "
                          "sudo and mounts do not work in them: people.md."
                        : NULL;
}

json_t *user_render(struct request *r, const struct identity *i, const char *password,
                    struct err *e)
{
    json_t *held = render_roles(r, i->object_id, e);
    if (!held)
        return NULL;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o*, s:s*, s:s*}", "name", i->name, "objectId",
                     i->object_id, "displayName", i->display, "kind",
                     i->kind == IDENTITY_USER ? "user" : "servicePrincipal", "roles", held,
                     "createdTime", render_time(i->created_us), "createdBy", i->created_by,
                     "password", password);
}

static void was_removed(struct err *e)
{
    err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "The user was removed meanwhile.");
}

static struct replied *reply_user(struct request *r, int status, const char *object_id,
                                  const char *password)
{
    struct identity i;
    struct err e;
    json_t *body = NULL;
    int rc = access_identity(admin_of(r)->access, &r->arena, object_id, &i, &e);
    if (rc == 0)
        was_removed(&e);
    if (rc > 0)
        body = user_render(r, &i, password, &e);
    const char *note = status == 201 ? note_on_nodes(r) : NULL;
    if (body && note)
        json_object_set_new(body, "note", json_string(note));
    return body ? reply_json(r, status, body) : reply_err(r, &e);
}

/* --- properties for requests --- */

struct user_body {
    const char *name, *display, *role, *scope, *password;
    const struct role *as; /* the new user's role; NULL: none */
    char made[ACCESS_SECRET_SIZE];
    int64_t id; /* the row of the user to change */
};

static const struct field given_rows[] = {
    TEXT("name", INTO(user_body, name)),
    TEXT("displayName", 0, 1, DISPLAY_MAX, INTO(user_body, display)),
    TEXT("role", INTO(user_body, role)),
    TEXT("scope", INTO(user_body, scope)),
    TEXT("password", SECRET, PASSWORD_MIN, PASSWORD_MAX, INTO(user_body, password)),
};
static SCHEMA(given_body, given_rows, "User", FILLS(user_body));

static int read_body(struct request *r, struct user_body *g, struct err *e)
{
    if (request_read_body(r, &given_body, g, e) < 0)
        return -1;
    if (!g->password) {
        access_make_secret(g->made);
        g->password = g->made;
    }
    return 0;
}

/* A name without a domain gets batchaid's, because clients distinguish users from apps by the @. */
static const char *full_name(struct request *r, const char *name)
{
    return strchr(name, '@') ? name : arena_concat(&r->arena, name, DEFAULT_DOMAIN);
}

static int check_role(struct request *r, struct user_body *g, struct err *e)
{
    const struct access *x = admin_of(r)->access;
    const char *role = g->role ? g->role : ROLE_SUBMITTER;
    g->as = role_by_guid(role) ? role_by_guid(role) : role_by_name(role);
    if (!g->as && strcmp(role, NO_ROLE) != 0)
        return err_set(e, ERR_INVALID_PROPERTY, "role",
                       "There is no role '%.100s'; the usual roles are Owner, Contributor, Reader "
                       "and Batch AI Job Submitter.",
                       role);
    const char *subscription = arena_concat(&r->arena, "/subscriptions/", x->subscription_id);
    if (g->scope && *g->scope && *g->scope != '/') /* only a group's name: make it a path */
        g->scope = arena_concat(&r->arena, subscription, "/resourceGroups/", g->scope);
    if (access_check_scope(x, &r->arena, g->scope ? g->scope : subscription, &g->scope, e) < 0)
        return -1;
    return g->as ? access_check_assign(x, r, g->scope, e) : 0;
}

static int check_free(struct request *r, const char *name, struct err *e)
{
    struct identity i;
    int rc = st_identity_user(admin_of(r)->storage, &r->arena, name, &i, e);
    if (rc > 0)
        return err_set(e, ERR_CONFLICT, "name", "There is a user '%s' already.", i.name);
    return rc;
}

/* --- add -------------------------------------------------------------------------------------- */

struct add_tx {
    struct request *r;
    const struct user_body *g;
    const char *hash;
    char object_id[GUID_SIZE];
};

static int add_credential(struct request *r, int64_t identity_id, const char *hash, struct err *e)
{
    char key_id[GUID_SIZE];
    request_guid(r, key_id);
    const struct credential c = {
        .identity_id = identity_id, .key_id = key_id, .hash = hash, .starts_us = r->now_us};
    return st_credential_insert(admin_of(r)->storage, &c, e);
}

static int add_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct add_tx *t = ctx;
    const struct user_body *g = t->g;
    char guid[GUID_SIZE];
    const struct identity i = {.object_id = t->object_id,
                               .kind = IDENTITY_USER,
                               .name = g->name,
                               .display = g->display ? g->display : g->name,
                               .created_us = t->r->now_us,
                               .created_by = t->r->who->object_id};
    int64_t id;
    if (st_identity_insert(st, &i, &id, e) < 0 || add_credential(t->r, id, t->hash, e) < 0)
        return -1;
    if (!g->as)
        return 0;
    request_guid(t->r, guid);
    const struct role_assignment x = {
        .guid = guid, .scope = g->scope, .role = g->as->guid, .principal = t->object_id};
    return access_assign(admin_of(t->r)->access, t->r, &x, e);
}

/* While the password was hashed, the sender may have lost the right, or the name may have been
 * taken. */
static int check_again(struct request *r, const struct user_body *g, struct err *e)
{
    if (g->as && access_check_assign(admin_of(r)->access, r, g->scope, e) < 0)
        return -1;
    return check_free(r, g->name, e);
}

static struct replied *add(struct secret_work *w)
{
    const struct user_body *g = w->ctx;
    struct request *r = w->r;
    struct add_tx t = {.r = r, .g = g, .hash = w->hash};
    struct err e;
    request_guid(r, t.object_id);
    if (check_again(r, g, &e) < 0 || st_tx(admin_of(r)->storage, "user add", add_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "user.added", LF_STR("name", g->name), LF_STR("by", r->who->name));
    return reply_user(r, 201, t.object_id, *g->made ? g->made : NULL);
}

static void add_hashed(struct secret_work *w, const struct err *e)
{
    request_finish(w->r, e ? reply_err(w->r, e) : add(w));
}

static struct replied *hash(struct request *r, struct user_body *g,
                            void (*done)(struct secret_work *w, const struct err *e))
{
    struct err e;
    struct secret_work *w = arena_alloc(&r->arena, sizeof *w);
    *w = (struct secret_work){.r = r, .secret = g->password, .done = done, .ctx = g};
    reply_header(r, "Cache-Control", "no-store");
    return access_work(admin_of(r)->access, w, &e) < 0 ? reply_err(r, &e) : reply_later(r);
}

struct replied *users_add(struct request *r)
{
    struct err e;
    struct user_body *g = arena_alloc(&r->arena, sizeof *g);
    if (read_body(r, g, &e) < 0)
        return reply_err(r, &e);
    if (!g->name) {
        err_set(&e, ERR_MISSING_PROPERTY, "name", "The body has no name.");
        return reply_err(r, &e);
    }
    g->name = full_name(r, g->name);
    if (access_check_user_name(g->name, &e) < 0 || check_role(r, g, &e) < 0 ||
        check_free(r, g->name, &e) < 0)
        return reply_err(r, &e);
    return hash(r, g, add_hashed);
}

/* --- remove and reset ------------------------------------------------------------------------- */

/* Finds the user in the path and checks that the sender may change this user. */
static int find_user(struct request *r, struct identity *i, struct err *e)
{
    const char *name = full_name(r, request_param(r, "user"));
    int rc = st_identity_user(admin_of(r)->storage, &r->arena, name, i, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "There is no user '%.200s'.", name);
    return rc < 0 ? -1 : access_check_over(admin_of(r)->access, r, i, e);
}

struct replied *users_remove(struct request *r)
{
    struct identity i;
    struct err e;
    if (find_user(r, &i, &e) < 0 || access_remove(admin_of(r)->access, r, &i, &e) < 0)
        return reply_err(r, &e);
    return reply_empty(r, 204);
}

static int reset_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct secret_work *w = ctx;
    const struct user_body *g = w->ctx;
    int gone;
    if (st_credential_remove(st, g->id, NULL, &gone, e) < 0)
        return -1;
    return add_credential(w->r, g->id, w->hash, e);
}

static struct replied *reset(struct secret_work *w)
{
    const struct user_body *g = w->ctx;
    struct identity i;
    struct err e;
    if (find_user(w->r, &i, &e) < 0) /* the user may have been removed */
        return reply_err(w->r, &e);
    if (i.id != g->id) { /* and added again */
        was_removed(&e);
        return reply_err(w->r, &e);
    }
    if (st_tx(admin_of(w->r)->storage, "user reset", reset_in_tx, w, &e) < 0)
        return reply_err(w->r, &e);
    LOG_INFO(w->r->config->log, "user.password_reset", LF_STR("name", i.name),
             LF_STR("by", w->r->who->name));
    return reply_user(w->r, 200, i.object_id, *g->made ? g->made : NULL);
}

static void reset_hashed(struct secret_work *w, const struct err *e)
{
    request_finish(w->r, e ? reply_err(w->r, e) : reset(w));
}

struct replied *users_reset(struct request *r)
{
    struct identity i;
    struct err e;
    struct user_body *g = arena_alloc(&r->arena, sizeof *g);
    if (find_user(r, &i, &e) < 0 || read_body(r, g, &e) < 0)
        return reply_err(r, &e);
    g->id = i.id;
    return hash(r, g, reset_hashed);
}
