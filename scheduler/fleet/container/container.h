/* SPDX-License-Identifier: MIT
 *
 * Containers: one for each run and node. It only stays up; the run's processes are executed in it.
 * Short shell programs (container.c) call docker or podman on the node. They get all parameters in
 * their environment, so that nothing has to be quoted and no secret is in an argument list.
 *
 * The container has the name of the attempt and a label with the node root. It uses the host's
 * network, and sees the node root, the targets of its mounts and the directory that the run's nodes
 * share at the same paths as the host.
 */
#ifndef SCHEDULER_FLEET_CONTAINER_CONTAINER_H
#define SCHEDULER_FLEET_CONTAINER_CONTAINER_H

#include "model/spec.h"
#include "scheduler/fleet/script/env.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/site/site.h"

/* One run's container on one node; texts are borrowed and outlive the script. */
struct container {
    const struct front_words *words;
    const struct container_spec *spec;
    const char *runtime; /* "docker" or "podman" */
    const char *name;
    const char *root, *run_dir; /* on the node; run_dir: of what belongs to the container */
    const char *work_dir;       /* where its processes begin, unless that is the image's to say */
    const char *mounts_dir;     /* with the pool's volumes */
    const char *shared_dir;     /* of the run's nodes, perhaps below another root; NULL: none */
    const char *log_path;       /* the run's log: progress goes there */
    const char *user;           /* the run's account; NULL: it has none */
    const struct site *site;
    bool agent_is_root;
    int gpus;
    const char *devices; /* their numbers on the node: "0,2"; NULL: all */
    struct task_limits limits;
    struct task_confine confine; /* what links in its mounts may not lead to */
};

/* The first of the site's runtimes that the node has; NULL: none. Where the site names none, podman
 * comes first if the agent is root, and docker elsewhere. */
const char *container_runtime(const struct site *site, const char *node_runtimes,
                              bool agent_is_root);
/* Who its processes are, a word for its programs: the same table is in docs/machines.md.
 *   "mapped": the image's user inside, the run's account outside; its other users have numbers
 *     beside the account's (NODE_UID_ROOM). An account without such: as "account".
 *   "rootless": the image's user inside, the agent's own account outside.
 *   "account", "agent": the run's account, or the agent's own, inside and outside.
 *   "root": root, inside and outside, if that is the image's user; else as "account" or "agent".
 *   "image": the image's user, inside and outside. */
const char *container_who(const struct container *c);

/* Pulls the image of `c` unless it is there; no more is done with it, and a failure is only logged.
 */
void container_add_pull(struct script *sc, struct arena *a, const struct container *c,
                        const char *id);
/* Pulls the image unless it is there, and starts the container unless it runs. `prefix` begins the
 * ids of the commands. `env` is what the run's processes get: it is written to a file. *`said` is
 * for container_id(), once it runs. */
void container_add_start(struct script *sc, struct arena *a, const struct container *c,
                         const char *prefix, const struct env *env, const char **said);
/* The runtime's id of a container that has started, by what its start said; NULL: it has not. The
 * arena's. */
const char *container_id(struct arena *a, const char *said);
/* What the runtime said of a container that did not start; NULL: that is not why something failed,
 * or nothing was said. Borrowed from `why`. */
const char *container_error(const struct failure *why);
/* Removes the container, whatever runs in it; safe to repeat. A container that stays fails the
 * script: nothing else may start there. */
void container_add_removal(struct script *sc, struct arena *a, const struct container *c,
                           const char *prefix);
/* Removes all that earlier runs of this node root left behind. */
void container_add_sweep(struct script *sc, struct arena *a, const struct front_words *words,
                         const char *root, const char *id);
/* Turns a task of the run (command line, cwd, output paths) into one that executes it in the
 * container and passes signals on. Without a command line it is what the image starts by itself.
 * `own`: variables of this task, on top of the container's; no secrets. */
void container_wrap(struct arena *a, const struct container *c, const struct kv *own, size_t n_own,
                    struct task_spec *task);

#endif
