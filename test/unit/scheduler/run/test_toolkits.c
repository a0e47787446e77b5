/* SPDX-License-Identifier: MIT
 *
 * Which processes each toolkit has: nodes, command lines, variables, output, and with whose end the
 * run ends.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/launch.h"
#include "test/unit/support/says.h"
#include "test/unit/support/words.h"

#define ANY_PYTHON "$(command -v python || echo python3)"

static const struct launch_node nodes[] = {
    {"tvm-1", "/n/tvm-1", 4, "10.0.0.4", false, NULL, false, 8},
    {"tvm-2", "/n/tvm-2", 4, "10.0.0.5", false, NULL, false, 8},
    {"tvm-3", "/n/tvm-3", 4, "fd00::6", false, NULL, false, 8}};

/* A plan for these settings, on so many nodes. */
struct planned {
    struct arena a;
    struct run_spec spec;
    struct launch_input in;
    struct launch_plan plan;
};

static void plan_of(struct planned *p, enum tool_type tool, struct toolkit_spec settings,
                    size_t n_nodes)
{
    struct failure why;
    p->spec = (struct run_spec){.tool = tool, .toolkit = settings, .node_count = (int)n_nodes};
    p->in = (struct launch_input){.words = &batchai_front_words,
                                  .spec = &p->spec,
                                  .run_guid = "G",
                                  .attempt = 1,
                                  .number = 7,
                                  .nodes = nodes,
                                  .n_nodes = n_nodes};
    assert_true(launch_plan(&p->a, &p->in, &p->plan, &why));
}

static struct planned *new_planned(void)
{
    struct planned *p = xcalloc(1, sizeof *p);
    arena_init(&p->a);
    return p;
}

static void free_planned(struct planned *p)
{
    arena_free(&p->a);
    free(p);
}

/* A test with the plan `p`, which plan_of() makes. */
#define PLANNED_TEST(name) TEST_WITH(name, struct planned *, p, new_planned(), free_planned)

static const char *value_of(const struct launch_process *p, const char *name)
{
    for (size_t i = p->n_env; i-- > 0;)
        if (strcmp(p->env[i].name, name) == 0)
            return p->env[i].value;
    return NULL;
}

static void check_value(const struct launch_process *p, const char *name, const char *expected)
{
    const char *value = value_of(p, name);
    if (!value || strcmp(value, expected) != 0)
        fail_msg("%s is %s, not %s", name, value ? value : "not set", expected);
}

/* "10.0.0.4:20033", for the i-th listener of the run, which is on this host. */
static const char *at(struct planned *p, const char *host, size_t i)
{
    return arena_printf(&p->a, "%s:%d", host, launch_port(&p->in, i));
}

/* --- toolkits with one process ---------------------------------------------------------------- */

static const struct single {
    enum tool_type tool;
    struct toolkit_spec settings;
    const char *command_line, *stdout_name;
} singles[] = {
    {TOOL_CUSTOM, {.command_line = "a; b"}, "a; b", "stdout.txt"},
    {TOOL_CNTK,
     {.script = "$D/t.py", .args = "-n $N", .process_count = 1},
     ANY_PYTHON " \"$D/t.py\" -n $N",
     "stdout.txt"},
    {TOOL_CNTK,
     {.config_file = "$D/a b.cntk", .args = "rootDir=.", .process_count = 1},
     "cntk configFile=\"$D/a b.cntk\" rootDir=.",
     "stdout.txt"},
    {TOOL_CAFFE,
     {.config_file = "s.prototxt", .process_count = 1},
     "caffe train --solver=\"s.prototxt\"",
     "stdout.txt"},
    {TOOL_CAFFE,
     {.script = "t.py", .interpreter = "/opt/p/python -u", .process_count = 1},
     "/opt/p/python -u \"t.py\"",
     "stdout.txt"},
    {TOOL_CAFFE2, {.script = "t\"`\\.py"}, ANY_PYTHON " \"t\\\"\\`\\\\.py\"", "stdout-wk-0.txt"},
    {TOOL_TENSORFLOW,
     {.script = "t.py", .master_args = "--m"},
     ANY_PYTHON " \"t.py\" --m",
     "stdout-wk-0.txt"},
    {TOOL_PYTORCH, {.script = "t.py", .process_count = 1}, ANY_PYTHON " \"t.py\"", "stdout-0.txt"},
};

