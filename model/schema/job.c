/* SPDX-License-Identifier: MIT
 *
 * The tables of Batch AI's jobs: their properties, container settings and output directories, with
 * the checks that concern several properties. Constant and pure.
 */
#include <stdio.h>
#include <string.h>

#include "model/schema/tables.h"
#include "model/wishes.h"

/* The object is decoded into a text, the cluster's id (see INTO() in model/schema_rows.h). */
static const struct field cluster_id_rows[] = {
    TEXT("id", REQUIRED | ID, 1, MAX_ID_BYTES, .check = check_cluster_id, INTO_SAME),
};
static SCHEMA(schema_cluster_id, cluster_id_rows, "ResourceId", .size = sizeof(const char *));

static int check_registry_credentials(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "password") || !has(obj, "passwordSecretReference"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both password and passwordSecretReference; it may have one", path);
}

static const struct field registry_credentials_rows[] = {
    TEXT("username", REQUIRED, 1, 256, INTO(container_spec, user)),
    TEXT("password", SECRET, .max = 4096, INTO(container_spec, password)),
    OBJECT("passwordSecretReference", 0, schema_secret_reference, INTO(container_spec, secret_ref)),
};
static SCHEMA(schema_registry_credentials, registry_credentials_rows, "PrivateRegistryCredentials",
              .check = check_registry_credentials, FILLS(container_spec));

/* Removes the scheme and the slashes, so that "https://registry.example.com/" and
 * "registry.example.com" name the same registry. */
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
    TEXT("serverUrl", .max = MAX_URL_BYTES, .check = check_image),
    TEXT("image", REQUIRED, 1, 1024, .check = check_image, INTO(container_spec, image)),
    OBJECT("credentials", 0, schema_registry_credentials, INTO_SAME),
};
static SCHEMA(schema_registry, registry_rows, "ImageSourceRegistry", FILLS(container_spec),
              .finish = finish_registry);

static const struct field container_rows[] = {
    OBJECT("imageSourceRegistry", REQUIRED, schema_registry, INTO_SAME),
    TEXT("shmSize", .versions = V05, .check = check_shm_size, INTO(container_spec, shm_size)),
};
static SCHEMA(schema_container, container_rows, "ContainerSettings", FILLS(container_spec));

static const struct field preparation_rows[] = {
    TEXT("commandLine", REQUIRED, 1, MAX_ARG_BYTES, INTO(run_spec, prep_command_line)),
};
static SCHEMA(schema_preparation, preparation_rows, "JobPreparation", FILLS(run_spec));

static const struct field input_rows[] = {
    TEXT("id", REQUIRED, 1, 128, .check = check_directory_id, INTO(directory_spec, id)),
    TEXT("path", REQUIRED, 1, MAX_PATH_BYTES, .check = check_clean_text,
         INTO(directory_spec, path)),
};
static SCHEMA(schema_input, input_rows, "InputDirectory", FILLS(directory_spec));

static void finish_output(struct arena *a, const json_t *obj, void *into)
{
    (void)a;
    ((struct directory_spec *)into)->as_is = json_is_false(json_object_get(obj, "createNew"));
}

static const struct field output_rows[] = {
    TEXT("id", REQUIRED, 1, 128, .check = check_output_id, INTO(directory_spec, id)),
    TEXT("pathPrefix", REQUIRED, 1, MAX_PATH_BYTES, .check = check_output_prefix,
         INTO(directory_spec, path)),
    TEXT("pathSuffix", .max = MAX_PATH_BYTES, .check = check_relative_path,
         INTO(directory_spec, suffix)),
    ENUM("type", 0, output_type_names, .versions = V_FLAT, .fallback = "\"custom\""),
    BOOL("createNew", .versions = V_FLAT, .fallback = "true"),
};
static SCHEMA(schema_output, output_rows, "OutputDirectory", FILLS(directory_spec),
              .finish = finish_output);

static const struct field constraints_rows[] = {
    SPAN("maxWallClockTime", .fallback = "\"P7D\"", INTO(run_spec, max_wall_us)),
};
static SCHEMA(schema_constraints, constraints_rows, "JobPropertiesConstraints", FILLS(run_spec));

static const struct field execution_rows[] = {
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    INT("exitCode", READONLY),
    LIST("errors", READONLY, schema_batchai_error),
};
static SCHEMA(schema_execution, execution_rows, "JobPropertiesExecutionInfo");

/* Newer versions have three named priorities, older versions have numbers (struct job). Stores both
 * forms, whichever the request contained. */
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

/* Writes the path of a member of the i-th item in a list of variables. */
static void variable_path(char out[PLACE_SIZE], const char *path, const char *list, size_t i,
                          const char *member)
{
    char child[PLACE_SIZE];
    snprintf(child, sizeof child, "%s[%zu].%s", list, i, member);
    path_join(out, path, child);
}

/* Refuses reserved variables as secrets, because the daemon reads them before the job runs, and
 * replies show them as sent. */
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
                       "ARRAY; set both variables",
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

/* The toolTypes of the older versions. The real service returned "pytorch" from 2018-03-01 on,
 * though no document lists it. */
#define OLD_TOOLS                                                                                  \
    {TOOL_CNTK, "cntk"}, {TOOL_TENSORFLOW, "tensorflow"}, {TOOL_CAFFE, "caffe"},                   \
        {TOOL_CAFFE2, "caffe2"}, {TOOL_CHAINER, "chainer"},                                        \
    {                                                                                              \
        TOOL_CUSTOM, "custom"                                                                      \
    }
