/* SPDX-License-Identifier: MIT
 *
 * Lists over all groups. Each caller gets the items that the caller's roles permit.
 */
#ifndef API_ACCESS_SEES_H
#define API_ACCESS_SEES_H

#include "api/access/access.h"
#include "model/resource.h"

/* For service.may of such lists: every principal with a role may ask. Sets r->grant to the
 * principal's struct grants; NULL: the first principal, who sees everything. */
int sees_may(struct request *r, const struct access *x, struct err *e) MUST_CHECK;
/* Whether roles (NULL: the first principal's) allow reading a job. */
bool sees_job(const struct grants *held, const struct job *j);

#endif
