/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Storage as a service: one row per operation, with the operation ids of the
 * specification. Accepts any api-version, because the served operations do not differ between
 * versions.
 */
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/routes.h"
#include "api/arm/storage/errors.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/storage_rm.h"

#define SUB        "/subscriptions/{subscription}"
#define GROUP      SUB "/resourceGroups/{group}"
#define STORAGE    "/providers/Microsoft.Storage"
#define ACCOUNT    GROUP STORAGE "/storageAccounts/{account}"
#define BLOBS      ACCOUNT "/blobServices"
#define FILES      ACCOUNT "/fileServices"
#define CONTAINERS BLOBS "/default/containers"
#define SHARES     FILES "/default/shares"
#define LOCATION   SUB STORAGE "/locations/{location}"

#define ALL_OWN(X) ARM_OWN(X) STORAGE_RM_OWN(X)
ERROR_TABLE(storage_rm_words, ARM_ERRORS, ALL_OWN)

static const struct route routes[] = {
    {"GET", STORAGE "/operations", 0, 0, storage_operations_list, "Operations_List"},
    {"POST", SUB STORAGE "/checkNameAvailability", 0,
     ROUTE_JSON | ROUTE_BODY_KIB(16) | ROUTE_PARTIAL, rm_check_name,
     "StorageAccounts_CheckNameAvailability", &storage_account_kind},
    {"GET", SUB STORAGE "/skus", 0, ROUTE_PARTIAL, storage_skus_list, "Skus_List"},
    {"GET", SUB STORAGE "/usages", 0, ROUTE_PARTIAL, storage_usages_list, "Usage_List"},
    {"GET", LOCATION "/usages", 0, ROUTE_PARTIAL, storage_usages_list, "Usages_ListByLocation"},
    {"GET", LOCATION "/asyncoperations/{operation}", 0, ROUTE_PARTIAL, accounts_created,
     "StorageAccounts_Created"},

    {"GET", SUB STORAGE "/storageAccounts", 0, ROUTE_PARTIAL, rm_list, "StorageAccounts_List",
     &storage_account_kind},
    {"GET", GROUP STORAGE "/storageAccounts", 0, ROUTE_PARTIAL, rm_list_by_group,
     "StorageAccounts_ListByResourceGroup", &storage_account_kind},
    {"PUT", ACCOUNT, 0, ROUTE_JSON, rm_put, "StorageAccounts_Create", &storage_account_kind},
    {"PATCH", ACCOUNT, 0, ROUTE_JSON, rm_patch, "StorageAccounts_Update", &storage_account_kind},
    {"GET", ACCOUNT, 0, 0, rm_get, "StorageAccounts_GetProperties", &storage_account_kind},
    {"DELETE", ACCOUNT, 0, 0, rm_delete, "StorageAccounts_Delete", &storage_account_kind},
    {"POST", ACCOUNT "/listKeys", 0, 0, accounts_list_keys, "StorageAccounts_ListKeys"},
    {"POST", ACCOUNT "/regenerateKey", 0, ROUTE_JSON, accounts_regenerate_key,
     "StorageAccounts_RegenerateKey"},
    {"POST", ACCOUNT "/ListAccountSas", 0, ROUTE_JSON, accounts_list_account_sas,
     "StorageAccounts_ListAccountSAS"},
    {"POST", ACCOUNT "/ListServiceSas", 0, ROUTE_JSON, accounts_list_service_sas,
     "StorageAccounts_ListServiceSAS"},

    {"GET", BLOBS, 0, 0, blob_services_list, "BlobServices_List"},
    {"GET", BLOBS "/default", 0, 0, blob_services_get, "BlobServices_GetServiceProperties"},
    {"PUT", BLOBS "/default", 0, ROUTE_JSON, blob_services_put,
     "BlobServices_SetServiceProperties"},
    {"GET", CONTAINERS, 0, 0, shares_list, "BlobContainers_List", &container_kind},
    {"PUT", CONTAINERS "/{share}", 0, ROUTE_JSON_OPTIONAL, rm_put, "BlobContainers_Create",
     &container_kind},
    {"PATCH", CONTAINERS "/{share}", 0, ROUTE_JSON, rm_patch, "BlobContainers_Update",
     &container_kind},
    {"GET", CONTAINERS "/{share}", 0, 0, rm_get, "BlobContainers_Get", &container_kind},
    {"DELETE", CONTAINERS "/{share}", 0, 0, rm_delete, "BlobContainers_Delete", &container_kind},

    {"GET", FILES, 0, 0, file_services_list, "FileServices_List"},
    {"GET", FILES "/default", 0, 0, file_services_get, "FileServices_GetServiceProperties"},
    {"PUT", FILES "/default", 0, ROUTE_JSON, file_services_put,
     "FileServices_SetServiceProperties"},
    {"GET", SHARES, 0, 0, shares_list, "FileShares_List", &share_kind},
    {"PUT", SHARES "/{share}", 0, ROUTE_JSON_OPTIONAL, rm_put, "FileShares_Create", &share_kind},
    {"PATCH", SHARES "/{share}", 0, ROUTE_JSON, rm_patch, "FileShares_Update", &share_kind},
    {"GET", SHARES "/{share}", 0, 0, share_get, "FileShares_Get", &share_kind},
    {"DELETE", SHARES "/{share}", 0, 0, rm_delete, "FileShares_Delete", &share_kind},

    /* Operations that ARM offers for every provider */
    {"POST", SUB "/providers/{namespace}/register", 0, ROUTE_PARTIAL, providers_register,
     "Providers_Register"},
};

static const char *const paths[] = {STORAGE "/{rest*}", SUB STORAGE "/{rest*}",
                                    GROUP STORAGE "/{rest*}", NULL};

/* Adds the provider's headers, except to errors of the gateway in front of the provider. */
static void headers(struct request *r)
{
    if (r->route && !r->gateway_error)
        arm_provider_headers(r);
}

const struct service storage_rm_service = {
    .name = "storage",
    .deps = "arm",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = arm_may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = storage_rm_words,
    .headers = headers,
};
