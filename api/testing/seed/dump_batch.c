/* SPDX-License-Identifier: MIT
 *
 * Azure Batch in a dump: accounts, certificates, applications, pools, schedules, jobs and tasks.
 */
#include "api/plane/batch/pfx.h"
#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/batch/tables_schedule.h"
#include "model/span.h"
#include "storage/batch_jobs.h"
#include "storage/batch_schedules.h"
#include "storage/packages/packages.h"
#include "storage/seeding.h"
#include "storage/storage.h"

static json_t *document(struct dumping *d, const struct schema *schema, const char *doc,
                        const char *secrets)
{
    return dump_doc(d, &(struct dumped_doc){.schema = schema,
                                            .version = BATCH_19_0,
                                            .doc = doc,
                                            .secrets = secrets,
                                            .but = "id"}); /* it stands by its name */
}

/* What changes by itself is in columns, and takes the place of what was given. */
static void add_size(const struct batch_pool *p, json_t *body)
{
    char every[SPAN_SIZE];
    if (!p->scaling.enabled) {
        json_object_set_new(body, "targetDedicatedNodes", json_integer(p->size.dedicated));
        json_object_set_new(body, "targetLowPriorityNodes", json_integer(p->size.low));
        return;
    }
    span_text(p->scaling.interval_us, every);
    json_object_set_new(body, "enableAutoScale", json_true());
    json_object_set_new(body, "autoScaleFormula", jsontext_string(p->scaling.formula));
    json_object_set_new(body, "autoScaleEvaluationInterval", json_string(every));
}

static int pools(struct dumping *d, const struct batch_account *b, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_pool *rows;
    size_t n;
    if (st_batch_pool_list(st, d->a, b->id, NULL, "", DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].state == BATCH_POOL_DELETING)
            continue;
        if (st_batch_pool_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        json_t *body = document(d, &schema_batch_pool, rows[i].doc, secrets);
        add_size(&rows[i], body);
        dump_put(into, "pools", rows[i].name, body);
    }
    return 0;
}

static json_t *task_state(const struct batch_task *t)
{
    enum batch_task_state state =
        t->state == BATCH_TASK_PREPARING ? BATCH_TASK_ACTIVE : t->state; /* it begins again */
    json_t *s = json_pack("{s:s}", "state", enum_to_name(batch_task_state_names, (int)state));
    if (state == BATCH_TASK_ACTIVE)
        return s;
    dump_time(s, "startTime", t->start_us);
    dump_time(s, "endTime", t->end_us);
    if (t->has_exit_code)
        json_object_set_new(s, "exitCode", json_integer(t->exit_code));
    if (t->failure)
        json_object_set_new(s, "failureInfo", dump_json(t->failure));
    return s;
}

/* Those that a seed told of are rows. */
static int files(struct dumping *d, const struct batch_task *t, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_seeded_file *rows, f;
    size_t n;
    if (t->files != BATCH_FILES_THERE)
        return 0;
    if (t->node_name)
        return dump_task_add(d, t, into, e);
    if (st_batch_file_list(st, d->a, t->id, &rows, &n, e) < 0)
        return -1;
    json_t *all = json_object();
    json_object_set_new(into, "files", all);
    for (size_t i = 0; i < n; i++) {
        if (st_batch_file_get(st, d->a, t->id, rows[i].path, &f, e) < 0)
            return -1;
        json_object_set_new(all, f.path, seed_file_value(f.bytes, (size_t)f.size));
    }
    return 0;
}

static int tasks(struct dumping *d, const struct batch_job *j, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_task *rows;
    size_t n;
    if (st_batch_task_list(st, d->a, j->id, NULL, NULL, NULL, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].manager) /* its job's document makes it */
            continue;
        if (st_batch_task_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        json_t *body = document(d, &schema_batch_task, rows[i].doc, secrets);
        json_object_set_new(body, "state", task_state(&rows[i]));
        dump_put(into, "tasks", rows[i].name, body);
        if (files(d, &rows[i], body, e) < 0)
            return -1;
    }
    return 0;
}

/* A state on the way to another is that other. */
static enum batch_job_state settled(enum batch_job_state s)
{
    switch (s) {
    case BATCH_JOB_DISABLING:
    case BATCH_JOB_DISABLED:
        return BATCH_JOB_DISABLED;
    case BATCH_JOB_TERMINATING:
    case BATCH_JOB_COMPLETED:
        return BATCH_JOB_COMPLETED;
    case BATCH_JOB_ACTIVE:
    case BATCH_JOB_ENABLING:
    case BATCH_JOB_DELETING:
        break;
    }
    return BATCH_JOB_ACTIVE;
}

static json_t *job_state(const struct batch_job *j)
{
    json_t *s = json_pack("{s:s, s:s*}", "state",
                          enum_to_name(batch_job_state_names, (int)settled(j->state)),
                          "terminateReason", j->reason);
    dump_time(s, "endTime", j->end_us);
    return s;
}

static int jobs(struct dumping *d, const struct batch_account *b, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_job *rows;
    size_t n;
    if (st_batch_job_list(st, d->a, b->id, NULL, NULL, NULL, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].state == BATCH_JOB_DELETING)
            continue;
        if (st_batch_job_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        json_t *body = document(d, &schema_batch_job, rows[i].doc, secrets);
        json_object_set_new(body, "state", job_state(&rows[i]));
        dump_put(into, "jobs", rows[i].name, body);
        if (tasks(d, &rows[i], body, e) < 0)
            return -1;
    }
    return 0;
}

