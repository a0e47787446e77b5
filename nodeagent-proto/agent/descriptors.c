/* SPDX-License-Identifier: MIT
 *
 * Closes ranges of descriptors by close_range(2) or, on kernels before 5.9, one by one.
 */
#include "nodeagent-proto/agent/descriptors.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* False: the kernel is older than 5.9. */
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
