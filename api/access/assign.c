/* SPDX-License-Identifier: MIT
 *
 * Checks a scope, and whether the sender may assign roles there or change a principal who has
 * roles; stores role assignments. Keeps no state: each check reads the database. Texts are in the
 * request's arena. Called only on the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define SCOPE_MAX     1000
#define SUBSCRIPTIONS "/subscriptions/"
#define ASSIGN        "Microsoft.Authorization/roleAssignments/write"

/* Whether `s` is a path: UTF-8 of at most SCOPE_MAX bytes that begins with "/" and has no empty
 * segment (but perhaps a "/" at its end), no control character, `?` or `#`. */
static bool is_path(const char *s)
{
    size_t n = strlen(s);
    if (n > SCOPE_MAX || *s != '/' || strstr(s, "//") || !jsontext_is_utf8(s, n))
        return false;
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '?' || *p == '#')
            return false;
    return true;
}

/* 1: the path begins with the id of an existing subscription; 0: it does not; -1: err. */
static int is_known(const struct access *x, struct arena *a, const char *path, struct err *e)
{
    struct subscription s;
    return access_subscription(x, a, arena_strndup(a, path, strcspn(path, "/")), &s, e);
}

int access_check_scope(const struct access *x, struct arena *a, const char *scope, const char **out,
                       struct err *e)
{
    size_t n = strlen(scope), prefix = strlen(SUBSCRIPTIONS);
    if (!is_path(scope))
        return err_set(e, ERR_INVALID_PROPERTY, "scope",
                       "The scope '%.200s' is not a valid path; write it as in "
                       "/subscriptions/{id}/resourceGroups/{name}.",
                       scope);
    char *path = arena_strndup(a, scope, scope[n - 1] == '/' ? n - 1 : n);
    *out = path;
    if (!*path)
        return 0;
    int rc = strncasecmp(path, SUBSCRIPTIONS, prefix) == 0 ? is_known(x, a, path + prefix, e) : 0;
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return err_set(e, ERR_INVALID_PROPERTY, "scope",
                   "The scope '%.200s' is in no subscription here, such as %s.", scope,
                   x->subscription_id);
}

int access_check_assign(const struct access *x, struct request *r, const char *scope, struct err *e)
{
    struct grants g;
    if (r->who->first)
        return 0;
    if (access_load(x, &r->arena, r->who, &g, e) < 0)
        return -1;
    return access_verdict(&g, ASSIGN, scope) == ACCESS_YES ? 0 : access_refuse(r, ASSIGN, scope, e);
}

/* Somebody who gets the principal's secret can use the rights that access policies of vaults give
 * the principal, so the sender must be allowed to assign roles at each of these vaults. */
static int check_over_vaults(const struct access *x, struct request *r, const char *object_id,
                             struct err *e)
{
    struct vault *rows;
    size_t n;
    if (r->who->first)
        return 0;
    if (st_vault_list_open_to(x->storage, &r->arena, object_id, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *id =
            arena_concat(&r->arena, SUBSCRIPTIONS, rows[i].subscription, "/resourceGroups/",
                         rows[i].group, "/providers/Microsoft.KeyVault/vaults/", rows[i].name);
        if (access_check_assign(x, r, id, e) < 0)
            return -1;
    }
    return 0;
}

int access_check_over(const struct access *x, struct request *r, const struct identity *i,
                      struct err *e)
{
    struct identity service = *i;
    struct role_assignment *rows;
    size_t n;
    int rc =
        i->kind == IDENTITY_APPLICATION
            ? st_identity_by_app(x->storage, &r->arena, IDENTITY_SERVICE, i->app_id, &service, e)
            : 1;
    if (rc <= 0)
        return rc;
    if (st_role_assignment_of(x->storage, &r->arena, service.object_id, &rows, &n, e) < 0)
        return -1;
    for (size_t k = 0; k < n; k++)
        if (access_check_assign(x, r, rows[k].scope, e) < 0)
            return -1;
    return check_over_vaults(x, r, service.object_id, e);
}

int access_assign(const struct access *x, struct request *r, const struct role_assignment *given,
                  struct err *e)
{
    struct identity i;
    struct role_assignment row = *given;
    int rc = access_identity(x, &r->arena, given->principal, &i, e);
    if (rc == 0 || (rc > 0 && i.kind == IDENTITY_APPLICATION))
        return err_set(e, ERR_INVALID_PROPERTY, "principalId",
                       "Principal %.100s does not exist in the directory.", given->principal);
    if (rc < 0)
        return -1;
    row.principal = i.object_id;
    row.created_us = r->now_us;
    row.created_by = r->who->object_id;
    if (st_role_assignment_insert(x->storage, &row, e) < 0)
        return -1;
    LOG_INFO(r->config->log, "role.assigned", LF_STR("role", role_by_guid(row.role)->name),
             LF_STR("scope", *row.scope ? row.scope : "/"), LF_STR("principal", i.name),
             LF_STR("by", r->who->name));
    return 0;
}
