/* SPDX-License-Identifier: MIT
 *
 * The daemon's process and disk. The names are those of Prometheus' own client libraries.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/metrics/facts.h"

#define SECOND_US 1000000

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * SECOND_US + t.tv_usec;
}

static bool read_memory(int64_t *bytes)
{
    char line[256], *end;
    FILE *f = fopen("/proc/self/statm", "re");
    bool read = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    if (!read)
        return false;
    /* skips the virtual size; the next number is the resident memory, in pages */
    (void)strtoll(line, &end, 10);
    *bytes = strtoll(end, NULL, 10) * sysconf(_SC_PAGESIZE);
    return true;
}

static bool count_files(int64_t *n)
{
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return false;
    *n = -3; /* not counted: ".", "..", and the descriptor of the folder itself */
    while (readdir(d))
        ++*n;
    closedir(d);
    return true;
}

void facts_of_own(const struct metrics *m, struct own_facts *out)
{
    struct statvfs disk;
    struct stat copy;
    struct rusage used;
    struct rlimit files;
    *out = (struct own_facts){0};
    if ((out->has_disk = statvfs(m->state_dir, &disk) == 0)) {
        out->disk_free = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
        out->disk_size = (int64_t)disk.f_blocks * (int64_t)disk.f_frsize;
    }
    if (stat(m->backed_up, &copy) == 0)
        out->backed_up_us = (int64_t)copy.st_mtim.tv_sec * SECOND_US;
    out->has_process = getrusage(RUSAGE_SELF, &used) == 0 &&
                       getrlimit(RLIMIT_NOFILE, &files) == 0 && read_memory(&out->memory) &&
                       count_files(&out->files);
    if (!out->has_process)
        return;
    out->cpu_us = us_of(used.ru_utime) + us_of(used.ru_stime);
    out->files_max = (int64_t)files.rlim_cur;
}
