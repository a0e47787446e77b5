/* SPDX-License-Identifier: MIT
 *
 * The tables of storage accounts, and of their shares and containers in the resource manager. They
 * are the same in all versions.
 */
#include <jansson.h>
#include <string.h>

#include "model/metadata.h"
#include "model/resource.h"
#include "model/schema/tables.h"

enum { MAX_RULES = 1000, MAX_METADATA = 200, MAX_SAS_BYTES = 2048 };

static const struct enum_name skus[] = {
    {1, "Standard_LRS"},    {2, "Standard_GRS"},    {3, "Standard_RAGRS"},
    {4, "Standard_ZRS"},    {5, "Premium_LRS"},     {6, "Premium_ZRS"},
    {7, "Standard_GZRS"},   {8, "Standard_RAGZRS"}, {9, "StandardV2_LRS"},
    {10, "StandardV2_GRS"}, {11, "StandardV2_ZRS"}, {12, "StandardV2_GZRS"},
    {13, "PremiumV2_LRS"},  {14, "PremiumV2_ZRS"},  {0, NULL}};
static const struct enum_name kinds[] = {{1, "Storage"},          {2, "StorageV2"},
                                         {3, "BlobStorage"},      {4, "FileStorage"},
                                         {5, "BlockBlobStorage"}, {0, NULL}};
static const struct enum_name tiers[] = {
    {1, "Hot"}, {2, "Cool"}, {3, "Premium"}, {4, "Cold"}, {0, NULL}};
static const struct enum_name tls_versions[] = {
    {1, "TLS1_0"}, {2, "TLS1_1"}, {3, "TLS1_2"}, {4, "TLS1_3"}, {0, NULL}};
static const struct enum_name switches[] = {{1, "Enabled"}, {2, "Disabled"}, {0, NULL}};
static const struct enum_name actions[] = {{1, "Allow"}, {2, "Deny"}, {0, NULL}};
static const struct enum_name key_sources[] = {{1, "Microsoft.Storage"}, {0, NULL}};
static const struct enum_name key_types[] = {{1, "Service"}, {2, "Account"}, {0, NULL}};
static const struct enum_name choices[] = {
    {1, "MicrosoftRouting"}, {2, "InternetRouting"}, {0, NULL}};
static const struct enum_name copy_scopes[] = {{1, "PrivateLink"}, {2, "AAD"}, {0, NULL}};
static const struct enum_name dns_types[] = {{1, "Standard"}, {0, NULL}};
static const struct enum_name sas_actions[] = {{1, "Log"}, {2, "Block"}, {0, NULL}};
static const struct enum_name account_types[] = {{1, "Microsoft.Storage/storageAccounts"},
                                                 {0, NULL}};
static const struct enum_name key_names[] = {{1, "key1"}, {2, "key2"}, {0, NULL}};

/* --- restrictions of access --- */

/* These rules are stored and shown, but not enforced (docs/storage.md). */
static const struct field ip_rule_rows[] = {
    TEXT("value", REQUIRED, 1, 64, .check = check_clean_text),
    ENUM("action", 0, actions),
};
static SCHEMA(schema_ip_rule, ip_rule_rows, "IPRule");
static const struct field network_rule_rows[] = {
    TEXT("id", REQUIRED, 1, MAX_ID_BYTES, .check = check_clean_text),
    ENUM("action", 0, actions),
};
static SCHEMA(schema_network_rule, network_rule_rows, "VirtualNetworkRule");
static const struct field resource_rule_rows[] = {
    TEXT("tenantId", 0, 1, 64, .check = check_clean_text),
    TEXT("resourceId", 0, 1, MAX_ID_BYTES, .check = check_clean_text),
};
static SCHEMA(schema_resource_rule, resource_rule_rows, "ResourceAccessRule");
static const struct field network_acls_rows[] = {
    TEXT("bypass", 0, 1, 64, .check = check_clean_text), /* several, joined by commas */
    LIST("resourceAccessRules", KEEP_EMPTY, schema_resource_rule, .max = MAX_RULES),
    LIST("virtualNetworkRules", KEEP_EMPTY, schema_network_rule, .max = MAX_RULES),
    LIST("ipRules", KEEP_EMPTY, schema_ip_rule, .max = MAX_RULES),
    ENUM("defaultAction", 0, actions, .fallback = "\"Allow\""),
};
static SCHEMA(schema_network_acls, network_acls_rows, "NetworkRuleSet");

/* --- accounts --------------------------------------------------------------------------------- */

static const struct field sku_rows[] = {ENUM("name", REQUIRED, skus), TEXT("tier", READONLY)};
static SCHEMA(schema_sku, sku_rows, "Sku");

