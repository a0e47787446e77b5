/* SPDX-License-Identifier: MIT
 *
 * Items of lists that are not resources. They are only ever read.
 */
#include "model/schema/tables.h"

#define STRING_ROW(label)                                                                          \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = FIELD_READONLY                             \
    }
#define INT_ROW(label)                                                                             \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = FIELD_READONLY                                \
    }

static const struct field remote_login_rows[] = {
    STRING_ROW("nodeId"),
    STRING_ROW("ipAddress"),
    INT_ROW("port"),
};
SCHEMA(schema_remote_login, "RemoteLoginInformation", remote_login_rows, NULL);

static const struct field file_properties_rows[] = {
    {.name = "lastModified", .kind = FIELD_TIME, .flags = FIELD_READONLY},
    INT_ROW("contentLength"),
};
static SCHEMA(schema_file_properties, "FileProperties", file_properties_rows, NULL);

static const struct field file_rows[] = {
    STRING_ROW("name"),
    {.name = "isDirectory", .kind = FIELD_BOOL, .flags = FIELD_READONLY, .versions = V03},
    {.name = "fileType", .kind = FIELD_STRING, .flags = FIELD_READONLY, .versions = V05},
    STRING_ROW("downloadUrl"),
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_file_properties},
};
SCHEMA(schema_file, "File", file_rows, NULL);

static const struct field usage_name_rows[] = {STRING_ROW("value"), STRING_ROW("localizedValue")};
static SCHEMA(schema_usage_name, "UsageName", usage_name_rows, NULL);

static const struct field usage_rows[] = {
    STRING_ROW("unit"),
    INT_ROW("currentValue"),
    INT_ROW("limit"),
    {.name = "name", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_usage_name},
};
SCHEMA(schema_usage, "Usage", usage_rows, NULL);

static const struct field display_rows[] = {
    STRING_ROW("provider"),
    STRING_ROW("resource"),
    STRING_ROW("operation"),
    STRING_ROW("description"),
};
static SCHEMA(schema_display, "OperationDisplay", display_rows, NULL);

static const struct field operation_entry_rows[] = {
    STRING_ROW("name"),
    {.name = "display", .kind = FIELD_OBJECT, .flags = FIELD_READONLY, .sub = &schema_display},
    STRING_ROW("origin"),
};
SCHEMA(schema_operation_entry, "Operation", operation_entry_rows, NULL);

/* What filters of lists of all resources can ask for. */
static const struct field listed_rows[] = {
    STRING_ROW("id"),       STRING_ROW("name"),          STRING_ROW("resourceType"),
    STRING_ROW("location"), STRING_ROW("resourceGroup"),
};
SCHEMA(schema_listed, "GenericResource", listed_rows, NULL);
