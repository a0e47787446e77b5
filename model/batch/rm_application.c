/* SPDX-License-Identifier: MIT
 *
 * Applications and their packages as the resource manager speaks of them: up to 2017-09-01 flat,
 * with the packages in their application, then as resources of their own.
 */
#include "model/batch/rm.h"
#include "model/schema/tables.h"

enum { MAX_DISPLAY = 1024, MAX_VERSION = 64 };

static const struct enum_name formats[] = {{1, "zip"}, {0, NULL}};

#define READ_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = FIELD_READONLY                             \
    }
#define TIME_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_TIME, .flags = FIELD_READONLY                               \
    }
#define DISPLAY_ROW                                                                                \
    {                                                                                              \
        .name = "displayName", .kind = FIELD_STRING, .max = MAX_DISPLAY, .check = check_clean_text \
    }
#define UPDATES_ROW                                                                                \
    {                                                                                              \
        .name = "allowUpdates", .kind = FIELD_BOOL                                                 \
    }
#define DEFAULT_ROW                                                                                \
    {                                                                                              \
        .name = "defaultVersion", .kind = FIELD_STRING, .max = MAX_VERSION                         \
    }
#define OWN_TAGS_ROW                                                                               \
    {                                                                                              \
        .name = "tags", .kind = FIELD_MAP, .flags = FIELD_DISCARD, .max = MAX_TAGS,                \
        .versions = RM_SINCE(RM_2024_07)                                                           \
    }

/* --- packages --------------------------------------------------------------------------------- */

static const struct field package_properties_rows[] = {
    READ_ROW("state"),
    READ_ROW("format"),
    READ_ROW("storageUrl"),
    TIME_ROW("storageUrlExpiry"),
    TIME_ROW("lastActivationTime"),
};
static SCHEMA(schema_package_properties, "ApplicationPackageProperties", package_properties_rows,
              NULL);
static const struct field package_rows[] = {
    READ_ROW("id"),
    READ_ROW("name"),
    READ_ROW("type"),
    READ_ROW("etag"),
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_package_properties},
    OWN_TAGS_ROW,
};
SCHEMA(schema_rm_package, "ApplicationPackage", package_rows, NULL);

static const struct field flat_package_rows[] = {
    READ_ROW("id"),
    READ_ROW("version"),
    READ_ROW("state"),
    READ_ROW("format"),
    READ_ROW("storageUrl"),
    TIME_ROW("storageUrlExpiry"),
    TIME_ROW("lastActivationTime"),
};
SCHEMA(schema_rm_package_flat, "ApplicationPackage", flat_package_rows, NULL);

static const struct field activation_rows[] = {
    {.name = "format", .kind = FIELD_ENUM, .flags = FIELD_REQUIRED, .values = formats},
};
SCHEMA(schema_rm_activation, "ActivateApplicationPackageParameters", activation_rows, NULL);

/* --- applications ----------------------------------------------------------------------------- */

static const struct field application_properties_rows[] = {DISPLAY_ROW, UPDATES_ROW, DEFAULT_ROW};
static SCHEMA(schema_application_properties, "ApplicationProperties", application_properties_rows,
              NULL);
static const struct field application_rows[] = {
    READ_ROW("id"),
    READ_ROW("name"),
    READ_ROW("type"),
    READ_ROW("etag"),
    {.name = "properties", .kind = FIELD_OBJECT, .sub = &schema_application_properties},
    OWN_TAGS_ROW,
};
SCHEMA(schema_rm_application, "Application", application_rows, NULL);

static const struct field flat_application_rows[] = {
    READ_ROW("id"),
    DISPLAY_ROW,
    {.name = "packages",
     .kind = FIELD_ARRAY,
     .flags = FIELD_READONLY | FIELD_KEEP_EMPTY,
     .sub = &schema_rm_package_flat},
    UPDATES_ROW,
    DEFAULT_ROW,
};
SCHEMA(schema_rm_application_flat, "Application", flat_application_rows, NULL);
