/* SPDX-License-Identifier: MIT
 *
 * Jobs, with their manager, preparation and release tasks.
 */
#include "model/batch/job_rows.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/schema/tables.h"

#define MAX_PREFIX 20

#define COMMAND                                                                                    \
    TEXT("commandLine", REQUIRED, .max = BATCH_MAX_COMMAND, INTO(batch_task_spec, command_line))
#define CONTAINER                                                                                  \
    OBJECT("containerSettings", POINTER, schema_batch_container, INTO(batch_task_spec, container))
#define RESOURCES                                                                                  \
    LIST("resourceFiles", 0, schema_batch_resource_file, .max = MAX_ITEMS,                         \
         INTO_LIST(batch_task_spec, resources, n_resources))
#define ENVIRONMENT                                                                                \
    LIST("environmentSettings", 0, schema_batch_env, .max = MAX_ITEMS,                             \
         INTO_LIST(batch_task_spec, env, n_env))
#define USER                                                                                       \
    OBJECT("userIdentity", 0, schema_batch_user, .fallback = "{\"autoUser\":{}}",                  \
           INTO(batch_task_spec, user))
#define LIMITS(table, given)                                                                       \
    OBJECT("constraints", 0, table, .fallback = given, INTO(batch_task_spec, limits))

static void finish_manager(struct arena *a, const json_t *obj, void *into)
{
    struct batch_task_spec *t = into;
    const json_t *token = json_object_get(obj, "authenticationTokenSettings");
    (void)a;
    t->has_token = json_array_size(json_object_get(token, "access")) > 0;
}

static const struct field manager_rows[] = {
    TEXT("id", REQUIRED, 1, BATCH_MAX_ID, .check = batch_check_id, INTO(batch_task_spec, id)),
    TEXT("displayName", .max = BATCH_MAX_DISPLAY),
    COMMAND,
    CONTAINER,
    RESOURCES,
    LIST("outputFiles", 0, schema_batch_output_file, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, outputs, n_outputs)),
    ENVIRONMENT,
    LIMITS(schema_batch_task_limits, "{}"),
    INT("requiredSlots", 0, 1, 256, .versions = BATCH_SINCE(BATCH_12_0), .fallback = "1",
        INTO(batch_task_spec, slots)),
    BOOL("killJobOnCompletion", .fallback = "true", INTO(batch_task_spec, kills_job)),
    USER,
    BOOL("runExclusive", .fallback = "true", INTO(batch_task_spec, exclusive)),
    LIST("applicationPackageReferences", 0, schema_batch_package, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, packages, n_packages)),
    OBJECT("authenticationTokenSettings", 0, schema_batch_token),
    BOOL("allowLowPriorityNode", .fallback = "true", INTO(batch_task_spec, any_node)),
};
static SCHEMA(schema_manager, manager_rows, "JobManagerTask", FILLS(batch_task_spec),
              .finish = finish_manager);

/* The default number of retries is 0. (For a manager task it is the job's number.) */
static const struct field preparation_limit_rows[] = {
    SPAN("maxWallClockTime", .fallback = "\"P10675199DT2H48M5.4775807S\"",
         INTO(batch_constraints, max_wall_us)),
    SPAN("retentionTime", .versions = BATCH_UNTIL(BATCH_7_0),
         .fallback = "\"P10675199DT2H48M5.4775807S\"", INTO(batch_constraints, retention_us)),
    SPAN("retentionTime", .versions = BATCH_SINCE(BATCH_8_0), .fallback = "\"P7D\"",
         INTO(batch_constraints, retention_us)),
    INT("maxTaskRetryCount", 0, -1, INT32_MAX, .fallback = "0", INTO(batch_constraints, retries)),
};
static SCHEMA(schema_preparation_limits, preparation_limit_rows, "TaskConstraints",
              FILLS(batch_constraints), .finish = batch_finish_limits);

