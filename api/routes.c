/* SPDX-License-Identifier: MIT
 *
 * The whole API, one row an operation. Rows of Microsoft.BatchAI carry the spec's operation ids; a
 * test compares them with the published spec both ways.
 */
#include "api/aad/handlers.h"
#include "api/admin/handlers.h"
#include "api/arm/handlers.h"
#include "api/batchai/handlers.h"
#include "api/operation.h"
#include "api/router.h"
#include "api/storage/link.h"

#define SUB     "/subscriptions/{subscription}"
#define GROUP   SUB "/resourceGroups/{group}"
#define BATCHAI "/providers/Microsoft.BatchAI"
#define WS      GROUP BATCHAI "/workspaces/{workspace}"
#define EXP     WS "/experiments/{experiment}"
#define JOB     EXP "/jobs/{job}"
#define CLUSTER WS "/clusters/{cluster}"
#define SERVER  WS "/fileServers/{fileServer}"
/* The same without workspaces: directly in the resource group. */
#define FLAT_CLUSTER GROUP BATCHAI "/clusters/{cluster}"
#define FLAT_SERVER  GROUP BATCHAI "/fileServers/{fileServer}"
#define FLAT_JOB     GROUP BATCHAI "/jobs/{job}"
#define LOC          SUB BATCHAI "/locations/{location}"

#define NODE "/batchaid/nodes/{node}"

#define V03  V_2018_03_01
#define V05  V_2018_05_01
#define FLAT V_FLAT
#define ARM  ROUTE_ANY_VERSION
#define OWN  ROUTE_NO_VERSION
#define OPEN (ROUTE_NO_AUTH | ROUTE_NO_VERSION)

