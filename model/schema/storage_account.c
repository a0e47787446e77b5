/* SPDX-License-Identifier: MIT
 *
 * Storage accounts, and the shares and containers in them as the resource manager speaks of them;
 * the same in all versions.
 */
#include "model/metadata.h"
#include "model/schema/tables.h"

enum { MAX_RULES = 1000, MAX_METADATA = 200, MAX_SAS_BYTES = 2048 };

#define TEXT_ROW(label, bits, most)                                                                \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = (bits), .min = 1, .max = (most),           \
        .check = check_clean_text                                                                  \
    }
#define READ_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = FIELD_READONLY                             \
    }
#define BOOL_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_BOOL                                                        \
    }
#define ENUM_ROW(label, bits, names)                                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .flags = (bits), .values = (names)                    \
    }
#define OBJECT_ROW(label, bits, table)                                                             \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = (bits), .sub = &(table)                    \
    }
#define LIST_ROW(label, table)                                                                     \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .flags = FIELD_KEEP_EMPTY, .sub = &(table),          \
        .max = MAX_RULES                                                                           \
    }

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
static const struct enum_name choices[] = {
    {1, "MicrosoftRouting"}, {2, "InternetRouting"}, {0, NULL}};
static const struct enum_name copy_scopes[] = {{1, "PrivateLink"}, {2, "AAD"}, {0, NULL}};
static const struct enum_name dns_types[] = {{1, "Standard"}, {0, NULL}};
static const struct enum_name sas_actions[] = {{1, "Log"}, {2, "Block"}, {0, NULL}};
static const struct enum_name account_types[] = {{1, "Microsoft.Storage/storageAccounts"},
                                                 {0, NULL}};
static const struct enum_name key_names[] = {{1, "key1"}, {2, "key2"}, {0, NULL}};

/* --- what closes an account ------------------------------------------------------------------- */

/* It is stored and shown; nothing is closed by it (docs/storage.md). */
static const struct field ip_rule_rows[] = {TEXT_ROW("value", FIELD_REQUIRED, 64),
                                            ENUM_ROW("action", 0, actions)};
static SCHEMA(schema_ip_rule, "IPRule", ip_rule_rows, NULL);
static const struct field network_rule_rows[] = {TEXT_ROW("id", FIELD_REQUIRED, MAX_ID_BYTES),
                                                 ENUM_ROW("action", 0, actions)};
static SCHEMA(schema_network_rule, "VirtualNetworkRule", network_rule_rows, NULL);
static const struct field resource_rule_rows[] = {TEXT_ROW("tenantId", 0, 64),
                                                  TEXT_ROW("resourceId", 0, MAX_ID_BYTES)};
static SCHEMA(schema_resource_rule, "ResourceAccessRule", resource_rule_rows, NULL);
static const struct field network_acls_rows[] = {
    TEXT_ROW("bypass", 0, 64), /* several, joined by commas */
    LIST_ROW("resourceAccessRules", schema_resource_rule),
    LIST_ROW("virtualNetworkRules", schema_network_rule),
    LIST_ROW("ipRules", schema_ip_rule),
    {.name = "defaultAction", .kind = FIELD_ENUM, .values = actions, .fallback = "\"Allow\""},
};
static SCHEMA(schema_network_acls, "NetworkRuleSet", network_acls_rows, NULL);

/* --- accounts --------------------------------------------------------------------------------- */

static const struct field sku_rows[] = {ENUM_ROW("name", FIELD_REQUIRED, skus), READ_ROW("tier")};
static SCHEMA(schema_sku, "Sku", sku_rows, NULL);

