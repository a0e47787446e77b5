/* SPDX-License-Identifier: MIT
 *
 * Key Vaults, as far as requests and stored documents go; the same in all versions.
 */
#include <string.h>
#include <strings.h>

#include "model/schema/tables.h"

enum { MAX_POLICIES = 1024, MAX_PERMISSIONS = 64, MAX_RULES = 1000 };

static const struct enum_name families[] = {{1, "A"}, {0, NULL}};
static const struct enum_name skus[] = {{1, "standard"}, {2, "premium"}, {0, NULL}};
static const struct enum_name modes[] = {{1, "default"}, {2, "recover"}, {0, NULL}};
static const struct enum_name bypasses[] = {{1, "AzureServices"}, {2, "None"}, {0, NULL}};
static const struct enum_name actions[] = {{1, "Allow"}, {2, "Deny"}, {0, NULL}};
static const struct enum_name accesses[] = {{1, "Enabled"}, {2, "Disabled"}, {0, NULL}};
static const struct enum_name vault_types[] = {{1, "Microsoft.KeyVault/vaults"}, {0, NULL}};

#define TEXT_ROW(label, bits, most)                                                                \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = (bits), .min = 1, .max = (most),           \
        .check = check_clean_text                                                                  \
    }
#define BOOL_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_BOOL                                                        \
    }
#define ENUM_ROW(label, bits, names)                                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .flags = (bits), .values = (names)                    \
    }

static const struct field sku_rows[] = {
    ENUM_ROW("family", FIELD_REQUIRED, families),
    ENUM_ROW("name", FIELD_REQUIRED, skus),
};
static SCHEMA(schema_sku, "Sku", sku_rows, NULL);

/* --- access policies ------------------------------------------------------------------------- */

static const char *const key_permissions[] = {"all",
                                              "encrypt",
                                              "decrypt",
                                              "wrapKey",
                                              "unwrapKey",
                                              "sign",
                                              "verify",
                                              "get",
                                              "list",
                                              "create",
                                              "update",
                                              "import",
                                              "delete",
                                              "backup",
                                              "restore",
                                              "recover",
                                              "purge",
                                              "release",
                                              "rotate",
                                              "getrotationpolicy",
                                              "setrotationpolicy",
                                              NULL};
static const char *const secret_permissions[] = {"all",    "get",     "list",    "set",   "delete",
                                                 "backup", "restore", "recover", "purge", NULL};
static const char *const certificate_permissions[] = {
    "all",           "get",         "list",       "delete",
    "create",        "import",      "update",     "managecontacts",
    "getissuers",    "listissuers", "setissuers", "deleteissuers",
    "manageissuers", "recover",     "purge",      "backup",
    "restore",       NULL};
static const char *const storage_permissions[] = {
    "all",   "get",    "list",    "delete", "set",     "update", "regeneratekey", "recover",
    "purge", "backup", "restore", "setsas", "listsas", "getsas", "deletesas",     NULL};

static int check_permissions(const json_t *list, const char *const *known, const char *path,
                             struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *given = json_string_value(json_array_get(list, i));
        const char *const *k = known;
        while (*k && strcasecmp(*k, given) != 0)
            k++;
        if (!*k)
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s has '%.60s', which is no permission of this kind", path, given);
    }
    return 0;
}

static int check_key_permissions(const json_t *list, const char *path, struct err *e)
{
    return check_permissions(list, key_permissions, path, e);
}

static int check_secret_permissions(const json_t *list, const char *path, struct err *e)
{
    return check_permissions(list, secret_permissions, path, e);
}

static int check_certificate_permissions(const json_t *list, const char *path, struct err *e)
{
    return check_permissions(list, certificate_permissions, path, e);
}

static int check_storage_permissions(const json_t *list, const char *path, struct err *e)
{
    return check_permissions(list, storage_permissions, path, e);
}

#define PERMISSIONS_ROW(label, rule)                                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRINGS, .flags = FIELD_KEEP_EMPTY, .max = MAX_PERMISSIONS, \
        .check = (rule)                                                                            \
    }
static const struct field permissions_rows[] = {
    PERMISSIONS_ROW("keys", check_key_permissions),
    PERMISSIONS_ROW("secrets", check_secret_permissions),
    PERMISSIONS_ROW("certificates", check_certificate_permissions),
    PERMISSIONS_ROW("storage", check_storage_permissions),
};
static SCHEMA(schema_permissions, "Permissions", permissions_rows, NULL);

static const struct field policy_rows[] = {
    TEXT_ROW("tenantId", FIELD_REQUIRED, 64),
    TEXT_ROW("objectId", FIELD_REQUIRED, 64),
    TEXT_ROW("applicationId", 0, 64),
    {.name = "permissions",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED | FIELD_KEEP_EMPTY,
     .sub = &schema_permissions},
};
static SCHEMA(schema_policy, "AccessPolicyEntry", policy_rows, NULL);