static const struct enum_name tools_of_2017[] = {OLD_TOOLS, {0, NULL}};
static const struct enum_name tools_of_march[] = {OLD_TOOLS, {TOOL_PYTORCH, "pytorch"}, {0, NULL}};

/* In the old versions experimentName is a text that the user gives; in 2018-05-01 it is the name of
 * the experiment in the path. "priority" was the name of schedulingPriority in early June 2018.
 * toolType is derived from the toolkit and stored (check_toolkit()). */
static const struct field properties_rows[] = {
    TEXT("experimentName", READONLY, .versions = V05),
    TEXT("experimentName", .canon = "experimentLabel", .versions = V_FLAT, .max = 1024),
    INT("priority", 0, -PRIORITY_MAX, PRIORITY_MAX, .versions = V_FLAT, .fallback = "0",
        INTO(run_spec, priority)),
    ENUM("priority", INPUT_ONLY, sched_priority_names, .canon = "schedulingPriority",
         .versions = V05),
    ENUM("schedulingPriority", 0, sched_priority_names, .versions = V05, .fallback = "\"normal\""),
    OBJECT("cluster", REQUIRED, schema_cluster_id, INTO(run_spec, pool_ref)),
    TEXT("jobOutputDirectoryPathSegment", READONLY, .versions = V03 | V05),
    INT("nodeCount", REQUIRED, .min = 1, INTO(run_spec, node_count)),
    OBJECT("containerSettings", POINTER, schema_container, INTO(run_spec, container)),
    OBJECT("mountVolumes", 0, schema_mount_volumes, .versions = V03 | V05, INTO(run_spec, mounts)),
    OBJECT(JOB_DOC_CLUSTER_MOUNTS, 0, schema_mount_volumes, .versions = V_STORED,
           INTO(run_spec, pool_mounts)),
    ENUM("toolType", READONLY, tools_of_2017, .versions = V17),
    ENUM("toolType", READONLY, tools_of_march, .versions = V03),
    ENUM("toolType", READONLY, tool_type_names, .versions = V05, INTO(run_spec, tool)),
    OBJECT("cntkSettings", KEEP_EMPTY, schema_cntk, INTO(run_spec, toolkit)),
    OBJECT("pyTorchSettings", KEEP_EMPTY, schema_pytorch, .versions = V03 | V05,
           INTO(run_spec, toolkit)),
    OBJECT("tensorFlowSettings", KEEP_EMPTY, schema_tensorflow, INTO(run_spec, toolkit)),
    OBJECT("caffeSettings", KEEP_EMPTY, schema_caffe, INTO(run_spec, toolkit)),
    OBJECT("caffe2Settings", KEEP_EMPTY, schema_caffe2, INTO(run_spec, toolkit)),
    OBJECT("chainerSettings", KEEP_EMPTY, schema_chainer, INTO(run_spec, toolkit)),
    OBJECT("customToolkitSettings", KEEP_EMPTY, schema_custom_toolkit, INTO(run_spec, toolkit)),
    OBJECT("customMpiSettings", KEEP_EMPTY, schema_custom_mpi, .versions = V05,
           INTO(run_spec, toolkit)),
    OBJECT("horovodSettings", KEEP_EMPTY, schema_horovod, .versions = V05, INTO(run_spec, toolkit)),
    OBJECT("jobPreparation", 0, schema_preparation, INTO_SAME),
    TEXT("stdOutErrPathPrefix", REQUIRED, 1, MAX_PATH_BYTES, .check = check_output_prefix,
         INTO(run_spec, std_prefix)),
    LIST("inputDirectories", 0, schema_input, .max = MAX_ITEMS,
         INTO_LIST(run_spec, inputs, n_inputs)),
    LIST("outputDirectories", 0, schema_output, .max = MAX_ITEMS,
         INTO_LIST(run_spec, outputs, n_outputs)),
    LIST("environmentVariables", 0, schema_env_variable, .max = MAX_ITEMS,
         INTO_LIST(run_spec, env, n_env)),
    LIST("secrets", 0, schema_env_secret, .versions = V03 | V05, .max = MAX_ITEMS,
         INTO_LIST(run_spec, env, n_env)),
    OBJECT("constraints", 0, schema_constraints, .fallback = "{}", INTO_SAME),
    TIME("creationTime", READONLY),
    ENUM("provisioningState", READONLY, prov_state_names),
    TIME("provisioningStateTransitionTime", READONLY),
    ENUM("executionState", READONLY, exec_state_names),
    TIME("executionStateTransitionTime", READONLY),
    OBJECT("executionInfo", READONLY, schema_execution),
};
static void finish_job(struct arena *a, const json_t *obj, void *into)
{
    struct run_spec *spec = into;
    (void)a;
    (void)obj;
    wishes_take(spec->env, &spec->n_env, &spec->wishes);
}

static SCHEMA(schema_properties, properties_rows, "JobProperties", .check = check_job,
              FILLS(run_spec), .finish = finish_job);

/* Requests of the old versions contain a job's location, which must be the location of its cluster.
 * Replies of the old versions do not contain it. */
static const struct field job_rows[] = {
    RESOURCE_ROWS,
    TEXT("location", REQUIRED | INPUT_ONLY, 1, 128, .versions = V_FLAT, .check = check_location),
    MAP("tags", .versions = V_FLAT, .max = MAX_TAGS),
    OBJECT("properties", REQUIRED, schema_properties, INTO_SAME),
};
SCHEMA(schema_job, job_rows, "Job", FILLS(run_spec));
