/* SPDX-License-Identifier: MIT
 *
 * File servers.
 */
#include "model/schema/tables.h"

static const struct field ssh_rows[] = {
    {.name = "publicIPsToAllow", .kind = FIELD_STRINGS, .max = MAX_ITEMS},
    {.name = "userAccountSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_user_account},
};
static SCHEMA(schema_ssh, "SshConfiguration", ssh_rows, NULL);

/* Limits of the service's time: disks of up to 4095 GB, at most 64 on the largest machine. */
static const struct field disks_rows[] = {
    {.name = "diskSizeInGB", .kind = FIELD_INT, .flags = FIELD_REQUIRED, .min = 1, .max = 4095},
    {.name = "cachingType",
     .kind = FIELD_ENUM,
     .values = caching_type_names,
     .fallback = "\"none\""},
    {.name = "diskCount", .kind = FIELD_INT, .flags = FIELD_REQUIRED, .min = 1, .max = 64},
    {.name = "storageAccountType",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = storage_account_type_names},
};
static SCHEMA(schema_disks, "DataDisks", disks_rows, NULL);

static const struct field mount_settings_rows[] = {
    {.name = "mountPoint", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "fileServerPublicIP", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "fileServerInternalIP", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "fileServerType", .kind = FIELD_STRING, .flags = FIELD_READONLY, .versions = V_FLAT},
};
static SCHEMA(schema_mount_settings, "MountSettings", mount_settings_rows, NULL);

static const struct field properties_rows[] = {
    {.name = "provisioningState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = prov_state_names},
    {.name = "creationTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    {.name = "provisioningStateTransitionTime", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    {.name = "vmSize",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_UPPER,
     .min = 1,
     .max = 64,
     .check = check_clean_text},
    {.name = "sshConfiguration", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED, .sub = &schema_ssh},
    {.name = "dataDisks", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED, .sub = &schema_disks},
    {.name = "subnet", .kind = FIELD_OBJECT, .sub = &schema_resource_id},
    {.name = "mountSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_mount_settings},
};
static SCHEMA(schema_properties, "FileServerProperties", properties_rows, NULL);

static const struct field file_server_rows[] = {
    RESOURCE_ROWS,
    TRACKED_ROWS(0),
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_properties},
};
SCHEMA(schema_file_server, "FileServer", file_server_rows, NULL);
