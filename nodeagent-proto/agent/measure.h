/* SPDX-License-Identifier: MIT
 *
 * Measures what the processes of a task use.
 *
 * On the host: the processor time and disk transfers are those of the task's cgroup or those of all
 * ended children of its supervisor, whichever is more, because a process may have left the cgroup,
 * and the children of a process that ignores SIGCHLD are not counted. The memory is the peak that
 * the cgroup counted, with page cache, or without such a count the highest sample of the processes'
 * memory.
 *
 * In a container, only the use of the container's cgroup is known, because the processes may be
 * children of its runtime. Several tasks of a run use the same container, also at the same time. So
 * each task gets the use that no earlier task has got; together they get the whole use of the
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
    /* The file with the use that the container's tasks have got so far; NULL: no container. */
    char *told_path;
    struct cgroup_counts cgroup_before, children_before, cgroup_after, children_after;
    int64_t peak_before, peak_after; /* before: not 0 if the cgroup served other tasks earlier */
    int peak_fd; /* from it, the cgroup's peak since the task began can be read; -1: none */
    bool known, stopped;
    int64_t memory_used;    /* the highest sample */
    int64_t next_ms, pause; /* when the next sample is due (monotonic), and the pause after it */
};

/* For a task that never began. */
#define MEASURE_NONE                                                                               \
    (struct measure)                                                                               \
    {                                                                                              \
        .peak_fd = -1, .stopped = true                                                             \
    }

/* Begins to measure a task outside of containers. `cgroup`: the cgroup (version 2) of the task;
 * NULL: none. */
void measure_begin(struct measure *m, const char *cgroup);
/* Begins to measure a task in a container. `note`: the file that contains, behind other lines, the
 * lines of /proc/PID/cgroup with the container's cgroups; NULL: nothing can be measured. */
void measure_begin_in_container(struct measure *m, const char *note);
/* If a sample is due, takes one of the caller's descendants or of the container. Returns the time
 * until the next sample is due, in ms. */
int64_t measure_tick(struct measure *m);
/* To be called when no process of the task is left but its cgroup still exists. A second call does
 * nothing. */
void measure_stop(struct measure *m);
/* Sets the members about the task's use in the status, if measure_stop() was called and the use is
 * known. */
void measure_tell(const struct measure *m, struct task_status *out);

#endif
