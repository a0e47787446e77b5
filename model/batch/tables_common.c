/* SPDX-License-Identifier: MIT
 *
 * Tables shared by jobs, tasks, pools and schedules of Azure Batch.
 */
#include "lib/header.h"
#include "model/batch/tables.h"
#include "model/schema/tables.h"

#include <string.h>
#include <strings.h>

const struct enum_name batch_elevation_names[] = {
    {BATCH_NONADMIN, "nonadmin"}, {BATCH_ADMIN, "admin"}, {0, NULL}};
const struct enum_name batch_user_scope_names[] = {
    {BATCH_SCOPE_TASK, "task"}, {BATCH_SCOPE_POOL, "pool"}, {0, NULL}};
const struct enum_name batch_upload_when_names[] = {{BATCH_UPLOAD_ON_SUCCESS, "TaskSuccess"},
                                                    {BATCH_UPLOAD_ON_FAILURE, "TaskFailure"},
                                                    {BATCH_UPLOAD_ALWAYS, "TaskCompletion"},
                                                    {0, NULL}};
const struct enum_name batch_work_dir_names[] = {{BATCH_DIR_OF_TASK, "taskWorkingDirectory"},
                                                 {BATCH_DIR_OF_IMAGE, "containerImageDefault"},
                                                 {0, NULL}};

int batch_check_id(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(s))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is \"%s\"; it must have letters, digits, hyphens and underscores only", path,
                   s);
}

int batch_check_file_path(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    bool up = *s == '/' || *s == '\\';
    for (const char *at = s, *end; !up && at; at = end ? end + 1 : NULL) {
        end = strpbrk(at, "/\\");
        size_t n = end ? (size_t)(end - at) : strlen(at);
        up = n == 2 && at[0] == '.' && at[1] == '.';
    }
    if (!up)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is \"%s\"; it must be a relative path without \"..\"", path, s);
}

int batch_check_command(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (s[strspn(s, " \t\r\n")] != '\0')
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s contains no program", path);
}

int batch_check_env_name(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (!strchr(s, '='))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s is \"%s\"; it must not contain \"=\"", path,
                   s);
}

static const struct field env_rows[] = {
    TEXT("name", REQUIRED, 1, 1024, .check = batch_check_env_name, INTO(kv, name)),
    TEXT("value", .max = MAX_ARG_BYTES, INTO(kv, value)),
};
SCHEMA(schema_batch_env, env_rows, "EnvironmentSetting", FILLS(kv));

static const struct field pair_rows[] = {TEXT("name"), TEXT("value")};
SCHEMA(schema_batch_pair, pair_rows, "NameValuePair");

static const struct field metadata_rows[] = {
    TEXT("name", REQUIRED, 1, 1024),
    TEXT("value", REQUIRED, .max = 32768),
};
SCHEMA(schema_batch_metadata, metadata_rows, "MetadataItem");

static const struct field identity_rows[] = {TEXT("resourceId", .max = MAX_ID_BYTES)};
SCHEMA(schema_batch_identity, identity_rows, "ComputeNodeIdentityReference");

/* A row that is decoded into the member `identity` of the struct `type`. */
#define IDENTITY_INTO_ROW(type)                                                                    \
    OBJECT("identityReference", 0, schema_identity_of_##type, .versions = BATCH_SINCE(BATCH_14_0), \
           INTO_SAME)
#define IDENTITY_OF(type)                                                                          \
    static const struct field identity_of_##type##_rows[] = {                                      \
        TEXT("resourceId", .max = MAX_ID_BYTES, INTO(type, identity))};                            \
    static SCHEMA(schema_identity_of_##type, identity_of_##type##_rows,                            \
                  "ComputeNodeIdentityReference", FILLS(type))
IDENTITY_OF(batch_resource_file);
IDENTITY_OF(batch_output_file);

#define IDENTITY_ROW                                                                               \
    OBJECT("identityReference", 0, schema_batch_identity, .versions = BATCH_SINCE(BATCH_14_0))

/* --- files ----------------------------------------------------------------------------------- */

static int check_resource_file(json_t *obj, const char *path, struct err *e)
{
    int sources = has(obj, "httpUrl") + has(obj, "storageContainerUrl") +
                  has(obj, "autoStorageContainerName");
    if (sources != 1)
        return err_set(e, ERR_INVALID_PROPERTY, path,
                       "%s has %d of httpUrl, storageContainerUrl and autoStorageContainerName; it "
                       "must have one",
                       path, sources);
    if (has(obj, "httpUrl") && !has(obj, "filePath"))
        return err_set(e, ERR_MISSING_PROPERTY, path, "%s has httpUrl, but no filePath", path);
    if (has(obj, "httpUrl") && has(obj, "blobPrefix"))
        return err_set(e, ERR_INVALID_PROPERTY, path,
                       "%s has httpUrl and blobPrefix, which only containers can have", path);
    return 0;
}

