/* SPDX-License-Identifier: MIT
 *
 * Batch accounts as the resource manager speaks of them.
 */
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

#define TEXT_ROW(label, bits, most)                                                                \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = (bits), .min = 1, .max = (most),           \
        .check = check_clean_text                                                                  \
    }
#define READ_ROW(label, known)                                                                     \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = FIELD_READONLY, .versions = (known)        \
    }
#define NUMBER_ROW(label, known)                                                                   \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = FIELD_READONLY, .versions = (known)           \
    }
#define ENUM_ROW(label, bits, names, known)                                                        \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .flags = (bits), .values = (names),                   \
        .versions = (known)                                                                        \
    }
#define OBJECT_ROW(label, bits, table, known)                                                      \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = (bits), .sub = &(table),                   \
        .versions = (known)                                                                        \
    }

/* --- parts of both tables --------------------------------------------------------------------- */

static const struct field node_identity_rows[] = {TEXT_ROW("resourceId", 0, MAX_ID_BYTES)};
static SCHEMA(schema_node_identity, "ComputeNodeIdentityReference", node_identity_rows, NULL);

static const struct field auto_storage_rows[] = {
    TEXT_ROW("storageAccountId", FIELD_REQUIRED, MAX_ID_BYTES),
    {.name = "lastKeySync", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    ENUM_ROW("authenticationMode", 0, storage_modes, RM_SINCE(RM_2021_06)),
    OBJECT_ROW("nodeIdentityReference", 0, schema_node_identity, RM_SINCE(RM_2021_06)),
};
static SCHEMA(schema_auto_storage, "AutoStorageProperties", auto_storage_rows, NULL);

static const struct field vault_rows[] = {
    TEXT_ROW("id", FIELD_REQUIRED, MAX_ID_BYTES),
    TEXT_ROW("url", FIELD_REQUIRED, MAX_URL_BYTES),
};
static SCHEMA(schema_vault_reference, "KeyVaultReference", vault_rows, NULL);

static const struct field encryption_rows[] = {ENUM_ROW("keySource", 0, key_sources, 0)};
static SCHEMA(schema_encryption, "EncryptionProperties", encryption_rows, NULL);

/* The network is stored and shown; nothing is closed by it. */
static const struct field ip_rule_rows[] = {
    ENUM_ROW("action", FIELD_REQUIRED, rule_actions, 0),
    TEXT_ROW("value", FIELD_REQUIRED, 64),
};
static SCHEMA(schema_ip_rule, "IPRule", ip_rule_rows, NULL);
static const struct field endpoint_access_rows[] = {
    ENUM_ROW("defaultAction", FIELD_REQUIRED, actions, 0),
    {.name = "ipRules", .kind = FIELD_ARRAY, .sub = &schema_ip_rule, .max = MAX_RULES},
};
static SCHEMA(schema_endpoint_access, "EndpointAccessProfile", endpoint_access_rows, NULL);
static const struct field network_rows[] = {
    OBJECT_ROW("accountAccess", 0, schema_endpoint_access, 0),
    OBJECT_ROW("nodeManagementAccess", 0, schema_endpoint_access, 0),
};
static SCHEMA(schema_network, "NetworkProfile", network_rows, NULL);

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

static const struct field quota_rows[] = {NUMBER_ROW("coreQuota", 0), READ_ROW("name", 0)};
static SCHEMA(schema_family_quota, "VirtualMachineFamilyCoreQuota", quota_rows, NULL);
static const struct field connection_rows[] = {READ_ROW("id", 0)};
static SCHEMA(schema_connection, "PrivateEndpointConnection", connection_rows, NULL);

/* No managed identities: only that there is none can be said. */
static const struct field identity_rows[] = {
    ENUM_ROW("type", FIELD_REQUIRED, identity_types, 0),
    READ_ROW("principalId", 0),
    READ_ROW("tenantId", 0),
};
static SCHEMA(schema_identity, "BatchAccountIdentity", identity_rows, NULL);

#define AUTO_STORAGE_ROW OBJECT_ROW("autoStorage", 0, schema_auto_storage, 0)
#define PUBLIC_ROW(from) ENUM_ROW("publicNetworkAccess", 0, accesses, RM_SINCE(from))
#define ENCRYPTION_ROW   OBJECT_ROW("encryption", 0, schema_encryption, RM_SINCE(RM_2020_03))
#define NETWORK_ROW      OBJECT_ROW("networkProfile", 0, schema_network, RM_SINCE(RM_2022_06))
#define MODES_ROW                                                                                  \
    {                                                                                              \
        .name = "allowedAuthenticationModes", .kind = FIELD_STRINGS, .max = MAX_MODES,             \
        .check = check_auth_modes, .versions = RM_SINCE(RM_2021_06)                                \
    }
#define IDENTITY_ROW OBJECT_ROW("identity", 0, schema_identity, RM_SINCE(RM_2020_05))
#define TAGS_ROW                                                                                   \
    {                                                                                              \
        .name = "tags", .kind = FIELD_MAP, .flags = FIELD_KEEP_EMPTY, .max = MAX_TAGS              \
    }

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
    READ_ROW("accountEndpoint", 0),
    READ_ROW("provisioningState", 0),
    NUMBER_ROW("dedicatedCoreQuota", 0),
    {.name = "dedicatedCoreQuotaPerVMFamily",
     .kind = FIELD_ARRAY,
     .flags = FIELD_READONLY | FIELD_KEEP_EMPTY,
     .sub = &schema_family_quota,
     .versions = RM_SINCE(RM_2019_04)},
    {.name = "dedicatedCoreQuotaPerVMFamilyEnforced",
     .kind = FIELD_BOOL,
     .flags = FIELD_READONLY,
     .versions = RM_SINCE(RM_2019_04)},
    NUMBER_ROW("lowPriorityCoreQuota", 0),
    NUMBER_ROW("poolQuota", 0),
    NUMBER_ROW("activeJobAndJobScheduleQuota", 0),
    AUTO_STORAGE_ROW,
    ENUM_ROW("poolAllocationMode", 0, allocation_modes, 0),
    OBJECT_ROW("keyVaultReference", 0, schema_vault_reference, 0),
    PUBLIC_ROW(RM_2020_03),
    NETWORK_ROW,
    {.name = "privateEndpointConnections",
     .kind = FIELD_ARRAY,
     .flags = FIELD_READONLY | FIELD_KEEP_EMPTY,
     .sub = &schema_connection,
     .versions = RM_SINCE(RM_2020_03)},
    ENCRYPTION_ROW,
    MODES_ROW,
};
static SCHEMA(schema_properties, "BatchAccountProperties", properties_rows, check_vault);

