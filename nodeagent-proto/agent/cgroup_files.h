/* SPDX-License-Identifier: MIT
 *
 * The files in which the kernel shows the use by the processes of a cgroup, in both versions of
 * cgroups: of version 2 they are in one directory, of version 1 in a directory for each controller.
 */
#ifndef NODEAGENT_PROTO_AGENT_CGROUP_FILES_H
#define NODEAGENT_PROTO_AGENT_CGROUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Counters; they only grow. */
struct cgroup_counts {
    int64_t user_us, kernel_us, read_bytes, write_bytes, read_ops, write_ops;
};

/* Directories; NULL: there is none. */
struct cgroup_files {
    char *memory, *cpu, *io;
};

/* Sets `out` to the directories of the version 2 cgroup at `path`. `path` NULL: `out` has no
 * directories. */
void cgroup_files_in(const char *path, struct cgroup_files *out);
/* The directories of the cgroups that `lines` names. `lines` is like /proc/PID/cgroup, `mounts` is
 * the text of /proc/self/mountinfo. */
void cgroup_files_find(const char *lines, const char *mounts, struct cgroup_files *out);
/* Drops the directories that are in no file system of cgroups: their files may be anything, and
 * reading them may hang. */
void cgroup_files_keep_real(struct cgroup_files *f);
void cgroup_files_free(struct cgroup_files *f);
bool cgroup_files_any(const struct cgroup_files *f);

struct cgroup_counts cgroup_files_counts(const struct cgroup_files *f);
/* The highest memory so far, with page cache: memory.peak (Linux 5.19) or, of version 1,
 * memory.max_usage_in_bytes; 0: unknown. */
int64_t cgroup_files_peak(const struct cgroup_files *f);
/* The memory now, without page cache and files; 0: unknown. */
int64_t cgroup_files_memory(const struct cgroup_files *f);

/* For tests, the contents of files. cpu.stat: "user_usec N\nsystem_usec N", false without these;
 * cpuacct.stat: "user TICKS\nsystem TICKS"; io.stat: lines of "MAJOR:MINOR rbytes=N wbytes=N rios=N
 * wios=N ..."; of version 1: lines of "MAJOR:MINOR Read N", "MAJOR:MINOR Write N". */
bool cgroup_read_cpu(const char *text, struct cgroup_counts *out);
void cgroup_read_cpuacct(const char *text, struct cgroup_counts *out);
void cgroup_read_io(const char *text, struct cgroup_counts *out);
void cgroup_read_blkio(const char *bytes, const char *ops, struct cgroup_counts *out);

#endif
