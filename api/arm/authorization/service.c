/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Authorization as a service. The paths of its routes begin with its provider, after any
 * scope.
 */
#include <string.h>

#include "api/access/access.h"
#include "api/arm/authorization/handlers.h"
#include "api/http/auth.h"

#define ROOT        "/providers/Microsoft.Authorization"
#define DEFINITIONS ROOT "/roleDefinitions"
#define ASSIGNMENTS ROOT "/roleAssignments"

static const struct route routes[] = {
    {"GET", DEFINITIONS, 0, ROUTE_PARTIAL, role_definitions_list, "RoleDefinitions_List"},
    {"GET", DEFINITIONS "/{name}", 0, ROUTE_PARTIAL, role_definitions_get, "RoleDefinitions_Get"},
    {"GET", ASSIGNMENTS, 0, ROUTE_PARTIAL, role_assignments_list, "RoleAssignments_ListForScope"},
    {"GET", ASSIGNMENTS "/{name}", 0, 0, role_assignments_get, "RoleAssignments_Get"},
    {"PUT", ASSIGNMENTS "/{name}", 0, ROUTE_JSON, role_assignments_create,
     "RoleAssignments_Create"},
    {"DELETE", ASSIGNMENTS "/{name}", 0, 0, role_assignments_delete, "RoleAssignments_Delete"},
};

static ERROR_TABLE(authorization_words, ARM_ERRORS, ROLES_OWN)

    /* Every logged-in principal may read role definitions and list assignments: the list contains
     * only those that the principal may see. */
    static int may(struct request *r, struct err *e)
{
    struct grants g;
    if (auth_check(r, e) < 0)
        return -1;
    if (r->who->first || (r->route->flags & ROUTE_PARTIAL))
        return 0;
    const char *verb = strcmp(r->method, "GET") == 0   ? "read"
                       : strcmp(r->method, "PUT") == 0 ? "write"
                                                       : "delete";
    const char *action = arena_concat(&r->arena, "Microsoft.Authorization/roleAssignments/", verb);
    if (access_load(authorization_of(r)->access, &r->arena, r->who, &g, e) < 0)
        return -1;
    return access_verdict(&g, action, r->scope) == ACCESS_YES
               ? 0
               : access_refuse(r, action, r->scope, e);
}

const struct service authorization_service = {
    .name = "authorization",
    .deps = "authorization",
    .provider = "Microsoft.Authorization",
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = authorization_words,
};
