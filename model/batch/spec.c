/* SPDX-License-Identifier: MIT
 *
 * Opens the document of a job or task, with its secrets, and decodes it by its property table into
 * a struct that starts with the default values. Reads from the document of a job schedule when the
 * schedule makes jobs, and makes their documents. Also makes the JSON text of a failure. Pure; all
 * results are in the caller's arena.
 */
#include "model/batch/spec.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/batch/job_rows.h"
#include "model/batch/tables.h"
#include "model/kept_docs.h"
#include "model/schema.h"
#include "model/span.h"
#include "model/spec.h"
#include "model/spec_priv.h"

const char *batch_failure_text(struct arena *a, const char *category, const char *code,
                               const char *message, const struct kv *details, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (details[i].value)
            json_array_append_new(list, json_pack("{s:s, s:o}", "name", details[i].name, "value",
                                                  jsontext_string(details[i].value)));
    json_t *info = json_pack("{s:s, s:s, s:o, s:o}", "category", category, "code", code, "message",
                             jsontext_string(message ? message : ""), "details", list);
    return jsontext_new_in(a, info);
}

static int decode(struct arena *a, const struct schema *s, const char *doc, const char *secrets,
                  void *out, struct err *e)
{
    struct opened o;
    if (spec_open(doc, secrets, &o, e) < 0)
        return -1;
    schema_decode(s, a, o.doc, out);
    spec_close(&o);
    return 0;
}

static int decode_kept(struct kept_docs *k, struct arena *a, const struct schema *s,
                       const char *doc, void *out, struct err *e)
{
    const json_t *opened = kept_docs_open(k, doc, e);
    if (!opened)
        return -1;
    schema_decode(s, a, opened, out);
    return 0;
}

/* A document of an api-version without the property of slots needs one slot. */
static const struct batch_task_spec usual_task = {.slots = 1};
static const struct batch_job_spec usual_job = {.max_parallel = BATCH_UNLIMITED,
                                                .on_all = BATCH_ALL_NO_ACTION,
                                                .on_failure = BATCH_FAILURE_NO_ACTION};

int batch_task_decode(struct arena *a, const char *doc, const char *secrets,
                      struct batch_task_spec *out, struct err *e)
{
    *out = usual_task;
    return decode(a, &schema_batch_task, doc, secrets, out, e);
}

int batch_task_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                           struct batch_task_spec *out, struct err *e)
{
    *out = usual_task;
    return decode_kept(k, a, &schema_batch_task, doc, out, e);
}

int batch_job_decode(struct arena *a, const char *doc, const char *secrets,
                     struct batch_job_spec *out, struct err *e)
{
    *out = usual_job;
    return decode(a, &schema_batch_job, doc, secrets, out, e);
}

int batch_job_decode_kept(struct kept_docs *k, struct arena *a, const char *doc,
                          struct batch_job_spec *out, struct err *e)
{
    *out = usual_job;
    return decode_kept(k, a, &schema_batch_job, doc, out, e);
}

json_t *batch_part(const json_t *doc, const char *path)
{
    const json_t *at = doc;
    while (at && *path) {
        size_t n = strcspn(path, ".");
        at = json_object_getn(at, path, n);
        path += path[n] ? n + 1 : n;
    }
    return (json_t *)(uintptr_t)at;
}

const char *batch_part_secrets(struct arena *a, const char *secrets, const char *path)
{
    json_t *all = secrets ? json_loads(secrets, 0, NULL) : NULL, *part = json_object(), *value;
    size_t n = strlen(path);
    const char *name;
    json_object_foreach(all, name, value) {
        if (strncmp(name, path, n) == 0 && name[n] == '.')
            json_object_set(part, name + n + 1, value);
    }
    const char *text = json_object_size(part) > 0 ? jsontext_in(a, part) : NULL;
    json_decref(part);
    json_decref(all);
    return text;
}

#define SPECIFICATION "jobSpecification"

static int64_t instant_at(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    int64_t us;
    return text && timefmt_parse(text, &us) == 0 ? us : 0;
}

static int64_t span_at(const json_t *o, const char *name, int64_t fallback)
{
    const char *text = json_string_value(json_object_get(o, name));
    int64_t us;
    if (!text || span_parse(text, &us) < 0)
        return fallback;
    return us < DURATION_MAX_US ? us : DURATION_MAX_US;
}

void batch_times_read(const char *doc, struct batch_times *out)
{
    json_t *o = json_loads(doc, 0, NULL);
    const json_t *s = json_object_get(o, "schedule");
    *out = (struct batch_times){.until_us = instant_at(s, "doNotRunUntil"),
                                .after_us = instant_at(s, "doNotRunAfter"),
                                .window_us = span_at(s, "startWindow", DURATION_MAX_US),
                                .interval_us = span_at(s, "recurrenceInterval", 0)};
    json_decref(o);
}

const char *batch_schedule_job_doc(struct arena *a, const char *doc, const char *name)
{
    json_t *o = json_loads(doc, 0, NULL);
    json_t *job = json_pack("{s:s}", "id", name);
    json_object_update(job, json_object_get(o, SPECIFICATION));
    const char *text = jsontext_in(a, job);
    json_decref(job);
    json_decref(o);
    return text;
}

const char *batch_schedule_job_secrets(struct arena *a, const char *secrets)
{
    return batch_part_secrets(a, secrets, SPECIFICATION);
}