static const struct field encryption_service_rows[] = {
    TEXT("keyType", READONLY),
    BOOL("enabled", READONLY),
    TIME("lastEnabledTime", READONLY),
};
static SCHEMA(schema_encryption_service, encryption_service_rows, "EncryptionService");
/* Encryption settings of queues and tables. The daemon does not serve these, so it only stores and
 * shows the settings. */
static const struct field chosen_encryption_rows[] = {
    ENUM("keyType", 0, key_types),
    BOOL("enabled", READONLY),
    TIME("lastEnabledTime", READONLY),
};
static SCHEMA(schema_chosen_encryption, chosen_encryption_rows, "EncryptionService");
static const struct field encryption_services_rows[] = {
    OBJECT("file", 0, schema_encryption_service),
    OBJECT("blob", 0, schema_encryption_service),
    OBJECT("table", 0, schema_chosen_encryption),
    OBJECT("queue", 0, schema_chosen_encryption),
};
static SCHEMA(schema_encryption_services, encryption_services_rows, "EncryptionServices");
static const struct field encryption_rows[] = {
    OBJECT("services", 0, schema_encryption_services),
    ENUM("keySource", 0, key_sources),
    BOOL("requireInfrastructureEncryption"),
};
static SCHEMA(schema_encryption, encryption_rows, "Encryption");

static const struct field sas_policy_rows[] = {
    TEXT("sasExpirationPeriod", REQUIRED, 1, 64, .check = check_clean_text),
    ENUM("expirationAction", REQUIRED, sas_actions),
};
static SCHEMA(schema_sas_policy, sas_policy_rows, "SasPolicy");
static const struct field key_policy_rows[] = {
    INT("keyExpirationPeriodInDays", REQUIRED, .max = 36500),
};
static SCHEMA(schema_key_policy, key_policy_rows, "KeyPolicy");
static const struct field routing_rows[] = {
    ENUM("routingChoice", 0, choices),
    BOOL("publishMicrosoftEndpoints"),
    BOOL("publishInternetEndpoints"),
};
static SCHEMA(schema_routing, routing_rows, "RoutingPreference");

/* clang-format off */
static const struct field endpoints_rows[] = {
    TEXT("blob", READONLY),
    TEXT("queue", READONLY),
    TEXT("table", READONLY),
    TEXT("file", READONLY),
    TEXT("web", READONLY),
    TEXT("dfs", READONLY),
};
/* clang-format on */
static SCHEMA(schema_endpoints, endpoints_rows, "Endpoints");
static const struct field key_times_rows[] = {TIME("key1", READONLY), TIME("key2", READONLY)};
static SCHEMA(schema_key_times, key_times_rows, "KeyCreationTime");

static int check_off(const json_t *value, const char *path, struct err *e)
{
    if (!json_is_true(value))
        return 0;
    return err_set(e, ERR_NOT_SUPPORTED, path, "%s is true; batchaid does not serve that", path);
}

static const struct field properties_rows[] = {
    TEXT("provisioningState", READONLY),
    OBJECT("primaryEndpoints", READONLY, schema_endpoints),
    TEXT("primaryLocation", READONLY),
    TEXT("statusOfPrimary", READONLY),
    TIME("creationTime", READONLY),
    OBJECT("sasPolicy", 0, schema_sas_policy),
    OBJECT("keyPolicy", 0, schema_key_policy),
    OBJECT("keyCreationTime", READONLY, schema_key_times),
    OBJECT("encryption", 0, schema_encryption),
    ENUM("accessTier", 0, tiers),
    BOOL("supportsHttpsTrafficOnly"),
    OBJECT("networkAcls", 0, schema_network_acls),
    BOOL("isSftpEnabled", .check = check_off),
    BOOL("isLocalUserEnabled"),
    BOOL("isHnsEnabled", .check = check_off),
    ENUM("largeFileSharesState", 0, switches),
    OBJECT("routingPreference", 0, schema_routing),
    BOOL("allowBlobPublicAccess"),
    ENUM("minimumTlsVersion", 0, tls_versions),
    BOOL("allowSharedKeyAccess"),
    BOOL("isNfsV3Enabled", .check = check_off),
    BOOL("allowCrossTenantReplication"),
    BOOL("defaultToOAuthAuthentication"),
    ENUM("publicNetworkAccess", 0, switches),
    ENUM("allowedCopyScope", 0, copy_scopes),
    ENUM("dnsEndpointType", 0, dns_types),
};
static SCHEMA(schema_properties, properties_rows, "StorageAccountProperties");

static const struct field account_rows[] = {
    OBJECT("sku", REQUIRED, schema_sku),
    ENUM("kind", REQUIRED, kinds),
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("location", REQUIRED, 1, 128, .check = check_location),
    MAP("tags", KEEP_EMPTY, .max = MAX_TAGS),
    OBJECT("properties", 0, schema_properties),
};
SCHEMA(schema_storage_account, account_rows, "StorageAccount");

