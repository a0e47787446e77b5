/* SPDX-License-Identifier: MIT
 *
 * Unmounts. A system call on a dead mount may never return, so each attempt has its own process;
 * the kernel's list of mounts shows the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/program.h"

/* ms; limit of an ordinary unmount: the file system may still write its data, or be dead */
#define POLITE_MS 3000
#define FORCED_MS 3000
#define STEP_NS   2000000
#define STACK_MAX 100 /* the most mounts within one target */

struct unmount_attempt {
    const char *root;
    char *path; /* of the mount point */
    char *type;
    int flags;
    int error; /* error number of the last attempt; 0: success */
};

static size_t count_at(const char *path)
{
    struct agent_mounts m;
    size_t n = 0;
    if (mounts_read(&m, NULL) < 0)
        return 0;
    for (size_t i = 0; i < m.n; i++)
        n += strcmp(m.items[i].path, path) == 0;
    mounts_free(&m);
    return n;
}

/* Without root, only the helper program of FUSE may unmount a FUSE file system. */
static int ask_fusermount(const struct unmount_attempt *t)
{
    static const char *const names[] = {"fusermount3", "fusermount"};
    struct strbuf said = STRBUF_INIT; /* freed with the process */
    for (size_t i = 0; i < 2; i++) {
        const char *argv[] = {names[i], "-u",    t->flags & MNT_DETACH ? "-zq" : "-q",
                              "--",     t->path, NULL};
        int rc = program_run(argv, NULL, &said, NULL);
        if (rc >= 0)
            return rc == 0 ? 0 : EBUSY;
    }
    return EPERM;
}

/* Unmounts relative to the directory above the mount point, opened without following links, so that
 * nobody can swap the path meanwhile. */
static _Noreturn void unmount_here(const struct unmount_attempt *t)
{
    struct err e;
    const char *name;
    int dir = file_open_holder(t->root, t->path, false, &name, &e);
    if (dir < 0 || fchdir(dir) < 0)
        _exit(dir < 0 && e.code == ERR_NONE ? ENOENT : EACCES);
    if (umount2(name, UMOUNT_NOFOLLOW | t->flags) == 0)
        _exit(0);
    if (errno == EPERM && strncmp(t->type, "fuse", 4) == 0)
        _exit(ask_fusermount(t));
    _exit(errno);
}

/* Waits for the process at most `limit_ms`, then kills it without waiting for its end. Returns its
 * error number. */
static int wait_some(pid_t pid, int limit_ms)
{
    int status = 0;
    int64_t limit = monotonic_ms() + limit_ms;
    pid_t got;
    while ((got = waitpid(pid, &status, WNOHANG)) == 0 && monotonic_ms() < limit)
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    if (got == pid)
        return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    kill(pid, SIGKILL);
    return ETIMEDOUT;
}

/* Makes one attempt. True if the path has one mount less. */
static bool try(struct unmount_attempt *t, int flags, int limit_ms)
{
    size_t before = count_at(t->path);
    t->flags = flags;
    pid_t pid = fork();
    if (pid == 0)
        unmount_here(t);
    t->error = pid < 0 ? errno : wait_some(pid, limit_ms);
    return count_at(t->path) < before;
}

/* MNT_FORCE breaks the file system for all its mounts, so it is used only if the file system has no
 * other mount. */
static int forced_flags(const struct agent_mounts *m, const struct mount_point *p)
{
    return MNT_DETACH | (mounts_is_shared(m, p->device, p->path) ? 0 : MNT_FORCE);
}

static int detach(const char *root, const struct agent_mounts *m, const struct mount_point *p,
                  struct err *e)
{
    struct unmount_attempt t = {.root = root, .path = p->path, .type = p->type};
    if (try(&t, 0, POLITE_MS) || (t.error != EPERM && try(&t, forced_flags(m, p), FORCED_MS)))
        return 0;
    if (count_at(p->path) == 0)
        return 0;
    if (t.error == EPERM)
        return err_set(
            e, ERR_NODE, "target",
            "cannot unmount %s (%s): the agent is not root and this is not a mount that its "
            "account made",
            p->path, p->type);
    errno = t.error;
    return err_errno(e, ERR_NODE, "cannot unmount %s (%s)", p->path, p->type);
}

int mounts_detach_within(const char *root, const char *top, struct err *e)
{
    for (int i = 0; i < STACK_MAX; i++) {
        struct agent_mounts m;
        if (mounts_read(&m, e) < 0)
            return -1;
        const struct mount_point *p = mounts_last_within(&m, top);
        int rc = p ? detach(root, &m, p, e) : 0;
        mounts_free(&m);
        if (!p || rc < 0)
            return rc;
    }
    return err_set(e, ERR_NODE, "target", "cannot unmount %s: more than %d mounts are there", top,
                   STACK_MAX);
}
