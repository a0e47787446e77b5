/* SPDX-License-Identifier: MIT
 *
 * How MPI's launchers reach the other nodes of a run, unless the run sets this itself. The
 * variables are those of Open MPI 4 and 5 (PRRTE) and of MPICH's Hydra; these launchers all call
 * `ssh`.
 */
#include <stdbool.h>
#include <string.h>

#include "nodeagent-proto/wire/remote.h"
#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/toolkit.h"

static void set_all(struct env *env, const struct kv *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!env_get(env, items[i].name))
            env_add(env, &items[i], 1);
}

static bool is_on_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0;
}

void launchers_set(struct arena *a, const struct launch_input *in, int rank, struct env *env)
{
    static const struct kv all[] = {
        {.name = "OMPI_MCA_plm_rsh_agent", .value = "ssh"},
        {.name = "PRTE_MCA_plm_ssh_agent", .value = "ssh"},
        {.name = "HYDRA_LAUNCHER", .value = "ssh"},
        /* Runs without separate accounts use the agent's account, which may be root. */
        {.name = "OMPI_ALLOW_RUN_AS_ROOT", .value = "1"},
        {.name = "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", .value = "1"},
    };
    /* Open MPI treats nodes at loopback addresses as different hosts, but they are one machine. So
     * it must use the loopback interface, and must not bind processes: each "host" would bind its
     * processes to the first cores. */
    static const struct kv local[] = {
        {.name = "OMPI_MCA_oob_tcp_if_include", .value = "lo"},
        {.name = "OMPI_MCA_btl_tcp_if_include", .value = "lo"},
        {.name = "OMPI_MCA_hwloc_base_binding_policy", .value = "none"},
    };
    /* Otherwise Open MPI would also try interfaces that lead only to containers of one machine. */
    static const struct kv apart[] = {
        {.name = "OMPI_MCA_btl_tcp_if_exclude", .value = "lo,docker0"},
    };
    if (in->n_nodes == 1)
        return;
    const struct launch_node *self = &in->nodes[rank];
    env_set(env, REMOTE_SOCKET_VARIABLE,
            arena_printf(a, "%s/" REMOTE_DIR "/%s-%d", self->root, in->run_guid, in->attempt));
    set_all(env, all, sizeof all / sizeof all[0]);
    if (is_on_loopback(self->address))
        set_all(env, local, sizeof local / sizeof local[0]);
    else
        set_all(env, apart, sizeof apart / sizeof apart[0]);
}

/* On local nodes, each far end needs a separate directory for Open MPI's daemon, because several
 * daemons on one machine would conflict. mpirun itself must not have this variable: it passes its
 * own environment to all nodes. */
void launch_env_remote(struct env *env, const char *address, const char *run_dir)
{
    static const char *const names[] = {"OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base"};
    for (size_t i = 0; is_on_loopback(address) && i < sizeof names / sizeof names[0]; i++)
        if (!env_get(env, names[i]))
            env_set(env, names[i], run_dir);
}