static const struct field account_rows[] = {
    READ_ROW("id", 0),
    READ_ROW("name", 0),
    READ_ROW("type", 0),
    {.name = "location",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_location},
    OBJECT_ROW("properties", 0, schema_properties, 0),
    TAGS_ROW,
    IDENTITY_ROW,
};
SCHEMA(schema_batch_account, "BatchAccountCreateParameters", account_rows, NULL);

static const struct field update_properties_rows[] = {
    AUTO_STORAGE_ROW, PUBLIC_ROW(RM_2022_06), NETWORK_ROW, ENCRYPTION_ROW, MODES_ROW,
};
static SCHEMA(schema_update_properties, "BatchAccountUpdateProperties", update_properties_rows,
              NULL);
static const struct field update_rows[] = {
    OBJECT_ROW("properties", 0, schema_update_properties, 0),
    TAGS_ROW,
    IDENTITY_ROW,
};
SCHEMA(schema_batch_account_update, "BatchAccountUpdateParameters", update_rows, NULL);

static const struct field name_rows[] = {
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .max = 1024},
    ENUM_ROW("type", FIELD_REQUIRED, account_types, 0),
};
SCHEMA(schema_batch_account_name, "CheckNameAvailabilityParameters", name_rows, NULL);

static const struct field key_name_rows[] = {ENUM_ROW("keyName", FIELD_REQUIRED, key_names, 0)};
SCHEMA(schema_batch_key_name, "BatchAccountRegenerateKeyParameters", key_name_rows, NULL);

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
        return true; /* nearly all; each request of the data plane asks */
    json_t *doc = json_loads(account_doc, 0, NULL);
    const json_t *given = json_object_get(json_object_get(doc, "properties"), modes);
    bool found = json_array_size(given) == 0;
    for (size_t i = 0; i < json_array_size(given) && !found; i++)
        found = strcmp(json_string_value(json_array_get(given, i)), mode) == 0;
    json_decref(doc);
    return found;
}
