/* SPDX-License-Identifier: MIT
 *
 * The tables of tasks: their properties, exit conditions and ranges of exit codes, with the checks
 * that one row cannot make and the functions that complete a decoded struct. Constant and pure.
 */
#include "model/batch/job_rows.h"
#include "model/batch/tables.h"
#include "model/schema/tables.h"

const struct enum_name batch_job_action_names[] = {{BATCH_JOB_ACT_NONE, "none"},
                                                   {BATCH_JOB_ACT_DISABLE, "disable"},
                                                   {BATCH_JOB_ACT_TERMINATE, "terminate"},
                                                   {0, NULL}};
const struct enum_name batch_dependency_action_names[] = {
    {BATCH_SATISFY, "satisfy"}, {BATCH_BLOCK, "block"}, {0, NULL}};

/* --- effects of exits --- */

static const struct field exit_options_rows[] = {
    ENUM("jobAction", 0, batch_job_action_names, INTO(batch_exit_options, job)),
    ENUM("dependencyAction", 0, batch_dependency_action_names,
         INTO(batch_exit_options, dependency)),
};
static SCHEMA(schema_exit_options, exit_options_rows, "ExitOptions", FILLS(batch_exit_options));

#define OPTIONS_OF_RULE                                                                            \
    OBJECT("exitOptions", REQUIRED | KEEP_EMPTY, schema_exit_options,                              \
           INTO(batch_exit_rule, options))

static void finish_code(struct arena *a, const json_t *obj, void *into)
{
    struct batch_exit_rule *rule = into;
    (void)a, (void)obj;
    rule->high = rule->low;
}

/* Exit codes of programs on Windows are any 32-bit number. */
static const struct field exit_code_rows[] = {
    INT("code", REQUIRED, INT32_MIN, INT32_MAX, INTO(batch_exit_rule, low)),
    OPTIONS_OF_RULE,
};
static SCHEMA(schema_exit_code, exit_code_rows, "ExitCodeMapping", FILLS(batch_exit_rule),
              .finish = finish_code);

static int check_range(json_t *obj, const char *path, struct err *e)
{
    if (json_integer_value(json_object_get(obj, "start")) <=
        json_integer_value(json_object_get(obj, "end")))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s begins after its end", path);
}

static const struct field exit_range_rows[] = {
    INT("start", REQUIRED, INT32_MIN, INT32_MAX, INTO(batch_exit_rule, low)),
    INT("end", REQUIRED, INT32_MIN, INT32_MAX, INTO(batch_exit_rule, high)),
    OPTIONS_OF_RULE,
};
static SCHEMA(schema_exit_range, exit_range_rows, "ExitCodeRangeMapping", .check = check_range,
              FILLS(batch_exit_rule));

static const struct field exit_conditions_rows[] = {
    LIST("exitCodes", 0, schema_exit_code, .max = MAX_ITEMS,
         INTO_LIST(batch_exit_conditions, codes, n_codes)),
    LIST("exitCodeRanges", 0, schema_exit_range, .max = MAX_ITEMS,
         INTO_LIST(batch_exit_conditions, ranges, n_ranges)),
    OBJECT("preProcessingError", POINTER | KEEP_EMPTY, schema_exit_options,
           INTO(batch_exit_conditions, pre_processing)),
    OBJECT("fileUploadError", POINTER | KEEP_EMPTY, schema_exit_options,
           INTO(batch_exit_conditions, upload)),
    OBJECT("default", POINTER | KEEP_EMPTY, schema_exit_options,
           INTO(batch_exit_conditions, fallback)),
};
static SCHEMA(schema_exit_conditions, exit_conditions_rows, "ExitConditions",
              FILLS(batch_exit_conditions));

/* --- dependencies --- */

/* The range of numbers that can be ids of tasks. */
static const struct field id_range_rows[] = {
    INT("start", REQUIRED, .max = INT32_MAX),
    INT("end", REQUIRED, .max = INT32_MAX),
};
static SCHEMA(schema_id_range, id_range_rows, "TaskIdRange", .check = check_range);

/* These rows have no limits, because exceeding a limit has its own error, which another function
 * returns. */
static const struct field depends_rows[] = {
    TEXTS("taskIds"),
    LIST("taskIdRanges", 0, schema_id_range),
};
static SCHEMA(schema_depends, depends_rows, "TaskDependencies");

/* --- the rest -------------------------------------------------------------------------------- */

static const struct field multi_rows[] = {
    INT("numberOfInstances", 0, 1, 100000, .fallback = "1", INTO(batch_multi_instance, instances)),
    TEXT("coordinationCommandLine", REQUIRED, 1, BATCH_MAX_COMMAND, .check = batch_check_command,
         INTO(batch_multi_instance, coordination)),
    LIST("commonResourceFiles", 0, schema_batch_resource_file, .max = MAX_ITEMS,
         INTO_LIST(batch_multi_instance, common, n_common)),
};
static SCHEMA(schema_multi, multi_rows, "MultiInstanceSettings", FILLS(batch_multi_instance));

