/* SPDX-License-Identifier: MIT
 *
 * Commands of the guides of 2017 and 2018, and what they are today. The daemon here has the groups
 * "g" (with the workspace of old forms and its experiment), "new" (with nothing) and "own" (with a
 * workspace of its own).
 */
#include <unistd.h>

#include "daemon/cli/az_old.h"
#include "lib/fs.h"
#include "test/unit/support/tests.h"

#define PROVIDER "/providers/Microsoft.BatchAI"
#define REST     "az rest --method "
#define SCOPE    "--url '/subscriptions/{subscriptionId}"
#define SECOND   "0b1ec7ff-0000-4000-8000-000000000002"

static int look(void *ctx, const char *path, long *status, json_t **out, struct err *e)
{
    (void)ctx, (void)e;
    bool own = strstr(path, "/resourceGroups/own/");
    bool old = strstr(path, "/subscriptions/sub/resourceGroups/g/");
    *out = NULL;
    *status = 200;
    if (strstr(path, "/servicePrincipals"))
        *out = json_pack("{s:[{s:s}]}", "value", "id", "0b1ec7ff-0000-4000-8000-000000000001");
    else if (strstr(path, "/subscriptions?"))
        *out = json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]}", "value", "subscriptionId",
                         SECOND, "displayName", "Second", "subscriptionId", "x", "displayName",
                         "twin", "subscriptionId", "y", "displayName", "twin");
    else if (strstr(path, "/resourceGroups/nope") || strstr(path, "/clusters/gone?"))
        *status = 404;
    else if (strstr(path, "/experiments/"))
        *status = old ? 200 : 404;
    else if (strstr(path, "/workspaces?"))
        *out = own   ? json_pack("{s:[{s:s}]}", "value", "name", "lab")
               : old ? json_pack("{s:[{s:s}]}", "value", "name", "migrated")
                     : json_pack("{s:[]}", "value");
    else
        *out = json_pack("{s:s}", "location", "westus");
    if (*status == 200 && !*out)
        *out = json_object();
    return 0;
}

static const struct az_daemon daemon_here = {.look = look};

struct result {
    struct arena arena;
    struct az_change change;
    bool old;
    int rc;
    struct err e;
    struct strbuf lines; /* what people see, without passwords */
};

static struct az_facts facts(void)
{
    return (struct az_facts){.subscription = "sub",
                             .vault_suffix = ".vault.localhost:7443",
                             .debian = true,
                             .daemon = &daemon_here};
}

