/* SPDX-License-Identifier: MIT
 *
 * The tables of the settings of the nine toolkits, and the check that a job has exactly one
 * toolkit.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/schema/tables.h"

#define PYTHON_ROW                                                                                 \
    TEXT("pythonInterpreterPath", .max = MAX_ARG_BYTES, INTO(toolkit_spec, interpreter))
#define ARGS_ROW      TEXT("commandLineArgs", .max = MAX_ARG_BYTES, INTO(toolkit_spec, args))
#define CONFIG_ROW    TEXT("configFilePath", .max = MAX_ARG_BYTES, INTO(toolkit_spec, config_file))
#define PROCESSES_ROW INT("processCount", .min = 1, INTO(toolkit_spec, process_count))

/* A limit against mistakes. It does not depend on the machine: a node with fewer cores may run as
 * many processes. */
#define PROCESSES_PER_NODE_MAX 256

static int refuse_pair(const json_t *obj, const char *path, struct err *e)
{
    bool both = has(obj, "configFilePath");
    return err_set(e, both ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of configFilePath and "
                   "pythonScriptFilePath",
                   path, both ? "both" : "neither");
}

/* languageType determines which of the two files is required. Without languageType, exactly one
 * file must be given. */
static int check_cntk_files(const json_t *obj, const char *path, struct err *e)
{
    const char *language = json_string_value(json_object_get(obj, "languageType"));
    bool config = has(obj, "configFilePath"), script = has(obj, "pythonScriptFilePath");
    if (!language)
        return config != script ? 0 : refuse_pair(obj, path, e);
    bool python = strcasecmp(language, "Python") == 0;
    const char *needed = python ? "pythonScriptFilePath" : "configFilePath";
    const char *foreign = python ? "configFilePath" : "pythonScriptFilePath";
    char where[PLACE_SIZE];
    if (!has(obj, needed)) {
        path_join(where, path, needed);
        return err_set(e, ERR_MISSING_PROPERTY, where, "%s is missing; languageType %s needs it",
                       where, language);
    }
    if (!has(obj, foreign))
        return 0;
    path_join(where, path, foreign);
    return err_set(e, ERR_INVALID_PROPERTY, where,
                   "%s is given but languageType is %s, which uses %s; leave it out", where,
                   language, needed);
}

/* Refuses an interpreter without a script, because it applies only to the script. */
static int check_interpreter(const json_t *obj, const char *path, struct err *e)
{
    char where[PLACE_SIZE];
    if (has(obj, "pythonScriptFilePath") || !has(obj, "pythonInterpreterPath"))
        return 0;
    path_join(where, path, "pythonInterpreterPath");
    return err_set(e, ERR_INVALID_PROPERTY, where,
                   "%s is given but there is no pythonScriptFilePath, whose interpreter it is; "
                   "leave it out",
                   where);
}

/* Checks the settings of CNTK, and sets the language that the given file implies. */
static int check_cntk(json_t *obj, const char *path, struct err *e)
{
    if (check_cntk_files(obj, path, e) != 0 || check_interpreter(obj, path, e) != 0)
        return -1;
    if (!has(obj, "languageType"))
        json_object_set_new(obj, "languageType",
                            json_string(has(obj, "configFilePath") ? "BrainScript" : "Python"));
    return 0;
}
static int check_caffe(json_t *obj, const char *path, struct err *e)
{
    bool config = has(obj, "configFilePath"), script = has(obj, "pythonScriptFilePath");
    return config != script ? check_interpreter(obj, path, e) : refuse_pair(obj, path, e);
}

