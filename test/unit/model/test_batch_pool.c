/* SPDX-License-Identifier: MIT
 *
 * The tables of pools of Azure Batch: defaults, rules between properties, names of versions,
 * secrets.
 */
#include "lib/strbuf.h"
#include "model/batch/tables_pool.h"
#include "model/batch/versions.h"
#include "test/unit/model/doc.h"

#define IMAGE                                                                                      \
    "'virtualMachineConfiguration': {'nodeAgentSKUId': 'batch.node.ubuntu 22.04', "                \
    "'imageReference': {'publisher': 'canonical', 'offer': '0001-com-ubuntu-server-jammy', "       \
    "'sku': '22_04-lts'}}"
#define IMAGE_ID "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/i"
#define SHOWN_IMAGE                                                                                \
    "'virtualMachineConfiguration': {'nodeAgentSKUId': 'batch.node.ubuntu 22.04', "                \
    "'imageReference': {'publisher': 'canonical', 'offer': '0001-com-ubuntu-server-jammy', "       \
    "'sku': '22_04-lts', 'version': 'latest'}}"
#define DEFAULTS                                                                                   \
    "'enableAutoScale': false, 'enableInterNodeCommunication': false, 'taskSlotsPerNode': 1, "     \
    "'taskSchedulingPolicy': {'nodeFillType': 'Spread'}, 'resizeTimeout': 'PT15M', "               \
    "'targetDedicatedNodes': 0, 'targetLowPriorityNodes': 0"

struct accepted_pool {
    json_t *doc, *secrets;
};

static int accept(const struct schema *s, unsigned v, const char *body, struct accepted_pool *out,
                  struct err *e)
{
    json_auto_t *in = doc_parse(body);
    int rc =
        schema_accept_as(s, (enum api_version)v, SCHEMA_BATCH, in, &out->doc, &out->secrets, e);
    return rc;
}

static void forget(struct accepted_pool *a)
{
    json_decref(a->doc);
    json_decref(a->secrets);
}

static void expect(const struct schema *s, unsigned v, const char *body, const char *doc)
{
    struct accepted_pool a;
    struct err e;
    json_t *wanted = doc_parse(doc);
    if (accept(s, v, body, &a, &e) < 0)
        fail_msg("%s: %s %s", body, e.target, e.msg);
    if (!json_equal(a.doc, wanted))
        fail_msg("%s\nbecame %s\ninstead of %s", body, json_dumps(a.doc, JSON_SORT_KEYS),
                 json_dumps(wanted, JSON_SORT_KEYS));
    json_decref(wanted);
    forget(&a);
}

TEST(pools_get_their_defaults)
{
    const struct schema *s = &schema_batch_pool;
    expect(s, BATCH_16_0, "{'id': 'p1', 'vmSize': 'STANDARD_D1_v2', " IMAGE "}",
           "{'id': 'p1', 'vmSize': 'standard_d1_v2', " SHOWN_IMAGE ", " DEFAULTS "}");
    expect(s, BATCH_6_0,
           "{'id': 'p1', 'vmSize': 'small', 'maxTasksPerNode': '4', 'targetDedicatedNodes': 2, "
           "'cloudServiceConfiguration': {'osFamily': '4'}, 'startTask': {'commandLine': 'a'}}",
           "{'id': 'p1', 'vmSize': 'small', 'taskSlotsPerNode': 4, 'targetDedicatedNodes': 2, "
           "'cloudServiceConfiguration': {'osFamily': '4', 'osVersion': '*'}, "
           "'startTask': {'commandLine': 'a', 'userIdentity': {'autoUser': {'elevationLevel': "
           "'nonadmin'}}, 'maxTaskRetryCount': 0, 'waitForSuccess': false}, "
           "'enableAutoScale': false, 'enableInterNodeCommunication': false, "
           "'taskSchedulingPolicy': {'nodeFillType': 'Spread'}, 'resizeTimeout': 'PT15M', "
           "'targetLowPriorityNodes': 0}");
    expect(s, BATCH_16_0,
           "{'id': 'p1', 'vmSize': 's', " IMAGE ", 'enableAutoScale': true, "
           "'autoScaleFormula': '$x=1;', 'resizeTimeout': 'PT10M', "
           "'taskSchedulingPolicy': {'nodeFillType': 'pack'}}",
           "{'id': 'p1', 'vmSize': 's', " SHOWN_IMAGE ", 'enableAutoScale': true, "
           "'autoScaleFormula': '$x=1;', 'autoScaleEvaluationInterval': 'PT15M', "
           "'enableInterNodeCommunication': false, 'taskSlotsPerNode': 1, "
           "'taskSchedulingPolicy': {'nodeFillType': 'Pack'}}");
    expect(&schema_batch_pool_resize, BATCH_16_0, "{'targetDedicatedNodes': 3}",
           "{'targetDedicatedNodes': 3, 'resizeTimeout': 'PT15M', 'nodeDeallocationOption': "
           "'requeue'}");
    expect(&schema_batch_pool_properties, BATCH_16_0,
           "{'certificateReferences': [], 'applicationPackageReferences': [], 'metadata': []}",
           "{'certificateReferences': [], 'applicationPackageReferences': [], 'metadata': []}");
}

