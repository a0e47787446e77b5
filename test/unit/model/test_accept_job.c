/* SPDX-License-Identifier: MIT
 *
 * Every rule of a job's request, one line each.
 */
#include "test/unit/model/accept.h"

#define P "properties."

TEST(basics)
{
    static const struct accept_case cases[] = {
        {"properties", NULL, MISSING},
        {"properties", "null", MISSING},
        {"properties", "5", BAD("is an integer; it must be an object")},
        {"properties", "[]", BAD("is an array; it must be an object")},
        {P "unknown", "{'deep': [1]}", OK},
        {P "toolType", "17", OK},               /* read-only: ignored */
        {P "executionState", "'finished'", OK}, /* read-only: ignored */
        {P "nodeCount", NULL, MISSING},
        {P "nodeCount", "null", MISSING},
        {P "nodeCount", "0", BAD("is 0; it must be an integer from 1 to 2147483647")},
        {P "nodeCount", "-1", BAD("is -1")},
        {P "nodeCount", "2147483648", BAD("is 2147483648")},
        {P "nodeCount", "1.0", BAD("is 1")},
        {P "nodeCount", "'2'", BAD("is \"2\"; it must be an integer")},
        {P "nodeCount", "true", BAD("is true")},
        {P "nodeCount", "{}", BAD("is an object")},
        {P "cluster", NULL, MISSING},
        {P "cluster", "'c'", BAD("is a string; it must be an object")},
        {P "cluster.id", NULL, MISSING},
        {P "cluster.id", "''", BAD("must be a string of 1 to 2048")},
        {P "cluster.id", "'c'", BAD("clusters/NAME")},
        {P "cluster.id", "'/subscriptions/s/jobs/c'", BAD("clusters/NAME")},
        {P "cluster.id", "'/subscriptions/s/clusters/'", BAD("clusters/NAME")},
        {P "cluster.id", "'/subscriptions/s/clusters/..'", BAD("clusters/NAME")},
        {P "cluster.id", "'/subscriptions/s/superclusters/c'", BAD("clusters/NAME")},
        {P "cluster.id", "'/SUBSCRIPTIONS/s/Clusters/c_1-x'", OK},
        {P "stdOutErrPathPrefix", NULL, MISSING},
        {P "stdOutErrPathPrefix", "''", BAD("is \"\"")},
        {P "stdOutErrPathPrefix", "'a\\nb'", BAD("is \"a\\x0ab\"; it must be free of control")},
        {P "stdOutErrPathPrefix", "'$AZ_BATCHAI_MOUNT_ROOT/s/../x'", BAD("without \"..\"")},
        {P "stdOutErrPathPrefix", "'..'", BAD("is \"..\"")},
        {P "stdOutErrPathPrefix", "'/s/..x/y..//z/'", OK},
        {P "schedulingPriority", "'HIGH'", OK},
        {P "schedulingPriority", "'urgent'", BAD("is \"urgent\"; it must be low, normal or high")},
        {P "schedulingPriority", "1", BAD("is 1; it must be the string low, normal or high")},
        {P "priority", "'low'", OK},
        {P "priority", "'urgent'", BAD("is \"urgent\"")},
        {P "jobPreparation", "{}", MISSING_AT(P "jobPreparation.commandLine", "is missing")},
        {P "constraints", "{}", OK},
        {P "constraints.maxWallClockTime", "'PT1H'", OK},
        {P "constraints.maxWallClockTime", "'1 hour'", BAD("ISO 8601 duration")},
        {P "constraints.maxWallClockTime", "'PT0S'", BAD("longer than zero")},
        {P "constraints.maxWallClockTime", "'P1M'", BAD("is \"P1M\"")},
        {P "constraints.maxWallClockTime", "3600", BAD("is 3600")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

TEST(toolkits)
{
    static const struct accept_case cases[] = {
        {P "customToolkitSettings", NULL, MISSING_AT("properties", "names no toolkit")},
        {P "customToolkitSettings", "null",
         MISSING_AT("properties", "exactly one of cntkSettings, pyTorchSettings")},
        {P "customToolkitSettings", "{}",
         MISSING_AT(P "customToolkitSettings.commandLine", "is missing")},
        {P "customToolkitSettings.commandLine", "''", BAD("is \"\"")},
        {P "customMpiSettings", "{'commandLine': 'x'}",
         BAD_AT("properties", "has 2 toolkits (customToolkitSettings, customMpiSettings)")},
        {P "horovodSettings", "{'pythonScriptFilePath': 'x'}",
         BAD_AT("properties", "has 2 toolkits")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

/* The base with its toolkit taken away, so that each case brings its own. */
TEST(one_toolkit)
{
#define CNTK  P "cntkSettings"
#define CAFFE P "caffeSettings"
    static const struct accept_case cases[] = {
        {CNTK, "{'languageType': 'python', 'pythonScriptFilePath': 'a.py'}", OK},
        {CNTK, "{'languageType': 'BRAINSCRIPT', 'configFilePath': 'a.cfg'}", OK},
        {CNTK, "{'configFilePath': 'a.cfg'}", OK},
        {CNTK, "{'pythonScriptFilePath': 'a.py'}", OK},
        {CNTK, "{}", MISSING_AT(CNTK, "has neither")},
        {CNTK, "{'configFilePath': 'a', 'pythonScriptFilePath': 'b'}", BAD_AT(CNTK, "has both")},
        {CNTK, "{'languageType': 'Perl', 'configFilePath': 'a'}",
         BAD_AT(CNTK ".languageType", "is \"Perl\"; it must be Python or BrainScript")},
        {CNTK, "{'languageType': 'Python', 'configFilePath': 'a'}",
         MISSING_AT(CNTK ".pythonScriptFilePath", "languageType Python needs it")},
        {CNTK, "{'languageType': 'BrainScript'}", MISSING_AT(CNTK ".configFilePath", "is missing")},
        {CNTK,
         "{'languageType': 'BrainScript', 'configFilePath': 'a', 'pythonScriptFilePath': 'b'}",
         BAD_AT(CNTK ".pythonScriptFilePath", "leave it out")},
        {CAFFE, "{'configFilePath': 'a'}", OK},
        {CAFFE, "{'pythonScriptFilePath': 'a'}", OK},
        {CAFFE, "{}", MISSING_AT(CAFFE, "has neither")},
        {CAFFE, "{'configFilePath': 'a', 'pythonScriptFilePath': 'b'}", BAD_AT(CAFFE, "has both")},
        {CAFFE, "{'configFilePath': 'a', 'processCount': 0}",
         BAD_AT(CAFFE ".processCount", "is 0; it must be an integer from 1")},
        {P "tensorFlowSettings", "{}",
         MISSING_AT(P "tensorFlowSettings.pythonScriptFilePath", "is missing")},
        {P "tensorFlowSettings", "{'pythonScriptFilePath': 'a', 'workerCount': 0}",
         BAD_AT(P "tensorFlowSettings.workerCount", "is 0")},
        {P "pyTorchSettings", "{}",
         MISSING_AT(P "pyTorchSettings.pythonScriptFilePath", "is missing")},
        {P "caffe2Settings", "{}",
         MISSING_AT(P "caffe2Settings.pythonScriptFilePath", "is missing")},
        {P "chainerSettings", "{'processCount': 3}",
         MISSING_AT(P "chainerSettings.pythonScriptFilePath", "is missing")},
        {P "horovodSettings", "{'pythonScriptFilePath': 7}",
         BAD_AT(P "horovodSettings.pythonScriptFilePath", "is 7; it must be a string")},
        {P "customMpiSettings", "{'processCount': 3}",
         MISSING_AT(P "customMpiSettings.commandLine", "is missing")},
    };
    json_auto_t *base = doc_parse(BASE_JOB);
    doc_set(base, P "customToolkitSettings", NULL);
    FREED char *text = json_dumps(base, 0);
    CHECK_CASES(&schema_job, text, cases);
}

TEST(settings_that_contradict)
{
    static const struct accept_case cases[] = {
        {P "tensorFlowSettings", "{'pythonScriptFilePath': 'a', 'parameterServerCount': 0}", OK},
        {P "tensorFlowSettings", "{'pythonScriptFilePath': 'a', 'parameterServerCount': 3}",
         BAD_AT(P "tensorFlowSettings.parameterServerCount",
                "is 3; it must be at most 2: the nodeCount")},
        {P "tensorFlowSettings", "{'pythonScriptFilePath': 'a', 'workerCount': 512}", OK},
        {P "tensorFlowSettings", "{'pythonScriptFilePath': 'a', 'workerCount': 513}",
         BAD_AT(P "tensorFlowSettings.workerCount",
                "is 513; it must be at most 512: 256 for each node, and nodeCount is 2")},
        {P "tensorFlowSettings",
         "{'pythonScriptFilePath': 'a', 'parameterServerCount': 0, "
         "'parameterServerCommandLineArgs': 'x'}",
         BAD_AT(P "tensorFlowSettings.parameterServerCommandLineArgs",
                "is given but parameterServerCount is 0")},
        {P "pyTorchSettings", "{'pythonScriptFilePath': 'a', 'communicationBackend': 'Gloo'}", OK},
        {P "pyTorchSettings", "{'pythonScriptFilePath': 'a', 'communicationBackend': ''}", OK},
        {P "pyTorchSettings", "{'pythonScriptFilePath': 'a', 'communicationBackend': 'smoke'}",
         BAD_AT(P "pyTorchSettings.communicationBackend",
                "is \"smoke\"; it must be tcp, gloo, mpi or nccl")},
        {P "pyTorchSettings", "{'pythonScriptFilePath': 'a', 'processCount': 100000}",
         BAD_AT(P "pyTorchSettings.processCount", "is 100000; it must be at most 512")},
        {CAFFE, "{'configFilePath': 'a', 'pythonInterpreterPath': 'p'}",
         BAD_AT(CAFFE ".pythonInterpreterPath", "there is no pythonScriptFilePath")},
        {CNTK, "{'configFilePath': 'a', 'pythonInterpreterPath': 'p'}",
         BAD_AT(CNTK ".pythonInterpreterPath", "there is no pythonScriptFilePath")},
    };
    json_auto_t *base = doc_parse(BASE_JOB);
    doc_set(base, P "customToolkitSettings", NULL);
    FREED char *text = json_dumps(base, 0);
    CHECK_CASES(&schema_job, text, cases);
}

TEST(environment)
{
#define ENV P "environmentVariables"
#define SEC P "secrets"
    static const struct accept_case cases[] = {
        {ENV, "[]", OK},
        {ENV, "{}", BAD("is an object; it must be an array of objects")},
        {ENV, "['A']", BAD_AT(ENV "[0]", "is a string; it must be an object")},
        {ENV, "[{'name': '_a9', 'value': ''}, {'name': '_A9', 'value': 'x'}]", OK},
        {ENV, "[{'name': 'A'}]", MISSING_AT(ENV "[0].value", "is missing")},
        {ENV, "[{'name': 'A', 'value': 1}]", BAD_AT(ENV "[0].value", "is 1; it must be a string")},
        {ENV, "[{'name': '9A', 'value': ''}]",
         BAD_AT(ENV "[0].name", "is \"9A\"; it must be a variable name")},
        {ENV, "[{'name': 'A-B', 'value': ''}]", BAD_AT(ENV "[0].name", "a variable name")},
        {ENV, "[{'name': '', 'value': ''}]", BAD_AT(ENV "[0].name", "is \"\"")},
        {ENV, "[{'name': 'A', 'value': '1'}, {'name': 'A', 'value': '2'}]",
         BAD_AT(ENV "[1].name", "was used before")},
        {SEC, "[{'name': 'A', 'value': ''}]", OK},
        {SEC, "[{'name': 'A'}]",
         MISSING_AT(SEC "[0]",
                    "has neither; it must have exactly one of value and valueSecretReference")},
        {SEC,
         "[{'name': 'A', 'value': 'x', 'valueSecretReference': {'sourceVault': {'id': 'v'},"
         " 'secretUrl': 'https://v/secrets/a'}}]",
         BAD_AT(SEC "[0]", "has both")},
        {SEC, "[{'name': 'A', 'valueSecretReference': {'sourceVault': {'id': 'v'}}}]",
         MISSING_AT(SEC "[0].valueSecretReference.secretUrl", "is missing")},
        {SEC,
         "[{'name': 'A', 'valueSecretReference': {'sourceVault': {'id': 'v'},"
         " 'secretUrl': 'a'}}]",
         BAD_AT(SEC "[0].valueSecretReference.secretUrl", "http or https URL")},
        {SEC, "[{'name': 'A', 'value': 'x'}, {'name': 'A', 'value': 'y'}]",
         BAD_AT(SEC "[1].name", "was used before")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

TEST(variables_and_secrets_share_names)
{
    json_t *body = doc_parse(BASE_JOB), *doc, *secrets;
    struct err e = {0};
    doc_set(body, ENV, "[{'name': 'TOKEN', 'value': '1'}]");
    doc_set(body, SEC, "[{'name': 'TOKEN', 'value': '2'}]");
    assert_int_equal(schema_accept(&schema_job, V_2018_05_01, body, &doc, &secrets, &e), -1);
    assert_string_equal(e.target, "properties.secrets[0].name");
    json_decref(body);
}

TEST(directories)
{
#define IN  P "inputDirectories"
#define OUT P "outputDirectories"
    static const struct accept_case cases[] = {
        {IN, "[{'id': 'A', 'path': 'x'}, {'id': 'a_1', 'path': 'x'}]", OK},
        {IN, "[{'id': 'A', 'path': 'x'}, {'id': 'A', 'path': 'y'}]",
         BAD_AT(IN "[1].id", "was used before")},
        {IN, "[{'id': 'A'}]", MISSING_AT(IN "[0].path", "is missing")},
        {IN, "[{'id': 'A B', 'path': 'x'}]", BAD_AT(IN "[0].id", "is \"A B\"")},
        {OUT, "[{'id': 'A', 'pathPrefix': 'x', 'pathSuffix': 'a/b/'}]", OK},
        {OUT, "[{'id': 'A', 'pathPrefix': 'x', 'pathSuffix': ''}]", OK},
        {OUT, "[{'id': 'stdOutErr', 'pathPrefix': 'x'}]",
         BAD_AT(OUT "[0].id", "must be another id")},
        {OUT, "[{'id': 'A', 'pathPrefix': 'x', 'pathSuffix': '../b'}]",
         BAD_AT(OUT "[0].pathSuffix", "is \"../b\"; it must be a relative path")},
        {OUT, "[{'id': 'A', 'pathPrefix': '$R/s/../../x'}]",
         BAD_AT(OUT "[0].pathPrefix", "is \"$R/s/../../x\"; it must be a path without")},
        {OUT, "[{'id': 'A', 'pathPrefix': 'x', 'pathSuffix': '/b'}]",
         BAD_AT(OUT "[0].pathSuffix", "relative path")},
        {OUT, "[{'id': 'A', 'pathPrefix': ''}]", BAD_AT(OUT "[0].pathPrefix", "is \"\"")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

TEST(containers)
{
#define BOX P "containerSettings"
    static const struct accept_case cases[] = {
        {BOX, "{}", MISSING_AT(BOX ".imageSourceRegistry", "is missing")},
        {BOX, "{'imageSourceRegistry': {'image': 'a'}, 'shmSize': '16G'}", OK},
        {BOX, "{'imageSourceRegistry': {'image': 'a', 'serverUrl': 'https://r.example.com:5000/'}}",
         OK},
        {BOX, "{'imageSourceRegistry': {'image': '--privileged'}}",
         BAD_AT(BOX ".imageSourceRegistry.image", "does not begin with '-'")},
        {BOX, "{'imageSourceRegistry': {'image': 'a b'}}",
         BAD_AT(BOX ".imageSourceRegistry.image", "without blanks")},
        {BOX, "{'imageSourceRegistry': {'image': 'a', 'serverUrl': 'r --authfile=/etc/x'}}",
         BAD_AT(BOX ".imageSourceRegistry.serverUrl", "without blanks")},
        {BOX, "{'imageSourceRegistry': {'image': 'a', 'serverUrl': 'https://--authfile=/etc/x'}}",
         BAD_AT(BOX ".imageSourceRegistry.serverUrl", "does not begin with '-'")},
        {BOX, "{'imageSourceRegistry': {'image': 'a'}, 'shmSize': '16gb'}",
         BAD_AT(BOX ".shmSize", "is \"16gb\"")},
        {BOX, "{'imageSourceRegistry': {'image': 'a', 'credentials': {'password': 'x'}}}",
         MISSING_AT(BOX ".imageSourceRegistry.credentials.username", "is missing")},
        {BOX,
         "{'imageSourceRegistry': {'image': 'a', 'credentials': {'username': 'u', 'password': 'x',"
         " 'passwordSecretReference': {'sourceVault': {'id': 'v'}, 'secretUrl': 'http://v'}}}}",
         BAD_AT(BOX ".imageSourceRegistry.credentials", "has both")},
    };
    CHECK_CASES(&schema_job, BASE_JOB, cases);
}

TEST(the_body_is_an_object)
{
    static const char *const bodies[] = {"[]", "'x'", "1", "true", "null"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        json_t *body = doc_parse(bodies[i]), *doc, *secrets;
        struct err e = {0};
        assert_int_equal(schema_accept(&schema_job, V_2018_05_01, body, &doc, &secrets, &e), -1);
        assert_says(e.msg, "it must be an object");
        json_decref(body);
    }
    json_t *doc, *secrets;
    assert_int_equal(schema_accept(&schema_job, V_2018_05_01, NULL, &doc, &secrets, NULL), -1);
}

TEST(lists_are_bounded)
{
    json_t *body = doc_parse(BASE_JOB), *list = json_array(), *doc, *secrets;
    struct err e = {0};
    for (int i = 0; i < 1001; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "id", "A", "path", "x"));
    json_object_set_new(json_object_get(body, "properties"), "inputDirectories", list);
    assert_int_equal(schema_accept(&schema_job, V_2018_05_01, body, &doc, &secrets, &e), -1);
    assert_says(e.msg, "has 1001 items; at most 1000");
    json_decref(body);
}

/* A value may be long, foreign or secret; the message stays short, ASCII and silent. */
TEST(messages_are_safe)
{
    json_t *body = doc_parse(BASE_JOB), *doc, *secrets;
    struct err e = {0};
    FREED char *longest = calloc(1, 100001);
    memset(longest, 'x', 100000);
    static const char start[] = {(char)0xc3, (char)0xa9, 0x1b, '[', '3', '1', 'm'};
    memcpy(longest, start, sizeof start);
    json_object_set_new(json_object_get(body, "properties"), "schedulingPriority",
                        json_string(longest));
    assert_int_equal(schema_accept(&schema_job, V_2018_05_01, body, &doc, &secrets, &e), -1);
    assert_true(strlen(e.msg) < 400);
    for (const char *p = e.msg; *p; p++)
        assert_true(*p >= ' ' && *p < 0x7f);
    json_decref(body);
}

TEST(secrets_stay_out_of_messages)
{
    static const struct {
        const char *path, *value;
    } cases[] = {
        {P "secrets", "[{'name': 'A', 'value': {'x': 'hunter2'}}]"},
        {P "secrets", "[{'name': 'A', 'value': ['hunter2']}]"},
        {P "secrets", "[{'name': '1', 'value': 'hunter2'}]"},
        {P "secrets", "'hunter2'"},
        {P "secrets", "['hunter2']"},
        {P "mountVolumes.azureFileShares", "[{'credentials': 'hunter2'}]"},
        {P "mountVolumes.azureFileShares",
         "[{'accountName': 'a', 'azureFileUrl': 'https://a.file.x/s', 'credentials':"
         " {'accountKey': {'k': 'hunter2'}}}]"},
        {P "containerSettings",
         "{'imageSourceRegistry': {'image': 'a', 'credentials': 'hunter2'}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *body = doc_parse(BASE_JOB), *doc, *secrets;
        struct err e = {0};
        doc_set(body, cases[i].path, cases[i].value);
        assert_int_equal(schema_accept(&schema_job, V_2018_05_01, body, &doc, &secrets, &e), -1);
        if (strstr(e.msg, "hunter2") || strstr(e.target, "hunter2"))
            fail_msg("%s", e.msg);
        json_decref(body);
    }
}
