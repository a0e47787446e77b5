/* SPDX-License-Identifier: MIT
 *
 * Reads the stored document of a job schedule: when the schedule makes jobs, and their documents.
 */
#include "model/batch/schedule_doc.h"

#include <jansson.h>

#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/batch/spec.h"
#include "model/span.h"
#include "model/spec.h"

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
