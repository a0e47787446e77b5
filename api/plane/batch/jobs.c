/* SPDX-License-Identifier: MIT
 *
 * Jobs: add, show, list, change, disable, enable, terminate, delete.
 */
#include "api/plane/batch/jobs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/accept.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/pool_mounts.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/run_as.h"
#include "api/plane/batch/stats.h"
#include "lib/jsontext.h"
#include "model/batch/job_states.h"
#include "model/batch/spec.h"
#include "model/batch/tables.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/batch_schedules.h"

#define AUTO_POOL "poolInfo.autoPoolSpecification"

static struct batch_front *front_of_request(const struct request *r)
{
    return batch_of(r)->front;
}

int find_batch_job(struct request *r, struct batch_job *out, struct err *e)
{
    int rc = st_batch_job_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id,
                              request_param(r, "jobId"), out, e);
    if (rc == 0)
        return err_set(e, BATCH_JOB_NOT_FOUND, NULL, "The specified job does not exist.");
    return rc < 0 ? -1 : 0;
}

int batch_job_goes_on(const struct batch_job *j, struct err *e)
{
    static const int kinds[] = {[BATCH_JOB_TERMINATING] = BATCH_JOB_BEING_TERMINATED,
                                [BATCH_JOB_COMPLETED] = BATCH_JOB_IS_COMPLETED,
                                [BATCH_JOB_DELETING] = BATCH_JOB_BEING_DELETED};
    if (j->state < BATCH_JOB_TERMINATING)
        return 0;
    return err_set(e, kinds[j->state], NULL, "The job %s is %s.", j->name,
                   enum_to_name(batch_job_state_names, (int)j->state));
}

int batch_job_may_bring(struct request *r, const json_t *job, struct err *e)
{
    return batch_part(job, AUTO_POOL) ? batch_check_also(r, "/pools/write", e) : 0;
}

const char *batch_job_path(struct request *r, const char *name)
{
    return arena_concat(&r->arena, "/jobs/", batch_segment(r, name));
}

/* --- showing ---------------------------------------------------------------------------------- */

static void render(struct request *r, const struct batch_job *j, schema_set set, struct strbuf *out)
{
    const struct over run[] = {
        SHOW_TEXT("startTime", batch_time_text(r, j->start_us)),
        SHOW_TEXT("endTime", batch_time_text(r, j->end_us)),
        SHOW_TEXT("poolId", *j->pool_name ? j->pool_name : NULL),
        SHOW_JSON("schedulingError", j->failure),
        SHOW_TEXT("terminateReason", j->reason),
    };
    const struct over over[] = {
        SHOW_TEXT("url", batch_url(r, batch_job_path(r, j->name))),
        SHOW_TEXT("eTag", batch_etag_text(r, j->updated_us)),
        SHOW_TEXT("lastModified", batch_time_text(r, j->updated_us)),
        SHOW_TEXT("creationTime", batch_time_text(r, j->created_us)),
        SHOW_TEXT("state", enum_to_name(batch_job_state_names, (int)j->state)),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, j->state_us)),
        SHOW_TEXT("previousState",
                  j->was ? enum_to_name(batch_job_state_names, (int)j->was) : NULL),
        SHOW_TEXT("previousStateTransitionTime", j->was ? batch_time_text(r, j->was_us) : NULL),
        SHOW_OBJECT("executionInfo", run),
        SHOW_JSON("stats", batch_job_stats(r, j, batch_job_path(r, j->name))),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_job,
                                           .version = r->version,
                                           .stored = j->doc,
                                           SHOW_LIST(over),
                                           .set = set});
    arm_show_secrets(r, out, j->id, st_batch_job_secrets);
}

struct replied *batch_jobs_get(struct request *r)
{
    struct batch_job j;
    struct err e;
    schema_set set;
    struct strbuf out = STRBUF_INIT;
    if (find_batch_job(r, &j, &e) < 0 || batch_select(r, &schema_batch_job, &set, &e) < 0 ||
        batch_conditions(r, j.updated_us, &e) < 0)
        return reply_err(r, &e);
    render(r, &j, set, &out);
    batch_etag(r, j.updated_us);
    return batch_reply_element(r, "jobs/@Element", &out);
}

