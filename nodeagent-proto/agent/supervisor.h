/* SPDX-License-Identifier: MIT
 *
 * The supervisor of a task: a separate process (helpers.h), which outlives agent, link and daemon,
 * and supervises one task at a time. It starts the command, writes ID.start and ID.exit (record.h),
 * and ensures that every process of the task dies with the task: as the reaper of orphans
 * (PR_SET_CHILD_SUBREAPER) it is the ancestor of all of them, even of daemons.
 *
 * agent --fork--> supervisor --fork--> bash -c COMMAND
 *
 * The supervisor is forked without exec, or gets the task through a socket, so the task's
 * environment passes in memory and is visible nowhere.
 *
 * Exception: a task with keep_children that exits with 0. ID.exit is written and the lock released
 * as usual, but the other processes of the task continue. The supervisor stays as their parent, so
 * that the agent does not kill them as leftovers of a lost task, and ends with the last of them.
 */
#ifndef NODEAGENT_PROTO_AGENT_SUPERVISOR_H
#define NODEAGENT_PROTO_AGENT_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/wire/task.h"

/* The agent sends this signal to a supervisor; its value is the signal for the task. It is a
 * real-time signal, because such signals are queued: a SIGKILL right after a SIGTERM is not
 * lost. */
#define SUPERVISOR_SIGNAL (SIGRTMIN + 1)

struct supervisor_config { /* all borrowed, for the call */
    const struct task_spec *spec;
    const char *root, *tasks_dir, *hostname, *incarnation;
    struct cgroup_bases *cgroups;
    int claim_fd;       /* locked; see record.h */
    uint64_t own_start; /* procs_start_time() of the supervisor's process */
};

/* In a supervisor's process: blocks its signals and returns the descriptor (signalfd) that reads
 * them; -1 on failure. */
int supervisor_take_signals(void);
/* Supervises a task from its start to its end. Closes `report_fd` when ID.start or ID.exit exists.
 * Closes `claim_fd`, and so releases the lock, when ID.exit exists. True: no process of the task is
 * left and this process was not confined, so it may supervise another task. */
bool supervisor_run(const struct supervisor_config *c, int report_fd, int signal_fd) MUST_CHECK;

/* The variable "NAME=value" that all processes of the task have in their environment. Caller
 * frees. */
char *supervisor_marker(const char *incarnation, const char *task_id);

#endif
