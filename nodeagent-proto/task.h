/* SPDX-License-Identifier: MIT
 *
 * What both ends of a link speak of: a node's facts, a task's specification and its status. Plain
 * borrowed text; message.h carries it over the wire.
 */
#ifndef NODEAGENT_PROTO_TASK_H
#define NODEAGENT_PROTO_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"

struct node_facts { /* from hello */
    const char *agent_version, *hostname, *os, *arch;
    const char *incarnation; /* random id of this node root; changes when the root was wiped */
    const char *boot_id;
    int cpus;
    int64_t memory_bytes, disk_free_bytes;
    const char *gpus; /* JSON array text, "[]" if none */
};

enum task_state {
    TASK_UNKNOWN = 0, /* the node has no record of it */
    TASK_RUNNING,
    TASK_EXITED,
    TASK_FAILED_TO_START, /* no shell, bad directory, output file not writable: see why */
    TASK_LOST             /* its supervisor vanished without a record (node rebooted, killed) */
};

struct task_status {
    const char *id;
    enum task_state state;
    int64_t started_us, ended_us;
    int exit_code;           /* when exited normally, else -1 */
    int signal;              /* when killed by a signal, else 0 */
    const char *why;         /* TASK_FAILED_TO_START, TASK_LOST; else NULL */
    const char *stderr_tail; /* last lines of its stderr, at most NODE_TAIL_MAX bytes; or NULL */
};

#define NODE_TAIL_MAX 2048

struct task_spec {
    const char *id;           /* unique for ever; [A-Za-z0-9_.-], at most 100 characters */
    const char *command_line; /* for the shell (bash if there, else sh) -c */
    const char *cwd;          /* made if missing */
    const struct kv *env;     /* added to a small clean environment; secrets included */
    size_t n_env;
    const char *stdout_path, *stderr_path; /* appended to; parents made if missing */
    const char *log_path; /* execution.log that start and exit are noted in, or NULL */
    const char *step;     /* "job preparation", "job", "setup task": for the log lines */
};

#endif
