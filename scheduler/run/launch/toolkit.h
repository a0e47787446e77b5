/* SPDX-License-Identifier: MIT
 *
 * What the toolkits' files share, and their functions, which launch.c calls; private to launch/.
 * Each function adds its processes to a plan that has the preparations already, and sets how the
 * run ends.
 *
 * Scripts, paths and arguments become a command line for the node's shell as they stand in the
 * run's document, because variables in them are the node's. Only a path is quoted.
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
/* Adds the one main process of a run, on its first node, with whose end the run ends. */
void launch_add_single(struct arena *a, struct launch_plan *plan, const char *command_line);

/* --- command lines -----------------------------------------------------------------------------
 */

/* The script of the settings with its interpreter, and these arguments (NULL: none). */
const char *launch_script(struct arena *a, const struct launch_input *in, const char *args);
/* A program with the configuration file of the settings behind `option`, and their arguments. */
const char *launch_config(struct arena *a, const struct launch_input *in, const char *option);

/* --- ranks -------------------------------------------------------------------------------------
 */

/* How many processes the settings ask for: one for each node unless they say otherwise. */
size_t launch_ranks(const struct launch_input *in);
/* `total` processes on the run's nodes: each node has a block of consecutive ranks, and the first
 * nodes one more if they cannot all have as many. Where one of them is. */
struct launch_place {
    size_t node, local, local_count; /* its node, its number there, and of how many */
};
struct launch_place launch_place_of(const struct launch_input *in, size_t total, size_t rank);
/* How many of `total` processes a node has. */
size_t launch_share(const struct launch_input *in, size_t total, size_t node);
/* Sets RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, and the front's VAR_RANK. */
void launch_set_rank(struct env *v, const struct launch_input *in, size_t total, size_t rank);

/* --- addresses ---------------------------------------------------------------------------------
 */

/* HOST:PORT of the i-th thing of a run that listens, which is on this node. 0 is the run's
 * MASTER_PORT. */
const char *launch_endpoint(struct arena *a, const struct launch_input *in, size_t node, size_t i);

/* A file of the run's own, at the same path on all its nodes, where they may meet. NULL: they share
 * a directory by sshfs, which has no locks. */
const char *launch_meeting_file(struct arena *a, const struct launch_input *in);

/* --- programs of fronts that have no toolkits --------------------------------------------------
 */

/* Adds the place's program as the one main process, on the first node. */
bool plan_program(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why);

/* --- launchers ---------------------------------------------------------------------------------
 */

/* Sets what MPI's launchers on this node need to reach the others. */
void launchers_set(struct arena *a, const struct launch_input *in, int rank, struct env *env);

/* --- mpirun ------------------------------------------------------------------------------------
 */

/* Adds mpirun as the one main process: it starts as many ranks as the settings ask for, and each
 * runs the command line in a shell of its own, with its node's variables and these. */
void launch_add_mpi(struct arena *a, const struct launch_input *in, struct launch_plan *plan,
                    const char *command_line, const struct env *own);

#endif