static void change_with(struct result *r, struct az_facts f, const char *typed)
{
    memset(r, 0, sizeof *r);
    arena_init(&r->arena);
    char *args[64], *rest, *text = arena_strdup(&r->arena, typed);
    size_t n = 0;
    for (char *s = strtok_r(text, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        args[n++] = strcmp(s, "''") == 0 ? (char *)"" : s;
    struct az_facts *kept = arena_alloc(&r->arena, sizeof *kept);
    *kept = f;
    r->rc = az_old_change(kept, &r->arena, args, n, &r->change, &r->old, &r->e);
    if (r->rc < 0)
        return;
    for (size_t i = 0; i < r->change.n_made; i++) {
        az_line_show(&r->change.made[i].line, &r->lines);
        strbuf_puts(&r->lines, "; ");
    }
    struct az_line line = r->change.line;
    if (r->change.request.method)
        line = az_request_line(&r->change.request, &line, "sub", false);
    az_line_show(&line, &r->lines);
}

static void end(struct result *r)
{
    az_old_free(&r->change);
    strbuf_free(&r->lines);
    arena_free(&r->arena);
}

static void is_today(const char *typed, const char *today)
{
    struct result r;
    change_with(&r, facts(), typed);
    if (r.rc < 0)
        fail_msg("%s: %s", typed, r.e.msg);
    assert_string_equal(r.lines.s, today);
    assert_true(r.old);
    end(&r);
}

static void is_unchanged(const char *typed)
{
    struct result r;
    char line[512];
    change_with(&r, facts(), typed);
    if (r.rc < 0)
        fail_msg("%s: %s", typed, r.e.msg);
    snprintf(line, sizeof line, "az %s", typed);
    assert_string_equal(r.lines.s, line);
    assert_false(r.old);
    end(&r);
}

static void is_refused(const char *typed, const char *part)
{
    struct result r;
    change_with(&r, facts(), typed);
    assert_int_equal(r.rc, -1);
    if (!strstr(r.e.msg, part))
        fail_msg("%s: '%s' is not in '%s'", typed, part, r.e.msg);
    end(&r);
}

/* --- commands --------------------------------------------------------------------------------- */

TEST(test_renamed_commands_and_options)
{
    static const char *const pairs[][2] = {
        {"batchai cluster list-nodes -n c -g g",
         "az batchai cluster node list -c c -g g -w migrated"},
        {"batchai cluster list-nodes --name c -g g -o table",
         "az batchai cluster node list -c c -g g -o table -w migrated"},
        {"batchai cluster show -n c -g g", "az batchai cluster show -n c -g g -w migrated"},
        {"batchai cluster resize -n c -g g -t 0",
         "az batchai cluster resize -n c -g g -t 0 -w migrated"},
        {"batchai cluster delete -n c -g g -y",
         "az batchai cluster delete -n c -g g -y -w migrated"},
        {"batchai cluster list -o table -g g", "az batchai cluster list -o table -g g -w migrated"},
        {"batchai job list-files -n j -g g -d stdouterr",
         "az batchai job file list -j j -g g -d stdouterr -w migrated -e migrated"},
        {"batchai job stream-file -j j -n stdout.txt -d stdouterr -g g",
         "az batchai job file stream -j j -f stdout.txt -d stdouterr -g g -w migrated -e migrated"},
        {"batchai job stream-file --job-name j --name=stdout.txt -gg",
         "az batchai job file stream -j j -f stdout.txt -g g -w migrated -e migrated"},
        {"batchai job list-nodes -n j -g g",
         "az batchai job node list -j j -g g -w migrated -e migrated"},
        {"batchai job terminate -n j -g g -y",
         "az batchai job terminate -n j -g g -y -w migrated -e migrated"},
        {"batchai job list -g g", "az batchai job list -g g -w migrated -e migrated"},
        {"login", "az account list"},
        {"batch ai job show -n j -g g", "az batchai job show -n j -g g -w migrated -e migrated"},
        {"batchai cluster list-nodes -h", "az batchai cluster node list -h"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        is_today(pairs[i][0], pairs[i][1]);
}

TEST(test_commands_of_today_stay)
{
    static const char *const lines[] = {
        "batchai cluster list -g g -w ws",
        "batchai workspace create -g g -n ws",
        "batchai cluster show --ids /subscriptions/x",
        "batchai cluster create -h",
        "group list",
        "login -u somebody -p ...",
        "role assignment list",
        "batch pool list",
        "keyvault secret show --vault-name v -n s",
        "--version",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        is_unchanged(lines[i]);
}

/* az takes a word that begins with a dash for an option. */
TEST(test_a_value_may_begin_with_a_dash)
{
    static const char *const wanted[] = {"az", "x", "-n=-c", "--value=-Xy", "-f", "-", "-t", ""};
    char *typed[] = {"x", "-n=-c", "--value=-Xy", "-f", "-", "-t="};
    struct arena a;
    struct az_line line;
    arena_init(&a);
    az_line_read(&a, typed, sizeof typed / sizeof typed[0], &line);
    const char **args = az_line_args(&line);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_string_equal(args[i], wanted[i]);
    arena_free(&a);
    is_today("batchai cluster create -g g -n=-c -s S -t 1 --password=-Xy12",
             "az batchai cluster create -g g -n=-c -s S -t 1 --password=... -w migrated");
}

TEST(test_a_place_is_made_where_it_is_missing)
{
    is_today("batchai cluster create -l eastus -g new -n c -s S --min 1 --max 1 -u u -p secret",
             "az batchai workspace create -g new -n migrated -l eastus; "
             "az batchai cluster create -g new -n c -s S --min 1 --max 1 -u u -p ... -w migrated");
    is_today("batchai cluster create -g new -n c -s S -t 1",
             "az batchai workspace create -g new -n migrated -l westus; "
             "az batchai cluster create -g new -n c -s S -t 1 -w migrated");
    is_today("batchai cluster create -l eastus -g g -n c -s S -t 1 --container-name box "
             "--container-mount-path data",
             "az batchai cluster create -g g -n c -s S -t 1 --bfs-name box --bfs-mount-path data "
             "-w migrated");
}

TEST(test_the_group_may_be_a_default)
{
    struct az_facts f = facts();
    struct result r;
    f.group = "g";
    change_with(&r, f, "batchai cluster list-nodes -n c");
    assert_string_equal(r.lines.s, "az batchai cluster node list -c c -w migrated");
    end(&r);
    f.group = "new";
    f.location = "northeurope";
    change_with(&r, f, "cluster create -n c -s S -t 1");
    assert_string_equal(r.lines.s, "az batchai workspace create -g new -n migrated -l northeurope; "
                                   "az batchai cluster create -n c -s S -t 1 -w migrated");
    end(&r);
}

TEST(test_what_az_cannot_becomes_a_request)
{
    is_today("batchai cluster list -o table -g ''",
             REST "GET " SCOPE PROVIDER "/clusters?api-version=2018-03-01' -o table");
    is_today("batchai job list -g new",
             REST "GET " SCOPE "/resourceGroups/new" PROVIDER "/jobs?api-version=2018-03-01'");
    is_today("batchai cluster auto-scale -n c -g g --min 0 --max 10",
             REST "PATCH " SCOPE "/resourceGroups/g" PROVIDER "/clusters/c?api-version=2018-03-01' "
                  "--body '{\"properties\":{\"scaleSettings\":{\"autoScale\":"
                  "{\"minimumNodeCount\":0,\"maximumNodeCount\":10}}}}'");
    is_today("batchai file-server show -n nfs -g g", REST
             "GET " SCOPE "/resourceGroups/g" PROVIDER "/fileServers/nfs?api-version=2018-03-01'");
    is_today("batchai file-server delete -n nfs -g g -y",
             REST "DELETE " SCOPE "/resourceGroups/g" PROVIDER
                  "/fileServers/nfs?api-version=2018-03-01'");
    is_today("keyvault secret set --vault-name v --name s --value x",
             REST "PUT --url 'https://v.vault.localhost:7443/secrets/s?api-version=7.4' "
                  "--resource https://vault.azure.net --body '{\"value\":\"x\"}'");
}

TEST(test_names_are_escaped_in_requests)
{
    is_today("batchai file-server show -n a?b%2F/c -g g#h",
             REST "GET " SCOPE "/resourceGroups/g%23h" PROVIDER
                  "/fileServers/a%3Fb%252F%2Fc?api-version=2018-03-01'");
    is_today("batchai job list -g a%b",
             REST "GET " SCOPE "/resourceGroups/a%25b" PROVIDER "/jobs?api-version=2018-03-01'");
    is_today("keyvault secret set --vault-name v --name a#b --value x",
             REST "PUT --url 'https://v.vault.localhost:7443/secrets/a%23b?api-version=7.4' "
                  "--resource https://vault.azure.net --body '{\"value\":\"x\"}'");
    struct result r;
    change_with(&r, facts(),
                "role assignment create --role Owner --assignee " SECOND " --scope /a?b/c");
    assert_non_null(strstr(r.change.request.path, "/a%3Fb/c/providers/"));
    end(&r);
}

/* The group "g" of the other subscription has no workspace. */
TEST(test_the_subscription_may_be_an_option)
{
    is_today("batchai file-server delete -g g -n nfs --subscription second -y",
             REST "DELETE --url '/subscriptions/" SECOND "/resourceGroups/g" PROVIDER
                  "/fileServers/nfs?api-version=2018-03-01'");
    is_today("batchai cluster create -g g -n c -s S -t 1 --subscription " SECOND,
             "az batchai workspace create --subscription " SECOND " -g g -n migrated -l westus; "
             "az batchai cluster create -g g -n c -s S -t 1 --subscription " SECOND " -w migrated");
    struct result r;
    change_with(&r, facts(),
                "role assignment create --role Owner --assignee " SECOND " --subscription " SECOND);
    assert_non_null(strstr(r.change.request.path, "/subscriptions/" SECOND "/providers/"));
    end(&r);
    is_refused("batchai cluster list -g g --subscription", "use: --subscription SUBSCRIPTION");
    is_refused("batchai cluster list -g g --subscription nobody", "'nobody' is not a subscription");
    is_refused("batchai cluster list -g g --subscription twin", "several subscriptions");
}

TEST(test_a_file_server_is_made_by_a_request)
{
    struct result r;
    change_with(&r, facts(),
                "batchai file-server create -l eastus -g g -n nfs --disk-count 2 --disk-size 10 "
                "-s Standard_D1 -u demo -p secret");
    assert_int_equal(r.rc, 0);
    json_t *wanted =
        json_pack("{s:s, s:{s:s, s:{s:s, s:i, s:i}, s:{s:{s:s, s:s}}}}", "location", "eastus",
                  "properties", "vmSize", "Standard_D1", "dataDisks", "storageAccountType",
                  "Premium_LRS", "diskCount", 2, "diskSizeInGB", 10, "sshConfiguration",
                  "userAccountSettings", "adminUserName", "demo", "adminUserPassword", "secret");
    assert_true(json_equal(r.change.request.body, wanted));
    assert_true(r.change.request.waits);
    json_decref(wanted);
    end(&r);
}

TEST(test_roles_are_assigned_by_a_request_where_az_cannot)
{
    struct result r;
    struct az_facts f = facts();
    const char *line = "role assignment create --scope /subscriptions/sub --role Reader "
                       "--assignee 9fcb3732-5f52-4135-8c08-9d4bbaf203ea -g ''";
    change_with(&r, f, line);
    assert_int_equal(r.rc, 0);
    const char *role = "", *principal = "";
    assert_int_equal(json_unpack(r.change.request.body, "{s:{s:s, s:s}}", "properties",
                                 "roleDefinitionId", &role, "principalId", &principal),
                     0);
    assert_non_null(strstr(role, "/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"));
    assert_string_equal(principal, "0b1ec7ff-0000-4000-8000-000000000001");
    end(&r);
    f.debian = false; /* it has the command, but takes no empty group */
    change_with(&r, f, line);
    assert_string_equal(r.lines.s,
                        "az role assignment create --scope /subscriptions/sub --role Reader "
                        "--assignee 9fcb3732-5f52-4135-8c08-9d4bbaf203ea");
    end(&r);
}

static void has_body(const char *typed, const char *path, json_t *wanted)
{
    struct result r;
    change_with(&r, facts(), typed);
    if (r.rc < 0)
        fail_msg("%s: %s", typed, r.e.msg);
    const json_t *at = json_object_get(r.change.request.body, "properties");
    json_t *got = json_copy((json_t *)(uintptr_t)(at ? at : r.change.request.body));
    json_object_del(got, "roleDefinitionId");
    json_object_del(got, "principalId");
    assert_true(json_equal(got, wanted));
    assert_non_null(strstr(r.change.request.path, path));
    json_decref(got);
    json_decref(wanted);
    end(&r);
}

TEST(test_requests_have_all_options)
{
    has_body("role assignment create --role Reader --assignee " SECOND
             " --condition true --description why -n " SECOND " --assignee-principal-type User",
             "/roleAssignments/" SECOND "?",
             json_pack("{s:s, s:s, s:s, s:s}", "condition", "true", "conditionVersion", "2.0",
                       "description", "why", "principalType", "User"));
    has_body("keyvault secret set --vault-name v -n s --value x --disabled --tags a=b c= d "
             "--not-before 1970-01-01T00:00:01Z --expires 2030-01-01T00:00:00Z --content-type text",
             "/secrets/s?",
             json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:b, s:i, s:i}}", "value", "x",
                       "contentType", "text", "tags", "a", "b", "c", "", "d", "", "attributes",
                       "enabled", 0, "nbf", 1, "exp", 1893456000));
    has_body("keyvault secret set --vault-name v -n s --value x --disabled false --tags ''",
             "/secrets/s?",
             json_pack("{s:s, s:{}, s:{s:b}}", "value", "x", "tags", "attributes", "enabled", 1));
}

/* --- files ------------------------------------------------------------------------------------ */

static char file[64];

static void write_file(const char *text)
{
    struct err e;
    snprintf(file, sizeof file, "/tmp/batchaid-az-%d.json", getpid());
    if (fs_write_whole(file, text, strlen(text), 0600, false, &e) < 0)
        fail_msg("%s", e.msg);
}

/* The command, and the file at its end. */
static const char *with_file(const char *command)
{
    static char line[512];
    snprintf(line, sizeof line, "%s %s", command, file);
    return line;
}

TEST(test_a_job_of_a_file)
{
    char wanted[512];
    write_file("{\"properties\": {\"nodeCount\": 1}}");
    snprintf(wanted, sizeof wanted,
             "az batchai job create -n j -g g -f %s -c c -w migrated -e migrated", file);
    is_today(with_file("batch ai job create -l eastus -n j -g g -r c -c"), wanted);
    snprintf(
        wanted, sizeof wanted,
        "az batchai job create -n j -g g -f %s -c /subscriptions/sub/resourceGroups/other" PROVIDER
        "/workspaces/migrated/clusters/c -w migrated -e migrated",
        file);
    is_today(with_file("batchai job create -n j -g g -r c --cluster-resource-group other -c"),
             wanted);
    write_file("{\"properties\": {\"nodeCount\": 1, \"cluster\": {\"id\": "
               "\"/subscriptions/sub/resourceGroups/other" PROVIDER "/clusters/c\"}}}");
    is_today(with_file("batchai job create -n j -g g -c"), wanted);
    unlink(file);
}

TEST(test_a_job_without_its_cluster_makes_no_place)
{
    write_file("{\"properties\": {\"nodeCount\": 1}}");
    is_refused(with_file("batchai job create -n j -g new -r gone -c"),
               "/resourceGroups/new" PROVIDER "/workspaces/migrated/clusters/gone' does not exist");
    unlink(file);
}

TEST(test_a_job_with_properties_of_an_old_version_is_sent_there)
{
    struct result r;
    write_file("{\"$schema\": \"x\", \"properties\": {\"nodeCount\": 1, \"priority\": 5}}");
    change_with(&r, facts(), with_file("batchai job create -l eastus -n j -g g -r c -c"));
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.change.request.path, "/subscriptions/sub/resourceGroups/g" PROVIDER
                                               "/jobs/j?api-version=2018-03-01");
    assert_non_null(
        strstr(r.change.notes.s, ":1:49: the present version of az does not know priority"));
    assert_null(json_object_get(r.change.request.body, "$schema"));
    end(&r);
    is_refused(with_file("batchai job create -l eastus -n j -g g -r c --afs-name data -c"),
               "--afs-name cannot be combined with properties that only 2018-03-01 has");
    unlink(file);
}

TEST(test_file_servers_are_mounted_by_the_file)
{
    struct result r;
    const char *id = "", *path = "";
    change_with(&r, facts(),
                "batchai cluster create -g g -n c -s S -t 1 --nfs n --nfs-resource-group h "
                "--nfs-mount-path p");
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.lines.s, "az batchai cluster create -g g -n c -s S -t 1 -w migrated");
    assert_true(r.change.file.changed);
    assert_int_equal(json_unpack(r.change.file.tree, "{s:{s:{s:{s:[{s:{s:s}, s:s}]}}}}",
                                 "properties", "nodeSetup", "mountVolumes", "fileServers",
                                 "fileServer", "id", &id, "relativeMountPath", &path),
                     0);
    assert_string_equal(id, "/subscriptions/sub/resourceGroups/h" PROVIDER
                            "/workspaces/migrated/fileServers/n");
    assert_string_equal(path, "p");
    end(&r);
}

