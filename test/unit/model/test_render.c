/* SPDX-License-Identifier: MIT
 *
 * What comes out: order, defaults, normalisation, secrets, versions, immutable changes.
 */
#include "model/schema_rows.h"
#include "test/unit/model/doc.h"

struct accepted_body {
    json_t *doc, *secrets;
};

static struct accepted_body accept(const struct schema *s, const char *text)
{
    struct accepted_body a;
    struct err e = {0};
    json_auto_t *body = doc_parse(text);
    if (schema_accept(s, V_2018_05_01, body, &a.doc, &a.secrets, &e) < 0)
        fail_msg("refused: %s", e.msg);
    return a;
}

static void drop(struct accepted_body *a)
{
    json_decref(a->doc);
    json_decref(a->secrets);
}

static void assert_rendered(const struct schema *s, const json_t *doc, const char *expected)
{
    json_auto_t *out = doc_render(s, V_2018_05_01, doc);
    doc_assert_text(out, expected);
}

TEST(cluster_order_and_defaults)
{
    struct accepted_body a = accept(
        &schema_cluster,
        "{'location': 'x', 'tags': {'a': 'b'}, 'properties': {'nodeSetup': {'mountVolumes': {"
        "'azureFileShares': [" BASE_SHARE "], 'fileServers': []}}, 'userAccountSettings':"
        " {'adminUserPassword': 'p', 'adminUserName': 'u'}, 'vmSize': 'Standard_nc6', 'subnet':"
        " null}}");
    doc_set(a.doc, "properties.currentNodeCount", "0");
    doc_set(a.doc, "properties.provisioningState", "'succeeded'");
    doc_set(a.doc, "properties.nodeStateCounts", "{'leavingNodeCount': 0, 'idleNodeCount': 0}");
    doc_set(a.doc, "properties.errors", "[]");
    doc_set(a.doc, "id", "'/x'");
    assert_rendered(
        &schema_cluster, a.doc,
        "{'id': '/x', 'properties': {'provisioningState': 'succeeded', 'vmSize': 'STANDARD_NC6',"
        " 'currentNodeCount': 0, 'nodeStateCounts': {'idleNodeCount': 0, 'leavingNodeCount': 0},"
        " 'vmPriority': 'dedicated', 'scaleSettings': {'manual': {'targetNodeCount': 0,"
        " 'nodeDeallocationOption': 'requeue'}}, 'virtualMachineConfiguration':"
        " {'imageReference': {'publisher': 'Canonical', 'offer': 'UbuntuServer', 'sku':"
        " '16.04-LTS', 'version': 'latest'}}, 'userAccountSettings': {'adminUserName': 'u'},"
        " 'nodeSetup': {'mountVolumes': {'azureFileShares': [{'accountName': 'acct',"
        " 'azureFileUrl': 'https://acct.file.core.windows.net/share', 'credentials': {},"
        " 'relativeMountPath': 'share', 'fileMode': '0777', 'directoryMode': '0777'}]}}}}");
    drop(&a);
}

TEST(auto_scale_default)
{
    json_auto_t *body = doc_parse(BASE_CLUSTER);
    doc_set(body, "properties.scaleSettings",
            "{'manual': null, 'autoScale': {'maximumNodeCount': 2, 'minimumNodeCount': 0}}");
    FREED char *text = json_dumps(body, 0);
    struct accepted_body a = accept(&schema_cluster, text);
    doc_assert_text(doc_get(a.doc, "properties.scaleSettings"),
                    "{'autoScale': {'minimumNodeCount': 0, 'maximumNodeCount': 2,"
                    " 'initialNodeCount': 0}}");
    drop(&a);
}

