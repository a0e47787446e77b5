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
 * A cgroup counts memory and disk transfers of its task (measure.h) if its base can have these
 * controllers: the top can; the agent's own cgroup cannot, because it has processes. If the agent's
 * own cgroup limits memory or processors, a task without limits stays below it all the same.
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
    char *path;    /* NULL: there is none */
    char *limited; /* the cgroup that has the limits: that of the task, or that of its group */
    bool memory, cpu, pids; /* whether this limit is set in `limited` */
    long killed_before;     /* memory kills in the group before this task began */
};

/* Directories below which cgroups of tasks may be made; the result of the last search. */
struct cgroup_bases {
    char *dir[2];
    size_t n;
    bool stay;   /* the first is limited: tasks without limits stay there */
    char *spare; /* an empty cgroup of this process for the next task, see cgroup_keep(); NULL: none
                  */
};
void cgroup_bases_find(struct cgroup_bases *b);
void cgroup_bases_free(struct cgroup_bases *b);

/* Makes the task's cgroup with as many of the limits as the machine has controllers for, and with
 * the controllers that count, if there are any. If that fails below the known bases, searches the
 * bases again. */
void cgroup_make(struct cgroup_bases *b, const char *incarnation, const char *task_id,
                 const struct task_limits *limits, struct cgroup *out);
void cgroup_free(struct cgroup *g);
/* Keeps the cgroup of a task without limits for the next such task of the supervisor, and clears
 * *g; otherwise removes it. It is kept only if it is empty, and the memory of the next task can be
 * told from the memory of this one. The reason: making and removing a cgroup waits for every other
 * such call on the machine. A task without limits could change nothing in its cgroup. The records
 * of tasks have its path. */
void cgroup_keep(struct cgroup_bases *b, struct cgroup *g);
/* Begins to count the peak of memory anew, for the returned descriptor of memory.peak alone (Linux
 * 6.12); -1: cannot. */
int cgroup_reset_peak(const char *path);
/* False: there is none. */
bool cgroup_take_kept(struct cgroup_bases *b, struct cgroup *out);
void cgroup_remove_kept(struct cgroup_bases *b);
/* Removes the empty cgroups of the incarnation: supervisors that were killed between two tasks left
 * them. */
void cgroup_remove_empty(const struct cgroup_bases *b, const char *incarnation);
/* fork(2) of a process with one thread. The child is in the cgroup, if `g` has one, from its first
 * moment, because moving a process later would wait for all processors of the machine. *inside, for
 * the child: whether the child is in the cgroup. Kernels before 5.7 have to move the child, or
 * cannot. */
pid_t cgroup_fork(const struct cgroup *g, bool *inside);
/* Like cgroup_fork(), but by spawn(): runs fn(arg) in the cgroup, if there is one, and in the
 * caller's memory. fn must not return. -1: not supported. */
pid_t cgroup_spawn(const struct cgroup *g, void (*fn)(void *arg), void *arg);
/* Sends SIGKILL to all processes in the cgroup at once. */
void cgroup_kill(const char *path);
/* Kills the processes left in the cgroup, waits a little until they have ended, and removes it. The
 * kernel keeps what it counted there until the page cache of the task is gone. To ask for that
 * before (memory.reclaim) would take files from the next task that reads them, and does not help
 * where the task wrote a moment ago. */
void cgroup_remove(const char *path);
/* How many processes the kernel killed since the cgroup was made because the memory limit of the
 * task, or of its group, was reached. */
long cgroup_oom_kills(const struct cgroup *g);
/* Kills the processes in the cgroup of a task without a supervisor, if there is one, and removes
 * it. `path` is the recorded path, or NULL. */
void cgroup_remove_lost(const char *incarnation, const char *task_id, const char *path);

#endif
