/* SPDX-License-Identifier: MIT
 *
 * Reads the mounts again whenever the kernel reports a change, and opens a folder without crossing
 * a mount (openat2). "Yes" is a promise that no call on the folder hangs, so any failure means
 * "no".
 */
#include "storage/folders/in_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

#define MOUNTS     "/proc/self/mountinfo"
#define MOUNTS_MAX (16U * 1024 * 1024)

struct in_memory {
    char *folder;
    int mounts_fd;        /* reports changes (proc(5)); -1: not available */
    struct strbuf mounts; /* mount points below the folder, one in each line */
};

/* See proc(5): the fifth word of a line is the mount point. Blanks in it are written as \040, which
 * never matches, because names of shares contain no blanks. */
static void read_mounts(struct in_memory *m)
{
    char *text, *save, at[4096];
    strbuf_reset(&m->mounts);
    if (fs_read(MOUNTS, MOUNTS_MAX, &text, NULL, NULL) < 0)
        return;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1 && fs_is_within(at, m->folder))
            strbuf_concat(&m->mounts, at, "\n");
    free(text);
}

struct in_memory *in_memory_open(const char *folder)
{
    struct statfs s;
    if (statfs(folder, &s) < 0 || s.f_type != TMPFS_MAGIC)
        return NULL;
    struct in_memory *m = xcalloc(1, sizeof *m);
    m->folder = xstrdup(folder);
    m->mounts_fd = open(MOUNTS, O_RDONLY | O_CLOEXEC);
    m->mounts = (struct strbuf)STRBUF_INIT;
    read_mounts(m);
    return m;
}

void in_memory_close(struct in_memory *m)
{
    if (!m)
        return;
    if (m->mounts_fd >= 0)
        close(m->mounts_fd);
    strbuf_free(&m->mounts);
    free(m->folder);
    free(m);
}

bool in_memory_changed(struct in_memory *m)
{
    struct pollfd p = {.fd = m->mounts_fd, .events = POLLPRI};
    if (poll(&p, 1, 0) <= 0 || (p.revents & (POLLERR | POLLPRI)) == 0)
        return false;
    read_mounts(m);
    return true;
}

/* Opens the folder without crossing a later mount, because that may hang. */
static bool is_reached(const struct in_memory *m, const char *folder)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
    const char *below = folder + strlen(m->folder);
    int memory = open(m->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = (int)syscall(SYS_openat2, memory, *below ? below + 1 : ".", &how, sizeof how);
    bool is = fd >= 0 || errno == ENOENT;
    if (fd >= 0)
        close(fd);
    if (memory >= 0)
        close(memory);
    return is;
}

static bool has_mounts(const struct in_memory *m, const char *folder)
{
    size_t n = strlen(folder);
    for (const char *at = m->mounts.s; at && *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, folder, n) == 0 && (at[n] == '/' || at[n] == '\n'))
            return true;
    return false;
}

bool in_memory_has(const struct in_memory *m, const char *folder)
{
    return m && fs_is_within(folder, m->folder) && is_reached(m, folder) && !has_mounts(m, folder);
}
