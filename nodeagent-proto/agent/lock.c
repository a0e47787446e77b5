/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/wire/message.h"

#define WAIT_MS   5000 /* an agent whose link has just ended needs milliseconds */
#define STEP_NS   2000000
#define OWNER_MAX 512
/* On a machine the file's name goes on with a hash, which the kernel cuts. */
#define AGENT_NAME "batchai-node"

/* The lock's file says for whom its holder works. */
static bool is_ours(int fd, const char *owner)
{
    char text[OWNER_MAX + 1];
    ssize_t n = pread(fd, text, OWNER_MAX, 0);
    return n > 0 && (size_t)n == strlen(owner) && memcmp(text, owner, (size_t)n) == 0;
}

static void say_owner(int fd, const char *owner)
{
    size_t n = strnlen(owner, OWNER_MAX);
    /* Without it, the next agent waits for us as it would for a stranger's. */
    if (ftruncate(fd, 0) < 0 || pwrite(fd, owner, n, 0) != (ssize_t)n)
        fprintf(stderr, "the owner of the node root is not noted: %s\n", strerror(errno));
}

/* Who took the lock may have ended and left its number to another program. */
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

/* The process that holds the lock, as the kernel tells; 0: not known. A line of proc_locks(5) is
 * "1: FLOCK  ADVISORY  WRITE 708 08:01:2631 0 EOF"; one that waits has "->" before its kind. */
static long holder_of(int fd)
{
    char line[256], file[64], *at;
    struct stat st;
    long found = 0;
    FILE *f = fstat(fd, &st) == 0 ? fopen("/proc/locks", "re") : NULL;
    if (!f)
        return 0;
    snprintf(file, sizeof file, " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
             (unsigned long long)st.st_ino);
    while (found == 0 && fgets(line, sizeof line, f)) {
        if (!strstr(line, ": FLOCK ") || !(at = strstr(line, file)))
            continue;
        *at = '\0';
        at = strrchr(line, ' ');
        found = at ? strtol(at, NULL, 10) : 0;
    }
    fclose(f);
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
