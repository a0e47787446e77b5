/* SPDX-License-Identifier: MIT
 *
 * Sources: cgroups(7), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of Linux; proc(5) for
 * mountinfo. To find out the version of a directory, it looks for files that exist in only one
 * version.
 */
#include "nodeagent-proto/agent/cgroup_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/file_text.h"

#define PATH_TEXT 1024

/* ---- where ---- */

void cgroup_files_in(const char *path, struct cgroup_files *out)
{
    *out = (struct cgroup_files){0};
    if (path)
        *out = (struct cgroup_files){xstrdup(path), xstrdup(path), xstrdup(path)};
}

void cgroup_files_free(struct cgroup_files *f)
{
    free(f->memory);
    free(f->cpu);
    free(f->io);
    *f = (struct cgroup_files){0};
}

static void keep_real(char **dir)
{
    struct statfs s;
    if (*dir && statfs(*dir, &s) == 0 &&
        (s.f_type == CGROUP2_SUPER_MAGIC || s.f_type == CGROUP_SUPER_MAGIC))
        return;
    free(*dir);
    *dir = NULL;
}

void cgroup_files_keep_real(struct cgroup_files *f)
{
    keep_real(&f->memory);
    keep_real(&f->cpu);
    keep_real(&f->io);
}

bool cgroup_files_any(const struct cgroup_files *f)
{
    return f->memory || f->cpu || f->io;
}

/* True: the list contains the word. Words are separated by commas; the list ends at a character of
 * `ends`. */
static bool has_word(const char *list, const char *ends, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; *at && !strchr(ends, *at); at += *at == ',') {
        size_t len = strcspn(at, ",") < strcspn(at, ends) ? strcspn(at, ",") : strcspn(at, ends);
        if (len == n && strncmp(at, word, n) == 0)
            return true;
        at += len;
    }
    return false;
}

/* Finds the line "ID:CONTROLLERS:PATH" that names the controller `kind`, and writes its path to
 * `out`. If `kind` is "", finds the line of version 2, which names no controller. */
static bool path_of(const char *lines, const char *kind, char *out)
{
    for (const char *at = lines; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        const char *names = strchr(at, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        bool ours = path && (*kind ? has_word(names + 1, ":", kind) : path == names + 1);
        if (ours && sscanf(path + 1, "%1023[^\n]", out) == 1)
            return true;
    }
    return false;
}

/* Finds where the hierarchy with the controller `kind` is mounted from its root. If `kind` is "",
 * finds the hierarchy of version 2. */
static bool mount_of(const char *mounts, const char *kind, char *out)
{
    for (const char *at = mounts; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        char root[PATH_TEXT], line[2 * PATH_TEXT];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        const char *type = strstr(line, *kind ? " - cgroup " : " - cgroup2 ");
        const char *options = type ? strrchr(line, ' ') + 1 : NULL;
        if (options && (!*kind || has_word(options, "\n", kind)) &&
            sscanf(line, "%*s %*s %*s %1023s %1023s", root, out) == 2 && strcmp(root, "/") == 0)
            return true;
    }
    return false;
}

static char *directory(const char *lines, const char *mounts, const char *kind)
{
    char path[PATH_TEXT], mount[PATH_TEXT];
    if (path_of(lines, kind, path) && mount_of(mounts, kind, mount))
        return fs_join(mount, path);
    return *kind ? directory(lines, mounts, "") : NULL;
}

void cgroup_files_find(const char *lines, const char *mounts, struct cgroup_files *out)
{
    *out = (struct cgroup_files){directory(lines, mounts, "memory"),
                                 directory(lines, mounts, "cpuacct"),
                                 directory(lines, mounts, "blkio")};
}

/* ---- their values ---------------------------------------------------------------------------- */

/* Returns the sum of the numbers that follow `label`, wherever `label` is at the beginning of a
 * word. */
static int64_t sum_of(const char *text, const char *label)
{
    int64_t sum = 0;
    size_t n = strlen(label);
    for (const char *at = text; (at = strstr(at, label)); at += n)
        if (at == text || at[-1] == '\n' || at[-1] == ' ')
            sum += strtoll(at + n, NULL, 10);
    return sum;
}

bool cgroup_read_cpu(const char *text, struct cgroup_counts *out)
{
    out->user_us = sum_of(text, "user_usec ");
    out->kernel_us = sum_of(text, "system_usec ");
    return strstr(text, "user_usec ");
}

void cgroup_read_cpuacct(const char *text, struct cgroup_counts *out)
{
    int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    out->user_us = sum_of(text, "user ") * tick_us;
    out->kernel_us = sum_of(text, "system ") * tick_us;
}

void cgroup_read_io(const char *text, struct cgroup_counts *out)
{
    out->read_bytes = sum_of(text, "rbytes=");
    out->write_bytes = sum_of(text, "wbytes=");
    out->read_ops = sum_of(text, "rios=");
    out->write_ops = sum_of(text, "wios=");
}

void cgroup_read_blkio(const char *bytes, const char *ops, struct cgroup_counts *out)
{
    out->read_bytes = sum_of(bytes, "Read ");
    out->write_bytes = sum_of(bytes, "Write ");
    out->read_ops = sum_of(ops, "Read ");
    out->write_ops = sum_of(ops, "Write ");
}

static void read_cpu(const char *dir, struct cgroup_counts *out)
{
    char *now = file_text(dir, "cpu.stat"), *old = NULL;
    if (!now || !cgroup_read_cpu(now, out))
        old = file_text(dir, "cpuacct.stat");
    if (old)
        cgroup_read_cpuacct(old, out);
    free(now);
    free(old);
}

static void read_io(const char *dir, struct cgroup_counts *out)
{
    char *now = file_text(dir, "io.stat");
    char *bytes = now ? NULL : file_text(dir, "blkio.throttle.io_service_bytes_recursive");
    char *ops = bytes ? file_text(dir, "blkio.throttle.io_serviced_recursive") : NULL;
    if (now)
        cgroup_read_io(now, out);
    else if (bytes && ops)
        cgroup_read_blkio(bytes, ops, out);
    free(now);
    free(bytes);
    free(ops);
}

struct cgroup_counts cgroup_files_counts(const struct cgroup_files *f)
{
    struct cgroup_counts c = {0};
    if (f->cpu)
        read_cpu(f->cpu, &c);
    if (f->io)
        read_io(f->io, &c);
    return c;
}

int64_t cgroup_files_peak(const struct cgroup_files *f)
{
    int64_t peak = f->memory ? file_number(f->memory, "memory.peak", 0) : 0;
    return peak > 0 || !f->memory ? peak : file_number(f->memory, "memory.max_usage_in_bytes", 0);
}

/* In version 1, the sums that include child cgroups have names that begin with total_. */
int64_t cgroup_files_memory(const struct cgroup_files *f)
{
    char *text = f->memory ? file_text(f->memory, "memory.stat") : NULL;
    int64_t memory = 0;
    if (text && strstr(text, "total_rss "))
        memory = sum_of(text, "total_rss ") + sum_of(text, "total_shmem ");
    else if (text)
        memory = sum_of(text, "anon ") + sum_of(text, "shmem ");
    free(text);
    return memory;
}