static const struct field resource_file_rows[] = {
    TEXT("blobSource", REQUIRED, 1, BATCH_MAX_URL, .canon = "httpUrl",
         .versions = BATCH_UNTIL(BATCH_7_0), INTO(batch_resource_file, http_url)),
    TEXT("autoStorageContainerName", .versions = BATCH_SINCE(BATCH_8_0), .max = 63,
         INTO(batch_resource_file, auto_container)),
    TEXT("storageContainerUrl", .versions = BATCH_SINCE(BATCH_8_0), .max = BATCH_MAX_URL,
         INTO(batch_resource_file, container_url)),
    TEXT("httpUrl", .versions = BATCH_SINCE(BATCH_8_0), .max = BATCH_MAX_URL,
         INTO(batch_resource_file, http_url)),
    TEXT("blobPrefix", .versions = BATCH_SINCE(BATCH_8_0), .max = 1024,
         INTO(batch_resource_file, prefix)),
    TEXT("filePath", .max = MAX_PATH_BYTES, .check = batch_check_file_path,
         INTO(batch_resource_file, path)),
    TEXT("fileMode", .max = 5, .check = check_mode, INTO(batch_resource_file, mode)),
    IDENTITY_INTO_ROW(batch_resource_file),
};
SCHEMA(schema_batch_resource_file, resource_file_rows, "ResourceFile", .check = check_resource_file,
       FILLS(batch_resource_file));

/* The daemon sends these headers itself, so they must not change anything else in its requests. */
static int check_header_name(const json_t *value, const char *path, struct err *e)
{
    if (header_name_ok(json_string_value(value)))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s must be the name of a header that uploads can have: characters of an HTTP "
                   "token only, and no name that concerns the connection or the length of the body",
                   path);
}

static const struct field header_rows[] = {
    TEXT("name", REQUIRED, 1, 1024, .check = check_header_name, INTO(batch_header, name)),
    TEXT("value", .max = 8192, .check = check_clean_text, INTO(batch_header, value)),
};
static SCHEMA(schema_header, header_rows, "HttpHeader", FILLS(batch_header));

static const struct field upload_rows[] = {
    ENUM("uploadCondition", REQUIRED, batch_upload_when_names, INTO(batch_output_file, when)),
};
static SCHEMA(schema_upload, upload_rows, "OutputFileUploadOptions", FILLS(batch_output_file));

static const struct field to_container_rows[] = {
    TEXT("path", .max = 1024, INTO(batch_output_file, path)),
    TEXT("containerUrl", REQUIRED, 1, BATCH_MAX_URL, INTO(batch_output_file, container_url)),
    IDENTITY_INTO_ROW(batch_output_file),
    LIST("uploadHeaders", 0, schema_header, .versions = BATCH_SINCE(BATCH_15_0), .max = 100,
         INTO_LIST(batch_output_file, headers, n_headers)),
};
static SCHEMA(schema_to_container, to_container_rows, "OutputFileBlobContainerDestination",
              FILLS(batch_output_file));

static const struct field destination_rows[] = {
    OBJECT("container", REQUIRED, schema_to_container, INTO_SAME),
};
static SCHEMA(schema_destination, destination_rows, "OutputFileDestination",
              FILLS(batch_output_file));

static const struct field output_file_rows[] = {
    TEXT("filePattern", REQUIRED, 1, MAX_PATH_BYTES, INTO(batch_output_file, pattern)),
    OBJECT("destination", REQUIRED, schema_destination, INTO_SAME),
    OBJECT("uploadOptions", REQUIRED, schema_upload, INTO_SAME),
};
SCHEMA(schema_batch_output_file, output_file_rows, "OutputFile", FILLS(batch_output_file));

/* --- users, limits, containers, packages ----------------------------------------------------- */

