/* SPDX-License-Identifier: MIT
 *
 * Jobs.
 */
#include <stdio.h>
#include <string.h>

#include "model/schema/tables.h"
#include "model/wishes.h"

#define TIME_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_TIME, .flags = FIELD_READONLY                               \
    }
#define TOOLKIT_ROW(label, table, known)                                                           \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = FIELD_KEEP_EMPTY, .versions = (known),     \
        .sub = &(table), INTO_OBJECT(struct job_spec, toolkit, struct toolkit_spec)                \
    }
#define LIST_ROW(label, table, known, member, count)                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .versions = (known), .sub = &(table),                \
        .max = MAX_ITEMS, INTO_LIST(struct job_spec, member, count)                                \
    }

/* Decoded into a text: see INTO_REFERENCE. */
static const struct field cluster_id_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_ID,
     .min = 1,
     .max = MAX_ID_BYTES,
     .check = check_cluster_id,
     INTO_SAME},
};
static SCHEMA_INTO(schema_cluster_id, "ResourceId", cluster_id_rows, NULL, const char *, NULL);

static int check_registry_credentials(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "password") || !has(obj, "passwordSecretReference"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both password and passwordSecretReference; it may have one", path);
}

static const struct field registry_credentials_rows[] = {
    {.name = "username",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 256,
     INTO_TEXT(struct container_spec, user)},
    {.name = "password",
     .kind = FIELD_STRING,
     .flags = FIELD_SECRET,
     .max = 4096,
     INTO_TEXT(struct container_spec, password)},
    {.name = "passwordSecretReference",
     .kind = FIELD_OBJECT,
     .sub = &schema_secret_reference,
     INTO_REFERENCE(struct container_spec, secret_ref)},
};
static SCHEMA_INTO(schema_registry_credentials, "PrivateRegistryCredentials",
                   registry_credentials_rows, check_registry_credentials, struct container_spec,
                   NULL);

/* "https://registry.example.com/" names a registry as "registry.example.com" does. */
static void finish_registry(struct arena *a, const json_t *obj, void *into)
{
    const char *url = json_string_value(json_object_get(obj, "serverUrl"));
    const char *scheme = url ? strstr(url, "://") : NULL;
    const char *name = scheme ? scheme + 3 : url;
    size_t n = name ? strlen(name) : 0;
    while (n > 0 && name[n - 1] == '/')
        n--;
    ((struct container_spec *)into)->server = n > 0 ? arena_strndup(a, name, n) : NULL;
}

static const struct field registry_rows[] = {
    {.name = "serverUrl", .kind = FIELD_STRING, .max = MAX_URL_BYTES, .check = check_image},
    {.name = "image",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 1024,
     .check = check_image,
     INTO_TEXT(struct container_spec, image)},
    {.name = "credentials", .kind = FIELD_OBJECT, .sub = &schema_registry_credentials, INTO_SAME},
};
static SCHEMA_INTO(schema_registry, "ImageSourceRegistry", registry_rows, NULL,
                   struct container_spec, finish_registry);

static const struct field container_rows[] = {
    {.name = "imageSourceRegistry",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_registry,
     INTO_SAME},
    {.name = "shmSize",
     .kind = FIELD_STRING,
     .versions = V05,
     .check = check_shm_size,
     INTO_TEXT(struct container_spec, shm_size)},
};
static SCHEMA_INTO(schema_container, "ContainerSettings", container_rows, NULL,
                   struct container_spec, NULL);

static const struct field preparation_rows[] = {
    {.name = "commandLine",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct job_spec, prep_command_line)},
};
static SCHEMA_INTO(schema_preparation, "JobPreparation", preparation_rows, NULL, struct job_spec,
                   NULL);

static const struct field input_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_directory_id,
     INTO_TEXT(struct directory_spec, id)},
    {.name = "path",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_clean_text,
     INTO_TEXT(struct directory_spec, path)},
};
static SCHEMA_INTO(schema_input, "InputDirectory", input_rows, NULL, struct directory_spec, NULL);

