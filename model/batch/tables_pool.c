/* SPDX-License-Identifier: MIT
 *
 * Pools of Azure Batch, and the bodies of operations on them.
 */
#include "model/batch/tables_pool.h"

#include <stdio.h>
#include <string.h>

#include "model/batch/images.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables.h"
#include "model/batch/tables_vm.h"
#include "model/schema/tables.h"

const struct enum_name batch_dealloc_names[] = {{BATCH_DEALLOC_REQUEUE, "requeue"},
                                                {BATCH_DEALLOC_TERMINATE, "terminate"},
                                                {BATCH_DEALLOC_TASK_COMPLETION, "taskcompletion"},
                                                {BATCH_DEALLOC_RETAINED_DATA, "retaineddata"},
                                                {0, NULL}};
const struct enum_name batch_fill_names[] = {
    {BATCH_FILL_SPREAD, "Spread"}, {BATCH_FILL_PACK, "Pack"}, {0, NULL}};
const struct enum_name batch_job_order_names[] = {
    {BATCH_ORDER_NONE, "none"}, {BATCH_ORDER_CREATION_TIME, "creationtime"}, {0, NULL}};

#define MAX_NODES       10000
#define MAX_SLOTS       256
#define MAX_FORMULA     1048576 /* a longer formula has a separate error */
#define MAX_START_TASK  32768   /* characters of commands, variables and files together */
#define MAX_REMOVED     100
#define MAX_PACKAGES    10
#define MAX_MOUNTS      10
#define MAX_CREDENTIALS 100

/* --- start tasks ----------------------------------------------------------------------------- */

/* The total length of the texts in a list of objects. */
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
    TEXT("commandLine", REQUIRED, 1, BATCH_MAX_COMMAND, .check = batch_check_command,
         INTO(batch_start_task, command_line)),
    OBJECT("containerSettings", POINTER, schema_batch_container, INTO(batch_start_task, container)),
    LIST("resourceFiles", 0, schema_batch_resource_file, .max = MAX_ITEMS,
         INTO_LIST(batch_start_task, resources, n_resources)),
    LIST("environmentSettings", 0, schema_batch_env, .max = MAX_ITEMS,
         INTO_LIST(batch_start_task, env, n_env)),
    OBJECT("userIdentity", 0, schema_batch_user, .fallback = "{\"autoUser\":{}}",
           INTO(batch_start_task, user)),
    INT("maxTaskRetryCount", .min = -1, .fallback = "0", INTO(batch_start_task, retries)),
    BOOL("waitForSuccess", .versions = BATCH_UNTIL(BATCH_9_0), .fallback = "false",
         INTO(batch_start_task, waits)),
    BOOL("waitForSuccess", .versions = BATCH_SINCE(BATCH_10_0), .fallback = "true",
         INTO(batch_start_task, waits)),
};
SCHEMA(schema_batch_start_task, start_task_rows, "StartTask", .check = check_start_task,
       FILLS(batch_start_task));

/* --- certificates, tags ---------------------------------------------------------------------- */

static const struct enum_name store_names[] = {{1, "CurrentUser"}, {2, "LocalMachine"}, {0, NULL}};
static const struct enum_name visibility_names[] = {
    {1, "starttask"}, {2, "task"}, {3, "remoteuser"}, {0, NULL}};
static const struct enum_name communication_names[] = {
    {1, "default"}, {2, "classic"}, {3, "simplified"}, {0, NULL}};

static const struct field certificate_rows[] = {
    TEXT("thumbprint", REQUIRED, 1, 128),
    TEXT("thumbprintAlgorithm", REQUIRED, 1, 16),
    ENUM("storeLocation", 0, store_names),
    TEXT("storeName", .max = 128),
    TEXTS("visibility", .max = 3, .values = visibility_names),
};
SCHEMA(schema_batch_certificate_reference, certificate_rows, "CertificateReference");

static const struct field policy_rows[] = {
    ENUM("jobDefaultOrder", 0, batch_job_order_names, .versions = BATCH_SINCE(BATCH_2025_06),
         .unless = BATCH_SEEDED, .fallback = "\"none\"", INTO(batch_pool_spec, job_order)),
    /* A pool without this property was made by an older version, whose jobs start in another
     * order. */
    ENUM("jobDefaultOrder", 0, batch_job_order_names, .versions = BATCH_SEEDED,
         INTO(batch_pool_spec, job_order)),
    ENUM("nodeFillType", REQUIRED, batch_fill_names, INTO(batch_pool_spec, fill)),
};
static SCHEMA(schema_policy, policy_rows, "TaskSchedulingPolicy", FILLS(batch_pool_spec));

