/* SPDX-License-Identifier: MIT
 *
 * What MPI's launchers find in the environment: as pure functions of the launcher.
 */
#include <string.h>

#include "nodeagent-proto/wire/remote.h"
#include "scheduler/run/launch/env.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/words.h"

static struct launch_env env_on(struct arena *a, struct run_spec *spec,
                                const struct launch_node *nodes, size_t n, int rank)
{
    const struct launch_input in = {.words = &batchai_front_words,
                                    .spec = spec,
                                    .run_guid = "G",
                                    .attempt = 2,
                                    .nodes = nodes,
                                    .n_nodes = n};
    struct launch_env le;
    struct err e = {0};
    spec->std_prefix = "$AZ_BATCHAI_JOB_TEMP";
    spec->segment = "s";
    assert_int_equal(launch_env(a, &in, rank, &le, &e), 0);
    return le;
}

static const struct launch_node local_nodes[] = {
    {.name = "n1", .root = "/r/n1", .address = "127.64.0.1"},
    {.name = "n2", .root = "/r/n2", .address = "127.64.0.2"}};

ARENA_TEST(test_local_nodes_are_hosts_on_loopback)
{
    struct run_spec spec = {.tool = TOOL_CUSTOM};
    const struct launch_env le = env_on(a, &spec, local_nodes, 2, 1);
    assert_string_equal(env_get(&le.env, REMOTE_SOCKET_VARIABLE), "/r/n2/ssh/G-2");
    assert_string_equal(env_get(&le.env, "OMPI_MCA_plm_rsh_agent"), "ssh");
    assert_string_equal(env_get(&le.env, "HYDRA_LAUNCHER"), "ssh");
    assert_string_equal(env_get(&le.env, "OMPI_MCA_btl_tcp_if_include"), "lo");
    assert_null(env_get(&le.env, "OMPI_MCA_btl_tcp_if_exclude")); /* Open MPI refuses both */
}

ARENA_TEST(test_machines_are_reached_by_their_networks)
{
    const struct launch_node nodes[] = {{.name = "n1", .root = "/r", .address = "gpu1"},
                                        {.name = "n2", .root = "/r", .address = "10.0.0.2"}};
    struct run_spec spec = {.tool = TOOL_CUSTOM};
    const struct launch_env le = env_on(a, &spec, nodes, 2, 0);
    assert_null(env_get(&le.env, "OMPI_MCA_btl_tcp_if_include"));
    assert_string_equal(env_get(&le.env, "OMPI_MCA_btl_tcp_if_exclude"), "lo,docker0");
}

ARENA_TEST(test_the_jobs_own_variables_count)
{
    struct kv own[] = {{.name = "OMPI_MCA_btl_tcp_if_include", .value = "eth7"}};
    struct run_spec spec = {.tool = TOOL_CUSTOM, .env = own, .n_env = 1};
    const struct launch_env le = env_on(a, &spec, local_nodes, 2, 0);
    assert_string_equal(env_get(&le.env, "OMPI_MCA_btl_tcp_if_include"), "eth7");
}

ARENA_TEST(test_one_node_needs_none)
{
    const struct launch_node node = {.name = "n1", .root = "/r", .address = "127.0.0.1"};
    struct run_spec spec = {.tool = TOOL_CUSTOM};
    const struct launch_env le = env_on(a, &spec, &node, 1, 0);
    assert_null(env_get(&le.env, REMOTE_SOCKET_VARIABLE));
    assert_null(env_get(&le.env, "HYDRA_LAUNCHER"));
}
