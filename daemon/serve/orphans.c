/* SPDX-License-Identifier: MIT */
#include "daemon/serve/orphans.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"

enum { MOST = 1024, TEXT_MAX = 64 * 1024 };

static pid_t *pids; /* owned */
static size_t n;

/* If the kernel does not list them, the zombies stay until this process ends. */
void orphans_find(void)
{
    char path[64], *text, *end;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
        return;
    pids = calloc(MOST, sizeof *pids);
    for (const char *at = text; pids && n < MOST; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        pids[n++] = (pid_t)pid;
    }
    free(text);
    orphans_reap();
}

void orphans_reap(void)
{
    size_t kept = 0;
    for (size_t i = 0; pids && i < n; i++)
        if (waitpid(pids[i], NULL, WNOHANG) == 0)
            pids[kept++] = pids[i];
    n = kept;
    if (n == 0) {
        free(pids);
        pids = NULL;
    }
}
