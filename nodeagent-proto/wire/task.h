/* SPDX-License-Identifier: MIT
 *
 * The structs that both ends of a link exchange: a node's facts, a task's specification and its
 * status. Plain borrowed text; message.h carries it over the wire.
 */
#ifndef NODEAGENT_PROTO_WIRE_TASK_H
#define NODEAGENT_PROTO_WIRE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/kv.h"

/* A life of the daemon, from a start to the next. The term grows with each start. Two lives may
 * have one term after a backup was restored: the random part distinguishes them. */
struct node_epoch {
    int64_t term;   /* 0: not known */
    const char *id; /* random, [a-z0-9]; NULL: none */
};

/* The only runtime of a fake node. A fake node runs no processes: the daemon sends it the commands
 * of a container without the container. */
#define RUNTIME_SCRIPTED "scripted"

struct node_facts { /* from hello */
    const char *agent_version, *hostname, *os, *arch;
    const char *incarnation; /* random id of this node root; a wiped root gets a new id */
    const char *boot_id;
    int cpus;
    int64_t memory_bytes, disk_free_bytes;
    const char *gpus;     /* JSON array text, "[]" if none: bus, model, uuid, driver */
    int n_gpus;           /* how many GPUs `gpus` lists; set when facts are read */
    const char *user;     /* the name of the agent's account */
    bool is_root;         /* the agent may mount, make accounts, and run tasks as other accounts */
    const char *runtimes; /* container programs on the node, separated by blanks: "docker podman" */
    const char *mpi;      /* the path of mpirun in PATH, or "" */
    int64_t time_us;      /* the machine's clock at the answer */
};

/* The health of a node. The daemon asks for it regularly. */
struct node_health {
    int64_t time_us; /* the machine's clock */
    int64_t disk_free_bytes, disk_total_bytes;
    const char *disk_error; /* why no file can be written below the root, or "" */
    int gpus;               /* how many GPUs the driver reports */
    const char *gpu_errors; /* errors of the driver, or "" */
};

/* Members of struct node_usage, by their names in the protocol: counters since the machine's boot,
 * and present levels. */
#define NODE_USAGE_COUNTERS(X)                                                                     \
    X(cpu_ticks)                                                                                   \
    X(cpu_busy_ticks)                                                                              \
    X(disk_read_bytes)                                                                             \
    X(disk_write_bytes)                                                                            \
    X(disk_read_ops)                                                                               \
    X(disk_write_ops)                                                                              \
    X(network_in_bytes)                                                                            \
    X(network_out_bytes)
#define NODE_USAGE_LEVELS(X) X(memory_bytes) X(disk_bytes)

/* The load of a node's machine. The daemon asks for it only while somebody needs it. */
struct node_usage {
    int64_t time_us; /* the machine's clock */
#define NODE_USAGE_MEMBER(name) int64_t name;
    NODE_USAGE_COUNTERS(NODE_USAGE_MEMBER)
    NODE_USAGE_LEVELS(NODE_USAGE_MEMBER)
#undef NODE_USAGE_MEMBER
};

struct node_dir_entry {
    const char *name;
    bool is_dir;
    int64_t size, mtime_us;
    int64_t mode; /* st_mode; 0: not known, because an older agent does not send it */
};

/* Numbers (user ids) for accounts of jobs; the first number is the group of all jobs. An account
 * with room has NODE_UID_ROOM numbers on either side of its number, for the other users of a
 * container. Its number is an odd multiple of NODE_UID_ROOM; no other account has such a number. */
#define NODE_UID_ROOM    65536
#define NODE_UIDS_MIN    1000
#define NODE_UID_LOWEST  65536 /* distributions assign lower numbers to people and services */
#define NODE_UID_HIGHEST 4294967294LL

enum task_state {
    TASK_UNKNOWN = 0, /* the node has no record of the task */
    TASK_RUNNING,
    TASK_EXITED,
    TASK_FAILED_TO_START, /* no shell, bad directory, output file not writable: see why */
    TASK_LOST             /* the supervisor vanished without a record (node rebooted, killed) */
};

/* The exit code of a task whose program does not exist, as in shells. */
#define TASK_NO_PROGRAM 127
/* The first word of an argv that runs the interpreter of Windows command lines, wherever it is on
 * the node; the second word is the line. On a node without it, the task fails to start. */
