/* SPDX-License-Identifier: MIT
 *
 * The tables of Key Vaults, for requests and stored documents. They are the same in all versions.
 */
#include <string.h>
#include <strings.h>

#include "model/schema/tables.h"

enum { MAX_PERMISSIONS = 64, MAX_RULES = 1000 };

static const struct enum_name families[] = {{1, "A"}, {0, NULL}};
static const struct enum_name skus[] = {{1, "standard"}, {2, "premium"}, {0, NULL}};
static const struct enum_name modes[] = {{1, "default"}, {2, "recover"}, {0, NULL}};
static const struct enum_name bypasses[] = {{1, "AzureServices"}, {2, "None"}, {0, NULL}};
static const struct enum_name actions[] = {{1, "Allow"}, {2, "Deny"}, {0, NULL}};
static const struct enum_name accesses[] = {{1, "Enabled"}, {2, "Disabled"}, {0, NULL}};
static const struct enum_name vault_types[] = {{1, "Microsoft.KeyVault/vaults"}, {0, NULL}};

static const struct field sku_rows[] = {
    ENUM("family", REQUIRED, families),
    ENUM("name", REQUIRED, skus),
};
static SCHEMA(schema_sku, sku_rows, "Sku");

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
                           "%s has '%.60s', which is not a permission of this kind", path, given);
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

static const struct field permissions_rows[] = {
    TEXTS("keys", KEEP_EMPTY, .max = MAX_PERMISSIONS, .check = check_key_permissions),
    TEXTS("secrets", KEEP_EMPTY, .max = MAX_PERMISSIONS, .check = check_secret_permissions),
    TEXTS("certificates", KEEP_EMPTY, .max = MAX_PERMISSIONS,
          .check = check_certificate_permissions),
    TEXTS("storage", KEEP_EMPTY, .max = MAX_PERMISSIONS, .check = check_storage_permissions),
};
static SCHEMA(schema_permissions, permissions_rows, "Permissions");

static const struct field policy_rows[] = {
    TEXT("tenantId", REQUIRED, 1, 64, .check = check_clean_text),
    TEXT("objectId", REQUIRED, 1, 64, .check = check_clean_text),
    TEXT("applicationId", 0, 1, 64, .check = check_clean_text),
    OBJECT("permissions", REQUIRED | KEEP_EMPTY, schema_permissions),
};
static SCHEMA(schema_policy, policy_rows, "AccessPolicyEntry");

#define POLICIES_ROW(bits)                                                                         \
    LIST("accessPolicies", (bits) | KEEP_EMPTY, schema_policy, .max = VAULT_POLICIES_MAX)

static const struct field policy_properties_rows[] = {POLICIES_ROW(REQUIRED)};
static SCHEMA(schema_policy_properties, policy_properties_rows, "VaultAccessPolicyProperties");
static const struct field policies_rows[] = {
    OBJECT("properties", REQUIRED, schema_policy_properties),
};
SCHEMA(schema_vault_policies, policies_rows, "VaultAccessPolicyParameters");

/* --- vaults ---------------------------------------------------------------------------------- */

/* These rules are stored and shown, but not enforced (docs/vault.md). */
static const struct field ip_rule_rows[] = {
    TEXT("value", REQUIRED, 1, 64, .check = check_clean_text),
};
static SCHEMA(schema_ip_rule, ip_rule_rows, "IPRule");
static const struct field network_rule_rows[] = {
    TEXT("id", REQUIRED, 1, MAX_ID_BYTES, .check = check_clean_text),
    BOOL("ignoreMissingVnetServiceEndpoint"),
};
static SCHEMA(schema_network_rule, network_rule_rows, "VirtualNetworkRule");
static const struct field network_acls_rows[] = {
    ENUM("bypass", 0, bypasses),
    ENUM("defaultAction", 0, actions),
    LIST("ipRules", KEEP_EMPTY, schema_ip_rule, .max = MAX_RULES),
    LIST("virtualNetworkRules", KEEP_EMPTY, schema_network_rule, .max = MAX_RULES),
};
static SCHEMA(schema_network_acls, network_acls_rows, "NetworkRuleSet");

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
    OBJECT("sku", REQUIRED, schema_sku),
    TEXT("tenantId", REQUIRED, 1, 64, .check = check_clean_text),
    OBJECT("networkAcls", 0, schema_network_acls),
    POLICIES_ROW(0),
    BOOL("enabledForDeployment"),
    BOOL("enabledForDiskEncryption"),
    BOOL("enabledForTemplateDeployment"),
    BOOL("enableSoftDelete", .fallback = "true", .check = check_soft_delete),
    INT("softDeleteRetentionInDays", 0, 7, 90),
    BOOL("enableRbacAuthorization"),
    BOOL("enablePurgeProtection", .check = check_purge_protection),
    ENUM("createMode", DISCARD, modes),
    TEXT("vaultUri", READONLY),
    TEXT("provisioningState", READONLY),
    ENUM("publicNetworkAccess", 0, accesses, .fallback = "\"Enabled\""),
};
static SCHEMA(schema_properties, properties_rows, "VaultProperties");

static const struct field system_data_rows[] = {
    TEXT("createdBy", READONLY),
    TIME("createdAt", READONLY),
    TIME("lastModifiedAt", READONLY),
};
static SCHEMA(schema_system_data, system_data_rows, "SystemData");

static const struct field vault_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("location", REQUIRED, 1, 128, .check = check_location),
    MAP("tags", KEEP_EMPTY, .max = MAX_TAGS),
    OBJECT("systemData", READONLY, schema_system_data),
    OBJECT("properties", REQUIRED, schema_properties),
};
SCHEMA(schema_vault, vault_rows, "Vault");

static const struct field vault_name_rows[] = {
    TEXT("name", REQUIRED, .max = 1024),
    ENUM("type", REQUIRED, vault_types),
};
SCHEMA(schema_vault_name, vault_name_rows, "VaultCheckNameAvailabilityParameters");
