/* SPDX-License-Identifier: MIT
 *
 * Tasks: show, list, change, terminate, delete, reactivate. new_tasks.c adds them.
 */
#include "api/plane/batch/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "api/http/accept.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "model/batch/tables.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/tasks.h"

int find_batch_task(struct request *r, struct batch_task *out, struct err *e)
{
    struct batch_job j;
    if (find_batch_job(r, &j, e) < 0)
        return -1;
    int rc =
        st_batch_task_get(arm_of(r)->storage, &r->arena, j.id, request_param(r, "taskId"), out, e);
    if (rc == 0 || (rc == 1 && out->fate == BATCH_FATE_DELETE))
        return err_set(e, BATCH_TASK_NOT_FOUND, NULL, "The specified task does not exist.");
    return rc < 0 ? -1 : 0;
}

struct replied *batch_tasks_get(struct request *r)
{
    struct batch_task t;
    struct err e;
    schema_set set;
    struct strbuf out = STRBUF_INIT;
    if (find_batch_task(r, &t, &e) < 0 || batch_select(r, &schema_batch_task, &set, &e) < 0 ||
        batch_conditions(r, t.updated_us, &e) < 0)
        return reply_err(r, &e);
    batch_task_render(r, &t, set, &out);
    batch_etag(r, t.updated_us);
    return batch_reply_element(r, "tasks/@Element", &out);
}

