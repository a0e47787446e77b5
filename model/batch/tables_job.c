/* SPDX-License-Identifier: MIT
 *
 * Jobs, with their manager, preparation and release tasks.
 */
#include "model/batch/job_rows.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"

#define MAX_PREFIX 20

#define LIST(label, table, member, count)                                                          \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .sub = &(table), .max = MAX_ITEMS,                   \
        INTO_LIST(struct batch_task_spec, member, count)                                           \
    }
#define COMMAND                                                                                    \
    {                                                                                              \
        BATCH_TEXT("commandLine", FIELD_REQUIRED, 0, BATCH_MAX_COMMAND),                           \
            INTO_TEXT(struct batch_task_spec, command_line)                                        \
    }
#define CONTAINER                                                                                  \
    {                                                                                              \
        .name = "containerSettings", .kind = FIELD_OBJECT, .flags = FIELD_POINTER,                 \
        .sub = &schema_batch_container, INTO_POINTER(struct batch_task_spec, container)            \
    }
#define RESOURCES   LIST("resourceFiles", schema_batch_resource_file, resources, n_resources)
#define ENVIRONMENT LIST("environmentSettings", schema_batch_env, env, n_env)
#define USER                                                                                       \
    {                                                                                              \
        .name = "userIdentity", .kind = FIELD_OBJECT, .sub = &schema_batch_user,                   \
        .fallback = "{\"autoUser\":{}}",                                                           \
        INTO_OBJECT(struct batch_task_spec, user, struct batch_user)                               \
    }
#define LIMITS(table, given)                                                                       \
    {                                                                                              \
        .name = "constraints", .kind = FIELD_OBJECT, .sub = &(table), .fallback = (given),         \
        INTO_OBJECT(struct batch_task_spec, limits, struct batch_constraints)                      \
    }
#define FLAG(label, given, member)                                                                 \
    {                                                                                              \
        .name = (label), .kind = FIELD_BOOL, .fallback = (given),                                  \
        INTO_BOOL(struct batch_task_spec, member)                                                  \
    }

static void finish_manager(struct arena *a, const json_t *obj, void *into)
{
    struct batch_task_spec *t = into;
    const json_t *token = json_object_get(obj, "authenticationTokenSettings");
    (void)a;
    t->has_token = json_array_size(json_object_get(token, "access")) > 0;
}

static const struct field manager_rows[] = {
    {BATCH_TEXT("id", FIELD_REQUIRED, 1, BATCH_MAX_ID), .check = batch_check_id,
     INTO_TEXT(struct batch_task_spec, id)},
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
    COMMAND,
    CONTAINER,
    RESOURCES,
    LIST("outputFiles", schema_batch_output_file, outputs, n_outputs),
    ENVIRONMENT,
    LIMITS(schema_batch_task_limits, "{}"),
    {.name = "requiredSlots",
     .kind = FIELD_INT,
     .versions = BATCH_SINCE(BATCH_12_0),
     .fallback = "1",
     .min = 1,
     .max = 256,
     INTO_INT(struct batch_task_spec, slots)},
    FLAG("killJobOnCompletion", "true", kills_job),
    USER,
    FLAG("runExclusive", "true", exclusive),
    LIST("applicationPackageReferences", schema_batch_package, packages, n_packages),
    {.name = "authenticationTokenSettings", .kind = FIELD_OBJECT, .sub = &schema_batch_token},
    FLAG("allowLowPriorityNode", "true", any_node),
};
static SCHEMA_INTO(schema_manager, "JobManagerTask", manager_rows, NULL, struct batch_task_spec,
                   finish_manager);