TEST(test_a_cluster_without_nodes_has_its_size_in_the_file)
{
    struct result r;
    int nodes = -1;
    change_with(&r, facts(), "batchai cluster create -g g -n c -s S --min 0 --max 0");
    assert_string_equal(r.lines.s, "az batchai cluster create -g g -n c -s S -w migrated");
    json_unpack(r.change.file.tree, "{s:{s:{s:{s:i}}}}", "properties", "scaleSettings", "manual",
                "targetNodeCount", &nodes);
    assert_int_equal(nodes, 0);
    end(&r);
}

TEST(test_members_beside_properties_are_moved)
{
    struct result r;
    write_file("{\n  \"vmPriority\": \"lowpriority\"\n}\n");
    change_with(&r, facts(), with_file("batchai cluster create -g g -n c -s S -t 1 -c"));
    assert_int_equal(r.rc, 0);
    const char *priority = "";
    json_unpack(r.change.file.tree, "{s:{s:s}}", "properties", "vmPriority", &priority);
    assert_string_equal(priority, "lowpriority");
    assert_non_null(strstr(r.change.notes.s, ":2:3: \"vmPriority\" belongs into \"properties\""));
    end(&r);
    unlink(file);
}

TEST(test_a_file_that_can_be_read_only_once_is_known)
{
    static const char text[] = "{\"properties\": {\"nodeCount\": 1}}";
    struct result r;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fs_write_all(ends[1], text, strlen(text)), 0);
    close(ends[1]);
    snprintf(file, sizeof file, "/dev/fd/%d", ends[0]);
    change_with(&r, facts(), with_file("batchai job create -g g -w ws -e e -n j -c c -f"));
    assert_int_equal(r.rc, 0);
    assert_true(r.change.file.once);
    assert_string_equal(r.change.file.text, text);
    end(&r);
    close(ends[0]);
    write_file(text);
    change_with(&r, facts(), with_file("batchai job create -g g -w ws -e e -n j -c c -f"));
    assert_false(r.change.file.once);
    end(&r);
    unlink(file);
}

