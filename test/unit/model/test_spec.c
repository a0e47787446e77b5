/* SPDX-License-Identifier: MIT
 *
 * Documents decoded for the scheduler; durations, share URLs, paths on mounts.
 */
#include "model/schema.h"
#include "model/spec.h"
#include "test/unit/model/doc.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/words.h"

#define DAY_US  (24LL * 3600 * 1000000)
#define HOUR_US (3600LL * 1000000)

TEST(durations)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } cases[] = {
        {"P7D", 7 * DAY_US},
        {"P1DT2H3M4S", DAY_US + 2 * HOUR_US + 184 * 1000000LL},
        {"PT0.5S", 500000},
        {"PT0,25S", 250000},
        {"PT1.000001S", 1000001},
        {"P2W", 14 * DAY_US},
        {"PT90M", 90 * 60 * 1000000LL},
        {"PT36H", 36 * HOUR_US},
        {"P0D", 0},
        {"PT0S", 0},
        {"P1D", DAY_US},
        /* A deadline must not overflow: what is longer than a century is a century. */
        {"P36500D", 36500 * DAY_US},
        {"P36501D", 36500 * DAY_US},
        {"P106751990D", 36500 * DAY_US},
        {"", -1},
        {"P", -1},
        {"PT", -1},
        {"P1DT", -1},
        {"1D", -1},
        {"p7d", -1},
        {"P1M", -1},
        {"P1Y", -1},
        {"P1Y2D", -1},
        {"PT1D", -1},
        {"P1H", -1},
        {"P1S", -1},
        {"PTT1H", -1},
        {"P1D1D", -1},
        {"PT1M1H", -1},
        {"P1.5D", -1},
        {"PT1.S", -1},
        {"PT.5S", -1},
        {"PT0.1234567S", -1},
        {"P-1D", -1},
        {"-P1D", -1},
        {"P1D ", -1},
        {" P1D", -1},
        {"P1", -1},
        {"PD", -1},
        {"7.00:00:00", -1},
        {"P99999999999999999999D", -1},
        {"P999999999999D", -1},
        {"P106751991DT24H", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = -1;
        int rc = duration_parse(cases[i].text, &us);
        if (rc != (cases[i].us < 0 ? -1 : 0) || (rc == 0 && us != cases[i].us))
            fail_msg("'%s': %d, %lld us", cases[i].text, rc, (long long)us);
    }
}

#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

