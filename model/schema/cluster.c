/* SPDX-License-Identifier: MIT
 *
 * Clusters, and what PATCH may change of them.
 */
#include "model/schema/tables.h"

#define COUNT_ROW(label)                                                                           \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = FIELD_READONLY                                \
    }
#define TIME_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_TIME, .flags = FIELD_READONLY                               \
    }

static const struct field counts_rows[] = {
    COUNT_ROW("runningNodeCount"),   COUNT_ROW("idleNodeCount"),    COUNT_ROW("unusableNodeCount"),
    COUNT_ROW("preparingNodeCount"), COUNT_ROW("leavingNodeCount"),
};
static SCHEMA(schema_counts, "NodeStateCounts", counts_rows, NULL);

static const struct field manual_rows[] = {
    {.name = "targetNodeCount",
     .kind = FIELD_INT,
     .flags = FIELD_REQUIRED,
     INTO_INT(struct scale, target)},
    {.name = "nodeDeallocationOption",
     .kind = FIELD_ENUM,
     .values = dealloc_option_names,
     .fallback = "\"requeue\"",
     INTO_ENUM(struct scale, dealloc)},
};
static SCHEMA_INTO(schema_manual, "ManualScaleSettings", manual_rows, NULL, struct scale, NULL);

/* An initial count of 0 is what clients send for "none given", so it is in every range. */
static int check_auto_scale(json_t *obj, const char *path, struct err *e)
{
    json_int_t min = json_integer_value(json_object_get(obj, "minimumNodeCount"));
    json_int_t max = json_integer_value(json_object_get(obj, "maximumNodeCount"));
    json_int_t initial = json_integer_value(json_object_get(obj, "initialNodeCount"));
    char where[PLACE_SIZE];
    if (min > max) {
        path_join(where, path, "minimumNodeCount");
        return err_set(e, ERR_INVALID_PROPERTY, where,
                       "%s is %" JSON_INTEGER_FORMAT " and maximumNodeCount is "
                       "%" JSON_INTEGER_FORMAT "; the minimum must not be above the maximum",
                       where, min, max);
    }
    if (initial == 0 || (initial >= min && initial <= max))
        return 0;
    path_join(where, path, "initialNodeCount");
    return err_set(e, ERR_INVALID_PROPERTY, where,
                   "%s is %" JSON_INTEGER_FORMAT "; it must be 0 or from %" JSON_INTEGER_FORMAT
                   " to %" JSON_INTEGER_FORMAT,
                   where, initial, min, max);
}

static const struct field auto_scale_rows[] = {
    {.name = "minimumNodeCount",
     .kind = FIELD_INT,
     .flags = FIELD_REQUIRED,
     INTO_INT(struct scale, minimum)},
    {.name = "maximumNodeCount",
     .kind = FIELD_INT,
     .flags = FIELD_REQUIRED,
     INTO_INT(struct scale, maximum)},
    {.name = "initialNodeCount",
     .kind = FIELD_INT,
     .fallback = "0",
     INTO_INT(struct scale, initial)},
};
static SCHEMA_INTO(schema_auto_scale, "AutoScaleSettings", auto_scale_rows, check_auto_scale,
                   struct scale, NULL);

static int check_scale(json_t *obj, const char *path, struct err *e)
{
    bool manual = json_object_get(obj, "manual"), automatic = json_object_get(obj, "autoScale");
    if (manual != automatic)
        return 0;
    return err_set(e, manual ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of manual and autoScale", path,
                   manual ? "both" : "neither");
}

/* The kind follows from which of the two is present. */
static void finish_scale(struct arena *a, const json_t *obj, void *into)
{
    struct scale *s = into;
    (void)a;
    s->kind = json_object_get(obj, "autoScale") ? SCALE_AUTO : SCALE_MANUAL;
    if (s->kind == SCALE_AUTO)
        s->dealloc = DEALLOC_WAIT_FOR_JOB_COMPLETION;
    else if (!s->dealloc)
        s->dealloc = DEALLOC_REQUEUE;
}

static const struct field scale_rows[] = {
    {.name = "manual", .kind = FIELD_OBJECT, .sub = &schema_manual, INTO_SAME},
    {.name = "autoScale", .kind = FIELD_OBJECT, .sub = &schema_auto_scale, INTO_SAME},
};
static SCHEMA_INTO(schema_scale, "ScaleSettings", scale_rows, check_scale, struct scale,
                   finish_scale);

static const struct field image_rows[] = {
    {.name = "publisher", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1, .max = 256},
    {.name = "offer", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1, .max = 256},
    {.name = "sku", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1, .max = 256},
    {.name = "version", .kind = FIELD_STRING, .fallback = "\"latest\"", .min = 1, .max = 256},
    {.name = "virtualMachineImageId",
     .kind = FIELD_STRING,
     .versions = V03 | V05,
     .max = MAX_ID_BYTES},
};
static SCHEMA(schema_image, "ImageReference", image_rows, NULL);

static const struct field machine_rows[] = {
    {.name = "imageReference",
     .kind = FIELD_OBJECT,
     .sub = &schema_image,
     .fallback = "{\"publisher\": \"Canonical\", \"offer\": \"UbuntuServer\", "
                 "\"sku\": \"16.04-LTS\"}"},
};
static SCHEMA(schema_machine, "VirtualMachineConfiguration", machine_rows, NULL);

