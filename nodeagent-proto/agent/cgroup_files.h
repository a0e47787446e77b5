/* SPDX-License-Identifier: MIT
 *
 * The files in which the kernel reports what the processes of a cgroup use, in both versions of
 * cgroups. In version 2 they are in one directory, in version 1 in one directory for each
 * controller.
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
/* Sets `out` to the directories of the cgroups that `lines` names. `lines` is the text of
 * /proc/PID/cgroup, `mounts` the text of /proc/self/mountinfo. */
void cgroup_files_find(const char *lines, const char *mounts, struct cgroup_files *out);
/* Removes the directories that are not in a cgroup file system, because their files can be
 * anything, and reading them might block. */
void cgroup_files_keep_real(struct cgroup_files *f);
void cgroup_files_free(struct cgroup_files *f);
bool cgroup_files_any(const struct cgroup_files *f);

struct cgroup_counts cgroup_files_counts(const struct cgroup_files *f);
/* Returns the peak of memory so far, with page cache: memory.peak (Linux 5.19) or, in version 1,
 * memory.max_usage_in_bytes; 0: unknown. */
int64_t cgroup_files_peak(const struct cgroup_files *f);
/* Returns the present memory, without the page cache of files; 0: unknown. */
int64_t cgroup_files_memory(const struct cgroup_files *f);

/* Parse the contents of files; public for tests. cpu.stat: "user_usec N\nsystem_usec N" (false: the
 * text has no such numbers); cpuacct.stat: "user TICKS\nsystem TICKS"; io.stat: lines of
 * "MAJOR:MINOR rbytes=N wbytes=N rios=N wios=N ..."; the blkio files of version 1: lines of
 * "MAJOR:MINOR Read N" and "MAJOR:MINOR Write N". */
bool cgroup_read_cpu(const char *text, struct cgroup_counts *out);
void cgroup_read_cpuacct(const char *text, struct cgroup_counts *out);
void cgroup_read_io(const char *text, struct cgroup_counts *out);
void cgroup_read_blkio(const char *bytes, const char *ops, struct cgroup_counts *out);

#endif
