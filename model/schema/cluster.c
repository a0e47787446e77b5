/* SPDX-License-Identifier: MIT
 *
 * Clusters, and the properties that PATCH may change.
 */
#include "model/schema/tables.h"

/* clang-format off */
static const struct field counts_rows[] = {
    INT("runningNodeCount", READONLY),
    INT("idleNodeCount", READONLY),
    INT("unusableNodeCount", READONLY),
    INT("preparingNodeCount", READONLY),
    INT("leavingNodeCount", READONLY),
};
/* clang-format on */
static SCHEMA(schema_counts, counts_rows, "NodeStateCounts");

static const struct field manual_rows[] = {
    INT("targetNodeCount", REQUIRED, INTO(scale, target)),
    ENUM("nodeDeallocationOption", 0, dealloc_option_names, .fallback = "\"requeue\"",
         INTO(scale, dealloc)),
};
static SCHEMA(schema_manual, manual_rows, "ManualScaleSettings", FILLS(scale));

/* Clients send an initial count of 0 if the user gave none, so 0 is valid whatever the minimum and
 * the maximum are. */
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
    INT("minimumNodeCount", REQUIRED, INTO(scale, minimum)),
    INT("maximumNodeCount", REQUIRED, INTO(scale, maximum)),
    INT("initialNodeCount", .fallback = "0", INTO(scale, initial)),
};
static SCHEMA(schema_auto_scale, auto_scale_rows, "AutoScaleSettings", .check = check_auto_scale,
              FILLS(scale));

static int check_scale(json_t *obj, const char *path, struct err *e)
{
    bool manual = json_object_get(obj, "manual"), automatic = json_object_get(obj, "autoScale");
    if (manual != automatic)
        return 0;
    return err_set(e, manual ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of manual and autoScale", path,
                   manual ? "both" : "neither");
}

/* Sets the kind of scaling: the document contains either manual or autoScale. */
static void finish_scale(struct arena *a, const json_t *obj, void *into)
{
    struct scale *s = into;
    (void)a;
    s->kind = json_object_get(obj, "autoScale") ? SCALE_AUTO : SCALE_MANUAL;
    if (s->kind == SCALE_AUTO)
        s->dealloc = DEALLOC_WAIT_FOR_COMPLETION;
    else if (!s->dealloc)
        s->dealloc = DEALLOC_REQUEUE;
}

static const struct field scale_rows[] = {
    OBJECT("manual", 0, schema_manual, INTO_SAME),
    OBJECT("autoScale", 0, schema_auto_scale, INTO_SAME),
};
static SCHEMA(schema_scale, scale_rows, "ScaleSettings", .check = check_scale, FILLS(scale),
              .finish = finish_scale);

static const struct field image_rows[] = {
    TEXT("publisher", REQUIRED, 1, 256),
    TEXT("offer", REQUIRED, 1, 256),
    TEXT("sku", REQUIRED, 1, 256),
    TEXT("version", 0, 1, 256, .fallback = "\"latest\""),
    TEXT("virtualMachineImageId", .versions = V03 | V05, .max = MAX_ID_BYTES),
};
static SCHEMA(schema_image, image_rows, "ImageReference");

#define IMAGE_DEFAULT                                                                              \
    "{\"publisher\": \"Canonical\", \"offer\": \"UbuntuServer\", \"sku\": \"16.04-LTS\"}"
static const struct field machine_rows[] = {
    OBJECT("imageReference", 0, schema_image, .fallback = IMAGE_DEFAULT),
};
static SCHEMA(schema_machine, machine_rows, "VirtualMachineConfiguration");

static const struct field setup_task_rows[] = {
    TEXT("commandLine", REQUIRED, 1, MAX_ARG_BYTES, INTO(setup_task_spec, command_line)),
    LIST("environmentVariables", 0, schema_env_variable, .max = MAX_ITEMS,
         INTO_LIST(setup_task_spec, env, n_env)),
    LIST("secrets", 0, schema_env_secret, .versions = V03 | V05, .max = MAX_ITEMS,
         INTO_LIST(setup_task_spec, env, n_env)),
    BOOL("runElevated", .versions = V_FLAT, .fallback = "false"),
    TEXT("stdOutErrPathPrefix", REQUIRED, 1, MAX_PATH_BYTES, .check = check_output_prefix,
         INTO(setup_task_spec, std_prefix)),
    TEXT("stdOutErrPathSuffix", READONLY, .versions = V03 | V05),
};
static SCHEMA(schema_setup_task, setup_task_rows, "SetupTask", .check = check_env,
              FILLS(setup_task_spec));

