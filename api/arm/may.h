/* SPDX-License-Identifier: MIT
 *
 * Decides whether a principal may do the action that a request to ARM, or to a provider behind it,
 * asks for. The action follows from method and path (api/access/access.h), so handlers need no
 * checks. A list with ROUTE_PARTIAL shows each principal the permitted items only, by arm_sees(); a
 * list without it refuses principals who may not see all items.
 */
#ifndef API_ARM_MAY_H
#define API_ARM_MAY_H

#include "api/arm/arm.h"

/* Gets the object id of the principal who made the resource of a request into *who; NULL: not
 * known. 0 also if the request cannot end anything of another principal. */
typedef int (*arm_made_by)(struct request *r, const char **who, struct err *e);

/* For service.may. With arm_may_own(), `made_by` is called if a role allows the action only on the
 * principal's own resources. */
int arm_may(struct request *r, struct err *e) MUST_CHECK;
int arm_may_own(struct request *r, arm_made_by made_by, struct err *e) MUST_CHECK;
/* Whether the principal may also do an action on a resource that the body names. */
int arm_check(struct request *r, const char *action, const char *scope, struct err *e) MUST_CHECK;
/* 1: the principal may also do this action; otherwise as a getter. For parts of a reply that only
 * some principals may see. */
int arm_may_also(struct request *r, const char *action, const char *scope, struct err *e);
/* Like arm_check(), for a resource that the new resource will use: refuses with
 * ARM_LINKED_FORBIDDEN. */
int arm_check_linked(struct request *r, const char *action, const char *scope,
                     struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN if the pool has local nodes that serve the first principal only, and the request is
 * from another principal. */
int arm_check_local(struct request *r, const char *vm_size, enum vm_priority priority,
                    struct err *e) MUST_CHECK;
/* Whether a list shows the resource with this id to the principal. */
bool arm_sees(const struct request *r, const char *id);
/* Like arm_sees(), for a list of several types: `action` is the action of the resource's type. */
bool arm_sees_by(const struct request *r, const char *action, const char *id);
/* 1: the principal has a role somewhere; otherwise as a getter. */
int arm_has_role(struct request *r, struct err *e) MUST_CHECK;

#endif
