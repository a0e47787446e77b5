/* SPDX-License-Identifier: MIT
 *
 * The use by the processes of a task.
 *
 * On the node, processor time and disks: of the task's cgroup, or of all ended children of its
 * supervisor, whichever is more: a process may have left the cgroup, and a process that ignores
 * SIGCHLD hides its children. Memory: the peak that the cgroup counted, with page cache; otherwise
 * the highest sample of the processes' memory.
 *
 * In a container, only the use of the container's cgroup is known, because the processes may be
 * children of its runtime. A container serves several tasks of its run, also at the same time. So
 * each task is told the use that no earlier task was told; together they are told the use of the
 * container. Without a cgroup nothing is known.
 */
#ifndef NODEAGENT_PROTO_AGENT_MEASURE_H
#define NODEAGENT_PROTO_AGENT_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/agent/cgroup_files.h"
#include "nodeagent-proto/wire/task.h"

struct measure {
    struct cgroup_files files; /* owned until measure_stop(), like told_path */
    /* the file with the use that the container's tasks were told; NULL: no container */
    char *told_path;
    struct cgroup_counts cgroup_before, children_before, cgroup_after, children_after;
    int64_t peak_before, peak_after; /* a cgroup may have served other tasks before */
    int peak_fd;                     /* its peak since the task began; -1: none */
    bool known, stopped;
    int64_t memory_used;    /* the highest sample */
    int64_t next_ms, pause; /* when the next sample is due (monotonic), and after which pause */
};

/* The measure of a task that never began. */
#define MEASURE_NONE                                                                               \
    (struct measure)                                                                               \
    {                                                                                              \
        .peak_fd = -1, .stopped = true                                                             \
    }

/* `cgroup`: the cgroup (version 2) of the task; NULL: none. */
void measure_begin(struct measure *m, const char *cgroup);
/* `note`: the file with the lines of /proc/PID/cgroup that name the container's cgroups, behind
 * other lines; NULL: nothing can be known. */
void measure_begin_in_container(struct measure *m, const char *note);
/* Takes a sample of the descendants of the caller, or of the container, if one is due. Returns how
 * long it is until the next is due (ms). */
int64_t measure_tick(struct measure *m);
/* Call it when no process of the task is left, and its cgroup still exists. A second call does
 * nothing. */
void measure_stop(struct measure *m);
/* Sets the members about use in the status, if measure_stop() was called and they are known. */
void measure_tell(const struct measure *m, struct task_status *out);

#endif
