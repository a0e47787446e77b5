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

/* The task that the path names, with its job: 0, or -1 with JobNotFound or TaskNotFound. */
int find_batch_task(struct request *r, struct batch_task *out, struct err *e) MUST_CHECK;
/* "/jobs/ID/tasks/ID", encoded; arena. */
const char *batch_task_path(struct request *r, const char *job, const char *task);
/* A containerInfo as JSON text, of a running or ended container; NULL: no information. Arena. */
const char *batch_container_text(struct request *r, const struct container_seen *c, bool over);
/* Adds this containerInfo to the object `o`. */
void batch_container_add(struct request *r, const struct container_seen *c, bool over, json_t *o);
/* The JSON of one of its subtasks. */
void batch_subtask_render(struct request *r, const struct batch_task *t,
                          const struct batch_subtask *s, schema_set set, struct strbuf *out);
/* The JSON of a task. */
void batch_task_render(struct request *r, const struct batch_task *t, schema_set set,
                       struct strbuf *out);

#endif
