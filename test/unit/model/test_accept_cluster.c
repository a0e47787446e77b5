/* SPDX-License-Identifier: MIT
 *
 * Every rule of the requests for clusters (mount volumes included), file servers, workspaces and
 * experiments, one line each.
 */
#include "lib/strbuf.h"
#include "test/unit/model/accept.h"

#define P     "properties."
#define SCALE P "scaleSettings"
#define USER  P "userAccountSettings"

TEST(basics)
{
    static const struct accept_case cases[] = {
        {"location", "'eastus'", OK},
        {"location", "5", BAD("is 5")},
        {"tags", "{'a': 'b'}", OK},
        {"tags", "{'a': 5}", BAD_AT("tags.a", "is 5; it must be a string")},
        {P "vmSize", NULL, MISSING},
        {P "vmSize", "''", BAD("must be a string of 1 to 64 bytes")},
        {P "vmSize", "5", BAD("is 5")},
        {P "vmPriority", "'LowPriority'", OK},
        {P "vmPriority", "'spot'", BAD("is \"spot\"; it must be dedicated or lowpriority")},
        {P "subnet", "{}", MISSING_AT(P "subnet.id", "is missing")},
        {P "virtualMachineConfiguration", "{}", OK},
        {P "virtualMachineConfiguration.imageReference", "{'publisher': 'a', 'offer': 'b'}",
         MISSING_AT(P "virtualMachineConfiguration.imageReference.sku", "is missing")},
    };
    CHECK_CASES(&schema_cluster, BASE_CLUSTER, cases);
}

TEST(scale)
{
    static const struct accept_case cases[] = {
        {SCALE, NULL, OK},
        {SCALE, "{}",
         MISSING_AT(SCALE, "has neither; it must have exactly one of manual and autoScale")},
        {SCALE ".autoScale", "{'minimumNodeCount': 0, 'maximumNodeCount': 1}",
         BAD_AT(SCALE, "has both")},
        {SCALE ".manual", "{}", MISSING_AT(SCALE ".manual.targetNodeCount", "is missing")},
        {SCALE ".manual.targetNodeCount", "-1", BAD("is -1; it must be an integer from 0")},
        {SCALE ".manual.targetNodeCount", "'two'", BAD("is \"two\"; it must be an integer")},
        {SCALE ".manual.targetNodeCount", "99999999999", BAD("is 99999999999")},
        {SCALE ".manual.nodeDeallocationOption", "'Terminate'", OK},
        {SCALE ".manual.nodeDeallocationOption", "'unknown'",
         BAD("must be requeue, terminate or waitforjobcompletion")},
        {SCALE, "{'autoScale': {'minimumNodeCount': 1, 'maximumNodeCount': 3}}", OK},
        {SCALE, "{'autoScale': {'minimumNodeCount': 2, 'maximumNodeCount': 1}}",
         BAD_AT(SCALE ".autoScale.minimumNodeCount", "is 2 and maximumNodeCount is 1")},
        {SCALE,
         "{'autoScale': {'minimumNodeCount': 2, 'maximumNodeCount': 3, 'initialNodeCount': 1}}",
         BAD_AT(SCALE ".autoScale.initialNodeCount", "is 1; it must be 0 or from 2")},
        {SCALE,
         "{'autoScale': {'minimumNodeCount': 0, 'maximumNodeCount': 3, 'initialNodeCount': 4}}",
         BAD_AT(SCALE ".autoScale.initialNodeCount", "is 4")},
        {SCALE, "{'autoScale': {'maximumNodeCount': 3}}",
         MISSING_AT(SCALE ".autoScale.minimumNodeCount", "is missing")},
    };
    CHECK_CASES(&schema_cluster, BASE_CLUSTER, cases);
}

TEST(accounts)
{
    static const struct accept_case cases[] = {
        {USER, NULL, MISSING},
        {USER, "{'adminUserName': 'a'}", MISSING_AT(USER, "gives no way to log in")},
        {USER, "{'adminUserName': 'a', 'adminUserPassword': ''}",
         MISSING_AT(USER, "gives no way to log in")},
        {USER, "{'adminUserName': 'a', 'adminUserSshPublicKey': 'ssh-rsa AAAA x\\n'}", OK},
        {USER, "{'adminUserName': 'a', 'adminUserSshPublicKey': 'ssh-rsa A\\nssh-rsa B'}",
         BAD_AT(USER ".adminUserSshPublicKey", "one SSH public key on one line")},
        {USER ".adminUserName", NULL, MISSING},
        {USER ".adminUserName", "'root'", BAD("is \"root\"; it must be another name")},
        {USER ".adminUserName", "'Admin'", BAD("is \"Admin\"")},
        {USER ".adminUserName", "'9a'", BAD("must be a Linux user name")},
        {USER ".adminUserName", "'a b'", BAD("must be a Linux user name")},
        {USER ".adminUserName", "'a:b'", BAD("must be a Linux user name")},
        {USER ".adminUserName", "'admin_user_name'", OK},
        {USER ".adminUserName", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
         BAD("must be a string of 1 to 32")},
    };
    CHECK_CASES(&schema_cluster, BASE_CLUSTER, cases);
}

