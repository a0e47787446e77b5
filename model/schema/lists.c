/* SPDX-License-Identifier: MIT
 *
 * Items of lists that are not resources. They only occur in replies.
 */
#include "model/schema/tables.h"

static const struct field remote_login_rows[] = {
    TEXT("nodeId", READONLY),
    TEXT("ipAddress", READONLY),
    INT("port", READONLY),
};
SCHEMA(schema_remote_login, remote_login_rows, "RemoteLoginInformation");

static const struct field file_properties_rows[] = {
    TIME("lastModified", READONLY),
    INT("contentLength", READONLY),
};
static SCHEMA(schema_file_properties, file_properties_rows, "FileProperties");

static const struct field file_rows[] = {
    TEXT("name", READONLY),
    BOOL("isDirectory", READONLY, .versions = V03),
    TEXT("fileType", READONLY, .versions = V05),
    TEXT("downloadUrl", READONLY),
    OBJECT("properties", READONLY, schema_file_properties),
};
SCHEMA(schema_file, file_rows, "File");

static const struct field usage_name_rows[] = {
    TEXT("value", READONLY),
    TEXT("localizedValue", READONLY),
};
static SCHEMA(schema_usage_name, usage_name_rows, "UsageName");

static const struct field usage_rows[] = {
    TEXT("unit", READONLY),
    INT("currentValue", READONLY),
    INT("limit", READONLY),
    OBJECT("name", READONLY, schema_usage_name),
};
SCHEMA(schema_usage, usage_rows, "Usage");

static const struct field display_rows[] = {
    TEXT("provider", READONLY),
    TEXT("resource", READONLY),
    TEXT("operation", READONLY),
    TEXT("description", READONLY),
};
static SCHEMA(schema_display, display_rows, "OperationDisplay");

static const struct field operation_entry_rows[] = {
    TEXT("name", READONLY),
    OBJECT("display", READONLY, schema_display),
    TEXT("origin", READONLY),
};
SCHEMA(schema_operation_entry, operation_entry_rows, "Operation");

/* The properties that $filter may use in lists of all resources. */
/* clang-format off */
static const struct field listed_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("resourceType", READONLY),
    TEXT("location", READONLY),
    TEXT("resourceGroup", READONLY),
    TEXT("tagName", READONLY),
    TEXT("tagValue", READONLY),
};
/* clang-format on */
SCHEMA(schema_listed, listed_rows, "GenericResource");
