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

/* One life of the daemon, from a start to the next. The term grows with each start; the random part
 * distinguishes two with the same term, which can happen after a backup was put back. */
struct node_epoch {
    int64_t term;   /* 0: not known */
    const char *id; /* random, [a-z0-9]; NULL: none */
};

/* The only runtime of a node that runs nothing: it is told what is to run in a container as it
 * would be told without one. */
#define RUNTIME_SCRIPTED "scripted"

struct node_facts { /* from hello */
    const char *agent_version, *hostname, *os, *arch;
    const char *incarnation; /* random id of this node root; changes when the root was wiped */
    const char *boot_id;
    int cpus;
    int64_t memory_bytes, disk_free_bytes;
    const char *gpus; /* JSON array text, "[]" if none: bus, model, uuid, driver */
    int n_gpus;       /* how many these are; set when facts are read */
    const char *user; /* the account that the agent runs as */
    bool is_root;     /* it may mount, make accounts, and run tasks as others */
    const char *
        runtimes; /* programs there that can run containers, separated by blanks: "docker podman" */
    const char *mpi; /* the mpirun that would be found, or "" */
    int64_t time_us; /* the machine's clock when it answered */
};

/* The health of a node, which is asked for now and then. */
struct node_health {
    int64_t time_us; /* the machine's clock */
    int64_t disk_free_bytes, disk_total_bytes;
    const char *disk_error; /* why nothing can be written below the root, or "" */
    int gpus;               /* how many the driver shows */
    const char *gpu_errors; /* errors of the driver, or "" */
};

/* Members of struct node_usage, as the protocol calls them: those that grow since the machine was
 * started, and those that are as they are now. */
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

/* What a node's machine does, which is asked for as long as somebody wants to know. */
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
};

/* Numbers for accounts of jobs; the first one is the group of all. */
/* An account with room has this many numbers on either side of its own, for the other users of a
 * container: its number is an odd multiple. No other account has such a number. */
#define NODE_UID_ROOM    65536
#define NODE_UIDS_MIN    1000
#define NODE_UID_LOWEST  65536 /* distributions give lower ones to people and services */
#define NODE_UID_HIGHEST 4294967294LL

enum task_state {
    TASK_UNKNOWN = 0, /* the node has no record of it */
    TASK_RUNNING,
    TASK_EXITED,
    TASK_FAILED_TO_START, /* no shell, bad directory, output file not writable: see why */
    TASK_LOST             /* its supervisor vanished without a record (node rebooted, killed) */
};

/* The exit code of one that failed to start because its program does not exist, as shells have it.
 */
#define TASK_NO_PROGRAM 127
/* The first word of an argv that runs the interpreter of Windows command lines, wherever it is on
 * the node; the second is the line. Where it is not, the task fails to start. */
#define TASK_CMD "batchai-cmd"
/* The first two words of an argv that does not begin; the third says why. */
#define TASK_NODE   "batchai-node"
#define TASK_REFUSE "refuse"

struct task_status {
    const char *id;
    enum task_state state;
    int64_t started_us, ended_us;
    int exit_code;           /* when exited normally, else -1; TASK_NO_PROGRAM */
    int signal;              /* when killed by a signal, else 0 */
    const char *why;         /* TASK_FAILED_TO_START, TASK_LOST; TASK_EXITED if the supervisor knows
                              * what ended it: its time was up, or its memory; else NULL */
    const char *stderr_tail; /* last lines of its stderr, at most NODE_TAIL_MAX bytes; or NULL */
};

#define NODE_TAIL_MAX 2048

/* What a task may use; 0: no limit. */
struct task_limits {
    int64_t memory_bytes; /* with cgroups all its processes together, otherwise each */
    int cpus;             /* with cgroups only */
    int processes;     /* with cgroups those of the task, otherwise those of its account (root: no
                          limit) */
    int open_files;    /* each process */
    const char *group; /* tasks of the same name share the first three, with cgroups; NULL: none */
    const char *gpus;  /* the numbers of the GPUs that it may open, as the node counts them: "0,2";
                          NULL: all. With cgroups only, and where the agent is root */
};

/* A directory that the task and its command cannot get at, except what they may reach below it
 * (lib/confine.h); `hide` NULL: there is none. */
struct task_confine {
    const char *hide;
    const char *const *reach; /* absolute */
    size_t n_reach;
};

/* A folder of the node that a task sees at another path too, where the agent is root and may have
 * mounts that others do not see; elsewhere it does not. NULL: there is none. */
struct task_view {
    const char *source, *target;
};

struct task_spec {
    const char *id;           /* unique for ever; [A-Za-z0-9_.-], at most 100 characters */
    const char *command_line; /* for the shell (bash if there, else sh) -c */
    const char *const *argv;  /* program and arguments, run without a shell; the program is found in
                                 PATH or cwd. command_line is shown alone then. NULL: the shell */
    size_t n_argv;
    const char *cwd;      /* made if missing */
    const struct kv *env; /* added to a small clean environment; secrets included */
    size_t n_env;
    const char *path; /* directories that are put in front of its PATH; NULL: none */
    const char *stdout_path, *stderr_path; /* appended to; parents made if missing */
    const char *log_path; /* the run's log, for lines about start and exit; or NULL */
    const char *step;     /* "job preparation", "job", "setup task": for the log lines */
    const char *title;    /* what the log shows instead of command_line; NULL: command_line */
    const char *user;     /* the account it runs as; NULL: the agent's own */
    const char *files_as; /* its files are opened with this account's rights; NULL: the account it
                             runs as */
    bool keep_children;   /* after exit 0, processes it left behind go on: a mount's helper */
    int timeout_s;        /* killed after this time, as `why` says then; 0: never */
    /* For processes that signals do not reach, as in a container. The shell runs it with the
     * signal's number in BATCHAI_SIGNAL whenever the task is signalled; the task's own processes
     * then get no signals except SIGKILL. If the task ends after a signal or because of one, it
     * runs once more with 9 before the end is reported. 10 s each. NULL: none. */
    const char *signal_command;
    struct task_limits limits;
    struct task_confine confine;
    struct task_view view;
};

#endif
