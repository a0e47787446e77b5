/* SPDX-License-Identifier: MIT
 *
 * Nodes of Azure Batch's pools: how they are shown, who may log in, what can be done with them.
 */
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"

const struct enum_name batch_disable_scheduling_names[] = {
    {BATCH_DEALLOC_REQUEUE, "requeue"},
    {BATCH_DEALLOC_TERMINATE, "terminate"},
    {BATCH_DEALLOC_TASK_COMPLETION, "taskcompletion"},
    {0, NULL}};

#define OBJECT_READ_ONLY(label, table, known)                                                      \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .versions = (known),       \
        .sub = &(table)                                                                            \
    }
#define LIST_READ_ONLY(label, table)                                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .flags = FIELD_READONLY | FIELD_KEEP_EMPTY,          \
        .sub = &(table)                                                                            \
    }
#define VERSIONED_READ_ONLY(label, sort, known)                                                    \
    {                                                                                              \
        .name = (label), .kind = (sort), .flags = FIELD_READONLY, .versions = (known)              \
    }

/* --- how nodes are shown --------------------------------------------------------------------- */

static const struct field recent_execution_rows[] = {
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    OBJECT_READ_ONLY("containerInfo", schema_batch_container_info, 0),
    OBJECT_READ_ONLY("failureInfo", schema_batch_failure, 0),
    BATCH_READ_ONLY("retryCount", FIELD_INT),
    BATCH_READ_ONLY("lastRetryTime", FIELD_TIME),
    BATCH_READ_ONLY("requeueCount", FIELD_INT),
    BATCH_READ_ONLY("lastRequeueTime", FIELD_TIME),
    BATCH_READ_ONLY("result", FIELD_STRING),
};
static SCHEMA(schema_recent_execution, "TaskExecutionInformation", recent_execution_rows, NULL);

static const struct field recent_rows[] = {
    BATCH_READ_ONLY("taskUrl", FIELD_STRING),
    BATCH_READ_ONLY("jobId", FIELD_STRING),
    BATCH_READ_ONLY("taskId", FIELD_STRING),
    BATCH_READ_ONLY("subtaskId", FIELD_INT),
    BATCH_READ_ONLY("taskState", FIELD_STRING),
    OBJECT_READ_ONLY("executionInfo", schema_recent_execution, 0),
};
static SCHEMA(schema_recent, "TaskInformation", recent_rows, NULL);

static const struct field start_info_rows[] = {
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    OBJECT_READ_ONLY("containerInfo", schema_batch_container_info, 0),
    OBJECT_READ_ONLY("failureInfo", schema_batch_failure, 0),
    BATCH_READ_ONLY("retryCount", FIELD_INT),
    BATCH_READ_ONLY("lastRetryTime", FIELD_TIME),
    BATCH_READ_ONLY("result", FIELD_STRING),
};
static SCHEMA(schema_start_info, "StartTaskInformation", start_info_rows, NULL);

static const struct field error_rows[] = {
    BATCH_READ_ONLY("code", FIELD_STRING),
    BATCH_READ_ONLY("message", FIELD_STRING),
    LIST_READ_ONLY("errorDetails", schema_batch_pair),
};
static SCHEMA(schema_node_error, "ComputeNodeError", error_rows, NULL);

static const struct field inbound_rows[] = {
    BATCH_READ_ONLY("name", FIELD_STRING),
    BATCH_READ_ONLY("protocol", FIELD_STRING),
    BATCH_READ_ONLY("publicIPAddress", FIELD_STRING),
    BATCH_READ_ONLY("publicFQDN", FIELD_STRING),
    BATCH_READ_ONLY("frontendPort", FIELD_INT),
    BATCH_READ_ONLY("backendPort", FIELD_INT),
};
static SCHEMA(schema_inbound, "InboundEndpoint", inbound_rows, NULL);
static const struct field endpoints_rows[] = {LIST_READ_ONLY("inboundEndpoints", schema_inbound)};
static SCHEMA(schema_endpoints, "ComputeNodeEndpointConfiguration", endpoints_rows, NULL);

static const struct field agent_rows[] = {
    BATCH_READ_ONLY("version", FIELD_STRING),
    BATCH_READ_ONLY("lastUpdateTime", FIELD_TIME),
};
static SCHEMA(schema_agent, "NodeAgentInformation", agent_rows, NULL);

static const struct field machine_rows[] = {
    OBJECT_READ_ONLY("imageReference", schema_batch_image, 0),
    VERSIONED_READ_ONLY("scaleSetVmResourceId", FIELD_STRING, BATCH_SINCE(BATCH_18_0)),
};
static SCHEMA(schema_machine, "VirtualMachineInfo", machine_rows, NULL);

