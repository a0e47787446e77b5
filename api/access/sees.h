/* SPDX-License-Identifier: MIT
 *
 * Rights for lists over all resource groups: each caller gets the items that the caller's roles
 * permit.
 */
#ifndef API_ACCESS_SEES_H
#define API_ACCESS_SEES_H

#include "api/access/access.h"
#include "model/resource.h"

/* The function service.may of services with such lists: every principal with any role may send the
 * request. Sets r->grant to the principal's struct grants, or to NULL for the first principal, who
 * may see everything. */
int sees_may(struct request *r, const struct access *x, struct err *e) MUST_CHECK;
/* Whether the roles `held` allow reading a job. NULL: the first principal, who may read all. */
bool sees_job(const struct grants *held, const struct job *j);

#endif