const struct route api_routes[] = {
    /* Microsoft.BatchAI, 2018-05-01; what is the same in all versions */
    {"GET", BATCHAI "/operations", V_ALL, 0, operations_list, "Operations_List"},
    {"GET", LOC "/usages", V05, 0, usages_list, "Usages_List"},
    {"GET", LOC "/usages", V03, 0, usages_list, "Usage_List"},
    {"GET", LOC "/operationresults/{operation}", V_ALL, 0, operation_results, "OperationResults"},
    {"GET", LOC "/operationstatuses/{operation}", V_ALL, 0, operation_statuses,
     "OperationStatuses"},

    {"GET", SUB BATCHAI "/workspaces", V05, 0, workspaces_list, "Workspaces_List"},
    {"GET", GROUP BATCHAI "/workspaces", V05, 0, workspaces_list_by_group,
     "Workspaces_ListByResourceGroup"},
    {"PUT", WS, V05, ROUTE_JSON, workspaces_create, "Workspaces_Create"},
    {"PATCH", WS, V05, ROUTE_JSON, workspaces_update, "Workspaces_Update"},
    {"GET", WS, V05, 0, workspaces_get, "Workspaces_Get"},
    {"DELETE", WS, V05, 0, workspaces_delete, "Workspaces_Delete"},

    {"GET", WS "/experiments", V05, 0, experiments_list, "Experiments_ListByWorkspace"},
    {"PUT", EXP, V05, ROUTE_JSON_OPTIONAL, experiments_create, "Experiments_Create"},
    {"GET", EXP, V05, 0, experiments_get, "Experiments_Get"},
    {"DELETE", EXP, V05, 0, experiments_delete, "Experiments_Delete"},

    {"GET", SUB BATCHAI "/clusters", V_ALL, 0, clusters_list, "Clusters_List"},
    {"GET", GROUP BATCHAI "/clusters", V_ALL, 0, clusters_list_by_group,
     "Clusters_ListByResourceGroup"},
    {"GET", WS "/clusters", V05, 0, clusters_list_by_workspace, "Clusters_ListByWorkspace"},
    {"PUT", CLUSTER, V05, ROUTE_JSON, clusters_create, "Clusters_Create"},
    {"PATCH", CLUSTER, V05, ROUTE_JSON, clusters_update, "Clusters_Update"},
    {"GET", CLUSTER, V05, 0, clusters_get, "Clusters_Get"},
    {"DELETE", CLUSTER, V05, 0, clusters_delete, "Clusters_Delete"},
    {"POST", CLUSTER "/listRemoteLoginInformation", V05, ROUTE_JSON_OPTIONAL,
     clusters_list_remote_login, "Clusters_ListRemoteLoginInformation"},

    {"GET", SUB BATCHAI "/fileServers", V_ALL, 0, file_servers_list, "FileServers_List"},
    {"GET", GROUP BATCHAI "/fileServers", V_ALL, 0, file_servers_list_by_group,
     "FileServers_ListByResourceGroup"},
    {"GET", WS "/fileServers", V05, 0, file_servers_list_by_workspace,
     "FileServers_ListByWorkspace"},
    {"PUT", SERVER, V05, ROUTE_JSON, file_servers_create, "FileServers_Create"},
    {"GET", SERVER, V05, 0, file_servers_get, "FileServers_Get"},
    {"DELETE", SERVER, V05, 0, file_servers_delete, "FileServers_Delete"},

    {"GET", EXP "/jobs", V05, 0, jobs_list, "Jobs_ListByExperiment"},
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

    {"GET", SUB BATCHAI "/jobs", FLAT, 0, jobs_list_all, "Jobs_List"},
    {"GET", GROUP BATCHAI "/jobs", FLAT, 0, jobs_list, "Jobs_ListByResourceGroup"},
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

    /* Azure Resource Manager */
    {"GET", "/metadata/endpoints", 0, ARM | ROUTE_NO_AUTH, metadata_endpoints, "Metadata_Get"},
    {"GET", "/tenants", 0, ARM, tenants_list, "Tenants_List"},
    {"GET", "/subscriptions", 0, ARM, subscriptions_list, "Subscriptions_List"},
    {"GET", SUB, 0, ARM, subscriptions_get, "Subscriptions_Get"},
    {"GET", SUB "/locations", 0, ARM, locations_list, "Subscriptions_ListLocations"},
    {"GET", SUB "/providers", 0, ARM, providers_list, "Providers_List"},
    {"GET", SUB "/providers/{namespace}", 0, ARM, providers_get, "Providers_Get"},
    {"POST", SUB "/providers/{namespace}/register", 0, ARM, providers_register,
     "Providers_Register"},
    {"GET", SUB "/resourceGroups", 0, ARM, groups_list, "ResourceGroups_List"},
    {"PUT", GROUP, 0, ARM | ROUTE_JSON, groups_create, "ResourceGroups_CreateOrUpdate"},
    {"PATCH", GROUP, 0, ARM | ROUTE_JSON, groups_update, "ResourceGroups_Update"},
    {"GET", GROUP, 0, ARM, groups_get, "ResourceGroups_Get"},
    {"HEAD", GROUP, 0, ARM, groups_exists, "ResourceGroups_CheckExistence"},
    {"DELETE", GROUP, 0, ARM, groups_delete, "ResourceGroups_Delete"},
    {"GET", GROUP "/resources", 0, ARM, groups_list_resources, "Resources_ListByResourceGroup"},
    {"GET", SUB "/operationresults/{operation}", 0, ARM, arm_operation_results,
     "Arm_OperationResults"},

    /* The machines of the site: our own, see docs/admin-api.md */
    {"GET", "/batchaid/nodes", 0, OWN, nodes_list, "Nodes_List"},
    {"GET", NODE, 0, OWN, nodes_get, "Nodes_Get"},
    {"POST", NODE "/drain", 0, OWN | ROUTE_JSON_OPTIONAL, nodes_drain, "Nodes_Drain"},
    {"POST", NODE "/undrain", 0, OWN, nodes_undrain, "Nodes_Undrain"},
    {"POST", NODE "/reboot", 0, OWN, nodes_reboot, "Nodes_Reboot"},

    /* Login. {tenant} is adfs, which clients put once or twice. */
    {"GET", "/{tenant}/.well-known/openid-configuration", 0, OPEN, openid_configuration,
     "OpenId_Get"},
    {"GET", "/{tenant}/v2.0/.well-known/openid-configuration", 0, OPEN, openid_configuration,
     "OpenId_GetV2"},
    {"GET", "/{authority}/{tenant}/.well-known/openid-configuration", 0, OPEN, openid_configuration,
     "OpenId_GetTenant"},
    {"GET", "/adfs/discovery/keys", 0, OPEN, signing_keys, "OpenId_Keys"},
    {"POST", "/{tenant}/oauth2/token", 0, OPEN, token_create, "Token_Create"},
    {"POST", "/{tenant}/oauth2/v2.0/token", 0, OPEN, token_create, "Token_CreateV2"},
    {"POST", "/{authority}/{tenant}/oauth2/token", 0, OPEN, token_create, "Token_CreateTenant"},

    /* Download links, which carry their own signature */
    {"GET", "/files/{account}/{share}/{path*}", 0, OPEN, files_download, "Files_Get"},
    {"HEAD", "/files/{account}/{share}/{path*}", 0, OPEN, files_download, "Files_Head"},
    {"GET", "/blobs/{account}/{share}/{path*}", 0, OPEN, blobs_download, "Blobs_Get"},
    {"HEAD", "/blobs/{account}/{share}/{path*}", 0, OPEN, blobs_download, "Blobs_Head"},
    {"GET", "/nodes/{job}/{rank}/{directory}/{path*}", 0, OPEN, nodes_download, "NodeFiles_Get"},
    {"HEAD", "/nodes/{job}/{rank}/{directory}/{path*}", 0, OPEN, nodes_download, "NodeFiles_Head"},
};

const size_t api_routes_n = sizeof api_routes / sizeof api_routes[0];
