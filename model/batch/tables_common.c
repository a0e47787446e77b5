/* SPDX-License-Identifier: MIT
 *
 * Tables that jobs, tasks, pools and schedules of Azure Batch have in common.
 */
#include "model/batch/tables.h"

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
    bool up = *s == '/';
    for (const char *at = s; !up && at; at = strpbrk(at, "/\\")) {
        at += at != s;
        up = strncmp(at, "..", 2) == 0 && (at[2] == '\0' || at[2] == '/' || at[2] == '\\');
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
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s has no program in it", path);
}

int batch_check_env_name(const json_t *value, const char *path, struct err *e)
{
    const char *s = json_string_value(value);
    if (!strchr(s, '='))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path, "%s is \"%s\"; it must have no \"=\" in it", path,
                   s);
}

static const struct field env_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 1024), .check = batch_check_env_name,
     INTO_TEXT(struct kv, name)},
    {BATCH_TEXT("value", 0, 0, MAX_ARG_BYTES), INTO_TEXT(struct kv, value)},
};
SCHEMA_INTO(schema_batch_env, "EnvironmentSetting", env_rows, NULL, struct kv, NULL);

static const struct field pair_rows[] = {
    {BATCH_TEXT("name", 0, 0, 0)},
    {BATCH_TEXT("value", 0, 0, 0)},
};
SCHEMA(schema_batch_pair, "NameValuePair", pair_rows, NULL);

static const struct field metadata_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 1024)},
    {BATCH_TEXT("value", FIELD_REQUIRED, 0, 32768)},
};
SCHEMA(schema_batch_metadata, "MetadataItem", metadata_rows, NULL);

static const struct field identity_rows[] = {{BATCH_TEXT("resourceId", 0, 0, MAX_ID_BYTES)}};
SCHEMA(schema_batch_identity, "ComputeNodeIdentityReference", identity_rows, NULL);

/* Of what is decoded, into a member `identity`. */
#define IDENTITY_INTO_ROW(type)                                                                    \
    {                                                                                              \
        .name = "identityReference", .kind = FIELD_OBJECT, .versions = BATCH_SINCE(BATCH_14_0),    \
        .sub = &schema_identity_of_##type, INTO_SAME                                               \
    }
#define IDENTITY_OF(type)                                                                          \
    static const struct field identity_of_##type##_rows[] = {                                      \
        {BATCH_TEXT("resourceId", 0, 0, MAX_ID_BYTES), INTO_TEXT(struct type, identity)}};         \
    static SCHEMA_INTO(schema_identity_of_##type, "ComputeNodeIdentityReference",                  \
                       identity_of_##type##_rows, NULL, struct type, NULL)
IDENTITY_OF(batch_resource_file);
IDENTITY_OF(batch_output_file);

#define IDENTITY_ROW                                                                               \
    {                                                                                              \
        .name = "identityReference", .kind = FIELD_OBJECT, .versions = BATCH_SINCE(BATCH_14_0),    \
        .sub = &schema_batch_identity                                                              \
    }

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
    {BATCH_TEXT("blobSource", FIELD_REQUIRED, 1, BATCH_MAX_URL), .canon = "httpUrl",
     .versions = BATCH_UNTIL(BATCH_7_0), INTO_TEXT(struct batch_resource_file, http_url)},
    {BATCH_TEXT("autoStorageContainerName", 0, 0, 63), .versions = BATCH_SINCE(BATCH_8_0),
     INTO_TEXT(struct batch_resource_file, auto_container)},
    {BATCH_TEXT("storageContainerUrl", 0, 0, BATCH_MAX_URL), .versions = BATCH_SINCE(BATCH_8_0),
     INTO_TEXT(struct batch_resource_file, container_url)},
    {BATCH_TEXT("httpUrl", 0, 0, BATCH_MAX_URL), .versions = BATCH_SINCE(BATCH_8_0),
     INTO_TEXT(struct batch_resource_file, http_url)},
    {BATCH_TEXT("blobPrefix", 0, 0, 1024), .versions = BATCH_SINCE(BATCH_8_0),
     INTO_TEXT(struct batch_resource_file, prefix)},
    {BATCH_TEXT("filePath", 0, 0, MAX_PATH_BYTES), .check = batch_check_file_path,
     INTO_TEXT(struct batch_resource_file, path)},
    {BATCH_TEXT("fileMode", 0, 0, 5), .check = check_mode,
     INTO_TEXT(struct batch_resource_file, mode)},
    IDENTITY_INTO_ROW(batch_resource_file),
};
SCHEMA_INTO(schema_batch_resource_file, "ResourceFile", resource_file_rows, check_resource_file,
            struct batch_resource_file, NULL);

