/* SPDX-License-Identifier: MIT
 *
 * The history of one task of Azure Batch, and why it waits, in lines for people.
 */
#ifndef API_ADMIN_TASK_STORY_H
#define API_ADMIN_TASK_STORY_H

#include "api/admin/admin.h"

/* {"job", "story"} of the task GROUP/ACCOUNT/JOB/TASK in the path: 1, 0 (none that the caller may
 * see) or -1. */
int task_story(struct request *r, const char *subscription, json_t **out, struct err *e) MUST_CHECK;

#endif