static void finish_output(struct arena *a, const json_t *obj, void *into)
{
    (void)a;
    ((struct directory_spec *)into)->as_is = json_is_false(json_object_get(obj, "createNew"));
}

static const struct field output_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_output_id,
     INTO_TEXT(struct directory_spec, id)},
    {.name = "pathPrefix",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_output_prefix,
     INTO_TEXT(struct directory_spec, path)},
    {.name = "pathSuffix",
     .kind = FIELD_STRING,
     .max = MAX_PATH_BYTES,
     .check = check_relative_path,
     INTO_TEXT(struct directory_spec, suffix)},
    {.name = "type",
     .kind = FIELD_ENUM,
     .versions = V_FLAT,
     .values = output_type_names,
     .fallback = "\"custom\""},
    {.name = "createNew", .kind = FIELD_BOOL, .versions = V_FLAT, .fallback = "true"},
};
static SCHEMA_INTO(schema_output, "OutputDirectory", output_rows, NULL, struct directory_spec,
                   finish_output);

static const struct field constraints_rows[] = {
    {.name = "maxWallClockTime",
     .kind = FIELD_DURATION,
     .fallback = "\"P7D\"",
     INTO_US(struct job_spec, max_wall_us)},
};
static SCHEMA_INTO(schema_constraints, "JobPropertiesConstraints", constraints_rows, NULL,
                   struct job_spec, NULL);

static const struct field execution_rows[] = {
    TIME_ROW("startTime"),
    TIME_ROW("endTime"),
    {.name = "exitCode", .kind = FIELD_INT, .flags = FIELD_READONLY},
    {.name = "errors", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batchai_error},
};
static SCHEMA(schema_execution, "JobPropertiesExecutionInfo", execution_rows, NULL);

/* Newer versions name three priorities, older ones number them (model/resource.h): both forms are
 * stored, whichever was given. */
static void complete_priority(json_t *obj)
{
    const json_t *number = json_object_get(obj, "priority");
    if (!number) {
        const char *name = json_string_value(json_object_get(obj, "schedulingPriority"));
        int step = enum_from_name(sched_priority_names, name) - PRIORITY_NORMAL;
        json_object_set_new_nocheck(obj, "priority", json_integer(step * PRIORITY_MAX));
        return;
    }
    json_int_t n = json_integer_value(number);
    enum sched_priority p = n < 0 ? PRIORITY_LOW : n > 0 ? PRIORITY_HIGH : PRIORITY_NORMAL;
    json_object_set_new_nocheck(obj, "schedulingPriority",
                                json_string_nocheck(enum_to_name(sched_priority_names, p)));
}

/* The path of a member of an item of a list of variables. */
static void variable_path(char out[PLACE_SIZE], const char *path, const char *list, size_t i,
                          const char *member)
{
    char child[PLACE_SIZE];
    snprintf(child, sizeof child, "%s[%zu].%s", list, i, member);
    path_join(out, path, child);
}

/* Reserved variables are read before the job runs, and shown as they were sent. */
static int check_no_wish_in_secrets(const json_t *obj, const char *path, struct err *e)
{
    const json_t *secrets = json_object_get(obj, "secrets");
    for (size_t i = 0; i < json_array_size(secrets); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(secrets, i), "name"));
        char at[PLACE_SIZE];
        if (!wish_reserved(name))
            continue;
        variable_path(at, path, "secrets", i, "name");
        return err_set(e, ERR_INVALID_PROPERTY, at,
                       "%s is \"%.80s\"; names that begin with " WISH_PREFIX
                       " are reserved, and must be in environmentVariables",
                       at, name);
    }
    return 0;
}