#define LINUX_USER "userAccounts[0].linuxUserConfiguration"
#define USERS(linux_user)                                                                          \
    "{'id': 'p', 'vmSize': 's', " IMAGE ", 'userAccounts': [{'name': 'a', 'password': 'p', "       \
    "'linuxUserConfiguration': " linux_user "}]}"
#define TWO_ACCOUNTS                                                                               \
    "'userAccounts': [{'name': 'a', 'password': 'p', 'linuxUserConfiguration': "                   \
    "{'uid': 1500, 'gid': 1500}}, {'name': 'b', 'password': 'p', 'linuxUserConfiguration': "       \
    "{'uid': 1500, 'gid': 1501}}]"
#define TWO_USERS "{'id': 'p', 'vmSize': 's', " IMAGE ", " TWO_ACCOUNTS "}"

static const struct {
    const struct schema *s;
    unsigned v;
    const char *body;
    int code;
    const char *target;
} wrong[] = {
    {&schema_batch_pool, BATCH_16_0, "{'vmSize': 's', " IMAGE "}", ERR_MISSING_PROPERTY, "id"},
    {&schema_batch_pool, BATCH_16_0, "{'id': 'p 1', 'vmSize': 's', " IMAGE "}",
     ERR_INVALID_PROPERTY, "id"},
    {&schema_batch_pool, BATCH_16_0, "{'id': 'p', 'vmSize': 's'}", ERR_MISSING_PROPERTY,
     "virtualMachineConfiguration"},
    {&schema_batch_pool, BATCH_16_0, "{'id': 'p', 'vmSize': 's', " IMAGE ", 'maxTasksPerNode': 1}",
     ERR_INVALID_CONTENT, "maxTasksPerNode"},
    {&schema_batch_pool, BATCH_11_0, "{'id': 'p', 'vmSize': 's', " IMAGE ", 'taskSlotsPerNode': 1}",
     ERR_INVALID_CONTENT, "taskSlotsPerNode"},
    {&schema_batch_pool, BATCH_20_0,
     "{'id': 'p', 'vmSize': 's', 'cloudServiceConfiguration': {'osFamily': '4'}}",
     ERR_INVALID_CONTENT, "cloudServiceConfiguration"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'resizeTimeout': 'PT1M'}", ERR_INVALID_PROPERTY,
     "resizeTimeout"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'enableAutoScale': true}", ERR_MISSING_PROPERTY,
     "autoScaleFormula"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'autoScaleFormula': 'f'}", ERR_INVALID_PROPERTY,
     "autoScaleFormula"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'enableAutoScale': true, 'autoScaleFormula': 'f', "
     "'targetDedicatedNodes': 1}",
     ERR_INVALID_PROPERTY, "targetDedicatedNodes"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', 'virtualMachineConfiguration': {'nodeAgentSKUId': "
     "'batch.node.ubuntu 22.04', 'imageReference': {'publisher': 'a', 'offer': 'b', 'sku': "
     "'c'}}}",
     ERR_INVALID_PROPERTY, "virtualMachineConfiguration.imageReference"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', 'virtualMachineConfiguration': {'nodeAgentSKUId': "
     "'batch.node.windows amd64', 'imageReference': {'publisher': 'canonical', 'offer': "
     "'UbuntuServer', 'sku': '18.04-LTS'}}}",
     ERR_INVALID_PROPERTY, "virtualMachineConfiguration.nodeAgentSKUId"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', 'virtualMachineConfiguration': {'nodeAgentSKUId': "
     "'batch.node.ubuntu 22.04', 'imageReference': {'publisher': 'canonical', 'offer': "
     "'UbuntuServer', 'sku': '18.04-LTS'}}}",
     ERR_INVALID_PROPERTY, "virtualMachineConfiguration.nodeAgentSKUId"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'mountConfiguration': [{}]}", ERR_INVALID_PROPERTY,
     "mountConfiguration[0]"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'mountConfiguration': [{'nfsMountConfiguration': "
     "{'source': 'h:/a', 'relativeMountPath': '../x'}}]}",
     ERR_INVALID_PROPERTY, "mountConfiguration[0].nfsMountConfiguration.relativeMountPath"},
    {&schema_batch_pool, BATCH_9_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'mountConfiguration': []}", ERR_INVALID_CONTENT,
     "mountConfiguration"},
    {&schema_batch_pool, BATCH_16_0, USERS("{'uid': 1500}"), ERR_INVALID_PROPERTY, LINUX_USER},
    {&schema_batch_pool, BATCH_16_0, USERS("{'gid': 1500}"), ERR_INVALID_PROPERTY, LINUX_USER},
    {&schema_batch_pool, BATCH_16_0, USERS("{'uid': 0, 'gid': 1500}"), ERR_INVALID_PROPERTY,
     LINUX_USER ".uid"},
    {&schema_batch_pool, BATCH_16_0, USERS("{'uid': 1500, 'gid': -1}"), ERR_INVALID_PROPERTY,
     LINUX_USER ".gid"},
    {&schema_batch_pool, BATCH_16_0, USERS("{'uid': 2147483648, 'gid': 1500}"),
     ERR_INVALID_PROPERTY, LINUX_USER ".uid"},
    {&schema_batch_pool, BATCH_16_0, USERS("{'sshPrivateKey': 'ssh-ed25519 AAAA'}"),
     ERR_INVALID_PROPERTY, LINUX_USER ".sshPrivateKey"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'userAccounts': [{'name': 'a', 'password': 'p'}, "
     "{'name': 'a', 'password': 'q'}]}",
     ERR_INVALID_PROPERTY, "userAccounts"},
    {&schema_batch_pool, BATCH_16_0, TWO_USERS, ERR_INVALID_PROPERTY, "userAccounts"},
    {&schema_batch_pool_patch, BATCH_20_0, "{" TWO_ACCOUNTS "}", ERR_INVALID_PROPERTY,
     "userAccounts"},
    {&schema_batch_pool, BATCH_16_0,
     "{'id': 'p', 'vmSize': 's', " IMAGE ", 'userAccounts': [{'name': 'a', 'password': 'p\\nq'}]}",
     ERR_INVALID_PROPERTY, "userAccounts[0].password"},
    {&schema_batch_pool_resize, BATCH_16_0, "{}", ERR_MISSING_PROPERTY, "targetDedicatedNodes"},
    {&schema_batch_pool_properties, BATCH_16_0, "{'metadata': []}", ERR_MISSING_PROPERTY,
     "certificateReferences"},
    {&schema_batch_node_user, BATCH_16_0, "{'name': 'me'}", ERR_MISSING_PROPERTY, "sshPublicKey"},
    {&schema_batch_reboot, BATCH_16_0, "{'nodeRebootOption': 'now'}", ERR_INVALID_PROPERTY,
     "nodeRebootOption"},
};