/* Not of the job, as a manager's: 0 tries. */
static const struct field preparation_limit_rows[] = {
    {.name = "maxWallClockTime",
     .kind = FIELD_DURATION,
     .fallback = "\"P10675199DT2H48M5.4775807S\"",
     INTO_US(struct batch_constraints, max_wall_us)},
    {.name = "retentionTime",
     .kind = FIELD_DURATION,
     .versions = BATCH_UNTIL(BATCH_7_0),
     .fallback = "\"P10675199DT2H48M5.4775807S\"",
     INTO_US(struct batch_constraints, retention_us)},
    {.name = "retentionTime",
     .kind = FIELD_DURATION,
     .versions = BATCH_SINCE(BATCH_8_0),
     .fallback = "\"P7D\"",
     INTO_US(struct batch_constraints, retention_us)},
    {.name = "maxTaskRetryCount",
     .kind = FIELD_INT,
     .fallback = "0",
     .min = -1,
     .max = INT32_MAX,
     INTO_INT(struct batch_constraints, retries)},
};
static SCHEMA_INTO(schema_preparation_limits, "TaskConstraints", preparation_limit_rows, NULL,
                   struct batch_constraints, NULL);

static const struct field preparation_rows[] = {
    {BATCH_TEXT("id", 0, 1, BATCH_MAX_ID), .check = batch_check_id,
     .fallback = "\"jobpreparation\"", INTO_TEXT(struct batch_task_spec, id)},
    COMMAND,
    CONTAINER,
    RESOURCES,
    ENVIRONMENT,
    LIMITS(schema_preparation_limits, "{}"),
    FLAG("waitForSuccess", "true", awaited),
    USER,
    FLAG("rerunOnNodeRebootAfterSuccess", "true", again),
};
static SCHEMA_INTO(schema_preparation, "JobPreparationTask", preparation_rows, NULL,
                   struct batch_task_spec, NULL);

static const struct field release_rows[] = {
    {BATCH_TEXT("id", 0, 1, BATCH_MAX_ID), .check = batch_check_id, .fallback = "\"jobrelease\"",
     INTO_TEXT(struct batch_task_spec, id)},
    COMMAND,
    CONTAINER,
    RESOURCES,
    ENVIRONMENT,
    {.name = "maxWallClockTime",
     .kind = FIELD_DURATION,
     .fallback = "\"PT15M\"",
     INTO_US(struct batch_task_spec, limits.max_wall_us)},
    {.name = "retentionTime",
     .kind = FIELD_DURATION,
     .fallback = "\"P7D\"",
     INTO_US(struct batch_task_spec, limits.retention_us)},
    USER,
};
static SCHEMA_INTO(schema_release, "JobReleaseTask", release_rows, NULL, struct batch_task_spec,
                   NULL);

/* --- jobs ------------------------------------------------------------------------------------ */

static const struct field limit_rows[] = {
    {.name = "maxWallClockTime",
     .kind = FIELD_DURATION,
     .fallback = "\"P10675199DT2H48M5.4775807S\"",
     INTO_US(struct batch_constraints, max_wall_us)},
    {.name = "maxTaskRetryCount",
     .kind = FIELD_INT,
     .fallback = "0",
     .min = -1,
     .max = INT32_MAX,
     INTO_INT(struct batch_constraints, retries)},
};
static SCHEMA_INTO(schema_limits, "JobConstraints", limit_rows, NULL, struct batch_constraints,
                   NULL);

static const struct enum_name life_names[] = {
    {BATCH_AUTO_OF_JOB, "job"}, {BATCH_AUTO_OF_SCHEDULE, "jobschedule"}, {0, NULL}};

static const struct field auto_rows[] = {
    {BATCH_TEXT("autoPoolIdPrefix", 0, 0, MAX_PREFIX),
     INTO_TEXT(struct batch_job_spec, auto_prefix)},
    {.name = "poolLifetimeOption",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = life_names,
     INTO_INT(struct batch_job_spec, auto_life)},
    {.name = "keepAlive",
     .kind = FIELD_BOOL,
     .fallback = "false",
     INTO_BOOL(struct batch_job_spec, auto_keep)},
    {.name = "pool", .kind = FIELD_OBJECT, .sub = &schema_batch_pool_spec},
};
static SCHEMA_INTO(schema_auto_pool, "AutoPoolSpecification", auto_rows, NULL,
                   struct batch_job_spec, NULL);

static const struct field pool_rows[] = {
    {BATCH_TEXT("poolId", 0, 0, BATCH_MAX_ID), INTO_TEXT(struct batch_job_spec, pool_id)},
    {.name = "autoPoolSpecification", .kind = FIELD_OBJECT, .sub = &schema_auto_pool, INTO_SAME},
};
static SCHEMA_INTO(schema_pool_info, "PoolInformation", pool_rows, NULL, struct batch_job_spec,
                   NULL);