static const struct field preparation_rows[] = {
    TEXT("id", 0, 1, BATCH_MAX_ID, .fallback = "\"jobpreparation\"", .check = batch_check_id,
         INTO(batch_task_spec, id)),
    COMMAND,
    CONTAINER,
    RESOURCES,
    ENVIRONMENT,
    LIMITS(schema_preparation_limits, "{}"),
    BOOL("waitForSuccess", .fallback = "true", INTO(batch_task_spec, awaited)),
    USER,
    BOOL("rerunOnNodeRebootAfterSuccess", .fallback = "true", INTO(batch_task_spec, again)),
};
static SCHEMA(schema_preparation, preparation_rows, "JobPreparationTask", FILLS(batch_task_spec));

static const struct field release_rows[] = {
    TEXT("id", 0, 1, BATCH_MAX_ID, .fallback = "\"jobrelease\"", .check = batch_check_id,
         INTO(batch_task_spec, id)),
    COMMAND,
    CONTAINER,
    RESOURCES,
    ENVIRONMENT,
    SPAN("maxWallClockTime", .max = 15 * 60, .fallback = "\"PT15M\"",
         INTO(batch_task_spec, limits.max_wall_us)),
    SPAN("retentionTime", .fallback = "\"P7D\"", INTO(batch_task_spec, limits.retention_us)),
    USER,
};
static void finish_release(struct arena *a, const json_t *obj, void *into)
{
    struct batch_task_spec *spec = into;
    batch_finish_limits(a, obj, &spec->limits);
}

static SCHEMA(schema_release, release_rows, "JobReleaseTask", FILLS(batch_task_spec),
              .finish = finish_release);

/* --- jobs ------------------------------------------------------------------------------------ */

static const struct field limit_rows[] = {
    SPAN("maxWallClockTime", .fallback = "\"P10675199DT2H48M5.4775807S\"",
         INTO(batch_constraints, max_wall_us)),
    INT("maxTaskRetryCount", 0, -1, INT32_MAX, .fallback = "0", INTO(batch_constraints, retries)),
};
static SCHEMA(schema_limits, limit_rows, "JobConstraints", FILLS(batch_constraints),
              .finish = batch_finish_limits);

static const struct enum_name life_names[] = {
    {BATCH_AUTO_OF_JOB, "job"}, {BATCH_AUTO_OF_SCHEDULE, "jobschedule"}, {0, NULL}};

static const struct field auto_rows[] = {
    TEXT("autoPoolIdPrefix", .max = MAX_PREFIX, INTO(batch_job_spec, auto_prefix)),
    ENUM("poolLifetimeOption", REQUIRED, life_names, INTO(batch_job_spec, auto_life)),
    BOOL("keepAlive", .fallback = "false", INTO(batch_job_spec, auto_keep)),
    OBJECT("pool", 0, schema_batch_pool_spec),
};
static SCHEMA(schema_auto_pool, auto_rows, "AutoPoolSpecification", FILLS(batch_job_spec));

static const struct field pool_rows[] = {
    TEXT("poolId", .max = BATCH_MAX_ID, INTO(batch_job_spec, pool_id)),
    OBJECT("autoPoolSpecification", 0, schema_auto_pool, INTO_SAME),
};
static SCHEMA(schema_pool_info, pool_rows, "PoolInformation", FILLS(batch_job_spec));

static const struct field network_rows[] = {
    TEXT("subnetId", REQUIRED, 1, MAX_ID_BYTES),
    BOOL("skipWithdrawFromVNet", .versions = BATCH_SINCE(BATCH_20_0)),
};
static SCHEMA(schema_network, network_rows, "JobNetworkConfiguration");

static const struct field scheduling_error_rows[] = {
    TEXT("category", READONLY),
    TEXT("code", READONLY),
    TEXT("message", READONLY),
    LIST("details", READONLY, schema_batch_pair),
};
static SCHEMA(schema_scheduling_error, scheduling_error_rows, "JobSchedulingError");

/* clang-format off */
static const struct field execution_rows[] = {
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    TEXT("poolId", READONLY),
    OBJECT("schedulingError", READONLY, schema_scheduling_error),
    TEXT("terminateReason", READONLY),
};
/* clang-format on */
static SCHEMA(schema_job_execution, execution_rows, "JobExecutionInformation");

