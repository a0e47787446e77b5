/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch, and the bodies of what is done with them.
 */
#include "model/batch/tables_pool.h"

#include <string.h>

#include "model/batch/pool_spec.h"
#include "model/batch/tables.h"
#include "model/batch/tables_vm.h"

const struct enum_name batch_dealloc_names[] = {{BATCH_DEALLOC_REQUEUE, "requeue"},
                                                {BATCH_DEALLOC_TERMINATE, "terminate"},
                                                {BATCH_DEALLOC_TASK_COMPLETION, "taskcompletion"},
                                                {BATCH_DEALLOC_RETAINED_DATA, "retaineddata"},
                                                {0, NULL}};
const struct enum_name batch_fill_names[] = {
    {BATCH_FILL_SPREAD, "Spread"}, {BATCH_FILL_PACK, "Pack"}, {0, NULL}};

#define MAX_NODES       10000
#define MAX_SLOTS       256
#define MAX_FORMULA     1048576 /* that one is too long has an error of its own */
#define MAX_START_TASK  32768   /* characters of commands, variables and files together */
#define MAX_REMOVED     100
#define MAX_PACKAGES    10
#define MAX_MOUNTS      10
#define MAX_CREDENTIALS 100

/* --- start tasks ----------------------------------------------------------------------------- */

/* How long the texts of a list of objects are. */
static size_t texts_of(const json_t *list)
{
    size_t i, n = 0;
    json_t *item, *value;
    const char *key;
    json_array_foreach(list, i, item) {
        json_object_foreach(item, key, value) {
            n += json_string_length(value);
        }
    }
    return n;
}

static int check_start_task(json_t *obj, const char *path, struct err *e)
{
    size_t n = json_string_length(json_object_get(obj, "commandLine")) +
               texts_of(json_object_get(obj, "resourceFiles")) +
               texts_of(json_object_get(obj, "environmentSettings"));
    if (n <= MAX_START_TASK)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has %zu characters in its command, variables and files; at most %d are "
                   "allowed",
                   path, n, MAX_START_TASK);
}

static const struct field start_task_rows[] = {
    {BATCH_TEXT("commandLine", FIELD_REQUIRED, 1, BATCH_MAX_COMMAND), .check = batch_check_command,
     INTO_TEXT(struct batch_start_task, command_line)},
    {.name = "containerSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_POINTER,
     .sub = &schema_batch_container,
     INTO_POINTER(struct batch_start_task, container)},
    {.name = "resourceFiles",
     .kind = FIELD_ARRAY,
     .sub = &schema_batch_resource_file,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_start_task, resources, n_resources)},
    {.name = "environmentSettings",
     .kind = FIELD_ARRAY,
     .sub = &schema_batch_env,
     .max = MAX_ITEMS,
     INTO_LIST(struct batch_start_task, env, n_env)},
    {.name = "userIdentity",
     .kind = FIELD_OBJECT,
     .sub = &schema_batch_user,
     .fallback = "{\"autoUser\":{}}",
     INTO_OBJECT(struct batch_start_task, user, struct batch_user)},
    {.name = "maxTaskRetryCount",
     .kind = FIELD_INT,
     .min = -1,
     .fallback = "0",
     INTO_INT(struct batch_start_task, retries)},
    {.name = "waitForSuccess",
     .kind = FIELD_BOOL,
     .versions = BATCH_UNTIL(BATCH_9_0),
     .fallback = "false",
     INTO_BOOL(struct batch_start_task, waits)},
    {.name = "waitForSuccess",
     .kind = FIELD_BOOL,
     .versions = BATCH_SINCE(BATCH_10_0),
     .fallback = "true",
     INTO_BOOL(struct batch_start_task, waits)},
};
SCHEMA_INTO(schema_batch_start_task, "StartTask", start_task_rows, check_start_task,
            struct batch_start_task, NULL);

/* --- certificates, tags ---------------------------------------------------------------------- */

static const struct enum_name store_names[] = {{1, "CurrentUser"}, {2, "LocalMachine"}, {0, NULL}};
static const struct enum_name visibility_names[] = {
    {1, "starttask"}, {2, "task"}, {3, "remoteuser"}, {0, NULL}};
static const struct enum_name communication_names[] = {
    {1, "default"}, {2, "classic"}, {3, "simplified"}, {0, NULL}};