TEST(wrong_pools_are_refused)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct accepted_pool a;
        struct err e;
        if (accept(wrong[i].s, wrong[i].v, wrong[i].body, &a, &e) == 0)
            fail_msg("%s was taken", wrong[i].body);
        if (e.code != wrong[i].code || strcmp(e.target, wrong[i].target) != 0)
            fail_msg("%s: %s at '%s': %s", wrong[i].body, err_code_name(e.code), e.target, e.msg);
        assert_says_not(e.msg, "AAAA");
    }
}

TEST(containers_are_called_as_the_version_does)
{
    static const unsigned versions[] = {BATCH_6_0, BATCH_16_0};
    static const char *const names[] = {"docker", "dockerCompatible"};
    for (size_t given = 0; given < 2; given++)
        for (size_t shown = 0; shown < 2; shown++) {
            struct accepted_pool a;
            struct err e;
            struct strbuf body = STRBUF_INIT, out = STRBUF_INIT, wanted = STRBUF_INIT;
            strbuf_printf(&body,
                          "{'id': 'p', 'vmSize': 's', 'virtualMachineConfiguration': "
                          "{'nodeAgentSKUId': 'batch.node.ubuntu 18.04', 'imageReference': "
                          "{'virtualMachineImageId': '" IMAGE_ID "'}, "
                          "'containerConfiguration': {'type': '%s'}}}",
                          names[given]);
            assert_int_equal(accept(&schema_batch_pool, versions[given], body.s, &a, &e), 0);
            schema_render_tree(&out, &schema_batch_pool, versions[shown], a.doc);
            strbuf_printf(&wanted, "{\"type\":\"%s\"}", names[shown]);
            if (!strstr(out.s, wanted.s))
                fail_msg("%s is not in %s", wanted.s, out.s);
            forget(&a);
            strbuf_free(&body);
            strbuf_free(&out);
            strbuf_free(&wanted);
        }
}

TEST(secrets_are_taken_out)
{
    struct accepted_pool a;
    struct err e;
    assert_int_equal(
        accept(&schema_batch_pool, BATCH_16_0,
               "{'id': 'p', 'vmSize': 's', " IMAGE ", 'userAccounts': [{'name': 'me', 'password': "
               "'SECRET', 'linuxUserConfiguration': {'sshPrivateKey': '-----BEGIN PRIVATE "
               "KEY-----\\nMAASECRETSECRETA\\n-----END PRIVATE KEY-----'}}], "
               "'mountConfiguration': [{'azureBlobFileSystemConfiguration': {'accountName': "
               "'acct', 'containerName': 'c', 'sasKey': 'SECRET', 'relativeMountPath': 'm'}}, "
               "{'cifsMountConfiguration': {'username': 'u', 'source': '//h/s', "
               "'relativeMountPath': 'n', 'password': 'SECRET'}}]}",
               &a, &e),
        0);
    char *stored = json_dumps(a.doc, 0);
    assert_says_not(stored, "SECRET");
    assert_int_equal(json_object_size(a.secrets), 4);
    free(stored);
    forget(&a);
}