/* Refuses 0: a job that may run 0 tasks at a time would wait for ever. */
static int check_parallel(const json_t *value, const char *path, struct err *e)
{
    if (json_integer_value(value) != 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is 0; it must be -1, for no limit, or at least 1", path);
}

/* `given` is the default value: set in tables of whole bodies, NULL in tables of partial bodies. */
#define PRIORITY(given)                                                                            \
    INT("priority", 0, -PRIORITY_MAX, PRIORITY_MAX, .fallback = given,                             \
        INTO(batch_job_spec, priority))
#define PARALLEL(given)                                                                            \
    INT("maxParallelTasks", 0, BATCH_UNLIMITED, INT32_MAX, .versions = BATCH_SINCE(BATCH_14_0),    \
        .fallback = given, .check = check_parallel, INTO(batch_job_spec, max_parallel))
#define PREEMPTION(given)                                                                          \
    BOOL("allowTaskPreemption", .versions = BATCH_SINCE(BATCH_15_0), .fallback = given,            \
         INTO(batch_job_spec, preemptible))
#define JOB_LIMITS(given)                                                                          \
    OBJECT("constraints", 0, schema_limits, .fallback = given, INTO(batch_job_spec, limits))
#define POOL_INFO(bits) OBJECT("poolInfo", bits, schema_pool_info, INTO_SAME)
#define NETWORK(known)  OBJECT("networkConfiguration", 0, schema_network, .versions = known)
#define METADATA        LIST("metadata", 0, schema_batch_metadata, .max = BATCH_MAX_METADATA)
#define ON_ALL(given)                                                                              \
    ENUM("onAllTasksComplete", 0, batch_on_all_names, .fallback = given,                           \
         INTO(batch_job_spec, on_all))

static int check_job(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    const json_t *pool = json_object_get(obj, "poolInfo");
    if (has(pool, "poolId") && has(pool, "autoPoolSpecification"))
        return err_set(e, ERR_INVALID_PROPERTY, "poolInfo",
                       "poolInfo must not have both poolId and autoPoolSpecification");
    if (!has(pool, "poolId") && !has(pool, "autoPoolSpecification"))
        return err_set(e, ERR_MISSING_PROPERTY, "poolInfo",
                       "poolInfo must say poolId or autoPoolSpecification");
    if (json_object_get(obj, "jobReleaseTask") && !json_object_get(obj, "jobPreparationTask"))
        return err_set(e, ERR_INVALID_PROPERTY, "jobReleaseTask",
                       "a job has a jobReleaseTask only together with a jobPreparationTask");
    return 0;
}

static const struct field job_rows[] = {
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
    PRIORITY("0"),
    PARALLEL("-1"),
    BOOL("usesTaskDependencies", .fallback = "false", INTO(batch_job_spec, depends)),
    PREEMPTION("false"),
    JOB_LIMITS("{}"),
    OBJECT("jobManagerTask", POINTER, schema_manager, INTO(batch_job_spec, manager)),
    OBJECT("jobPreparationTask", POINTER, schema_preparation, INTO(batch_job_spec, preparation)),
    OBJECT("jobReleaseTask", POINTER, schema_release, INTO(batch_job_spec, release)),
    LIST("commonEnvironmentSettings", 0, schema_batch_env, .max = MAX_ITEMS,
         INTO_LIST(batch_job_spec, env, n_env)),
    POOL_INFO(REQUIRED),
    NETWORK(BATCH_SINCE(BATCH_8_0)),
    METADATA,
    OBJECT("executionInfo", READONLY, schema_job_execution),
    OBJECT("stats", READONLY, schema_batch_stats),
    ON_ALL("\"noaction\""),
    ENUM("onTaskFailure", 0, batch_on_failure_names, .fallback = "\"noaction\"",
         INTO(batch_job_spec, on_failure)),
};
SCHEMA(schema_batch_job, job_rows, "CloudJob", .check = check_job, FILLS(batch_job_spec));

/* PATCH: a given member replaces the old one as a whole. */
/* clang-format off */
static const struct field job_patch_rows[] = {
    PRIORITY(NULL),
    PARALLEL(NULL),
    PREEMPTION(NULL),
    ON_ALL(NULL),
    JOB_LIMITS(NULL),
    POOL_INFO(0),
    METADATA,
    NETWORK(BATCH_SINCE(BATCH_20_0)),
};
/* clang-format on */
SCHEMA(schema_batch_job_patch, job_patch_rows, "JobPatchParameter");

/* PUT: a missing member gets its default. */
static const struct field job_update_rows[] = {
    PRIORITY("0"),
    PARALLEL("-1"),
    PREEMPTION("false"),
    ON_ALL("\"noaction\""),
    JOB_LIMITS("{}"),
    POOL_INFO(REQUIRED),
    METADATA,
};
SCHEMA(schema_batch_job_update, job_update_rows, "JobUpdateParameter");

static const struct field disable_rows[] = {ENUM("disableTasks", REQUIRED, batch_disable_names)};
SCHEMA(schema_batch_job_disable, disable_rows, "JobDisableParameter");

static const struct field terminate_rows[] = {TEXT("terminateReason", .max = 1024)};
SCHEMA(schema_batch_job_terminate, terminate_rows, "JobTerminateParameter");

/* The specification of a schedule's jobs. */
static const struct field specification_rows[] = {
    PRIORITY("0"),
    PARALLEL("-1"),
    PREEMPTION("false"),
    TEXT("displayName", .max = BATCH_MAX_DISPLAY),
    BOOL("usesTaskDependencies", .fallback = "false"),
    ON_ALL("\"noaction\""),
    ENUM("onTaskFailure", 0, batch_on_failure_names, .fallback = "\"noaction\""),
    NETWORK(BATCH_SINCE(BATCH_8_0)),
    JOB_LIMITS("{}"),
    OBJECT("jobManagerTask", POINTER, schema_manager, INTO(batch_job_spec, manager)),
    OBJECT("jobPreparationTask", POINTER, schema_preparation, INTO(batch_job_spec, preparation)),
    OBJECT("jobReleaseTask", POINTER, schema_release, INTO(batch_job_spec, release)),
    LIST("commonEnvironmentSettings", 0, schema_batch_env, .max = MAX_ITEMS),
    POOL_INFO(REQUIRED),
    METADATA,
};
SCHEMA(schema_batch_job_spec, specification_rows, "JobSpecification", .check = check_job,
       FILLS(batch_job_spec));

/* ---- preparation and release tasks on a node, as shown --------------------------------------- */

#define CHORE_INFO_ROWS                                                                            \
    TIME("startTime", READONLY), TIME("endTime", READONLY), TEXT("state", READONLY),               \
        TEXT("taskRootDirectory", READONLY), TEXT("taskRootDirectoryUrl", READONLY),               \
        INT("exitCode", READONLY), OBJECT("containerInfo", READONLY, schema_batch_container_info), \
        OBJECT("failureInfo", READONLY, schema_batch_failure)

static const struct field preparation_info_rows[] = {
    CHORE_INFO_ROWS,
    INT("retryCount", READONLY),
    TIME("lastRetryTime", READONLY),
    TEXT("result", READONLY),
};
static SCHEMA(schema_preparation_info, preparation_info_rows,
              "JobPreparationTaskExecutionInformation");

static const struct field release_info_rows[] = {CHORE_INFO_ROWS, TEXT("result", READONLY)};
static SCHEMA(schema_release_info, release_info_rows, "JobReleaseTaskExecutionInformation");

static const struct field chore_rows[] = {
    TEXT("poolId", READONLY),
    TEXT("nodeId", READONLY),
    TEXT("nodeUrl", READONLY),
    OBJECT("jobPreparationTaskExecutionInfo", READONLY, schema_preparation_info),
    OBJECT("jobReleaseTaskExecutionInfo", READONLY, schema_release_info),
};
SCHEMA(schema_batch_chores, chore_rows, "JobPreparationAndReleaseTaskExecutionInformation");