static const struct field certificate_rows[] = {
    {BATCH_TEXT("thumbprint", FIELD_REQUIRED, 1, 128)},
    {BATCH_TEXT("thumbprintAlgorithm", FIELD_REQUIRED, 1, 16)},
    {.name = "storeLocation", .kind = FIELD_ENUM, .values = store_names},
    {BATCH_TEXT("storeName", 0, 0, 128)},
    {.name = "visibility", .kind = FIELD_STRINGS, .values = visibility_names, .max = 3},
};
SCHEMA(schema_batch_certificate_reference, "CertificateReference", certificate_rows, NULL);

static const struct field policy_rows[] = {
    {.name = "nodeFillType",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = batch_fill_names,
     INTO_ENUM(struct batch_pool_spec, fill)},
};
static SCHEMA_INTO(schema_policy, "TaskSchedulingPolicy", policy_rows, NULL, struct batch_pool_spec,
                   NULL);

/* --- what has become of a size --------------------------------------------------------------- */

static const struct field resize_error_rows[] = {
    BATCH_READ_ONLY("code", FIELD_STRING),
    BATCH_READ_ONLY("message", FIELD_STRING),
    {.name = "values", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batch_pair},
};
SCHEMA(schema_batch_resize_error, "ResizeError", resize_error_rows, NULL);
static SCHEMA(schema_run_error, "AutoScaleRunError", resize_error_rows, NULL);

static const struct field run_rows[] = {
    BATCH_READ_ONLY("timestamp", FIELD_TIME),
    BATCH_READ_ONLY("results", FIELD_STRING),
    {.name = "error", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_run_error},
};
SCHEMA(schema_batch_auto_scale_run, "AutoScaleRun", run_rows, NULL);

/* --- pools ----------------------------------------------------------------------------------- */

#define SIZE_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .max = MAX_NODES                                       \
    }
#define INTERVAL_ROW(label, most)                                                                  \
    {                                                                                              \
        .name = (label), .kind = FIELD_DURATION, .min = BATCH_INTERVAL_MIN_S, .max = (most)        \
    }
#define LIST_ROW(label, table, most, bits)                                                         \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .flags = (bits), .sub = &(table), .max = (most)      \
    }
#define PACKAGES_ROW(bits)                                                                         \
    {                                                                                              \
        .name = "applicationPackageReferences", .kind = FIELD_ARRAY, .flags = (bits),              \
        .sub = &schema_batch_package, .max = MAX_PACKAGES,                                         \
        INTO_LIST(struct batch_pool_spec, packages, n_packages)                                    \
    }
#define CERTIFICATES_ROW(bits)                                                                     \
    LIST_ROW("certificateReferences", schema_batch_certificate_reference, MAX_ITEMS, bits)
#define METADATA_ROW(bits) LIST_ROW("metadata", schema_batch_metadata, BATCH_MAX_METADATA, bits)
#define START_TASK_ROW                                                                             \
    {                                                                                              \
        .name = "startTask", .kind = FIELD_OBJECT, .flags = FIELD_POINTER,                         \
        .sub = &schema_batch_start_task, INTO_POINTER(struct batch_pool_spec, start_task)          \
    }
#define USERS_ROW                                                                                  \
    {                                                                                              \
        .name = "userAccounts", .kind = FIELD_ARRAY, .sub = &schema_batch_user_account,            \
        .max = MAX_CREDENTIALS, .check = batch_check_accounts,                                     \
        INTO_LIST(struct batch_pool_spec, users, n_users)                                          \
    }
#define VERSIONED(label, sort, table, known)                                                       \
    {                                                                                              \
        .name = (label), .kind = (sort), .versions = (known), .sub = &(table)                      \
    }
#define COMMUNICATION_ROW                                                                          \
    {                                                                                              \
        .name = "targetNodeCommunicationMode", .kind = FIELD_ENUM, .values = communication_names,  \
        .versions = BATCH_SINCE(BATCH_16_0)                                                        \
    }
#define SLOTS_ROWS(given, newer)                                                                   \
    {.name = "maxTasksPerNode",                                                                    \
     .canon = "taskSlotsPerNode",                                                                  \
     .kind = FIELD_INT,                                                                            \
     .min = 1,                                                                                     \
     .max = MAX_SLOTS,                                                                             \
     .versions = BATCH_UNTIL(BATCH_11_0),                                                          \
     .fallback = (given),                                                                          \
     INTO_INT(struct batch_pool_spec, slots)},                                                     \
    {                                                                                              \
        .name = "taskSlotsPerNode", .kind = FIELD_INT, .min = 1, .max = MAX_SLOTS,                 \
        .versions = (newer), .fallback = (given), INTO_INT(struct batch_pool_spec, slots)          \
    }
