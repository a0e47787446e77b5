/* SPDX-License-Identifier: MIT
 *
 * Environments, expansion, the rule for the end, share paths: pure functions of the launcher.
 */
#include <string.h>

#include "scheduler/fleet/fleet.h"
#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/launch.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/says.h"
#include "test/unit/support/words.h"

static const struct expansion {
    const char *text, *expected; /* NULL: an error */
} expansions[] = {
    {"plain", "plain"},     {"$A/x", "one/x"}, {"${A}x", "onex"},    {"$A$B", "onetwo"},
    {"$AB", NULL},          {"${A", "${A"},    {"${}", "${}"},       {"$", "$"},
    {"cost $5", "cost $5"}, {"$A_1", "under"}, {"$MISSING/x", NULL}, {"", ""},
    {"$REPEATED", "last"},
};

ARENA_TEST(test_expansion)
{
    struct env v;
    env_init(&v, a);
    env_set(&v, "A", "one");
    env_set(&v, "B", "two");
    env_set(&v, "A_1", "under");
    env_set(&v, "REPEATED", "first");
    env_set(&v, "REPEATED", "last");
    for (size_t i = 0; i < sizeof expansions / sizeof expansions[0]; i++) {
        struct err e = {0};
        const char *got = env_expand(&v, expansions[i].text, &e);
        if (!expansions[i].expected) {
            assert_null(got);
            assert_says(e.msg, "is not set");
        } else {
            assert_string_equal(got, expansions[i].expected);
        }
    }
}

static struct run_spec spec_of(struct directory_spec *in, struct directory_spec *out,
                               struct kv *env)
{
    return (struct run_spec){.tool = TOOL_CUSTOM,
                             .toolkit.command_line = "true",
                             .node_count = 1,
                             .std_prefix = "$AZ_BATCHAI_MOUNT_ROOT/logs/",
                             .segment = "s/g/jobs/j/G",
                             .inputs = in,
                             .n_inputs = in ? 1 : 0,
                             .outputs = out,
                             .n_outputs = out ? 1 : 0,
                             .env = env,
                             .n_env = env ? 1 : 0};
}

static struct launch_input input_of(const struct run_spec *spec, const struct launch_node *nodes,
                                    size_t n_nodes)
{
    return (struct launch_input){.words = &batchai_front_words,
                                 .spec = spec,
                                 .run_guid = "G",
                                 .attempt = 1,
                                 .nodes = nodes,
                                 .n_nodes = n_nodes};
}

static const struct launch_node one_node[] = {
    {"tvm-1", "/n/tvm-1", 0, "127.0.0.1", true, NULL, false, 8}};
static const struct launch_node two_nodes[] = {
    {"tvm-1", "/n/tvm-1", 0, "127.0.0.1", true, NULL, false, 8},
    {"tvm-2", "/n/tvm-2", 0, "gpu2", true, NULL, false, 8}};

/* What the processes of the rank find. */
static struct launch_env env_of(struct arena *a, const struct launch_input *input, int rank)
{
    struct launch_env le;
    struct err e = {0};
    if (launch_env(a, input, rank, &le, &e) < 0)
        fail_msg("%s", e.msg);
    return le;
}

static void has(const struct launch_env *le, const char *name, const char *value)
{
    const char *found = env_get(&le->env, name);
    if (!found || strcmp(found, value) != 0)
        fail_msg("%s is %s, not %s", name, found ? found : "not set", value);
}

