/* SPDX-License-Identifier: MIT
 *
 * Job schedules: add, show, list, change, disable, enable, terminate, delete. A schedule's document
 * contains the job specification; columns hold its times. Memory is the request's. On the loop's
 * thread.
 */
#include <string.h>

#include "api/http/accept.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/pool_mounts.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "api/plane/batch/run_as.h"
#include "api/plane/batch/stats.h"
#include "lib/jsontext.h"
#include "model/batch/tables_schedule.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/schedules.h"
#include "storage/storage.h"

#define POOL "jobSpecification.poolInfo.autoPoolSpecification.pool"

static const char *path_of(struct request *r, const char *name)
{
    return arena_concat(&r->arena, "/jobschedules/", batch_segment(r, name));
}

static int find(struct request *r, struct batch_schedule *out, struct err *e)
{
    int rc = st_batch_schedule_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id,
                                   request_param(r, "jobScheduleId"), out, e);
    if (rc == 0)
        return err_set(e, BATCH_JOB_SCHEDULE_NOT_FOUND, NULL, "There is no job schedule '%.64s'.",
                       request_param(r, "jobScheduleId"));
    return rc < 0 ? -1 : 0;
}

/* --- showing ---------------------------------------------------------------------------------- */

static const char *state_text(int state)
{
    return state ? enum_to_name(batch_schedule_state_names, state) : NULL;
}

static void render(struct request *r, const struct batch_schedule *s, schema_set set,
                   struct strbuf *out)
{
    const char *job = s->number ? arena_printf(&r->arena, "%s:job-%d", s->name, s->number) : NULL;
    const struct over recent[] = {
        SHOW_TEXT("id", job),
        SHOW_TEXT("url", job ? batch_url(r, batch_job_path(r, job)) : NULL),
    };
    const struct over run[] = {
        SHOW_TEXT("nextRunTime", batch_time_text(r, s->next_us)),
        SHOW_OBJECT("recentJob", recent),
        SHOW_TEXT("endTime", batch_time_text(r, s->end_us)),
    };
    const struct over over[] = {
        SHOW_TEXT("url", batch_url(r, path_of(r, s->name))),
        SHOW_TEXT("eTag", batch_etag_text(r, s->updated_us)),
        SHOW_TEXT("lastModified", batch_time_text(r, s->updated_us)),
        SHOW_TEXT("creationTime", batch_time_text(r, s->created_us)),
        SHOW_TEXT("state", state_text((int)s->state)),
        SHOW_TEXT("stateTransitionTime", batch_time_text(r, s->state_us)),
        SHOW_TEXT("previousState", state_text((int)s->was)),
        SHOW_TEXT("previousStateTransitionTime", batch_time_text(r, s->was_us)),
        SHOW_OBJECT("executionInfo", run),
        SHOW_JSON("stats", batch_schedule_stats(r, s, path_of(r, s->name))),
    };
    schema_render(out, &(struct rendering){.schema = &schema_batch_schedule,
                                           .version = r->version,
                                           .stored = s->doc,
                                           SHOW_LIST(over),
                                           .set = set});
    arm_show_secrets(r, out, s->id, st_batch_schedule_secrets);
}

struct replied *schedules_get(struct request *r)
{
    struct batch_schedule s;
    struct strbuf out = STRBUF_INIT;
    schema_set set;
    struct err e;
    if (find(r, &s, &e) < 0 || batch_select(r, &schema_batch_schedule, &set, &e) < 0 ||
        batch_conditions(r, s.updated_us, &e) < 0)
        return reply_err(r, &e);
    render(r, &s, set, &out);
    batch_etag(r, s.updated_us);
    return batch_reply_element(r, "jobschedules/@Element", &out);
}

struct replied *schedules_exists(struct request *r)
{
    struct batch_schedule s;
    struct err e;
    if (find(r, &s, &e) < 0 || batch_conditions(r, s.updated_us, &e) < 0)
        return reply_err(r, &e);
    batch_etag(r, s.updated_us);
    return reply_empty(r, 200);
}

