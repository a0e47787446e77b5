/* SPDX-License-Identifier: MIT
 *
 * Adds tasks, one by one and in collections.
 */
#include <stdio.h>
#include <string.h>

#include "api/http/accept.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/run_as.h"
#include "api/plane/batch/tasks.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "model/batch/tables.h"
#include "scheduler/front/batch/batch.h"
#include "scheduler/front/batch/tasks.h"

#define COLLECTION_MAX 100
/* The most bytes of all ids on which a task depends, and the most ranges of such ids. */
#define DEPENDS_BYTES  64000
#define DEPENDS_RANGES 1000

/* The job to which tasks are added. */
struct into {
    struct batch_job j;
    struct batch_job_spec spec;
};

struct new_task {
    struct batch_task t;
    const char *secrets;
    struct batch_waits waits;
};

static int find_into(struct request *r, struct into *out, struct err *e)
{
    if (find_batch_job(r, &out->j, e) < 0 || batch_job_goes_on(&out->j, e) < 0)
        return -1;
    return batch_job_decode(&r->arena, out->j.doc, NULL, &out->spec, e);
}

/* --- one task --------------------------------------------------------------------------------- */

static int read_names(struct request *r, const json_t *list, struct batch_waits *out, struct err *e)
{
    const char **names = arena_alloc(&r->arena, (json_array_size(list) + 1) * sizeof *names);
    size_t bytes = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        names[i] = arena_strdup(&r->arena, json_string_value(json_array_get(list, i)));
        bytes += strlen(names[i]);
    }
    out->names = names;
    out->n_names = json_array_size(list);
    if (bytes <= DEPENDS_BYTES)
        return 0;
    return err_set(e, BATCH_TASK_DEPENDENCY_LIST_TOO_LONG, "dependsOn",
                   "The ids in dependsOn.taskIds have %zu characters; they may have %d.", bytes,
                   DEPENDS_BYTES);
}

static int read_ranges(struct request *r, const json_t *list, struct batch_waits *out,
                       struct err *e)
{
    size_t n = json_array_size(list);
    struct batch_range *ranges = arena_alloc(&r->arena, (n + 1) * sizeof *ranges);
    if (n > DEPENDS_RANGES)
        return err_set(e, BATCH_TASK_DEPENDENCY_RANGES_TOO_LONG, "dependsOn",
                       "dependsOn.taskIdRanges has %zu ranges; it may have %d.", n, DEPENDS_RANGES);
    for (size_t i = 0; i < n; i++) {
        const json_t *range = json_array_get(list, i);
        ranges[i] = (struct batch_range){json_integer_value(json_object_get(range, "start")),
                                         json_integer_value(json_object_get(range, "end"))};
    }
    out->ranges = ranges;
    out->n_ranges = n;
    return 0;
}

static int read_waits(struct request *r, const struct into *in, const json_t *doc,
                      struct batch_waits *out, struct err *e)
{
    const json_t *depends = json_object_get(doc, "dependsOn");
    *out = (struct batch_waits){0};
    if (!depends)
        return 0;
    if (!in->j.depends)
        return err_set(e, BATCH_TASK_DEPENDENCIES_NOT_SPECIFIED_ON_JOB, "dependsOn",
                       "The job %s was added without usesTaskDependencies.", in->j.name);
    if (read_names(r, json_object_get(depends, "taskIds"), out, e) < 0)
        return -1;
    return read_ranges(r, json_object_get(depends, "taskIdRanges"), out, e);
}

/* A task without a container must have a command. */
static int check_command(const json_t *doc, struct err *e)
{
    const json_t *command = json_object_get(doc, "commandLine");
    if (json_object_get(doc, "containerSettings"))
        return 0;
    return batch_check_command(command, "commandLine", e);
}

static int check_action(const char *path, const json_t *options, struct err *e)
{
    if (!json_object_get(options, "jobAction"))
        return 0;
    struct strbuf target = STRBUF_INIT;
    strbuf_printf(&target, "exitConditions.%s.jobAction", path);
    err_set(e, ERR_INVALID_PROPERTY, target.s,
            "A task may have a jobAction only if onTaskFailure of its job is "
            "performexitoptionsjobaction.");
    strbuf_free(&target);
    return -1;
}

/* Refuses exit conditions with job actions unless onTaskFailure of the job is
 * performexitoptionsjobaction. */
static int check_actions(const struct into *in, const json_t *doc, struct err *e)
{
    static const char *const single[] = {"preProcessingError", "fileUploadError", "default"};
    static const char *const lists[] = {"exitCodes", "exitCodeRanges"};
    const json_t *exits = json_object_get(doc, "exitConditions");
    char path[64];
    if (!exits || in->j.on_failure == BATCH_FAILURE_EXIT_OPTIONS)
        return 0;
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (check_action(single[i], json_object_get(exits, single[i]), e) < 0)
            return -1;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const json_t *list = json_object_get(exits, lists[i]);
        for (size_t k = 0; k < json_array_size(list); k++) {
            snprintf(path, sizeof path, "%s[%zu].exitOptions", lists[i], k);
            if (check_action(path, json_object_get(json_array_get(list, k), "exitOptions"), e) < 0)
                return -1;
        }
    }
    return 0;
}

/* Refuses a multi-instance task that takes several slots, because pools for such tasks have one
 * slot per node. */
static int check_slots(const struct batch_task *t, struct err *e)
{
    if (t->instances <= 1 || t->slots == 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "requiredSlots",
                   "requiredSlots is %d, but must be 1 for a multi-instance task.", t->slots);
}

