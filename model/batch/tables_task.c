/* SPDX-License-Identifier: MIT
 *
 * Tasks.
 */
#include "model/batch/job_rows.h"
#include "model/batch/tables.h"

const struct enum_name batch_job_action_names[] = {{BATCH_JOB_ACT_NONE, "none"},
                                                   {BATCH_JOB_ACT_DISABLE, "disable"},
                                                   {BATCH_JOB_ACT_TERMINATE, "terminate"},
                                                   {0, NULL}};
const struct enum_name batch_dependency_action_names[] = {
    {BATCH_SATISFY, "satisfy"}, {BATCH_BLOCK, "block"}, {0, NULL}};

/* --- what exits mean ------------------------------------------------------------------------- */

static const struct field exit_options_rows[] = {
    {.name = "jobAction",
     .kind = FIELD_ENUM,
     .values = batch_job_action_names,
     INTO_ENUM(struct batch_exit_options, job)},
    {.name = "dependencyAction",
     .kind = FIELD_ENUM,
     .values = batch_dependency_action_names,
     INTO_ENUM(struct batch_exit_options, dependency)},
};
static SCHEMA_INTO(schema_exit_options, "ExitOptions", exit_options_rows, NULL,
                   struct batch_exit_options, NULL);

/* Exit codes of programs on Windows are any number of 32 bits. */
#define CODE(label, member)                                                                        \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = FIELD_REQUIRED, .min = INT32_MIN,             \
        .max = INT32_MAX, INTO_INT(struct batch_exit_rule, member)                                 \
    }
#define OPTIONS_OF_RULE                                                                            \
    {                                                                                              \
        .name = "exitOptions", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED | FIELD_KEEP_EMPTY,   \
        .sub = &schema_exit_options,                                                               \
        INTO_OBJECT(struct batch_exit_rule, options, struct batch_exit_options)                    \
    }

static void finish_code(struct arena *a, const json_t *obj, void *into)
{
    struct batch_exit_rule *rule = into;
    (void)a, (void)obj;
    rule->high = rule->low;
}

static const struct field exit_code_rows[] = {CODE("code", low), OPTIONS_OF_RULE};
static SCHEMA_INTO(schema_exit_code, "ExitCodeMapping", exit_code_rows, NULL,
                   struct batch_exit_rule, finish_code);

static int check_range(json_t *obj, const char *path, struct err *e)
{
    if (json_integer_value(json_object_get(obj, "start")) <=
        json_integer_value(json_object_get(obj, "end")))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s begins behind its end", path);
}

static const struct field exit_range_rows[] = {CODE("start", low), CODE("end", high),
                                               OPTIONS_OF_RULE};
static SCHEMA_INTO(schema_exit_range, "ExitCodeRangeMapping", exit_range_rows, check_range,
                   struct batch_exit_rule, NULL);

#define OPTIONS(label, member)                                                                     \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = FIELD_POINTER | FIELD_KEEP_EMPTY,          \
        .sub = &schema_exit_options, INTO_POINTER(struct batch_exit_conditions, member)            \
    }

static const struct field exit_conditions_rows[] = {
    {.name = "exitCodes",
     .kind = FIELD_ARRAY,
     .sub = &schema_exit_code,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_exit_conditions, codes, n_codes)},
    {.name = "exitCodeRanges",
     .kind = FIELD_ARRAY,
     .sub = &schema_exit_range,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_exit_conditions, ranges, n_ranges)},
    OPTIONS("preProcessingError", pre_processing),
    OPTIONS("fileUploadError", upload),
    OPTIONS("default", fallback),
};
static SCHEMA_INTO(schema_exit_conditions, "ExitConditions", exit_conditions_rows, NULL,
                   struct batch_exit_conditions, NULL);

/* --- what it waits for ----------------------------------------------------------------------- */

/* Numbers that names of tasks can be. */
#define NUMBER(label)                                                                              \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = FIELD_REQUIRED, .min = 0, .max = INT32_MAX    \
    }
static const struct field id_range_rows[] = {NUMBER("start"), NUMBER("end")};
static SCHEMA(schema_id_range, "TaskIdRange", id_range_rows, check_range);

/* Their bounds have errors of their own. */
static const struct field depends_rows[] = {
    {.name = "taskIds", .kind = FIELD_STRINGS},
    {.name = "taskIdRanges", .kind = FIELD_ARRAY, .sub = &schema_id_range},
};
static SCHEMA(schema_depends, "TaskDependencies", depends_rows, NULL);

/* --- the rest -------------------------------------------------------------------------------- */

static const struct field multi_rows[] = {
    {.name = "numberOfInstances",
     .kind = FIELD_INT,
     .fallback = "1",
     .min = 1,
     .max = 100000,
     INTO_INT(struct batch_multi_instance, instances)},
    {BATCH_TEXT("coordinationCommandLine", FIELD_REQUIRED, 1, BATCH_MAX_COMMAND),
     .check = batch_check_command, INTO_TEXT(struct batch_multi_instance, coordination)},
    {.name = "commonResourceFiles",
     .kind = FIELD_ARRAY,
     .sub = &schema_batch_resource_file,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_multi_instance, common, n_common)},
};
static SCHEMA_INTO(schema_multi, "MultiInstanceSettings", multi_rows, NULL,
                   struct batch_multi_instance, NULL);

static const struct field affinity_rows[] = {{BATCH_TEXT("affinityId", FIELD_REQUIRED, 1, 1024),
                                              INTO_TEXT(struct batch_task_spec, affinity)}};
