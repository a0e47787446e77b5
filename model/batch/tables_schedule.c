/* SPDX-License-Identifier: MIT */
#include "model/batch/tables_schedule.h"

#include <string.h>

#include "lib/timefmt.h"
#include "model/batch/tables.h"

#define MINUTE_S 60

static int64_t instant_at(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    int64_t us;
    return text && timefmt_parse(text, &us) == 0 ? us : 0;
}

static int check_times(json_t *obj, const char *path, struct err *e)
{
    int64_t until = instant_at(obj, "doNotRunUntil"), after = instant_at(obj, "doNotRunAfter");
    char target[PLACE_SIZE];
    if (!until || !after || until < after)
        return 0;
    path_join(target, path, "doNotRunAfter");
    return err_set(e, ERR_INVALID_PROPERTY, target, "%s is not after doNotRunUntil", target);
}

static const struct field times_rows[] = {
    {.name = "doNotRunUntil", .kind = FIELD_TIME},
    {.name = "doNotRunAfter", .kind = FIELD_TIME},
    {.name = "startWindow",
     .kind = FIELD_DURATION,
     .min = MINUTE_S,
     .fallback = "\"P10675199DT2H48M5.4775807S\""},
    {.name = "recurrenceInterval", .kind = FIELD_DURATION, .min = MINUTE_S},
};
static SCHEMA(schema_times, "Schedule", times_rows, check_times);

static const struct field recent_rows[] = {
    BATCH_READ_ONLY("id", FIELD_STRING),
    BATCH_READ_ONLY("url", FIELD_STRING),
};
static SCHEMA(schema_recent, "RecentJob", recent_rows, NULL);

static const struct field execution_rows[] = {
    BATCH_READ_ONLY("nextRunTime", FIELD_TIME),
    {.name = "recentJob", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_recent},
    BATCH_READ_ONLY("endTime", FIELD_TIME),
};
static SCHEMA(schema_execution, "JobScheduleExecutionInformation", execution_rows, NULL);

#define PART(label, bits, table)                                                                   \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = (bits), .sub = &(table)                    \
    }
#define METADATA                                                                                   \
    {                                                                                              \
        .name = "metadata", .kind = FIELD_ARRAY, .sub = &schema_batch_metadata,                    \
        .max = BATCH_MAX_METADATA                                                                  \
    }

static const struct field rows[] = {
    {BATCH_TEXT("id", FIELD_REQUIRED, 1, BATCH_MAX_ID), .check = batch_check_id},
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("eTag", FIELD_STRING),
    BATCH_READ_ONLY("lastModified", FIELD_TIME),
    BATCH_READ_ONLY("creationTime", FIELD_TIME),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("previousState", FIELD_STRING),
    BATCH_READ_ONLY("previousStateTransitionTime", FIELD_TIME),
    PART("schedule", FIELD_REQUIRED | FIELD_KEEP_EMPTY, schema_times),
    PART("jobSpecification", FIELD_REQUIRED, schema_batch_job_spec),
    PART("executionInfo", FIELD_READONLY, schema_execution),
    PART("stats", FIELD_READONLY, schema_batch_stats),
    METADATA,
};
SCHEMA(schema_batch_schedule, "CloudJobSchedule", rows, NULL);

/* PATCH: what is given replaces what there is, as a whole. */
static const struct field patch_rows[] = {
    PART("schedule", FIELD_KEEP_EMPTY, schema_times),
    PART("jobSpecification", 0, schema_batch_job_spec),
    METADATA,
};
SCHEMA(schema_batch_schedule_patch, "JobSchedulePatchParameter", patch_rows, NULL);

static const struct field update_rows[] = {
    PART("schedule", FIELD_REQUIRED | FIELD_KEEP_EMPTY, schema_times),
    PART("jobSpecification", FIELD_REQUIRED, schema_batch_job_spec),
    METADATA,
};
SCHEMA(schema_batch_schedule_update, "JobScheduleUpdateParameter", update_rows, NULL);
