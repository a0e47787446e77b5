/* SPDX-License-Identifier: MIT
 *
 * The data plane as a service: its routes, versions and headers; and a few of its operations as a
 * second service at batchaid's own paths.
 */
#include <string.h>
#include <strings.h>

#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "api/http/http.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/routes.h"

/* bytes; the largest body is a collection of tasks: at most 1 MB */
#define BODY_MAX (1024 * 1024)

#define CLIENT_ID_MAX 256 /* bytes; a longer id is not echoed */

#define JOB      "/jobs/{jobId}"
#define TASK     JOB "/tasks/{taskId}"
#define POOL     "/pools/{pool}"
#define NODE     POOL "/nodes/{node}"
#define SCHEDULE "/jobschedules/{jobScheduleId}"

static const struct route routes[] = {
    {"GET", "/applications", BATCH_ALL, 0, applications_list, "Application_List"},
    {"GET", "/applications/{application}", BATCH_ALL, 0, applications_get, "Application_Get"},
    {"POST", POOL "/enableautoscale", BATCH_ALL, ROUTE_JSON, pools_enable_auto_scale,
     "Pool_EnableAutoScale"},
    {"POST", POOL "/disableautoscale", BATCH_ALL, 0, pools_disable_auto_scale,
     "Pool_DisableAutoScale"},
    {"POST", POOL "/evaluateautoscale", BATCH_ALL, ROUTE_JSON, pools_evaluate_auto_scale,
     "Pool_EvaluateAutoScale"},
    {"POST", "/certificates", BATCH_UNTIL(BATCH_20_0), ROUTE_JSON, certificates_add,
     "Certificate_Add"},
    {"GET", "/certificates", BATCH_UNTIL(BATCH_20_0), 0, certificates_list, "Certificate_List"},
    {"GET", "/certificates({key})", BATCH_UNTIL(BATCH_20_0), 0, certificates_get,
     "Certificate_Get"},
    {"DELETE", "/certificates({key})", BATCH_UNTIL(BATCH_20_0), 0, certificates_delete,
     "Certificate_Delete"},
    {"POST", "/certificates({key})/canceldelete", BATCH_UNTIL(BATCH_20_0), 0, certificates_cancel,
     "Certificate_CancelDeletion"},
    {"GET", "/nodeagentskus", BATCH_UNTIL(BATCH_8_0), 0, images_list_agents,
     "Account_ListNodeAgentSkus"},
    {"GET", "/supportedimages", BATCH_SINCE(BATCH_9_0), 0, images_list,
     "Account_ListSupportedImages"},
    {"POST", "/jobs", BATCH_ALL, ROUTE_JSON, batch_jobs_add, "Job_Add"},
    {"GET", "/jobs", BATCH_ALL, 0, batch_jobs_list, "Job_List"},
    {"GET", JOB, BATCH_ALL, 0, batch_jobs_get, "Job_Get"},
    {"PATCH", JOB, BATCH_ALL, ROUTE_JSON, batch_jobs_patch, "Job_Patch"},
    {"PUT", JOB, BATCH_ALL, ROUTE_JSON, batch_jobs_update, "Job_Update"},
    {"DELETE", JOB, BATCH_ALL, 0, batch_jobs_delete, "Job_Delete"},
    {"POST", JOB "/disable", BATCH_ALL, ROUTE_JSON, batch_jobs_disable, "Job_Disable"},
    {"POST", JOB "/enable", BATCH_ALL, 0, batch_jobs_enable, "Job_Enable"},
    {"POST", JOB "/terminate", BATCH_ALL, ROUTE_JSON_OPTIONAL, batch_jobs_terminate,
     "Job_Terminate"},
    {"GET", JOB "/taskcounts", BATCH_ALL, 0, batch_jobs_counts, "Job_GetTaskCounts"},
    {"GET", JOB "/jobpreparationandreleasetaskstatus", BATCH_ALL, 0, batch_job_nodes_list,
     "Job_ListPreparationAndReleaseTaskStatus"},
    {"GET", POOL "/nodes", BATCH_ALL, 0, compute_nodes_list, "ComputeNode_List"},
    {"GET", NODE, BATCH_ALL, 0, compute_nodes_get, "ComputeNode_Get"},
    {"POST", NODE "/reboot", BATCH_ALL, ROUTE_JSON_OPTIONAL, compute_nodes_reboot,
     "ComputeNode_Reboot"},
    {"POST", NODE "/reimage", BATCH_ALL, ROUTE_JSON_OPTIONAL, compute_nodes_reimage,
     "ComputeNode_Reimage"},
    {"POST", NODE "/start", BATCH_SINCE(BATCH_20_0), 0, compute_nodes_start, "ComputeNode_Start"},
    {"POST", NODE "/deallocate", BATCH_SINCE(BATCH_20_0), ROUTE_JSON_OPTIONAL,
     compute_nodes_deallocate, "ComputeNode_Deallocate"},
    {"POST", NODE "/disablescheduling", BATCH_ALL, ROUTE_JSON_OPTIONAL, compute_nodes_disable,
     "ComputeNode_DisableScheduling"},
    {"POST", NODE "/enablescheduling", BATCH_ALL, 0, compute_nodes_enable,
     "ComputeNode_EnableScheduling"},
    {"GET", NODE "/remoteloginsettings", BATCH_ALL, 0, compute_nodes_login,
     "ComputeNode_GetRemoteLoginSettings"},
    {"POST", NODE "/users", BATCH_ALL, ROUTE_JSON, compute_nodes_add_user, "ComputeNode_AddUser"},
    {"PUT", NODE "/users/{user}", BATCH_ALL, ROUTE_JSON, compute_nodes_update_user,
     "ComputeNode_UpdateUser"},
    {"DELETE", NODE "/users/{user}", BATCH_ALL, 0, compute_nodes_delete_user,
     "ComputeNode_DeleteUser"},
    {"POST", NODE "/uploadbatchservicelogs", BATCH_SINCE(BATCH_6_1), ROUTE_JSON,
     compute_nodes_upload_logs, "ComputeNode_UploadBatchServiceLogs"},
    {"GET", NODE "/rdp", BATCH_UNTIL(BATCH_19_0), 0, compute_nodes_desktop,
     "ComputeNode_GetRemoteDesktop"},
    {"GET", NODE "/extensions", BATCH_SINCE(BATCH_14_0), 0, compute_nodes_extensions,
     "ComputeNodeExtension_List"},
    {"GET", NODE "/extensions/{extension}", BATCH_SINCE(BATCH_14_0), 0, compute_nodes_extension,
     "ComputeNodeExtension_Get"},
    {"GET", "/nodecounts", BATCH_SINCE(BATCH_6_1), 0, compute_nodes_count,
     "Account_ListPoolNodeCounts"},
    {"POST", "/pools", BATCH_ALL, ROUTE_JSON, pools_add, "Pool_Add"},
    {"GET", "/pools", BATCH_ALL, 0, pools_list, "Pool_List"},
    {"GET", POOL, BATCH_ALL, 0, pools_get, "Pool_Get"},
    {"HEAD", POOL, BATCH_ALL, 0, pools_exists, "Pool_Exists"},
    {"DELETE", POOL, BATCH_ALL, 0, pools_delete, "Pool_Delete"},
    {"PATCH", POOL, BATCH_ALL, ROUTE_JSON, pools_patch, "Pool_Patch"},
    {"POST", POOL "/updateproperties", BATCH_ALL, ROUTE_JSON, pools_update,
     "Pool_UpdateProperties"},
    {"POST", POOL "/resize", BATCH_ALL, ROUTE_JSON, pools_resize, "Pool_Resize"},
    {"POST", POOL "/stopresize", BATCH_ALL, 0, pools_stop_resize, "Pool_StopResize"},
    {"POST", POOL "/removenodes", BATCH_ALL, ROUTE_JSON, pools_remove_nodes, "Pool_RemoveNodes"},
    {"POST", POOL "/upgradeos", BATCH_UNTIL(BATCH_7_0), ROUTE_JSON, pools_upgrade_os,
     "Pool_UpgradeOS"},
    {"POST", "/jobschedules", BATCH_ALL, ROUTE_JSON, schedules_add, "JobSchedule_Add"},
    {"GET", "/jobschedules", BATCH_ALL, 0, schedules_list, "JobSchedule_List"},
    {"HEAD", SCHEDULE, BATCH_ALL, 0, schedules_exists, "JobSchedule_Exists"},
    {"GET", SCHEDULE, BATCH_ALL, 0, schedules_get, "JobSchedule_Get"},
    {"PATCH", SCHEDULE, BATCH_ALL, ROUTE_JSON, schedules_patch, "JobSchedule_Patch"},
    {"PUT", SCHEDULE, BATCH_ALL, ROUTE_JSON, schedules_update, "JobSchedule_Update"},
    {"DELETE", SCHEDULE, BATCH_ALL, 0, schedules_delete, "JobSchedule_Delete"},
    {"POST", SCHEDULE "/disable", BATCH_ALL, 0, schedules_disable, "JobSchedule_Disable"},
    {"POST", SCHEDULE "/enable", BATCH_ALL, 0, schedules_enable, "JobSchedule_Enable"},
    {"POST", SCHEDULE "/terminate", BATCH_ALL, 0, schedules_terminate, "JobSchedule_Terminate"},
    {"GET", SCHEDULE "/jobs", BATCH_ALL, 0, schedules_list_jobs, "Job_ListFromJobSchedule"},
    {"GET", "/lifetimejobstats", BATCH_UNTIL(BATCH_16_0), 0, statistics_of_jobs,
     "Job_GetAllLifetimeStatistics"},
    {"GET", "/lifetimepoolstats", BATCH_UNTIL(BATCH_16_0), 0, statistics_of_pools,
     "Pool_GetAllLifetimeStatistics"},
    {"GET", "/poolusagemetrics", BATCH_ALL, 0, usage_of_pools, "Pool_ListUsageMetrics"},
    {"POST", JOB "/tasks", BATCH_ALL, ROUTE_JSON, batch_tasks_add, "Task_Add"},
    {"POST", JOB "/addtaskcollection", BATCH_ALL, ROUTE_JSON, batch_tasks_add_collection,
     "Task_AddCollection"},
    {"GET", JOB "/tasks", BATCH_ALL, 0, batch_tasks_list, "Task_List"},
    {"GET", TASK, BATCH_ALL, 0, batch_tasks_get, "Task_Get"},
    {"PUT", TASK, BATCH_ALL, ROUTE_JSON, batch_tasks_update, "Task_Update"},
    {"DELETE", TASK, BATCH_ALL, 0, batch_tasks_delete, "Task_Delete"},
    {"POST", TASK "/terminate", BATCH_ALL, 0, batch_tasks_terminate, "Task_Terminate"},
    {"POST", TASK "/reactivate", BATCH_ALL, 0, batch_tasks_reactivate, "Task_Reactivate"},
    {"GET", TASK "/subtasksinfo", BATCH_ALL, 0, batch_tasks_list_subtasks, "Task_ListSubtasks"},
    {"GET", TASK "/files", BATCH_ALL, 0, batch_files_list_task, "File_ListFromTask"},
    {"GET", TASK "/files/{filePath*}", BATCH_ALL, ROUTE_USERS_BYTES, batch_files_get_task,
     "File_GetFromTask"},
    {"HEAD", TASK "/files/{filePath*}", BATCH_ALL, ROUTE_USERS_BYTES, batch_files_get_task,
     "File_GetPropertiesFromTask"},
    {"DELETE", TASK "/files/{filePath*}", BATCH_ALL, 0, batch_files_delete_task,
     "File_DeleteFromTask"},
    {"GET", "/pools/{poolId}/nodes/{nodeId}/files", BATCH_ALL, 0, batch_files_list_node,
     "File_ListFromComputeNode"},
    {"GET", "/pools/{poolId}/nodes/{nodeId}/files/{filePath*}", BATCH_ALL, ROUTE_USERS_BYTES,
     batch_files_get_node, "File_GetFromComputeNode"},
    {"HEAD", "/pools/{poolId}/nodes/{nodeId}/files/{filePath*}", BATCH_ALL, ROUTE_USERS_BYTES,
     batch_files_get_node, "File_GetPropertiesFromComputeNode"},
    {"DELETE", "/pools/{poolId}/nodes/{nodeId}/files/{filePath*}", BATCH_ALL, 0,
     batch_files_delete_node, "File_DeleteFromComputeNode"},
};