static const struct field header_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 1024), INTO_TEXT(struct batch_header, name)},
    {BATCH_TEXT("value", 0, 0, 8192), INTO_TEXT(struct batch_header, value)},
};
static SCHEMA_INTO(schema_header, "HttpHeader", header_rows, NULL, struct batch_header, NULL);

static const struct field upload_rows[] = {
    {.name = "uploadCondition",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = batch_upload_when_names,
     INTO_ENUM(struct batch_output_file, when)},
};
static SCHEMA_INTO(schema_upload, "OutputFileUploadOptions", upload_rows, NULL,
                   struct batch_output_file, NULL);

static const struct field to_container_rows[] = {
    {BATCH_TEXT("path", 0, 0, 1024), INTO_TEXT(struct batch_output_file, path)},
    {BATCH_TEXT("containerUrl", FIELD_REQUIRED, 1, BATCH_MAX_URL),
     INTO_TEXT(struct batch_output_file, container_url)},
    IDENTITY_INTO_ROW(batch_output_file),
    {.name = "uploadHeaders",
     .kind = FIELD_ARRAY,
     .versions = BATCH_SINCE(BATCH_15_0),
     .sub = &schema_header,
     .max = 100,
     INTO_LIST(struct batch_output_file, headers, n_headers)},
};
static SCHEMA_INTO(schema_to_container, "OutputFileBlobContainerDestination", to_container_rows,
                   NULL, struct batch_output_file, NULL);

static const struct field destination_rows[] = {
    {.name = "container",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_to_container,
     INTO_SAME},
};
static SCHEMA_INTO(schema_destination, "OutputFileDestination", destination_rows, NULL,
                   struct batch_output_file, NULL);

static const struct field output_file_rows[] = {
    {BATCH_TEXT("filePattern", FIELD_REQUIRED, 1, MAX_PATH_BYTES),
     INTO_TEXT(struct batch_output_file, pattern)},
    {.name = "destination",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_destination,
     INTO_SAME},
    {.name = "uploadOptions",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_upload,
     INTO_SAME},
};
SCHEMA_INTO(schema_batch_output_file, "OutputFile", output_file_rows, NULL,
            struct batch_output_file, NULL);

/* --- users, limits, containers, packages ----------------------------------------------------- */

/* Until 9.0 there was no scope in what was not given. */
static const struct field auto_user_rows[] = {
    {.name = "scope",
     .kind = FIELD_ENUM,
     .values = batch_user_scope_names,
     .versions = BATCH_UNTIL(BATCH_9_0),
     INTO_ENUM(struct batch_user, scope)},
    {.name = "scope",
     .kind = FIELD_ENUM,
     .values = batch_user_scope_names,
     .versions = BATCH_SINCE(BATCH_10_0),
     .fallback = "\"pool\"",
     INTO_ENUM(struct batch_user, scope)},
    {.name = "elevationLevel",
     .kind = FIELD_ENUM,
     .values = batch_elevation_names,
     .fallback = "\"nonadmin\"",
     INTO_ENUM(struct batch_user, elevation)},
};
static SCHEMA_INTO(schema_auto_user, "AutoUserSpecification", auto_user_rows, NULL,
                   struct batch_user, NULL);

static int check_user(json_t *obj, const char *path, struct err *e)
{
    if (has(obj, "username") && has(obj, "autoUser"))
        return err_set(e, ERR_INVALID_PROPERTY, path,
                       "%s has both username and autoUser; it may have one", path);
    return 0;
}