TEST(setup_tasks)
{
#define TASK P "nodeSetup.setupTask"
    static const struct accept_case cases[] = {
        {P "nodeSetup", "{}", OK},
        {TASK, "{}", MISSING_AT(TASK ".commandLine", "is missing")},
        {TASK, "{'commandLine': 'x'}", MISSING_AT(TASK ".stdOutErrPathPrefix", "is missing")},
        {TASK,
         "{'commandLine': 'x', 'stdOutErrPathPrefix': 'p', 'environmentVariables': [{'name': 'A',"
         " 'value': ''}], 'secrets': [{'name': 'A', 'value': ''}]}",
         BAD_AT(TASK ".secrets[0].name", "was used before")},
        {TASK, "{'commandLine': 'x', 'stdOutErrPathPrefix': '$R/s/../x'}",
         BAD_AT(TASK ".stdOutErrPathPrefix", "is \"$R/s/../x\"; it must be a path without")},
        {P "nodeSetup.performanceCountersSettings", "{}",
         MISSING_AT(P "nodeSetup.performanceCountersSettings.appInsightsReference", "is missing")},
        {P "nodeSetup.performanceCountersSettings.appInsightsReference",
         "{'component': {'id': 'c'}, 'instrumentationKey': 'k'}", OK},
    };
    CHECK_CASES(&schema_cluster, BASE_CLUSTER, cases);
}

static json_t *cluster_with_mounts(void)
{
    json_t *base = doc_parse(BASE_CLUSTER);
    json_t *share = doc_parse(BASE_SHARE);
    doc_set(base, P "nodeSetup.mountVolumes.azureFileShares", "[]");
    json_array_append_new(doc_get(base, P "nodeSetup.mountVolumes.azureFileShares"), share);
    return base;
}

TEST(mounts)
{
#define VOL   P "nodeSetup.mountVolumes"
#define SHARE VOL ".azureFileShares[0]"
    static const struct accept_case cases[] = {
        {SHARE ".credentials", NULL, MISSING},
        {SHARE ".credentials", "{}", OK},
        {SHARE ".credentials", "{'accountKey': ''}", OK},
        {SHARE ".credentials.accountKeySecretReference",
         "{'sourceVault': {'id': 'v'}, 'secretUrl': 'https://v/s'}",
         BAD_AT(SHARE ".credentials", "has both accountKey and accountKeySecretReference")},
        {SHARE ".accountName", "'other'",
         BAD_AT(SHARE ".azureFileUrl", "must be the same account")},
        {SHARE ".accountName", "'../a'", BAD("is \"../a\"")},
        {SHARE ".azureFileUrl", NULL, MISSING},
        {SHARE ".azureFileUrl", "'https://acct.file.core.windows.net/share/'", OK},
        {SHARE ".azureFileUrl", "'http://acct.file.localhost:8443/share'", OK},
        {SHARE ".azureFileUrl", "'https://127.0.0.1:8443/files/acct/share'", OK},
        {SHARE ".azureFileUrl", "'https://acct.file.core.windows.net/'",
         BAD("URL of a file share")},
        {SHARE ".azureFileUrl", "'https://acct.file.core.windows.net/..'",
         BAD("URL of a file share")},
        {SHARE ".azureFileUrl", "'//acct.file.core.windows.net/share'", BAD("URL of a file share")},
        {SHARE ".azureFileUrl", "'https://acct.blob.core.windows.net/share'",
         BAD("URL of a file share")},
        {SHARE ".relativeMountPath", NULL, MISSING},
        {SHARE ".relativeMountPath", "''", BAD("is \"\"")},
        {SHARE ".relativeMountPath", "'.'", BAD("below the mount root")},
        {SHARE ".relativeMountPath", "'/'", BAD("is \"/\"")},
        {SHARE ".relativeMountPath", "'/a'", BAD("is \"/a\"")},
        {SHARE ".relativeMountPath", "'a/../b'", BAD("without \"..\"")},
        {SHARE ".relativeMountPath", "'..'", BAD("without \"..\"")},
        {SHARE ".relativeMountPath", "'a//b'", BAD("empty components")},
        {SHARE ".relativeMountPath", "'a/b/'", OK},
        {SHARE ".fileMode", "'0755'", OK},
        {SHARE ".fileMode", "'rwx'", BAD("octal file mode")},
        {SHARE ".directoryMode", "'0788'", BAD("octal file mode")},
        {SHARE ".directoryMode", "777", BAD("is 777; it must be a string")},
        {VOL ".azureBlobFileSystems",
         "[{'accountName': 'a', 'containerName': '$root', 'credentials': {}, 'relativeMountPath':"
         " 'share'}]",
         BAD_AT(VOL ".azureBlobFileSystems[0].relativeMountPath", "was used before")},
        {VOL ".azureBlobFileSystems",
         "[{'accountName': 'a', 'containerName': '..', 'credentials': {}, 'relativeMountPath':"
         " 'b'}]",
         BAD_AT(VOL ".azureBlobFileSystems[0].containerName", "is \"..\"")},
        {VOL ".fileServers", "[{'fileServer': {'id': 'f'}, 'relativeMountPath': 'n'}]",
         BAD_AT(VOL ".fileServers[0].fileServer.id", "fileServers/NAME")},
        {VOL ".fileServers",
         "[{'fileServer': {'id': '/subscriptions/s/fileservers/f'}, 'relativeMountPath': 'n'}]",
         OK},
        {VOL ".unmanagedFileSystems", "[{'relativeMountPath': 'n'}]",
         MISSING_AT(VOL ".unmanagedFileSystems[0].mountCommand", "is missing")},
    };
    json_auto_t *base = cluster_with_mounts();
    FREED char *text = json_dumps(base, 0);
    CHECK_CASES(&schema_cluster, text, cases);
}