PLANNED_TEST(test_single_processes)
{
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        const struct single *row = &singles[i];
        plan_of(p, row->tool, row->settings, 1);
        assert_int_equal(p->plan.n, 1);
        const struct launch_process *only = &p->plan.processes[0];
        assert_int_equal(only->role, LAUNCH_MAIN);
        assert_null(only->title);
        assert_string_equal(only->command_line, row->command_line);
        assert_string_equal(only->stdout_name, row->stdout_name);
        assert_null(value_of(only, "TF_CONFIG")); /* TensorFlow would look for others */
    }
}

/* --- mpirun ----------------------------------------------------------------------------------- */

static const struct {
    enum tool_type tool;
    struct toolkit_spec settings;
    const char *shown;
} by_mpirun[] = {
    {TOOL_MPI, {.command_line = "./a x", .process_count = 3}, "mpirun -n 3 ./a x"},
    {TOOL_HOROVOD,
     {.script = "t.py", .interpreter = "py", .process_count = 3},
     "mpirun -n 3 py \"t.py\""},
    {TOOL_CHAINER,
     {.script = "t.py", .interpreter = "py", .args = "-g", .process_count = 3},
     "mpirun -n 3 py \"t.py\" -g"},
    {TOOL_CNTK,
     {.script = "t.py", .interpreter = "py", .process_count = 3},
     "mpirun -n 3 py \"t.py\""},
    {TOOL_CAFFE,
     {.config_file = "s", .process_count = 3},
     "mpirun -n 3 caffe train --solver=\"s\""},
    {TOOL_PYTORCH,
     {.script = "t.py", .interpreter = "py", .backend = "MPI", .process_count = 3},
     "mpirun -n 3 py \"t.py\""},
};

PLANNED_TEST(test_mpirun_starts_the_ranks)
{
    for (size_t i = 0; i < sizeof by_mpirun / sizeof *by_mpirun; i++) {
        for (size_t n_nodes = 1; n_nodes <= 2; n_nodes++) {
            plan_of(p, by_mpirun[i].tool, by_mpirun[i].settings, n_nodes);
            assert_int_equal(p->plan.n, 1);
            assert_int_equal(p->plan.end, LAUNCH_ENDS_WITH_FIRST);
            const struct launch_process *main = &p->plan.processes[0];
            assert_int_equal(main->rank, 0);
            assert_string_equal(main->shown, by_mpirun[i].shown);
            assert_string_equal(main->stdout_name, "stdout.txt");
            assert_says(main->command_line, "ranks='3'\n",
                        n_nodes > 1 ? "hosts='10.0.0.4:2,10.0.0.5:1'\n" : "hosts=''\n",
                        "WORLD_SIZE=3\n", "AZ_BATCHAI_TASK_INDEX=\"$RANK\"\n");
        }
    }
}

/* One rank needs mpirun where the framework does. */
PLANNED_TEST(test_one_rank_of_a_framework_on_mpi)
{
    plan_of(p, TOOL_HOROVOD, (struct toolkit_spec){.script = "t.py", .process_count = 1}, 1);
    assert_says(p->plan.processes[0].shown, "mpirun -n 1 ");
}

static const char *host_file_of(struct planned *p, enum tool_type tool, int processes, int gpus)
{
    struct launch_env le;
    struct err e = {0};
    plan_of(p, tool, (struct toolkit_spec){.command_line = "x", .process_count = processes}, 3);
    p->spec.std_prefix = "/std";
    p->spec.segment = "s";
    struct launch_node with[3];
    for (size_t i = 0; i < 3; i++) {
        with[i] = nodes[i];
        with[i].gpus = gpus;
        with[i].cores = 6;
    }
    p->in.nodes = with;
    assert_int_equal(launch_env(&p->a, &p->in, 0, &le, &e), 0);
    return le.hostfile_text;
}