TEST(names_of_folders)
{
    assert_true(account_name_valid(X63 "x") && share_name_valid(X63));
    assert_false(account_name_valid(X63 "xx") || share_name_valid(X63 "x"));
    assert_true(account_name_valid("A-b_1") && share_name_valid("$root"));
    assert_false(account_name_valid("") || share_name_valid(""));
    assert_false(account_name_valid("a$b"));
    static const char *const neither[] = {".", "..", "a/b", "a.b", "a b", "a\n", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        assert_false(account_name_valid(neither[i]) || share_name_valid(neither[i]));
}

ARENA_TEST(share_urls)
{
    static const struct {
        const char *url, *account, *share; /* account NULL: refused */
    } cases[] = {
        {"https://acct.file.core.windows.net/share", "acct", "share"},
        {"https://acct.file.core.windows.net/share/", "acct", "share"},
        {"HTTPS://acct.FILE.core.windows.net/sh-a_re", "acct", "sh-a_re"},
        {"http://acct.file.localhost:7443/share", "acct", "share"},
        {"https://127.0.0.1:7443/files/acct/share", "acct", "share"},
        {"https://localhost/files/acct/share//", "acct", "share"},
        {"https://a_b.file.core.windows.net/s", "a_b", "s"},
        {"https://acct.file.core.windows.net/" X63, "acct", X63},
        {"https://acct.file.core.windows.net/" X63 "x", NULL, NULL},
        {"https://a$b.file.core.windows.net/s", NULL, NULL},
        {"https://acct.file.core.windows.net", NULL, NULL},
        {"https://acct.file.core.windows.net/", NULL, NULL},
        {"https://acct.file.core.windows.net/a/b", NULL, NULL},
        {"https://acct.file.core.windows.net/..", NULL, NULL},
        {"https://acct.file.core.windows.net/a?sas", NULL, NULL},
        {"https://acct.file.core.windows.net/a#b", NULL, NULL},
        {"https://u@acct.file.core.windows.net/a", NULL, NULL},
        {"https://acct.file./a", NULL, NULL},
        {"https://.file.core.windows.net/a", NULL, NULL},
        {"https://acct.blob.core.windows.net/a", NULL, NULL},
        {"https://127.0.0.1:7443/files/acct", NULL, NULL},
        {"https://127.0.0.1:7443/files/../share", NULL, NULL},
        {"https://127.0.0.1:7443/files//share", NULL, NULL},
        {"https://127.0.0.1:7443/blobs/acct/share", NULL, NULL},
        {"https:///files/acct/share", NULL, NULL},
        {"ftp://acct.file.core.windows.net/a", NULL, NULL},
        {"acct/share", NULL, NULL},
        {"", NULL, NULL},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *account = NULL, *share = NULL;
        int rc = file_share_from_url(a, cases[i].url, &account, &share);
        if (rc != (cases[i].account ? 0 : -1))
            fail_msg("%s: %d", cases[i].url, rc);
        if (rc == 0) {
            assert_string_equal(account, cases[i].account);
            assert_string_equal(share, cases[i].share);
        }
    }
}

ARENA_TEST(names_of_containers_and_their_urls)
{
    static const char *const cases[][2] = {
        {"box", "box"},
        {"https://acct.blob.core.windows.net:443/box", "box"},
        {"http://127.0.0.1/box/", "box"},
        {"https://acct.blob.core.windows.net/box/dir",
         "https://acct.blob.core.windows.net/box/dir"},
        {"https://acct.blob.core.windows.net/", "https://acct.blob.core.windows.net/"},
        {"https:///box", "https:///box"},
        {"a/b", "a/b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(container_from_text(a, cases[i][0]), cases[i][1]);
    assert_null(container_from_text(a, NULL));
}

ARENA_TEST(paths_on_mounts)
{
    static struct mount_volume cluster[] = {
        {.relative_path = "external"},
        {.relative_path = "external/deep/er"},
        {.relative_path = "b"},
    };
    static struct mount_volume job[] = {{.relative_path = "external"}};
    static const struct mount_list on_cluster = {cluster, 3}, on_job = {job, 1};
#define ROOT     "$AZ_BATCHAI_MOUNT_ROOT"
#define JOB_ROOT "$AZ_BATCHAI_JOB_MOUNT_ROOT"
    static const struct {
        const char *path;
        const struct mount_volume *volume;
        const char *rest;
    } cases[] = {
        {ROOT "/external", &cluster[0], ""},
        {ROOT "/external/", &cluster[0], ""},
        {ROOT "//./external/./logs//x/", &cluster[0], "logs/x"},
        {"${AZ_BATCHAI_MOUNT_ROOT}/external/logs", &cluster[0], "logs"},
        {ROOT "/external/deep", &cluster[0], "deep"},
        {ROOT "/external/deep/er", &cluster[1], ""},
        {ROOT "/external/deep/er/x", &cluster[1], "x"},
        {ROOT "/external/deep/erx", &cluster[0], "deep/erx"},
        {ROOT "/b/..x/y", &cluster[2], "..x/y"},
        {JOB_ROOT "/external/x", &job[0], "x"},
        {"${AZ_BATCHAI_JOB_MOUNT_ROOT}/external", &job[0], ""},
        {JOB_ROOT "/b", NULL, NULL},
        {ROOT, NULL, NULL},
        {ROOT "/", NULL, NULL},
        {ROOT "/externals", NULL, NULL},
        {ROOT "external", NULL, NULL},
        {ROOT "X/external", NULL, NULL},
        {"${AZ_BATCHAI_MOUNT_ROOT/external", NULL, NULL},
        {"$AZ_BATCHAI_MOUNT_ROOT}/external", NULL, NULL},
        {ROOT "/external/..", NULL, NULL},
        {ROOT "/external/../b", NULL, NULL},
        {ROOT "/../external", NULL, NULL},
        {"/mnt/external", NULL, NULL},
        {"external", NULL, NULL},
        {"", NULL, NULL},
        {"$", NULL, NULL},
        {"${", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rest = NULL;
        const struct mount_volume *v =
            mount_resolve(a, &batchai_front_words, &on_cluster, &on_job, cases[i].path, &rest);
        if (v != cases[i].volume)
            fail_msg("%s: wrong volume", cases[i].path);
        if (v)
            assert_string_equal(rest, cases[i].rest);
    }
    const char *rest;
    assert_null(mount_resolve(a, &batchai_front_words, NULL, NULL, ROOT "/external", &rest));
}

struct stored {
    char *doc, *secrets;
};

static struct stored store(const struct schema *s, json_t *body)
{
    json_t *doc, *secrets;
    struct err e = {0};
    if (schema_accept(s, V_2018_05_01, body, &doc, &secrets, &e) < 0)
        fail_msg("refused: %s", e.msg);
    struct stored st = {json_dumps(doc, 0), secrets ? json_dumps(secrets, 0) : NULL};
    json_decref(doc);
    json_decref(secrets);
    json_decref(body);
    return st;
}

#define SCOPE                                                                                      \
    {                                                                                              \
        .subscription = "SUB", .group = "RG", .workspace = "Ws", .experiment = "Exp"               \
    }

ARENA_TEST(jobs)
{
    json_t *body = doc_parse(BASE_JOB);
    doc_set(body, "properties.environmentVariables", "[{'name': 'A', 'value': '1'}]");
    doc_set(body, "properties.secrets",
            "[{'name': 'T', 'value': 'hunter2'}, {'name': 'V', 'valueSecretReference':"
            " {'sourceVault': {'id': 'v'}, 'secretUrl': 'https://v/s'}}]");
    doc_set(body, "properties.mountVolumes.azureFileShares", "[" BASE_SHARE "]");
    doc_set(body, "properties.inputDirectories", "[{'id': 'IN', 'path': 'i'}]");
    doc_set(body, "properties.outputDirectories",
            "[{'id': 'O', 'pathPrefix': 'p'}, {'id': 'P', 'pathPrefix': 'q', 'pathSuffix': 's'}]");
    doc_set(body, "properties.jobPreparation", "{'commandLine': 'prep'}");
    doc_set(body, "properties.containerSettings", "{'imageSourceRegistry': {'image': 'img'}}");
    doc_set(body, "properties.constraints.maxWallClockTime", "'PT2H'");
    struct stored st = store(&schema_job, body);
    struct job j = {.scope = SCOPE, .name = "Job", .guid = "g-1", .doc = st.doc};
    struct run_spec s;
    struct err e = {0};
    assert_int_equal(job_spec_decode(a, &j, st.secrets, &s, &e), 0);
    assert_int_equal(s.tool, TOOL_CUSTOM);
    assert_string_equal(s.toolkit.command_line, "true");
    assert_int_equal(s.node_count, 2);
    assert_string_equal(s.prep_command_line, "prep");
    assert_string_equal(s.container->image, "img");
    assert_string_equal(s.std_prefix, "$AZ_BATCHAI_MOUNT_ROOT/share");
    assert_string_equal(s.segment, "sub/rg/workspaces/Ws/experiments/Exp/jobs/Job/g-1");
    assert_int_equal(s.max_wall_us, 2 * HOUR_US);
    assert_int_equal(s.n_env, 3);
    assert_string_equal(s.env[0].value, "1");
    assert_false(s.env[0].is_secret);
    assert_string_equal(s.env[1].value, "hunter2");
    assert_true(s.env[1].is_secret);
    assert_null(s.env[2].value);
    assert_string_equal(s.env[2].secret_ref, "https://v/s");
    assert_int_equal(s.mounts.n, 1);
    assert_int_equal(s.mounts.items[0].kind, MOUNT_FILE_SHARE);
    assert_string_equal(s.mounts.items[0].account, "acct");
    assert_string_equal(s.mounts.items[0].share, "share");
    assert_string_equal(s.mounts.items[0].key, "k3y");
    assert_string_equal(s.mounts.items[0].file_mode, "0777");
    assert_int_equal(s.n_inputs, 1);
    assert_string_equal(s.inputs[0].path, "i");
    assert_int_equal(s.n_outputs, 2);
    assert_null(s.outputs[0].suffix);
    assert_string_equal(s.outputs[1].path, "q");
    assert_string_equal(s.outputs[1].suffix, "s");
    run_spec_wipe(&s);
    assert_string_equal(s.env[0].value, "1");
    assert_string_equal(s.env[1].value, "");
    assert_string_equal(s.mounts.items[0].key, "");
    free(st.doc);
    free(st.secrets);
}

ARENA_TEST(a_plain_job)
{
    struct stored st = store(&schema_job, doc_parse(BASE_JOB));
    struct job j = {.scope = SCOPE, .name = "j", .guid = "g", .doc = st.doc};
    struct run_spec s;
    struct err e = {0};
    assert_null(st.secrets);
    assert_int_equal(job_spec_decode(a, &j, NULL, &s, &e), 0);
    assert_null(s.prep_command_line);
    assert_null(s.container);
    assert_null(s.env);
    assert_int_equal(s.mounts.n + s.pool_mounts.n + s.n_env + s.n_inputs + s.n_outputs, 0);
    assert_int_equal(s.max_wall_us, 7 * DAY_US);
    run_spec_wipe(&s);
    free(st.doc);
}

ARENA_TEST(the_mounts_of_a_jobs_cluster)
{
    struct stored st = store(&schema_job, doc_parse(BASE_JOB));
    json_t *doc = json_loads(st.doc, 0, NULL);
    doc_set(doc, "properties." JOB_DOC_CLUSTER_MOUNTS ".azureFileShares", "[" BASE_SHARE "]");
    FREED char *text = json_dumps(doc, 0);
    struct job j = {.scope = SCOPE, .name = "j", .guid = "g", .doc = text};
    struct run_spec s;
    struct err e = {0};
    assert_int_equal(job_spec_decode(a, &j, NULL, &s, &e), 0);
    const char *rest = NULL;
    assert_ptr_equal(
        mount_resolve(a, &batchai_front_words, &s.pool_mounts, &s.mounts, s.std_prefix, &rest),
        s.pool_mounts.items);
    assert_string_equal(rest, "");
    json_decref(doc);
    free(st.doc);
}

ARENA_TEST(every_kind_of_mount)
{
    json_t *body = doc_parse(BASE_CLUSTER);
    doc_set(body, "properties.nodeSetup",
            "{'mountVolumes': {'unmanagedFileSystems': [{'mountCommand': 'mount -t nfs',"
            " 'relativeMountPath': 'u/'}], 'azureBlobFileSystems': [{'accountName': 'acct',"
            " 'containerName': 'box', 'credentials': {'accountKeySecretReference':"
            " {'sourceVault': {'id': 'v'}, 'secretUrl': 'https://v/k'}}, 'relativeMountPath':"
            " 'b', 'mountOptions': '-o x'}], 'fileServers': [{'fileServer': {'id':"
            " '/subscriptions/s/fileservers/f'}, 'sourceDirectory': 'src', 'relativeMountPath':"
            " 'n'}]}, 'setupTask': {'commandLine': 'go', 'stdOutErrPathPrefix': 'p', 'secrets':"
            " [{'name': 'S', 'value': 'hunter2'}]}}");
    struct stored st = store(&schema_cluster, body);
    struct cluster c = {.scope = SCOPE, .name = "C", .guid = "g", .doc = st.doc};
    struct node_setup_spec s;
    struct err e = {0};
    assert_int_equal(node_setup_decode(a, &c, st.secrets, &s, &e), 0);
    assert_int_equal(s.mounts.n, 3);
    assert_int_equal(s.mounts.items[0].kind, MOUNT_BLOBS);
    assert_string_equal(s.mounts.items[0].share, "box");
    assert_null(s.mounts.items[0].key);
    assert_string_equal(s.mounts.items[0].secret_ref, "https://v/k");
    assert_string_equal(s.mounts.items[0].options, "-o x");
    assert_int_equal(s.mounts.items[1].kind, MOUNT_FILE_SERVER);
    assert_string_equal(s.mounts.items[1].source, "/subscriptions/s/fileservers/f");
    assert_string_equal(s.mounts.items[1].source_directory, "src");
    assert_int_equal(s.mounts.items[2].kind, MOUNT_UNMANAGED);
    assert_string_equal(s.mounts.items[2].source, "mount -t nfs");
    assert_string_equal(s.mounts.items[2].relative_path, "u");
    assert_string_equal(s.setup_task->command_line, "go");
    assert_string_equal(s.setup_task->std_prefix, "p");
    assert_string_equal(s.setup_task->std_suffix, "sub/rg/workspaces/Ws/clusters/C/g");
    assert_string_equal(s.setup_task->env[0].value, "hunter2");
    node_setup_wipe(&s);
    assert_string_equal(s.setup_task->env[0].value, "");
    free(st.doc);
    free(st.secrets);
}

ARENA_TEST(a_cluster_without_setup)
{
    struct stored st = store(&schema_cluster, doc_parse(BASE_CLUSTER));
    struct cluster c = {.scope = SCOPE, .name = "C", .guid = "g", .doc = st.doc};
    struct node_setup_spec s;
    assert_int_equal(node_setup_decode(a, &c, st.secrets, &s, NULL), 0);
    assert_null(s.setup_task);
    assert_int_equal(s.mounts.n, 0);
    node_setup_wipe(&s);
    free(st.doc);
    free(st.secrets);
}

ARENA_TEST(a_key_from_a_file)
{
    json_t *body = doc_parse(BASE_CLUSTER);
    doc_set(body, "properties.userAccountSettings.adminUserSshPublicKey", "'ssh-rsa AAAA x\\n'");
    struct stored st = store(&schema_cluster, body);
    struct cluster c = {.scope = SCOPE, .name = "C", .guid = "g", .doc = st.doc};
    struct node_setup_spec s;
    assert_int_equal(node_setup_decode(a, &c, st.secrets, &s, NULL), 0);
    assert_string_equal(s.admin.ssh_public_key, "ssh-rsa AAAA x");
    node_setup_wipe(&s);
    free(st.doc);
    free(st.secrets);
}

/* What could only come from a damaged database is an error, not a crash. */
ARENA_TEST(damaged_documents)
{
    struct run_spec s;
    struct node_setup_spec n;
    struct err e = {0};
    struct job j = {.scope = SCOPE, .name = "j", .guid = "g", .doc = "{"};
    struct cluster c = {.scope = SCOPE, .name = "c", .guid = "g", .doc = NULL};
    assert_int_equal(job_spec_decode(a, &j, NULL, &s, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
    assert_says(e.msg, "job j: ");
    j.doc = "{}";
    assert_int_equal(job_spec_decode(a, &j, NULL, &s, &e), -1);
    assert_int_equal(job_spec_decode(a, &j, "nonsense", &s, &e), -1);
    assert_int_equal(node_setup_decode(a, &c, NULL, &n, &e), -1);
}