static int fill(struct request *r, const struct into *in, const struct accepted *given,
                struct new_task *out, struct err *e)
{
    json_t *doc = given->doc;
    const json_t *multi = json_object_get(doc, "multiInstanceSettings"),
                 *slots = json_object_get(doc, "requiredSlots");
    json_t *limits = json_object_get(doc, "constraints");
    if (!json_object_get(limits, "maxTaskRetryCount"))
        json_object_set_new(limits, "maxTaskRetryCount", json_integer(in->spec.limits.retries));
    out->t = (struct batch_task){
        .job_id = in->j.id,
        .name = arena_strdup(&r->arena, json_string_value(json_object_get(doc, "id"))),
        .doc = jsontext_in(&r->arena, doc),
        .state = BATCH_TASK_ACTIVE,
        .state_us = r->now_us,
        .created_us = r->now_us,
        .updated_us = r->now_us,
        .slots = slots ? (int)json_integer_value(slots) : 1,
        .instances =
            multi ? (int)json_integer_value(json_object_get(multi, "numberOfInstances")) : 1,
        .job_name = in->j.name};
    out->secrets = given->secrets_text;
    const struct batch_task_spec *prep = in->spec.preparation, *release = in->spec.release;
    if (batch_check_task_id(prep ? prep->id : NULL, release ? release->id : NULL, out->t.name, e) <
            0 ||
        check_slots(&out->t, e) < 0 || check_command(doc, e) < 0 || check_actions(in, doc, e) < 0 ||
        batch_check_packages(r, json_object_get(doc, "applicationPackageReferences"), e) < 0)
        return -1;
    return read_waits(r, in, doc, &out->waits, e);
}

static int accept_task(struct request *r, const struct into *in, const json_t *body,
                       struct new_task *out, struct err *e)
{
    struct batch_task there;
    struct accepted given;
    if (request_accept_json(r, &schema_batch_task, (enum api_version)r->version, SCHEMA_BATCH, body,
                            &given, e) < 0 ||
        fill(r, in, &given, out, e) < 0 || batch_check_run_as(r, given.doc, in->j.pool_name, e) < 0)
        return -1;
    int rc = st_batch_task_get(arm_of(r)->storage, &r->arena, in->j.id, out->t.name, &there, e);
    if (rc > 0 && there.fate == BATCH_FATE_DELETE)
        return err_set(e, BATCH_TASK_EXISTS, NULL,
                       "The task %s is being deleted; its id is free once its process has ended.",
                       there.name);
    if (rc > 0)
        return err_set(e, BATCH_TASK_EXISTS, NULL, "The specified task already exists.");
    return rc;
}

static int insert(struct storage *st, void *ctx, struct err *e)
{
    struct new_task *k = ctx;
    return batch_task_add(st, &k->t, k->secrets, &k->waits, e);
}

struct replied *batch_tasks_add(struct request *r)
{
    struct into in;
    struct new_task k;
    struct err e;
    if (find_into(r, &in, &e) < 0 || accept_task(r, &in, r->body, &k, &e) < 0 ||
        st_whole(arm_of(r)->storage, insert, &k, &e) < 0)
        return reply_err(r, &e);
    batch_job_has_more(batch_of(r)->front, in.j.id);
    return batch_reply_written(r, 201, batch_task_path(r, in.j.name, k.t.name), k.t.updated_us);
}

/* --- collections ------------------------------------------------------------------------------ */

static json_t *added(struct request *r, const struct into *in, const struct new_task *k)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "status", "Success", "taskId", k->t.name, "eTag",
                     batch_etag_text(r, k->t.updated_us), "lastModified",
                     batch_time_text(r, k->t.updated_us), "location",
                     batch_url(r, batch_task_path(r, in->j.name, k->t.name)));
}

static json_t *refused(struct request *r, const json_t *body, const struct err *e)
{
    const char *id = json_string_value(json_object_get(body, "id"));
    const struct error_words words = batch_words((int)e->code);
    return json_pack("{s:s, s:s, s:o}", "status",
                     words.status >= 500 ? "ServerError" : "ClientError", "taskId", id ? id : "",
                     "error", batch_error_json(r, words, e));
}

/* Adds one task of a collection, and makes its entry in the reply. The entries after a refused one
 * are still added. */
static json_t *add_entry(struct request *r, const struct into *in, const json_t *body)
{
    struct new_task k;
    struct err e;
    batch_grant(r)->values = NULL; /* forgets the error values of the previous entry */
    if (accept_task(r, in, body, &k, &e) < 0 ||
        st_tx(arm_of(r)->storage, "add task", insert, &k, &e) < 0)
        return refused(r, body, &e);
    return added(r, in, &k);
}

static int check_collection(const json_t *list, struct err *e)
{
    if (!json_is_array(list))
        return err_set(e, ERR_MISSING_PROPERTY, "value", "value is missing; it must be an array");
    if (json_array_size(list) <= COLLECTION_MAX)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "value",
                   "value has %zu tasks; a collection may have %d", json_array_size(list),
                   COLLECTION_MAX);
}

struct replied *batch_tasks_add_collection(struct request *r)
{
    struct into in;
    struct err e;
    const json_t *list = json_object_get(r->body, "value");
    if (check_collection(list, &e) < 0 || find_into(r, &in, &e) < 0)
        return reply_err(r, &e);
    json_t *results = json_array();
    for (size_t i = 0; i < json_array_size(list); i++)
        json_array_append_new(results, add_entry(r, &in, json_array_get(list, i)));
    batch_job_has_more(batch_of(r)->front, in.j.id);
    return batch_reply_json(r, 200,
                            json_pack("{s:s, s:o}", "odata.metadata",
                                      batch_metadata(r, "taskaddresult"), "value", results));
}
