/* SPDX-License-Identifier: MIT
 *
 * Containers: one for each run and node. The container itself only waits; the run's processes are
 * executed in it. Short shell programs (container.c) call docker or podman on the node. They get
 * all parameters in their environment, so that nothing has to be quoted and no secret is in an
 * argument list.
 *
 * The container has the name of the attempt and a label with the node root. It uses the host's
 * network. It sees the node root, the targets of its mounts and the directory that the run's nodes
 * share, each at the path that it has on the host.
 */
#ifndef SCHEDULER_FLEET_CONTAINER_CONTAINER_H
#define SCHEDULER_FLEET_CONTAINER_CONTAINER_H

#include "model/spec.h"
#include "scheduler/fleet/script/env.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/site/site.h"

/* A run's container on one node; texts are borrowed and outlive the script. */
struct container {
    const struct front_words *words;
    const struct container_spec *spec;
    const char *runtime; /* "docker" or "podman" */
    const char *name;
    /* paths on the node; run_dir: the parent directory of the container's files */
    const char *root, *run_dir;
    const char *work_dir;   /* the working directory, unless the image sets it */
    const char *mounts_dir; /* the directory with the pool's volumes */
    const char *shared_dir; /* the directory that the run's nodes share, perhaps below another root;
                               NULL: none */
    const char *log_path;   /* the run's log, for messages about progress */
    const char *user;       /* the run's account; NULL: none */
    const struct site *site;
    bool agent_is_root;
    int gpus;
    const char *devices;   /* the numbers of its GPUs on the node: "0,2"; NULL: all */
    const char *gpu_files; /* the device files of these GPUs below /dev: "nvidia1 dri/renderD128" */
    struct task_limits limits;
    /* the directory that must not be reached by links in the container's mounts */
    struct task_confine confine;
};

/* The first of the site's runtimes that the node has; NULL: none. If the site lists none, podman is
 * preferred if the agent is root, and docker otherwise. */
const char *container_runtime(const struct site *site, const char *node_runtimes,
                              bool agent_is_root);
/* A word for the users of the container's processes; docs/machines.md has the same table.
 *   "mapped": the image's user inside the container, the run's account outside; other users of
 *     the image have numbers near the account's number (NODE_UID_ROOM). An account without such
 *     numbers: as "account".
 *   "rootless": the image's user inside, the agent's own account outside.
 *   "account", "agent": the run's account, or the agent's own, inside and outside.
 *   "root": root, inside and outside, if the image's user is root; otherwise "account" or "agent".
 *   "image": the image's user, inside and outside. */
const char *container_who(const struct container *c);

/* Pulls the image of `c` unless the node has it; a failure is only logged. */
void container_add_pull(struct script *sc, struct arena *a, const struct container *c,
                        const char *id);
/* Pulls the image unless the node has it, and starts the container unless it runs. The ids of the
 * commands begin with `prefix`. `env` is the environment of the run's processes; it is written to a
 * file. *said gets the output of the start, for container_id(). */
void container_add_start(struct script *sc, struct arena *a, const struct container *c,
                         const char *prefix, const struct env *env, const char **said);
/* The runtime's id of a started container, from the output of its start; NULL: not started. In the
 * arena. */
const char *container_id(struct arena *a, const char *said);
/* The runtime's message about a container that did not start; NULL: another failure, or a failure
 * without a message. Borrowed from `why`. */
const char *container_error(const struct failure *why);
/* Removes the container and ends all processes in it; safe to repeat. If the container cannot be
 * removed the script fails: no other run may start on the node then. */
void container_add_removal(struct script *sc, struct arena *a, const struct container *c,
                           const char *prefix);
/* Removes all containers that earlier runs of this node root left. */
void container_add_sweep(struct script *sc, struct arena *a, const struct front_words *words,
                         const char *root, const char *id);
/* Turns a task of the run (command line, cwd, output paths) into a task that executes it in the
 * container and passes signals on. Without a command line the image's default command runs. `own`:
 * further variables of this task; no secrets. */
void container_wrap(struct arena *a, const struct container *c, const struct kv *own, size_t n_own,
                    struct task_spec *task);

#endif
