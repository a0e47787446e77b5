/* SPDX-License-Identifier: MIT
 *
 * Plans how a volume gets to a node. rules.c chooses: for local nodes a folder of the
 * daemon's, for machines the site's first matching rule; for file servers it finds the host that
 * serves. command.c writes the shell command. Pure: structs in, structs out, everything
 * arena-owned; nothing touches a disk.
 *
 * A secret (an account's key) reaches a command by a file of mode 0600 or by the environment; it
 * is never part of a command's text.
 */
#ifndef SCHEDULER_FLEET_MOUNT_PLAN_H
#define SCHEDULER_FLEET_MOUNT_PLAN_H

#include <stdbool.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "model/resource.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"

/* The folder below the daemon's storage directory for file servers that it serves itself, each with
 * its guid as name. No storage account can have this name. */
#define FILE_SERVERS_DIR ".fileservers"

/* The node that volumes are to be mounted on. */
struct mount_node {
    const struct front_words *words;
    const struct site *site; /* NULL: none */
    bool is_local;           /* a local node of the daemon's: shares are folders that it can see */
    bool is_root;            /* the agent there may mount */
    int local_nodes;         /* struct sched_config's */
    const char *storage_dir; /* the daemon's own */
    const char *root;        /* the node root */
    const char *mount_root;  /* below it: where the volumes go */
    const char *work_dir;    /* below it: keys, logs and caches of these mounts */
};

/* What to do on the node. Either `folder` or `command` is set. */
struct mount_plan {
    enum failure_code code;
    const char *what, *remedy; /* of a failure: see struct script_label */
    const char *target;        /* <mount_root>/<relativeMountPath> */
    const char *folder;        /* the target becomes a link to it */
    bool shared;               /* ... which is the daemon's own, for every run to write in */
    const char *command; /* for the shell; mounts at the target unless something is mounted there */
    const char *shown;   /* the part of `command` that mounts, for people */
    const char *unmount; /* for the shell, before the node unmounts by itself; NULL: nothing */
    const char *file, *file_text; /* secret: a file of mode 0600 that the command reads, and takes
                                     away when it ends; or NULL */
    struct kv env[2];             /* secret */
    size_t n_env;
};

/* A volume to plan for. */
struct mount_wish {
    const struct mount_volume *volume;
    size_t i;                         /* its place in its list */
    const struct file_server *server; /* that a MOUNT_FILE_SERVER names; NULL: there is none */
};
/* False: the volume cannot be mounted; *why says what is missing and what to do. */
bool mount_plan(struct arena *a, const struct mount_node *node, const struct mount_wish *wish,
                struct mount_plan *out, struct failure *why);

/* Finds who serves a file server: the site's first matching rule; without one a folder of the
 * daemon's, if there are local nodes. False: nobody. */
bool file_server_backing(struct arena *a, const struct site *site, int local_nodes,
                         const char *storage_dir, const struct file_server *f,
                         struct file_server_backing *out);

/* --- command.c -------------------------------------------------------------------------- */

/* Values of the placeholders {account} {share} {container} {url} {options} {target} {key}
 * {workspace} {name}. NULL: the placeholder stays as it is. */
struct mount_words {
    const char *account, *share, *url, *options, *target, *key, *workspace, *name;
};

/* Fills in the placeholders; with `quoted`, each as one word of the shell. */
const char *mount_fill(struct arena *a, const char *text, const struct mount_words *words,
                       bool quoted);

/* Wraps a command that mounts: makes the target, does nothing if something is mounted there
 * already, and succeeds only once something is mounted there. `file` is removed at the end; `dir`
 * (may be NULL) is made first. */
const char *mount_script(struct arena *a, const char *root, const char *target, const char *mount,
                         const char *file, const char *dir);
/* Runs `unmount` if something is mounted at the target. */
const char *unmount_script(struct arena *a, const char *root, const char *target,
                           const char *unmount);

#endif