ARENA_TEST(test_one_node)
{
    struct directory_spec in = {"Data", "$AZ_BATCHAI_JOB_MOUNT_ROOT/d", NULL, false};
    struct directory_spec out = {"MODEL", "$AZ_BATCHAI_MOUNT_ROOT/o", "m", false};
    struct kv env = {.name = "AZ_BATCHAI_MOUNT_ROOT", .value = "/elsewhere"};
    struct run_spec spec = spec_of(&in, &out, &env);
    const struct launch_node node = {"tvm-1", "/n/tvm-1", 2, "127.0.0.1", true, "1,3", false, 8};
    struct launch_input input = input_of(&spec, &node, 1);
    input.attempt = 3;
    struct launch_env le = env_of(a, &input, 0);
    assert_string_equal(le.run_dir, "/n/tvm-1/jobs/G-3");
    assert_string_equal(le.std_dir, "/n/tvm-1/mounts/logs/s/g/jobs/j/G/stdouterr");
    assert_string_equal(le.log_path, "/n/tvm-1/mounts/logs/s/g/jobs/j/G/stdouterr/execution.log");
    assert_int_equal(le.n_outputs, 1);
    assert_string_equal(le.output_dirs[0], "/n/tvm-1/mounts/o/s/g/jobs/j/G/outputs/m");
    /* The service's own variables cannot be overridden. */
    has(&le, "AZ_BATCHAI_MOUNT_ROOT", "/n/tvm-1/mounts");
    has(&le, "AZ_BATCHAI_INPUT_Data", "/n/tvm-1/jobs/G-3/mounts/d");
    has(&le, "AZ_BATCHAI_OUTPUT_MODEL", le.output_dirs[0]);
    has(&le, "AZ_BATCHAI_PREV_OUTPUT_MODEL", le.output_dirs[0]);
    has(&le, "AZ_BATCHAI_STDOUTERR_DIR", le.std_dir);
    has(&le, "AZ_BATCHAI_NUM_GPUS", "2");
    has(&le, "CUDA_VISIBLE_DEVICES", "1,3");
    has(&le, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    assert_null(env_get(&le.env, "ROCR_VISIBLE_DEVICES"));
    has(&le, "AZ_BATCH_HOST_LIST", "127.0.0.1");
    struct launch_node other = node;
    other.amd = true;
    input.nodes = &other;
    le = env_of(a, &input, 0);
    has(&le, "ROCR_VISIBLE_DEVICES", "1,3");
    assert_null(env_get(&le.env, "CUDA_VISIBLE_DEVICES"));
}

ARENA_TEST(test_previous_output_is_what_an_attempt_before_has_left)
{
    const struct launch_node node = {"tvm-1", "/n/tvm-1", 0, "127.0.0.1", true, "", false, 8};
    static const struct {
        const char *prefix;
        int attempt;
        const char *previous;
    } cases[] = {
        {"$AZ_BATCHAI_MOUNT_ROOT/o", 1, ""},
        {"$AZ_BATCHAI_MOUNT_ROOT/o", 2, "/n/tvm-1/mounts/o/s/g/jobs/j/G/outputs/m"},
        {"$AZ_BATCHAI_JOB_MOUNT_ROOT/o", 2, "/n/tvm-1/jobs/G-2/mounts/o/s/g/jobs/j/G/outputs/m"},
        {"$AZ_BATCHAI_JOB_TEMP", 2, ""},
        {"here", 2, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct directory_spec out = {"MODEL", cases[i].prefix, "m", false};
        struct run_spec spec = spec_of(NULL, &out, NULL);
        struct launch_input input = input_of(&spec, &node, 1);
        input.attempt = cases[i].attempt;
        struct launch_env le = env_of(a, &input, 0);
        has(&le, "AZ_BATCHAI_PREV_OUTPUT_MODEL", cases[i].previous);
    }
}

ARENA_TEST(test_several_nodes_do_not_share_files)
{
    struct run_spec spec = spec_of(NULL, NULL, NULL);
    struct launch_input input = input_of(&spec, two_nodes, 2);
    struct launch_env le = env_of(a, &input, 1);
    assert_string_equal(strrchr(le.log_path, '/'), "/execution-tvm-2.log");
    assert_string_equal(le.shared_dir, "/n/tvm-1/jobs/G-1/shared");
    assert_string_equal(le.hostfile_text, "127.0.0.1 slots=8\ngpu2 slots=8\n");
    has(&le, "AZ_BATCHAI_TASK_INDEX", "1");
    has(&le, "NODE_RANK", "1");
    has(&le, "MASTER_ADDR", "127.0.0.1");
}

/* The directory that nodes share. */
ARENA_TEST(test_the_shared_directory)
{
    static const struct {
        const char *root;
        size_t n;
        bool local;
        const char *expected; /* on the last node */
    } cases[] = {
        {NULL, 2, true, "/n/tvm-1/jobs/G-1/shared"},
        {"/nfs", 2, true, "/n/tvm-1/jobs/G-1/shared"},
        {NULL, 2, false, "/n/tvm-2/jobs/G-1/shared"},
        {"/nfs", 2, false, "/nfs/G-1"},
        {"/nfs", 1, false, "/n/tvm-1/jobs/G-1/shared"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool local = cases[i].local;
        const struct launch_node nodes[] = {
            {"tvm-1", "/n/tvm-1", 0, "gpu1", local, NULL, false, 8},
            {"tvm-2", "/n/tvm-2", 0, "gpu2", local, NULL, false, 8}};
        struct run_spec spec = spec_of(NULL, NULL, NULL);
        struct launch_input input = input_of(&spec, nodes, cases[i].n);
        input.shared_root = cases[i].root;
        const struct launch_env le = env_of(a, &input, (int)cases[i].n - 1);
        has(&le, "AZ_BATCHAI_SHARED_JOB_TEMP", cases[i].expected);
    }
}

ARENA_TEST(test_a_job_may_choose_where_its_processes_meet)
{
    struct kv env = {.name = "MASTER_PORT", .value = "29500"};
    struct run_spec spec = spec_of(NULL, NULL, &env);
    const struct launch_input input = input_of(&spec, one_node, 1);
    const struct launch_env le = env_of(a, &input, 0);
    has(&le, "MASTER_PORT", "29500");
}

ARENA_TEST(test_another_front_has_other_words)
{
    struct directory_spec in = {"Data", "/data", NULL, false};
    struct run_spec spec = spec_of(&in, NULL, NULL);
    spec.std_prefix = "$AZ_BATCH_NODE_MOUNTS_DIR/logs";
    spec.prep_command_line = "make ready";
    struct launch_input input = input_of(&spec, two_nodes, 2);
    input.words = &pools_and_tasks;
    struct launch_plan plan;
    struct failure why;
    struct err e = {0};
    struct launch_env le = env_of(a, &input, 1);
    assert_string_equal(strrchr(le.log_path, '/'), "/progress-tvm-2.log");
    assert_string_equal(le.std_dir, "/n/tvm-2/mnt/logs/s/g/jobs/j/G/stdouterr");
    has(&le, "AZ_BATCH_NODE_ID", "tvm-2");
    has(&le, "AZ_BATCH_TASK_WORKING_DIR", le.run_dir);
    for (size_t i = 0; i < le.env.n; i++)
        assert_says_not(le.env.items[i].name, "BATCHAI");
    assert_true(launch_plan(a, &input, &plan, &why));
    assert_string_equal(plan.processes[0].stdout_name, "stdout-task_prep-tvm-1.txt");

    spec.std_prefix = "$NOWHERE";
    assert_int_equal(launch_env(a, &input, 0, &le, &e), -1);
    assert_string_equal(e.msg, "stdDir: path \"$NOWHERE\" names $NOWHERE, which is not set");
}

ARENA_TEST(test_relative_paths_are_the_jobs_own)
{
    struct run_spec spec = spec_of(NULL, NULL, NULL);
    spec.std_prefix = "here";
    struct launch_input input = input_of(&spec, one_node, 1);
    struct launch_env le = env_of(a, &input, 0);
    assert_string_equal(le.std_dir, "/n/tvm-1/jobs/G-1/here/s/g/jobs/j/G/stdouterr");
}

ARENA_TEST(test_unset_variables_name_their_property)
{
    struct directory_spec out = {"MODEL", "$NOWHERE", NULL, false};
    struct run_spec spec = spec_of(NULL, &out, NULL);
    struct launch_input input = input_of(&spec, one_node, 1);
    struct launch_env le;
    struct err e = {0};
    assert_int_equal(launch_env(a, &input, 0, &le, &e), -1);
    assert_says(e.msg, "MODEL", "NOWHERE");
}

ARENA_TEST(test_custom_toolkit_runs_once)
{
    struct run_spec spec = spec_of(NULL, NULL, NULL);
    const struct launch_input in = input_of(&spec, two_nodes, 2);
    struct launch_plan plan;
    struct failure why;
    assert_true(launch_plan(a, &in, &plan, &why));
    assert_int_equal(plan.n, 1);
    assert_int_equal(plan.end, LAUNCH_ENDS_WITH_FIRST);
    const struct launch_process *p = &plan.processes[0];
    assert_int_equal(p->role, LAUNCH_MAIN);
    assert_int_equal(p->rank, 0);
    assert_string_equal(p->name, "main");
    assert_string_equal(p->command_line, "true");
    assert_string_equal(p->stdout_name, "stdout.txt");
}

ARENA_TEST(test_every_node_is_prepared)
{
    static const char *const expected[2][2] = {
        {"stdout-job_prep.txt", NULL}, {"stdout-job_prep-tvm-1.txt", "stdout-job_prep-tvm-2.txt"}};
    for (size_t n = 1; n <= 2; n++) {
        struct run_spec spec = spec_of(NULL, NULL, NULL);
        spec.prep_command_line = "make ready";
        const struct launch_input in = input_of(&spec, two_nodes, n);
        struct launch_plan plan;
        struct failure why;
        assert_true(launch_plan(a, &in, &plan, &why));
        assert_int_equal(plan.n, n + 1);
        for (size_t i = 0; i < n; i++) {
            const struct launch_process *p = &plan.processes[i];
            assert_int_equal(p->role, LAUNCH_PREPARATION);
            assert_int_equal(p->rank, i);
            assert_string_equal(p->command_line, "make ready");
            assert_string_equal(p->stdout_name, expected[n - 1][i]);
        }
        assert_int_equal(plan.processes[n].role, LAUNCH_MAIN);
    }
}

TEST(test_a_run_succeeds_by_its_rule)
{
    struct launch_process p[] = {{.role = LAUNCH_PREPARATION},
                                 {.role = LAUNCH_MAIN},
                                 {.role = LAUNCH_MAIN},
                                 {.role = LAUNCH_HELPER}};
    struct launch_plan plan = {.processes = p, .n = 4};
    static const struct {
        bool over[4], by_first, by_all;
    } cases[] = {
        {{false, false, false, false}, false, false},
        {{true, false, false, false}, false, false}, /* a preparation is no success */
        {{true, false, false, true}, false, false},  /* nor is a helper */
        {{true, false, true, false}, true, false},
        {{true, true, true, false}, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan.end = LAUNCH_ENDS_WITH_FIRST;
        assert_int_equal(launch_succeeded(&plan, cases[i].over), cases[i].by_first);
        plan.end = LAUNCH_ENDS_WITH_ALL;
        assert_int_equal(launch_succeeded(&plan, cases[i].over), cases[i].by_all);
    }
}

ARENA_TEST(test_a_process_has_variables_and_devices_of_its_own)
{
    const struct kv own = {.name = "RANK", .value = "3"};
    static const int devices[] = {1, 3};
    struct launch_process p = {.env = &own, .n_env = 1};
    struct kv *env;
    assert_int_equal(launch_process_env(a, &p, &env), 1);
    assert_string_equal(env[0].name, "RANK");
    p.devices = devices;
    p.n_devices = 2;
    assert_int_equal(launch_process_env(a, &p, &env), 2);
    assert_string_equal(env[1].name, "CUDA_VISIBLE_DEVICES");
    assert_string_equal(env[1].value, "1,3");
    p.n_devices = 0; /* none is not all */
    assert_int_equal(launch_process_env(a, &p, &env), 2);
    assert_string_equal(env[1].value, "");
}

ARENA_TEST(test_share_paths)
{
    const struct mount_volume share = {
        .kind = MOUNT_FILE_SHARE, .account = "Acct", .share = "Share"};
    const struct mount_volume blob = {.kind = MOUNT_BLOBS, .account = "acct", .share = "container"};
    assert_string_equal(fleet_share_path("/s", a, &share), "/s/acct/files/share");
    assert_string_equal(fleet_share_path("/s", a, &blob), "/s/acct/blobs/container");
}