static const struct field account_name_rows[] = {
    TEXT("name", REQUIRED, .max = 1024),
    ENUM("type", REQUIRED, account_types),
};
SCHEMA(schema_account_name, account_name_rows, "StorageAccountCheckNameAvailabilityParameters");

static const struct field key_name_rows[] = {ENUM("keyName", REQUIRED, key_names)};
SCHEMA(schema_key_name, key_name_rows, "StorageAccountRegenerateKeyParameters");

/* --- signatures: the values are copied unchanged into the signed text --- */

static const struct field account_sas_rows[] = {
    TEXT("signedServices", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedResourceTypes", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedPermission", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedExpiry", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedStart", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedIp", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedProtocol", .max = MAX_SAS_BYTES, .check = check_clean_text),
    ENUM("keyToSign", 0, key_names),
};
SCHEMA(schema_account_sas, account_sas_rows, "AccountSasParameters");
static const struct field service_sas_rows[] = {
    TEXT("canonicalizedResource", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedResource", REQUIRED, .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedPermission", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedExpiry", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedStart", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedIp", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedProtocol", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("signedIdentifier", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("rscc", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("rscd", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("rsce", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("rscl", .max = MAX_SAS_BYTES, .check = check_clean_text),
    TEXT("rsct", .max = MAX_SAS_BYTES, .check = check_clean_text),
    ENUM("keyToSign", 0, key_names),
};
SCHEMA(schema_service_sas, service_sas_rows, "ServiceSasParameters");

/* --- shares and containers -------------------------------------------------------------------- */

static const struct enum_name share_tiers[] = {
    {1, "TransactionOptimized"}, {2, "Hot"}, {3, "Cool"}, {4, "Premium"}, {0, NULL}};
static const struct enum_name protocols[] = {{1, "SMB"}, {0, NULL}};
static const struct enum_name accesses[] = {
    {PUBLIC_NONE, "None"}, {PUBLIC_BLOB, "Blob"}, {PUBLIC_CONTAINER, "Container"}, {0, NULL}};

/* Checks metadata. In the data planes the same metadata is sent in headers, so the same rules
 * apply. */
static int check_metadata(const json_t *value, const char *path, struct err *e)
{
    const char *name;
    const json_t *word;
    json_object_foreach((json_t *)value, name, word) {
        if (!metadata_name_ok(name))
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s has the name '%.60s'; names have letters, digits and _, and do not "
                           "begin with a digit",
                           path, name);
        if (!metadata_value_ok(json_string_value(word)))
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s: the value of '%.60s' has control characters", path, name);
    }
    return 0;
}

#define METADATA_ROW MAP("metadata", KEEP_EMPTY, .max = MAX_METADATA, .check = check_metadata)

static const struct field access_policy_rows[] = {
    TIME("startTime"),
    TIME("expiryTime"),
    TEXT("permission", .max = 64, .check = check_clean_text),
};
static SCHEMA(schema_access_policy, access_policy_rows, "AccessPolicy");
static const struct field signed_identifier_rows[] = {
    TEXT("id", REQUIRED, 1, 64, .check = check_clean_text),
    OBJECT("accessPolicy", 0, schema_access_policy),
};
static SCHEMA(schema_signed_identifier, signed_identifier_rows, "SignedIdentifier");
static const struct field share_properties_rows[] = {
    METADATA_ROW,
    LIST("signedIdentifiers", KEEP_EMPTY, schema_signed_identifier, .max = 5),
    INT("shareQuota", 0, 1, SHARE_QUOTA_MAX),
    ENUM("enabledProtocols", 0, protocols),
    ENUM("accessTier", 0, share_tiers),
};
static SCHEMA(schema_share_properties, share_properties_rows, "FileShareProperties");
static const struct field share_rows[] = {OBJECT("properties", 0, schema_share_properties)};
SCHEMA(schema_share_rm, share_rows, "FileShare");

static const struct field container_properties_rows[] = {
    METADATA_ROW,
    ENUM("publicAccess", 0, accesses),
};
static SCHEMA(schema_container_properties, container_properties_rows, "ContainerProperties");
static const struct field container_rows[] = {OBJECT("properties", 0, schema_container_properties)};
SCHEMA(schema_container_rm, container_rows, "BlobContainer");

bool account_forbids(const struct storage_account *account, const char *way)
{
    if (!strstr(account->doc, way))
        return false; /* the result for nearly all accounts */
    json_t *doc = json_loads(account->doc, 0, NULL);
    bool off = json_is_false(json_object_get(doc, way));
    json_decref(doc);
    return off;
}