TEST(job_order_and_defaults)
{
    struct accepted_body a = accept(
        &schema_job,
        "{'properties': {'secrets': [{'name': 'T', 'value': 'hunter2'}, {'name': 'V',"
        " 'valueSecretReference': {'secretUrl': 'https://v/s', 'sourceVault': {'id': 'v'}}}],"
        " 'stdOutErrPathPrefix': 'p', 'nodeCount': 3, 'environmentVariables': [],"
        " 'customMpiSettings': {'commandLine': ' x '}, 'priority': 'HIGH', 'toolType': 'cntk',"
        " 'cluster': {'id': '/subscriptions/s/clusters/c'}}}");
    doc_set(a.doc, "properties.experimentName", "'e'");
    doc_set(a.doc, "properties.creationTime", "'2018-06-07T21:34:00.661Z'");
    doc_set(a.doc, "properties.executionInfo",
            "{'exitCode': 1, 'startTime': 's', 'errors': [{'message': 'm', 'code': 'c',"
            " 'details': [{'value': 'v', 'name': 'n'}]}]}");
    doc_set(a.doc, "properties.clusterMountVolumes", "{'azureFileShares': []}");
    assert_rendered(
        &schema_job, a.doc,
        "{'properties': {'experimentName': 'e', 'schedulingPriority': 'high', 'cluster': {'id':"
        " '/subscriptions/s/clusters/c'}, 'nodeCount': 3, 'toolType': 'mpi', 'customMpiSettings':"
        " {'commandLine': ' x ', 'processCount': 3}, 'stdOutErrPathPrefix': 'p', 'secrets':"
        " [{'name': 'T'}, {'name': 'V', 'valueSecretReference': {'sourceVault': {'id': 'v'},"
        " 'secretUrl': 'https://v/s'}}], 'constraints': {'maxWallClockTime': 'P7D'},"
        " 'creationTime': '2018-06-07T21:34:00.661Z', 'executionInfo': {'startTime': 's',"
        " 'exitCode': 1, 'errors': [{'code': 'c', 'message': 'm', 'details': [{'name': 'n',"
        " 'value': 'v'}]}]}}}");
    drop(&a);
}

