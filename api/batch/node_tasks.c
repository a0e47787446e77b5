/* SPDX-License-Identifier: MIT
 *
 * What is shown of the tasks of a node.
 */
#include "api/batch/jobs.h"
#include "api/batch/nodes.h"
#include "api/batch/reply.h"
#include "api/batch/tasks.h"
#include "storage/storage.h"

/* So many of the tasks that ran last on a node are shown. */
#define RECENT 10

/* What a node holds that has slots are tasks; preparation and release tasks have none. */
static int count_running(struct request *r, struct shown_node *n, struct err *e)
{
    struct allocation *live;
    size_t n_live;
    if (n->nd.live == n->nd.aside)
        return 0;
    if (st_allocation_of_node(batch_of(r)->arm.storage, &r->arena, n->nd.id, &live, &n_live, e) < 0)
        return -1;
    for (size_t i = 0; i < n_live; i++) {
        n->running += live[i].takes.slots > 0;
        n->running_slots += live[i].takes.slots;
    }
    return 0;
}

int node_look_at_tasks(struct request *r, struct shown_node *n, struct err *e)
{
    struct storage *st = batch_of(r)->arm.storage;
    if (st_batch_node_total(st, &r->arena, n->nd.name, &n->total, e) < 0 ||
        count_running(r, n, e) < 0)
        return -1;
    return st_batch_task_of_node(st, &r->arena, n->nd.name, RECENT, &n->recent, &n->n_recent, e);
}

static void set_text(json_t *o, const char *name, const char *text)
{
    if (text)
        json_object_set_new(o, name, json_string(text));
}

static json_t *execution_of(struct request *r, const struct batch_task *t)
{
    json_t *o = json_pack("{s:i, s:i}", "retryCount", t->retries, "requeueCount", t->requeues);
    set_text(o, "startTime", batch_time_text(r, t->start_us));
    set_text(o, "endTime", batch_time_text(r, t->end_us));
    set_text(o, "lastRetryTime", batch_time_text(r, t->retry_us));
    set_text(o, "lastRequeueTime", batch_time_text(r, t->requeue_us));
    set_text(o, "result", t->result ? enum_to_name(batch_result_names, (int)t->result) : NULL);
    if (t->has_exit_code)
        json_object_set_new(o, "exitCode", json_integer(t->exit_code));
    if (t->failure)
        json_object_set_new(o, "failureInfo", json_loads(t->failure, 0, NULL));
    return o;
}

json_t *node_recent_tasks(struct request *r, const struct shown_node *n)
{
    json_t *list = n->n_recent > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n->n_recent; i++) {
        const struct batch_task *t = &n->recent[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:o}", "taskUrl",
                                        batch_url(r, batch_task_path(r, t->job_name, t->name)),
                                        "jobId", t->job_name, "taskId", t->name, "taskState",
                                        enum_to_name(batch_task_state_names, (int)t->state),
                                        "executionInfo", execution_of(r, t)));
    }
    return list;
}
