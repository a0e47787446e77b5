/* SPDX-License-Identifier: MIT
 *
 * What the processes of a task used. Processor time and disks: of the task's cgroup, or of all
 * ended children of its supervisor, whichever is more: a container's processes may have left the
 * cgroup, and a process that ignores SIGCHLD hides its children. Memory: memory.peak of the cgroup
 * (Linux 5.19) or memory.max_usage_in_bytes (version 1), both with page cache; otherwise the
 * highest sample of the processes' own memory.
 */
#ifndef NODEAGENT_PROTO_AGENT_MEASURE_H
#define NODEAGENT_PROTO_AGENT_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/wire/task.h"

/* Counters, which only grow. */
struct measure_counts {
    int64_t user_us, kernel_us, read_bytes, write_bytes, read_ops, write_ops;
};

struct measure {
    const char *cgroup; /* borrowed; NULL: none */
    struct measure_counts cgroup_before, children_before, cgroup_after, children_after;
    int64_t peak_before, peak_after; /* a cgroup may have served other tasks before */
    bool stopped;
    int64_t memory_used;    /* the highest sample */
    int64_t next_ms, pause; /* when the next sample is due (monotonic), and after which pause */
};

void measure_begin(struct measure *m, const char *cgroup);
/* Takes a sample of the descendants of the caller if one is due. Returns how long it is until the
 * next is due (ms). */
int64_t measure_tick(struct measure *m);
/* Call it when no process of the task is left, and its cgroup still exists. */
void measure_stop(struct measure *m);
/* Sets these members of the status, if measure_stop() was called. */
void measure_tell(const struct measure *m, struct task_status *out);

/* For tests: the contents of a cgroup's files. "user_usec N\nsystem_usec N"; lines of "MAJOR:MINOR
 * rbytes=N wbytes=N rios=N wios=N ...". */
void measure_read_cpu(const char *text, struct measure_counts *out);
void measure_read_io(const char *text, struct measure_counts *out);

#endif
