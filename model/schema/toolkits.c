/* SPDX-License-Identifier: MIT
 *
 * The nine toolkits' settings, and the rule that a job has exactly one.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/schema/tables.h"

#define TEXT_ROW(label, bits, member)                                                              \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRING, .flags = (bits),                                    \
        .min = (bits)&FIELD_REQUIRED ? 1 : 0, .max = MAX_ARG_BYTES,                                \
        INTO_TEXT(struct toolkit_spec, member)                                                     \
    }
#define COUNT_ROW(label, least, member)                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .min = (least), INTO_INT(struct toolkit_spec, member)  \
    }
#define SCRIPT_ROW(bits) TEXT_ROW("pythonScriptFilePath", bits, script)
#define PYTHON_ROW       TEXT_ROW("pythonInterpreterPath", 0, interpreter)
#define ARGS_ROW         TEXT_ROW("commandLineArgs", 0, args)
#define CONFIG_ROW       TEXT_ROW("configFilePath", 0, config_file)
#define PROCESSES_ROW    COUNT_ROW("processCount", 1, process_count)
#define SETTINGS(symbol, label, rows, rule)                                                        \
    SCHEMA_INTO(symbol, label, rows, rule, struct toolkit_spec, NULL)

/* A bound on mistakes, not on machines: a node may have fewer cores and still run as many. */
#define PROCESSES_PER_NODE_MAX 256

static int refuse_pair(const json_t *obj, const char *path, struct err *e)
{
    bool both = has(obj, "configFilePath");
    return err_set(e, both ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of configFilePath and "
                   "pythonScriptFilePath",
                   path, both ? "both" : "neither");
}

/* languageType says which of the two files is needed; without it, the file given says it. */
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

/* The interpreter is of the script alone. */
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

static int check_cntk(json_t *obj, const char *path, struct err *e)
{
    if (check_cntk_files(obj, path, e) != 0)
        return -1;
    return check_interpreter(obj, path, e);
}
static int check_caffe(json_t *obj, const char *path, struct err *e)
{
    bool config = has(obj, "configFilePath"), script = has(obj, "pythonScriptFilePath");
    return config != script ? check_interpreter(obj, path, e) : refuse_pair(obj, path, e);
}

static const struct field cntk_rows[] = {
    {.name = "languageType",
     .kind = FIELD_STRING,
     .min = 1,
     .check = check_cntk_language,
     INTO_TEXT(struct toolkit_spec, language)},
    CONFIG_ROW,
    SCRIPT_ROW(0),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
};
SETTINGS(schema_cntk, "CNTKsettings", cntk_rows, check_cntk);

static const struct field pytorch_rows[] = {
    SCRIPT_ROW(FIELD_REQUIRED),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
    {.name = "communicationBackend",
     .kind = FIELD_STRING,
     .max = 64,
     .check = check_backend,
     INTO_TEXT(struct toolkit_spec, backend)},
};
SETTINGS(schema_pytorch, "PyTorchSettings", pytorch_rows, NULL);

static const struct field tensorflow_rows[] = {
    SCRIPT_ROW(FIELD_REQUIRED),
    PYTHON_ROW,
    {.name = "masterCommandLineArgs",
     .kind = FIELD_STRING,
     .flags = FIELD_REQUIRED | FIELD_ALWAYS,
     .versions = V17,
     .max = MAX_ARG_BYTES},
    {.name = "masterCommandLineArgs",
     .kind = FIELD_STRING,
     .versions = V03 | V05,
     .max = MAX_ARG_BYTES,
     INTO_TEXT(struct toolkit_spec, master_args)},
    TEXT_ROW("workerCommandLineArgs", 0, worker_args),
    TEXT_ROW("parameterServerCommandLineArgs", 0, parameter_server_args),
    COUNT_ROW("workerCount", 1, worker_count),
    COUNT_ROW("parameterServerCount", 0, parameter_server_count),
};
SETTINGS(schema_tensorflow, "TensorFlowSettings", tensorflow_rows, NULL);

static const struct field caffe_rows[] = {
    CONFIG_ROW, SCRIPT_ROW(0), PYTHON_ROW, ARGS_ROW, PROCESSES_ROW,
};
SETTINGS(schema_caffe, "CaffeSettings", caffe_rows, check_caffe);

static const struct field caffe2_rows[] = {SCRIPT_ROW(FIELD_REQUIRED), PYTHON_ROW, ARGS_ROW};
SETTINGS(schema_caffe2, "Caffe2Settings", caffe2_rows, NULL);

static const struct field mpi_script_rows[] = {
    SCRIPT_ROW(FIELD_REQUIRED),
    PYTHON_ROW,
    ARGS_ROW,
    PROCESSES_ROW,
};
SETTINGS(schema_chainer, "ChainerSettings", mpi_script_rows, NULL);
SETTINGS(schema_horovod, "HorovodSettings", mpi_script_rows, NULL);

/* Required here though the published schema does not say so: without it there is nothing to run. */
static const struct field custom_toolkit_rows[] = {
    TEXT_ROW("commandLine", FIELD_REQUIRED, command_line),
};
SETTINGS(schema_custom_toolkit, "CustomToolkitSettings", custom_toolkit_rows, NULL);

static const struct field custom_mpi_rows[] = {
    TEXT_ROW("commandLine", FIELD_REQUIRED, command_line),
    PROCESSES_ROW,
};
SETTINGS(schema_custom_mpi, "CustomMpiSettings", custom_mpi_rows, NULL);

/* --- settings beside the number of nodes -------------------------------------------------------
 */

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

/* More than one node, or anything that only several processes have, make a training distributed;
 * then its counts are filled in. */
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
    /* Fills in counts that depend on the number of nodes, and checks them; NULL: has none. */
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
