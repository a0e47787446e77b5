/* SPDX-License-Identifier: MIT
 *
 * What a job's processes find around them on a node: directories and AZ_BATCHAI_* variables.
 * Pure: strings in, strings out, everything arena-owned. Paths are the node's.
 */
#ifndef SCHEDULER_LAUNCH_ENV_H
#define SCHEDULER_LAUNCH_ENV_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/spec.h"

/* A list of variables that grows. A later entry of a name hides an earlier one. */
struct env {
    struct arena *a; /* borrowed */
    struct kv *items;
    size_t n, cap;
};

void env_init(struct env *v, struct arena *a);
void env_set(struct env *v, const char *name, const char *value);
/* Copies entries as they are, secrets included. */
void env_add(struct env *v, const struct kv *items, size_t n);
const char *env_get(const struct env *v, const char *name); /* NULL: not set */

/* Replaces $NAME and ${NAME}; "$$" and a "$" before anything else stay. A name that is not set is
 * an error that says so. NULL on error. */
const char *env_expand(const struct env *v, const char *text, struct err *e) MUST_CHECK;

/* One node of a job, as the launcher sees it. */
struct launch_node {
    const char *name, *root;
    int gpus;
    const char *address; /* at which the job's other nodes reach it */
};

struct launch_input {
    const struct job_spec *spec;
    const char *job_guid;
    int attempt;
    const struct launch_node *nodes; /* by rank */
    size_t n_nodes;
    int rank; /* whose environment is asked for */
};

struct launch_env {
    const char *job_dir;    /* AZ_BATCHAI_JOB_TEMP: <root>/jobs/<guid>-<attempt> */
    const char *job_mounts; /* AZ_BATCHAI_JOB_MOUNT_ROOT */
    const char *shared_dir; /* AZ_BATCHAI_SHARED_JOB_TEMP, below the first node's job_dir */
    const char *std_dir;
    const char *hostfile_path, *hostfile_text;
    const char *log_path; /* execution.log, or execution-<node>.log with several nodes */
    const char *prep_stdout, *prep_stderr;
    const char **output_dirs;
    size_t n_outputs;
    struct env env;
};

/* <root>/mounts, where cluster-level volumes are. */
const char *launch_mount_root(struct arena *a, const char *node_root);
/* ERR_INVALID_PROPERTY names the path that cannot be expanded. */
int launch_env(struct arena *a, const struct launch_input *in, struct launch_env *out,
               struct err *e) MUST_CHECK;

#endif