/* --- the state of a resize --- */

static const struct field resize_error_rows[] = {
    TEXT("code", READONLY),
    TEXT("message", READONLY),
    LIST("values", READONLY, schema_batch_pair),
};
SCHEMA(schema_batch_resize_error, resize_error_rows, "ResizeError");
static SCHEMA(schema_run_error, resize_error_rows, "AutoScaleRunError");

static const struct field run_rows[] = {
    TIME("timestamp", READONLY),
    TEXT("results", READONLY),
    OBJECT("error", READONLY, schema_run_error),
};
SCHEMA(schema_batch_auto_scale_run, run_rows, "AutoScaleRun");

/* --- pools ----------------------------------------------------------------------------------- */

#define PACKAGES_ROW(bits)                                                                         \
    LIST("applicationPackageReferences", bits, schema_batch_package, .max = MAX_PACKAGES,          \
         INTO_LIST(batch_pool_spec, packages, n_packages))
#define CERTIFICATES_ROW(bits)                                                                     \
    LIST("certificateReferences", bits, schema_batch_certificate_reference,                        \
         .versions = BATCH_UNTIL(BATCH_20_0) | BATCH_SEEDED, .max = MAX_ITEMS)
#define METADATA_ROW(bits) LIST("metadata", bits, schema_batch_metadata, .max = BATCH_MAX_METADATA)
#define START_TASK_ROW                                                                             \
    OBJECT("startTask", POINTER, schema_batch_start_task, INTO(batch_pool_spec, start_task))
#define USERS_ROW                                                                                  \
    LIST("userAccounts", 0, schema_batch_user_account, .max = MAX_CREDENTIALS,                     \
         .check = batch_check_accounts, INTO_LIST(batch_pool_spec, users, n_users))
#define COMMUNICATION_ROW                                                                          \
    ENUM("targetNodeCommunicationMode", 0, communication_names,                                    \
         .versions = BATCH_WITHIN(BATCH_16_0, BATCH_20_0) | BATCH_SEEDED)
#define MOUNTS_ROW(bits, known)                                                                    \
    LIST("mountConfiguration", bits, schema_batch_mount, .versions = known, .max = MAX_MOUNTS,     \
         INTO_LIST(batch_pool_spec, mounts, n_mounts))
#define TAGS_ROW(known) MAP("resourceTags", .versions = known, .max = MAX_TAGS)
#define POLICY_DEFAULT  "{\"nodeFillType\":\"Spread\"}"

/* The request for a pool. check_pool() sets the default of resizeTimeout or of
 * autoScaleEvaluationInterval, because a pool has only one of them. */
/* clang-format off */
#define ASKED_ROWS                                                                                 \
    TEXT("vmSize", REQUIRED | LOWER, 1, 64),                                                       \
    SPAN("resizeTimeout", 0, BATCH_INTERVAL_MIN_S, BATCH_INTERVAL_MAX_S),                          \
    INT("currentDedicatedNodes", READONLY),                                                        \
    INT("targetDedicatedNodes", .max = MAX_NODES),                                                 \
    INT("currentLowPriorityNodes", READONLY),                                                      \
    INT("targetLowPriorityNodes", .max = MAX_NODES),                                               \
    LIST("resizeErrors", READONLY, schema_batch_resize_error),                                     \
    BOOL("enableAutoScale", .fallback = "false"),                                                  \
    TEXT("autoScaleFormula", 0, 1, MAX_FORMULA),                                                   \
    SPAN("autoScaleEvaluationInterval", 0, BATCH_INTERVAL_MIN_S, BATCH_INTERVAL_MAX_S),            \
    OBJECT("autoScaleRun", READONLY, schema_batch_auto_scale_run),                                 \
    BOOL("enableInterNodeCommunication", .fallback = "false",                                      \
         INTO(batch_pool_spec, communicates)),                                                     \
    START_TASK_ROW,                                                                                \
    USERS_ROW,                                                                                     \
    CERTIFICATES_ROW(0),                                                                           \
    PACKAGES_ROW(0),                                                                               \
    METADATA_ROW(0),                                                                               \
    INT("maxTasksPerNode", 0, 1, MAX_SLOTS, .canon = "taskSlotsPerNode",                           \
        .versions = BATCH_UNTIL(BATCH_11_0), .fallback = "1", INTO(batch_pool_spec, slots)),       \
    INT("taskSlotsPerNode", 0, 1, MAX_SLOTS, .versions = BATCH_SINCE(BATCH_12_0),                  \
        .fallback = "1", INTO(batch_pool_spec, slots)),                                            \
    OBJECT("taskSchedulingPolicy", 0, schema_policy, .fallback = POLICY_DEFAULT, INTO_SAME),       \
    OBJECT("virtualMachineConfiguration", 0, schema_batch_vm, INTO_SAME),                          \
    TEXTS("applicationLicenses", .versions = BATCH_UNTIL(BATCH_19_0) | BATCH_SEEDED, .max = 100),  \
    MOUNTS_ROW(0, BATCH_SINCE(BATCH_10_0)),                                                        \
    OBJECT("networkConfiguration", 0, schema_batch_network),                                       \
    OBJECT("cloudServiceConfiguration", 0, schema_batch_cloud_service,                             \
           .versions = BATCH_UNTIL(BATCH_19_0) | BATCH_SEEDED),                                    \
    TAGS_ROW(BATCH_WITHIN(BATCH_18_0, BATCH_20_0) | BATCH_SEEDED),                                 \
    COMMUNICATION_ROW,                                                                             \
    OBJECT("upgradePolicy", 0, schema_batch_upgrade_policy, .versions = BATCH_SINCE(BATCH_19_0))
