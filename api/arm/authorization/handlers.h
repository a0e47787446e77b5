/* SPDX-License-Identifier: MIT */
#ifndef API_ARM_AUTHORIZATION_HANDLERS_H
#define API_ARM_AUTHORIZATION_HANDLERS_H

#include "api/arm/authorization/authorization.h"
#include "api/arm/authorization/routes.h"
#include "api/arm/errors.h"

#define ROLES_OWN(X)                                                                               \
    X(ROLES_NO_DEFINITION, 404, "RoleDefinitionDoesNotExist", 0)                                   \
    X(ROLES_NO_ASSIGNMENT, 404, "RoleAssignmentNotFound", 0)                                       \
    X(ROLES_EXISTS, 409, "RoleAssignmentExists", 0)                                                \
    X(ROLES_NO_UPDATE, 400, "RoleAssignmentUpdateNotPermitted", 0)                                 \
    X(ROLES_NO_PRINCIPAL, 400, "PrincipalNotFound", 0)                                             \
    X(ROLES_NO_GUID, 400, "InvalidRoleAssignmentId", 0)
enum { ERROR_OWN_KINDS(ROLES_KINDS, ROLES_OWN) };

/* The resource id of a role definition. It does not depend on the scope of the request, because
 * clients compare ids. */
const char *role_definition_id(struct request *r, const char *guid);

#endif
