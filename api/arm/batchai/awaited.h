/* SPDX-License-Identifier: MIT
 *
 * The dependencies of a new job, by the names that its user gives.
 */
#ifndef API_ARM_BATCHAI_AWAITED_H
#define API_ARM_BATCHAI_AWAITED_H

#include "api/http/service.h"
#include "model/resource.h"
#include "model/wishes.h"

/* Finds the dependencies in `wishes` for a new job of the experiment x. *out is in the request's
 * arena; the owner's id in it is not yet set. Refuses unknown names, names that are twice in the
 * list, and the job's own name. Dependencies cannot form a cycle, because a job can only depend on
 * jobs that existed before it. */
int find_awaited(struct request *r, const struct experiment *x, const char *own_name,
                 const struct wishes *wishes, struct dependency **out, size_t *n,
                 struct err *e) MUST_CHECK;

#endif