static SCHEMA_INTO(schema_affinity, "AffinityInformation", affinity_rows, NULL,
                   struct batch_task_spec, NULL);

static const struct field execution_rows[] = {
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    {.name = "containerInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_container_info},
    {.name = "failureInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_failure},
    BATCH_READ_ONLY("retryCount", FIELD_INT),
    BATCH_READ_ONLY("lastRetryTime", FIELD_TIME),
    BATCH_READ_ONLY("requeueCount", FIELD_INT),
    BATCH_READ_ONLY("lastRequeueTime", FIELD_TIME),
    BATCH_READ_ONLY("result", FIELD_STRING),
};
static SCHEMA(schema_execution, "TaskExecutionInformation", execution_rows, NULL);

static const struct field node_rows[] = {
    BATCH_READ_ONLY("affinityId", FIELD_STRING),
    BATCH_READ_ONLY("nodeUrl", FIELD_STRING),
    BATCH_READ_ONLY("poolId", FIELD_STRING),
    BATCH_READ_ONLY("nodeId", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectory", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectoryUrl", FIELD_STRING),
};
static SCHEMA(schema_node_info, "ComputeNodeInformation", node_rows, NULL);

static const struct field subtask_rows[] = {
    BATCH_READ_ONLY("id", FIELD_INT),
    {.name = "nodeInfo", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_node_info},
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    {.name = "containerInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_container_info},
    {.name = "failureInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_failure},
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("previousState", FIELD_STRING),
    BATCH_READ_ONLY("previousStateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("result", FIELD_STRING),
};
SCHEMA(schema_batch_subtask, "SubtaskInformation", subtask_rows, NULL);

static void finish_task(struct arena *a, const json_t *obj, void *into)
{
    struct batch_task_spec *t = into;
    const json_t *token = json_object_get(obj, "authenticationTokenSettings");
    (void)a;
    t->has_token = json_array_size(json_object_get(token, "access")) > 0;
}

#define LIST(label, table, member, count)                                                          \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .sub = &(table), .max = MAX_ITEMS,                   \
        INTO_LIST(struct batch_task_spec, member, count)                                           \
    }

static const struct field task_rows[] = {
    {BATCH_TEXT("id", FIELD_REQUIRED, 1, BATCH_MAX_ID), .check = batch_check_id,
     INTO_TEXT(struct batch_task_spec, id)},
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("eTag", FIELD_STRING),
    BATCH_READ_ONLY("creationTime", FIELD_TIME),
    BATCH_READ_ONLY("lastModified", FIELD_TIME),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("previousState", FIELD_STRING),
    BATCH_READ_ONLY("previousStateTransitionTime", FIELD_TIME),
    {BATCH_TEXT("commandLine", FIELD_REQUIRED, 0, BATCH_MAX_COMMAND),
     INTO_TEXT(struct batch_task_spec, command_line)},
    {.name = "containerSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_POINTER,
     .sub = &schema_batch_container,
     INTO_POINTER(struct batch_task_spec, container)},
    LIST("resourceFiles", schema_batch_resource_file, resources, n_resources),
    LIST("outputFiles", schema_batch_output_file, outputs, n_outputs),
    LIST("environmentSettings", schema_batch_env, env, n_env),
    {.name = "affinityInfo", .kind = FIELD_OBJECT, .sub = &schema_affinity, INTO_SAME},
    LIST("applicationPackageReferences", schema_batch_package, packages, n_packages),
    {.name = "userIdentity",
     .kind = FIELD_OBJECT,
     .sub = &schema_batch_user,
     .fallback = "{\"autoUser\":{}}",
     INTO_OBJECT(struct batch_task_spec, user, struct batch_user)},
    {.name = "exitConditions",
     .kind = FIELD_OBJECT,
     .sub = &schema_exit_conditions,
     INTO_OBJECT(struct batch_task_spec, exits, struct batch_exit_conditions)},
    {.name = "multiInstanceSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_POINTER,
     .sub = &schema_multi,
     INTO_POINTER(struct batch_task_spec, multi)},
    {.name = "dependsOn", .kind = FIELD_OBJECT, .sub = &schema_depends},
    {.name = "authenticationTokenSettings", .kind = FIELD_OBJECT, .sub = &schema_batch_token},
    {.name = "constraints",
     .kind = FIELD_OBJECT,
     .sub = &schema_batch_task_limits,
     .fallback = "{}",
     INTO_OBJECT(struct batch_task_spec, limits, struct batch_constraints)},
    {.name = "requiredSlots",
     .kind = FIELD_INT,
     .versions = BATCH_SINCE(BATCH_12_0),
     .fallback = "1",
     .min = 1,
     .max = 256,
     INTO_INT(struct batch_task_spec, slots)},
    {.name = "executionInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_execution},
    {.name = "nodeInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY | FIELD_KEEP_EMPTY,
     .sub = &schema_node_info},
    {.name = "stats", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_batch_stats},
};
SCHEMA_INTO(schema_batch_task, "CloudTask", task_rows, NULL, struct batch_task_spec, finish_task);

static const struct field task_update_rows[] = {
    {.name = "constraints",
     .kind = FIELD_OBJECT,
     .sub = &schema_batch_task_limits,
     .fallback = "{}"},
};
SCHEMA(schema_batch_task_update, "TaskUpdateParameter", task_update_rows, NULL);