PLANNED_TEST(test_the_host_file_of_a_command_of_ones_own_has_gpus_or_else_cores)
{
    assert_string_equal(host_file_of(p, TOOL_CUSTOM, 0, 4),
                        "10.0.0.4 slots=4\n10.0.0.5 slots=4\nfd00::6 slots=4\n");
    assert_string_equal(host_file_of(p, TOOL_CUSTOM, 0, 0),
                        "10.0.0.4 slots=6\n10.0.0.5 slots=6\nfd00::6 slots=6\n");
    assert_string_equal(host_file_of(p, TOOL_HOROVOD, 3, 4),
                        "10.0.0.4 slots=1\n10.0.0.5 slots=1\nfd00::6 slots=1\n");
}

PLANNED_TEST(test_the_host_file_has_the_ranks_of_each_node)
{
    static const struct {
        int processes;
        const char *expected;
    } cases[] = {
        {0, "10.0.0.4 slots=1\n10.0.0.5 slots=1\nfd00::6 slots=1\n"},
        {8, "10.0.0.4 slots=3\n10.0.0.5 slots=3\nfd00::6 slots=2\n"},
        {2, "10.0.0.4 slots=1\n10.0.0.5 slots=1\nfd00::6 slots=1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct toolkit_spec t = {.command_line = "x", .process_count = cases[i].processes};
        plan_of(p, TOOL_MPI, t, 3);
        struct launch_env le;
        struct err e = {0};
        p->spec.std_prefix = "/std";
        p->spec.segment = "s";
        assert_int_equal(launch_env(&p->a, &p->in, 0, &le, &e), 0);
        assert_string_equal(le.hostfile_text, cases[i].expected);
    }
}

/* --- PyTorch and Caffe2 ----------------------------------------------------------------------- */

PLANNED_TEST(test_pytorch_has_a_process_for_each_rank)
{
    static const struct {
        int node;
        const char *local, *local_size, *out;
    } expected[] = {{0, "0", "3", "stdout-0.txt"},
                    {0, "1", "3", "stdout-1.txt"},
                    {0, "2", "3", "stdout-2.txt"},
                    {1, "0", "2", "stdout-3.txt"},
                    {1, "1", "2", "stdout-4.txt"}};
    const struct toolkit_spec t = {.script = "t.py", .backend = "Gloo", .process_count = 5};
    plan_of(p, TOOL_PYTORCH, t, 2);
    assert_int_equal(p->plan.n, 5);
    assert_int_equal(p->plan.end, LAUNCH_ENDS_WITH_ALL);
    for (size_t i = 0; i < 5; i++) {
        const struct launch_process *one = &p->plan.processes[i];
        const char *rank = arena_printf(&p->a, "%zu", i);
        assert_int_equal(one->role, LAUNCH_MAIN);
        assert_int_equal(one->rank, expected[i].node);
        assert_string_equal(one->title, arena_printf(&p->a, "process %zu", i));
        assert_string_equal(one->stdout_name, expected[i].out);
        check_value(one, "AZ_BATCHAI_TASK_INDEX", rank);
        check_value(one, "RANK", rank);
        check_value(one, "WORLD_SIZE", "5");
        check_value(one, "LOCAL_RANK", expected[i].local);
        check_value(one, "LOCAL_WORLD_SIZE", expected[i].local_size);
        check_value(one, "AZ_BATCHAI_PYTORCH_BACKEND", "gloo");
        check_value(one, "AZ_BATCHAI_PYTORCH_INIT_METHOD",
                    arena_concat(&p->a, "tcp://", at(p, "10.0.0.4", 0)));
    }
}

static const char *init_method(struct planned *p, size_t n_nodes, const char *shared_root)
{
    plan_of(p, TOOL_PYTORCH, (struct toolkit_spec){.script = "t.py"}, n_nodes);
    p->in.shared_root = shared_root;
    struct failure why;
    p->plan = (struct launch_plan){0};
    assert_true(launch_plan(&p->a, &p->in, &p->plan, &why));
    return value_of(&p->plan.processes[0], "AZ_BATCHAI_PYTORCH_INIT_METHOD");
}

PLANNED_TEST(test_processes_of_pytorch_meet_at_a_file_where_their_disk_has_locks)
{
    static const struct {
        size_t nodes;
        const char *shared_root, *begins, *ends;
    } cases[] = {{1, NULL, "file:///", "/shared/pytorch-init"},
                 {2, "/nfs", "file:///nfs/", "/pytorch-init"},
                 {2, NULL, "tcp://10.0.0.4:", ""}};
    for (size_t i = 0; i < 3; i++) {
        const char *url = init_method(p, cases[i].nodes, cases[i].shared_root);
        assert_memory_equal(url, cases[i].begins, strlen(cases[i].begins));
        assert_string_equal(url + strlen(url) - strlen(cases[i].ends), cases[i].ends);
    }
}

PLANNED_TEST(test_nodes_without_a_process)
{
    plan_of(p, TOOL_PYTORCH, (struct toolkit_spec){.script = "t.py", .process_count = 2}, 3);
    assert_int_equal(p->plan.n, 2);
    assert_int_equal(p->plan.processes[1].rank, 1);
    check_value(&p->plan.processes[1], "AZ_BATCHAI_PYTORCH_BACKEND", "tcp");
}

PLANNED_TEST(test_caffe2_runs_once_on_each_node)
{
    plan_of(p, TOOL_CAFFE2, (struct toolkit_spec){.script = "t.py", .args = "-s 1"}, 2);
    assert_int_equal(p->plan.n, 2);
    assert_int_equal(p->plan.end, LAUNCH_ENDS_WITH_ALL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(p->plan.processes[i].rank, i);
        check_value(&p->plan.processes[i], "AZ_BATCHAI_TASK_INDEX", i ? "1" : "0");
        assert_string_equal(p->plan.processes[i].stdout_name,
                            i ? "stdout-wk-1.txt" : "stdout-wk-0.txt");
        assert_string_equal(p->plan.processes[i].stderr_name, i ? "stderr-1.txt" : "stderr-0.txt");
    }
}

/* --- TensorFlow ------------------------------------------------------------------------------- */

static const struct task {
    enum launch_role role;
    int node;
    const char *title, *args, *index, *out, *type;
    int type_index;
} tensorflow_tasks[] = {
    {LAUNCH_HELPER, 0, "parameter server 0", "--ps", "0", "stdout-ps-0.txt", "ps", 0},
    {LAUNCH_HELPER, 1, "parameter server 1", "--ps", "1", "stdout-ps-1.txt", "ps", 1},
    {LAUNCH_MAIN, 0, "master", "--m", "0", "stdout-wk-0.txt", "chief", 0},
    {LAUNCH_HELPER, 0, "worker 1", "--w", "1", "stdout-wk-1.txt", "worker", 0},
    {LAUNCH_HELPER, 1, "worker 2", "--w", "2", "stdout-wk-2.txt", "worker", 1},
};

static void check_config(const struct launch_process *p, const struct task *t, const char *cluster)
{
    json_t *config = json_loads(value_of(p, "TF_CONFIG"), 0, NULL);
    json_t *expected =
        json_pack("{s:o, s:{s:s, s:i}, s:s}", "cluster", json_loads(cluster, 0, NULL), "task",
                  "type", t->type, "index", t->type_index, "environment", "cloud");
    assert_non_null(config);
    assert_true(json_equal(config, expected));
    json_decref(config);
    json_decref(expected);
}

PLANNED_TEST(test_tensorflow_with_workers_and_servers)
{
    const struct toolkit_spec t = {.script = "t.py",
                                   .interpreter = "py",
                                   .master_args = "--m",
                                   .worker_args = "--w",
                                   .parameter_server_args = "--ps",
                                   .worker_count = 3,
                                   .parameter_server_count = 2};
    plan_of(p, TOOL_TENSORFLOW, t, 2);
    const char *w[] = {at(p, "10.0.0.4", 1), at(p, "10.0.0.4", 2), at(p, "10.0.0.5", 3)},
               *s[] = {at(p, "10.0.0.4", 4), at(p, "10.0.0.5", 5)};
    const char *cluster = arena_printf(
        &p->a, "{\"ps\": [\"%s\", \"%s\"], \"chief\": [\"%s\"], \"worker\": [\"%s\", \"%s\"]}",
        s[0], s[1], w[0], w[1], w[2]);
    assert_int_equal(p->plan.n, 5);
    assert_int_equal(p->plan.end, LAUNCH_ENDS_WITH_FIRST);
    for (size_t i = 0; i < 5; i++) {
        const struct launch_process *one = &p->plan.processes[i];
        const struct task *row = &tensorflow_tasks[i];
        assert_int_equal(one->role, row->role);
        assert_int_equal(one->rank, row->node);
        assert_string_equal(one->title, row->title);
        assert_string_equal(one->command_line, arena_concat(&p->a, "py \"t.py\" ", row->args));
        assert_string_equal(one->stdout_name, row->out);
        check_value(one, "AZ_BATCHAI_TASK_INDEX", row->index);
        check_value(one, "AZ_BATCHAI_PS_HOSTS", arena_concat(&p->a, s[0], ",", s[1]));
        check_value(one, "AZ_BATCHAI_WORKER_HOSTS",
                    arena_concat(&p->a, w[0], ",", w[1], ",", w[2]));
        check_config(one, row, cluster);
    }
}

PLANNED_TEST(test_tensorflow_without_servers)
{
    plan_of(p, TOOL_TENSORFLOW, (struct toolkit_spec){.script = "t.py", .worker_count = 3}, 3);
    assert_int_equal(p->plan.n, 3);
    assert_int_equal(p->plan.end, LAUNCH_ENDS_WITH_ALL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(p->plan.processes[i].role, LAUNCH_MAIN);
    check_value(&p->plan.processes[0], "AZ_BATCHAI_PS_HOSTS", "");
    check_config(&p->plan.processes[2], &(struct task){.type = "worker", .type_index = 1},
                 arena_printf(&p->a, "{\"chief\": [\"%s\"], \"worker\": [\"%s\", \"%s\"]}",
                              at(p, "10.0.0.4", 1), at(p, "10.0.0.5", 2), at(p, "[fd00::6]", 3)));
}

/* --- ports ------------------------------------------------------------------------------------ */

TEST(test_runs_on_one_machine_have_ports_of_their_own)
{
    enum { RUNS = 50, LISTENERS = 16 };
    static bool taken[65536];
    struct launch_input in = {.nodes = nodes, .n_nodes = 1, .attempt = 1};
    memset(taken, 0, sizeof taken);
    for (in.number = 730; in.number < 730 + RUNS; in.number++)
        for (size_t i = 0; i < LISTENERS; i++) {
            int port = launch_port(&in, i);
            assert_in_range(port, 20000, 32767); /* the kernel gives out none of these */
            assert_false(taken[port]);
            taken[port] = true;
        }
    int first = launch_port(&in, 0);
    assert_int_equal(launch_port(&in, 0), first);
    in.attempt = 2; /* what an earlier attempt left may still listen */
    assert_int_not_equal(launch_port(&in, 0), first);
    const struct launch_node elsewhere = {.root = "/other/tvm-1"};
    in.attempt = 1;
    in.nodes = &elsewhere; /* another daemon's, whose runs have the same numbers */
    assert_int_not_equal(launch_port(&in, 0), first);
}