static const struct field cntk_rows[] = {
    TEXT("languageType", .min = 1, .check = check_cntk_language, INTO(toolkit_spec, language)),
    CONFIG_ROW,
    TEXT("pythonScriptFilePath", .max = MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
};
SCHEMA(schema_cntk, cntk_rows, "CNTKsettings", .check = check_cntk, FILLS(toolkit_spec));

static const struct field pytorch_rows[] = {
    TEXT("pythonScriptFilePath", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
    TEXT("communicationBackend", .max = 64, .check = check_backend, INTO(toolkit_spec, backend)),
};
SCHEMA(schema_pytorch, pytorch_rows, "PyTorchSettings", FILLS(toolkit_spec));

static const struct field tensorflow_rows[] = {
    TEXT("pythonScriptFilePath", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    TEXT("masterCommandLineArgs", REQUIRED | ALWAYS, .versions = V17, .max = MAX_ARG_BYTES),
    TEXT("masterCommandLineArgs", .versions = V03 | V05, .max = MAX_ARG_BYTES,
         INTO(toolkit_spec, master_args)),
    TEXT("workerCommandLineArgs", .max = MAX_ARG_BYTES, INTO(toolkit_spec, worker_args)),
    TEXT("parameterServerCommandLineArgs", .max = MAX_ARG_BYTES,
         INTO(toolkit_spec, parameter_server_args)),
    INT("workerCount", .min = 1, INTO(toolkit_spec, worker_count)),
    INT("parameterServerCount", INTO(toolkit_spec, parameter_server_count)),
};
SCHEMA(schema_tensorflow, tensorflow_rows, "TensorFlowSettings", FILLS(toolkit_spec));

/* clang-format off */
static const struct field caffe_rows[] = {
    CONFIG_ROW,
    TEXT("pythonScriptFilePath", .max = MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
};
/* clang-format on */
SCHEMA(schema_caffe, caffe_rows, "CaffeSettings", .check = check_caffe, FILLS(toolkit_spec));

static const struct field caffe2_rows[] = {
    TEXT("pythonScriptFilePath", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    ARGS_ROW,
};
SCHEMA(schema_caffe2, caffe2_rows, "Caffe2Settings", FILLS(toolkit_spec));

static const struct field mpi_script_rows[] = {
    TEXT("pythonScriptFilePath", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, script)),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
};
SCHEMA(schema_chainer, mpi_script_rows, "ChainerSettings", FILLS(toolkit_spec));
SCHEMA(schema_horovod, mpi_script_rows, "HorovodSettings", FILLS(toolkit_spec));

/* commandLine is required here, although the published schema does not require it, because without
 * it there is nothing to run. */
static const struct field custom_toolkit_rows[] = {
    TEXT("commandLine", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, command_line)),
};
SCHEMA(schema_custom_toolkit, custom_toolkit_rows, "CustomToolkitSettings", FILLS(toolkit_spec));

static const struct field custom_mpi_rows[] = {
    TEXT("commandLine", REQUIRED, 1, MAX_ARG_BYTES, INTO(toolkit_spec, command_line)),
    PROCESSES_ROW,
};
SCHEMA(schema_custom_mpi, custom_mpi_rows, "CustomMpiSettings", FILLS(toolkit_spec));

/* --- settings that depend on the number of nodes --- */

static int refuse_above(const json_t *settings, const char *path, const char *name, json_int_t most,
                        const char *why, struct err *e)
{
    char where[PLACE_SIZE];
    json_int_t n = json_integer_value(json_object_get(settings, name));
    if (n <= most)
        return 0;
    path_join(where, path, name);
    return err_set(e, ERR_INVALID_PROPERTY, where, "%s is %lld; it must be at most %lld: %s", where,
                   (long long)n, (long long)most, why);
}

static int refuse_many(const json_t *settings, const char *path, const char *name, json_int_t nodes,
                       struct err *e)
{
    char why[96];
    snprintf(why, sizeof why, "%d for each node, and nodeCount is %lld", PROCESSES_PER_NODE_MAX,
             (long long)nodes);
    return refuse_above(settings, path, name, nodes * PROCESSES_PER_NODE_MAX, why, e);
}

static void complete(json_t *settings, const char *name, json_int_t n)
{
    if (!json_object_get(settings, name))
        json_object_set_new_nocheck(settings, name, json_integer(n));
}

static int count_processes(json_t *settings, const char *path, json_int_t nodes, struct err *e)
{
    complete(settings, "processCount", nodes);
    return refuse_many(settings, path, "processCount", nodes, e);
}

/* A training is distributed if the job has more than one node or has a setting for several
 * processes. For a distributed training, sets missing counts and checks all counts. */
static int count_tasks(json_t *settings, const char *path, json_int_t nodes, struct err *e)
{
    static const char *const distributed[] = {"workerCommandLineArgs",
                                              "parameterServerCommandLineArgs", "workerCount",
                                              "parameterServerCount"};
    bool many = nodes > 1;
    char where[PLACE_SIZE];
    for (size_t i = 0; i < sizeof distributed / sizeof *distributed; i++)
        many = many || has(settings, distributed[i]);
    if (!many)
        return 0;
    complete(settings, "workerCount", nodes);
    complete(settings, "parameterServerCount", 1);
    if (refuse_many(settings, path, "workerCount", nodes, e) != 0 ||
        refuse_above(settings, path, "parameterServerCount", nodes,
                     "the nodeCount, as a node has one parameter server at most", e) != 0)
        return -1;
    if (json_integer_value(json_object_get(settings, "parameterServerCount")) > 0 ||
        !has(settings, "parameterServerCommandLineArgs"))
        return 0;
    path_join(where, path, "parameterServerCommandLineArgs");
    return err_set(e, ERR_INVALID_PROPERTY, where,
                   "%s is given but parameterServerCount is 0; leave it out, or ask for parameter "
                   "servers",
                   where);
}

static const struct {
    const char *settings;
    enum tool_type tool;
    /* Sets missing counts that depend on the number of nodes, and checks them; NULL: the toolkit
     * has no such counts. */
    int (*count)(json_t *settings, const char *path, json_int_t nodes, struct err *e);
} toolkits[] = {
    {"cntkSettings", TOOL_CNTK, count_processes},
    {"pyTorchSettings", TOOL_PYTORCH, count_processes},
    {"tensorFlowSettings", TOOL_TENSORFLOW, count_tasks},
    {"caffeSettings", TOOL_CAFFE, count_processes},
    {"caffe2Settings", TOOL_CAFFE2, NULL},
    {"chainerSettings", TOOL_CHAINER, count_processes},
    {"customToolkitSettings", TOOL_CUSTOM, NULL},
    {"customMpiSettings", TOOL_MPI, count_processes},
    {"horovodSettings", TOOL_HOROVOD, count_processes},
};
enum { N_TOOLKITS = sizeof toolkits / sizeof toolkits[0] };

static int refuse_count(const json_t *properties, const char *path, struct err *e)
{
    char given[320] = "", all[320] = "";
    int n = 0;
    for (int i = 0; i < N_TOOLKITS; i++) {
        const char *name = toolkits[i].settings;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", name);
        if (!json_object_get(properties, name))
            continue;
        used = strlen(given);
        snprintf(given + used, sizeof given - used, "%s%s", used ? ", " : "", name);
        n++;
    }
    if (n == 0)
        return err_set(e, ERR_MISSING_PROPERTY, path,
                       "%s names no toolkit; it must have exactly one of %s", path, all);
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has %d toolkits (%s); it must have exactly one of %s", path, n, given, all);
}

int check_toolkit(json_t *properties, const char *path, struct err *e)
{
    int found = -1, n = 0;
    for (int i = 0; i < N_TOOLKITS; i++)
        if (json_object_get(properties, toolkits[i].settings)) {
            found = i;
            n++;
        }
    if (n != 1)
        return refuse_count(properties, path, e);
    json_t *settings = json_object_get(properties, toolkits[found].settings);
    json_int_t nodes = json_integer_value(json_object_get(properties, "nodeCount"));
    char where[PLACE_SIZE];
    json_object_set_new_nocheck(
        properties, "toolType",
        json_string_nocheck(enum_to_name(tool_type_names, toolkits[found].tool)));
    path_join(where, path, toolkits[found].settings);
    return toolkits[found].count ? toolkits[found].count(settings, where, nodes, e) : 0;
}
