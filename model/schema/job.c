/* SPDX-License-Identifier: MIT
 *
 * Jobs.
 */
#include "model/schema/tables.h"

#define TIME_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_TIME, .flags = FIELD_READONLY                               \
    }
#define TOOLKIT_ROW(label, table)                                                                  \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .flags = FIELD_KEEP_EMPTY, .sub = &(table)          \
    }
#define LIST_ROW(label, table)                                                                     \
    {                                                                                              \
        .name = (label), .kind = FIELD_ARRAY, .sub = &(table), .max = MAX_ITEMS                    \
    }

static const struct field cluster_id_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ID_BYTES,
     .check = check_cluster_id},
};
static SCHEMA(schema_cluster_id, "ResourceId", cluster_id_rows, NULL);

static int check_registry_credentials(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "password") || !has(obj, "passwordSecretReference"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both password and passwordSecretReference; it may have one", path);
}

static const struct field registry_credentials_rows[] = {
    {.name = "username", .kind = FIELD_STRING, .flags = FIELD_REQUIRED, .min = 1, .max = 256},
    {.name = "password", .kind = FIELD_STRING, .flags = FIELD_SECRET, .max = 4096},
    {.name = "passwordSecretReference", .kind = FIELD_OBJECT, .sub = &schema_secret_reference},
};
static SCHEMA(schema_registry_credentials, "PrivateRegistryCredentials", registry_credentials_rows,
              check_registry_credentials);

static const struct field registry_rows[] = {
    {.name = "serverUrl", .kind = FIELD_STRING, .max = MAX_URL_BYTES, .check = check_clean_text},
    {.name = "image",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 1024,
     .check = check_clean_text},
    {.name = "credentials", .kind = FIELD_OBJECT, .sub = &schema_registry_credentials},
};
static SCHEMA(schema_registry, "ImageSourceRegistry", registry_rows, NULL);

static const struct field container_rows[] = {
    {.name = "imageSourceRegistry",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_registry},
    {.name = "shmSize", .kind = FIELD_STRING, .check = check_shm_size},
};
static SCHEMA(schema_container, "ContainerSettings", container_rows, NULL);

static const struct field preparation_rows[] = {
    {.name = "commandLine",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_ARG_BYTES},
};
static SCHEMA(schema_preparation, "JobPreparation", preparation_rows, NULL);

static const struct field input_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_directory_id},
    {.name = "path",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_clean_text},
};
static SCHEMA(schema_input, "InputDirectory", input_rows, NULL);

static const struct field output_rows[] = {
    {.name = "id",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = 128,
     .check = check_output_id},
    {.name = "pathPrefix",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_output_prefix},
    {.name = "pathSuffix",
     .kind = FIELD_STRING,
     .max = MAX_PATH_BYTES,
     .check = check_relative_path},
};
static SCHEMA(schema_output, "OutputDirectory", output_rows, NULL);

static const struct field constraints_rows[] = {
    {.name = "maxWallClockTime", .kind = FIELD_DURATION, .fallback = "\"P7D\""},
};
static SCHEMA(schema_constraints, "JobPropertiesConstraints", constraints_rows, NULL);

static const struct field execution_rows[] = {
    TIME_ROW("startTime"),
    TIME_ROW("endTime"),
    {.name = "exitCode", .kind = FIELD_INT, .flags = FIELD_READONLY},
    {.name = "errors", .kind = FIELD_ARRAY, .flags = FIELD_READONLY, .sub = &schema_batchai_error},
};
static SCHEMA(schema_execution, "JobPropertiesExecutionInfo", execution_rows, NULL);

static int check_job(json_t *obj, const char *path, struct err *e)
{
    if (check_toolkit(obj, path, e) < 0 || check_env(obj, path, e) < 0)
        return -1;
    json_t *inputs = json_object(), *outputs = json_object();
    int rc = check_unique(obj, "inputDirectories", "id", inputs, path, e);
    if (rc == 0)
        rc = check_unique(obj, "outputDirectories", "id", outputs, path, e);
    json_decref(inputs);
    json_decref(outputs);
    return rc;
}

/* "priority" is what schedulingPriority was called in early June 2018. toolType is derived from the
 * toolkit and stored (check_toolkit()). */
static const struct field properties_rows[] = {
    {.name = "experimentName", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "priority",
     .canon = "schedulingPriority",
     .kind = FIELD_ENUM,
     .flags = FIELD_INPUT_ONLY,
     .versions = V_2018_05_01,
     .values = sched_priority_names},
    {.name = "schedulingPriority",
     .kind = FIELD_ENUM,
     .values = sched_priority_names,
     .fallback = "\"normal\""},
    {.name = "cluster", .kind = FIELD_OBJECT, .flags = FIELD_REQUIRED, .sub = &schema_cluster_id},
    {.name = "jobOutputDirectoryPathSegment", .kind = FIELD_STRING, .flags = FIELD_READONLY},
    {.name = "nodeCount", .kind = FIELD_INT, .flags = FIELD_REQUIRED, .min = 1},
    {.name = "containerSettings", .kind = FIELD_OBJECT, .sub = &schema_container},
    {.name = "mountVolumes", .kind = FIELD_OBJECT, .sub = &schema_mount_volumes},
    {.name = "toolType", .kind = FIELD_ENUM, .flags = FIELD_READONLY, .values = tool_type_names},
    TOOLKIT_ROW("cntkSettings", schema_cntk),
    TOOLKIT_ROW("pyTorchSettings", schema_pytorch),
    TOOLKIT_ROW("tensorFlowSettings", schema_tensorflow),
    TOOLKIT_ROW("caffeSettings", schema_caffe),
    TOOLKIT_ROW("caffe2Settings", schema_caffe2),
    TOOLKIT_ROW("chainerSettings", schema_chainer),
    TOOLKIT_ROW("customToolkitSettings", schema_custom_toolkit),
    TOOLKIT_ROW("customMpiSettings", schema_custom_mpi),
    TOOLKIT_ROW("horovodSettings", schema_horovod),
    {.name = "jobPreparation", .kind = FIELD_OBJECT, .sub = &schema_preparation},
    {.name = "stdOutErrPathPrefix",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED,
     .min = 1,
     .max = MAX_PATH_BYTES,
     .check = check_output_prefix},
    LIST_ROW("inputDirectories", schema_input),
    LIST_ROW("outputDirectories", schema_output),
    LIST_ROW("environmentVariables", schema_env_variable),
    LIST_ROW("secrets", schema_env_secret),
    {.name = "constraints", .kind = FIELD_OBJECT, .sub = &schema_constraints, .fallback = "{}"},
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
static SCHEMA(schema_properties, "JobProperties", properties_rows, check_job);

static const struct field job_rows[] = {
    RESOURCE_ROWS,
    {.name = "properties",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_properties},
};
SCHEMA(schema_job, "Job", job_rows, NULL);