static const struct field setup_task_rows[] = {
    {.name = "commandLine",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct setup_task_spec, command_line)},
    {.name = "environmentVariables",
     .kind = FIELD_ARRAY,
     .sub = &schema_env_variable,
     .max = MAX_ITEMS,
     INTO_LIST(struct setup_task_spec, env, n_env)},
    {.name = "secrets",
     .kind = FIELD_ARRAY,
     .versions = V03 | V05,
     .sub = &schema_env_secret,
     .max = MAX_ITEMS,
     INTO_LIST(struct setup_task_spec, env, n_env)},
    {.name = "runElevated", .kind = FIELD_BOOL, .versions = V_FLAT, .fallback = "false"},
    {.name = "stdOutErrPathPrefix",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_output_prefix,
     INTO_TEXT(struct setup_task_spec, std_prefix)},
    {.name = "stdOutErrPathSuffix",
     .kind = FIELD_STRING,
     .flags = FIELD_READONLY,
     .versions = V03 | V05},
};
static SCHEMA_INTO(schema_setup_task, "SetupTask", setup_task_rows, check_env,
                   struct setup_task_spec, NULL);

static const struct field app_insights_rows[] = {
    {.name = "component",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_resource_id},
    {.name = "instrumentationKey", .kind = FIELD_STRING, .flags = FIELD_SECRET, .max = 1024},
    {.name = "instrumentationKeySecretReference",
     .kind = FIELD_OBJECT,
     .sub = &schema_secret_reference},
};
static SCHEMA(schema_app_insights, "AppInsightsReference", app_insights_rows, NULL);

static const struct field counters_rows[] = {
    {.name = "appInsightsReference",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_app_insights},
};
static SCHEMA(schema_counters, "PerformanceCountersSettings", counters_rows, NULL);

static const struct field node_setup_rows[] = {
    {.name = "setupTask",
     .kind = FIELD_OBJECT,
     .flags = FIELD_POINTER,
     .sub = &schema_setup_task,
     INTO_POINTER(struct node_setup_spec, setup_task)},
    {.name = "mountVolumes",
     .kind = FIELD_OBJECT,
     .sub = &schema_mount_volumes,
     INTO_OBJECT(struct node_setup_spec, mounts, struct mount_list)},
    {.name = "performanceCountersSettings",
     .kind = FIELD_OBJECT,
     .versions = V03 | V05,
     .sub = &schema_counters},
};
static SCHEMA_INTO(schema_node_setup, "NodeSetup", node_setup_rows, NULL, struct node_setup_spec,
                   NULL);

/* The published schema lets scaleSettings be absent and says of targetNodeCount "Default is 0": a
 * cluster without scale settings is a manual one of no nodes, to be resized later. */
static const struct field properties_rows[] = {
    {.name = "provisioningState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = prov_state_names},
    {.name = "allocationState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = alloc_state_names},
    TIME_ROW("creationTime"),
    TIME_ROW("allocationStateTransitionTime"),
    TIME_ROW("provisioningStateTransitionTime"),
    {.name = "vmSize",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_UPPER,
     .min = 1,
     .max = 64,
     .check = check_clean_text,
     INTO_TEXT(struct cluster_spec, vm_size)},
    COUNT_ROW("currentNodeCount"),
    {.name = "nodeStateCounts",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_counts},
    {.name = "vmPriority",
     .kind = FIELD_ENUM,
     .values = vm_priority_names,
     .fallback = "\"dedicated\"",
     INTO_ENUM(struct cluster_spec, vm_priority)},
    {.name = "scaleSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_MUTABLE | FIELD_KEEP_EMPTY,
     .sub = &schema_scale,
     .fallback = "{\"manual\": {\"targetNodeCount\": 0}}",
     INTO_OBJECT(struct cluster_spec, scale, struct scale)},
    {.name = "virtualMachineConfiguration",
     .kind = FIELD_OBJECT,
     .sub = &schema_machine,
     .fallback = "{}"},
    {.name = "userAccountSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_user_account,
     INTO_OBJECT(struct cluster_spec, setup.admin, struct admin_user_spec)},
    {.name = "nodeSetup",
     .kind = FIELD_OBJECT,
     .sub = &schema_node_setup,
     INTO_OBJECT(struct cluster_spec, setup, struct node_setup_spec)},
    {.name = "subnet", .kind = FIELD_OBJECT, .sub = &schema_resource_id},
    {.name = "errors", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batchai_error},
};

static void finish_properties(struct arena *a, const json_t *obj, void *into)
{
    struct cluster_spec *c = into;
    (void)a;
    (void)obj;
    if (!c->vm_priority)
        c->vm_priority = VM_DEDICATED;
}
static SCHEMA_INTO(schema_properties, "ClusterProperties", properties_rows, NULL,
                   struct cluster_spec, finish_properties);

static const struct field cluster_rows[] = {
    RESOURCE_ROWS,
    TRACKED_ROWS(FIELD_MUTABLE),
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_properties,
     INTO_SAME},
};
SCHEMA_INTO(schema_cluster, "Cluster", cluster_rows, NULL, struct cluster_spec, NULL);

static const struct field update_properties_rows[] = {
    {.name = "scaleSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_MUTABLE | FIELD_KEEP_EMPTY,
     .sub = &schema_scale},
};
static SCHEMA(schema_update_properties, "ClusterUpdateProperties", update_properties_rows, NULL);

/* Empty tags are kept: they mean "remove them all". */
static const struct field cluster_update_rows[] = {
    {.name = "tags",
     .kind = FIELD_MAP,
     .flags = FIELD_MUTABLE | FIELD_KEEP_EMPTY,
     .versions = V_FLAT,
     .max = MAX_TAGS},
    {.name = "tags", .kind = FIELD_MAP, .flags = FIELD_DISCARD, .versions = V05, .max = MAX_TAGS},
    {.name = "properties", .kind = FIELD_OBJECT, .sub = &schema_update_properties},
};
SCHEMA(schema_cluster_update, "ClusterUpdateParameters", cluster_update_rows, NULL);
