/* SPDX-License-Identifier: MIT
 *
 * Closes ranges of descriptors by close_range(2) or, on kernels before 5.9, one by one. Raises
 * RLIMIT_NOFILE.
 */
#include "nodeagent-proto/agent/descriptors.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The new soft limit: enough for 30,000 tasks. It is not higher, because some programs of the
 * system close each possible descriptor at their start. */
#define MANY 65536U

static struct rlimit usual; /* the limit before it was raised; rlim_max 0: it was not raised */

/* Closes the descriptors from `first` to `last`. False: the kernel is older than 5.9 and cannot do
 * this. */
static bool close_between(int first, int last)
{
#ifdef SYS_close_range
    return first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0U) == 0;
#else
    (void)first;
    (void)last;
    return false;
#endif
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool close_around(int a, int b, int c)
{
    int keep[] = {a, b, c}, from = STDERR_FILENO + 1;
    qsort(keep, sizeof keep / sizeof keep[0], sizeof keep[0], compare);
    for (size_t i = 0; i < sizeof keep / sizeof keep[0]; i++) {
        if (keep[i] < from)
            continue;
        if (!close_between(from, keep[i] - 1))
            return false;
        from = keep[i] + 1;
    }
    return close_between(from, INT_MAX);
}

void descriptors_close_all_but(int a, int b, int c)
{
    if (close_around(a, b, c))
        return;
    DIR *d = opendir("/proc/self/fd");
    struct dirent *de;
    while (d && (de = readdir(d))) {
        int fd = (int)strtol(de->d_name, NULL, 10);
        if (fd > STDERR_FILENO && fd != a && fd != b && fd != c && fd != dirfd(d))
            close(fd);
    }
    if (d)
        closedir(d);
}

void descriptors_allow_many(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0)
        return;
    struct rlimit many = {.rlim_cur = now.rlim_max < MANY ? now.rlim_max : MANY,
                          .rlim_max = now.rlim_max};
    if (now.rlim_cur < many.rlim_cur && setrlimit(RLIMIT_NOFILE, &many) == 0)
        usual = now;
}

void descriptors_allow_usual(void)
{
    if (usual.rlim_max)
        (void)setrlimit(RLIMIT_NOFILE, &usual);
}