/* clang-format on */

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

static int check_task_of_pool(const json_t *pool, const char *path, struct err *e)
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

/* Refuses settings of Windows accounts in pools without Windows, because they would have no
 * effect. */
static int check_windows_users(const json_t *pool, const char *path, struct err *e)
{
    const json_t *vm = json_object_get(pool, "virtualMachineConfiguration"), *account;
    const char *agent = json_string_value(json_object_get(vm, "nodeAgentSKUId"));
    char list[PLACE_SIZE], one[PLACE_SIZE], target[PLACE_SIZE];
    size_t i;
    if (!agent || batch_agent_is_windows(agent))
        return 0;
    path_join(list, path, "userAccounts");
    json_array_foreach(json_object_get(pool, "userAccounts"), i, account) {
        if (!json_object_get(account, "windowsUserConfiguration"))
            continue;
        snprintf(one, sizeof one, "%.*s[%zu]", PLACE_SIZE - 30, list, i);
        path_join(target, one, "windowsUserConfiguration");
        return err_set(e, ERR_INVALID_PROPERTY, target,
                       "%s is for pools of Windows; the nodeAgentSKUId of this one is \"%.100s\"",
                       target, agent);
    }
    return 0;
}

int batch_check_users(const json_t *pool, const char *path, struct err *e)
{
    return check_windows_users(pool, path, e) < 0 ? -1 : check_task_of_pool(pool, path, e);
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
    return check_scaling(obj, e) < 0 ? -1 : batch_check_users(obj, path, e);
}

static const struct field pool_rows[] = {
    TEXT("id", REQUIRED, 1, BATCH_MAX_ID, .check = batch_check_id),
    TEXT("displayName", .max = BATCH_MAX_DISPLAY),
    TEXT("url", READONLY),
    TEXT("eTag", READONLY),
    TIME("lastModified", READONLY),
    TIME("creationTime", READONLY),
    TEXT("state", READONLY),
    TIME("stateTransitionTime", READONLY),
    TEXT("allocationState", READONLY),
    TIME("allocationStateTransitionTime", READONLY),
    ASKED_ROWS,
    TEXT("currentNodeCommunicationMode", READONLY,
         .versions = BATCH_WITHIN(BATCH_16_0, BATCH_20_0)),
    OBJECT("identity", READONLY, schema_batch_pool_identity, .versions = BATCH_SINCE(BATCH_14_0)),
    OBJECT("stats", READONLY, schema_batch_pool_stats),
};
SCHEMA(schema_batch_pool, pool_rows, "CloudPool", .check = check_pool, FILLS(batch_pool_spec));

static const struct field spec_rows[] = {TEXT("displayName", .max = BATCH_MAX_DISPLAY), ASKED_ROWS};
SCHEMA(schema_batch_pool_spec, spec_rows, "PoolSpecification", .check = check_pool);

/* --- changes --------------------------------------------------------------------------------- */

#define NEW BATCH_SINCE(BATCH_20_0)