TEST(test_mistakes_in_files_are_told_with_their_place)
{
    static const char *const cases[][2] = {
        {"vmSize: 3", ":1:6: '[' or '{' expected near 'vmSize'; the file must be JSON"},
        {"[1]", ":1:1: it is a list; the file must be an object"},
        {"{\"properties\": {\n  \"vmSize\": \"A\",\n  \"vmSize\": \"B\"}}",
         ":3:10: duplicate object key"},
        {"{\"properties\": {\n  \"vmSise\": \"A\"}}",
         ":2:3: vmSise is not a property of ClusterProperties (did you mean vmSize?)"},
        {"{\"properties\": {\"nodeSetup\": {\n\"setupTask\": {\"commandLine\": \"x\", \"zzz\": "
         "1}}}}",
         ":2:35: zzz is not a property of SetupTask, which has: commandLine,"},
        {"{\"properties\": {\n\"vmSize\": 7}}",
         ":2:1: properties.vmSize is 7; it must be a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(cases[i][0]);
        is_refused(with_file("batchai cluster create -g g -n c -s S -t 1 -c"), cases[i][1]);
        is_refused(with_file("batchai cluster create -g g -w ws -n c -f"),
                   cases[i][1]); /* today's */
    }
    unlink(file);
}

TEST(test_what_az_fills_in_may_be_missing_in_a_file)
{
    write_file(
        "{\"properties\": {\"userAccountSettings\": {\"adminUserPassword\": \"x\"}, \"nodeSetup\": "
        "{\"mountVolumes\": {\"azureFileShares\": [{\"azureFileUrl\": "
        "\"https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/data\", "
        "\"relativeMountPath\": \"afs\"}]}}}}");
    struct result r;
    change_with(&r, facts(), with_file("batchai cluster create -g g -n c -s S -t 1 -c"));
    if (r.rc < 0)
        fail_msg("%s", r.e.msg);
    assert_false(r.change.file.changed);
    end(&r);
    write_file("{\"properties\": {\"nodeSetup\": {\"mountVolumes\": {\"azureFileShares\": "
               "[{\"azureFileUrl\": \"https://ada.file.core.windows.net/data\", "
               "\"relativeMountPath\": \"afs\"}]}}}}");
    change_with(&r, facts(), with_file("batchai cluster create -g g -n c -s S -t 1 -c"));
    if (r.rc < 0)
        fail_msg("%s", r.e.msg);
    end(&r);
    unlink(file);
}

/* --- mistakes --------------------------------------------------------------------------------- */

TEST(test_incomplete_commands_are_refused_with_the_right_form)
{
    static const char *const cases[][2] = {
        {"batchai cluster list-nodes -g g", "lacks -n CLUSTER; use: az batchai cluster list-nodes "
                                            "-g GROUP -n CLUSTER; today: az batchai "
                                            "cluster node list -g GROUP -w WORKSPACE -c CLUSTER"},
        {"batchai job stream-file -g g", "lacks -j JOB, -n FILE; use"},
        {"batchai job stream-file -g g -j -n f", "-j has no value; use: -j JOB"},
        {"batchai cluster create -g g -n c", "lacks -s VM-SIZE, --min NODES --max NODES"},
        {"batchai cluster create -g g -n c -s S --min 1", "lacks --max NODES"},
        {"batchai cluster create -g g -n c -s S -t 1 --nfs-mount-path p",
         "but not --nfs FILE-SERVER"},
        {"batchai job create -g g -n j", "lacks -c FILE"},
        {"batchai cluster show -n c", "needs a resource group: -g GROUP, or once: az configure"},
        {"batchai cluster show -n c -g ''", "-g has no value"},
        {"batchai cluster show -n c -g nope", "the resource group 'nope' does not exist"},
        {"batchai cluster show -n c -g own", "name one: -w WORKSPACE (its workspaces: lab)"},
        {"batchai cluster list -g own", "name one: -w WORKSPACE (its workspaces: lab)"},
        {"batchai file-server list -g own -o table", "(its workspaces: lab)"},
        {"batchai job list -g own", "name one: -w WORKSPACE -e EXPERIMENT"},
        {"batchai job show -n j -g own", "name one: -w WORKSPACE -e EXPERIMENT"},
        {"batchai cluster show -n c -g new", "has no clusters and jobs yet"},
        {"batchai cluster auto-scale -n c -g g --min 3 --max 1", "--min 3 is more than --max 1"},
        {"batchai cluster auto-scale -n c -g g --min x --max 1", "'x' of --min is not valid"},
        {"batchai cluster auto-scale -n c -g g --min 0 --max 1000001",
         "'1000001' of --max is not valid; it must be a whole number from 0 to 1000000"},
        {"batchai file-server create -n n -g g",
         "lacks -s VM-SIZE, --disk-count NUMBER, --disk-size GB"},
        {"batchai file-server create -n n -g g -s S --disk-count 1 --disk-size 1 -k none",
         "'none' of -k is neither a file nor a public key"},
        {"role assignment create --role Reader --assignee " SECOND " --can-delegate",
         "does not take --can-delegate here, because batchaid carries out"},
        {"role assignment create --role Reader --assignee " SECOND " --scope ''",
         "--scope has no value"},
        {"keyvault secret set --vault-name v -n s --value x --expires soon",
         "'soon' of --expires is not valid"},
        {"keyvault secret set --vault-name v -n s --value x --disabled maybe",
         "'maybe' of --disabled is not valid"},
        {"role assignment create --role Nobody --assignee x", "'Nobody' is not a role"},
        {"role assignment create --role Reader --assignee x", "'x' is not a valid --assignee"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is_refused(cases[i][0], cases[i][1]);
}
