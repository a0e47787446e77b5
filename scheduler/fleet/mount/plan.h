/* SPDX-License-Identifier: MIT
 *
 * Plans how a volume is mounted on a node. rules.c chooses: for local nodes a folder of the daemon,
 * for machines the site's first matching rule; for a file server, the host that serves it.
 * command.c writes the shell command. Pure: structs in, structs out, everything in the arena; no
 * access to disks.
 *
 * A secret (an account's key) reaches a command by a file of mode 0600 or by the environment; it is
 * never part of a command's text.
 */
#ifndef SCHEDULER_FLEET_MOUNT_PLAN_H
#define SCHEDULER_FLEET_MOUNT_PLAN_H

#include <stdbool.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "model/resource.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"

/* The folder, below the daemon's storage directory, of file servers that the daemon itself serves.
 * Each has a folder in it with its guid as the name. Because of the leading dot no storage account
 * can have this name. */
#define FILE_SERVERS_DIR ".fileservers"

/* How a machine reaches the shares of the daemon itself. */
struct mount_own {
    const char *why_not; /* why the machine cannot reach them; NULL: it can */
    const char *address; /* the daemon's address for the machine */
    int port;
    const char *user;
    const char *key_file, *hosts_file; /* on the machine */
};
/* The host name of the daemon's host key in hosts_file, instead of the daemon's address. */
#define OWN_HOST_ALIAS "batchaid-shares"

/* The node on which volumes are mounted. */
struct mount_node {
    const struct front_words *words;
    const struct site *site;     /* NULL: none */
    bool is_local;               /* a local node: shares are folders that the daemon can access */
    bool is_root;                /* the agent there may mount */
    int local_nodes;             /* as in struct sched_config */
    const char *storage_dir;     /* of the daemon */
    const char *root;            /* the node root */
    const char *mount_root;      /* below root: the parent of mount points */
    const char *work_dir;        /* below root: keys, logs and caches of the mounts */
    const struct mount_own *own; /* for machines; NULL: the daemon serves no shares to machines */
};

/* The steps on the node. Either `folder` or `command` is set. */
struct mount_plan {
    enum failure_code code;
    const char *what, *remedy; /* for a failure: see struct script_label */
    const char *target;        /* <mount_root>/<relativeMountPath> */
    const char *folder;        /* the target becomes a link to this folder */
    /* `folder` is a folder of the daemon, and every run may write to it */
    bool shared;
    /* `folder` is this folder or a folder below it; NULL: no restriction. Links that runs made on
     * the way to `folder` must not lead out of this folder. */
    const char *within;
    /* the command mounts this folder of the daemon, relative to its storage directory; or NULL */
    const char *own_folder;
    const char *command; /* for the shell; mounts at the target unless it is mounted already */
    const char *shown;   /* the part of `command` that mounts, for messages */
    /* for the shell, to be run before the node unmounts the target; NULL: nothing */
    const char *unmount;
    const char *file, *file_text; /* secret: a file of mode 0600 that the command reads, and removes
                                     at its end; or NULL */
    struct kv env[2];             /* secret */
    size_t n_env;
};

/* A volume to plan for. */
struct mount_wish {
    const struct mount_volume *volume;
    size_t i; /* the index of the volume in its list */
    /* the file server of a MOUNT_FILE_SERVER; NULL: it does not exist */
    const struct file_server *server;
};
/* False: the volume cannot be mounted; *why has the cause and the remedy. */
bool mount_plan(struct arena *a, const struct mount_node *node, const struct mount_wish *wish,
                struct mount_plan *out, struct failure *why);

/* Finds the host of a file server: the site's first matching rule; without a rule a folder of the
 * daemon, if there are local nodes. False: nobody serves it. */
bool file_server_backing(struct arena *a, const struct site *site, int local_nodes,
                         const char *storage_dir, const struct file_server *f,
                         struct file_server_backing *out);

/* --- command.c -------------------------------------------------------------------------- */

/* Values of the placeholders {account} {share} {container} {url} {options} {target} {key}
 * {workspace} {name}. NULL: the placeholder stays as text. */
struct mount_words {
    const char *account, *share, *url, *options, *target, *key, *workspace, *name;
};

/* Replaces the placeholders; with `quoted`, each becomes one word of the shell. */
const char *mount_fill(struct arena *a, const char *text, const struct mount_words *words,
                       bool quoted);

/* Wraps a mount command: makes the target, does nothing if it is mounted already, and succeeds only
 * if it is mounted at the end. `file` is removed at the end; `dir` (may be NULL) is made first. */
const char *mount_script(struct arena *a, const char *root, const char *target, const char *mount,
                         const char *file, const char *dir);
/* Runs `unmount` if something is mounted at the target. */
const char *unmount_script(struct arena *a, const char *root, const char *target,
                           const char *unmount);

#endif
