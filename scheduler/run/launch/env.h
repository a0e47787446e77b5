/* SPDX-License-Identifier: MIT
 *
 * The environment of a run's processes on a node: directories, and variables with the names that
 * the front gives. Pure: strings in, strings out, everything in the arena. Paths are paths on the
 * node.
 */
#ifndef SCHEDULER_RUN_LAUNCH_ENV_H
#define SCHEDULER_RUN_LAUNCH_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/spec.h"
#include "scheduler/fleet/script/env.h"
#include "scheduler/run/launch/launch.h"

/* The name of the directory that the run's nodes share, below the attempt's directory. */
#define LAUNCH_SHARED "shared"

struct launch_env {
    const struct front_words *words;
    const char *run_dir; /* VAR_RUN_DIR: <root>/RUNS_DIR/<guid>-<attempt>, or "wd" of its place */
    const char *run_mounts; /* VAR_RUN_MOUNTS */
    const char *shared_dir; /* VAR_SHARED_DIR */
    const char *std_dir;
    const char *hostfile_path, *hostfile_text;
    const char *log_path; /* the run's log on this node: front_log_name(); NULL: none */
    const char **output_dirs;
    size_t n_outputs;
    struct env env;
};

/* The directory of an attempt on a node. */
const char *launch_run_dir(struct arena *a, const char *root, const char *guid, int attempt);
/* The directory of a run in the front's place, on the node of this rank. */
const char *launch_place_dir(struct arena *a, const char *root, const struct place_spec *place,
                             int rank);
/* The run's directory below `root`, a directory that all machines see. */
const char *launch_shared_dir(struct arena *a, const char *root, const char *guid, int attempt);
/* The path of the host file on the node with this rank. */
const char *launch_host_file(struct arena *a, const struct launch_input *in, int rank);
/* Computes the environment of the processes on the node with this rank. ERR_INVALID_PROPERTY names
 * the path that cannot be expanded. */
int launch_env(struct arena *a, const struct launch_input *in, int rank, struct launch_env *out,
               struct err *e) MUST_CHECK;

/* Whether this path on the node (may be NULL) is removed with the attempt's directory: true for
 * paths in it, except for volumes that are mounted there. */
bool launch_is_of_attempt(const struct launch_env *env, const char *path);

/* Adds the further variables for commands that another node of the run starts here. */
void launch_env_remote(struct env *env, const char *address, const char *run_dir);

#endif