static const struct field affinity_rows[] = {
    TEXT("affinityId", REQUIRED, 1, 1024, INTO(batch_task_spec, affinity)),
};
static SCHEMA(schema_affinity, affinity_rows, "AffinityInformation", FILLS(batch_task_spec));

static const struct field execution_rows[] = {
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    INT("exitCode", READONLY),
    OBJECT("containerInfo", READONLY, schema_batch_container_info),
    OBJECT("failureInfo", READONLY, schema_batch_failure),
    INT("retryCount", READONLY),
    TIME("lastRetryTime", READONLY),
    INT("requeueCount", READONLY),
    TIME("lastRequeueTime", READONLY),
    TEXT("result", READONLY),
};
static SCHEMA(schema_execution, execution_rows, "TaskExecutionInformation");

static const struct field node_rows[] = {
    TEXT("affinityId", READONLY),
    TEXT("nodeUrl", READONLY),
    TEXT("poolId", READONLY),
    TEXT("nodeId", READONLY),
    TEXT("taskRootDirectory", READONLY),
    TEXT("taskRootDirectoryUrl", READONLY),
};
static SCHEMA(schema_node_info, node_rows, "ComputeNodeInformation");

static const struct field subtask_rows[] = {
    INT("id", READONLY),
    OBJECT("nodeInfo", READONLY, schema_node_info),
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    INT("exitCode", READONLY),
    OBJECT("containerInfo", READONLY, schema_batch_container_info),
    OBJECT("failureInfo", READONLY, schema_batch_failure),
    TEXT("state", READONLY),
    TIME("stateTransitionTime", READONLY),
    TEXT("previousState", READONLY),
    TIME("previousStateTransitionTime", READONLY),
    TEXT("result", READONLY),
};
SCHEMA(schema_batch_subtask, subtask_rows, "SubtaskInformation");

static void finish_task(struct arena *a, const json_t *obj, void *into)
{
    struct batch_task_spec *t = into;
    const json_t *token = json_object_get(obj, "authenticationTokenSettings");
    (void)a;
    t->has_token = json_array_size(json_object_get(token, "access")) > 0;
}

static const struct field task_rows[] = {
    TEXT("id", REQUIRED, 1, BATCH_MAX_ID, .check = batch_check_id, INTO(batch_task_spec, id)),
    TEXT("displayName", .max = BATCH_MAX_DISPLAY),
    TEXT("url", READONLY),
    TEXT("eTag", READONLY),
    TIME("creationTime", READONLY),
    TIME("lastModified", READONLY),
    TEXT("state", READONLY),
    TIME("stateTransitionTime", READONLY),
    TEXT("previousState", READONLY),
    TIME("previousStateTransitionTime", READONLY),
    TEXT("commandLine", REQUIRED, .max = BATCH_MAX_COMMAND, INTO(batch_task_spec, command_line)),
    OBJECT("containerSettings", POINTER, schema_batch_container, INTO(batch_task_spec, container)),
    LIST("resourceFiles", 0, schema_batch_resource_file, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, resources, n_resources)),
    LIST("outputFiles", 0, schema_batch_output_file, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, outputs, n_outputs)),
    LIST("environmentSettings", 0, schema_batch_env, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, env, n_env)),
    OBJECT("affinityInfo", 0, schema_affinity, INTO_SAME),
    LIST("applicationPackageReferences", 0, schema_batch_package, .max = MAX_ITEMS,
         INTO_LIST(batch_task_spec, packages, n_packages)),
    OBJECT("userIdentity", 0, schema_batch_user, .fallback = "{\"autoUser\":{}}",
           INTO(batch_task_spec, user)),
    OBJECT("exitConditions", 0, schema_exit_conditions, INTO(batch_task_spec, exits)),
    OBJECT("multiInstanceSettings", POINTER, schema_multi, INTO(batch_task_spec, multi)),
    OBJECT("dependsOn", 0, schema_depends),
    OBJECT("authenticationTokenSettings", 0, schema_batch_token),
    OBJECT("constraints", 0, schema_batch_task_limits, .fallback = "{}",
           INTO(batch_task_spec, limits)),
    INT("requiredSlots", 0, 1, 256, .versions = BATCH_SINCE(BATCH_12_0), .fallback = "1",
        INTO(batch_task_spec, slots)),
    OBJECT("executionInfo", READONLY, schema_execution),
    OBJECT("nodeInfo", READONLY | KEEP_EMPTY, schema_node_info),
    OBJECT("stats", READONLY, schema_batch_stats),
};
SCHEMA(schema_batch_task, task_rows, "CloudTask", FILLS(batch_task_spec), .finish = finish_task);

static const struct field task_update_rows[] = {
    OBJECT("constraints", 0, schema_batch_task_limits, .fallback = "{}"),
};
SCHEMA(schema_batch_task_update, task_update_rows, "TaskUpdateParameter");