static const struct batch_filter filters[ST_SCHEDULE_PROPERTIES] = {
    [ST_SCHEDULE_ID] = {"id", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    [ST_SCHEDULE_STATE] = {"state", BATCH_BY_STATE, FILTER_EQUAL, batch_schedule_state_names},
    [ST_SCHEDULE_STATE_TIME] = {"stateTransitionTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [ST_SCHEDULE_CREATED] = {"creationTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [ST_SCHEDULE_MODIFIED] = {"lastModified", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [ST_SCHEDULE_ENDED] = {"executionInfo/endTime", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [ST_SCHEDULE_UNTIL] = {"schedule/doNotRunUntil", BATCH_BY_TIME, FILTER_ORDER, NULL},
    [ST_SCHEDULE_AFTER] = {"schedule/doNotRunAfter", BATCH_BY_TIME, FILTER_ORDER, NULL},
};

static int fetch(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e)
{
    struct batch_schedule_rows found = {NULL, 0};
    int rc = st_batch_schedule_list(arm_of(l->r)->storage, &l->r->arena, l->owner, l->filter,
                                    &(struct st_names){.after = of->after, .limit = of->limit},
                                    &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    (void)e;
    render(l->r, row, l->set, out);
    return 0;
}

struct replied *schedules_list(struct request *r)
{
    static const struct batch_rows rows = {.list = {.fragment = "jobschedules",
                                                    .filters = filters,
                                                    .n_filters = ST_SCHEDULE_PROPERTIES,
                                                    .schema = &schema_batch_schedule},
                                           BATCH_ROWS_OF(struct batch_schedule),
                                           .fetch = fetch,
                                           .render = render_row};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}

struct replied *schedules_list_jobs(struct request *r)
{
    struct batch_schedule s;
    struct err e;
    return find(r, &s, &e) < 0 ? reply_err(r, &e) : batch_jobs_of_schedule(r, s.id);
}

/* --- adding and changing ---------------------------------------------------------------------- */

struct write {
    struct batch_schedule *s;
    const char *secrets;
};

/* Reads the values of columns from the document. */
static void read_doc(struct request *r, struct batch_schedule *s)
{
    struct batch_times t;
    batch_times_read(s->doc, &t);
    s->until_us = t.until_us;
    s->after_us = t.after_us;
    if (s->number == 0)
        s->next_us = r->now_us;
    else if (t.interval_us == 0)
        s->next_us = 0;
    else if (s->next_us == 0 || s->next_us > r->now_us + t.interval_us)
        s->next_us = r->now_us + t.interval_us;
    if (s->next_us > 0 && s->next_us < t.until_us)
        s->next_us = t.until_us;
}

static int take_body(struct request *r, const struct schema *schema, struct accepted *given,
                     struct err *e)
{
    if (request_accept(r, schema, SCHEMA_BATCH, given, e) < 0)
        return -1;
    const json_t *job = json_object_get(given->doc, "jobSpecification");
    return batch_job_may_bring(r, job, e) < 0 || batch_check_own_ids(job, e) < 0 ||
                   batch_check_job_packages(r, job, e) < 0
               ? -1
               : batch_check_run_as(r, job, NULL, e);
}

static int goes_on(const struct batch_schedule *s, struct err *e)
{
    static const int kinds[] = {[BATCH_SCHEDULE_COMPLETED] = BATCH_JOB_SCHEDULE_COMPLETED,
                                [BATCH_SCHEDULE_TERMINATING] = BATCH_JOB_SCHEDULE_BEING_TERMINATED,
                                [BATCH_SCHEDULE_DELETING] = BATCH_JOB_SCHEDULE_BEING_DELETED};
    if (s->state == BATCH_SCHEDULE_ACTIVE || s->state == BATCH_SCHEDULE_DISABLED)
        return 0;
    return err_set(e, kinds[s->state], NULL, "The job schedule %s is %s.", s->name,
                   state_text((int)s->state));
}

/* Refuses the id of an existing job or schedule, because jobs and schedules share one set of
 * ids. */
static int check_new(struct request *r, const char *name, struct err *e)
{
    struct batch_schedule there;
    struct batch_job job;
    int64_t account = batch_account_of(r)->id;
    int rc = st_batch_schedule_get(arm_of(r)->storage, &r->arena, account, name, &there, e);
    if (rc > 0 && there.state == BATCH_SCHEDULE_DELETING)
        return goes_on(&there, e);
    if (rc > 0)
        return err_set(e, BATCH_JOB_SCHEDULE_EXISTS, NULL, "The job schedule '%s' exists already.",
                       name);
    if (rc == 0)
        rc = st_batch_job_get(arm_of(r)->storage, &r->arena, account, name, &job, e);
    if (rc > 0)
        return err_set(e, BATCH_JOB_WITH_SAME_ID_EXISTS, NULL,
                       "The job schedule id '%s' is already the id of a job; use another id.",
                       name);
    return rc < 0 ? -1 : batch_check_job_quota(r, e);
}

static int insert(struct storage *st, void *ctx, struct err *e)
{
    const struct write *w = ctx;
    return st_batch_schedule_insert(st, w->s, w->secrets, &w->s->id, e);
}

struct replied *schedules_add(struct request *r)
{
    struct accepted given;
    struct err e;
    struct batch_schedule s = {.account_id = batch_account_of(r)->id,
                               .created_by = r->who ? r->who->object_id : NULL,
                               .state = BATCH_SCHEDULE_ACTIVE,
                               .state_us = r->now_us,
                               .created_us = r->now_us,
                               .updated_us = r->now_us};
    struct write w = {.s = &s};
    if (take_body(r, &schema_batch_schedule, &given, &e) < 0)
        return reply_err(r, &e);
    w.secrets = given.secrets_text;
    s.name = json_string_value(json_object_get(given.doc, "id"));
    s.doc = jsontext_in(&r->arena, given.doc);
    read_doc(r, &s);
    if ((batch_account_accepts(batch_of(r)->front, s.account_id, &e) < 0 &&
         batch_not_accepted(&e) < 0) ||
        check_new(r, s.name, &e) < 0 || batch_take_mounts(r, &given, POOL, NULL, &e) < 0 ||
        st_whole(arm_of(r)->storage, insert, &w, &e) < 0)
        return reply_err(r, &e);
    batch_schedule_changed(batch_of(r)->front, s.id);
    return batch_reply_written(r, 201, path_of(r, s.name), s.updated_us);
}

/* The schedule's secrets after the change. All of them belong to the job specification, so a new
 * specification replaces all. */
static const char *secrets_after(struct request *r, const struct accepted *given,
                                 const struct batch_schedule *s, int *rc, struct err *e)
{
    const char *present = NULL;
    if (json_object_get(given->doc, "jobSpecification"))
        return given->secrets_text;
    *rc = st_batch_schedule_secrets(arm_of(r)->storage, &r->arena, s->id, &present, e) < 0 ? -1 : 0;
    return present;
}

static int update(struct storage *st, void *ctx, struct err *e)
{
    const struct write *w = ctx;
    return st_batch_schedule_update(st, w->s, w->secrets, e);
}

/* Replaces the properties in the body. `whole`: also resets the properties that the body lacks. */
static struct replied *change(struct request *r, const struct schema *schema, bool whole)
{
    struct batch_schedule s;
    struct write w = {.s = &s};
    struct accepted given;
    struct err e;
    int rc = 0;
    if (find(r, &s, &e) < 0 || batch_conditions(r, s.updated_us, &e) < 0 || goes_on(&s, &e) < 0 ||
        take_body(r, schema, &given, &e) < 0)
        return reply_err(r, &e);
    json_t *doc = request_own(r, json_loads(s.doc, 0, NULL));
    if (whole)
        json_object_del(doc, "metadata");
    json_object_update(doc, given.doc);
    w.secrets = secrets_after(r, &given, &s, &rc, &e);
    s.doc = jsontext_in(&r->arena, doc);
    s.updated_us = batch_modified(r, s.updated_us);
    read_doc(r, &s);
    if (rc < 0 || batch_take_mounts(r, &given, POOL, NULL, &e) < 0 ||
        st_whole(arm_of(r)->storage, update, &w, &e) < 0)
        return reply_err(r, &e);
    batch_schedule_changed(batch_of(r)->front, s.id);
    return batch_reply_written(r, 200, path_of(r, s.name), s.updated_us);
}

struct replied *schedules_patch(struct request *r)
{
    return change(r, &schema_batch_schedule_patch, false);
}

struct replied *schedules_update(struct request *r)
{
    return change(r, &schema_batch_schedule_update, true);
}

/* --- actions ---------------------------------------------------------------------------------- */

static int move(struct storage *st, void *ctx, struct err *e)
{
    return st_batch_schedule_move(st, ctx, e);
}

/* Sets the state `to`. `from`: the states in which this is possible, as bits 1 << state. */
static struct replied *act(struct request *r, unsigned from, enum batch_schedule_state to,
                           int status, const char *name)
{
    struct batch_schedule s;
    struct err e;
    if (find(r, &s, &e) < 0 || batch_conditions(r, s.updated_us, &e) < 0)
        return reply_err(r, &e);
    const char *path = arena_concat(&r->arena, path_of(r, s.name), name);
    if (!(from >> s.state & 1) && goes_on(&s, &e) < 0)
        return reply_err(r, &e);
    struct st_schedule_move m = {.id = s.id,
                                 .from = s.state,
                                 .to = to,
                                 .now_us = batch_modified(r, s.updated_us),
                                 .by_user = true};
    bool moves = s.state != to;
    if (moves && st_whole(arm_of(r)->storage, move, &m, &e) < 0)
        return reply_err(r, &e);
    batch_schedule_changed(batch_of(r)->front, s.id);
    int64_t modified_us = moves ? m.now_us : s.updated_us;
    return batch_reply_written(r, status, path, to == BATCH_SCHEDULE_DELETING ? 0 : modified_us);
}

#define IN(state) (1U << BATCH_SCHEDULE_##state)

struct replied *schedules_disable(struct request *r)
{
    return act(r, IN(ACTIVE) | IN(DISABLED), BATCH_SCHEDULE_DISABLED, 204, "/disable");
}

struct replied *schedules_enable(struct request *r)
{
    return act(r, IN(ACTIVE) | IN(DISABLED), BATCH_SCHEDULE_ACTIVE, 204, "/enable");
}

struct replied *schedules_terminate(struct request *r)
{
    return act(r, IN(ACTIVE) | IN(DISABLED), BATCH_SCHEDULE_TERMINATING, 202, "/terminate");
}

struct replied *schedules_delete(struct request *r)
{
    return act(r, IN(ACTIVE) | IN(DISABLED) | IN(COMPLETED) | IN(TERMINATING),
               BATCH_SCHEDULE_DELETING, 202, "");
}
