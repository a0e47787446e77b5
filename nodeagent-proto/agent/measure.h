/* SPDX-License-Identifier: MIT
 *
 * What the processes of a task used.
 *
 * Processor time and disks: of the task's cgroup, or of all ended children of its
 * supervisor, whichever is more: a process may have left the cgroup, and a process that ignores
 * SIGCHLD hides its children. Memory: the peak that the cgroup counted, with page cache; otherwise
 * the highest sample of the processes' own memory.
 */
#ifndef NODEAGENT_PROTO_AGENT_MEASURE_H
#define NODEAGENT_PROTO_AGENT_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/agent/cgroup_files.h"
#include "nodeagent-proto/wire/task.h"

struct measure {
    struct cgroup_files files; /* owned until measure_stop() */
    struct cgroup_counts cgroup_before, children_before, cgroup_after, children_after;
    int64_t peak_before, peak_after; /* a cgroup may have served other tasks before */
    int peak_fd;                     /* its peak since the task began; -1: none */
    bool stopped;
    int64_t memory_used;    /* the highest sample */
    int64_t next_ms, pause; /* when the next sample is due (monotonic), and after which pause */
};

/* `cgroup`: of version 2, the task's own; NULL: none. */
void measure_begin(struct measure *m, const char *cgroup);
/* Takes a sample of the descendants of the caller if one is due. Returns how
 * long it is until the next is due (ms). */
int64_t measure_tick(struct measure *m);
/* Call it when no process of the task is left, and its cgroup still exists. A second call does
 * nothing. */
void measure_stop(struct measure *m);
/* Sets these members of the status, if measure_stop() was called. */
void measure_tell(const struct measure *m, struct task_status *out);

#endif
