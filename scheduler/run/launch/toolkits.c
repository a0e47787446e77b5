/* SPDX-License-Identifier: MIT
 *
 * The toolkits that need only one function each. Others have their own files: tensorflow.c,
 * pytorch.c, mpirun.c (starts the processes of several toolkits), program.c.
 */
#include "scheduler/run/launch/toolkit.h"

/* customToolkit: runs the command line unchanged, once, on the first node. The command finds the
 * other nodes in its environment and starts its own processes there. */
bool plan_custom(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    (void)why;
    launch_add_single(a, out, in->spec->toolkit.command_line);
    return true;
}

/* customMpi: runs the command line in as many ranks as the settings request. */
bool plan_custom_mpi(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                     struct failure *why)
{
    (void)why;
    launch_add_mpi(a, in, out, in->spec->toolkit.command_line, NULL);
    return true;
}

/* ChainerMN: runs the script in ranks of mpirun. ChainerMN needs mpirun even for one rank. */
bool plan_chainer(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why)
{
    (void)why;
    launch_add_mpi(a, in, out, launch_script(a, in, in->spec->toolkit.args), NULL);
    return true;
}

/* Horovod: runs the script in ranks of mpirun. Horovod needs mpirun even for one rank. */
bool plan_horovod(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why)
{
    (void)why;
    launch_add_mpi(a, in, out, launch_script(a, in, in->spec->toolkit.args), NULL);
    return true;
}

/* Runs a Python script, or the toolkit's program with a configuration file. Several processes are
 * ranks of mpirun; a single process needs no mpirun. */
static bool plan_script_or_config(struct arena *a, const struct launch_input *in,
                                  const char *program, struct launch_plan *out)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    const char *command = t->script ? launch_script(a, in, t->args) : launch_config(a, in, program);
    if (launch_ranks(in) > 1)
        launch_add_mpi(a, in, out, command, NULL);
    else
        launch_add_single(a, out, command);
    return true;
}

/* Caffe: runs a Python script, or the program caffe with the configuration of a solver. */
bool plan_caffe(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                struct failure *why)
{
    (void)why;
    return plan_script_or_config(a, in, "caffe train --solver=", out);
}

/* CNTK: runs a Python script, or the program cntk with a BrainScript configuration. */
bool plan_cntk(struct arena *a, const struct launch_input *in, struct launch_plan *out,
               struct failure *why)
{
    (void)why;
    return plan_script_or_config(a, in, "cntk configFile=", out);
}

/* Caffe2: runs the script once on each node. The processes find each other through files in the
 * directory that the nodes share. The files are named as in the real service. */
bool plan_caffe2(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    const char *command_line = launch_script(a, in, in->spec->toolkit.args);
    (void)why;
    for (size_t i = 0; i < in->n_nodes; i++) {
        struct env v;
        env_init(&v, a);
        launch_set_rank(&v, in, in->n_nodes, i);
        const struct launch_process p = {.role = LAUNCH_MAIN,
                                         .rank = (int)i,
                                         .name = "main",
                                         .title = in->n_nodes > 1 ? arena_printf(a, "worker %zu", i)
                                                                  : NULL,
                                         .command_line = command_line,
                                         .env = v.items,
                                         .n_env = v.n,
                                         .stdout_name = arena_printf(a, "stdout-wk-%zu.txt", i),
                                         .stderr_name = arena_printf(a, "stderr-%zu.txt", i)};
        launch_add(a, out, &p);
    }
    out->end = LAUNCH_ENDS_WITH_ALL;
    return true;
}