TEST(tool_types)
{
    static const struct {
        const char *settings, *type;
        bool counted;
    } cases[] = {
        {"cntkSettings", "cntk", true},
        {"tensorFlowSettings", "tensorflow", false},
        {"caffeSettings", "caffe", true},
        {"caffe2Settings", "caffe2", false},
        {"chainerSettings", "chainer", true},
        {"horovodSettings", "horovod", true},
        {"pyTorchSettings", "pytorch", true},
        {"customMpiSettings", "mpi", true},
        {"customToolkitSettings", "custom", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *body = doc_parse(BASE_JOB);
        char path[80];
        doc_set(body, "properties.customToolkitSettings", NULL);
        snprintf(path, sizeof path, "properties.%s", cases[i].settings);
        doc_set(body, path, "{'pythonScriptFilePath': 'a', 'commandLine': 'b'}");
        FREED char *text = json_dumps(body, 0);
        struct accepted_body a = accept(&schema_job, text);
        assert_string_equal(json_string_value(doc_get(a.doc, "properties.toolType")),
                            cases[i].type);
        snprintf(path, sizeof path, "properties.%s.processCount", cases[i].settings);
        assert_int_equal(json_integer_value(doc_get(a.doc, path)), cases[i].counted ? 2 : 0);
        drop(&a);
    }
}

/* One process is no cluster and has no counts. */
TEST(counts_of_tensorflow)
{
    static const struct {
        int nodes;
        const char *settings, *expected;
    } cases[] = {
        {1, "{'pythonScriptFilePath': 'a', 'masterCommandLineArgs': 'm'}",
         "{'pythonScriptFilePath': 'a', 'masterCommandLineArgs': 'm'}"},
        {3, "{'pythonScriptFilePath': 'a'}",
         "{'pythonScriptFilePath': 'a', 'workerCount': 3, 'parameterServerCount': 1}"},
        {1, "{'pythonScriptFilePath': 'a', 'workerCount': 2}",
         "{'pythonScriptFilePath': 'a', 'workerCount': 2, 'parameterServerCount': 1}"},
        {2, "{'pythonScriptFilePath': 'a', 'parameterServerCount': 0}",
         "{'pythonScriptFilePath': 'a', 'parameterServerCount': 0, 'workerCount': 2}"},
        {1, "{'pythonScriptFilePath': 'a', 'workerCommandLineArgs': 'w'}",
         "{'pythonScriptFilePath': 'a', 'workerCommandLineArgs': 'w', 'workerCount': 1, "
         "'parameterServerCount': 1}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *body = doc_parse(BASE_JOB);
        char nodes[8];
        snprintf(nodes, sizeof nodes, "%d", cases[i].nodes);
        doc_set(body, "properties.customToolkitSettings", NULL);
        doc_set(body, "properties.nodeCount", nodes);
        doc_set(body, "properties.tensorFlowSettings", cases[i].settings);
        FREED char *text = json_dumps(body, 0);
        struct accepted_body a = accept(&schema_job, text);
        doc_assert_text(doc_get(a.doc, "properties.tensorFlowSettings"), cases[i].expected);
        drop(&a);
    }
}

TEST(explicit_priority_wins_over_the_old_name)
{
    json_auto_t *body = doc_parse(BASE_JOB);
    doc_set(body, "properties.priority", "'low'");
    doc_set(body, "properties.schedulingPriority", "'high'");
    FREED char *text = json_dumps(body, 0);
    struct accepted_body a = accept(&schema_job, text);
    doc_assert_text(doc_get(a.doc, "properties.schedulingPriority"), "'high'");
    drop(&a);
}

/* The same document, rendered or accepted again, stays what it is. */
TEST(rendering_is_stable)
{
    static const struct {
        const struct schema *s;
        const char *body;
    } cases[] = {
        {&schema_job, BASE_JOB},
        {&schema_workspace, "{'location': 'x', 'tags': {'a': 'b', 'c': ''}}"},
        {&schema_workspace, "{'location': 'x', 'tags': {}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct accepted_body a = accept(cases[i].s, cases[i].body);
        json_auto_t *once = doc_render(cases[i].s, V_2018_05_01, a.doc);
        json_auto_t *twice = doc_render(cases[i].s, V_2018_05_01, once);
        assert_true(json_equal(once, twice));
        FREED char *text = json_dumps(once, 0);
        struct accepted_body again = accept(cases[i].s, text);
        assert_true(json_equal(a.doc, again.doc));
        drop(&a);
        drop(&again);
    }
}

/* Even a document that still holds a secret, or a value of the wrong type, cannot leak it. */
TEST(a_secret_cannot_be_rendered)
{
    json_auto_t *doc = doc_parse(
        "{'properties': {'userAccountSettings': {'adminUserName': 'u', 'adminUserPassword':"
        " 'hunter2'}, 'vmSize': {'x': 'hunter2'}, 'currentNodeCount': 'hunter2', 'errors':"
        " ['hunter2'], 'nodeSetup': {'setupTask': {'secrets': [{'name': 'a', 'value':"
        " 'hunter2'}]}, 'mountVolumes': {'azureBlobFileSystems': [{'credentials': {'accountKey':"
        " 'hunter2'}}]}}, 'elsewhere': 'hunter2'}}");
    assert_rendered(&schema_cluster, doc,
                    "{'properties': {'userAccountSettings': {'adminUserName': 'u'}, 'nodeSetup':"
                    " {'setupTask': {'secrets': [{'name': 'a'}]}, 'mountVolumes':"
                    " {'azureBlobFileSystems': [{'credentials': {}}]}}}}");
}

TEST(secrets_move_out_and_back)
{
    struct accepted_body a = accept(
        &schema_cluster,
        "{'properties': {'vmSize': 'a', 'userAccountSettings': {'adminUserName': 'u',"
        " 'adminUserPassword': 'p1'}, 'nodeSetup': {'setupTask': {'commandLine': 'x',"
        " 'stdOutErrPathPrefix': 'p', 'secrets': [{'name': 'A', 'value': 's1'}, {'name': 'B',"
        " 'value': ''}]}, 'mountVolumes': {'azureFileShares': [" BASE_SHARE "]},"
        " 'performanceCountersSettings': {'appInsightsReference': {'component': {'id': 'c'},"
        " 'instrumentationKey': 'i1'}}}}}");
    doc_assert_text(
        a.secrets,
        "{'properties.userAccountSettings.adminUserPassword': 'p1',"
        " 'properties.nodeSetup.setupTask.secrets[0].value': 's1',"
        " 'properties.nodeSetup.setupTask.secrets[1].value': '',"
        " 'properties.nodeSetup.mountVolumes.azureFileShares[0].credentials.accountKey': 'k3y',"
        " 'properties.nodeSetup.performanceCountersSettings.appInsightsReference."
        "instrumentationKey': 'i1'}");
    json_t *merged = schema_merge_secrets(a.doc, a.secrets);
    doc_assert_text(doc_get(merged, "properties.nodeSetup.setupTask.secrets"),
                    "[{'name': 'A', 'value': 's1'}, {'name': 'B', 'value': ''}]");
    doc_assert_text(
        doc_get(merged, "properties.nodeSetup.mountVolumes.azureFileShares[0].credentials"),
        "{'accountKey': 'k3y'}");
    assert_null(doc_get(a.doc, "properties.nodeSetup.setupTask.secrets[0].value"));
    json_decref(merged);
    drop(&a);

    struct accepted_body none = accept(&schema_job, BASE_JOB);
    assert_null(none.secrets);
    merged = schema_merge_secrets(none.doc, NULL);
    assert_true(json_equal(merged, none.doc));
    json_decref(merged);
    drop(&none);
}

/* Paths that no longer fit the document are ignored, not followed into the void. */
TEST(stray_secret_paths)
{
    json_auto_t *doc = doc_parse("{'a': [{'b': 1}]}");
    json_auto_t *secrets = doc_parse("{'a[7].x': '1', 'q.x': '2', 'a[0].c': '3', 'a[.x': '4',"
                                     " '': '5', '.': '6', '[0]': '7'}");
    json_auto_t *merged = schema_merge_secrets(doc, secrets);
    doc_assert_text(doc_get(merged, "a[0].c"), "'3'");
}

static void check_changes(const struct schema *s, const char *before, const char *path,
                          const char *value, const char *expected)
{
    struct accepted_body a = accept(s, before);
    json_auto_t *after = json_deep_copy(a.doc);
    doc_set(after, path, value);
    char list[200];
    int n = schema_immutable_changes(s, V_2018_05_01, a.doc, after, list, sizeof list);
    assert_string_equal(list, expected);
    assert_int_equal(n, *expected ? 1 : 0);
    drop(&a);
}

TEST(immutable_changes)
{
#define CHANGES(path, value, expected)                                                             \
    check_changes(&schema_cluster, BASE_CLUSTER, path, value, expected)
    CHANGES("properties.vmSize", "'STANDARD_D1'", "");
    CHANGES("properties.vmSize", "'STANDARD_D2'", "properties.vmSize");
    CHANGES("properties.vmSize", NULL, "properties.vmSize");
    CHANGES("properties.scaleSettings", "{'manual': {'targetNodeCount': 9}}", "");
    CHANGES("properties.allocationState", "'resizing'", "");
    CHANGES("properties.subnet", "{'id': 'x'}", "properties.subnet");
    CHANGES("properties.virtualMachineConfiguration.imageReference.sku", "'18.04-LTS'",
            "properties.virtualMachineConfiguration.imageReference.sku");
    CHANGES("properties.clusterMountVolumes", "{}", "");
    check_changes(&schema_job, BASE_JOB, "properties.environmentVariables",
                  "[{'name': 'A', 'value': ''}]", "properties.environmentVariables");
    check_changes(&schema_job, BASE_JOB, "properties.schedulingPriority", "'low'",
                  "properties.schedulingPriority");
    check_changes(&schema_workspace, "{'location': 'a'}", "location", "'b'", "location");
    check_changes(&schema_workspace, "{'location': 'a'}", "tags", "{'x': 'y'}", "");
}

TEST(immutable_changes_add_up_and_are_cut)
{
    struct accepted_body a = accept(&schema_cluster, BASE_CLUSTER);
    json_auto_t *after = json_deep_copy(a.doc);
    doc_set(after, "properties.vmSize", "'B'");
    doc_set(after, "properties.vmPriority", "'lowpriority'");
    char list[200];
    assert_int_equal(
        schema_immutable_changes(&schema_cluster, V_2018_05_01, a.doc, after, list, sizeof list),
        2);
    assert_string_equal(list, "properties.vmSize, properties.vmPriority");
    char small[10];
    assert_int_equal(
        schema_immutable_changes(&schema_cluster, V_2018_05_01, a.doc, after, small, sizeof small),
        2);
    assert_string_equal(small, "propertie");
    drop(&a);
}

/* A property with another name in an older version: what older versions will be made of. */
TEST(versions_know_their_names)
{
    static const struct field rows[] = {
        TEXT("oldKey", .canon = "newKey", .versions = V_2017_09_01_PREVIEW | V_2018_03_01),
        TEXT("newKey", .versions = V_2018_05_01),
        TEXT("secret", SECRET, .canon = "hidden"),
    };
    static SCHEMA(s, rows, "test");
    json_auto_t *body = doc_parse("{'oldKey': 'a', 'newKey': 'b', 'secret': 'c'}");
    json_t *doc, *secrets, *out;
    assert_int_equal(schema_accept(&s, V_2018_03_01, body, &doc, &secrets, NULL), 0);
    doc_assert_text(doc, "{'newKey': 'a'}");
    doc_assert_text(secrets, "{'hidden': 'c'}");
    out = doc_render(&s, V_2018_05_01, doc);
    doc_assert_text(out, "{'newKey': 'a'}");
    json_decref(out);
    out = doc_render(&s, V_2017_09_01_PREVIEW, doc);
    doc_assert_text(out, "{'oldKey': 'a'}");
    json_decref(out);

    json_auto_t *other = doc_parse("{'newKey': 'z'}");
    char list[50];
    assert_int_equal(schema_immutable_changes(&s, V_2018_05_01, doc, other, list, sizeof list), 1);
    json_decref(doc);
    json_decref(secrets);
}

TEST(version_names)
{
    assert_int_equal(api_version_from_name("2017-09-01-preview"), V_2017_09_01_PREVIEW);
    assert_int_equal(api_version_from_name("2018-03-01"), V_2018_03_01);
    assert_int_equal(api_version_from_name("2018-05-01"), V_2018_05_01);
    assert_int_equal(api_version_from_name("2018-05-02"), 0);
    assert_int_equal(api_version_from_name(NULL), 0);
    assert_string_equal(api_version_name(V_2018_03_01), "2018-03-01");
    assert_string_equal(api_version_name(V_ALL), "unknown");
}

TEST(lists_and_items)
{
    static const struct {
        const struct schema *s;
        const char *doc, *expected;
    } cases[] = {
        {&schema_usage,
         "{'name': {'localizedValue': 'Clusters', 'value': 'Clusters'}, 'limit': 20,"
         " 'currentValue': 0, 'unit': 'Count'}",
         "{'unit': 'Count', 'currentValue': 0, 'limit': 20, 'name': {'value': 'Clusters',"
         " 'localizedValue': 'Clusters'}}"},
        {&schema_file,
         "{'properties': {'contentLength': 0, 'lastModified': 't'}, 'downloadUrl': 'u',"
         " 'fileType': 'file', 'name': 'n'}",
         "{'name': 'n', 'fileType': 'file', 'downloadUrl': 'u', 'properties': {'lastModified':"
         " 't', 'contentLength': 0}}"},
        {&schema_remote_login, "{'port': 50000, 'ipAddress': 'i', 'nodeId': 'n'}",
         "{'nodeId': 'n', 'ipAddress': 'i', 'port': 50000}"},
        {&schema_operation_entry,
         "{'origin': 'user', 'display': {'description': 'd', 'operation': 'o', 'resource': 'r',"
         " 'provider': 'p'}, 'name': 'n'}",
         "{'name': 'n', 'display': {'provider': 'p', 'resource': 'r', 'operation': 'o',"
         " 'description': 'd'}, 'origin': 'user'}"},
        {&schema_experiment,
         "{'properties': {'creationTime': 'c', 'provisioningStateTransitionTime': 't',"
         " 'provisioningState': 'succeeded'}, 'type': 'y', 'name': 'n', 'id': 'i'}",
         "{'id': 'i', 'name': 'n', 'type': 'y', 'properties': {'provisioningState': 'succeeded',"
         " 'provisioningStateTransitionTime': 't', 'creationTime': 'c'}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *doc = doc_parse(cases[i].doc);
        assert_rendered(cases[i].s, doc, cases[i].expected);
    }
}

static void assert_shown(const char *stored, const char *over, const char *expected)
{
    static const struct field inner[] = {INT("a"), BOOL("b")};
    static SCHEMA(in, inner, "inner");
    static const struct field rows[] = {TEXT("id"), LIST("list", 0, in), OBJECT("in", 0, in)};
    static SCHEMA(s, rows, "test");
    struct strbuf out = STRBUF_INIT;
    json_auto_t *tree = over ? doc_parse(over) : NULL;
    struct arena a;
    struct over *list;
    arena_init(&a);
    size_t n = doc_over(&a, tree, &list);
    schema_render(
        &out, &(struct rendering){
                  .schema = &s, .version = V_2018_05_01, .stored = stored, .over = list, .n = n});
    assert_string_equal(out.s, expected);
    arena_free(&a);
    strbuf_free(&out);
}

/* What only the row knows lies on top of what is stored, member by member. */
TEST(what_lies_on_top_wins)
{
    const char *stored =
        "{\"id\":\"x\\u0041\\n\",\"in\":{\"a\":1,\"b\":true},\"list\":[{\"a\":2},3,{}]}";
    assert_shown(stored, NULL,
                 "{\"id\":\"x\\u0041\\n\",\"list\":[{\"a\":2},{}],\"in\":{\"a\":1,\"b\":true}}");
    assert_shown(stored, "{'in': {'a': 7}, 'list': [{'b': false}]}",
                 "{\"id\":\"x\\u0041\\n\",\"list\":[{\"b\":false}],\"in\":{\"a\":7,\"b\":true}}");
    assert_shown(stored, "{'id': 5, 'in': null}", "{\"list\":[{\"a\":2},{}]}");
    assert_shown(NULL, "{'id': 'y'}", "{\"id\":\"y\"}");
    assert_shown("{\"in\":{\"a\":1.5,\"b\":1},\"id\":{}}", NULL, "{}");
}

/* Nobody writes these, but a disk may. */
TEST(a_damaged_text_counts_as_none)
{
    static const char *const damaged[] = {"",
                                          "x",
                                          "[]",
                                          "\"id\"",
                                          "7",
                                          "{",
                                          "}",
                                          "{\"id\"}",
                                          "{\"id\":}",
                                          "{\"id\":\"x\"",
                                          "{\"id\" \"x\"}",
                                          "{\"id\":\"x\",\"in\"}",
                                          "{\"id\":\"x\"}}",
                                          "{\"id\":\"x\"}{}",
                                          "{\"id\":\"x\" \"y\"}",
                                          "{\"in\":{\"a\":1,\"b\"},\"id\":\"x\"}",
                                          "{\"id\":\"\\q\"}",
                                          "{\"id\":\"x\",\"list\":[{]}}",
                                          "{{\"id\":\"x\"}}",
                                          "{\"id\":\"x\"} 1"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_shown(damaged[i], NULL, "{}");
    assert_shown("{\"id\":", "{'id': 'z'}", "{\"id\":\"z\"}");
}

TEST(long_texts_are_read_to_their_end)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_puts(&text, "{\"list\":[");
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&text, "%s{\"a\":%d}", i ? "," : "", i);
    strbuf_puts(&text, "]}");
    assert_shown(text.s, NULL, text.s);
    strbuf_free(&text);
}

TEST(a_member_is_taken_out_of_a_text)
{
    static const char *const path[] = {"a", "b", NULL};
    static const char *const texts[][2] = {
        {"{\"x\":{\"b\":{}},\"a\":{\"c\":[1],\"b\":{\"d\":[{}]}}}", "{\"d\":[{}]}"},
        {"{\"a\":{\"b\":[1]}}", NULL},
        {"{\"a\":[{\"b\":{}}]}", NULL},
        {"{\"ab\":{},\"a\":{\"bb\":{},\"\":{}}}", NULL},
        {"{\"b\":{}}", NULL},
        {"x", NULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = 0;
        const char *found = stored_member(texts[i][0], path, &n);
        if (texts[i][1]) {
            assert_int_equal(n, strlen(texts[i][1]));
            assert_memory_equal(found, texts[i][1], n);
        } else {
            assert_null(found);
        }
    }
}

TEST(what_is_given_is_left_of_what_is_shown)
{
    static const struct field inner_rows[] = {TEXT("seen", READONLY), TEXT("said")};
    static const SCHEMA(inner, inner_rows, "Inner");
    static const struct field rows[] = {TEXT("id", READONLY),
                                        TEXT("name"),
                                        OBJECT("kept", KEEP_EMPTY, inner),
                                        OBJECT("empty", 0, inner),
                                        LIST("list", 0, inner),
                                        TEXT("later", 0, .versions = V_2017_09_01_PREVIEW),
                                        TEXT("hidden", SECRET),
                                        BOOL("once", DISCARD)};
    static const SCHEMA(outer, rows, "Outer");
    struct strbuf names = STRBUF_INIT;
    json_t *shown =
        doc_parse("{'id': 'x', 'name': 'n', 'kept': {'seen': 's', 'said': 'd'}, 'empty':"
                  " {'seen': 's'}, 'list': [{'seen': 's', 'said': 'd'}], 'later': 'l',"
                  " 'none': 1}");
    schema_given(&outer, V_2018_05_01, shown);
    doc_assert_text(shown, "{'name': 'n', 'kept': {'said': 'd'}, 'list': [{'said': 'd'}]}");
    json_decref(shown);
    schema_given_names(&outer, V_2018_05_01, &names);
    assert_string_equal(names.s, "name,kept,empty,list");
    strbuf_free(&names);
}