static const struct field user_rows[] = {
    {BATCH_TEXT("username", 0, 0, 256), INTO_TEXT(struct batch_user, name)},
    {.name = "autoUser", .kind = FIELD_OBJECT, .sub = &schema_auto_user, INTO_SAME},
};
SCHEMA_INTO(schema_batch_user, "UserIdentity", user_rows, check_user, struct batch_user, NULL);

/* How often the job says is known to the handler alone; so is the end of files before 8.0. */
static const struct field task_limit_rows[] = {
    {.name = "maxWallClockTime",
     .kind = FIELD_DURATION,
     .fallback = "\"P10675199DT2H48M5.4775807S\"",
     INTO_US(struct batch_constraints, max_wall_us)},
    {.name = "retentionTime",
     .kind = FIELD_DURATION,
     .versions = BATCH_UNTIL(BATCH_7_0),
     .fallback = "\"P10675199DT2H48M5.4775807S\"",
     INTO_US(struct batch_constraints, retention_us)},
    {.name = "retentionTime",
     .kind = FIELD_DURATION,
     .versions = BATCH_SINCE(BATCH_8_0),
     .fallback = "\"P7D\"",
     INTO_US(struct batch_constraints, retention_us)},
    {.name = "maxTaskRetryCount",
     .kind = FIELD_INT,
     .min = -1,
     .max = INT32_MAX,
     INTO_INT(struct batch_constraints, retries)},
};
SCHEMA_INTO(schema_batch_task_limits, "TaskConstraints", task_limit_rows, NULL,
            struct batch_constraints, NULL);

/* Until there were identities, which stand for them, both had to be given. */
#define REGISTRY_LOGIN(bits, known)                                                                \
    {BATCH_TEXT("username", (bits), 0, 256), .versions = (known),                                  \
     INTO_TEXT(struct batch_container, user)},                                                     \
    {                                                                                              \
        BATCH_TEXT("password", FIELD_SECRET | (bits), 0, 4096),                                    \
            .versions = (known), INTO_TEXT(struct batch_container, password)                       \
    }
static const struct field registry_rows[] = {
    REGISTRY_LOGIN(FIELD_REQUIRED, BATCH_UNTIL(BATCH_12_0)),
    REGISTRY_LOGIN(0, BATCH_SINCE(BATCH_14_0)),
    {BATCH_TEXT("registryServer", 0, 0, BATCH_MAX_URL), INTO_TEXT(struct batch_container, server)},
    IDENTITY_ROW,
};
SCHEMA_INTO(schema_batch_registry, "ContainerRegistry", registry_rows, NULL, struct batch_container,
            NULL);

static const struct enum_name host_paths[] = {{BATCH_PATH_SHARED, "Shared"},
                                              {BATCH_PATH_STARTUP, "Startup"},
                                              {BATCH_PATH_MOUNTS, "VfsMounts"},
                                              {BATCH_PATH_TASK, "Task"},
                                              {BATCH_PATH_PREPARATION, "JobPrep"},
                                              {BATCH_PATH_APPLICATIONS, "Applications"},
                                              {0, NULL}};
static const struct field bind_mount_rows[] = {
    {.name = "source",
     .kind = FIELD_ENUM,
     .flags = FIELD_REQUIRED,
     .values = host_paths,
     INTO_ENUM(struct batch_bind, source)},
    {.name = "isReadOnly",
     .kind = FIELD_BOOL,
     .fallback = "false",
     INTO_BOOL(struct batch_bind, read_only)},
};
static SCHEMA_INTO(schema_bind_mount, "ContainerHostBatchBindMountEntry", bind_mount_rows, NULL,
                   struct batch_bind, NULL);

/* An empty list is not the same as none. */
static void finish_container(struct arena *a, const json_t *obj, void *into)
{
    struct batch_container *c = into;
    (void)a;
    c->narrow = json_is_array(json_object_get(obj, "containerHostBatchBindMounts"));
}

