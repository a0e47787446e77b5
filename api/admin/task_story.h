/* SPDX-License-Identifier: MIT
 *
 * The history of one task of Azure Batch, and why it waits, in lines for people.
 */
#ifndef API_ADMIN_TASK_STORY_H
#define API_ADMIN_TASK_STORY_H

#include "api/admin/admin.h"

struct batch_account;
struct batch_job;
struct batch_task;
/* Finds the task GROUP/ACCOUNT/JOB/TASK in the path: 1; 0: there is none that the caller may see;
 * -1: err. In the request's arena. */
int task_find(struct request *r, const char *subscription, struct batch_account *account,
              struct batch_job *job, struct batch_task *task, struct err *e) MUST_CHECK;
/* *out: {"job", "story"} of the task GROUP/ACCOUNT/JOB/TASK in the path. Returns 1; 0: there is
 * none that the caller may see; -1: err. */
int task_story(struct request *r, const char *subscription, json_t **out, struct err *e) MUST_CHECK;

#endif
