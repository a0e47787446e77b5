/* SPDX-License-Identifier: MIT
 *
 * Microsoft.BatchAI as a service: one row an operation, with the spec's operation ids. A test
 * compares the rows with the published specs both ways.
 */
#include "api/arm/handlers.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/batchai/batchai.h"
#include "api/batchai/errors.h"
#include "api/batchai/handlers.h"
#include "api/batchai/lookup.h"

#define SUB     "/subscriptions/{subscription}"
#define GROUP   SUB "/resourceGroups/{group}"
#define BATCHAI "/providers/Microsoft.BatchAI"
#define WS      GROUP BATCHAI "/workspaces/{workspace}"
#define EXP     WS "/experiments/{experiment}"
#define JOB     EXP "/jobs/{job}"
#define CLUSTER WS "/clusters/{cluster}"
#define SERVER  WS "/fileServers/{fileServer}"
/* The same for versions without workspaces: directly in the resource group. */
#define FLAT_CLUSTER GROUP BATCHAI "/clusters/{cluster}"
#define FLAT_SERVER  GROUP BATCHAI "/fileServers/{fileServer}"
#define FLAT_JOB     GROUP BATCHAI "/jobs/{job}"
#define LOC          SUB BATCHAI "/locations/{location}"

#define V03  V_2018_03_01
#define V05  V_2018_05_01
#define FLAT V_FLAT