#define MOUNTS_ROW(known)                                                                          \
    {                                                                                              \
        .name = "mountConfiguration", .kind = FIELD_ARRAY, .versions = (known),                    \
        .sub = &schema_batch_mount, .max = MAX_MOUNTS,                                             \
        INTO_LIST(struct batch_pool_spec, mounts, n_mounts)                                        \
    }
#define TAGS_ROW(known)                                                                            \
    {                                                                                              \
        .name = "resourceTags", .kind = FIELD_MAP, .versions = (known), .max = MAX_TAGS            \
    }
#define POLICY_DEFAULT "{\"nodeFillType\":\"Spread\"}"

/* What a pool is asked to be. `intervals`: resizeTimeout or autoScaleEvaluationInterval gets its
 * default from check_pool(), as only one of them counts. */
#define ASKED_ROWS                                                                                 \
    {BATCH_TEXT("vmSize", FIELD_REQUIRED | FIELD_LOWER, 1, 64)},                                   \
        INTERVAL_ROW("resizeTimeout", BATCH_INTERVAL_MAX_S),                                       \
        {.name = "currentDedicatedNodes", .kind = FIELD_INT, .flags = FIELD_READONLY},             \
        SIZE_ROW("targetDedicatedNodes"),                                                          \
        {.name = "currentLowPriorityNodes", .kind = FIELD_INT, .flags = FIELD_READONLY},           \
        SIZE_ROW("targetLowPriorityNodes"),                                                        \
        {.name = "resizeErrors",                                                                   \
         .kind = FIELD_ARRAY,                                                                      \
         .flags = FIELD_READONLY,                                                                  \
         .sub = &schema_batch_resize_error},                                                       \
        {.name = "enableAutoScale", .kind = FIELD_BOOL, .fallback = "false"},                      \
        {BATCH_TEXT("autoScaleFormula", 0, 1, MAX_FORMULA)},                                       \
        INTERVAL_ROW("autoScaleEvaluationInterval", BATCH_INTERVAL_MAX_S),                         \
        {.name = "autoScaleRun",                                                                   \
         .kind = FIELD_OBJECT,                                                                     \
         .flags = FIELD_READONLY,                                                                  \
         .sub = &schema_batch_auto_scale_run},                                                     \
        {.name = "enableInterNodeCommunication",                                                   \
         .kind = FIELD_BOOL,                                                                       \
         .fallback = "false",                                                                      \
         INTO_BOOL(struct batch_pool_spec, communicates)},                                         \
        START_TASK_ROW, USERS_ROW, CERTIFICATES_ROW(0), PACKAGES_ROW(0), METADATA_ROW(0),          \
        SLOTS_ROWS("1", BATCH_SINCE(BATCH_12_0)),                                                  \
        {.name = "taskSchedulingPolicy",                                                           \
         .kind = FIELD_OBJECT,                                                                     \
         .sub = &schema_policy,                                                                    \
         .fallback = POLICY_DEFAULT,                                                               \
         INTO_SAME},                                                                               \
        {.name = "virtualMachineConfiguration",                                                    \
         .kind = FIELD_OBJECT,                                                                     \
         .sub = &schema_batch_vm,                                                                  \
         INTO_SAME},                                                                               \
        {.name = "applicationLicenses",                                                            \
         .kind = FIELD_STRINGS,                                                                    \
         .versions = BATCH_UNTIL(BATCH_19_0),                                                      \
         .max = 100},                                                                              \
        MOUNTS_ROW(BATCH_SINCE(BATCH_10_0)),                                                       \
        VERSIONED("networkConfiguration", FIELD_OBJECT, schema_batch_network, 0),                  \
        VERSIONED("cloudServiceConfiguration", FIELD_OBJECT, schema_batch_cloud_service,           \
                  BATCH_UNTIL(BATCH_19_0)),                                                        \
        TAGS_ROW(BATCH_SINCE(BATCH_18_0)), COMMUNICATION_ROW,                                      \
        VERSIONED("upgradePolicy", FIELD_OBJECT, schema_batch_upgrade_policy,                      \
                  BATCH_SINCE(BATCH_19_0))

static void set_default(json_t *obj, const char *name, json_t *value)
{
    if (json_object_get(obj, name))
        json_decref(value);
    else
        json_object_set_new_nocheck(obj, name, value);
}

static int refuse_beside(const json_t *obj, const char *name, const char *why, struct err *e)
{
    if (!json_object_get(obj, name))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, name, "%s cannot be given %s", name, why);
}

