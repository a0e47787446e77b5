/* SPDX-License-Identifier: MIT
 *
 * Nodes of Azure Batch's pools: their properties, their users, and the bodies of operations on
 * them.
 */
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/schema/tables.h"

const struct enum_name batch_disable_scheduling_names[] = {
    {BATCH_DEALLOC_REQUEUE, "requeue"},
    {BATCH_DEALLOC_TERMINATE, "terminate"},
    {BATCH_DEALLOC_TASK_COMPLETION, "taskcompletion"},
    {0, NULL}};

/* --- how nodes are shown --------------------------------------------------------------------- */

static const struct field recent_execution_rows[] = {
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
static SCHEMA(schema_recent_execution, recent_execution_rows, "TaskExecutionInformation");

/* clang-format off */
static const struct field recent_rows[] = {
    TEXT("taskUrl", READONLY),
    TEXT("jobId", READONLY),
    TEXT("taskId", READONLY),
    INT("subtaskId", READONLY),
    TEXT("taskState", READONLY),
    OBJECT("executionInfo", READONLY, schema_recent_execution),
};
/* clang-format on */
static SCHEMA(schema_recent, recent_rows, "TaskInformation");

static const struct field start_info_rows[] = {
    TEXT("state", READONLY),
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    INT("exitCode", READONLY),
    OBJECT("containerInfo", READONLY, schema_batch_container_info),
    OBJECT("failureInfo", READONLY, schema_batch_failure),
    INT("retryCount", READONLY),
    TIME("lastRetryTime", READONLY),
    TEXT("result", READONLY),
};
static SCHEMA(schema_start_info, start_info_rows, "StartTaskInformation");

static const struct field error_rows[] = {
    TEXT("code", READONLY),
    TEXT("message", READONLY),
    LIST("errorDetails", READONLY | KEEP_EMPTY, schema_batch_pair),
};
static SCHEMA(schema_node_error, error_rows, "ComputeNodeError");

/* clang-format off */
static const struct field inbound_rows[] = {
    TEXT("name", READONLY),
    TEXT("protocol", READONLY),
    TEXT("publicIPAddress", READONLY),
    TEXT("publicFQDN", READONLY),
    INT("frontendPort", READONLY),
    INT("backendPort", READONLY),
};
/* clang-format on */
static SCHEMA(schema_inbound, inbound_rows, "InboundEndpoint");
static const struct field endpoints_rows[] = {
    LIST("inboundEndpoints", READONLY | KEEP_EMPTY, schema_inbound),
};
static SCHEMA(schema_endpoints, endpoints_rows, "ComputeNodeEndpointConfiguration");

static const struct field agent_rows[] = {
    TEXT("version", READONLY),
    TIME("lastUpdateTime", READONLY),
};
static SCHEMA(schema_agent, agent_rows, "NodeAgentInformation");

static const struct field machine_rows[] = {
    OBJECT("imageReference", READONLY, schema_batch_image),
    TEXT("scaleSetVmResourceId", READONLY, .versions = BATCH_SINCE(BATCH_18_0)),
};
static SCHEMA(schema_machine, machine_rows, "VirtualMachineInfo");

static const struct field node_rows[] = {
    TEXT("id", READONLY),
    TEXT("url", READONLY),
    TEXT("state", READONLY),
    TEXT("schedulingState", READONLY),
    TIME("stateTransitionTime", READONLY),
    TIME("lastBootTime", READONLY),
    TIME("allocationTime", READONLY),
    TEXT("ipAddress", READONLY),
    TEXT("ipv6Address", READONLY, .versions = BATCH_SINCE(BATCH_2025_06)),
    TEXT("affinityId", READONLY),
    TEXT("vmSize", READONLY),
    INT("totalTasksRun", READONLY),
    INT("runningTasksCount", READONLY),
    INT("runningTaskSlotsCount", READONLY, .versions = BATCH_SINCE(BATCH_12_0)),
    INT("totalTasksSucceeded", READONLY),
    LIST("recentTasks", READONLY, schema_recent),
    OBJECT("startTask", READONLY, schema_batch_start_task),
    OBJECT("startTaskInfo", READONLY, schema_start_info),
    LIST("certificateReferences", READONLY | KEEP_EMPTY, schema_batch_certificate_reference,
         .versions = BATCH_UNTIL(BATCH_20_0)),
    LIST("errors", READONLY, schema_node_error),
    BOOL("isDedicated", READONLY),
    OBJECT("endpointConfiguration", READONLY, schema_endpoints),
    OBJECT("nodeAgentInfo", READONLY, schema_agent, .versions = BATCH_SINCE(BATCH_7_0)),
    OBJECT("virtualMachineInfo", READONLY, schema_machine, .versions = BATCH_SINCE(BATCH_14_0)),
};
SCHEMA(schema_batch_node, node_rows, "ComputeNode");

/* --- users ----------------------------------------------------------------------------------- */

/* clang-format off */
#define LOGIN_ROWS                                                                                 \
    TIME("expiryTime"),                                                                            \
    TEXT("password", SECRET, .max = 4096),                                                         \
    TEXT("sshPublicKey", .max = 16384, .check = check_ssh_key)
/* clang-format on */

static int check_login(json_t *obj, const char *path, struct err *e)
{
    (void)path;
    if (has(obj, "password") || has(obj, "sshPublicKey"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, "sshPublicKey",
                   "a user must have a password or an sshPublicKey");
}

static const struct field user_rows[] = {
    TEXT("name", REQUIRED, 1, 20, .check = check_user_name),
    BOOL("isAdmin", .fallback = "false"),
    LOGIN_ROWS,
};
SCHEMA(schema_batch_node_user, user_rows, "ComputeNodeUser", .check = check_login);

static const struct field user_update_rows[] = {LOGIN_ROWS};
SCHEMA(schema_batch_node_user_update, user_update_rows, "NodeUpdateUserParameter");

/* --- actions --------------------------------------------------------------------------------- */

static const struct field reboot_rows[] = {
    ENUM("nodeRebootOption", 0, batch_dealloc_names, .fallback = "\"requeue\""),
};
SCHEMA(schema_batch_reboot, reboot_rows, "NodeRebootParameter");
static const struct field reimage_rows[] = {
    ENUM("nodeReimageOption", 0, batch_dealloc_names, .fallback = "\"requeue\""),
};
SCHEMA(schema_batch_reimage, reimage_rows, "NodeReimageParameter");
static const struct field deallocate_rows[] = {
    ENUM("nodeDeallocateOption", 0, batch_dealloc_names, .fallback = "\"requeue\"")};
SCHEMA(schema_batch_deallocate, deallocate_rows, "NodeDeallocateParameter");
static const struct field disable_rows[] = {ENUM(
    "nodeDisableSchedulingOption", 0, batch_disable_scheduling_names, .fallback = "\"requeue\"")};
SCHEMA(schema_batch_disable_scheduling, disable_rows, "NodeDisableSchedulingParameter");

static const struct field upload_rows[] = {
    TEXT("containerUrl", REQUIRED | SECRET, 1, BATCH_MAX_URL, .check = check_http_url),
    TIME("startTime", REQUIRED),
    TIME("endTime"),
    OBJECT("identityReference", 0, schema_batch_identity, .versions = BATCH_SINCE(BATCH_14_0)),
};
SCHEMA(schema_batch_upload_logs, upload_rows, "UploadBatchServiceLogsConfiguration");

/* Only the names of the properties are needed, for $select, because no node has an extension. */
static const struct field node_extension_rows[] = {
    TEXT("provisioningState", READONLY),
    FREE("vmExtension", READONLY),
    FREE("instanceView", READONLY),
};
SCHEMA(schema_batch_node_extension, node_extension_rows, "NodeVMExtension");