/* Up to version 9.0, a reply has no scope if the request gave none. */
static const struct field auto_user_rows[] = {
    ENUM("scope", 0, batch_user_scope_names, .versions = BATCH_UNTIL(BATCH_9_0),
         INTO(batch_user, scope)),
    ENUM("scope", 0, batch_user_scope_names, .versions = BATCH_SINCE(BATCH_10_0),
         .fallback = "\"pool\"", INTO(batch_user, scope)),
    ENUM("elevationLevel", 0, batch_elevation_names, .fallback = "\"nonadmin\"",
         INTO(batch_user, elevation)),
};
static SCHEMA(schema_auto_user, auto_user_rows, "AutoUserSpecification", FILLS(batch_user));

static int check_user(json_t *obj, const char *path, struct err *e)
{
    if (has(obj, "username") && has(obj, "autoUser"))
        return err_set(e, ERR_INVALID_PROPERTY, path,
                       "%s has both username and autoUser; it may have one", path);
    return 0;
}

static const struct field user_rows[] = {
    TEXT("username", .max = 256, INTO(batch_user, name)),
    OBJECT("autoUser", 0, schema_auto_user, INTO_SAME),
};
SCHEMA(schema_batch_user, user_rows, "UserIdentity", .check = check_user, FILLS(batch_user));

/* There is no default of maxTaskRetryCount here: the handler sets it, because it depends on the
 * job. */
static const struct field task_limit_rows[] = {
    SPAN("maxWallClockTime", .fallback = "\"P10675199DT2H48M5.4775807S\"",
         INTO(batch_constraints, max_wall_us)),
    SPAN("retentionTime", .versions = BATCH_UNTIL(BATCH_7_0),
         .fallback = "\"P10675199DT2H48M5.4775807S\"", INTO(batch_constraints, retention_us)),
    SPAN("retentionTime", .versions = BATCH_SINCE(BATCH_8_0), .fallback = "\"P7D\"",
         INTO(batch_constraints, retention_us)),
    INT("maxTaskRetryCount", 0, -1, INT32_MAX, INTO(batch_constraints, retries)),
};
SCHEMA(schema_batch_task_limits, task_limit_rows, "TaskConstraints", FILLS(batch_constraints),
       .finish = batch_finish_limits);

void batch_finish_limits(struct arena *a, const json_t *obj, void *into)
{
    struct batch_constraints *limits = into;
    (void)a;
    if (limits->max_wall_us == DURATION_MAX_US)
        limits->max_wall_us = 0;
    else if (limits->max_wall_us == 0 && has(obj, "maxWallClockTime"))
        limits->max_wall_us = 1;
}

/* User name and password were required in versions without managed identities; an identity can
 * replace them. */
/* clang-format off */
#define REGISTRY_LOGIN(bits, known)                                                                \
    TEXT("username", bits, .versions = known, .max = 256, INTO(batch_container, user)),            \
    TEXT("password", SECRET | (bits), .versions = known, .max = 4096,                              \
         INTO(batch_container, password))
/* clang-format on */
static const struct field registry_rows[] = {
    REGISTRY_LOGIN(REQUIRED, BATCH_UNTIL(BATCH_12_0)),
    REGISTRY_LOGIN(0, BATCH_SINCE(BATCH_14_0)),
    TEXT("registryServer", .max = BATCH_MAX_URL, INTO(batch_container, server)),
    IDENTITY_ROW,
};
SCHEMA(schema_batch_registry, registry_rows, "ContainerRegistry", FILLS(batch_container));

static const struct enum_name host_paths[] = {{BATCH_PATH_SHARED, "Shared"},
                                              {BATCH_PATH_STARTUP, "Startup"},
                                              {BATCH_PATH_MOUNTS, "VfsMounts"},
                                              {BATCH_PATH_TASK, "Task"},
                                              {BATCH_PATH_PREPARATION, "JobPrep"},
                                              {BATCH_PATH_APPLICATIONS, "Applications"},
                                              {0, NULL}};
static const struct field bind_mount_rows[] = {
    ENUM("source", REQUIRED, host_paths, INTO(batch_bind, source)),
    BOOL("isReadOnly", .fallback = "false", INTO(batch_bind, read_only)),
};
static SCHEMA(schema_bind_mount, bind_mount_rows, "ContainerHostBatchBindMountEntry",
              FILLS(batch_bind));

/* A list of mounts, even an empty one, limits what the container sees; without a list it sees all
 * directories. */
static void finish_container(struct arena *a, const json_t *obj, void *into)
{
    struct batch_container *c = into;
    (void)a;
    c->narrow = json_is_array(json_object_get(obj, "containerHostBatchBindMounts"));
}