static const struct batch_filter filters[BATCH_TASK_PROPERTIES] = {
    [BATCH_TASK_BY_ID] = {"id", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    [BATCH_TASK_BY_STATE] = {"state", BATCH_BY_STATE, FILTER_EQUAL, batch_task_state_names},
    [BATCH_TASK_BY_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_CREATED] = {"creationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_MODIFIED] = {"lastModifiedTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_START] = {"executionInfo/startTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_END] = {"executionInfo/endTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_EXIT_CODE] = {"executionInfo/exitCode", BATCH_BY_NUMBER, FILTER_ORDER, NULL},
    [BATCH_TASK_BY_RESULT] = {"executionInfo/result", BATCH_BY_STATE, FILTER_EQUAL,
                              batch_result_names},
};

static int fetch(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e)
{
    struct batch_task_rows tasks = {NULL, 0};
    int rc = st_batch_task_list(
        arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
        &(struct st_names){.after = of->after, .upto = of->upto, .limit = of->limit}, &tasks, e);
    *rows = tasks.items;
    *n = tasks.n;
    return rc;
}

static int nth(const struct batch_list *l, const char *after, int nth_row, const char **name,
               struct err *e)
{
    return st_batch_task_nth(arm_of(l->r)->storage, &l->r->arena, l->owner, after, nth_row, name,
                             e);
}

static int render(const struct batch_list *l, const void *row, struct strbuf *out, struct err *e)
{
    (void)e;
    batch_task_render(l->r, row, l->set, out);
    return 0;
}

struct replied *batch_tasks_list(struct request *r)
{
    static const struct batch_rows rows = {.list = {.fragment = "tasks",
                                                    .filters = filters,
                                                    .n_filters = BATCH_TASK_PROPERTIES,
                                                    .schema = &schema_batch_task},
                                           BATCH_ROWS_OF(struct batch_task),
                                           .fetch = fetch,
                                           .nth = nth,
                                           .render = render};
    struct batch_job j;
    struct err e;
    if (find_batch_job(r, &j, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_rows(r, &rows, j.id, NULL);
}

static int fetch_subtasks(const struct batch_list *l, const struct batch_slice *of, void **rows,
                          size_t *n, struct err *e)
{
    struct batch_subtask_rows found = {NULL, 0};
    int rc = st_batch_subtask_list(
        arm_of(l->r)->storage, &l->r->arena, l->owner,
        &(struct st_page){.after = (int)strtol(of->after, NULL, 10), .limit = of->limit}, &found,
        e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static const char *number_text(struct request *r, const void *row)
{
    return arena_printf(&r->arena, "%d", ((const struct batch_subtask *)row)->number);
}

static int render_subtask(const struct batch_list *l, const void *row, struct strbuf *out,
                          struct err *e)
{
    (void)e;
    batch_subtask_render(l->r, l->of, row, l->set, out);
    return 0;
}

/* Lists subtasks. A task of one node has none, nor has a task that waits for its nodes. */
struct replied *batch_tasks_list_subtasks(struct request *r)
{
    static const struct batch_rows rows = {
        .list = {.fragment = "subtaskinfo", .schema = &schema_batch_subtask},
        .size = sizeof(struct batch_subtask),
        .fetch = fetch_subtasks,
        .key = number_text,
        .render = render_subtask};
    struct batch_task *t = arena_alloc(&r->arena, sizeof *t);
    struct err e;
    if (find_batch_task(r, t, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_rows(r, &rows, t->state == BATCH_TASK_ACTIVE ? 0 : t->id, t);
}

/* --- changing --------------------------------------------------------------------------------- */

struct task_change {
    struct batch_front *f;
    struct batch_task *t;
    int64_t now_us;
};

static int update(struct storage *st, void *ctx, struct err *e)
{
    const struct task_change *k = ctx;
    (void)st;
    return batch_task_change(k->f, k->t, k->now_us, e);
}

static int terminate(struct storage *st, void *ctx, struct err *e)
{
    const struct task_change *k = ctx;
    (void)st;
    return batch_task_terminate(k->f, k->t, k->now_us, e);
}

static int delete_task(struct storage *st, void *ctx, struct err *e)
{
    const struct task_change *k = ctx;
    (void)st;
    return batch_task_delete(k->f, k->t, k->now_us, e);
}

static int reactivate(struct storage *st, void *ctx, struct err *e)
{
    const struct task_change *k = ctx;
    (void)st;
    return batch_task_reactivate(k->f, k->t, k->now_us, e);
}

static int begin(struct request *r, struct batch_task *t, struct task_change *k, struct err *e)
{
    if (find_batch_task(r, t, e) < 0 || batch_conditions(r, t->updated_us, e) < 0)
        return -1;
    *k = (struct task_change){batch_of(r)->front, t, batch_modified(r, t->updated_us)};
    return 0;
}

/* PUT replaces all constraints. A missing constraint gets its default, or the job's value. */
struct replied *batch_tasks_update(struct request *r)
{
    struct batch_task t;
    struct batch_job j;
    struct batch_job_spec job;
    struct task_change k;
    struct err e;
    struct accepted given;
    if (begin(r, &t, &k, &e) < 0 || find_batch_job(r, &j, &e) < 0 ||
        batch_job_decode(&r->arena, j.doc, NULL, &job, &e) < 0 ||
        request_accept(r, &schema_batch_task_update, SCHEMA_BATCH, &given, &e) < 0)
        return reply_err(r, &e);
    json_t *stored = request_own(r, json_loads(t.doc, 0, NULL));
    json_t *limits = json_object_get(given.doc, "constraints");
    if (!json_object_get(limits, "maxTaskRetryCount"))
        json_object_set_new(limits, "maxTaskRetryCount", json_integer(job.limits.retries));
    json_object_update(stored, given.doc);
    t.doc = jsontext_in(&r->arena, stored);
    if (t.state == BATCH_TASK_COMPLETED)
        (void)err_set(&e, BATCH_TASK_IS_COMPLETED, NULL, "The task %s is completed.", t.name);
    if (t.state == BATCH_TASK_COMPLETED ||
        st_tx(arm_of(r)->storage, "update task", update, &k, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 200, batch_task_path(r, t.job_name, t.name), k.now_us);
}

struct replied *batch_tasks_terminate(struct request *r)
{
    struct batch_task t;
    struct task_change k;
    struct err e;
    int rc = begin(r, &t, &k, &e);
    if (rc == 0 && t.state == BATCH_TASK_COMPLETED)
        rc = err_set(&e, BATCH_TASK_IS_COMPLETED, NULL, "The task %s is completed.", t.name);
    if (rc < 0 || st_tx(arm_of(r)->storage, "terminate task", terminate, &k, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(
        r, 204, arena_concat(&r->arena, batch_task_path(r, t.job_name, t.name), "/terminate"),
        t.updated_us);
}

struct replied *batch_tasks_delete(struct request *r)
{
    struct batch_task t;
    struct task_change k;
    struct err e;
    if (begin(r, &t, &k, &e) < 0 ||
        st_tx(arm_of(r)->storage, "delete task", delete_task, &k, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 200, batch_task_path(r, t.job_name, t.name), 0);
}

/* Reactivation: only a failed task of an active job can run again. */
static int check_again(struct request *r, const struct batch_task *t, struct err *e)
{
    struct batch_job j;
    if (find_batch_job(r, &j, e) < 0 || batch_job_goes_on(&j, e) < 0)
        return -1;
    if (batch_task_is_ending(t))
        return 0;
    if (t->state != BATCH_TASK_COMPLETED)
        return err_set(e, BATCH_TASK_NOT_COMPLETED, NULL, "The task %s is %s.", t->name,
                       enum_to_name(batch_task_state_names, (int)t->state));
    if (t->result == BATCH_SUCCESS)
        return err_set(e, BATCH_TASK_SUCCEEDED, NULL, "The task %s has succeeded.", t->name);
    return 0;
}

struct replied *batch_tasks_reactivate(struct request *r)
{
    struct batch_task t;
    struct task_change k;
    struct err e;
    if (begin(r, &t, &k, &e) < 0 || check_again(r, &t, &e) < 0 ||
        st_tx(arm_of(r)->storage, "reactivate task", reactivate, &k, &e) < 0)
        return reply_err(r, &e);
    /* A task that still ends changes when it has ended. */
    return batch_reply_written(
        r, 204, arena_concat(&r->arena, batch_task_path(r, t.job_name, t.name), "/reactivate"),
        batch_task_is_ending(&t) ? t.updated_us : k.now_us);
}
