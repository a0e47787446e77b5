/* SPDX-License-Identifier: MIT
 *
 * The tables of Batch accounts in the resource manager, with the checks of auto-storage, vaults and
 * kinds of authentication. Constant and pure.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/batch/rm.h"
#include "model/schema/tables.h"

enum { MAX_RULES = 1000, MAX_MODES = 3 };

static const struct enum_name allocation_modes[] = {
    {1, "BatchService"}, {2, "UserSubscription"}, {0, NULL}};
static const struct enum_name accesses[] = {
    {1, "Enabled"}, {2, "Disabled"}, {3, "SecuredByPerimeter"}, {0, NULL}};
static const struct enum_name actions[] = {{1, "Allow"}, {2, "Deny"}, {0, NULL}};
static const struct enum_name rule_actions[] = {{1, "Allow"}, {0, NULL}};
static const struct enum_name key_sources[] = {{1, "Microsoft.Batch"}, {0, NULL}};
static const struct enum_name storage_modes[] = {{1, "StorageKeys"}, {0, NULL}};
static const struct enum_name identity_types[] = {{1, "None"}, {0, NULL}};
static const struct enum_name key_names[] = {{1, "Primary"}, {2, "Secondary"}, {0, NULL}};
static const struct enum_name account_types[] = {{1, "Microsoft.Batch/batchAccounts"}, {0, NULL}};

/* --- parts of both tables --------------------------------------------------------------------- */

static const struct field node_identity_rows[] = {
    TEXT("resourceId", 0, 1, MAX_ID_BYTES, .check = check_clean_text),
};
static SCHEMA(schema_node_identity, node_identity_rows, "ComputeNodeIdentityReference");

/* An empty object removes auto-storage. */
static int check_auto_storage(json_t *obj, const char *path, struct err *e)
{
    char target[sizeof e->target];
    if (json_object_size(obj) == 0 || json_object_get(obj, "storageAccountId"))
        return 0;
    snprintf(target, sizeof target, "%s.storageAccountId", path);
    return err_set(
        e, ERR_MISSING_PROPERTY, target,
        "%s is missing; leave it out only in an empty %s ({}), which removes auto-storage", target,
        path);
}

static const struct field auto_storage_rows[] = {
    TEXT("storageAccountId", 0, 1, MAX_ID_BYTES, .check = check_clean_text),
    TIME("lastKeySync", READONLY),
    ENUM("authenticationMode", 0, storage_modes, .versions = RM_SINCE(RM_2021_06)),
    OBJECT("nodeIdentityReference", 0, schema_node_identity, .versions = RM_SINCE(RM_2021_06)),
};
static SCHEMA(schema_auto_storage, auto_storage_rows, "AutoStorageProperties",
              .check = check_auto_storage);

static const struct field vault_rows[] = {
    TEXT("id", REQUIRED, 1, MAX_ID_BYTES, .check = check_clean_text),
    TEXT("url", REQUIRED, 1, MAX_URL_BYTES, .check = check_clean_text),
};
static SCHEMA(schema_vault_reference, vault_rows, "KeyVaultReference");

static const struct field encryption_rows[] = {ENUM("keySource", 0, key_sources)};
static SCHEMA(schema_encryption, encryption_rows, "EncryptionProperties");

/* The rules of the network are stored and shown, but not enforced. */
static const struct field ip_rule_rows[] = {
    ENUM("action", REQUIRED, rule_actions),
    TEXT("value", REQUIRED, 1, 64, .check = check_clean_text),
};
static SCHEMA(schema_ip_rule, ip_rule_rows, "IPRule");
static const struct field endpoint_access_rows[] = {
    ENUM("defaultAction", REQUIRED, actions),
    LIST("ipRules", 0, schema_ip_rule, .max = MAX_RULES),
};
static SCHEMA(schema_endpoint_access, endpoint_access_rows, "EndpointAccessProfile");
static const struct field network_rows[] = {
    OBJECT("accountAccess", 0, schema_endpoint_access),
    OBJECT("nodeManagementAccess", 0, schema_endpoint_access),
};
static SCHEMA(schema_network, network_rows, "NetworkProfile");

static int check_auth_modes(const json_t *value, const char *path, struct err *e)
{
    static const char *const modes[] = {"SharedKey", "AAD", "TaskAuthenticationToken"};
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *given = json_string_value(json_array_get(value, i));
        size_t m = 0;
        while (m < MAX_MODES && strcmp(given, modes[m]) != 0)
            m++;
        if (m == MAX_MODES)
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s has '%.60s'; it may have SharedKey, AAD, TaskAuthenticationToken",
                           path, given);
    }
    return 0;
}

static const struct field quota_rows[] = {INT("coreQuota", READONLY), TEXT("name", READONLY)};
static SCHEMA(schema_family_quota, quota_rows, "VirtualMachineFamilyCoreQuota");
static const struct field connection_rows[] = {TEXT("id", READONLY)};
static SCHEMA(schema_connection, connection_rows, "PrivateEndpointConnection");

/* Managed identities are not supported: only "None" is allowed. */
static const struct field identity_rows[] = {
    ENUM("type", REQUIRED, identity_types),
    TEXT("principalId", READONLY),
    TEXT("tenantId", READONLY),
};
static SCHEMA(schema_identity, identity_rows, "BatchAccountIdentity");

