/* SPDX-License-Identifier: MIT
 *
 * Renders tasks and subtasks for clients, with the node and the execution of the last attempt.
 * Texts are the request's. On the loop's thread.
 */
#include <stdlib.h>

#include "api/plane/batch/jobs.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/stats.h"
#include "api/plane/batch/tasks.h"
#include "lib/jsontext.h"
#include "model/batch/tables.h"
#include "scheduler/front/batch/tasks.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

const char *batch_task_path(struct request *r, const char *job, const char *task)
{
    return arena_concat(&r->arena, batch_job_path(r, job), "/tasks/", batch_segment(r, task));
}

const char *batch_container_text(struct request *r, const struct container_seen *c, bool over)
{
    json_t *o = NULL;
    if (c->id)
        o = json_pack("{s:s, s:s, s:s}", "containerId", c->id, "state", over ? "exited" : "running",
                      "error", "");
    else if (c->error)
        o = json_pack("{s:s, s:o}", "state", "created", "error", jsontext_string(c->error));
    return jsontext_new_in(&r->arena, o);
}

void batch_container_add(struct request *r, const struct container_seen *c, bool over, json_t *o)
{
    const char *text = batch_container_text(r, c, over);
    if (text)
        json_object_set_new(o, "containerInfo", json_loads(text, 0, NULL));
}

/* Fills `out` with the present or last node of a task or subtask. Returns the number of members. */
static size_t add_node(struct request *r, const struct batch_task *t, const char *node,
                       const char *dir, struct over out[6])
{
    if (!node || !t->pool_name)
        return 0;
    const char *path = arena_concat(&r->arena, "/pools/", batch_segment(r, t->pool_name), "/nodes/",
                                    batch_segment(r, node));
    const char *url = batch_url(r, path);
    const struct over all[6] = {
        SHOW_TEXT("affinityId", arena_concat(&r->arena, BATCH_AFFINITY, node)),
        SHOW_TEXT("nodeUrl", url),
        SHOW_TEXT("poolId", t->pool_name),
        SHOW_TEXT("nodeId", node),
        SHOW_TEXT("taskRootDirectory", dir),
        SHOW_TEXT("taskRootDirectoryUrl", arena_concat(&r->arena, url, "/files/", dir)),
    };
    for (size_t i = 0; i < COUNT(all); i++)
        out[i] = all[i];
    return COUNT(all);
}

enum { EXECUTION = 10 };

/* The optional exit code comes last. */
static size_t add_execution(struct request *r, const struct batch_task *t,
                            struct over out[EXECUTION])
{
    const struct over all[EXECUTION] = {
        SHOW_TEXT("startTime", batch_time_text(r, t->start_us)),
        SHOW_TEXT("endTime", batch_time_text(r, t->end_us)),
        SHOW_JSON("containerInfo",
                  batch_container_text(r, &t->container, t->state != BATCH_TASK_RUNNING)),
        SHOW_JSON("failureInfo", t->failure),
        SHOW_INT("retryCount", t->retries),
        SHOW_TEXT("lastRetryTime", batch_time_text(r, t->retry_us)),
        SHOW_INT("requeueCount", t->requeues),
        SHOW_TEXT("lastRequeueTime", batch_time_text(r, t->requeue_us)),
        SHOW_TEXT("result", t->result ? enum_to_name(batch_result_names, (int)t->result) : NULL),
        SHOW_INT("exitCode", t->exit_code),
    };
    for (size_t i = 0; i < COUNT(all); i++)
        out[i] = all[i];
    return COUNT(all) - !t->has_exit_code;
}

void batch_task_render(struct request *r, const struct batch_task *t, schema_set set,
                       struct strbuf *out)
{
    struct over node[6], run[EXECUTION];
    size_t n_node = add_node(r, t, t->node_name, batch_task_dir(&r->arena, t), node),
           n_run = add_execution(r, t, run);
    bool ended_early = n_node == 0 && t->state == BATCH_TASK_COMPLETED;
    const struct over over[] = {
        SHOW_TEXT("url", batch_url(r, batch_task_path(r, t->job_name, t->name))),
        SHOW_TEXT("eTag", batch_etag_text(r, t->updated_us)),
        SHOW_TEXT("creationTime", batch_time_text(r, t->created_us)),
        SHOW_TEXT("lastModified", batch_time_text(r, t->updated_us)),
        SHOW_TEXT("state", enum_to_name(batch_task_state_names, (int)t->state)),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, t->state_us)),
        SHOW_TEXT("previousState",
                  t->was ? enum_to_name(batch_task_state_names, (int)t->was) : NULL),
        SHOW_TEXT("previousStateTransitionTime", t->was ? batch_time_text(r, t->was_us) : NULL),
        SHOW_OBJECT_OF("executionInfo", run, n_run),
        SHOW_JSON("stats", batch_task_stats(r, t, batch_task_path(r, t->job_name, t->name))),
        SHOW_OBJECT_OF("nodeInfo", node, n_node),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_task,
                                           .version = r->version,
                                           .stored = t->doc,
                                           .over = over,
                                           .n = COUNT(over) - (n_node == 0 && !ended_early),
                                           .set = set});
    arm_show_secrets(r, out, t->id, st_batch_task_secrets);
}

/* The optional exit code comes last. */
void batch_subtask_render(struct request *r, const struct batch_task *t,
                          const struct batch_subtask *s, schema_set set, struct strbuf *out)
{
    const char *dir = arena_printf(&r->arena, "%s/%d", batch_task_dir(&r->arena, t), s->number);
    struct over node[6];
    size_t n_node = add_node(r, t, s->node_name, dir, node);
    /* A subtask's container is kept until the whole task has ended. */
    bool gone = s->state != BATCH_TASK_RUNNING && t->state != BATCH_TASK_RUNNING;
    const struct over over[] = {
        SHOW_INT("id", s->number),
        SHOW_OBJECT_OF("nodeInfo", node, n_node),
        SHOW_TEXT("startTime", batch_time_text(r, s->start_us)),
        SHOW_TEXT("endTime", batch_time_text(r, s->end_us)),
        SHOW_JSON("containerInfo", batch_container_text(r, &s->container, gone)),
        SHOW_JSON("failureInfo", s->failure),
        SHOW_TEXT("state", enum_to_name(batch_task_state_names, (int)s->state)),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, s->state_us)),
        SHOW_TEXT("previousState",
                  s->was ? enum_to_name(batch_task_state_names, (int)s->was) : NULL),
        SHOW_TEXT("previousStateTransitionTime", s->was ? batch_time_text(r, s->was_us) : NULL),
        SHOW_TEXT("result", s->result ? enum_to_name(batch_result_names, (int)s->result) : NULL),
        SHOW_INT("exitCode", s->exit_code),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_subtask,
                                           .version = r->version,
                                           .stored = "{}",
                                           .over = over,
                                           .n = COUNT(over) - !s->has_exit_code,
                                           .set = set});
}