#define POLICIES_ROW(bits)                                                                         \
    {                                                                                              \
        .name = "accessPolicies", .kind = FIELD_ARRAY, .flags = (bits) | FIELD_KEEP_EMPTY,         \
        .sub = &schema_policy, .max = MAX_POLICIES                                                 \
    }

static const struct field policy_properties_rows[] = {POLICIES_ROW(FIELD_REQUIRED)};
static SCHEMA(schema_policy_properties, "VaultAccessPolicyProperties", policy_properties_rows,
              NULL);
static const struct field policies_rows[] = {
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_policy_properties},
};
SCHEMA(schema_vault_policies, "VaultAccessPolicyParameters", policies_rows, NULL);

/* --- vaults ---------------------------------------------------------------------------------- */

/* They are stored and shown; nothing is closed by them (docs/vault.md). */
static const struct field ip_rule_rows[] = {TEXT_ROW("value", FIELD_REQUIRED, 64)};
static SCHEMA(schema_ip_rule, "IPRule", ip_rule_rows, NULL);
static const struct field network_rule_rows[] = {
    TEXT_ROW("id", FIELD_REQUIRED, MAX_ID_BYTES),
    BOOL_ROW("ignoreMissingVnetServiceEndpoint"),
};
static SCHEMA(schema_network_rule, "VirtualNetworkRule", network_rule_rows, NULL);
static const struct field network_acls_rows[] = {
    ENUM_ROW("bypass", 0, bypasses),
    ENUM_ROW("defaultAction", 0, actions),
    {.name = "ipRules",
     .kind = FIELD_ARRAY,
     .flags = FIELD_KEEP_EMPTY,
     .sub = &schema_ip_rule,
     .max = MAX_RULES},
    {.name = "virtualNetworkRules",
     .kind = FIELD_ARRAY,
     .flags = FIELD_KEEP_EMPTY,
     .sub = &schema_network_rule,
     .max = MAX_RULES},
};
static SCHEMA(schema_network_acls, "NetworkRuleSet", network_acls_rows, NULL);

static int check_soft_delete(const json_t *value, const char *path, struct err *e)
{
    if (json_is_true(value))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s is false; soft deletion cannot be turned off",
                   path);
}

static int check_purge_protection(const json_t *value, const char *path, struct err *e)
{
    if (json_is_true(value))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s is false; it can be true or left out", path);
}

static const struct field properties_rows[] = {
    {.name = "sku", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED, .sub = &schema_sku},
    TEXT_ROW("tenantId", FIELD_REQUIRED, 64),
    {.name = "networkAcls", .kind = FIELD_OBJECT, .sub = &schema_network_acls},
    POLICIES_ROW(0),
    BOOL_ROW("enabledForDeployment"),
    BOOL_ROW("enabledForDiskEncryption"),
    BOOL_ROW("enabledForTemplateDeployment"),
    {.name = "enableSoftDelete",
     .kind = FIELD_BOOL,
     .fallback = "true",
     .check = check_soft_delete},
    {.name = "softDeleteRetentionInDays", .kind = FIELD_INT, .min = 7, .max = 90},
    BOOL_ROW("enableRbacAuthorization"),
    {.name = "enablePurgeProtection", .kind = FIELD_BOOL, .check = check_purge_protection},
    ENUM_ROW("createMode", FIELD_DISCARD, modes),
    {.name = "vaultUri", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "provisioningState", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "publicNetworkAccess",
     .kind = FIELD_ENUM,
     .values = accesses,
     .fallback = "\"Enabled\""},
};
static SCHEMA(schema_properties, "VaultProperties", properties_rows, NULL);

static const struct field system_data_rows[] = {
    {.name = "createdBy", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "createdAt", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    {.name = "lastModifiedAt", .kind = FIELD_TIME, .flags = FIELD_READONLY},
};
static SCHEMA(schema_system_data, "SystemData", system_data_rows, NULL);

static const struct field vault_rows[] = {
    {.name = "id", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "type", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "location",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_location},
    {.name = "tags", .kind = FIELD_MAP, .flags = FIELD_KEEP_EMPTY, .max = MAX_TAGS},
    {.name = "systemData",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_system_data},
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_properties},
};
SCHEMA(schema_vault, "Vault", vault_rows, NULL);

static const struct field vault_name_rows[] = {
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .max = 1024},
    ENUM_ROW("type", FIELD_REQUIRED, vault_types),
};
SCHEMA(schema_vault_name, "VaultCheckNameAvailabilityParameters", vault_name_rows, NULL);
