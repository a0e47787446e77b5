/* SPDX-License-Identifier: MIT
 *
 * Takes the lock of a root. Waits a little for an agent whose link has just ended, and kills an
 * agent that holds the lock and works for the owner of this agent. To find that agent, it searches
 * the lock in the fdinfo of processes with the agent's name. The lock is released when the process
 * ends.
 */
#include "nodeagent-proto/agent/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/wire/message.h"

#define WAIT_MS    5000 /* an agent whose link has just ended exits within milliseconds */
#define STEP_NS    2000000
#define OWNER_MAX  512
#define FDINFO_MAX 4096
/* The beginning of the agent's process name. The file's name continues with a hash, which the
 * kernel cuts off. */
#define AGENT_NAME "batchai-node"

/* True: the text of the lock file is `owner`, so the agent that holds the lock works for the owner
 * of this agent. */
static bool is_ours(int fd, const char *owner)
{
    char text[OWNER_MAX + 1];
    ssize_t n = pread(fd, text, OWNER_MAX, 0);
    return n > 0 && (size_t)n == strlen(owner) && memcmp(text, owner, (size_t)n) == 0;
}

static void say_owner(int fd, const char *owner)
{
    size_t n = strnlen(owner, OWNER_MAX);
    /* Without this text, the next agent would not kill this agent but only wait, as for an agent of
     * another owner. */
    if (ftruncate(fd, 0) < 0 || pwrite(fd, owner, n, 0) != (ssize_t)n)
        fprintf(stderr, "the owner of the node root is not noted: %s\n", strerror(errno));
}

/* True: the process is an agent. This is checked because the process that took the lock may have
 * ended, and another program may have its pid. */
static bool is_agent(long pid)
{
    char path[64], *name;
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    if (fs_read(path, 64, &name, NULL, NULL) < 0)
        return false;
    bool yes = strncmp(name, AGENT_NAME, strlen(AGENT_NAME)) == 0;
    free(name);
    return yes;
}

/* If a descriptor of `pid` refers to `file`, returns the pid of the process that locked it; 0:
 * nobody has, or it is another file. The pid is in a line of fdinfo (proc_pid_fdinfo(5)):
 *
 *     "lock:\t1: FLOCK  ADVISORY  WRITE 708 08:01:2631 0 EOF"
 *
 * On btrfs and overlayfs the device numbers in this line differ from those of stat(2), so stat(2)
 * of the descriptor is compared. stat(2) is not called for files without a lock, because they may
 * be on a share that hangs. */
static long locker_by(long pid, const char *descriptor, const struct stat *file)
{
    char path[64], *text;
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld/fdinfo/%.10s", pid, descriptor);
    if (fs_read(path, FDINFO_MAX, &text, NULL, NULL) < 0)
        return 0;
    const char *lock = strstr(text, "\nlock:"), *kind = lock ? strstr(lock, ": FLOCK ") : NULL;
    const char *by = kind ? strstr(kind, " WRITE ") : NULL;
    long locker = by ? strtol(by + strlen(" WRITE "), NULL, 10) : 0;
    free(text);
    snprintf(path, sizeof path, "/proc/%ld/fd/%.10s", pid, descriptor);
    bool same = locker > 0 && stat(path, &st) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    return same ? locker : 0;
}

static long locker_in(long pid, const struct stat *file)
{
    char path[64];
    long found = 0;
    snprintf(path, sizeof path, "/proc/%ld/fdinfo", pid);
    DIR *d = opendir(path);
    for (struct dirent *de; found == 0 && d && (de = readdir(d));)
        if (de->d_name[0] != '.')
            found = locker_by(pid, de->d_name, file);
    if (d)
        closedir(d);
    return found;
}

/* Returns the pid of the agent that holds the lock; 0: not known. The holder is the process that
 * locked the file, because a child that was just forked has the descriptor, too. */
static long holder_of(int fd)
{
    struct stat file;
    long found = 0;
    DIR *d = fstat(fd, &file) == 0 ? opendir("/proc") : NULL;
    for (struct dirent *de; found == 0 && d && (de = readdir(d));) {
        long pid = strtol(de->d_name, NULL, 10);
        if (pid > 1 && pid != getpid() && is_agent(pid))
            found = locker_in(pid, &file);
    }
    if (d)
        closedir(d);
    return found;
}

static void end_predecessor(int fd, const char *owner)
{
    long pid = is_ours(fd, owner) ? holder_of(fd) : 0;
    if (pid > 1 && pid != getpid() && is_agent(pid))
        (void)kill((pid_t)pid, SIGKILL);
}

int lock_take(const char *root, struct err *e)
{
    const char *owner = getenv(NODE_OWNER_VARIABLE);
    char *path = fs_join(root, "agent.lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), rc = -1;
    int64_t limit = monotonic_ms() + WAIT_MS;
    if (fd < 0)
        err_errno(e, ERR_IO, "cannot open %s", path);
    while (fd >= 0 && (rc = flock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK &&
           monotonic_ms() < limit) {
        if (owner && *owner)
            end_predecessor(fd, owner);
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    }
    if (fd >= 0 && rc < 0) {
        err_set(e, ERR_ALREADY_RUNNING, NULL,
                "another agent serves the node root %s (it holds %s); each node needs a root of "
                "its own",
                root, path);
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        say_owner(fd, owner ? owner : "");
    free(path);
    return fd;
}
