/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/descriptors.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

void descriptors_close_all_but(int a, int b, int c)
{
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
