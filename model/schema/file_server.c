/* SPDX-License-Identifier: MIT
 *
 * File servers.
 */
#include "model/schema/tables.h"

static const struct field ssh_rows[] = {
    TEXTS("publicIPsToAllow", .max = MAX_ITEMS),
    OBJECT("userAccountSettings", REQUIRED, schema_user_account),
};
static SCHEMA(schema_ssh, ssh_rows, "SshConfiguration");

/* Limits of the real service: disks of up to 4095 GB, at most 64 on the largest machine. */
static const struct field disks_rows[] = {
    INT("diskSizeInGB", REQUIRED, 1, 4095),
    ENUM("cachingType", 0, caching_type_names, .fallback = "\"none\""),
    INT("diskCount", REQUIRED, 1, 64),
    ENUM("storageAccountType", REQUIRED, storage_account_type_names),
};
static SCHEMA(schema_disks, disks_rows, "DataDisks");

static const struct field mount_settings_rows[] = {
    TEXT("mountPoint", READONLY),
    TEXT("fileServerPublicIP", READONLY),
    TEXT("fileServerInternalIP", READONLY),
    TEXT("fileServerType", READONLY, .versions = V_FLAT),
};
static SCHEMA(schema_mount_settings, mount_settings_rows, "MountSettings");

static const struct field properties_rows[] = {
    ENUM("provisioningState", READONLY, prov_state_names),
    TIME("creationTime", READONLY),
    TIME("provisioningStateTransitionTime", READONLY),
    TEXT("vmSize", REQUIRED | UPPER, 1, 64, .check = check_clean_text),
    OBJECT("sshConfiguration", REQUIRED, schema_ssh),
    OBJECT("dataDisks", REQUIRED, schema_disks),
    OBJECT("subnet", 0, schema_resource_id),
    OBJECT("mountSettings", READONLY, schema_mount_settings),
};
static SCHEMA(schema_properties, properties_rows, "FileServerProperties");

static const struct field file_server_rows[] = {
    RESOURCE_ROWS,
    TRACKED_ROWS(0),
    OBJECT("properties", REQUIRED, schema_properties),
};
SCHEMA(schema_file_server, file_server_rows, "FileServer");