static const struct batch_filter filters[BATCH_JOB_PROPERTIES] = {
    [BATCH_JOB_BY_ID] = {"id", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    [BATCH_JOB_BY_STATE] = {"state", BATCH_BY_STATE, FILTER_EQUAL, batch_job_state_names},
    [BATCH_JOB_BY_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_JOB_BY_CREATED] = {"creationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_JOB_BY_MODIFIED] = {"lastModified", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_JOB_BY_START] = {"executionInfo/startTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_JOB_BY_END] = {"executionInfo/endTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [BATCH_JOB_BY_POOL] = {"executionInfo/poolId", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
};

static int fetch(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e)
{
    struct batch_job_rows jobs = {NULL, 0};
    int rc = st_batch_job_list(
        arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
        &(struct st_names){.after = of->after, .upto = of->upto, .limit = of->limit}, &jobs, e);
    *rows = jobs.items;
    *n = jobs.n;
    return rc;
}

static int nth(const struct batch_list *l, const char *after, int nth_row, const char **name,
               struct err *e)
{
    return st_batch_job_nth(arm_of(l->r)->storage, &l->r->arena, l->owner, after, nth_row, name, e);
}

/* Reads the key of a row in the list of a schedule's jobs: the number of the job. */
static int number_of(const char *text, int otherwise)
{
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static int fetch_of_schedule(const struct batch_list *l, const struct batch_slice *of, void **rows,
                             size_t *n, struct err *e)
{
    struct batch_job_rows jobs = {NULL, 0};
    int rc = st_batch_job_list_schedule(arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
                                        &(struct st_page){.after = number_of(of->after, 0),
                                                          .upto = number_of(of->upto, INT_MAX),
                                                          .limit = of->limit},
                                        &jobs, e);
    *rows = jobs.items;
    *n = jobs.n;
    return rc;
}

static int nth_of_schedule(const struct batch_list *l, const char *after, int nth_row,
                           const char **key, struct err *e)
{
    int number;
    int rc = st_batch_job_nth_schedule(arm_of(l->r)->storage, l->owner, number_of(after, 0),
                                       nth_row, &number, e);
    *key = rc == 1 ? arena_printf(&l->r->arena, "%d", number) : NULL;
    return rc;
}

static const char *number_text(struct request *r, const void *row)
{
    return arena_printf(&r->arena, "%d", ((const struct batch_job *)row)->number);
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    (void)e;
    render(l->r, row, l->set, out);
    return 0;
}

#define JOB_ROWS                                                                                   \
    .list = {.fragment = "jobs",                                                                   \
             .filters = filters,                                                                   \
             .n_filters = BATCH_JOB_PROPERTIES,                                                    \
             .schema = &schema_batch_job},                                                         \
    BATCH_ROWS_OF(struct batch_job), .render = render_row

struct replied *batch_jobs_list(struct request *r)
{
    static const struct batch_rows rows = {JOB_ROWS, .fetch = fetch, .nth = nth};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}

struct replied *batch_jobs_of_schedule(struct request *r, int64_t schedule_id)
{
    static const struct batch_rows rows = {JOB_ROWS, .fetch = fetch_of_schedule,
                                           .nth = nth_of_schedule, .key = number_text};
    return batch_reply_rows(r, &rows, schedule_id, NULL);
}

struct replied *batch_jobs_counts(struct request *r)
{
    struct batch_job j;
    struct batch_counts n = {0};
    struct err e;
    if (find_batch_job(r, &j, &e) < 0 ||
        st_batch_job_counts(arm_of(r)->storage, &r->arena, j.id, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *tasks =
        request_own(r, json_pack("{s:I, s:I, s:I, s:I, s:I}", "active", (json_int_t)n.active,
                                 "running", (json_int_t)n.running, "completed",
                                 (json_int_t)n.succeeded + (json_int_t)n.failed, "succeeded",
                                 (json_int_t)n.succeeded, "failed", (json_int_t)n.failed));
    if (r->version & BATCH_UNTIL(BATCH_11_0)) {
        if (r->version & BATCH_UNTIL(BATCH_6_1))
            json_object_set_new(tasks, "validationStatus", json_string("Validated"));
        json_t *body =
            json_pack("{s:s}", "odata.metadata", batch_metadata(r, "taskcounts/@Element"));
        json_object_update(body, tasks);
        return batch_reply_json(r, 200, body);
    }
    json_t *slots =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "active", (json_int_t)n.active_slots, "running",
                  (json_int_t)n.running_slots, "completed",
                  (json_int_t)n.succeeded_slots + (json_int_t)n.failed_slots, "succeeded",
                  (json_int_t)n.succeeded_slots, "failed", (json_int_t)n.failed_slots);
    return batch_reply_json(r, 200,
                            json_pack("{s:s, s:O, s:o}", "odata.metadata",
                                      batch_metadata(r, "taskcountsresult/@Element"), "taskCounts",
                                      tasks, "taskSlotCounts", slots));
}

/* --- adding ----------------------------------------------------------------------------------- */

/* Refuses the id of an existing job or schedule, because jobs and schedules share one set of
 * ids. */
static int check_new(struct request *r, const struct batch_job *j, struct err *e)
{
    struct batch_job there;
    struct batch_schedule schedule;
    int rc = st_batch_job_get(arm_of(r)->storage, &r->arena, j->account_id, j->name, &there, e);
    if (rc > 0 && there.state == BATCH_JOB_DELETING)
        return batch_job_goes_on(&there, e);
    if (rc > 0)
        return err_set(e, BATCH_JOB_EXISTS, NULL, "The specified job already exists.");
    if (rc == 0)
        rc = st_batch_schedule_get(arm_of(r)->storage, &r->arena, j->account_id, j->name, &schedule,
                                   e);
    if (rc > 0)
        return err_set(e, BATCH_JOB_SCHEDULE_WITH_SAME_ID_EXISTS, NULL,
                       "The job id '%s' is already the id of a job schedule; use another id.",
                       j->name);
    return rc < 0 ? -1 : batch_check_job_quota(r, e);
}

static int check_life(struct request *r, const char *doc, struct err *e)
{
    struct batch_job_spec spec;
    if (batch_job_decode(&r->arena, doc, NULL, &spec, e) < 0)
        return -1;
    /* for a seed, the seed itself checks this */
    if (spec.auto_life != BATCH_AUTO_OF_SCHEDULE || r->seeds)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "poolLifetimeOption",
                   "A pool with the lifetime of a job schedule can be created only for jobs of a "
                   "job schedule.");
}

struct replied *batch_jobs_add(struct request *r)
{
    struct err e;
    struct accepted given;
    if (request_accept(r, &schema_batch_job, SCHEMA_BATCH, &given, &e) < 0 ||
        batch_job_may_bring(r, given.doc, &e) < 0 || batch_check_own_ids(given.doc, &e) < 0 ||
        batch_check_job_packages(r, given.doc, &e) < 0 ||
        batch_check_run_as(r, given.doc, NULL, &e) < 0)
        return reply_err(r, &e);
    struct batch_job j = {.account_id = batch_account_of(r)->id,
                          .name = json_string_value(json_object_get(given.doc, "id")),
                          .doc = jsontext_in(&r->arena, given.doc),
                          .created_by = r->who ? r->who->object_id : NULL,
                          .state = BATCH_JOB_ACTIVE,
                          .state_us = r->now_us,
                          .created_us = r->now_us,
                          .updated_us = r->now_us,
                          .start_us = r->now_us,
                          .number = 1};
    if (check_life(r, j.doc, &e) < 0 || check_new(r, &j, &e) < 0 ||
        batch_take_mounts(r, &given, AUTO_POOL ".pool", NULL, &e) < 0 ||
        (batch_job_add(front_of_request(r), &r->arena, &j, given.secrets_text, &e) < 0 &&
         batch_not_accepted(&e) < 0))
        return reply_err(r, &e);
    batch_job_changed(front_of_request(r), j.id);
    /* Azure returns this path for every job id */
    return batch_reply_written(r, 201, "/jobs/job-1", j.updated_us);
}

/* --- changing --------------------------------------------------------------------------------- */

struct job_change {
    struct batch_front *f;
    const struct batch_job *j;
    const char *secrets;
};

static int write_change(struct storage *st, void *ctx, struct err *e)
{
    const struct job_change *k = ctx;
    (void)st;
    return batch_job_update(k->f, k->j, k->secrets, e);
}

/* Refuses a move to another pool while tasks are running. */
static int check_move(struct request *r, const struct batch_job *was, const struct batch_job *now,
                      struct err *e)
{
    if (strcasecmp(was->pool_name, now->pool_name) == 0)
        return 0;
    if (was->state == BATCH_JOB_DISABLED)
        return batch_check_run_in(r, now->pool_name, e);
    return err_set(
        e, BATCH_JOB_NOT_DISABLED, NULL,
        "The pool of the job %s can be changed only while the job is disabled; it is %s.",
        was->name, enum_to_name(batch_job_state_names, (int)was->state));
}

/* onAllTasksComplete of a job cannot change from terminatejob back to noaction. */
static int check_on_all(const struct batch_job *was, const struct batch_job *now, struct err *e)
{
    if (was->on_all != BATCH_ALL_TERMINATE || now->on_all == BATCH_ALL_TERMINATE)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "onAllTasksComplete",
                   "onAllTasksComplete of the job %s is terminatejob; it cannot become noaction.",
                   was->name);
}

/* Of an auto pool only keepAlive can change. It is stored with the pool's specification. */
static int keep_auto_pool(struct request *r, const struct batch_job *j, json_t *stored,
                          const json_t *doc, struct err *e)
{
    json_t *was = batch_part(stored, AUTO_POOL);
    const json_t *now = batch_part(doc, AUTO_POOL);
    if (!json_object_get(doc, "poolInfo") || (!was && !now))
        return 0;
    if (!was || !now || j->auto_life != BATCH_AUTO_OF_JOB)
        return err_set(e, ERR_INVALID_PROPERTY, "poolInfo",
                       "In autoPoolSpecification only keepAlive can be changed, and only if "
                       "poolLifetimeOption is job.");
    const json_t *keep = json_object_get(now, "keepAlive");
    if (!json_equal(json_object_get(was, "keepAlive"), keep) && batch_job_may_bring(r, doc, e) < 0)
        return -1;
    json_object_set(was, "keepAlive", (json_t *)keep);
    return 0;
}

/* Replaces the properties in the body. `whole`: also resets the properties that the body lacks. */
static struct replied *change(struct request *r, const struct schema *s, bool whole)
{
    struct batch_job j, now;
    struct err e;
    struct accepted given;
    const char *sealed;
    if (find_batch_job(r, &j, &e) < 0 || batch_conditions(r, j.updated_us, &e) < 0 ||
        batch_job_goes_on(&j, &e) < 0 ||
        st_batch_job_secrets(arm_of(r)->storage, &r->arena, j.id, &sealed, &e) < 0 ||
        request_accept(r, s, SCHEMA_BATCH, &given, &e) < 0)
        return reply_err(r, &e);
    json_t *stored = request_own(r, json_loads(j.doc, 0, NULL));
    if (whole)
        json_object_del(stored, "metadata");
    int rc = keep_auto_pool(r, &j, stored, given.doc, &e);
    if (batch_part(given.doc, AUTO_POOL))
        json_object_del(given.doc, "poolInfo");
    json_object_update(stored, given.doc);
    now = j;
    now.doc = jsontext_in(&r->arena, stored);
    now.updated_us = batch_modified(r, j.updated_us);
    struct job_change k = {front_of_request(r), &now, sealed};
    if (rc < 0 || batch_job_columns(&r->arena, &now, &e) < 0 || check_on_all(&j, &now, &e) < 0 ||
        check_move(r, &j, &now, &e) < 0 || st_whole(arm_of(r)->storage, write_change, &k, &e) < 0)
        return reply_err(r, &e);
    batch_job_changed(front_of_request(r), j.id);
    return batch_reply_written(r, 200, batch_job_path(r, j.name), now.updated_us);
}

struct replied *batch_jobs_patch(struct request *r)
{
    return change(r, &schema_batch_job_patch, false);
}

struct replied *batch_jobs_update(struct request *r)
{
    return change(r, &schema_batch_job_update, true);
}

/* --- actions ---------------------------------------------------------------------------------- */

struct action {
    struct batch_front *f;
    const struct batch_job *j;
    int64_t now_us;
    enum batch_disable how;
    const char *reason;
};

static int disable(struct storage *st, void *ctx, struct err *e)
{
    const struct action *k = ctx;
    (void)st;
    return batch_job_disable(k->f, k->j, k->how, k->now_us, e);
}

static int enable(struct storage *st, void *ctx, struct err *e)
{
    const struct action *k = ctx;
    (void)st;
    return batch_job_enable(k->f, k->j, k->now_us, e);
}

static int terminate(struct storage *st, void *ctx, struct err *e)
{
    const struct action *k = ctx;
    (void)st;
    return batch_job_terminate(k->f, k->j, k->reason, true, k->now_us, e);
}

static int delete_job(struct storage *st, void *ctx, struct err *e)
{
    const struct action *k = ctx;
    (void)st;
    return batch_job_delete(k->f, k->j, k->now_us, e);
}

/* Whether the event disables a job that is disabled already, or is being disabled. */
static bool disables_again(const struct batch_job *j, enum batch_job_event ev)
{
    return ev == BATCH_JOB_EV_DISABLE &&
           (j->state == BATCH_JOB_DISABLING || j->state == BATCH_JOB_DISABLED);
}

/* Finds the job and checks whether the event is possible in its state. */
static int begin(struct request *r, enum batch_job_event ev, int kind, struct batch_job *j,
                 struct action *k, struct err *e)
{
    if (find_batch_job(r, j, e) < 0 || batch_conditions(r, j->updated_us, e) < 0)
        return -1;
    if (batch_job_next(j->state, ev) == 0 && !disables_again(j, ev)) {
        if (ev != BATCH_JOB_EV_DELETE && batch_job_goes_on(j, e) < 0)
            return -1;
        return err_set(e, kind, NULL, "The job %s is %s.", j->name,
                       enum_to_name(batch_job_state_names, (int)j->state));
    }
    *k = (struct action){
        .f = front_of_request(r), .j = j, .now_us = batch_modified(r, j->updated_us)};
    return 0;
}

static struct replied *act(struct request *r, const struct batch_job *j, st_tx_fn fn,
                           struct action *k, const char *name)
{
    struct err e;
    const char *path = batch_job_path(r, j->name);
    if (st_whole(arm_of(r)->storage, fn, k, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_written(r, 202, name ? arena_concat(&r->arena, path, name) : path,
                               name ? k->now_us : 0);
}

struct replied *batch_jobs_disable(struct request *r)
{
    struct batch_job j = {0};
    struct action k = {0};
    struct err e;
    struct accepted given;
    if (request_accept(r, &schema_batch_job_disable, SCHEMA_BATCH, &given, &e) < 0)
        return reply_err(r, &e);
    int how = enum_from_name(batch_disable_names,
                             json_string_value(json_object_get(given.doc, "disableTasks")));
    if (begin(r, BATCH_JOB_EV_DISABLE, BATCH_JOB_NOT_ACTIVE, &j, &k, &e) < 0)
        return reply_err(r, &e);
    if (j.state == BATCH_JOB_DISABLED) /* so the time of the last change stays */
        k.now_us = j.updated_us;
    k.how = (enum batch_disable)how;
    return act(r, &j, disable, &k, "/disable");
}

struct replied *batch_jobs_enable(struct request *r)
{
    struct batch_job j = {0};
    struct action k = {0};
    struct err e;
    if (begin(r, BATCH_JOB_EV_ENABLE, BATCH_JOB_NOT_DISABLED, &j, &k, &e) < 0)
        return reply_err(r, &e);
    return act(r, &j, enable, &k, "/enable");
}

struct replied *batch_jobs_terminate(struct request *r)
{
    struct batch_job j = {0};
    struct action k = {0};
    struct err e;
    struct accepted given;
    if (request_accept(r, &schema_batch_job_terminate, SCHEMA_BATCH, &given, &e) < 0)
        return reply_err(r, &e);
    const char *reason = json_string_value(json_object_get(given.doc, "terminateReason"));
    if (begin(r, BATCH_JOB_EV_TERMINATE, BATCH_JOB_BEING_TERMINATED, &j, &k, &e) < 0)
        return reply_err(r, &e);
    k.reason = reason;
    return act(r, &j, terminate, &k, "/terminate");
}

struct replied *batch_jobs_delete(struct request *r)
{
    struct batch_job j = {0};
    struct action k = {0};
    struct err e;
    if (begin(r, BATCH_JOB_EV_DELETE, BATCH_JOB_BEING_DELETED, &j, &k, &e) < 0)
        return reply_err(r, &e);
    return act(r, &j, delete_job, &k, NULL);
}
