/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Batch as a service: one row for each operation, with the operation ids of Azure's
 * specification. A test checks that the rows and the published operations are the same.
 */
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/routes.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/batch/rm.h"

#define SUB      "/subscriptions/{subscription}"
#define GROUP    SUB "/resourceGroups/{group}"
#define BATCH    "/providers/Microsoft.Batch"
#define ACCOUNT  GROUP BATCH "/batchAccounts/{account}"
#define LOCATION SUB BATCH "/locations/{location}"
#define APP      ACCOUNT "/applications/{application}"
#define VERSION  APP "/versions/{version}"
#define POOL     ACCOUNT "/pools/{pool}"
#define CERT     ACCOUNT "/certificates/{certificate}"
#define PRIVATE  ACCOUNT "/privateEndpointConnections"
#define LINKS    ACCOUNT "/privateLinkResources"

static const struct route routes[] = {
    {"GET", BATCH "/operations", RM_ALL, 0, batchrm_operations_list, "Operations_List"},
    {"GET", LOCATION "/quotas", RM_ALL, ROUTE_PARTIAL, batch_quotas_get, "Location_GetQuotas"},
    {"GET", LOCATION "/virtualMachineSkus", RM_SINCE(RM_2021_06), ROUTE_PARTIAL, batch_sizes_list,
     "Location_ListSupportedVirtualMachineSkus"},
    {"GET", LOCATION "/cloudServiceSkus", RM_WITHIN(RM_2021_06, RM_2024_02), ROUTE_PARTIAL,
     batch_cloud_service_sizes_list, "Location_ListSupportedCloudServiceSkus"},
    {"POST", LOCATION "/checkNameAvailability", RM_ALL,
     ROUTE_JSON | ROUTE_BODY_KIB(16) | ROUTE_PARTIAL, rm_check_name,
     "Location_CheckNameAvailability", &batch_account_kind},
    {"GET", LOCATION "/accountOperationResults/{operation}", RM_ALL, ROUTE_PARTIAL,
     batch_accounts_deleted, "BatchAccount_Deleted"},

    {"GET", SUB BATCH "/batchAccounts", RM_ALL, ROUTE_PARTIAL, rm_list, "BatchAccount_List",
     &batch_account_kind},
    {"GET", GROUP BATCH "/batchAccounts", RM_ALL, ROUTE_PARTIAL, rm_list_by_group,
     "BatchAccount_ListByResourceGroup", &batch_account_kind},
    {"PUT", ACCOUNT, RM_ALL, ROUTE_JSON, rm_put, "BatchAccount_Create", &batch_account_kind},
    {"GET", ACCOUNT "/operationResults/{operation}", RM_ALL, 0, batch_accounts_created,
     "BatchAccount_Created"},
    {"PATCH", ACCOUNT, RM_ALL, ROUTE_JSON, rm_patch, "BatchAccount_Update", &batch_account_kind},
    {"GET", ACCOUNT, RM_ALL, 0, rm_get, "BatchAccount_Get", &batch_account_kind},
    {"DELETE", ACCOUNT, RM_ALL, 0, rm_delete, "BatchAccount_Delete", &batch_account_kind},
    {"POST", ACCOUNT "/listKeys", RM_ALL, 0, batch_keys_list, "BatchAccount_GetKeys"},
    {"POST", ACCOUNT "/regenerateKeys", RM_ALL, ROUTE_JSON, batch_keys_regenerate,
     "BatchAccount_RegenerateKey"},
    {"POST", ACCOUNT "/syncAutoStorageKeys", RM_ALL, 0, batch_auto_storage_sync,
     "BatchAccount_SynchronizeAutoStorageKeys"},

    {"GET", ACCOUNT "/applications", RM_ALL, 0, batch_applications_list, "Application_List"},
    {"PUT", APP, RM_ALL, ROUTE_JSON_OPTIONAL, rm_put, "Application_Create",
     &batch_application_kind},
    {"GET", APP, RM_ALL, 0, rm_get, "Application_Get", &batch_application_kind},
    {"PATCH", APP, RM_ALL, ROUTE_JSON, rm_patch, "Application_Update", &batch_application_kind},
    {"DELETE", APP, RM_ALL, 0, rm_delete, "Application_Delete", &batch_application_kind},
    {"GET", APP "/versions", RM_SINCE(RM_2018_12), 0, batch_packages_list,
     "ApplicationPackage_List"},
    {"PUT", VERSION, RM_ALL, ROUTE_JSON_OPTIONAL, batch_packages_create,
     "ApplicationPackage_Create"},
    {"GET", VERSION, RM_ALL, 0, batch_packages_get, "ApplicationPackage_Get"},
    {"DELETE", VERSION, RM_ALL, 0, batch_packages_delete, "ApplicationPackage_Delete"},
    {"POST", VERSION "/activate", RM_ALL, ROUTE_JSON, batch_packages_activate,
     "ApplicationPackage_Activate"},

    {"GET", ACCOUNT "/pools", RM_SINCE(RM_2017_09), 0, batch_pools_list, "Pool_ListByBatchAccount"},
    {"PUT", POOL, RM_SINCE(RM_2017_09), ROUTE_JSON, rm_put, "Pool_Create", &batch_pool_kind},
    {"PATCH", POOL, RM_SINCE(RM_2017_09), ROUTE_JSON, rm_patch, "Pool_Update", &batch_pool_kind},
    {"GET", POOL, RM_SINCE(RM_2017_09), 0, rm_get, "Pool_Get", &batch_pool_kind},
    {"DELETE", POOL, RM_SINCE(RM_2017_09), 0, rm_delete, "Pool_Delete", &batch_pool_kind},
    {"GET", ACCOUNT "/poolOperationResults/{operation}", RM_SINCE(RM_2017_09), 0,
     batch_pools_deleted, "Pool_Deleted"},
    {"POST", POOL "/disableAutoScale", RM_SINCE(RM_2017_09), 0, batch_pools_disable_auto_scale,
     "Pool_DisableAutoScale", &batch_pool_kind},
    {"POST", POOL "/stopResize", RM_SINCE(RM_2017_09), 0, batch_pools_stop_resize,
     "Pool_StopResize", &batch_pool_kind},

    {"GET", ACCOUNT "/certificates", RM_WITHIN(RM_2017_09, RM_2024_07), 0, batch_certificates_list,
     "Certificate_ListByBatchAccount"},
    {"PUT", CERT, RM_WITHIN(RM_2017_09, RM_2024_07), ROUTE_JSON, rm_put, "Certificate_Create",
     &batch_certificate_kind},
    {"PATCH", CERT, RM_WITHIN(RM_2017_09, RM_2024_07), ROUTE_JSON, rm_patch, "Certificate_Update",
     &batch_certificate_kind},
    {"GET", CERT, RM_WITHIN(RM_2017_09, RM_2024_07), 0, rm_get, "Certificate_Get",
     &batch_certificate_kind},
    {"DELETE", CERT, RM_WITHIN(RM_2017_09, RM_2024_07), 0, rm_delete, "Certificate_Delete",
     &batch_certificate_kind},
    {"GET", ACCOUNT "/certificateOperationResults/{operation}", RM_WITHIN(RM_2017_09, RM_2024_07),
     0, batch_certificates_deleted, "Certificate_Deleted"},
    {"POST", CERT "/cancelDelete", RM_WITHIN(RM_2017_09, RM_2024_07), 0, batch_certificates_cancel,
     "Certificate_CancelDeletion", &batch_certificate_kind},

    {"GET", ACCOUNT "/outboundNetworkDependenciesEndpoints", RM_SINCE(RM_2021_06), 0,
     batch_endpoints_list, "BatchAccount_ListOutboundNetworkDependenciesEndpoints"},
    {"GET", ACCOUNT "/detectors", RM_SINCE(RM_2022_01), 0, batch_detectors_list,
     "BatchAccount_ListDetectors"},
    {"GET", ACCOUNT "/detectors/{detector}", RM_SINCE(RM_2022_01), 0, batch_detectors_get,
     "BatchAccount_GetDetector"},
    {"GET", PRIVATE, RM_SINCE(RM_2020_03), 0, batch_private_connections_list,
     "PrivateEndpointConnection_ListByBatchAccount"},
    {"GET", PRIVATE "/{connection}", RM_SINCE(RM_2020_03), 0, batch_private_connections_get,
     "PrivateEndpointConnection_Get"},
    {"PATCH", PRIVATE "/{connection}", RM_SINCE(RM_2020_03), ROUTE_JSON,
     batch_private_connections_change, "PrivateEndpointConnection_Update"},
    {"DELETE", PRIVATE "/{connection}", RM_SINCE(RM_2022_06), 0, batch_private_connections_change,
     "PrivateEndpointConnection_Delete"},
    {"GET", LINKS, RM_SINCE(RM_2020_03), 0, batch_private_links_list,
     "PrivateLinkResource_ListByBatchAccount"},
    {"GET", LINKS "/{resource}", RM_SINCE(RM_2020_03), 0, batch_private_links_get,
     "PrivateLinkResource_Get"},

    /* Operations that Azure Resource Manager offers for every provider */
    {"POST", SUB "/providers/{namespace}/register", 0, ROUTE_PARTIAL | ROUTE_ANY_VERSION,
     providers_register, "Providers_Register"},
};