/* The paths of Azure Batch at hosts that do not name an account. */
static const char *const paths[] = {"/pools",
                                    "/pools/{rest*}",
                                    "/jobs",
                                    "/jobs/{rest*}",
                                    "/jobschedules",
                                    "/jobschedules/{rest*}",
                                    "/applications",
                                    "/applications/{rest*}",
                                    "/certificates",
                                    "/certificates({key})",
                                    "/certificates({key})/canceldelete",
                                    "/nodeagentskus",
                                    "/supportedimages",
                                    "/nodecounts",
                                    "/poolusagemetrics",
                                    "/lifetimepoolstats",
                                    "/lifetimejobstats",
                                    NULL};

static void headers(struct request *r)
{
    const char *id = request_header(r, "client-request-id");
    const char *echo = request_header(r, "return-client-request-id");
    reply_header_text(r, "Server", "Microsoft-HTTPAPI/2.0");
    reply_header_text(r, "request-id", r->request_id);
    reply_header_text(r, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
    reply_header_text(r, "X-Content-Type-Options", "nosniff");
    reply_header_text(r, "DataServiceVersion", "3.0");
    if (id && strlen(id) <= CLIENT_ID_MAX && echo && strcasecmp(echo, "true") == 0)
        reply_header_text(r, "client-request-id", id);
}

static void challenge(struct request *r)
{
    reply_header(r, "WWW-Authenticate",
                 "Bearer authorization_uri=\"%s/adfs/oauth2/authorize\", "
                 "resource_id=\"https://batch.core.windows.net/\"",
                 api_endpoint(r->api));
}

#define BATCH_SERVICE                                                                              \
    .deps = "batch", .deps_begin_with_arm = true, .routes = routes,                                \
    .n_routes = sizeof routes / sizeof routes[0], .versions = VERSIONS_LISTED,                     \
    .version_of = batch_version_from_name, .version_name = batch_version_name,                     \
    .seeded = BATCH_SEEDED, .may = batch_may, .audiences = AUDIENCE_BATCH | AUDIENCE_ARM,          \
    .challenge = challenge, .body_max = BODY_MAX, .words = batch_words, .error = batch_error,      \
    .too_long = batch_too_long, .headers = headers, .own_headers = true

const struct service batch_service = {.name = "batch", BATCH_SERVICE};
const struct service batch_paths_service = {.name = "batch paths", .paths = paths, BATCH_SERVICE};

/* --- actions at batchaid's own paths ----------------------------------------------------------
 *
 * Actions on jobs and tasks, for users of a browser. The user's login replaces the account's key,
 * and the path contains the account. The handlers of the actions are those of the data plane; files
 * are listed like files of jobs of Batch AI. Each action needs the same role at the account as on
 * the data plane. */

#define OWN_JOB  "/batchaid/batch/{account}/jobs/{jobId}"
#define OWN_TASK OWN_JOB "/tasks/{taskId}"

static ERROR_TABLE(action_words, ARM_ERRORS, BATCH_OWN)

    static const struct route action_routes[] = {
        {"POST", OWN_JOB "/terminate", 0, ROUTE_JSON_OPTIONAL, batch_jobs_terminate,
         "BatchJobs_Terminate"},
        {"POST", OWN_JOB "/disable", 0, ROUTE_JSON, batch_jobs_disable, "BatchJobs_Disable"},
        {"POST", OWN_JOB "/enable", 0, 0, batch_jobs_enable, "BatchJobs_Enable"},
        {"DELETE", OWN_JOB, 0, 0, batch_jobs_delete, "BatchJobs_Delete"},
        {"POST", OWN_TASK "/terminate", 0, 0, batch_tasks_terminate, "BatchTasks_Terminate"},
        {"POST", OWN_TASK "/reactivate", 0, 0, batch_tasks_reactivate, "BatchTasks_Reactivate"},
        {"DELETE", OWN_TASK, 0, 0, batch_tasks_delete, "BatchTasks_Delete"},
        {"GET", OWN_TASK "/files", 0, 0, task_files_list, "BatchTaskFiles_List"},
        {"GET", OWN_TASK "/files/content", 0, ROUTE_USERS_BYTES, task_files_get,
         "BatchTaskFiles_Get"},
        {"HEAD", OWN_TASK "/files/content", 0, ROUTE_USERS_BYTES, task_files_get,
         "BatchTaskFiles_Head"},
};

static const char *const action_paths[] = {OWN_JOB, OWN_JOB "/{rest*}", NULL};

static int action_may(struct request *r, struct err *e)
{
    return auth_check(r, e) < 0 ? -1 : batch_may_in(r, request_param(r, "account"), e);
}

static struct replied *show_action_error(struct request *r, struct error_words words,
                                         const struct err *e)
{
    return reply_json(r, words.status, error_body(words, e));
}

const struct service batch_actions_service = {
    .name = "batch actions",
    .deps = "batch",
    .deps_begin_with_arm = true,
    .paths = action_paths,
    .routes = action_routes,
    .n_routes = sizeof action_routes / sizeof action_routes[0],
    .versions = VERSIONS_NONE,
    .may = action_may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = action_words,
    .error = show_action_error,
};