static const struct field network_rows[] = {
    {BATCH_TEXT("subnetId", FIELD_REQUIRED, 1, MAX_ID_BYTES)},
    {.name = "skipWithdrawFromVNet", .kind = FIELD_BOOL, .versions = BATCH_SINCE(BATCH_20_0)},
};
static SCHEMA(schema_network, "JobNetworkConfiguration", network_rows, NULL);

static const struct field scheduling_error_rows[] = {
    BATCH_READ_ONLY("category", FIELD_STRING),
    BATCH_READ_ONLY("code", FIELD_STRING),
    BATCH_READ_ONLY("message", FIELD_STRING),
    {.name = "details", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batch_pair},
};
static SCHEMA(schema_scheduling_error, "JobSchedulingError", scheduling_error_rows, NULL);

static const struct field execution_rows[] = {
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("poolId", FIELD_STRING),
    {.name = "schedulingError",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_scheduling_error},
    BATCH_READ_ONLY("terminateReason", FIELD_STRING),
};
static SCHEMA(schema_job_execution, "JobExecutionInformation", execution_rows, NULL);

/* With its default in whole bodies, without in partial ones. */
#define JOB_NUMBER(label, least, most, given, known, member)                                       \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .min = (least), .max = (most), .versions = (known),    \
        .fallback = (given), INTO_INT(struct batch_job_spec, member)                               \
    }
#define PRIORITY(given) JOB_NUMBER("priority", -PRIORITY_MAX, PRIORITY_MAX, given, 0, priority)
#define PARALLEL(given)                                                                            \
    JOB_NUMBER("maxParallelTasks", BATCH_UNLIMITED, INT32_MAX, given, BATCH_SINCE(BATCH_14_0),     \
               max_parallel)
#define PREEMPTION(given)                                                                          \
    {                                                                                              \
        .name = "allowTaskPreemption", .kind = FIELD_BOOL, .versions = BATCH_SINCE(BATCH_15_0),    \
        .fallback = (given), INTO_BOOL(struct batch_job_spec, preemptible)                         \
    }
#define JOB_LIMITS(given)                                                                          \
    {                                                                                              \
        .name = "constraints", .kind = FIELD_OBJECT, .sub = &schema_limits, .fallback = (given),   \
        INTO_OBJECT(struct batch_job_spec, limits, struct batch_constraints)                       \
    }
#define POOL_INFO(bits)                                                                            \
    {                                                                                              \
        .name = "poolInfo", .kind = FIELD_OBJECT, .flags = (bits), .sub = &schema_pool_info,       \
        INTO_SAME                                                                                  \
    }
#define NETWORK(known)                                                                             \
    {                                                                                              \
        .name = "networkConfiguration", .kind = FIELD_OBJECT, .versions = (known),                 \
        .sub = &schema_network                                                                     \
    }
#define METADATA                                                                                   \
    {                                                                                              \
        .name = "metadata", .kind = FIELD_ARRAY, .sub = &schema_batch_metadata,                    \
        .max = BATCH_MAX_METADATA                                                                  \
    }
#define ON_ALL(given)                                                                              \
    {                                                                                              \
        .name = "onAllTasksComplete", .kind = FIELD_ENUM, .values = batch_on_all_names,            \
        .fallback = (given), INTO_INT(struct batch_job_spec, on_all)                               \
    }
#define SPECIAL(label, table, member)                                                              \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = FIELD_POINTER, .sub = &(table),            \
        INTO_POINTER(struct batch_job_spec, member)                                                \
    }

static int check_job(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    const json_t *pool = json_object_get(obj, "poolInfo");
    if (has(pool, "poolId") && has(pool, "autoPoolSpecification"))
        return err_set(e, ERR_INVALID_PROPERTY, "poolInfo",
                       "poolInfo says either poolId or autoPoolSpecification");
    if (!has(pool, "poolId") && !has(pool, "autoPoolSpecification"))
        return err_set(e, ERR_MISSING_PROPERTY, "poolInfo",
                       "poolInfo must say poolId or autoPoolSpecification");
    if (json_object_get(obj, "jobReleaseTask") && !json_object_get(obj, "jobPreparationTask"))
        return err_set(e, ERR_INVALID_PROPERTY, "jobReleaseTask",
                       "a job has a jobReleaseTask only together with a jobPreparationTask");
    return 0;
}