static int check_scaling(json_t *obj, struct err *e)
{
    if (!json_is_true(json_object_get(obj, "enableAutoScale"))) {
        const char *why = "unless enableAutoScale is true";
        set_default(obj, "resizeTimeout", json_string("PT15M"));
        set_default(obj, "targetDedicatedNodes", json_integer(0));
        set_default(obj, "targetLowPriorityNodes", json_integer(0));
        return refuse_beside(obj, "autoScaleFormula", why, e) < 0 ||
                       refuse_beside(obj, "autoScaleEvaluationInterval", why, e) < 0
                   ? -1
                   : 0;
    }
    if (!has(obj, "autoScaleFormula"))
        return err_set(e, ERR_MISSING_PROPERTY, "autoScaleFormula",
                       "a pool with enableAutoScale must have an autoScaleFormula");
    set_default(obj, "autoScaleEvaluationInterval", json_string("PT15M"));
    const char *why = "together with enableAutoScale";
    if (refuse_beside(obj, "targetDedicatedNodes", why, e) < 0 ||
        refuse_beside(obj, "targetLowPriorityNodes", why, e) < 0)
        return -1;
    json_object_del(obj, "resizeTimeout");
    return 0;
}

int batch_check_start_task(const json_t *pool, const char *path, struct err *e)
{
    const json_t *start = json_object_get(pool, "startTask"), *users, *account;
    const json_t *vm = json_object_get(pool, "virtualMachineConfiguration");
    const char *user =
        json_string_value(json_object_get(json_object_get(start, "userIdentity"), "username"));
    char task[PLACE_SIZE], target[PLACE_SIZE];
    size_t i;
    path_join(task, path, "startTask");
    path_join(target, task, "containerSettings");
    if (json_object_get(start, "containerSettings") &&
        !json_object_get(vm, "containerConfiguration"))
        return err_set(e, ERR_INVALID_PROPERTY, target,
                       "%s is for pools with a "
                       "virtualMachineConfiguration.containerConfiguration; this one has none",
                       target);
    users = json_object_get(pool, "userAccounts");
    json_array_foreach(users, i, account) {
        if (user && strcmp(user, json_string_value(json_object_get(account, "name"))) == 0)
            return 0;
    }
    path_join(target, task, "userIdentity.username");
    return !user ? 0
                 : err_set(e, ERR_INVALID_PROPERTY, target,
                           "%s is \"%.100s\"; it must be the name of one of the %zu userAccounts "
                           "of the pool",
                           target, user, json_array_size(users));
}

static int check_pool(json_t *obj, const char *path, struct err *e)
{
    bool vm = json_object_get(obj, "virtualMachineConfiguration");
    bool cloud = json_object_get(obj, "cloudServiceConfiguration");
    if (vm == cloud)
        return err_set(e, vm ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY,
                       "virtualMachineConfiguration",
                       "a pool must have one of virtualMachineConfiguration and "
                       "cloudServiceConfiguration");
    return check_scaling(obj, e) < 0 ? -1 : batch_check_start_task(obj, path, e);
}

static const struct field pool_rows[] = {
    {BATCH_TEXT("id", FIELD_REQUIRED, 1, BATCH_MAX_ID), .check = batch_check_id},
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("eTag", FIELD_STRING),
    BATCH_READ_ONLY("lastModified", FIELD_TIME),
    BATCH_READ_ONLY("creationTime", FIELD_TIME),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("allocationState", FIELD_STRING),
    BATCH_READ_ONLY("allocationStateTransitionTime", FIELD_TIME),
    ASKED_ROWS,
    {.name = "currentNodeCommunicationMode",
     .kind = FIELD_STRING,
     .flags = FIELD_READONLY,
     .versions = BATCH_SINCE(BATCH_16_0)},
    {.name = "identity",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .versions = BATCH_SINCE(BATCH_14_0),
     .sub = &schema_batch_pool_identity},
};
SCHEMA_INTO(schema_batch_pool, "CloudPool", pool_rows, check_pool, struct batch_pool_spec, NULL);

static const struct field spec_rows[] = {{BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY)},
                                         ASKED_ROWS};
SCHEMA(schema_batch_pool_spec, "PoolSpecification", spec_rows, check_pool);

/* --- changes --------------------------------------------------------------------------------- */

#define NEW BATCH_SINCE(BATCH_20_0)