static const struct field encryption_service_rows[] = {
    {.name = "keyType", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "enabled", .kind = FIELD_BOOL, .flags = FIELD_READONLY},
    {.name = "lastEnabledTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
};
static SCHEMA(schema_encryption_service, "EncryptionService", encryption_service_rows, NULL);
static const struct field encryption_services_rows[] = {
    OBJECT_ROW("file", 0, schema_encryption_service),
    OBJECT_ROW("blob", 0, schema_encryption_service),
};
static SCHEMA(schema_encryption_services, "EncryptionServices", encryption_services_rows, NULL);
static const struct field encryption_rows[] = {
    OBJECT_ROW("services", 0, schema_encryption_services),
    ENUM_ROW("keySource", 0, key_sources),
    BOOL_ROW("requireInfrastructureEncryption"),
};
static SCHEMA(schema_encryption, "Encryption", encryption_rows, NULL);

static const struct field sas_policy_rows[] = {
    TEXT_ROW("sasExpirationPeriod", FIELD_REQUIRED, 64),
    ENUM_ROW("expirationAction", FIELD_REQUIRED, sas_actions),
};
static SCHEMA(schema_sas_policy, "SasPolicy", sas_policy_rows, NULL);
static const struct field key_policy_rows[] = {
    {.name = "keyExpirationPeriodInDays",
     .kind = FIELD_INT,
     .flags = FIELD_REQUIRED,
     .min = 0,
     .max = 36500},
};
static SCHEMA(schema_key_policy, "KeyPolicy", key_policy_rows, NULL);
static const struct field routing_rows[] = {
    ENUM_ROW("routingChoice", 0, choices),
    BOOL_ROW("publishMicrosoftEndpoints"),
    BOOL_ROW("publishInternetEndpoints"),
};
static SCHEMA(schema_routing, "RoutingPreference", routing_rows, NULL);

static const struct field endpoints_rows[] = {READ_ROW("blob"),  READ_ROW("queue"),
                                              READ_ROW("table"), READ_ROW("file"),
                                              READ_ROW("web"),   READ_ROW("dfs")};
static SCHEMA(schema_endpoints, "Endpoints", endpoints_rows, NULL);
static const struct field key_times_rows[] = {
    {.name = "key1", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    {.name = "key2", .kind = FIELD_TIME, .flags = FIELD_READONLY},
};
static SCHEMA(schema_key_times, "KeyCreationTime", key_times_rows, NULL);

static int check_off(const json_t *value, const char *path, struct err *e)
{
    if (!json_is_true(value))
        return 0;
    return err_set(e, ERR_NOT_SUPPORTED, path, "%s is true; batchaid does not serve that", path);
}

#define OFF_ROW(label)                                                                             \
    {                                                                                              \
        .name = (label), .kind = FIELD_BOOL, .check = check_off                                    \
    }

static const struct field properties_rows[] = {
    READ_ROW("provisioningState"),
    OBJECT_ROW("primaryEndpoints", FIELD_READONLY, schema_endpoints),
    READ_ROW("primaryLocation"),
    READ_ROW("statusOfPrimary"),
    {.name = "creationTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    OBJECT_ROW("sasPolicy", 0, schema_sas_policy),
    OBJECT_ROW("keyPolicy", 0, schema_key_policy),
    OBJECT_ROW("keyCreationTime", FIELD_READONLY, schema_key_times),
    OBJECT_ROW("encryption", 0, schema_encryption),
    ENUM_ROW("accessTier", 0, tiers),
    BOOL_ROW("supportsHttpsTrafficOnly"),
    OBJECT_ROW("networkAcls", 0, schema_network_acls),
    OFF_ROW("isSftpEnabled"),
    OFF_ROW("isLocalUserEnabled"),
    OFF_ROW("isHnsEnabled"),
    ENUM_ROW("largeFileSharesState", 0, switches),
    OBJECT_ROW("routingPreference", 0, schema_routing),
    BOOL_ROW("allowBlobPublicAccess"),
    ENUM_ROW("minimumTlsVersion", 0, tls_versions),
    BOOL_ROW("allowSharedKeyAccess"),
    OFF_ROW("isNfsV3Enabled"),
    BOOL_ROW("allowCrossTenantReplication"),
    BOOL_ROW("defaultToOAuthAuthentication"),
    ENUM_ROW("publicNetworkAccess", 0, switches),
    ENUM_ROW("allowedCopyScope", 0, copy_scopes),
    ENUM_ROW("dnsEndpointType", 0, dns_types),
};
static SCHEMA(schema_properties, "StorageAccountProperties", properties_rows, NULL);

static const struct field account_rows[] = {
    OBJECT_ROW("sku", FIELD_REQUIRED, schema_sku),
    ENUM_ROW("kind", FIELD_REQUIRED, kinds),
    READ_ROW("id"),
    READ_ROW("name"),
    READ_ROW("type"),
    {.name = "location",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_location},
    {.name = "tags", .kind = FIELD_MAP, .flags = FIELD_KEEP_EMPTY, .max = MAX_TAGS},
    OBJECT_ROW("properties", 0, schema_properties),
};
SCHEMA(schema_storage_account, "StorageAccount", account_rows, NULL);

static const struct field account_name_rows[] = {
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .max = 1024},
    ENUM_ROW("type", FIELD_REQUIRED, account_types),
};
SCHEMA(schema_account_name, "StorageAccountCheckNameAvailabilityParameters", account_name_rows,
       NULL);

static const struct field key_name_rows[] = {ENUM_ROW("keyName", FIELD_REQUIRED, key_names)};
SCHEMA(schema_key_name, "StorageAccountRegenerateKeyParameters", key_name_rows, NULL);

/* --- signatures: the values go into the text that is signed as they are ------------------------
 */

#define SAS_ROW(label, bits)                                                                       \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = (bits), .max = MAX_SAS_BYTES,              \
        .check = check_clean_text                                                                  \
    }
static const struct field account_sas_rows[] = {
    SAS_ROW("signedServices", FIELD_REQUIRED),
    SAS_ROW("signedResourceTypes", FIELD_REQUIRED),
    SAS_ROW("signedPermission", FIELD_REQUIRED),
    SAS_ROW("signedExpiry", FIELD_REQUIRED),
    SAS_ROW("signedStart", 0),
    SAS_ROW("signedIp", 0),
    SAS_ROW("signedProtocol", 0),
    ENUM_ROW("keyToSign", 0, key_names),
};
SCHEMA(schema_account_sas, "AccountSasParameters", account_sas_rows, NULL);
static const struct field service_sas_rows[] = {
    SAS_ROW("canonicalizedResource", FIELD_REQUIRED),
    SAS_ROW("signedResource", FIELD_REQUIRED),
    SAS_ROW("signedPermission", 0),
    SAS_ROW("signedExpiry", 0),
    SAS_ROW("signedStart", 0),
    SAS_ROW("signedIp", 0),
    SAS_ROW("signedProtocol", 0),
    SAS_ROW("signedIdentifier", 0),
    SAS_ROW("rscc", 0),
    SAS_ROW("rscd", 0),
    SAS_ROW("rsce", 0),
    SAS_ROW("rscl", 0),
    SAS_ROW("rsct", 0),
    ENUM_ROW("keyToSign", 0, key_names),
};
SCHEMA(schema_service_sas, "ServiceSasParameters", service_sas_rows, NULL);

/* --- shares and containers -------------------------------------------------------------------- */

static const struct enum_name share_tiers[] = {
    {1, "TransactionOptimized"}, {2, "Hot"}, {3, "Cool"}, {4, "Premium"}, {0, NULL}};
static const struct enum_name protocols[] = {{1, "SMB"}, {0, NULL}};
static const struct enum_name accesses[] = {
    {PUBLIC_NONE, "None"}, {PUBLIC_BLOB, "Blob"}, {PUBLIC_CONTAINER, "Container"}, {0, NULL}};

/* The data planes say it in headers. */
static int check_metadata(const json_t *value, const char *path, struct err *e)
{
    const char *name;
    const json_t *word;
    json_object_foreach((json_t *)value, name, word) {
        if (!metadata_name_ok(name))
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s has the name '%.60s'; names have letters, digits, _ and -, and do "
                           "not begin with a digit",
                           path, name);
        if (!metadata_value_ok(json_string_value(word)))
            return err_set(e, ERR_INVALID_PROPERTY, path,
                           "%s: the value of '%.60s' has control characters", path, name);
    }
    return 0;
}

#define METADATA_ROW                                                                               \
    {                                                                                              \
        .name = "metadata", .kind = FIELD_MAP, .flags = FIELD_KEEP_EMPTY, .max = MAX_METADATA,     \
        .check = check_metadata                                                                    \
    }

static const struct field share_properties_rows[] = {
    METADATA_ROW,
    {.name = "shareQuota", .kind = FIELD_INT, .min = 1, .max = SHARE_QUOTA_MAX},
    ENUM_ROW("enabledProtocols", 0, protocols),
    ENUM_ROW("accessTier", 0, share_tiers),
};
static SCHEMA(schema_share_properties, "FileShareProperties", share_properties_rows, NULL);
static const struct field share_rows[] = {OBJECT_ROW("properties", 0, schema_share_properties)};
SCHEMA(schema_share_rm, "FileShare", share_rows, NULL);

static const struct field container_properties_rows[] = {
    METADATA_ROW,
    ENUM_ROW("publicAccess", 0, accesses),
};
static SCHEMA(schema_container_properties, "ContainerProperties", container_properties_rows, NULL);
static const struct field container_rows[] = {
    OBJECT_ROW("properties", 0, schema_container_properties)};
SCHEMA(schema_container_rm, "BlobContainer", container_rows, NULL);
