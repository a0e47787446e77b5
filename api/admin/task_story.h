/* SPDX-License-Identifier: MIT
 *
 * What became of one task of Azure Batch, and what it waits for, in lines for people.
 */
#ifndef API_ADMIN_TASK_STORY_H
#define API_ADMIN_TASK_STORY_H

#include "api/admin/admin.h"

/* {"job", "story"} of the task that the path names as GROUP/ACCOUNT/JOB/TASK: 1, 0 (there is none
 * that the asker may see) or -1. */
int task_story(struct request *r, const char *subscription, json_t **out, struct err *e) MUST_CHECK;

#endif
