/* SPDX-License-Identifier: MIT
 *
 * The site's configuration of the machines for runs: the inventory, how volumes are mounted there,
 * and the container runtimes. Plain structs, filled and owned by daemon/, borrowed by the scheduler
 * for its whole life. An empty site is the embedded default: local nodes only.
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

/* The configured capacity of a node, instead of the reported one; 0: as reported. */
struct site_capacity {
    int slots; /* 0: as many as cores */
    int cores;
    int64_t memory; /* bytes */
    int fake_gpus;  /* how many GPUs a node without GPUs reports */
};

/* An entry of `inventory`: machines with equal access and use. Texts that are not given are
 * NULL. */
struct site_group {
    const char *user;         /* to log in as */
    const char *identity;     /* private key file */
    const char *password;     /* secret, read from password_file */
    const char *agent_socket; /* an ssh-agent's */
    const char *become;       /* "sudo -n", or NULL: no root there */
    const char *node_root;    /* absolute */
    const char *run_user; /* the account of runs if the agent is root; NULL: each run has its own
                             account or, without a range of uids, `user` */
    const char *const *vm_sizes; /* upper-case, NULL-terminated; empty: any */
    enum vm_priority priority;
    struct site_capacity capacity;
    /* a command for the shell, as root if the agent is root; NULL: none */
    const char *health_command;
    int health_interval_s;
};

/* A machine of the inventory. */
struct site_machine {
    /* the unique name for people: HOST, or HOST:PORT, [V6]:PORT if the port is not 22 */
    const char *name;
    const char *host; /* name or address to connect to */
    int port;
    const struct site_group *group;
};

enum site_mount_type {
    SITE_MOUNT_LOCAL, /* `source` is a folder of the node; the mount is a symbolic link */
    SITE_MOUNT_BIND,
    SITE_MOUNT_NFS,
    SITE_MOUNT_CIFS,
    SITE_MOUNT_SSHFS,
    SITE_MOUNT_BLOBFUSE2,
    SITE_MOUNT_COMMAND
};

/* How a share or container is mounted on a machine. The first rule with matching patterns is used.
 * In source, options, command and unmount the placeholders {account} {share} {container} {url}
 * {options} {target} are replaced, quoted for the shell in shell commands; {key} is the name of a
 * 0600 file with the account's key, and $BATCHAI_KEY has the key in the environment. */
struct site_mount_rule {
    const char *account, *share; /* fnmatch(3) patterns; share also matches containers */
    bool files, blobs; /* whether the rule is for file shares, for blob containers, or both */
    enum site_mount_type type;
    const char *source;
    const char *options; /* NULL: none */
    const char *command; /* SITE_MOUNT_COMMAND only */
    const char *unmount; /* NULL: umount(8) */
};

/* The host of a file server. The first matching rule is used. */
struct site_file_server_rule {
    const char *name;      /* fnmatch(3) pattern of the resource's name */
    const char *nfs;       /* "HOST:/path" with {workspace} {name} replaced; or NULL */
    const char *machine;   /* the machine of the inventory that must export `directory` */
    const char *directory; /* the directory on that machine; with {workspace} {name} replaced */
    const char *options;   /* options of mount(8), or NULL */
};

struct site {
    const struct site_machine *machines;
    size_t n_machines;
    const struct site_mount_rule *mounts;
    size_t n_mounts;
    const struct site_file_server_rule *file_servers;
    size_t n_file_servers;
    const char *const *container_runtimes; /* in order of preference: "docker", "podman" */
    size_t n_container_runtimes;
    bool image_users; /* with docker, processes have the images' users, not the runs' accounts */
    struct task_limits limits; /* of runs and their preparation */
    /* a directory that all machines see, for directories of runs; NULL: none */
    const char *shared_dir;
    int64_t first_uid, n_uids; /* uids for accounts of runs; 0: no accounts */
    bool local_accounts;       /* runs on local nodes can have accounts */
    bool admin_is_root;        /* administrators' tasks have the agent's rights */
    /* The state directory. Runs on local nodes run as the daemon's user, so it is hidden from them
     * as soon as there are principals other than the first. NULL: runs have accounts, or the kernel
     * cannot hide it (lib/confine.h). */
    const char *hidden;
    /* Runs on local nodes can reach the files of the daemon, so only the first principal may use
     * local nodes. */
    bool first_alone;
    bool foreign_urls; /* files may be downloaded from and uploaded to foreign hosts */
    struct site_capacity local_capacity; /* of each local node */

    bool reclaim; /* machines for dedicated pools are lent to low-priority pools, and taken back */

    /* For shares without a rule: machines mount them from the daemon (fleet_config.shares). Port 0:
     * they do not. */
    const char *shares_address; /* NULL: the address from which the machine's link comes */
    int shares_port;

    /* directory of machines with a file for each GPU that names its runs, for dcgm-exporter; NULL:
     * no files */
    const char *gpu_runs_dir;

    const char *known_hosts; /* the daemon's file, not OpenSSH's */
    bool strict_host_keys;
    const struct node_agents *agents; /* NULL only without machines */
    int connect_limit;                /* how many links may be connecting at once */
    int connect_timeout_s, keepalive_s;
    int dead_after_s;     /* seconds without a byte until the link counts as down */
    int unusable_after_s; /* seconds without a link until the node becomes unusable and its runs
                             lost */
    int health_interval_s;
    int64_t min_free_disk_bytes, local_min_free_bytes;
    int max_clock_skew_s;
};

/* The settings of a machine's link, without loop, log and callbacks. The result borrows its
 * texts. */
struct node_ssh_config site_ssh_config(const struct site *s, const struct site_machine *m);

#endif