static const struct field container_rows[] = {
    {BATCH_TEXT("containerRunOptions", 0, 0, 4096), INTO_TEXT(struct batch_container, options)},
    {BATCH_TEXT("imageName", FIELD_REQUIRED, 1, 1024), .check = check_image,
     INTO_TEXT(struct batch_container, image)},
    {.name = "registry", .kind = FIELD_OBJECT, .sub = &schema_batch_registry, INTO_SAME},
    {.name = "workingDirectory",
     .kind = FIELD_ENUM,
     .versions = BATCH_SINCE(BATCH_9_0),
     .values = batch_work_dir_names,
     INTO_ENUM(struct batch_container, work_dir)},
    {.name = "containerHostBatchBindMounts",
     .kind = FIELD_ARRAY,
     .flags = FIELD_KEEP_EMPTY,
     .versions = BATCH_SINCE(BATCH_20_0),
     .sub = &schema_bind_mount,
     .max = 100,
     INTO_LIST(struct batch_container, binds, n_binds)},
};
SCHEMA_INTO(schema_batch_container, "TaskContainerSettings", container_rows, NULL,
            struct batch_container, finish_container);

static const struct field package_rows[] = {
    {BATCH_TEXT("applicationId", FIELD_REQUIRED, 1, 64),
     INTO_TEXT(struct batch_package_ref, application)},
    {BATCH_TEXT("version", 0, 0, 64), INTO_TEXT(struct batch_package_ref, version)},
};
SCHEMA_INTO(schema_batch_package, "ApplicationPackageReference", package_rows, NULL,
            struct batch_package_ref, NULL);

static int check_access(const json_t *value, const char *path, struct err *e)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (strcasecmp(json_string_value(json_array_get(value, i)), "job") != 0)
            return err_set(e, ERR_INVALID_PROPERTY, path, "%s[%zu] must be job", path, i);
    return 0;
}

static const struct field token_rows[] = {
    {.name = "access", .kind = FIELD_STRINGS, .max = 10, .check = check_access},
};
SCHEMA(schema_batch_token, "AuthenticationTokenSettings", token_rows, NULL);

/* --- what replies tell ----------------------------------------------------------------------- */

static const struct field failure_rows[] = {
    {BATCH_TEXT("category", 0, 0, 0)},
    {BATCH_TEXT("code", 0, 0, 0)},
    {BATCH_TEXT("message", 0, 0, 0)},
    {.name = "details", .kind = FIELD_ARRAY, .sub = &schema_batch_pair},
};
SCHEMA(schema_batch_failure, "TaskFailureInformation", failure_rows, NULL);

static const struct field container_info_rows[] = {
    {BATCH_TEXT("containerId", 0, 0, 0)},
    {BATCH_TEXT("state", 0, 0, 0)},
    {BATCH_TEXT("error", 0, 0, 0)},
};
SCHEMA(schema_batch_container_info, "TaskContainerExecutionInformation", container_info_rows, NULL);

/* Of tasks; those of jobs have the counts, too. */
static const struct field stats_rows[] = {
    BATCH_READ_ONLY("url", FIELD_STRING),
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("lastUpdateTime", FIELD_TIME),
    BATCH_READ_ONLY("userCPUTime", FIELD_STRING),
    BATCH_READ_ONLY("kernelCPUTime", FIELD_STRING),
    BATCH_READ_ONLY("wallClockTime", FIELD_STRING),
    BATCH_READ_ONLY("readIOps", FIELD_STRING),
    BATCH_READ_ONLY("writeIOps", FIELD_STRING),
    BATCH_READ_ONLY("readIOGiB", FIELD_STRING),
    BATCH_READ_ONLY("writeIOGiB", FIELD_STRING),
    BATCH_READ_ONLY("numSucceededTasks", FIELD_STRING),
    BATCH_READ_ONLY("numFailedTasks", FIELD_STRING),
    BATCH_READ_ONLY("numTaskRetries", FIELD_STRING),
    BATCH_READ_ONLY("waitTime", FIELD_STRING),
};
SCHEMA(schema_batch_stats, "JobStatistics", stats_rows, NULL);
