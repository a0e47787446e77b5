/* SPDX-License-Identifier: MIT
 *
 * The history of a job, in lines with times.
 */
#ifndef API_ADMIN_STORY_H
#define API_ADMIN_STORY_H

#include "api/admin/admin.h"
#include "model/resource.h"

/* The history as an array of {"time", "text"}, in order. NULL: err. */
json_t *story_of(struct request *r, const struct job *j, struct err *e);

/* The indexes of an array that have failed, in order; NULL: err. Empty if the job is not an array.
 * In the request's arena. */
json_t *story_failed_indexes(struct request *r, const struct job *j, struct err *e);

#endif
