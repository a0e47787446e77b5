/* SPDX-License-Identifier: MIT
 *
 * The supervisor of one task: a process of its own that outlives agent, link and daemon. It starts
 * the command, writes ID.start and ID.exit (record.h), and sees to it that every process of the
 * task dies with it: as the reaper of orphans (PR_SET_CHILD_SUBREAPER) it is the ancestor of all
 * of them, however they daemonize.
 *
 *   agent --fork--> supervisor --fork--> bash -c COMMAND
 *
 * It is forked without exec, so the task's environment passes in memory and is visible nowhere.
 *
 * A task with keep_children that exits with 0 is the exception: ID.exit is written and the lock
 * released as usual, but the processes it left behind go on. The supervisor stays as their parent,
 * so that nobody takes them for leftovers of a lost task, and ends with the last of them.
 */
#ifndef NODEAGENT_PROTO_AGENT_SUPERVISOR_H
#define NODEAGENT_PROTO_AGENT_SUPERVISOR_H

#include <signal.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

/* Sent to a supervisor with the signal for the task as its value. A real-time signal, since those
 * queue: a SIGKILL right after a SIGTERM is not lost. */
#define SUPERVISOR_SIGNAL (SIGRTMIN + 1)

struct supervisor_config { /* all borrowed, for the call */
    const struct task_spec *spec;
    const char *root, *tasks_dir, *hostname, *incarnation;
    int claim_fd; /* locked; see record.h */
};

/* Forks the supervisor, which the caller may reap when it has ended. Returns a descriptor that
 * reads as closed once ID.start or ID.exit is there, or the supervisor died. */
int supervisor_start(const struct supervisor_config *c, struct err *e) MUST_CHECK;

/* "NAME=value", which all processes of the task have in their environment. Caller frees. */
char *supervisor_marker(const char *incarnation, const char *task_id);

#endif
