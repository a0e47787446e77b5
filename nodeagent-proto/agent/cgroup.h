/* SPDX-License-Identifier: MIT
 *
 * A cgroup (version 2) for one task: it contains all processes of the task, whatever sessions and
 * environments they make for themselves, and limits them as a whole. It is made below the agent's
 * own cgroup if that may be divided, otherwise below the top of the hierarchy:
 *
 *   <own or top>/batchai/<start of the incarnation>-<task id>/
 *   <own or top>/batchai/<start of the incarnation>-<group>/<start of the incarnation>-<task id>/
 *
 * Tasks of a group are limited together. Its cgroup is there as long as one of theirs is.
 *
 * Without cgroups, or without the right to make any, tasks run all the same, under limits.h alone.
 */
#ifndef NODEAGENT_PROTO_AGENT_CGROUP_H
#define NODEAGENT_PROTO_AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

struct cgroup {
    char *path;             /* NULL: there is none */
    char *limited;          /* the cgroup that has the limits: its own, or its group's */
    bool memory, cpu, pids; /* whether these limits are set there */
    long killed_before;     /* in its group, for memory */
};

/* Directories below which cgroups of tasks may be made, kept as they were found last. */
struct cgroup_bases {
    char *dir[2];
    size_t n;
    char *spare; /* an empty cgroup of this process, see cgroup_keep(); NULL: none */
};
void cgroup_bases_find(struct cgroup_bases *b);
void cgroup_bases_free(struct cgroup_bases *b);

/* Makes the task's cgroup with as many of the limits as the machine has controllers for. If
 * that fails where cgroups were found last, they are looked for anew. */
void cgroup_make(struct cgroup_bases *b, const char *incarnation, const char *task_id,
                 const struct task_limits *limits, struct cgroup *out);
void cgroup_free(struct cgroup *g);
/* To make and remove a cgroup waits for all others on the machine who do, so one without limits
 * whose task could change nothing in it serves the next such task of the same supervisor; the
 * tasks' records have its path. Keeps it if it is empty, otherwise removes it; it is no longer in
 * *g then. */
void cgroup_keep(struct cgroup_bases *b, struct cgroup *g);
/* False: there is none. */
bool cgroup_take_kept(struct cgroup_bases *b, struct cgroup *out);
void cgroup_remove_kept(struct cgroup_bases *b);
/* Removes those of the incarnation that are empty: of supervisors that were killed between two
 * tasks. */
void cgroup_remove_empty(const struct cgroup_bases *b, const char *incarnation);
/* fork(2) of a process with one thread, whose child is in the cgroup, if there is one, from its
 * first moment: moving a process there would wait for all processors of the machine. *inside, for
 * the child: it is there. Kernels before 5.7 have to move it, or cannot. */
pid_t cgroup_fork(const struct cgroup *g, bool *inside);
/* The same by spawn(): fn(arg), which must not return, runs in the cgroup, if there is one, and in
 * the caller's memory. -1: that cannot be done. */
pid_t cgroup_spawn(const struct cgroup *g, void (*fn)(void *arg), void *arg);
/* SIGKILL to all processes in it at once. */
void cgroup_kill(const char *path);
/* Kills the processes left in it, waits a little until they are gone, and removes it. */
void cgroup_remove(const char *path);
/* How many processes the kernel killed since it was made because the memory of the task, or of its
 * group, was used up. */
long cgroup_oom_kills(const struct cgroup *g);
/* Kills and removes the cgroup of a task without a supervisor, if it has one. `path` is the
 * recorded path, or NULL. */
void cgroup_remove_lost(const char *incarnation, const char *task_id, const char *path);

#endif
