/* SPDX-License-Identifier: MIT
 *
 * Decides whether a principal may send a request to ARM or to a provider behind it. The needed
 * right follows from method and path (api/access/access.h), so handlers need not check it. A list
 * with ROUTE_PARTIAL shows each principal only the items that the principal may see (arm_sees()); a
 * list without ROUTE_PARTIAL refuses principals who may not see all items.
 */
#ifndef API_ARM_MAY_H
#define API_ARM_MAY_H

#include "api/arm/arm.h"

/* Sets *who to the object id of the principal who created the resource of a request (NULL: not
 * known) and returns 1. 0: the resource is missing, or the request cannot harm another principal's
 * resource; -1: err. */
typedef int (*arm_made_by)(struct request *r, const char **who, struct err *e);

/* Functions for service.may. arm_may_own() calls `made_by` if a role permits the action only on
 * resources that the principal created. */
int arm_may(struct request *r, struct err *e) MUST_CHECK;
int arm_may_own(struct request *r, arm_made_by made_by, struct err *e) MUST_CHECK;
/* Fails with ERR_FORBIDDEN unless the principal also has the right `action` at the scope, such as a
 * resource that the body names. */
int arm_check(struct request *r, const char *action, const char *scope, struct err *e) MUST_CHECK;
/* 1: the principal also has this right; 0: it does not; -1: err. For parts of a reply that only
 * some principals may see. */
int arm_may_also(struct request *r, const char *action, const char *scope, struct err *e);
/* Like arm_check(), but fails with ARM_LINKED_FORBIDDEN. For a resource that the new resource will
 * use. */
int arm_check_linked(struct request *r, const char *action, const char *scope,
                     struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN if only the first principal may use nodes of this size and priority
 * (sched_is_for_all()), and the request is from another principal. */
int arm_check_local(struct request *r, const char *vm_size, enum vm_priority priority,
                    struct err *e) MUST_CHECK;
/* Whether a list shows the resource with this id to the principal. */
bool arm_sees(const struct request *r, const char *id);
/* Like arm_sees(), for a list of several types: `action` is the right to read a resource of this
 * type. */
bool arm_sees_by(const struct request *r, const char *action, const char *id);
/* 1: the principal has a role at some scope; 0: it has none; -1: err. */
int arm_has_role(struct request *r, struct err *e) MUST_CHECK;

#endif