#define AUTO_STORAGE_ROW OBJECT("autoStorage", 0, schema_auto_storage)
#define PUBLIC_ROW(from) ENUM("publicNetworkAccess", 0, accesses, .versions = RM_SINCE(from))

#define ENCRYPTION_ROW OBJECT("encryption", 0, schema_encryption, .versions = RM_SINCE(RM_2020_03))
#define NETWORK_ROW    OBJECT("networkProfile", 0, schema_network, .versions = RM_SINCE(RM_2022_06))
#define MODES_ROW                                                                                  \
    TEXTS("allowedAuthenticationModes", .versions = RM_SINCE(RM_2021_06), .max = MAX_MODES,        \
          .check = check_auth_modes)
#define IDENTITY_ROW OBJECT("identity", 0, schema_identity, .versions = RM_SINCE(RM_2020_05))
#define TAGS_ROW     MAP("tags", KEEP_EMPTY, .max = MAX_TAGS)

/* --- accounts --------------------------------------------------------------------------------- */

static int check_vault(json_t *obj, const char *path, struct err *e)
{
    const char *mode = json_string_value(json_object_get(obj, "poolAllocationMode"));
    if (!mode || strcmp(mode, "UserSubscription") != 0 || json_object_get(obj, "keyVaultReference"))
        return 0;
    return err_set(e, ERR_MISSING_PROPERTY, path,
                   "%s.keyVaultReference is missing; an account with the pool allocation mode "
                   "UserSubscription must have one",
                   path);
}

static const struct field properties_rows[] = {
    TEXT("accountEndpoint", READONLY),
    TEXT("provisioningState", READONLY),
    INT("dedicatedCoreQuota", READONLY),
    LIST("dedicatedCoreQuotaPerVMFamily", READONLY | KEEP_EMPTY, schema_family_quota,
         .versions = RM_SINCE(RM_2019_04)),
    BOOL("dedicatedCoreQuotaPerVMFamilyEnforced", READONLY, .versions = RM_SINCE(RM_2019_04)),
    INT("lowPriorityCoreQuota", READONLY),
    INT("poolQuota", READONLY),
    INT("activeJobAndJobScheduleQuota", READONLY),
    AUTO_STORAGE_ROW,
    ENUM("poolAllocationMode", 0, allocation_modes),
    OBJECT("keyVaultReference", 0, schema_vault_reference),
    PUBLIC_ROW(RM_2020_03),
    NETWORK_ROW,
    LIST("privateEndpointConnections", READONLY | KEEP_EMPTY, schema_connection,
         .versions = RM_SINCE(RM_2020_03)),
    ENCRYPTION_ROW,
    MODES_ROW,
};
static SCHEMA(schema_properties, properties_rows, "BatchAccountProperties", .check = check_vault);

static const struct field account_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("location", REQUIRED, 1, 128, .check = check_location),
    OBJECT("properties", 0, schema_properties),
    TAGS_ROW,
    IDENTITY_ROW,
};
SCHEMA(schema_batch_account, account_rows, "BatchAccountCreateParameters");

/* clang-format off */
static const struct field update_properties_rows[] = {
    AUTO_STORAGE_ROW,
    PUBLIC_ROW(RM_2022_06),
    NETWORK_ROW,
    ENCRYPTION_ROW,
    MODES_ROW,
};
/* clang-format on */
static SCHEMA(schema_update_properties, update_properties_rows, "BatchAccountUpdateProperties");
static const struct field update_rows[] = {
    OBJECT("properties", 0, schema_update_properties),
    TAGS_ROW,
    IDENTITY_ROW,
};
SCHEMA(schema_batch_account_update, update_rows, "BatchAccountUpdateParameters");

static const struct field name_rows[] = {
    TEXT("name", REQUIRED, .max = 1024),
    ENUM("type", REQUIRED, account_types),
};
SCHEMA(schema_batch_account_name, name_rows, "CheckNameAvailabilityParameters");

static const struct field key_name_rows[] = {ENUM("keyName", REQUIRED, key_names)};
SCHEMA(schema_batch_key_name, key_name_rows, "BatchAccountRegenerateKeyParameters");

const char *batch_auto_storage(struct arena *a, const char *account_doc)
{
    const char *id = NULL;
    json_t *doc = json_loads(account_doc, 0, NULL);
    (void)json_unpack(doc, "{s:{s:{s:s}}}", "properties", "autoStorage", "storageAccountId", &id);
    const char *slash = id ? strrchr(id, '/') : NULL;
    const char *name = arena_strdup(a, slash ? slash + 1 : id);
    json_decref(doc);
    return name;
}

bool batch_account_allows(const char *account_doc, const char *mode)
{
    static const char modes[] = "allowedAuthenticationModes";
    if (!strstr(account_doc, modes))
        return true; /* a fast path for nearly all accounts, because each request of the data plane
                        calls this */
    json_t *doc = json_loads(account_doc, 0, NULL);
    const json_t *given = json_object_get(json_object_get(doc, "properties"), modes);
    bool found = json_array_size(given) == 0;
    for (size_t i = 0; i < json_array_size(given) && !found; i++)
        found = strcmp(json_string_value(json_array_get(given, i)), mode) == 0;
    json_decref(doc);
    return found;
}
