/* SPDX-License-Identifier: MIT
 *
 * A cgroup (version 2) for one task: it holds the task's processes together whatever sessions and
 * environments they make for themselves, and limits them as a whole. Made below the agent's own
 * cgroup where that may be divided, else below the top of the hierarchy:
 *
 *   <own or top>/batchai/<start of the incarnation>-<task id>/
 *
 * Everything here is a courtesy of the machine: without cgroups, or without the right to make any,
 * tasks run all the same, under limits.h alone.
 */
#ifndef NODEAGENT_PROTO_AGENT_CGROUP_H
#define NODEAGENT_PROTO_AGENT_CGROUP_H

#include <stdbool.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct cgroup {
    char *path;             /* NULL: there is none */
    bool memory, cpu, pids; /* limited here, as asked */
};

/* Makes the task's cgroup with as many of the limits as the machine has controllers for. */
void cgroup_make(const char *incarnation, const char *task_id, const struct task_limits *limits,
                 struct cgroup *out);
/* Puts the calling process into it. -1: it stays where it was. */
int cgroup_enter(const struct cgroup *g) MUST_CHECK;
/* SIGKILL for all that is in it, at one stroke. */
void cgroup_kill(const char *path);
/* Kills what is left in it and removes it; waits a little for processes to be gone. */
void cgroup_remove(const char *path);
/* How many processes the kernel killed in it because the task's memory was used up. */
long cgroup_oom_kills(const struct cgroup *g);
/* Kills and removes whatever cgroup a task that nobody supervises may have. `path` is what was
 * recorded of it, or NULL. */
void cgroup_remove_lost(const char *incarnation, const char *task_id, const char *path);

#endif
