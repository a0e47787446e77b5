/* SPDX-License-Identifier: MIT */
#include "model/batch/tables_schedule.h"

#include <string.h>

#include "lib/timefmt.h"
#include "model/batch/tables.h"
#include "model/schema/tables.h"

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
    TIME("doNotRunUntil"),
    TIME("doNotRunAfter"),
    SPAN("startWindow", .min = MINUTE_S, .fallback = "\"P10675199DT2H48M5.4775807S\""),
    SPAN("recurrenceInterval", .min = MINUTE_S),
};
static SCHEMA(schema_times, times_rows, "Schedule", .check = check_times);

static const struct field recent_rows[] = {TEXT("id", READONLY), TEXT("url", READONLY)};
static SCHEMA(schema_recent, recent_rows, "RecentJob");

static const struct field execution_rows[] = {
    TIME("nextRunTime", READONLY),
    OBJECT("recentJob", READONLY, schema_recent),
    TIME("endTime", READONLY),
};
static SCHEMA(schema_execution, execution_rows, "JobScheduleExecutionInformation");

#define METADATA LIST("metadata", 0, schema_batch_metadata, .max = BATCH_MAX_METADATA)

static const struct field rows[] = {
    TEXT("id", REQUIRED, 1, BATCH_MAX_ID, .check = batch_check_id),
    TEXT("displayName", .max = BATCH_MAX_DISPLAY),
    TEXT("url", READONLY),
    TEXT("eTag", READONLY),
    TIME("lastModified", READONLY),
    TIME("creationTime", READONLY),
    TEXT("state", READONLY),
    TIME("stateTransitionTime", READONLY),
    TEXT("previousState", READONLY),
    TIME("previousStateTransitionTime", READONLY),
    OBJECT("schedule", REQUIRED | KEEP_EMPTY, schema_times),
    OBJECT("jobSpecification", REQUIRED, schema_batch_job_spec),
    OBJECT("executionInfo", READONLY, schema_execution),
    OBJECT("stats", READONLY, schema_batch_stats),
    METADATA,
};
SCHEMA(schema_batch_schedule, rows, "CloudJobSchedule");

/* PATCH: a given member replaces the old one as a whole. */
static const struct field patch_rows[] = {
    OBJECT("schedule", KEEP_EMPTY, schema_times),
    OBJECT("jobSpecification", 0, schema_batch_job_spec),
    METADATA,
};
SCHEMA(schema_batch_schedule_patch, patch_rows, "JobSchedulePatchParameter");

static const struct field update_rows[] = {
    OBJECT("schedule", REQUIRED | KEEP_EMPTY, schema_times),
    OBJECT("jobSpecification", REQUIRED, schema_batch_job_spec),
    METADATA,
};
SCHEMA(schema_batch_schedule_update, update_rows, "JobScheduleUpdateParameter");