static const struct field job_rows[] = {
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
    PRIORITY("0"),
    PARALLEL("-1"),
    {.name = "usesTaskDependencies",
     .kind = FIELD_BOOL,
     .fallback = "false",
     INTO_BOOL(struct batch_job_spec, depends)},
    PREEMPTION("false"),
    JOB_LIMITS("{}"),
    SPECIAL("jobManagerTask", schema_manager, manager),
    SPECIAL("jobPreparationTask", schema_preparation, preparation),
    SPECIAL("jobReleaseTask", schema_release, release),
    {.name = "commonEnvironmentSettings",
     .kind = FIELD_ARRAY,
     .sub = &schema_batch_env,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_job_spec, env, n_env)},
    POOL_INFO(FIELD_REQUIRED),
    NETWORK(BATCH_SINCE(BATCH_8_0)),
    METADATA,
    {.name = "executionInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_job_execution},
    {.name = "stats", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_batch_stats},
    ON_ALL("\"noaction\""),
    {.name = "onTaskFailure",
     .kind = FIELD_ENUM,
     .values = batch_on_failure_names,
     .fallback = "\"noaction\"",
     INTO_INT(struct batch_job_spec, on_failure)},
};
SCHEMA_INTO(schema_batch_job, "CloudJob", job_rows, check_job, struct batch_job_spec, NULL);

/* PATCH: what is given replaces what there is, as a whole. */
static const struct field job_patch_rows[] = {
    PRIORITY(NULL),   PARALLEL(NULL), PREEMPTION(NULL), ON_ALL(NULL),
    JOB_LIMITS(NULL), POOL_INFO(0),   METADATA,         NETWORK(BATCH_SINCE(BATCH_20_0)),
};
SCHEMA(schema_batch_job_patch, "JobPatchParameter", job_patch_rows, NULL);

/* PUT: what is not given gets its default. */
static const struct field job_update_rows[] = {
    PRIORITY("0"),
    PARALLEL("-1"),
    PREEMPTION("false"),
    ON_ALL("\"noaction\""),
    JOB_LIMITS("{}"),
    POOL_INFO(FIELD_REQUIRED),
    METADATA,
};
SCHEMA(schema_batch_job_update, "JobUpdateParameter", job_update_rows, NULL);

static const struct field disable_rows[] = {
    {.name = "disableTasks",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = batch_disable_names},
};
SCHEMA(schema_batch_job_disable, "JobDisableParameter", disable_rows, NULL);

static const struct field terminate_rows[] = {{BATCH_TEXT("terminateReason", 0, 0, 1024)}};
SCHEMA(schema_batch_job_terminate, "JobTerminateParameter", terminate_rows, NULL);

/* What the jobs of a schedule are made of. */
static const struct field specification_rows[] = {
    PRIORITY("0"),
    PARALLEL("-1"),
    PREEMPTION("false"),
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
    {.name = "usesTaskDependencies", .kind = FIELD_BOOL, .fallback = "false"},
    ON_ALL("\"noaction\""),
    {.name = "onTaskFailure",
     .kind = FIELD_ENUM,
     .values = batch_on_failure_names,
     .fallback = "\"noaction\""},
    NETWORK(BATCH_SINCE(BATCH_8_0)),
    JOB_LIMITS("{}"),
    SPECIAL("jobManagerTask", schema_manager, manager),
    SPECIAL("jobPreparationTask", schema_preparation, preparation),
    SPECIAL("jobReleaseTask", schema_release, release),
    {.name = "commonEnvironmentSettings",
     .kind = FIELD_ARRAY,
     .sub = &schema_batch_env,
     .max = MAX_ITEMS},
    POOL_INFO(FIELD_REQUIRED),
    METADATA,
};
SCHEMA_INTO(schema_batch_job_spec, "JobSpecification", specification_rows, check_job,
            struct batch_job_spec, NULL);
