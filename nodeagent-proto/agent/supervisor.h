/* SPDX-License-Identifier: MIT
 *
 * The supervisor of a task: a process of its own (helpers.h), which outlives agent, link and
 * daemon, and has no other task meanwhile. It starts the command, writes ID.start and ID.exit
 * (record.h), and sees to it that every process of the task dies with it: as the reaper of orphans
 * (PR_SET_CHILD_SUBREAPER) it is the ancestor of all of them, however they daemonize.
 *
 *   agent --fork--> supervisor --fork--> bash -c COMMAND
 *
 * It is forked without exec, or hears of the task through a socket, so the task's environment
 * passes in memory and is visible nowhere.
 *
 * A task with keep_children that exits with 0 is the exception: ID.exit is written and the lock
 * released as usual, but the processes it left behind go on. The supervisor stays as their parent,
 * so that nobody takes them for leftovers of a lost task, and ends with the last of them.
 */
#ifndef NODEAGENT_PROTO_AGENT_SUPERVISOR_H
#define NODEAGENT_PROTO_AGENT_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/wire/task.h"

/* Sent to a supervisor with the signal for the task as its value. A real-time signal, since those
 * queue: a SIGKILL right after a SIGTERM is not lost. */
#define SUPERVISOR_SIGNAL (SIGRTMIN + 1)

struct supervisor_config { /* all borrowed, for the call */
    const struct task_spec *spec;
    const char *root, *tasks_dir, *hostname, *incarnation;
    struct cgroup_bases *cgroups;
    int claim_fd;       /* locked; see record.h */
    uint64_t own_start; /* of the supervisor's process: procs_start_time() */
};

/* In a process of its own: takes the signals that a supervisor gets. Returns the descriptor that
 * they are read from; -1 on failure. */
int supervisor_take_signals(void);
/* Supervises a task from its start to its end. `report_fd` is closed once ID.start or ID.exit is
 * there, `claim_fd`, and so the lock, after ID.exit. True: nothing of the task is left, and the
 * process may supervise another: it was not confined. */
bool supervisor_run(const struct supervisor_config *c, int report_fd, int signal_fd) MUST_CHECK;

/* "NAME=value", which all processes of the task have in their environment. Caller frees. */
char *supervisor_marker(const char *incarnation, const char *task_id);

#endif