static int check_wishes(const json_t *obj, const char *path, struct err *e)
{
    const json_t *list = json_object_get(obj, "environmentVariables");
    struct wishes wishes = {0};
    char limit_at[PLACE_SIZE] = "";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        char name_at[PLACE_SIZE], value_at[PLACE_SIZE];
        if (!wish_reserved(name))
            continue;
        variable_path(name_at, path, "environmentVariables", i, "name");
        variable_path(value_at, path, "environmentVariables", i, "value");
        if (wish_read(name, json_string_value(json_object_get(item, "value")), name_at, value_at,
                      &wishes, e) < 0)
            return -1;
        if (wishes.array_limit > 0 && limit_at[0] == '\0')
            snprintf(limit_at, sizeof limit_at, "%s", name_at);
    }
    if (wishes.array_limit > 0 && !wishes.array)
        return err_set(e, ERR_INVALID_PROPERTY, limit_at,
                       "%s is \"" WISH_PREFIX "ARRAY_LIMIT\" without " WISH_PREFIX
                       "ARRAY; it must be beside that",
                       limit_at);
    return check_no_wish_in_secrets(obj, path, e);
}

static int check_job(json_t *obj, const char *path, struct err *e)
{
    complete_priority(obj);
    if (check_toolkit(obj, path, e) < 0 || check_env(obj, path, e) < 0 ||
        check_wishes(obj, path, e) < 0)
        return -1;
    json_t *inputs = json_object(), *outputs = json_object();
    int rc = check_unique(obj, "inputDirectories", "id", inputs, path, e);
    if (rc == 0)
        rc = check_unique(obj, "outputDirectories", "id", outputs, path, e);
    json_decref(inputs);
    json_decref(outputs);
    return rc;
}

/* What the older versions' toolType can say. "pytorch" is what the service answered from 2018-03-01
 * on, though no document lists it. */
#define OLD_TOOLS                                                                                  \
    {TOOL_CNTK, "cntk"}, {TOOL_TENSORFLOW, "tensorflow"}, {TOOL_CAFFE, "caffe"},                   \
        {TOOL_CAFFE2, "caffe2"}, {TOOL_CHAINER, "chainer"},                                        \
    {                                                                                              \
        TOOL_CUSTOM, "custom"                                                                      \
    }
static const struct enum_name tools_of_2017[] = {OLD_TOOLS, {0, NULL}};
static const struct enum_name tools_of_march[] = {OLD_TOOLS, {TOOL_PYTORCH, "pytorch"}, {0, NULL}};

#define TOOL_TYPE_ROW(names, known)                                                                \
    {                                                                                              \
        .name = "toolType", .kind = FIELD_ENUM, .flags = FIELD_READONLY, .versions = (known),      \
        .values = (names)                                                                          \
    }

/* In the old versions experimentName is a text of the user's own, in 2018-05-01 it is the
 * experiment in the path. "priority" is what schedulingPriority was called in early June 2018.
 * toolType is derived from the toolkit and stored (check_toolkit()). */