/* PATCH: what is given replaces what there is, as a whole. An empty list removes it. */
static const struct field patch_rows[] = {
    START_TASK_ROW,
    PACKAGES_ROW(FIELD_KEEP_EMPTY),
    CERTIFICATES_ROW(FIELD_KEEP_EMPTY),
    METADATA_ROW(FIELD_KEEP_EMPTY),
    COMMUNICATION_ROW,
    {BATCH_TEXT("displayName", 0, 0, BATCH_MAX_DISPLAY), .versions = NEW},
    {BATCH_TEXT("vmSize", FIELD_LOWER, 1, 64), .versions = NEW},
    {.name = "taskSlotsPerNode", .kind = FIELD_INT, .min = 1, .max = MAX_SLOTS, .versions = NEW},
    VERSIONED("taskSchedulingPolicy", FIELD_OBJECT, schema_policy, NEW),
    {.name = "enableInterNodeCommunication", .kind = FIELD_BOOL, .versions = NEW},
    VERSIONED("virtualMachineConfiguration", FIELD_OBJECT, schema_batch_vm, NEW),
    VERSIONED("networkConfiguration", FIELD_OBJECT, schema_batch_network, NEW),
    TAGS_ROW(NEW),
    {.name = "userAccounts",
     .kind = FIELD_ARRAY,
     .versions = NEW,
     .sub = &schema_batch_user_account,
     .max = MAX_CREDENTIALS,
     .check = batch_check_accounts},
    MOUNTS_ROW(NEW),
    VERSIONED("upgradePolicy", FIELD_OBJECT, schema_batch_upgrade_policy, NEW),
};
SCHEMA(schema_batch_pool_patch, "PoolPatchParameter", patch_rows, NULL);

/* All of it is replaced. */
static const struct field properties_rows[] = {
    START_TASK_ROW,
    CERTIFICATES_ROW(FIELD_REQUIRED | FIELD_KEEP_EMPTY),
    PACKAGES_ROW(FIELD_REQUIRED | FIELD_KEEP_EMPTY),
    METADATA_ROW(FIELD_REQUIRED | FIELD_KEEP_EMPTY),
    COMMUNICATION_ROW,
};
SCHEMA(schema_batch_pool_properties, "PoolUpdatePropertiesParameter", properties_rows, NULL);

#define DEALLOCATION_ROW(label)                                                                    \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .values = batch_dealloc_names,                        \
        .fallback = "\"requeue\""                                                                  \
    }
#define TIMEOUT_ROW                                                                                \
    {                                                                                              \
        .name = "resizeTimeout", .kind = FIELD_DURATION, .min = BATCH_INTERVAL_MIN_S,              \
        .fallback = "\"PT15M\""                                                                    \
    }

static int check_resize(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    if (json_object_get(obj, "targetDedicatedNodes") ||
        json_object_get(obj, "targetLowPriorityNodes"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, "targetDedicatedNodes",
                   "a resize must have targetDedicatedNodes or targetLowPriorityNodes");
}

static const struct field resize_rows[] = {
    SIZE_ROW("targetDedicatedNodes"),
    SIZE_ROW("targetLowPriorityNodes"),
    TIMEOUT_ROW,
    DEALLOCATION_ROW("nodeDeallocationOption"),
};
SCHEMA(schema_batch_pool_resize, "PoolResizeParameter", resize_rows, check_resize);

static const struct field remove_rows[] = {
    {.name = "nodeList", .kind = FIELD_STRINGS, .flags = FIELD_REQUIRED, .max = MAX_REMOVED},
    TIMEOUT_ROW,
    DEALLOCATION_ROW("nodeDeallocationOption"),
};
SCHEMA(schema_batch_remove_nodes, "NodeRemoveParameter", remove_rows, NULL);

static int check_enabled(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    if (json_object_size(obj) > 0)
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, "autoScaleFormula",
                   "the body must have autoScaleFormula or autoScaleEvaluationInterval");
}

static const struct field enable_rows[] = {
    {BATCH_TEXT("autoScaleFormula", 0, 1, MAX_FORMULA)},
    INTERVAL_ROW("autoScaleEvaluationInterval", BATCH_INTERVAL_MAX_S),
};
SCHEMA(schema_batch_enable_auto_scale, "PoolEnableAutoScaleParameter", enable_rows, check_enabled);

static const struct field evaluate_rows[] = {
    {BATCH_TEXT("autoScaleFormula", FIELD_REQUIRED, 1, MAX_FORMULA)},
};
SCHEMA(schema_batch_evaluate_auto_scale, "PoolEvaluateAutoScaleParameter", evaluate_rows, NULL);

static const struct field upgrade_rows[] = {
    {BATCH_TEXT("targetOSVersion", FIELD_REQUIRED, 1, 64)},
};
SCHEMA(schema_batch_upgrade_os, "PoolUpgradeOSParameter", upgrade_rows, NULL);