#define TASK_CMD "batchai-cmd"
/* The first two words of an argv that must fail to start; the third word is the reason. */
#define TASK_NODE   "batchai-node"
#define TASK_REFUSE "refuse"

struct task_status {
    const char *id;
    enum task_state state;
    int64_t started_us, ended_us;
    int exit_code; /* after a normal exit, otherwise -1; TASK_NO_PROGRAM */
    int signal;    /* the signal that killed the task, otherwise 0 */
    /* for TASK_FAILED_TO_START, TASK_LOST; for TASK_EXITED if the supervisor knows the cause of the
     * end (time limit, memory limit); otherwise NULL */
    const char *why;
    const char *stderr_tail; /* last lines of its stderr, at most NODE_TAIL_MAX bytes; or NULL */
    /* For TASK_EXITED: what all processes of the task used; `measured` false: not known. */
    bool measured;
    int64_t user_us, kernel_us; /* processor time */
    int64_t memory_peak;        /* bytes, with page cache where the kernel counts it; 0: unknown */
    int64_t memory_used;        /* bytes: the highest sample without page cache; 0: not sampled */
    int64_t read_bytes, write_bytes, read_ops, write_ops; /* of disks; ops 0: unknown */
};

#define NODE_TAIL_MAX 2048

/* The limits of a task; 0: no limit. */
struct task_limits {
    /* bytes: with cgroups for all processes of the task together, otherwise for each process */
    int64_t memory_bytes;
    int cpus;       /* with cgroups only */
    int processes;  /* with cgroups for the task, otherwise for its account (root: no limit) */
    int open_files; /* for each process */
    /* tasks with this group name share the first three limits, with cgroups; NULL: none */
    const char *group;
    const char *gpus; /* the numbers of the GPUs that the task may open, in the node's order: "0,2";
                         NULL: all. Only with cgroups, and if the agent is root */
};

/* A directory that is hidden from the task and its command, except the listed parts
 * (lib/confine.h); `hide` NULL: nothing is hidden. */
struct task_confine {
    const char *hide;
    const char *const *reach; /* absolute */
    size_t n_reach;
};

/* A folder of the node that the task also sees at another path, if the agent is root and may make
 * private mounts; otherwise the second path does not exist. NULL: none. */
struct task_view {
    const char *source, *target;
};

struct task_spec {
    const char *id;           /* unique for ever; [A-Za-z0-9_.-], at most 100 characters */
    const char *command_line; /* for the shell: bash if the node has it, otherwise sh */
    /* program and arguments, run without a shell; the program is searched in PATH or cwd. Then
     * command_line is only shown. NULL: the shell */
    const char *const *argv;
    size_t n_argv;
    const char *cwd;      /* made if missing */
    const struct kv *env; /* added to a small clean environment; may hold secrets */
    size_t n_env;
    const char *path; /* directories that are put in front of PATH; NULL: none */
    const char *stdout_path, *stderr_path; /* appended to; parents made if missing */
    const char *log_path; /* the run's log, for lines about start and exit; or NULL */
    const char *step;     /* "job preparation", "job", "setup task": for the log lines */
    const char *title;    /* the text in the log instead of command_line; NULL: command_line */
    const char *user;     /* the account of the task; NULL: the agent's */
    /* the account whose rights open the task's files; NULL: `user` */
    const char *files_as;
    /* after exit 0, the other processes of the task continue (a mount has such a helper process) */
    bool keep_children;
    int timeout_s; /* the task is killed after this time, with `why` set; 0: no limit */
    /* For processes that signals do not reach, as in a container. Whenever the task gets a signal,
     * the shell runs this command with the signal's number in BATCHAI_SIGNAL; the processes of the
     * task then get no signals except SIGKILL. If the task ends after a signal or because of one,
     * the command runs once more with 9 before the end is reported. Each run of the command may
     * take 10 s. NULL: there is no such command. */
    const char *signal_command;
    /* with signal_command: the file with the lines of /proc/PID/cgroup that name the container's
     * cgroups, by which the task is measured; NULL: it is not measured */
    const char *cgroups_path;
    struct task_limits limits;
    struct task_confine confine;
    struct task_view view;
};

#endif
