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

static int refuse_pair(const json_t *obj, const char *path, struct err *e)
{
    bool both = has(obj, "configFilePath");
    return err_set(e, both ? ERR_INVALID_PROPERTY : ERR_MISSING_PROPERTY, path,
                   "%s has %s; it must have exactly one of configFilePath and "
                   "pythonScriptFilePath",
                   path, both ? "both" : "neither");
}

/* languageType says which of the two files is needed; without it, the file given says it. */
static int check_cntk(json_t *obj, const char *path, struct err *e)
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

static int check_caffe(json_t *obj, const char *path, struct err *e)
{
    bool config = has(obj, "configFilePath"), script = has(obj, "pythonScriptFilePath");
    return config != script ? 0 : refuse_pair(obj, path, e);
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
     .check = check_clean_text,
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

static const struct {
    const char *settings;
    enum tool_type tool;
    bool counts_processes; /* processCount defaults to nodeCount */
} toolkits[] = {
    {"cntkSettings", TOOL_CNTK, true},
    {"pyTorchSettings", TOOL_PYTORCH, true},
    {"tensorFlowSettings", TOOL_TENSORFLOW, false},
    {"caffeSettings", TOOL_CAFFE, true},
    {"caffe2Settings", TOOL_CAFFE2, false},
    {"chainerSettings", TOOL_CHAINER, true},
    {"customToolkitSettings", TOOL_CUSTOM, false},
    {"customMpiSettings", TOOL_MPI, true},
    {"horovodSettings", TOOL_HOROVOD, true},
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
    json_object_set_new_nocheck(
        properties, "toolType",
        json_string_nocheck(enum_to_name(tool_type_names, toolkits[found].tool)));
    if (toolkits[found].counts_processes && !json_object_get(settings, "processCount"))
        json_object_set_nocheck(settings, "processCount", json_object_get(properties, "nodeCount"));
    return 0;
}
