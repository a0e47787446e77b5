/* SPDX-License-Identifier: MIT
 *
 * Microsoft.KeyVault as a service: one row for each operation, with the operation ids of Azure's
 * specification. Any api-version is accepted, because the operations here are the same in all
 * versions.
 */
#include "api/arm/keyvault/errors.h"
#include "api/arm/keyvault/keyvault.h"
#include "api/arm/keyvault/routes.h"
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/routes.h"

#define SUB      "/subscriptions/{subscription}"
#define GROUP    SUB "/resourceGroups/{group}"
#define KEYVAULT "/providers/Microsoft.KeyVault"
#define VAULT    GROUP KEYVAULT "/vaults/{vault}"
#define DELETED  SUB KEYVAULT "/locations/{location}/deletedVaults/{vault}"

#define ALL_OWN(X) ARM_OWN(X) KEYVAULT_OWN(X)
ERROR_TABLE(keyvault_words, ARM_ERRORS, ALL_OWN)

static const struct route routes[] = {
    {"PUT", VAULT, 0, ROUTE_JSON, rm_put, "Vaults_CreateOrUpdate", &vault_kind},
    {"PATCH", VAULT, 0, ROUTE_JSON, rm_patch, "Vaults_Update", &vault_kind},
    {"GET", VAULT, 0, 0, rm_get, "Vaults_Get", &vault_kind},
    {"DELETE", VAULT, 0, 0, rm_delete, "Vaults_Delete", &vault_kind},
    {"PUT", VAULT "/accessPolicies/{kind}", 0, ROUTE_JSON, vaults_update_policies,
     "Vaults_UpdateAccessPolicy"},
    {"GET", GROUP KEYVAULT "/vaults", 0, ROUTE_PARTIAL, rm_list_by_group,
     "Vaults_ListByResourceGroup", &vault_kind},
    {"GET", SUB KEYVAULT "/vaults", 0, ROUTE_PARTIAL, rm_list, "Vaults_ListBySubscription",
     &vault_kind},
    {"POST", SUB KEYVAULT "/checkNameAvailability", 0,
     ROUTE_JSON | ROUTE_BODY_KIB(16) | ROUTE_PARTIAL, rm_check_name, "Vaults_CheckNameAvailability",
     &vault_kind},
    {"GET", SUB KEYVAULT "/deletedVaults", 0, ROUTE_PARTIAL, rm_list, "Vaults_ListDeleted",
     &deleted_vault_kind},
    {"GET", DELETED, 0, 0, rm_get, "Vaults_GetDeleted", &deleted_vault_kind},
    {"POST", DELETED "/purge", 0, 0, deleted_vaults_purge, "Vaults_PurgeDeleted"},
    {"GET", SUB KEYVAULT "/locations/{location}/operationResults/{operation}", 0, ROUTE_PARTIAL,
     deleted_vaults_purged, "Vaults_Purged"},

    /* Operations that Azure Resource Manager offers for every provider */
    {"POST", SUB "/providers/{namespace}/register", 0, ROUTE_PARTIAL, providers_register,
     "Providers_Register"},
};

static const char *const paths[] = {SUB KEYVAULT "/{rest*}", GROUP KEYVAULT "/{rest*}", NULL};

/* Adds the provider's headers, except to errors of the gateway in front of the provider. */
static void headers(struct request *r)
{
    if (r->route && !r->gateway_error)
        arm_provider_headers(r);
}

const struct service keyvault_service = {
    .name = "keyvault",
    .deps = "keyvault",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = arm_may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = keyvault_words,
    .headers = headers,
};