static const char *const paths[] = {BATCH "/{rest*}", SUB BATCH "/{rest*}", GROUP BATCH "/{rest*}",
                                    NULL};

#define ALL_OWN(X) ARM_OWN(X) BATCHRM_OWN(X)
static ERROR_TABLE(table_words, ARM_ERRORS, ALL_OWN)

    /* Errors about properties of a body have other codes here than in other providers. */
    static struct error_words batchrm_words(int kind)
{
    return table_words(kind == ERR_INVALID_PROPERTY   ? BATCHRM_INVALID_VALUE
                       : kind == ERR_MISSING_PROPERTY ? BATCHRM_INVALID_BODY
                                                      : kind);
}

static json_t *detail(const char *code, const char *message)
{
    return json_pack("{s:s, s:o}", "code", code, "message", jsontext_string(message));
}

/* The function service.error: adds the request's id and time and the wrong property, like the real
 * service. */
static struct replied *batchrm_error(struct request *r, struct error_words words,
                                     const struct err *e)
{
    char when[TIMEFMT_SIZE];
    json_t *body = error_body(words, e), *inner = json_object_get(body, "error");
    if (r->gateway_error || (words.adds & ADDS_GATEWAY_CAUSE))
        return reply_json(r, words.status, body);
    timefmt_fixed(r->now_us, when);
    json_object_set_new(inner, "message",
                        jsontext_string(arena_printf(&r->arena, "%s\nRequestId:%s\nTime:%s", e->msg,
                                                     r->request_id, when)));
    if (e->target[0])
        json_object_set_new(
            inner, "details",
            json_pack("[o, o]", detail("PropertyName", e->target), detail("Reason", e->msg)));
    return reply_json(r, words.status, body);
}

/* Adds the provider's headers, except to errors of the gateway in front of the provider. */
static void headers(struct request *r)
{
    if (r->route && r->route->versions && !r->gateway_error)
        arm_provider_headers(r);
}

const struct service batchrm_service = {
    .name = "batchrm",
    .deps = "batchrm",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_LISTED,
    .version_of = rm_version_from_name,
    .version_name = rm_version_name,
    .may = arm_may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = batchrm_words,
    .error = batchrm_error,
    .headers = headers,
};
