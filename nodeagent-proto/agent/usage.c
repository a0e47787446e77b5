/* SPDX-License-Identifier: MIT
 *
 * Sources: proc(5); Documentation/admin-guide/iostats.rst of Linux.
 */
#include "nodeagent-proto/agent/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/timefmt.h"

#define TEXT_MAX     65536
#define SECTOR_BYTES 512 /* the unit of /proc/diskstats, whatever the disk's own sector size */
#define KIB          1024

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* Reads the numbers of a line from `at` on; returns how many there are. */
static int read_numbers(const char *at, int64_t *out, int most)
{
    int n = 0;
    for (char *end; n < most; n++, at = end) {
        at += strspn(at, " \t");
        out[n] = strtoll(at, &end, 10);
        if (end == at)
            break;
    }
    return n;
}

/* Reads "cpu user nice system idle iowait irq softirq steal guest ..." of all processors together;
 * `user` includes the time of guests. */
void usage_read_stat(const char *text, struct node_usage *out)
{
    enum { IDLE = 3, IOWAIT = 4, COLUMNS = 8 };
    int64_t t[COLUMNS] = {0};
    if (strncmp(text, "cpu ", 4) != 0 || read_numbers(text + 4, t, COLUMNS) <= IDLE)
        return;
    for (int i = 0; i < COLUMNS; i++)
        out->cpu_ticks += t[i];
    out->cpu_busy_ticks = out->cpu_ticks - t[IDLE] - t[IOWAIT];
}

/* Returns NUMBER of a line such as "MemTotal: NUMBER kB". */
static int64_t kib_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    int64_t kib = 0;
    for (const char *at = text; *at; at = next_line(at))
        if (strncmp(at, name, n) == 0 && read_numbers(at + n, &kib, 1) == 1)
            return kib;
    return 0;
}

void usage_read_memory(const char *text, struct node_usage *out)
{
    int64_t total = kib_of(text, "MemTotal:"), available = kib_of(text, "MemAvailable:");
    if (total > available && available > 0)
        out->memory_bytes = (total - available) * KIB;
}

/* "  eth0: BYTES PACKETS errs drop fifo frame compressed multicast BYTES ..." */
void usage_read_network(const char *text, struct node_usage *out)
{
    enum { IN = 0, SENT = 8, COLUMNS = 9 };
    for (const char *at = text; *at; at = next_line(at)) {
        int64_t t[COLUMNS];
        at += strspn(at, " ");
        size_t name = strcspn(at, ":\n");
        if (at[name] != ':' || strncmp(at, "lo:", 3) == 0 ||
            read_numbers(at + name + 1, t, COLUMNS) < COLUMNS)
            continue;
        out->network_in_bytes += t[IN];
        out->network_out_bytes += t[SENT];
    }
}

/* "MAJOR MINOR NAME reads merged SECTORS ms writes merged SECTORS ..." */
void usage_read_disks(const char *text, bool (*is_disk)(const char *name), struct node_usage *out)
{
    enum { READS = 0, SECTORS_READ = 2, WRITES = 4, SECTORS_WRITTEN = 6, COLUMNS = 7 };
    for (const char *at = text; *at; at = next_line(at)) {
        char name[64];
        int64_t t[COLUMNS];
        const char *from = at + strspn(at, " 0123456789");
        size_t n = strcspn(from, " \n");
        if (n == 0 || n >= sizeof name || read_numbers(from + n, t, COLUMNS) < COLUMNS)
            continue;
        memcpy(name, from, n);
        name[n] = '\0';
        if (!is_disk(name))
            continue;
        out->disk_read_ops += t[READS];
        out->disk_write_ops += t[WRITES];
        out->disk_read_bytes += t[SECTORS_READ] * SECTOR_BYTES;
        out->disk_write_bytes += t[SECTORS_WRITTEN] * SECTOR_BYTES;
    }
}

/* Devices that are stacked on others (loop, md, dm) have no "device" link. */
static bool has_device(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/block/%s/device", name);
    return access(path, F_OK) == 0;
}

/* Returns "" if the file cannot be read. A longer text is cut: only the first line of /proc/stat is
 * needed. */
static const char *read_text(const char *path, char buf[TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && n<TEXT_MAX - 1; n += got> 0 ? (size_t)got : 0)
        got = read(fd, buf + n, TEXT_MAX - 1 - n);
    if (fd >= 0)
        close(fd);
    buf[n] = '\0';
    return buf;
}

void usage_look(const char *root, struct node_usage *out)
{
    char buf[TEXT_MAX];
    struct statvfs v;
    *out = (struct node_usage){.time_us = time_now_us()};
    usage_read_stat(read_text("/proc/stat", buf), out);
    usage_read_memory(read_text("/proc/meminfo", buf), out);
    usage_read_network(read_text("/proc/net/dev", buf), out);
    usage_read_disks(read_text("/proc/diskstats", buf), has_device, out);
    if (statvfs(root, &v) == 0)
        out->disk_bytes = (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize;
}
