/* SPDX-License-Identifier: MIT
 *
 * The tasks of a node, as a node shows them.
 */
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/nodes.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/tasks.h"
#include "storage/storage.h"

/* The most recent tasks of a node that a reply shows. */
#define RECENT 10

/* Counts the allocations that take slots. Preparation and release tasks take none. */
static int count_running(struct request *r, struct shown_node *n, struct err *e)
{
    struct allocation *live;
    size_t n_live;
    if (n->nd.live == n->nd.aside)
        return 0;
    if (st_allocation_of_node(arm_of(r)->storage, &r->arena, n->nd.id, &live, &n_live, e) < 0)
        return -1;
    for (size_t i = 0; i < n_live; i++) {
        n->running += live[i].takes.slots > 0;
        n->running_slots += live[i].takes.slots;
    }
    return 0;
}

static int find_task(struct request *r, const struct batch_subtask *part, struct recent_task *out,
                     struct err *e)
{
    int rc = st_batch_task_by_id(arm_of(r)->storage, &r->arena, part->task_id, &out->t, e);
    out->part = *part;
    return rc == 0 ? err_set(e, ERR_STORAGE, NULL, "a subtask has no task") : rc;
}

/* Finds the tasks with the greatest ids, which were created last. */
static int find_recent(struct request *r, struct shown_node *n, struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    struct batch_task *tasks;
    struct batch_subtask *parts;
    size_t n_tasks, n_parts, t = 0, p = 0;
    if (st_batch_task_of_node(st, &r->arena, n->nd.name, RECENT, &tasks, &n_tasks, e) < 0 ||
        st_batch_subtask_of_node(st, &r->arena, n->nd.name, RECENT, &parts, &n_parts, e) < 0)
        return -1;
    n->recent = arena_alloc(&r->arena, RECENT * sizeof *n->recent);
    while (n->n_recent < RECENT && t + p < n_tasks + n_parts) {
        struct recent_task *next = &n->recent[n->n_recent++];
        if (p < n_parts && (t == n_tasks || parts[p].task_id > tasks[t].id)) {
            if (find_task(r, &parts[p++], next, e) < 0)
                return -1;
        } else {
            next->t = tasks[t++];
        }
    }
    return 0;
}

int node_look_at_tasks(struct request *r, struct shown_node *n, struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    if (st_batch_node_total(st, &r->arena, n->nd.name, &n->total, e) < 0 ||
        count_running(r, n, e) < 0)
        return -1;
    return find_recent(r, n, e);
}

static void set_text(json_t *o, const char *name, const char *text)
{
    if (text)
        json_object_set_new(o, name, json_string(text));
}

/* The execution of a task or of a subtask. */
struct ran {
    int64_t start_us, end_us;
    enum batch_result result;
    bool has_exit_code;
    int exit_code;
    const char *failure;
    const struct container_seen *container;
    /* the container was removed; a subtask's container is kept until the whole task has ended */
    bool gone;
};

static struct ran ran_of(const struct recent_task *n)
{
    const struct batch_task *t = &n->t;
    const struct batch_subtask *p = &n->part;
    bool gone = t->state != BATCH_TASK_RUNNING;
    if (p->number > 0)
        return (struct ran){
            p->start_us,  p->end_us,  p->result,     p->has_exit_code,
            p->exit_code, p->failure, &p->container, gone && p->state != BATCH_TASK_RUNNING};
    return (struct ran){t->start_us,  t->end_us,  t->result,     t->has_exit_code,
                        t->exit_code, t->failure, &t->container, gone};
}

static json_t *execution_of(struct request *r, const struct recent_task *n)
{
    const struct batch_task *t = &n->t;
    const struct ran ran = ran_of(n);
    json_t *o = json_pack("{s:i, s:i}", "retryCount", t->retries, "requeueCount", t->requeues);
    set_text(o, "startTime", batch_time_text(r, ran.start_us));
    set_text(o, "endTime", batch_time_text(r, ran.end_us));
    set_text(o, "lastRetryTime", batch_time_text(r, t->retry_us));
    set_text(o, "lastRequeueTime", batch_time_text(r, t->requeue_us));
    set_text(o, "result", ran.result ? enum_to_name(batch_result_names, (int)ran.result) : NULL);
    if (ran.has_exit_code)
        json_object_set_new(o, "exitCode", json_integer(ran.exit_code));
    batch_container_add(r, ran.container, ran.gone, o);
    if (ran.failure)
        json_object_set_new(o, "failureInfo", json_loads(ran.failure, 0, NULL));
    return o;
}

static json_t *show(struct request *r, const struct recent_task *n)
{
    const struct batch_task *t = &n->t;
    enum batch_task_state state = n->part.number > 0 ? n->part.state : t->state;
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:s, s:o}", "taskUrl",
                  batch_url(r, batch_task_path(r, t->job_name, t->name)), "jobId", t->job_name,
                  "taskId", t->name, "taskState", enum_to_name(batch_task_state_names, (int)state),
                  "executionInfo", execution_of(r, n));
    if (n->part.number > 0)
        json_object_set_new(o, "subtaskId", json_integer(n->part.number));
    return o;
}

json_t *node_recent_tasks(struct request *r, const struct shown_node *n)
{
    json_t *list = n->n_recent > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n->n_recent; i++)
        json_array_append_new(list, show(r, &n->recent[i]));
    return list;
}
