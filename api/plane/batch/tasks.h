/* SPDX-License-Identifier: MIT
 *
 * Tasks of jobs.
 */
#ifndef API_PLANE_BATCH_TASKS_H
#define API_PLANE_BATCH_TASKS_H

#include "api/plane/batch/batch.h"
#include "model/schema.h"
#include "storage/batch_jobs.h"

struct replied *batch_tasks_add(struct request *r);
struct replied *batch_tasks_add_collection(struct request *r);
struct replied *batch_tasks_list(struct request *r);
struct replied *batch_tasks_get(struct request *r);
struct replied *batch_tasks_update(struct request *r);
struct replied *batch_tasks_delete(struct request *r);
struct replied *batch_tasks_terminate(struct request *r);
struct replied *batch_tasks_reactivate(struct request *r);
struct replied *batch_tasks_list_subtasks(struct request *r);

#define BATCH_TASK_ROUTES                                                                            \
    {"POST", "/jobs/{jobId}/tasks", BATCH_ALL, ROUTE_JSON, batch_tasks_add, "Task_Add"},             \
        {"POST",     "/jobs/{jobId}/addtaskcollection", BATCH_ALL,                                   \
         ROUTE_JSON, batch_tasks_add_collection,        "Task_AddCollection"},                       \
        {"GET", "/jobs/{jobId}/tasks", BATCH_ALL, 0, batch_tasks_list, "Task_List"},                 \
        {"GET", "/jobs/{jobId}/tasks/{taskId}", BATCH_ALL, 0, batch_tasks_get, "Task_Get"},          \
        {"PUT",        "/jobs/{jobId}/tasks/{taskId}", BATCH_ALL, ROUTE_JSON, batch_tasks_update,    \
         "Task_Update"},                                                                             \
        {"DELETE", "/jobs/{jobId}/tasks/{taskId}", BATCH_ALL, 0, batch_tasks_delete, "Task_Delete"}, \
        {"POST",                                                                                     \
         "/jobs/{jobId}/tasks/{taskId}/terminate",                                                   \
         BATCH_ALL,                                                                                  \
         0,                                                                                          \
         batch_tasks_terminate,                                                                      \
         "Task_Terminate"},                                                                          \
        {"POST",                                                                                     \
         "/jobs/{jobId}/tasks/{taskId}/reactivate",                                                  \
         BATCH_ALL,                                                                                  \
         0,                                                                                          \
         batch_tasks_reactivate,                                                                     \
         "Task_Reactivate"},                                                                         \
        {"GET",                                                                                      \
         "/jobs/{jobId}/tasks/{taskId}/subtasksinfo",                                                \
         BATCH_ALL,                                                                                  \
         0,                                                                                          \
         batch_tasks_list_subtasks,                                                                  \
         "Task_ListSubtasks"},

/* The task that the path names, with its job: 0, or -1 with JobNotFound or TaskNotFound. */
int find_batch_task(struct request *r, struct batch_task *out, struct err *e) MUST_CHECK;
/* "/jobs/ID/tasks/ID", encoded; arena. */
const char *batch_task_path(struct request *r, const char *job, const char *task);
/* A containerInfo as JSON text, of what is over or runs; NULL: there is nothing to say. Arena. */
const char *batch_container_text(struct request *r, const struct container_seen *c, bool over);
/* The same as a member. */
void batch_container_add(struct request *r, const struct container_seen *c, bool over, json_t *o);
/* The JSON of one of its subtasks. */
void batch_subtask_render(struct request *r, const struct batch_task *t,
                          const struct batch_subtask *s, schema_set set, struct strbuf *out);
/* The JSON of a task. */
void batch_task_render(struct request *r, const struct batch_task *t, schema_set set,
                       struct strbuf *out);

#endif
