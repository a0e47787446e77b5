/* SPDX-License-Identifier: MIT
 *
 * Who may do what with the resource manager's resources, and those of the providers behind it: the
 * action follows from method and path (api/access/access.h), so no handler asks. A list says what
 * it does about those who may see a part of it: with ROUTE_PARTIAL it shows that part, by
 * arm_sees(); without it they are refused.
 */
#ifndef API_ARM_MAY_H
#define API_ARM_MAY_H

#include "api/arm/arm.h"

/* Who made what a request is about: *who is an object id, or NULL if that is not known. A getter; 0
 * too if the request can end nothing of anybody's. */
typedef int (*arm_made_by)(struct request *r, const char **who, struct err *e);

/* For service.may. A provider calls the second one; `made_by` is asked where a role allows only
 * what is done to one's own. */
int arm_may(struct request *r, struct err *e) MUST_CHECK;
int arm_may_own(struct request *r, arm_made_by made_by, struct err *e) MUST_CHECK;
/* For what a body names: whether who asks may do that, too. */
int arm_check(struct request *r, const char *action, const char *scope, struct err *e) MUST_CHECK;
/* 1: who asks may do that, too; as a getter. For what an answer shows to those alone. */
int arm_may_also(struct request *r, const char *action, const char *scope, struct err *e);
/* As arm_check() for a resource that what is made will use: refused with ARM_LINKED_FORBIDDEN. */
int arm_check_linked(struct request *r, const char *action, const char *scope,
                     struct err *e) MUST_CHECK;
/* Whether who asks may have something run on nodes of such a pool: ERR_FORBIDDEN if these are local
 * ones that serve the first principal alone. */
int arm_check_local(struct request *r, const char *vm_size, enum vm_priority priority,
                    struct err *e) MUST_CHECK;
/* Whether a list shows the resource with this id to who asks. */
bool arm_sees(const struct request *r, const char *id);
/* 1: has a role somewhere; as a getter. */
int arm_has_role(struct request *r, struct err *e) MUST_CHECK;

#endif
