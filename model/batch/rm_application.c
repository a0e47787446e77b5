/* SPDX-License-Identifier: MIT
 *
 * The tables of applications and their packages in the resource manager. Up to version 2017-09-01
 * they are flat, and an application contains its packages; later the packages are separate
 * resources.
 */
#include "model/batch/rm.h"
#include "model/schema/tables.h"

enum { MAX_DISPLAY = 1024, MAX_VERSION = 64 };

static const struct enum_name formats[] = {{1, "zip"}, {0, NULL}};

#define DISPLAY_ROW  TEXT("displayName", .max = MAX_DISPLAY, .check = check_clean_text)
#define UPDATES_ROW  BOOL("allowUpdates")
#define DEFAULT_ROW  TEXT("defaultVersion", .max = MAX_VERSION)
#define OWN_TAGS_ROW MAP("tags", KEEP_EMPTY, .versions = RM_SINCE(RM_2024_07), .max = MAX_TAGS)

/* --- packages --------------------------------------------------------------------------------- */

static const struct field package_properties_rows[] = {
    TEXT("state", READONLY),
    TEXT("format", READONLY),
    TEXT("storageUrl", READONLY),
    TIME("storageUrlExpiry", READONLY),
    TIME("lastActivationTime", READONLY),
};
static SCHEMA(schema_package_properties, package_properties_rows, "ApplicationPackageProperties");
static const struct field package_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("etag", READONLY),
    OBJECT("properties", READONLY, schema_package_properties),
    OWN_TAGS_ROW,
};
SCHEMA(schema_rm_package, package_rows, "ApplicationPackage");

static const struct field flat_package_rows[] = {
    TEXT("id", READONLY),
    TEXT("version", READONLY),
    TEXT("state", READONLY),
    TEXT("format", READONLY),
    TEXT("storageUrl", READONLY),
    TIME("storageUrlExpiry", READONLY),
    TIME("lastActivationTime", READONLY),
};
SCHEMA(schema_rm_package_flat, flat_package_rows, "ApplicationPackage");

static const struct field activation_rows[] = {ENUM("format", REQUIRED, formats)};
SCHEMA(schema_rm_activation, activation_rows, "ActivateApplicationPackageParameters");

/* --- applications ----------------------------------------------------------------------------- */

static const struct field application_properties_rows[] = {DISPLAY_ROW, UPDATES_ROW, DEFAULT_ROW};
static SCHEMA(schema_application_properties, application_properties_rows, "ApplicationProperties");
static const struct field application_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("etag", READONLY),
    OBJECT("properties", 0, schema_application_properties),
    OWN_TAGS_ROW,
};
SCHEMA(schema_rm_application, application_rows, "Application");

static const struct field flat_application_rows[] = {
    TEXT("id", READONLY),
    DISPLAY_ROW,
    LIST("packages", READONLY | KEEP_EMPTY, schema_rm_package_flat),
    UPDATES_ROW,
    DEFAULT_ROW,
};
SCHEMA(schema_rm_application_flat, flat_application_rows, "Application");
