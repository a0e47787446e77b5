/* SPDX-License-Identifier: MIT
 *
 * Tasks of jobs.
 */
#ifndef API_PLANE_BATCH_TASKS_H
#define API_PLANE_BATCH_TASKS_H

#include "api/plane/batch/batch.h"
#include "api/plane/batch/routes.h"
#include "model/schema.h"
#include "storage/batch_jobs.h"

/* Finds the task that the path names, with its job. 0: found; -1: JobNotFound, TaskNotFound or
 * another error. */
int find_batch_task(struct request *r, struct batch_task *out, struct err *e) MUST_CHECK;
/* The path "/jobs/ID/tasks/ID", percent-encoded, in the arena. */
const char *batch_task_path(struct request *r, const char *job, const char *task);
/* The containerInfo of a running or ended (`over`) container as JSON text, in the arena; NULL:
 * nothing is known about the container. */
const char *batch_container_text(struct request *r, const struct container_seen *c, bool over);
/* Adds the containerInfo to the object `o`, if something is known about the container. */
void batch_container_add(struct request *r, const struct container_seen *c, bool over, json_t *o);
/* Appends the JSON of a subtask of `t`. */
void batch_subtask_render(struct request *r, const struct batch_task *t,
                          const struct batch_subtask *s, schema_set set, struct strbuf *out);
/* Appends the JSON of a task. */
void batch_task_render(struct request *r, const struct batch_task *t, schema_set set,
                       struct strbuf *out);

#endif