static const struct field node_rows[] = {
    BATCH_READ_ONLY("id", FIELD_STRING),
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("schedulingState", FIELD_STRING),
    BATCH_READ_ONLY("stateTransitionTime", FIELD_TIME),
    BATCH_READ_ONLY("lastBootTime", FIELD_TIME),
    BATCH_READ_ONLY("allocationTime", FIELD_TIME),
    BATCH_READ_ONLY("ipAddress", FIELD_STRING),
    BATCH_READ_ONLY("affinityId", FIELD_STRING),
    BATCH_READ_ONLY("vmSize", FIELD_STRING),
    BATCH_READ_ONLY("totalTasksRun", FIELD_INT),
    BATCH_READ_ONLY("runningTasksCount", FIELD_INT),
    VERSIONED_READ_ONLY("runningTaskSlotsCount", FIELD_INT, BATCH_SINCE(BATCH_12_0)),
    BATCH_READ_ONLY("totalTasksSucceeded", FIELD_INT),
    {.name = "recentTasks", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_recent},
    OBJECT_READ_ONLY("startTask", schema_batch_start_task, 0),
    OBJECT_READ_ONLY("startTaskInfo", schema_start_info, 0),
    LIST_READ_ONLY("certificateReferences", schema_batch_certificate_reference),
    {.name = "errors", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_node_error},
    BATCH_READ_ONLY("isDedicated", FIELD_BOOL),
    OBJECT_READ_ONLY("endpointConfiguration", schema_endpoints, 0),
    OBJECT_READ_ONLY("nodeAgentInfo", schema_agent, BATCH_SINCE(BATCH_7_0)),
    OBJECT_READ_ONLY("virtualMachineInfo", schema_machine, BATCH_SINCE(BATCH_14_0)),
};
SCHEMA(schema_batch_node, "ComputeNode", node_rows, NULL);

/* --- users ----------------------------------------------------------------------------------- */

#define LOGIN_ROWS                                                                                 \
    {.name = "expiryTime", .kind = FIELD_TIME}, {BATCH_TEXT("password", FIELD_SECRET, 0, 4096)},   \
    {                                                                                              \
        BATCH_TEXT("sshPublicKey", 0, 0, 16384), .check = check_ssh_key                            \
    }

static int check_login(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    if (has(obj, "password") || has(obj, "sshPublicKey"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, "sshPublicKey",
                   "a user must have a password or an sshPublicKey");
}

static const struct field user_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 20), .check = check_user_name},
    {.name = "isAdmin", .kind = FIELD_BOOL, .fallback = "false"},
    LOGIN_ROWS,
};
SCHEMA(schema_batch_node_user, "ComputeNodeUser", user_rows, check_login);

static const struct field user_update_rows[] = {LOGIN_ROWS};
SCHEMA(schema_batch_node_user_update, "NodeUpdateUserParameter", user_update_rows, NULL);

/* --- actions --------------------------------------------------------------------------------- */

#define OPTION_ROWS(label, names)                                                                  \
    {                                                                                              \
        {                                                                                          \
            .name = (label), .kind = FIELD_ENUM, .values = (names), .fallback = "\"requeue\""      \
        }                                                                                          \
    }

static const struct field reboot_rows[] = OPTION_ROWS("nodeRebootOption", batch_dealloc_names);
SCHEMA(schema_batch_reboot, "NodeRebootParameter", reboot_rows, NULL);
static const struct field reimage_rows[] = OPTION_ROWS("nodeReimageOption", batch_dealloc_names);
SCHEMA(schema_batch_reimage, "NodeReimageParameter", reimage_rows, NULL);
static const struct field deallocate_rows[] =
    OPTION_ROWS("nodeDeallocateOption", batch_dealloc_names);
SCHEMA(schema_batch_deallocate, "NodeDeallocateParameter", deallocate_rows, NULL);
static const struct field disable_rows[] =
    OPTION_ROWS("nodeDisableSchedulingOption", batch_disable_scheduling_names);
SCHEMA(schema_batch_disable_scheduling, "NodeDisableSchedulingParameter", disable_rows, NULL);

static const struct field upload_rows[] = {
    {BATCH_TEXT("containerUrl", FIELD_REQUIRED | FIELD_SECRET, 1, BATCH_MAX_URL),
     .check = check_http_url},
    {.name = "startTime", .kind = FIELD_TIME, .flags = FIELD_REQUIRED},
    {.name = "endTime", .kind = FIELD_TIME},
    {.name = "identityReference",
     .kind = FIELD_OBJECT,
     .versions = BATCH_SINCE(BATCH_14_0),
     .sub = &schema_batch_identity},
};
SCHEMA(schema_batch_upload_logs, "UploadBatchServiceLogsConfiguration", upload_rows, NULL);

/* No node has one: what could be selected. */
static const struct field node_extension_rows[] = {
    BATCH_READ_ONLY("provisioningState", FIELD_STRING),
    BATCH_READ_ONLY("vmExtension", FIELD_FREE),
    BATCH_READ_ONLY("instanceView", FIELD_FREE),
};
SCHEMA(schema_batch_node_extension, "NodeVMExtension", node_extension_rows, NULL);
