/* SPDX-License-Identifier: MIT
 *
 * Shared by the toolkits' files, and their functions, which launch.c calls; private to launch/.
 * Each function adds its processes to a plan that has the preparations already, and sets the rule
 * for the run's end.
 *
 * Scripts, paths and arguments of the run's document are put unchanged into a command line for the
 * node's shell, which replaces variables in them by the node's values. Only paths are quoted.
 */
#ifndef SCHEDULER_RUN_LAUNCH_TOOLKIT_H
#define SCHEDULER_RUN_LAUNCH_TOOLKIT_H

#include "scheduler/fleet/script/env.h"
#include "scheduler/run/launch/launch.h"

typedef bool toolkit_plan(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                          struct failure *why);

toolkit_plan plan_caffe, plan_caffe2, plan_chainer, plan_cntk, plan_custom, plan_custom_mpi,
    plan_horovod, plan_pytorch, plan_tensorflow;

/* Appends a copy. */
void launch_add(struct arena *a, struct launch_plan *plan, const struct launch_process *p);
/* Adds the single main process of a run, on its first node; the run ends with it. */
void launch_add_single(struct arena *a, struct launch_plan *plan, const char *command_line);

/* --- command lines -----------------------------------------------------------------------------
 */

/* The command line of the script in the settings: its interpreter, the script, and `args` (NULL:
 * none). */
const char *launch_script(struct arena *a, const struct launch_input *in, const char *args);
/* The command line of a program with a configuration file: `option`, then the file and the
 * arguments from the settings. */
const char *launch_config(struct arena *a, const struct launch_input *in, const char *option);

/* --- ranks -------------------------------------------------------------------------------------
 */

/* How many processes the settings request: by default one for each node. */
size_t launch_ranks(const struct launch_input *in);
/* Distributes `total` processes over the run's nodes: each node has a block of consecutive ranks,
 * and the first nodes have one more if the division leaves a rest. This is the place of one
 * process. */
struct launch_place {
    size_t node, local, local_count; /* its node, its number on it, and the node's count */
};
struct launch_place launch_place_of(const struct launch_input *in, size_t total, size_t rank);
/* How many of `total` processes a node has. */
size_t launch_share(const struct launch_input *in, size_t total, size_t node);
/* Sets RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, and the front's VAR_RANK. */
void launch_set_rank(struct env *v, const struct launch_input *in, size_t total, size_t rank);

/* --- addresses --- */

/* HOST:PORT of the run's i-th listener, which is on node `node`. Listener 0 has the run's
 * MASTER_PORT. */
const char *launch_endpoint(struct arena *a, const struct launch_input *in, size_t node, size_t i);

/* The path of a file by which the run's processes find each other; the path is the same on all
 * nodes. NULL: the nodes share a directory by sshfs, and sshfs has no locks. */
const char *launch_meeting_file(struct arena *a, const struct launch_input *in);

/* --- programs of fronts that have no toolkits --------------------------------------------------
 */

/* Adds the place's program as the single main process, on the first node. */
bool plan_program(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why);

/* --- launchers ---------------------------------------------------------------------------------
 */

/* Sets the variables that MPI's launchers on this node need to reach the other nodes. */
void launchers_set(struct arena *a, const struct launch_input *in, int rank, struct env *env);

/* --- mpirun ------------------------------------------------------------------------------------
 */

/* Adds mpirun as the single main process: it starts as many ranks as the settings request. Each
 * rank runs the command line in a separate shell, with the variables of its node and `own`. */
void launch_add_mpi(struct arena *a, const struct launch_input *in, struct launch_plan *plan,
                    const char *command_line, const struct env *own);

#endif
