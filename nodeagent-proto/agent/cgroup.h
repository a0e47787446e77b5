/* SPDX-License-Identifier: MIT
 *
 * A cgroup (version 2) for one task. It contains all processes of the task, even if they start new
 * sessions or change their environment, and limits them together. It is made below the agent's own
 * cgroup if that cgroup may have children with controllers, otherwise below the top of the
 * hierarchy:
 *
 *   <own or top>/batchai/<start of the incarnation>-<task id>/
 *   <own or top>/batchai/<start of the incarnation>-<group>/<start of the incarnation>-<task id>/
 *
 * Tasks of a group are limited together. The group's cgroup exists as long as a cgroup of its
 * tasks.
 *
 * A cgroup counts the memory and disk transfers of its task (measure.h) if these controllers can be
 * enabled below its base. This is possible below the top, but not below the agent's own cgroup,
 * because that contains processes. If the agent's own cgroup limits memory or processors, a task
 * without limits stays below it, although it is not measured there.
 *
 * Without cgroups, or without the right to make them, tasks still run, only with the limits of
 * setrlimit(2).
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
    char *limited;          /* the cgroup that has the limits: the task's, or its group's */
    bool memory, cpu, pids; /* whether this limit is set in `limited` */
    long killed_before; /* how many processes of the group were killed for memory before this task
                           began */
};

/* The bases: directories below which cgroups of tasks may be made, as the last search found
 * them. */
struct cgroup_bases {
    char *dir[2];
    size_t n;
    bool stay;   /* the first base has a limit, so tasks without limits stay there */
    char *spare; /* an empty cgroup for this process's next task (cgroup_keep()); NULL: none */
};
void cgroup_bases_find(struct cgroup_bases *b);
void cgroup_bases_free(struct cgroup_bases *b);

/* Makes the task's cgroup, with the limits for which the machine has controllers, and with the
 * controllers that count, if there are any. If this fails below the known bases, searches for bases
 * again. */
void cgroup_make(struct cgroup_bases *b, const char *incarnation, const char *task_id,
                 const struct task_limits *limits, struct cgroup *out);
void cgroup_free(struct cgroup *g);
/* Keeps the cgroup of a task without limits for the next such task of the supervisor, and clears
 * *g; otherwise removes it. It is kept only if it is empty and the memory of the next task can be
 * distinguished from the memory of this task. Cgroups are kept because making or removing one waits
 * for every other such call on the machine. A task without limits cannot have changed anything in
 * its cgroup. The records of tasks contain the path of the cgroup. */
void cgroup_keep(struct cgroup_bases *b, struct cgroup *g);
/* Restarts counting the memory peak (Linux 6.12). Only reads from the returned descriptor of
 * memory.peak get the new count. -1: the kernel cannot do this. */
int cgroup_reset_peak(const char *path);
/* Takes the kept cgroup. False: there is none. */
bool cgroup_take_kept(struct cgroup_bases *b, struct cgroup *out);
void cgroup_remove_kept(struct cgroup_bases *b);
/* Removes the empty cgroups of the incarnation, which supervisors left that were killed between two
 * tasks. */
void cgroup_remove_empty(const struct cgroup_bases *b, const char *incarnation);
/* Like fork(2), for a process with one thread. The child starts in the cgroup, if `g` has one,
 * because moving a process later would wait for all processors of the machine. In the child,
 * *inside is true if it is in the cgroup. With kernels before 5.7, the child moves itself into the
 * cgroup after the fork, which may fail. */
pid_t cgroup_fork(const struct cgroup *g, bool *inside);
/* Like cgroup_fork(), but by spawn(): runs fn(arg) in the cgroup, if there is one, and in the
 * caller's memory. fn must not return. -1: not supported. */
pid_t cgroup_spawn(const struct cgroup *g, void (*fn)(void *arg), void *arg);
/* Sends SIGKILL to all processes in the cgroup at once. */
void cgroup_kill(const char *path);
/* Kills the processes left in the cgroup, waits a little until they have ended, and removes the
 * cgroup. The kernel keeps the removed cgroup in memory until the page cache of the task is freed.
 * The page cache is not reclaimed first (memory.reclaim), because the next task may read the same
 * files, and because reclaiming does not free pages that were just written. */
void cgroup_remove(const char *path);
/* Returns how many processes the kernel killed, since the cgroup was made, because the memory limit
 * of the task or of its group was reached. */
long cgroup_oom_kills(const struct cgroup *g);
/* For a task without a supervisor: kills the processes in its cgroup and removes the cgroup, if it
 * exists. `path` is the path in the task's record, or NULL. */
void cgroup_remove_lost(const char *incarnation, const char *task_id, const char *path);

#endif