/* PATCH: a given member replaces the old one as a whole. An empty list removes the old list. */
static const struct field patch_rows[] = {
    START_TASK_ROW,
    PACKAGES_ROW(KEEP_EMPTY),
    CERTIFICATES_ROW(KEEP_EMPTY),
    METADATA_ROW(KEEP_EMPTY),
    COMMUNICATION_ROW,
    TEXT("displayName", .versions = NEW, .max = BATCH_MAX_DISPLAY),
    TEXT("vmSize", LOWER, 1, 64, .versions = NEW),
    INT("taskSlotsPerNode", 0, 1, MAX_SLOTS, .versions = NEW),
    OBJECT("taskSchedulingPolicy", 0, schema_policy, .versions = NEW),
    BOOL("enableInterNodeCommunication", .versions = NEW),
    OBJECT("virtualMachineConfiguration", 0, schema_batch_vm, .versions = NEW),
    OBJECT("networkConfiguration", 0, schema_batch_network, .versions = NEW),
    TAGS_ROW(BATCH_20_0),
    LIST("userAccounts", KEEP_EMPTY, schema_batch_user_account, .versions = NEW,
         .max = MAX_CREDENTIALS, .check = batch_check_accounts),
    MOUNTS_ROW(KEEP_EMPTY, NEW),
    OBJECT("upgradePolicy", 0, schema_batch_upgrade_policy, .versions = NEW),
};
SCHEMA(schema_batch_pool_patch, patch_rows, "PoolPatchParameter");

bool batch_pool_fixed_by_nodes(const char *name)
{
    static const char *const names[] = {"displayName",
                                        "vmSize",
                                        "taskSlotsPerNode",
                                        "taskSchedulingPolicy",
                                        "enableInterNodeCommunication",
                                        "virtualMachineConfiguration",
                                        "networkConfiguration",
                                        "resourceTags",
                                        "userAccounts",
                                        "mountConfiguration",
                                        "upgradePolicy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* A request with this body replaces all of these members. */
static const struct field properties_rows[] = {
    START_TASK_ROW,
    CERTIFICATES_ROW(REQUIRED | KEEP_EMPTY),
    PACKAGES_ROW(REQUIRED | KEEP_EMPTY),
    METADATA_ROW(REQUIRED | KEEP_EMPTY),
    COMMUNICATION_ROW,
};
SCHEMA(schema_batch_pool_properties, properties_rows, "PoolUpdatePropertiesParameter");

#define TIMEOUT_ROW SPAN("resizeTimeout", .min = BATCH_INTERVAL_MIN_S, .fallback = "\"PT15M\"")

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
    INT("targetDedicatedNodes", .max = MAX_NODES),
    INT("targetLowPriorityNodes", .max = MAX_NODES),
    TIMEOUT_ROW,
    ENUM("nodeDeallocationOption", 0, batch_dealloc_names, .fallback = "\"requeue\""),
};
SCHEMA(schema_batch_pool_resize, resize_rows, "PoolResizeParameter", .check = check_resize);

static const struct field remove_rows[] = {
    TEXTS("nodeList", REQUIRED, .max = MAX_REMOVED),
    TIMEOUT_ROW,
    ENUM("nodeDeallocationOption", 0, batch_dealloc_names, .fallback = "\"requeue\""),
};
SCHEMA(schema_batch_remove_nodes, remove_rows, "NodeRemoveParameter");

static int check_enabled(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    if (json_object_size(obj) > 0)
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, "autoScaleFormula",
                   "the body must have autoScaleFormula or autoScaleEvaluationInterval");
}

static const struct field enable_rows[] = {
    TEXT("autoScaleFormula", 0, 1, MAX_FORMULA),
    SPAN("autoScaleEvaluationInterval", 0, BATCH_INTERVAL_MIN_S, BATCH_INTERVAL_MAX_S),
};
SCHEMA(schema_batch_enable_auto_scale, enable_rows, "PoolEnableAutoScaleParameter",
       .check = check_enabled);

static const struct field evaluate_rows[] = {TEXT("autoScaleFormula", REQUIRED, 1, MAX_FORMULA)};
SCHEMA(schema_batch_evaluate_auto_scale, evaluate_rows, "PoolEvaluateAutoScaleParameter");

static const struct field upgrade_rows[] = {TEXT("targetOSVersion", REQUIRED, 1, 64)};
SCHEMA(schema_batch_upgrade_os, upgrade_rows, "PoolUpgradeOSParameter");