static const struct field properties_rows[] = {
    {.name = "experimentName", .kind = FIELD_STRING, .flags = FIELD_READONLY, .versions = V05},
    {.name = "experimentName",
     .canon = "experimentLabel",
     .kind = FIELD_STRING,
     .versions = V_FLAT,
     .max = 1024},
    {.name = "priority",
     .kind = FIELD_INT,
     .versions = V_FLAT,
     .fallback = "0",
     .min = -PRIORITY_MAX,
     .max = PRIORITY_MAX,
     INTO_INT(struct job_spec, priority)},
    {.name = "priority",
     .canon = "schedulingPriority",
     .kind = FIELD_ENUM,
     .flags = FIELD_INPUT_ONLY,
     .versions = V_2018_05_01,
     .values = sched_priority_names},
    {.name = "schedulingPriority",
     .kind = FIELD_ENUM,
     .versions = V05,
     .values = sched_priority_names,
     .fallback = "\"normal\""},
    {.name = "cluster",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_cluster_id,
     INTO_REFERENCE(struct job_spec, cluster_id)},
    {.name = "jobOutputDirectoryPathSegment",
     .kind = FIELD_STRING,
     .flags = FIELD_READONLY,
     .versions = V03 | V05},
    {.name = "nodeCount",
     .kind = FIELD_INT,
     .flags = FIELD_REQUIRED,
     .min = 1,
     INTO_INT(struct job_spec, node_count)},
    {.name = "containerSettings",
     .kind = FIELD_OBJECT,
     .flags = FIELD_POINTER,
     .sub = &schema_container,
     INTO_POINTER(struct job_spec, container)},
    {.name = "mountVolumes",
     .kind = FIELD_OBJECT,
     .versions = V03 | V05,
     .sub = &schema_mount_volumes,
     INTO_OBJECT(struct job_spec, mounts, struct mount_list)},
    {.name = JOB_DOC_CLUSTER_MOUNTS,
     .kind = FIELD_OBJECT,
     .versions = V_STORED,
     .sub = &schema_mount_volumes,
     INTO_OBJECT(struct job_spec, cluster_mounts, struct mount_list)},
    TOOL_TYPE_ROW(tools_of_2017, V17),
    TOOL_TYPE_ROW(tools_of_march, V03),
    {.name = "toolType",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .versions = V05,
     .values = tool_type_names,
     INTO_ENUM(struct job_spec, tool)},
    TOOLKIT_ROW("cntkSettings", schema_cntk, V_ALL),
    TOOLKIT_ROW("pyTorchSettings", schema_pytorch, V03 | V05),
    TOOLKIT_ROW("tensorFlowSettings", schema_tensorflow, V_ALL),
    TOOLKIT_ROW("caffeSettings", schema_caffe, V_ALL),
    TOOLKIT_ROW("caffe2Settings", schema_caffe2, V_ALL),
    TOOLKIT_ROW("chainerSettings", schema_chainer, V_ALL),
    TOOLKIT_ROW("customToolkitSettings", schema_custom_toolkit, V_ALL),
    TOOLKIT_ROW("customMpiSettings", schema_custom_mpi, V05),
    TOOLKIT_ROW("horovodSettings", schema_horovod, V05),
    {.name = "jobPreparation", .kind = FIELD_OBJECT, .sub = &schema_preparation, INTO_SAME},
    {.name = "stdOutErrPathPrefix",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_output_prefix,
     INTO_TEXT(struct job_spec, std_prefix)},
    LIST_ROW("inputDirectories", schema_input, V_ALL, inputs, n_inputs),
    LIST_ROW("outputDirectories", schema_output, V_ALL, outputs, n_outputs),
    LIST_ROW("environmentVariables", schema_env_variable, V_ALL, env, n_env),
    LIST_ROW("secrets", schema_env_secret, V03 | V05, env, n_env),
    {.name = "constraints",
     .kind = FIELD_OBJECT,
     .sub = &schema_constraints,
     .fallback = "{}",
     INTO_SAME},
    TIME_ROW("creationTime"),
    {.name = "provisioningState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = prov_state_names},
    TIME_ROW("provisioningStateTransitionTime"),
    {.name = "executionState",
     .kind = FIELD_ENUM,
     .flags = FIELD_READONLY,
     .values = exec_state_names},
    TIME_ROW("executionStateTransitionTime"),
    {.name = "executionInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_execution},
};
static void finish_job(struct arena *a, const json_t *obj, void *into)
{
    struct job_spec *spec = into;
    (void)a;
    (void)obj;
    wishes_take(spec->env, &spec->n_env, &spec->wishes);
}

static SCHEMA_INTO(schema_properties, "JobProperties", properties_rows, check_job, struct job_spec,
                   finish_job);

/* The old versions' requests say where a job is and may tag it; their replies never did. */
static const struct field job_rows[] = {
    RESOURCE_ROWS,
    {.name = "location",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_DISCARD,
     .versions = V_FLAT,
     .min = 1,
     .max = 128,
     .check = check_location},
    {.name = "tags",
     .kind = FIELD_MAP,
     .flags = FIELD_DISCARD,
     .versions = V_FLAT,
     .max = MAX_TAGS},
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_properties,
     INTO_SAME},
};
SCHEMA_INTO(schema_job, "Job", job_rows, NULL, struct job_spec, NULL);
