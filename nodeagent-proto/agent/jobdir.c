/* SPDX-License-Identifier: MIT
 *
 * Keeps the directory of a job that left no files in it, and gives it to a later job. To keep it,
 * the agent resets its owner, mode and content, checks that it has no access list, and then renames
 * it. To give it to a job, the agent sets its owner and then renames it back. So after a crash it
 * is at one of the two places. Works only as root.
 */
#include "nodeagent-proto/agent/jobdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/fs.h"

#define JOBS         "/jobs/"
#define KEPT         "accounts/.job"
#define SHARED       "shared"   /* the directory for all nodes of the job */
#define HOSTFILE     "hostfile" /* the file that the daemon writes */
#define HOSTFILE_MAX 4096

static bool is_job(const char *root, const char *path)
{
    size_t n = strlen(root);
    return geteuid() == 0 && strncmp(path, root, n) == 0 &&
           strncmp(path + n, JOBS, strlen(JOBS)) == 0 && path[n + strlen(JOBS)] &&
           !strchr(path + n + strlen(JOBS), '/');
}

/* Resets the owner to root and sets the mode. False: this failed, or the file has attributes such
 * as an access list, which would apply to files that a later job makes in the directory. */
static bool make_plain(int fd, mode_t mode)
{
    char names[1024];
    if (fchown(fd, 0, 0) < 0 || fchmod(fd, mode) < 0)
        return false;
    ssize_t n = flistxattr(fd, names, sizeof names);
    if (n < 0 && errno != ENOTSUP)
        return false;
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1)
        if (strncmp(names + i, "security.", strlen("security.")) != 0)
            return false;
    return true;
}

/* Whether the directory `fd` has no entries but those in `known`. */
static bool has_only(int fd, const char *const *known, size_t n)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *de;
    bool only = d != NULL;
    while (only && (de = readdir(d))) {
        only = strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0;
        for (size_t i = 0; i < n && !only; i++)
            only = strcmp(de->d_name, known[i]) == 0;
    }
    if (d)
        closedir(d);
    return only;
}

static int open_shared(int dir)
{
    return openat(dir, SHARED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_hostfile(int dir)
{
    return openat(dir, HOSTFILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* True: no other process has the file open, so none can write to it when it belongs to another job.
 * The kernel grants a write lease only in this case. */
static bool is_ours_alone(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
           st.st_size <= HOSTFILE_MAX && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

/* Keeps the text of the hostfile for the next job, because most jobs have equal hostfiles. Removes
 * a hostfile that cannot be kept, for example because another process has it open. False: it could
 * not be removed. */
static bool keep_hostfile(int dir)
{
    int fd = open_hostfile(dir);
    if (fd >= 0 && make_plain(fd, 0600) && is_ours_alone(fd)) {
        close(fd);
        return true;
    }
    if (fd >= 0)
        close(fd);
    return unlinkat(dir, HOSTFILE, 0) == 0 || errno == ENOENT;
}

/* Replaces the directory by a new one. Everybody may write in it, so a process that still has the
 * last job's directory open must not be able to write in the next job's. False: the directory has
 * entries, or another failure. */
static bool renew_shared(int dir)
{
    return unlinkat(dir, SHARED, AT_REMOVEDIR) == 0 && mkdirat(dir, SHARED, 0700) == 0;
}

static bool make_bare(int dir)
{
    static const char *const parts[] = {SHARED, HOSTFILE};
    return make_plain(dir, 0700) && has_only(dir, parts, sizeof parts / sizeof parts[0]) &&
           renew_shared(dir) && keep_hostfile(dir);
}

bool jobdir_keep(const char *root, const char *path, int holder, const char *name)
{
    if (!is_job(root, path))
        return false;
    char *kept = fs_join(root, KEPT);
    int dir = access(kept, F_OK) < 0
                  ? openat(holder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                  : -1;
    bool is_kept = dir >= 0 && make_bare(dir) && renameat(holder, name, AT_FDCWD, kept) == 0;
    if (dir >= 0)
        close(dir);
    free(kept);
    return is_kept;
}

static bool give(int fd, mode_t mode, uid_t uid, gid_t gid)
{
    return fd >= 0 && fchmod(fd, mode) == 0 && fchown(fd, uid, gid) == 0;
}

static bool give_all(int dir, uid_t uid, gid_t gid)
{
    int shared = open_shared(dir), hosts = open_hostfile(dir);
    bool given = give(shared, 0777, uid, gid) &&
                 (give(hosts, 0644, uid, gid) || (hosts < 0 && errno == ENOENT)) &&
                 give(dir, 0700, uid, gid);
    if (shared >= 0)
        close(shared);
    if (hosts >= 0)
        close(hosts);
    return given;
}

bool jobdir_take(const char *root, const char *path, int holder, const char *name, uid_t uid,
                 gid_t gid)
{
    if (!is_job(root, path))
        return false;
    char *kept = fs_join(root, KEPT);
    int dir = open(kept, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool taken = dir >= 0 && give_all(dir, uid, gid) &&
                 renameat2(AT_FDCWD, kept, holder, name, RENAME_NOREPLACE) == 0;
    if (dir >= 0)
        close(dir);
    free(kept);
    return taken;
}