static const struct field container_rows[] = {
    TEXT("containerRunOptions", .max = 4096, INTO(batch_container, options)),
    TEXT("imageName", REQUIRED, 1, 1024, .check = check_image, INTO(batch_container, image)),
    OBJECT("registry", 0, schema_batch_registry, INTO_SAME),
    ENUM("workingDirectory", 0, batch_work_dir_names, .versions = BATCH_SINCE(BATCH_9_0),
         INTO(batch_container, work_dir)),
    LIST("containerHostBatchBindMounts", KEEP_EMPTY, schema_bind_mount,
         .versions = BATCH_SINCE(BATCH_20_0), .max = 100,
         INTO_LIST(batch_container, binds, n_binds)),
};
SCHEMA(schema_batch_container, container_rows, "TaskContainerSettings", FILLS(batch_container),
       .finish = finish_container);

static const struct field package_rows[] = {
    TEXT("applicationId", REQUIRED, 1, 64, INTO(batch_package_ref, application)),
    TEXT("version", .max = 64, INTO(batch_package_ref, version)),
};
SCHEMA(schema_batch_package, package_rows, "ApplicationPackageReference", FILLS(batch_package_ref));

static int check_access(const json_t *value, const char *path, struct err *e)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (strcasecmp(json_string_value(json_array_get(value, i)), "job") != 0)
            return err_set(e, ERR_INVALID_PROPERTY, path, "%s[%zu] must be job", path, i);
    return 0;
}

static const struct field token_rows[] = {TEXTS("access", .max = 10, .check = check_access)};
SCHEMA(schema_batch_token, token_rows, "AuthenticationTokenSettings");

/* --- members of replies ----------------------------------------------------------------------- */

static const struct field failure_rows[] = {
    TEXT("category"),
    TEXT("code"),
    TEXT("message"),
    LIST("details", 0, schema_batch_pair),
};
SCHEMA(schema_batch_failure, failure_rows, "TaskFailureInformation");

static const struct field container_info_rows[] = {
    TEXT("containerId"),
    TEXT("state"),
    TEXT("error"),
};
SCHEMA(schema_batch_container_info, container_info_rows, "TaskContainerExecutionInformation");

/* The rows of the statistics of tasks; the statistics of jobs also contain the counts of tasks. */
static const struct field stats_rows[] = {
    TEXT("url", READONLY),
    TIME("startTime", READONLY),
    TIME("lastUpdateTime", READONLY),
    TEXT("userCPUTime", READONLY),
    TEXT("kernelCPUTime", READONLY),
    TEXT("wallClockTime", READONLY),
    TEXT("readIOps", READONLY),
    TEXT("writeIOps", READONLY),
    TEXT("readIOGiB", READONLY),
    TEXT("writeIOGiB", READONLY),
    TEXT("numSucceededTasks", READONLY),
    TEXT("numFailedTasks", READONLY),
    TEXT("numTaskRetries", READONLY),
    TEXT("waitTime", READONLY),
};
SCHEMA(schema_batch_stats, stats_rows, "JobStatistics");

static const struct field usage_stats_rows[] = {
    TIME("startTime", READONLY),
    TIME("lastUpdateTime", READONLY),
    TEXT("dedicatedCoreTime", READONLY),
};
static SCHEMA(schema_usage_stats, usage_stats_rows, "UsageStatistics");
/* clang-format off */
static const struct field resource_stats_rows[] = {
    TIME("startTime", READONLY),
    TIME("lastUpdateTime", READONLY),
    TEXT("avgCPUPercentage", READONLY),
    TEXT("avgMemoryGiB", READONLY),
    TEXT("peakMemoryGiB", READONLY),
    TEXT("avgDiskGiB", READONLY),
    TEXT("peakDiskGiB", READONLY),
    TEXT("diskReadIOps", READONLY),
    TEXT("diskWriteIOps", READONLY),
    TEXT("diskReadGiB", READONLY),
    TEXT("diskWriteGiB", READONLY),
    TEXT("networkReadGiB", READONLY),
    TEXT("networkWriteGiB", READONLY),
};
/* clang-format on */
static SCHEMA(schema_resource_stats, resource_stats_rows, "ResourceStatistics");
static const struct field pool_stats_rows[] = {
    TEXT("url", READONLY),
    TIME("startTime", READONLY),
    TIME("lastUpdateTime", READONLY),
    OBJECT("usageStats", READONLY, schema_usage_stats),
    OBJECT("resourceStats", READONLY, schema_resource_stats),
};
SCHEMA(schema_batch_pool_stats, pool_stats_rows, "PoolStatistics");
