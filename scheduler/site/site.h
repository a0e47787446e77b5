/* SPDX-License-Identifier: MIT
 *
 * The site's configuration of the machines that have runs: the inventory, how volumes are mounted
 * there, which programs run containers. Plain structs, filled and owned by daemon/, borrowed by the
 * scheduler for its whole life. An empty site is the embedded default: local nodes only.
 */
#ifndef SCHEDULER_SITE_SITE_H
#define SCHEDULER_SITE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"
#include "nodeagent-proto/link/agents.h"
#include "nodeagent-proto/link/node.h"
#include "nodeagent-proto/wire/task.h"

/* What a node is said to have, instead of what it has; 0: as it has. */
struct site_capacity {
    int slots; /* 0: as many as it has cores */
    int cores;
    int64_t memory; /* bytes */
    int fake_gpus;  /* that a node without GPUs seems to have */
};

/* One entry of `inventory`: machines that are reached and used in the same way. Texts that are not
 * given are NULL. */
struct site_group {
    const char *user;            /* to log in as */
    const char *identity;        /* private key file */
    const char *password;        /* secret, read from password_file */
    const char *agent_socket;    /* an ssh-agent's */
    const char *become;          /* "sudo -n", or NULL: no root there */
    const char *node_root;       /* absolute */
    const char *run_user;        /* the account of runs if the agent is root; NULL: each run has
                                  * one of its own or, without a range of uids for them, `user` */
    const char *const *vm_sizes; /* upper-case, NULL-terminated; empty: any */
    enum vm_priority priority;
    struct site_capacity capacity;
    const char *health_command; /* run by the shell, as root if the agent is; NULL: none */
    int health_interval_s;
};

/* One machine. */
struct site_machine {
    const char *name; /* the unique name that people use: HOST, or HOST:PORT, [V6]:PORT if the port
                         is not 22 */
    const char *host; /* name or address to connect to */
    int port;
    const struct site_group *group;
};

enum site_mount_type {
    SITE_MOUNT_LOCAL, /* `source` is a folder of the node: a symbolic link to it */
    SITE_MOUNT_BIND,
    SITE_MOUNT_NFS,
    SITE_MOUNT_CIFS,
    SITE_MOUNT_SSHFS,
    SITE_MOUNT_BLOBFUSE2,
    SITE_MOUNT_COMMAND
};

/* How a share or container is mounted on a machine. The first rule whose patterns match counts. In
 * source, options, command and unmount {account} {share} {container} {url} {options} {target} are
 * filled in, quoted for the shell where a shell reads them; {key} is the name of a 0600 file with
 * the account's key, and $BATCHAI_KEY holds it in the environment. */
struct site_mount_rule {
    const char *account, *share; /* fnmatch(3) patterns; share also stands for containers */
    bool files, blobs; /* whether the rule is for file shares, for blob containers, or both */
    enum site_mount_type type;
    const char *source;
    const char *options; /* NULL: none */
    const char *command; /* SITE_MOUNT_COMMAND only */
    const char *unmount; /* NULL: umount(8) */
};

/* Who serves a file server. First match counts. */
struct site_file_server_rule {
    const char *name;      /* fnmatch(3) pattern of the resource's name */
    const char *nfs;       /* "HOST:/path", {workspace} {name} filled in; or NULL */
    const char *machine;   /* name of a machine of the inventory that is to export `directory` */
    const char *directory; /* the directory on that machine; {workspace} {name} filled in */
    const char *options;   /* of mount(8), or NULL */
};

struct site {
    const struct site_machine *machines;
    size_t n_machines;
    const struct site_mount_rule *mounts;
    size_t n_mounts;
    const struct site_file_server_rule *file_servers;
    size_t n_file_servers;
    const char *const *container_runtimes; /* in order of choice: "docker", "podman" */
    size_t n_container_runtimes;
    bool image_users;          /* with docker runs are the images' users, not their accounts */
    struct task_limits limits; /* of runs and their preparation */
    const char *shared_dir;    /* that all machines see, for directories of runs; NULL: none */
    int64_t first_uid, n_uids; /* uids for accounts of runs; 0: there are no such accounts */
    bool local_accounts;       /* local nodes can have them */
    bool admin_is_root;        /* what runs as an administrator has the agent's rights */
    /* The state directory, which is hidden from runs on local nodes as soon as there are other
     * people than the first principal, because they run as the daemon's user. NULL: they do not, or
     * the kernel cannot hide it (lib/confine.h). */
    const char *hidden;
    /* Runs on local nodes reach the daemon's own files: they are the first principal's alone. */
    bool first_alone;
    bool foreign_urls;                   /* files come from hosts of others, and go there */
    struct site_capacity local_capacity; /* of each local node */

    bool reclaim; /* machines for dedicated pools are lent to low-priority ones, and taken back */

    const char *known_hosts; /* the daemon's own file */
    bool strict_host_keys;
    const struct node_agents *agents; /* NULL only without machines */
    int connect_limit;                /* how many links may be connecting at once */
    int connect_timeout_s, keepalive_s;
    int dead_after_s;     /* without a byte: the link is down */
    int unusable_after_s; /* without a link: the node is unusable, its run lost */
    int health_interval_s;
    int64_t min_free_disk_bytes, local_min_free_bytes;
    int max_clock_skew_s;
};

/* How to reach a machine: everything that a link needs except loop, log and callbacks. Borrows. */
struct node_ssh_config site_ssh_config(const struct site *s, const struct site_machine *m);

#endif
