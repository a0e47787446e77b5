/* SPDX-License-Identifier: MIT
 *
 * The resources that one job, or one task of Azure Batch, had and used, with a sentence of advice.
 * `batchaid job` is the client.
 */
#include "api/access/access.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/task_story.h"
#include "api/admin/usage_json.h"
#include "api/http/request.h"
#include "model/batch/job_rows.h"
#include "model/batch/rows.h"
#include "storage/usage.h"

struct used_resource {
    enum resource_kind kind;
    int64_t id;
    json_t *shown;
};

/* Finds the job or task in the path: 1; 0: there is none that the caller may see; -1: err. */
static int find(struct request *r, const struct scope *s, struct used_resource *out, struct err *e)
{
    struct job j;
    struct batch_account account;
    struct batch_job job;
    struct batch_task task;
    int rc = st_job_find(admin_of(r)->storage, &r->arena, s, request_param(r, "job"), &j, e);
    if (rc == 1 && seen_job(r, &j)) {
        *out = (struct used_resource){RES_JOB, j.id, seen_job_render(r, &j)};
        return 1;
    }
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    rc = task_find(r, s->subscription, &account, &job, &task, e);
    if (rc == 1)
        *out = (struct used_resource){RES_BATCH_TASK, task.id,
                                      seen_task_render(r, &account, &job, &task)};
    return rc;
}

static json_t *show_row(const struct usage *u, bool open)
{
    struct usage_sums s = {0};
    json_t *o = json_pack(
        "{s:i, s:i, s:i, s:s, s:s*, s:o, s:o*, s:f, s:i, s:b}", "index", u->idx, "attempt",
        u->attempt, "rank", u->rank, "node", u->node_name, "machine", u->machine, "begin",
        seen_time(u->begin_ms * 1000), "end", open ? NULL : seen_time(u->end_ms * 1000), "gpus",
        (double)u->gpus / USAGE_GPU_UNIT, "cores", u->cores, "requeued", u->again);
    usage_add_cut(&s, u, open, 0, INT64_MAX);
    usage_show(o, &s);
    if (u->memory > 0)
        json_object_set_new(o, "memoryBytes", json_integer(u->memory));
    if (u->used.memory_used > 0)
        json_object_set_new(o, "memoryUsedBytes", json_integer(u->used.memory_used));
    return o;
}

struct use {
    json_t *rows;
    struct usage_sums sums;
    struct usage *ended;
    size_t n_ended;
};

static int read_use(struct request *r, const struct used_resource *f, struct use *u, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    struct usage_live *live;
    size_t n;
    if (st_usage_of_owner(st, &r->arena, f->kind, f->id, &u->ended, &u->n_ended, e) < 0 ||
        st_usage_live_of(st, &r->arena, f->kind, f->id, &live, &n, e) < 0)
        return -1;
    u->rows = request_own(r, json_array());
    for (size_t i = 0; i < u->n_ended; i++) {
        usage_add_cut(&u->sums, &u->ended[i], false, 0, INT64_MAX);
        json_array_append_new(u->rows, show_row(&u->ended[i], false));
    }
    for (size_t i = 0; i < n; i++) {
        struct usage *row = &live[i].row;
        row->end_ms = r->now_us / 1000 > row->begin_ms ? r->now_us / 1000 : row->begin_ms;
        row->begin_ms = st_usage_counts_from(st, row->begin_ms, row->end_ms);
        usage_add_cut(&u->sums, row, true, 0, INT64_MAX);
        json_array_append_new(u->rows, show_row(row, true));
    }
    return 0;
}

struct replied *usage_of_job(struct request *r)
{
    const char *of = request_query(r, "subscription");
    const struct scope s = {.subscription = of ? of : admin_of(r)->access->subscription_id,
                            .group = request_param(r, "group"),
                            .workspace = request_param(r, "workspace"),
                            .experiment = request_param(r, "experiment")};
    struct used_resource f;
    struct use u = {0};
    struct err e;
    int rc = find(r, &s, &f, &e);
    if (rc == 0)
        err_set(&e, ERR_JOB_NOT_FOUND, NULL,
                "There is no job or task %.100s in %.100s/%.100s/%.100s.", request_param(r, "job"),
                s.group, s.workspace, s.experiment);
    if (rc != 1)
        return reply_err(r, &e);
    request_own(r, f.shown);
    if (read_use(r, &f, &u, &e) < 0)
        return reply_err(r, &e);
    json_t *use = json_object();
    usage_show(use, &u.sums);
    json_t *out = json_pack("{s:O, s:o, s:O, s:s}", "job", f.shown, "use", use, "allocations",
                            u.rows, "advice", usage_advice(r, u.ended, u.n_ended, &u.sums));
    return reply_json(r, 200, out);
}
