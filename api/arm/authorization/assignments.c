/* SPDX-License-Identifier: MIT
 *
 * Role assignments: list, show, create, delete. The right to create an assignment depends on its
 * scope. The request owns all memory. Called only on the loop's thread.
 */
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/access/filter.h"
#include "api/arm/authorization/handlers.h"
#include "api/http/slices.h"
#include "lib/guid.h"
#include "lib/timefmt.h"
#include "storage/storage.h"

/* In bytes. */
#define DESCRIPTION_MAX 2048

static const struct access *access_of(const struct request *r)
{
    return authorization_of(r)->access;
}

/* The scope in the path, as access_check_scope() stores it: without a slash at its end. */
static const char *scope_of(struct request *r)
{
    size_t n = strlen(r->scope);
    return n > 0 && r->scope[n - 1] == '/' ? arena_strndup(&r->arena, r->scope, n - 1) : r->scope;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static int kind_of(struct request *r, const char *object_id, const char **type, struct err *e)
{
    struct identity i;
    int rc = access_identity(access_of(r), &r->arena, object_id, &i, e);
    *type = rc > 0 && i.kind == IDENTITY_USER ? "User" : "ServicePrincipal";
    return rc < 0 ? -1 : 0;
}

/* NULL: err. */
static json_t *render(struct request *r, const struct role_assignment *x, struct err *e)
{
    const char *type;
    char when[TIMEFMT_SIZE];
    timefmt_wire(x->created_us, when);
    if (kind_of(r, x->principal, &type, e) < 0)
        return NULL;
    const char *id = arena_concat(&r->arena, x->scope,
                                  "/providers/Microsoft.Authorization/roleAssignments/", x->guid);
    json_t *properties = json_pack(
        "{s:s, s:s, s:s, s:s, s:s*, s:s, s:s, s:s*, s:s*}", "roleDefinitionId",
        role_definition_id(r, x->role), "principalId", x->principal, "principalType", type, "scope",
        *x->scope ? x->scope : "/", "description", x->description, "createdOn", when, "updatedOn",
        when, "createdBy", x->created_by, "updatedBy", x->created_by);
    return json_pack("{s:s, s:s, s:s, s:o}", "id", id, "type",
                     "Microsoft.Authorization/roleAssignments", "name", x->guid, "properties",
                     properties);
}

static struct replied *show(struct request *r, int status, const struct role_assignment *x)
{
    struct err e;
    json_t *body = render(r, x, &e);
    return body ? reply_json(r, status, body) : reply_err(r, &e);
}

/* --- lists ------------------------------------------------------------------------------------ */

static const char *const forms[] = {"atScope()",
                                    "principalId eq %",
                                    "assignedTo(%)",
                                    "atScope() and assignedTo(%)",
                                    "atScope() and principalId eq %",
                                    NULL};

struct assignments_look {
    struct request *r;
    struct page *page;
    int64_t after;                 /* the id of the last row that was read */
    const char *scope, *principal; /* principal NULL: of all principals */
    bool not_below;
    struct grants *held; /* the caller's; NULL: the caller may see all */
};

static bool wanted(const struct request *r, const struct assignments_look *l,
                   const struct role_assignment *x)
{
    bool above = scope_within(l->scope, x->scope);
    bool below = !l->not_below && scope_within(x->scope, l->scope);
    if (!(above || below) || (l->principal && strcasecmp(l->principal, x->principal) != 0))
        return false;
    return !l->held || strcasecmp(x->principal, r->who->object_id) == 0 ||
           access_verdict(l->held, "Microsoft.Authorization/roleAssignments/read", x->scope) ==
               ACCESS_YES;
}

static int read_filter(struct request *r, struct assignments_look *l, struct err *e)
{
    const char *filter = request_query(r, "$filter");
    if (!filter || !*filter)
        return 0;
    int form = filter_form(&r->arena, filter, forms, &l->principal);
    l->not_below = form >= 0 && strncmp(forms[form], "atScope()", 9) == 0;
    if (form >= 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$filter",
                   "The filter '%.200s' is not served; atScope(), principalId eq 'ID' and "
                   "assignedTo('ID') are.",
                   filter);
}

#define BATCH 256

static int fetch(struct slices *s, struct err *e)
{
    struct assignments_look *l = s->of;
    struct role_assignment_rows rows;
    const struct st_page page = {.after = l->after, .limit = BATCH};
    if (st_role_assignment_list(access_of(l->r)->storage, &l->r->arena, &page, &rows, e) < 0)
        return -1;
    s->rows = rows.items;
    s->n = rows.n;
    s->at_end = rows.n < BATCH;
    if (rows.n > 0)
        l->after = rows.items[rows.n - 1].id;
    return 0;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct assignments_look *l = s->of;
    const struct role_assignment *x = row;
    if (!wanted(l->r, l, x)) {
        page_pass_id(l->page, x->id);
        return 0;
    }
    json_t *shown = render(l->r, x, e);
    page_add_id(l->page, x->id, shown);
    return shown ? 0 : -1;
}

struct replied *role_assignments_list(struct request *r)
{
    static const struct slices_kind slices = {.fetch = fetch, .add = add};
    struct err e;
    struct assignments_look *l = arena_alloc(&r->arena, sizeof *l);
    struct grants *held = arena_alloc(&r->arena, sizeof *held);
    *l = (struct assignments_look){.r = r, .scope = scope_of(r)};
    if (read_filter(r, l, &e) < 0 || !(l->page = page_of_ids(r, &e)) ||
        (!r->who->first && access_load(access_of(r), &r->arena, r->who, held, &e) < 0))
        return reply_err(r, &e);
    l->held = r->who->first ? NULL : held;
    l->after = page_after_id(l->page);
    return slices_reply(l->page, &slices, l, sizeof(struct role_assignment));
}

/* --- one -------------------------------------------------------------------------------------- */

/* Finds the assignment in the path: 1, 0 (none) or -1. An assignment at another scope than the
 * path's is not found, because the caller's rights are checked only for the scope in the path. */
static int find(struct request *r, struct role_assignment *x, struct err *e)
{
    int rc =
        st_role_assignment_get(access_of(r)->storage, &r->arena, request_param(r, "name"), x, e);
    return rc > 0 ? strcasecmp(x->scope, scope_of(r)) == 0 : rc;
}

struct replied *role_assignments_get(struct request *r)
{
    struct err e;
    struct role_assignment x;
    int rc = find(r, &x, &e);
    if (rc == 0)
        err_set(&e, ROLES_NO_ASSIGNMENT, NULL, "The role assignment '%.100s' is not found.",
                request_param(r, "name"));
    return rc > 0 ? show(r, 200, &x) : reply_err(r, &e);
}

struct replied *role_assignments_delete(struct request *r)
{
    struct err e;
    struct role_assignment x;
    int rc = find(r, &x, &e);
    if (rc == 0)
        return reply_empty(r, 204);
    if (rc < 0 || st_role_assignment_remove(access_of(r)->storage, x.id, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "role.removed", LF_STR("role", x.role), LF_STR("scope", x.scope),
             LF_STR("principal", x.principal), LF_STR("by", r->who->name));
    return show(r, 200, &x);
}

/* Refuses an assignment with a condition: without the condition it would give more rights than its
 * maker wanted. */
static int check_condition(const json_t *properties, struct err *e)
{
    const char *text = json_string_value(json_object_get(properties, "condition"));
    if (!text || !*text)
        return 0;
    return err_set(e, ERR_NOT_SUPPORTED, "properties.condition",
                   "properties.condition is '%.100s'; batchaid does not serve conditions of role "
                   "assignments",
                   text);
}

static int read_description(const json_t *properties, struct role_assignment *x, struct err *e)
{
    const json_t *given = json_object_get(properties, "description");
    const char *text = json_string_value(given);
    if (given && !json_is_null(given) && (!text || strlen(text) > DESCRIPTION_MAX))
        return err_set(e, ERR_INVALID_PROPERTY, "properties.description",
                       "properties.description must be a text of at most %d bytes",
                       DESCRIPTION_MAX);
    x->description = text && *text ? text : NULL;
    return 0;
}

/* Reads a role assignment from the body of a PUT. */
static int read_body(struct request *r, struct role_assignment *x, struct err *e)
{
    const json_t *p = json_object_get(r->body, "properties");
    const char *role = json_string_value(json_object_get(p, "roleDefinitionId"));
    const char *principal = json_string_value(json_object_get(p, "principalId"));
    if (!role || !principal)
        return err_set(e, ERR_MISSING_PROPERTY,
                       role ? "properties.principalId" : "properties.roleDefinitionId",
                       "The body has no properties.%s.", role ? "principalId" : "roleDefinitionId");
    const char *slash = strrchr(role, '/');
    const struct role *is = role_by_guid(slash ? slash + 1 : role);
    if (!is)
        return err_set(e, ROLES_NO_DEFINITION, "properties.roleDefinitionId",
                       "The specified role definition '%.200s' does not exist.", role);
    x->role = is->guid;
    x->principal = principal;
    return read_description(p, x, e) < 0 ? -1 : check_condition(p, e);
}

static bool is_same(const struct role_assignment *a, const struct role_assignment *b)
{
    return strcasecmp(a->scope, b->scope) == 0 && strcasecmp(a->role, b->role) == 0 &&
           strcasecmp(a->principal, b->principal) == 0;
}

/* 1: an equal assignment exists; 0: none exists; -1: err, also if a different assignment has the
 * same name, or the same role, principal and scope. */
static int check_present(struct request *r, const struct role_assignment *x,
                         struct role_assignment *present, struct err *e)
{
    struct storage *st = access_of(r)->storage;
    struct role_assignment *rows;
    size_t n;
    int rc = st_role_assignment_get(st, &r->arena, x->guid, present, e);
    if (rc > 0 && !is_same(x, present))
        return err_set(e, ROLES_NO_UPDATE, NULL,
                       "Tenant ID, application ID, principal ID, and scope are not allowed to be "
                       "updated.");
    if (rc != 0)
        return rc;
    if (st_role_assignment_of(st, &r->arena, x->principal, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (is_same(x, &rows[i]))
            return err_set(e, ROLES_EXISTS, NULL, "The role assignment already exists.");
    return 0;
}

/* A PUT of an existing assignment changes its description. */
static struct replied *replace(struct request *r, struct role_assignment *present,
                               const char *description)
{
    struct err e;
    const char *was = present->description;
    bool same = was && description ? strcmp(was, description) == 0 : was == description;
    present->description = description;
    if (!same &&
        st_role_assignment_describe(access_of(r)->storage, present->id, description, &e) < 0)
        return reply_err(r, &e);
    return show(r, 200, present);
}

struct replied *role_assignments_create(struct request *r)
{
    struct err e;
    const struct access *x = access_of(r);
    const char *scope = *r->scope ? r->scope : "/";
    struct role_assignment given = {.guid = request_param(r, "name")}, present;
    if (!guid_valid(given.guid)) {
        err_set(&e, ROLES_NO_GUID, NULL,
                "The role assignment ID '%.100s' is not valid. The role assignment ID must be a "
                "GUID.",
                given.guid);
        return reply_err(r, &e);
    }
    if (access_check_scope(x, &r->arena, scope, &given.scope, &e) < 0 ||
        read_body(r, &given, &e) < 0)
        return reply_err(r, &e);
    int rc = check_present(r, &given, &present, &e);
    if (rc != 0)
        return rc > 0 ? replace(r, &present, given.description) : reply_err(r, &e);
    if (access_assign(x, r, &given, &e) < 0) {
        if (e.code == ERR_INVALID_PROPERTY)
            e.code = ROLES_NO_PRINCIPAL;
        return reply_err(r, &e);
    }
    rc = find(r, &given, &e);
    if (rc == 0)
        err_set(&e, ERR_INTERNAL, NULL, "The role assignment was not kept.");
    return rc > 0 ? show(r, 201, &given) : reply_err(r, &e);
}