/* --- schedules and certificates ----------------------------------------------------------------
 */

static json_t *schedule_state(const struct batch_schedule *x)
{
    enum batch_schedule_state state =
        x->state == BATCH_SCHEDULE_TERMINATING ? BATCH_SCHEDULE_COMPLETED : x->state;
    json_t *s = json_pack("{s:s, s:i}", "state",
                          enum_to_name(batch_schedule_state_names, (int)state), "jobs", x->number);
    dump_time(s, "nextRunTime", x->next_us);
    dump_time(s, "endTime", x->end_us);
    return s;
}

static int schedules(struct dumping *d, const struct batch_account *b, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_schedule *rows;
    size_t n;
    if (st_batch_schedule_list(st, d->a, b->id, NULL, "", DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].state == BATCH_SCHEDULE_DELETING)
            continue;
        if (st_batch_schedule_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        json_t *body = document(d, &schema_batch_schedule, rows[i].doc, secrets);
        json_object_set_new(body, "state", schedule_state(&rows[i]));
        dump_put(into, "jobSchedules", rows[i].name, body);
    }
    return 0;
}

/* The one that its data have. */
static const char *format_of(struct arena *a, const json_t *given)
{
    struct pfx read;
    struct err e;
    const char *data = json_string_value(json_object_get(given, "data"));
    const char *password = json_string_value(json_object_get(given, "password"));
    return data && pfx_read(a, data, true, password, &read, &e) == 0 ? "pfx" : "cer";
}

static int certificates(struct dumping *d, const struct batch_account *b, json_t *into,
                        struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_certificate *rows;
    size_t n;
    if (st_batch_certificate_list(st, d->a, b->id, NULL, "", DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *secrets = NULL;
        if (rows[i].state == BATCH_CERTIFICATE_DELETING)
            continue;
        if (st_batch_certificate_secrets(st, d->a, rows[i].id, &secrets, e) < 0)
            return -1;
        json_t *body = dump_json(secrets); /* what was given */
        json_object_set_new(body, "certificateFormat", json_string(format_of(d->a, body)));
        json_object_set_new(body, "thumbprintAlgorithm", json_string(rows[i].algorithm));
        dump_put(into, "certificates", rows[i].thumbprint, body);
    }
    return 0;
}

/* --- applications ------------------------------------------------------------------------------
 */

/* Archives are read on the lane. */
static int packages(struct dumping *d, const struct batch_application *x, json_t *into,
                    struct err *e)
{
    struct batch_package *rows;
    size_t n;
    if (st_batch_package_list(d->seed->arm.storage, d->a, x->id, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_t *body = json_object();
        dump_put(into, "packages", rows[i].name, body);
        if (!rows[i].hash)
            continue;
        dump_time(body, "activated", rows[i].activated_us);
        const struct file_place at = packages_place(d->seed->packages, d->a, rows[i].hash);
        struct dumped_archive *z = arena_alloc(d->a, sizeof *z);
        *z = (struct dumped_archive){
            .path = arena_concat(d->a, at.share, "/", at.path), .into = body, .next = d->archives};
        d->archives = z;
    }
    return 0;
}

static int applications(struct dumping *d, const struct batch_account *b, json_t *into,
                        struct err *e)
{
    struct batch_application *rows;
    size_t n;
    if (st_batch_application_list(d->seed->arm.storage, d->a, b->id, 0, DUMP_ROWS, &rows, &n, e) <
        0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_t *body = json_pack("{s:{s:s*, s:b, s:s*}}", "properties", "displayName",
                                 rows[i].display_name, "allowUpdates", rows[i].allow_updates,
                                 "defaultVersion", rows[i].default_version);
        dump_put(into, "applications", rows[i].name, body);
        if (packages(d, &rows[i], body, e) < 0)
            return -1;
    }
    return 0;
}

int dump_batch(struct dumping *d, const struct resource_group *g, json_t *into, struct err *e)
{
    struct storage *st = d->seed->arm.storage;
    struct batch_account *rows;
    struct account_keys keys;
    size_t n;
    if (st_batch_account_list(st, d->a, g->subscription, g->id, 0, DUMP_ROWS, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].prov_state == PROV_DELETING)
            continue;
        if (st_batch_account_keys(st, rows[i].id, &keys, e) < 0)
            return -1;
        json_t *body = dump_json(rows[i].doc);
        if (json_is_null(json_object_get(body, "properties")))
            json_object_del(body, "properties");
        dump_tracked(body, rows[i].scope.location, rows[i].tags);
        dump_keys(body, &keys);
        st_account_forget_keys(&keys);
        dump_put(into, "batchAccounts", rows[i].name, body);
        if (certificates(d, &rows[i], body, e) < 0 || applications(d, &rows[i], body, e) < 0 ||
            pools(d, &rows[i], body, e) < 0 || schedules(d, &rows[i], body, e) < 0 ||
            jobs(d, &rows[i], body, e) < 0)
            return -1;
    }
    return 0;
}