static const struct field app_insights_rows[] = {
    OBJECT("component", REQUIRED, schema_resource_id),
    TEXT("instrumentationKey", SECRET, .max = 1024),
    OBJECT("instrumentationKeySecretReference", 0, schema_secret_reference),
};
static SCHEMA(schema_app_insights, app_insights_rows, "AppInsightsReference");

static const struct field counters_rows[] = {
    OBJECT("appInsightsReference", REQUIRED, schema_app_insights),
};
static SCHEMA(schema_counters, counters_rows, "PerformanceCountersSettings");

static const struct field node_setup_rows[] = {
    OBJECT("setupTask", POINTER, schema_setup_task, INTO(node_setup_spec, setup_task)),
    OBJECT("mountVolumes", 0, schema_mount_volumes, INTO(node_setup_spec, mounts)),
    OBJECT("performanceCountersSettings", 0, schema_counters, .versions = V03 | V05),
};
static SCHEMA(schema_node_setup, node_setup_rows, "NodeSetup", FILLS(node_setup_spec));

/* In the published schema scaleSettings may be absent, and targetNodeCount has the note "Default is
 * 0". So a cluster without scale settings has manual scaling and 0 nodes; the user can resize it
 * later. */
static const struct field properties_rows[] = {
    ENUM("provisioningState", READONLY, prov_state_names),
    ENUM("allocationState", READONLY, alloc_state_names),
    TIME("creationTime", READONLY),
    TIME("allocationStateTransitionTime", READONLY),
    TIME("provisioningStateTransitionTime", READONLY),
    TEXT("vmSize", REQUIRED | UPPER, 1, 64, .check = check_clean_text, INTO(cluster_spec, vm_size)),
    INT("currentNodeCount", READONLY),
    OBJECT("nodeStateCounts", READONLY, schema_counts),
    ENUM("vmPriority", 0, vm_priority_names, .fallback = "\"dedicated\"",
         INTO(cluster_spec, vm_priority)),
    OBJECT("scaleSettings", MUTABLE | KEEP_EMPTY, schema_scale,
           .fallback = "{\"manual\": {\"targetNodeCount\": 0}}", INTO(cluster_spec, scale)),
    OBJECT("virtualMachineConfiguration", 0, schema_machine, .fallback = "{}"),
    OBJECT("userAccountSettings", REQUIRED, schema_user_account, INTO(cluster_spec, setup.admin)),
    OBJECT("nodeSetup", 0, schema_node_setup, INTO(cluster_spec, setup)),
    OBJECT("subnet", 0, schema_resource_id),
    LIST("errors", READONLY, schema_batchai_error),
};

static void finish_properties(struct arena *a, const json_t *obj, void *into)
{
    struct cluster_spec *c = into;
    (void)a;
    (void)obj;
    if (!c->vm_priority)
        c->vm_priority = VM_DEDICATED;
}
static SCHEMA(schema_properties, properties_rows, "ClusterProperties", FILLS(cluster_spec),
              .finish = finish_properties);

static const struct field cluster_rows[] = {
    RESOURCE_ROWS,
    TRACKED_ROWS(MUTABLE),
    OBJECT("properties", REQUIRED, schema_properties, INTO_SAME),
};
SCHEMA(schema_cluster, cluster_rows, "Cluster", FILLS(cluster_spec));

static const struct field update_properties_rows[] = {
    OBJECT("scaleSettings", MUTABLE | KEEP_EMPTY, schema_scale),
};
static SCHEMA(schema_update_properties, update_properties_rows, "ClusterUpdateProperties");

/* Empty tags in a request are kept, because they mean that all tags shall be removed. */
static const struct field cluster_update_rows[] = {
    MAP("tags", MUTABLE | KEEP_EMPTY, .versions = V_FLAT, .max = MAX_TAGS),
    MAP("tags", MUTABLE | KEEP_EMPTY | INPUT_ONLY, .versions = V05, .max = MAX_TAGS),
    OBJECT("properties", 0, schema_update_properties),
};
SCHEMA(schema_cluster_update, cluster_update_rows, "ClusterUpdateParameters");