TEST(updates)
{
    static const struct accept_case cases[] = {
        {"tags", "{}", OK},
        {"properties", NULL, OK},
        {"properties", "{}", OK},
        {"properties", "1", BAD("is an integer")},
        {SCALE, "{}", MISSING_AT(SCALE, "has neither")},
        {SCALE ".manual.targetNodeCount", "1.5", BAD("is 1.5")},
    };
    CHECK_CASES(&schema_cluster_update, "{}", cases);
}

TEST(partial_bodies)
{
    json_t *body =
        doc_parse("{'properties': {'scaleSettings': {'manual': {'targetNodeCount': 3}}}}");
    json_t *doc, *secrets;
    struct err e = {0};
    assert_int_equal(schema_accept_partial(&schema_cluster, V_2018_05_01, body, &doc, &secrets, &e),
                     0);
    doc_assert_text(doc, "{'properties': {'scaleSettings': {'manual': {'targetNodeCount': 3,"
                         " 'nodeDeallocationOption': 'requeue'}}}}");
    json_decref(doc);
    doc_set(body, SCALE ".manual", "{}");
    assert_int_equal(schema_accept_partial(&schema_cluster, V_2018_05_01, body, &doc, &secrets, &e),
                     -1);
    assert_string_equal(e.target, SCALE ".manual.targetNodeCount");
    json_decref(body);
}

TEST(file_servers)
{
#define DISKS P "dataDisks"
    static const char base[] =
        "{'properties': {'vmSize': 'a', 'sshConfiguration': {'userAccountSettings': {"
        "'adminUserName': 'a', 'adminUserPassword': 'x'}}, 'dataDisks': {'diskSizeInGB': 10,"
        " 'diskCount': 2, 'storageAccountType': 'Standard_LRS'}}}";
    static const struct accept_case cases[] = {
        {"location", "'eastus'", OK},
        {P "sshConfiguration", NULL, MISSING},
        {P "sshConfiguration.publicIPsToAllow", "['1.2.3.4']", OK},
        {P "sshConfiguration.publicIPsToAllow", "[5]",
         BAD_AT(P "sshConfiguration.publicIPsToAllow[0]", "is 5")},
        {DISKS, NULL, MISSING},
        {DISKS ".diskCount", "0", BAD("from 1 to 64")},
        {DISKS ".diskSizeInGB", "4096", BAD("from 1 to 4095")},
        {DISKS ".cachingType", "'ReadOnly'", OK},
        {DISKS ".cachingType", "'write'", BAD("must be none, readonly or readwrite")},
        {DISKS ".storageAccountType", "'premium_lrs'", OK},
        {DISKS ".storageAccountType", "'UltraSSD'", BAD("Standard_LRS or Premium_LRS")},
    };
    CHECK_CASES(&schema_file_server, base, cases);
}

TEST(workspaces)
{
    struct strbuf many = STRBUF_INIT;
    for (int i = 0; i < 51; i++)
        strbuf_printf(&many, "%s't%d': ''", i ? ", " : "{", i);
    strbuf_putc(&many, '}');
    const struct accept_case cases[] = {
        {"location", NULL, MISSING},
        {"location", "''", BAD("is \"\"")},
        {"tags", "{}", OK},
        {"tags", "{'a': 'b', 'c': null}", OK},
        {"tags", "{'': 'b'}", BAD("names must have 1 to 512")},
        {"tags", "[]", BAD("an object whose values are strings")},
        {"tags", many.s, BAD("has 51 items; at most 50")},
        {"location", "'East US 2'", OK},
        {"location", "'north_europe-1.x'", OK},
        {"location", "'east/us'", BAD("is \"east/us\"; it must be the name of a region")},
        {"location", "'east?us'", BAD("name of a region")},
        {"location", "'\u00e9st'", BAD("name of a region")},
    };
    CHECK_CASES(&schema_workspace, "{'location': 'eastus'}", cases);
    strbuf_free(&many);
    const struct accept_case anything = {"x", "1", OK};
    check_case(&schema_experiment, "{}", &anything);
    check_case(&schema_workspace_update, "{}", &anything);
}