static const struct route routes[] = {
    /* Microsoft.BatchAI 2018-05-01, and rows that are the same in all versions */
    {"GET", BATCHAI "/operations", V_ALL, 0, operations_list, "Operations_List"},
    {"GET", LOC "/usages", V05, ROUTE_PARTIAL, usages_list, "Usages_List"},
    {"GET", LOC "/usages", V03, ROUTE_PARTIAL, usages_list, "Usage_List"},
    {"GET", LOC "/operationresults/{operation}", V_ALL, ROUTE_PARTIAL, operation_results,
     "OperationResults"},
    {"GET", LOC "/operationstatuses/{operation}", V_ALL, ROUTE_PARTIAL, operation_statuses,
     "OperationStatuses"},

    {"GET", SUB BATCHAI "/workspaces", V05, ROUTE_PARTIAL, workspaces_list, "Workspaces_List"},
    {"GET", GROUP BATCHAI "/workspaces", V05, ROUTE_PARTIAL, workspaces_list_by_group,
     "Workspaces_ListByResourceGroup"},
    {"PUT", WS, V05, ROUTE_JSON, workspaces_create, "Workspaces_Create"},
    {"PATCH", WS, V05, ROUTE_JSON, workspaces_update, "Workspaces_Update"},
    {"GET", WS, V05, 0, workspaces_get, "Workspaces_Get"},
    {"DELETE", WS, V05, 0, workspaces_delete, "Workspaces_Delete"},

    {"GET", WS "/experiments", V05, ROUTE_PARTIAL, experiments_list, "Experiments_ListByWorkspace"},
    {"PUT", EXP, V05, ROUTE_JSON_OPTIONAL, experiments_create, "Experiments_Create"},
    {"GET", EXP, V05, 0, experiments_get, "Experiments_Get"},
    {"DELETE", EXP, V05, 0, experiments_delete, "Experiments_Delete"},

    {"GET", SUB BATCHAI "/clusters", V_ALL, ROUTE_PARTIAL, clusters_list, "Clusters_List"},
    {"GET", GROUP BATCHAI "/clusters", V_ALL, ROUTE_PARTIAL, clusters_list_by_group,
     "Clusters_ListByResourceGroup"},
    {"GET", WS "/clusters", V05, ROUTE_PARTIAL, clusters_list_by_workspace,
     "Clusters_ListByWorkspace"},
    {"PUT", CLUSTER, V05, ROUTE_JSON, clusters_create, "Clusters_Create"},
    {"PATCH", CLUSTER, V05, ROUTE_JSON, clusters_update, "Clusters_Update"},
    {"GET", CLUSTER, V05, 0, clusters_get, "Clusters_Get"},
    {"DELETE", CLUSTER, V05, 0, clusters_delete, "Clusters_Delete"},
    {"POST", CLUSTER "/listRemoteLoginInformation", V05, ROUTE_JSON_OPTIONAL,
     clusters_list_remote_login, "Clusters_ListRemoteLoginInformation"},

    {"GET", SUB BATCHAI "/fileServers", V_ALL, ROUTE_PARTIAL, file_servers_list,
     "FileServers_List"},
    {"GET", GROUP BATCHAI "/fileServers", V_ALL, ROUTE_PARTIAL, file_servers_list_by_group,
     "FileServers_ListByResourceGroup"},
    {"GET", WS "/fileServers", V05, ROUTE_PARTIAL, file_servers_list_by_workspace,
     "FileServers_ListByWorkspace"},
    {"PUT", SERVER, V05, ROUTE_JSON, file_servers_create, "FileServers_Create"},
    {"GET", SERVER, V05, 0, file_servers_get, "FileServers_Get"},
    {"DELETE", SERVER, V05, 0, file_servers_delete, "FileServers_Delete"},

    {"GET", EXP "/jobs", V05, ROUTE_PARTIAL, jobs_list, "Jobs_ListByExperiment"},
    {"PUT", JOB, V05, ROUTE_JSON, jobs_create, "Jobs_Create"},
    {"GET", JOB, V05, 0, jobs_get, "Jobs_Get"},
    {"DELETE", JOB, V05, 0, jobs_delete, "Jobs_Delete"},
    {"POST", JOB "/terminate", V05, ROUTE_JSON_OPTIONAL, jobs_terminate, "Jobs_Terminate"},
    {"POST", JOB "/listOutputFiles", V05, ROUTE_JSON_OPTIONAL, jobs_list_output_files,
     "Jobs_ListOutputFiles"},
    {"GET", JOB "/listOutputFiles", V05, 0, jobs_list_output_files, "Jobs_ListOutputFilesNext"},
    {"POST", JOB "/listRemoteLoginInformation", V05, ROUTE_JSON_OPTIONAL, jobs_list_remote_login,
     "Jobs_ListRemoteLoginInformation"},

    /* Microsoft.BatchAI, 2017-09-01-preview and 2018-03-01: model/home.h */
    {"PUT", FLAT_CLUSTER, FLAT, ROUTE_JSON, clusters_create, "Clusters_Create"},
    {"PATCH", FLAT_CLUSTER, FLAT, ROUTE_JSON, clusters_update, "Clusters_Update"},
    {"GET", FLAT_CLUSTER, FLAT, 0, clusters_get, "Clusters_Get"},
    {"DELETE", FLAT_CLUSTER, FLAT, 0, clusters_delete, "Clusters_Delete"},
    {"POST", FLAT_CLUSTER "/listRemoteLoginInformation", FLAT, ROUTE_JSON_OPTIONAL,
     clusters_list_remote_login, "Clusters_ListRemoteLoginInformation"},

    {"PUT", FLAT_SERVER, FLAT, ROUTE_JSON, file_servers_create, "FileServers_Create"},
    {"GET", FLAT_SERVER, FLAT, 0, file_servers_get, "FileServers_Get"},
    {"DELETE", FLAT_SERVER, FLAT, 0, file_servers_delete, "FileServers_Delete"},

    {"GET", SUB BATCHAI "/jobs", FLAT, ROUTE_PARTIAL, jobs_list_all, "Jobs_List"},
    {"GET", GROUP BATCHAI "/jobs", FLAT, ROUTE_PARTIAL, jobs_list, "Jobs_ListByResourceGroup"},
    {"PUT", FLAT_JOB, FLAT, ROUTE_JSON, jobs_create, "Jobs_Create"},
    {"GET", FLAT_JOB, FLAT, 0, jobs_get, "Jobs_Get"},
    {"DELETE", FLAT_JOB, FLAT, 0, jobs_delete, "Jobs_Delete"},
    {"POST", FLAT_JOB "/terminate", FLAT, ROUTE_JSON_OPTIONAL, jobs_terminate, "Jobs_Terminate"},
    {"POST", FLAT_JOB "/listOutputFiles", FLAT, ROUTE_JSON_OPTIONAL, jobs_list_output_files,
     "Jobs_ListOutputFiles"},
    {"GET", FLAT_JOB "/listOutputFiles", FLAT, 0, jobs_list_output_files,
     "Jobs_ListOutputFilesNext"},
    {"POST", FLAT_JOB "/listRemoteLoginInformation", FLAT, ROUTE_JSON_OPTIONAL,
     jobs_list_remote_login, "Jobs_ListRemoteLoginInformation"},

    /* Operations that Azure Resource Manager offers for every provider */
    {"POST", SUB "/providers/{namespace}/register", 0, ROUTE_ANY_VERSION | ROUTE_PARTIAL,
     providers_register, "Providers_Register"},
};

static const char *const paths[] = {BATCHAI "/{rest*}", SUB BATCHAI "/{rest*}",
                                    GROUP BATCHAI "/{rest*}", NULL};

static unsigned version_of(const char *name)
{
    return api_version_from_name(name);
}

static const char *version_name(unsigned version)
{
    return api_version_name((enum api_version)version);
}

/* Headers of the provider itself, not of the gateway in front of it. */
static void headers(struct request *r)
{
    if (r->route && r->route->versions && !r->gateway_error)
        arm_provider_headers(r);
}

static int may(struct request *r, struct err *e)
{
    return arm_may_own(r, made_by, e);
}

const struct service batchai_service = {
    .name = "batchai",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_LISTED,
    .version_of = version_of,
    .version_name = version_name,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .body_max = REQUEST_BODY_MAX,
    .words = batchai_words,
    .headers = headers,
};
