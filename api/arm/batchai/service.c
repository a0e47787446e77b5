/* SPDX-License-Identifier: MIT
 *
 * Microsoft.BatchAI as a service: one row for each operation, with the operation ids of Azure's
 * specification. A test checks that the rows and the published operations are the same.
 */
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/errors.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/arm/routes.h"

#define SUB     "/subscriptions/{subscription}"
#define GROUP   SUB "/resourceGroups/{group}"
#define BATCHAI "/providers/Microsoft.BatchAI"
#define WS      GROUP BATCHAI "/workspaces/{workspace}"
#define EXP     WS "/experiments/{experiment}"
#define JOB     EXP "/jobs/{job}"
#define CLUSTER WS "/clusters/{cluster}"
#define SERVER  WS "/fileServers/{fileServer}"
/* Paths for versions without workspaces: directly in the resource group. */
#define FLAT_CLUSTER GROUP BATCHAI "/clusters/{cluster}"
#define FLAT_SERVER  GROUP BATCHAI "/fileServers/{fileServer}"
#define FLAT_JOB     GROUP BATCHAI "/jobs/{job}"
#define LOC          SUB BATCHAI "/locations/{location}"

#define V03  V_2018_03_01
#define V05  V_2018_05_01
#define FLAT V_FLAT

#define ALL_OWN(X) ARM_OWN(X) BATCHAI_OWN(X)
ERROR_TABLE(batchai_words, ARM_ERRORS, ALL_OWN)

static const struct route routes[] = {
    /* Microsoft.BatchAI 2018-05-01, and operations that are the same in all versions */
    {"GET", BATCHAI "/operations", V_ALL, 0, operations_list, "Operations_List"},
    {"GET", LOC "/usages", V05, ROUTE_PARTIAL, usages_list, "Usages_List"},
    {"GET", LOC "/usages", V03, ROUTE_PARTIAL, usages_list, "Usage_List"},
    {"GET", LOC "/operationresults/{operation}", V_ALL, ROUTE_PARTIAL, operation_results,
     "OperationResults"},
    {"GET", LOC "/operationstatuses/{operation}", V_ALL, ROUTE_PARTIAL, operation_statuses,
     "OperationStatuses"},

    {"GET", SUB BATCHAI "/workspaces", V05, ROUTE_PARTIAL, rm_list, "Workspaces_List",
     &workspace_kind},
    {"GET", GROUP BATCHAI "/workspaces", V05, ROUTE_PARTIAL, rm_list_by_group,
     "Workspaces_ListByResourceGroup", &workspace_kind},
    {"PUT", WS, V05, ROUTE_JSON, rm_put, "Workspaces_Create", &workspace_kind},
    {"PATCH", WS, V05, ROUTE_JSON, rm_patch, "Workspaces_Update", &workspace_kind},
    {"GET", WS, V05, 0, rm_get, "Workspaces_Get", &workspace_kind},
    {"DELETE", WS, V05, 0, rm_delete, "Workspaces_Delete", &workspace_kind},

    {"GET", WS "/experiments", V05, ROUTE_PARTIAL, batchai_list_by_workspace,
     "Experiments_ListByWorkspace", &experiment_kind},
    {"PUT", EXP, V05, ROUTE_JSON_OPTIONAL, rm_put, "Experiments_Create", &experiment_kind},
    {"GET", EXP, V05, 0, rm_get, "Experiments_Get", &experiment_kind},
    {"DELETE", EXP, V05, 0, rm_delete, "Experiments_Delete", &experiment_kind},

    {"GET", SUB BATCHAI "/clusters", V_ALL, ROUTE_PARTIAL, rm_list, "Clusters_List", &cluster_kind},
    {"GET", GROUP BATCHAI "/clusters", V_ALL, ROUTE_PARTIAL, rm_list_by_group,
     "Clusters_ListByResourceGroup", &cluster_kind},
    {"GET", WS "/clusters", V05, ROUTE_PARTIAL, batchai_list_by_workspace,
     "Clusters_ListByWorkspace", &cluster_kind},
    {"PUT", CLUSTER, V05, ROUTE_JSON, rm_put, "Clusters_Create", &cluster_kind},
    {"PATCH", CLUSTER, V05, ROUTE_JSON, rm_patch, "Clusters_Update", &cluster_kind},
    {"GET", CLUSTER, V05, 0, rm_get, "Clusters_Get", &cluster_kind},
    {"DELETE", CLUSTER, V05, 0, rm_delete, "Clusters_Delete", &cluster_kind},
    {"POST", CLUSTER "/listRemoteLoginInformation", V05, ROUTE_JSON_OPTIONAL,
     clusters_list_remote_login, "Clusters_ListRemoteLoginInformation"},

    {"GET", SUB BATCHAI "/fileServers", V_ALL, ROUTE_PARTIAL, rm_list, "FileServers_List",
     &file_server_kind},
    {"GET", GROUP BATCHAI "/fileServers", V_ALL, ROUTE_PARTIAL, rm_list_by_group,
     "FileServers_ListByResourceGroup", &file_server_kind},
    {"GET", WS "/fileServers", V05, ROUTE_PARTIAL, batchai_list_by_workspace,
     "FileServers_ListByWorkspace", &file_server_kind},
    {"PUT", SERVER, V05, ROUTE_JSON, rm_put, "FileServers_Create", &file_server_kind},
    {"GET", SERVER, V05, 0, rm_get, "FileServers_Get", &file_server_kind},
    {"DELETE", SERVER, V05, 0, rm_delete, "FileServers_Delete", &file_server_kind},

    {"GET", EXP "/jobs", V05, ROUTE_PARTIAL, jobs_list, "Jobs_ListByExperiment", &job_kind},
    {"PUT", JOB, V05, ROUTE_JSON, rm_put, "Jobs_Create", &job_kind},
    {"GET", JOB, V05, 0, jobs_get, "Jobs_Get", &job_kind},
    {"DELETE", JOB, V05, 0, rm_delete, "Jobs_Delete", &job_kind},
    {"POST", JOB "/terminate", V05, ROUTE_JSON_OPTIONAL, jobs_terminate, "Jobs_Terminate"},
    {"POST", JOB "/listOutputFiles", V05, ROUTE_JSON_OPTIONAL, jobs_list_output_files,
     "Jobs_ListOutputFiles"},
    {"GET", JOB "/listOutputFiles", V05, 0, jobs_list_output_files, "Jobs_ListOutputFilesNext"},
    {"POST", JOB "/listRemoteLoginInformation", V05, ROUTE_JSON_OPTIONAL, jobs_list_remote_login,
     "Jobs_ListRemoteLoginInformation"},

    /* Microsoft.BatchAI, 2017-09-01-preview and 2018-03-01: model/home.h */
    {"PUT", FLAT_CLUSTER, FLAT, ROUTE_JSON, rm_put, "Clusters_Create", &cluster_kind},
    {"PATCH", FLAT_CLUSTER, FLAT, ROUTE_JSON, rm_patch, "Clusters_Update", &cluster_kind},
    {"GET", FLAT_CLUSTER, FLAT, 0, rm_get, "Clusters_Get", &cluster_kind},
    {"DELETE", FLAT_CLUSTER, FLAT, 0, rm_delete, "Clusters_Delete", &cluster_kind},
    {"POST", FLAT_CLUSTER "/listRemoteLoginInformation", FLAT, ROUTE_JSON_OPTIONAL,
     clusters_list_remote_login, "Clusters_ListRemoteLoginInformation"},

    {"PUT", FLAT_SERVER, FLAT, ROUTE_JSON, rm_put, "FileServers_Create", &file_server_kind},
    {"GET", FLAT_SERVER, FLAT, 0, rm_get, "FileServers_Get", &file_server_kind},
    {"DELETE", FLAT_SERVER, FLAT, 0, rm_delete, "FileServers_Delete", &file_server_kind},

    {"GET", SUB BATCHAI "/jobs", FLAT, ROUTE_PARTIAL, rm_list, "Jobs_List", &job_kind},
    {"GET", GROUP BATCHAI "/jobs", FLAT, ROUTE_PARTIAL, jobs_list, "Jobs_ListByResourceGroup",
     &job_kind},
    {"PUT", FLAT_JOB, FLAT, ROUTE_JSON, rm_put, "Jobs_Create", &job_kind},
    {"GET", FLAT_JOB, FLAT, 0, jobs_get, "Jobs_Get", &job_kind},
    {"DELETE", FLAT_JOB, FLAT, 0, rm_delete, "Jobs_Delete", &job_kind},
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

/* Adds the provider's headers, except to errors of the gateway in front of the provider. */
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
    .deps = "batchai",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_LISTED,
    .version_of = version_of,
    .version_name = version_name,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = batchai_words,
    .headers = headers,
};
