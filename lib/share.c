/* SPDX-License-Identifier: MIT
 *
 * Sets modes and default ACLs, through descriptors that were opened without following links. The
 * folder itself is changed last, so the next call repeats an interrupted walk. The functions keep
 * no state. They block, so they are called on a worker thread or in a separate process.
 */
#include "lib/share.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/fs.h"

#define DEFAULT_LIST "system.posix_acl_default"
#define FD_PATH      "/proc/self/fd/%d"
#define FD_PATH_SIZE 64

/* A default ACL in the kernel's format (acl(5), linux/posix_acl_xattr.h): everybody may use new
 * files in the directory, whatever their owner and the umask. */
static const unsigned char everybody[] = {
    2,    0, 0, 0,                         /* version */
    0x01, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* the owner: rwx */
    0x04, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* the group: rwx */
    0x20, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* others: rwx */
};

bool share_is_open(const char *dir)
{
    struct stat st;
    char now[sizeof everybody + 1];
    if (stat(dir, &st) < 0 || (st.st_mode & 0777) != 0777)
        return false;
    ssize_t n = getxattr(dir, DEFAULT_LIST, now, sizeof now);
    return n == (ssize_t)sizeof everybody ? memcmp(now, everybody, sizeof everybody) == 0
                                          : n < 0 && errno != ENODATA && errno != ERANGE;
}

/* `fd` was opened with O_PATH: it refers to the same file even if somebody renames the file
 * meanwhile. */
static int open_one(int fd)
{
    char path[FD_PATH_SIZE];
    struct stat st;
    snprintf(path, sizeof path, FD_PATH, fd);
    if (fstat(fd, &st) < 0)
        return -1;
    bool is_dir = S_ISDIR(st.st_mode);
    mode_t more = is_dir || (st.st_mode & 0100) ? 0777 : 0666;
    if (!is_dir && !S_ISREG(st.st_mode))
        return 0;
    if ((st.st_mode & more) != more && chmod(path, (st.st_mode & 07777) | more) < 0)
        return -1;
    if (is_dir && setxattr(path, DEFAULT_LIST, everybody, sizeof everybody, 0) < 0)
        return errno == ENOTSUP || errno == EOPNOTSUPP ? 0 : -1;
    return 0;
}

/* Opens an entry to everybody. Skips an entry that was removed meanwhile, or whose path contains a
 * symbolic link now. */
static int open_below(const char *root, const char *relative)
{
    int fd = fs_open_without_links(root, relative, O_PATH | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
    int rc = open_one(fd), saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

/* Jobs may change the folder meanwhile, so the walk only collects names, and open_below() opens
 * each safely. The folder itself is changed last: if the walk is interrupted, the next call repeats
 * it. */
static int open_all(int dir)
{
    char root[FD_PATH_SIZE], start[FD_PATH_SIZE], *paths[] = {start, NULL};
    snprintf(root, sizeof root, FD_PATH, dir);
    snprintf(start, sizeof start, FD_PATH "/.", dir);
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    FTSENT *at;
    int rc = tree ? 0 : -1;
    while (rc == 0 && (errno = 0, at = fts_read(tree))) {
        const char *below = at->fts_path + strlen(start);
        if (at->fts_info == FTS_DP || at->fts_info == FTS_F)
            rc = open_below(root, below + (*below == '/'));
    }
    int saved = errno;
    if (tree)
        fts_close(tree);
    errno = saved;
    return rc < 0 || saved != 0 ? -1 : 0;
}

int share_open_at(int dir, const char *name, struct err *e)
{
    char path[FD_PATH_SIZE];
    snprintf(path, sizeof path, FD_PATH, dir);
    if (share_is_open(path) || open_all(dir) == 0)
        return 0;
    return err_errno(e, ERR_IO, "cannot open %s to all jobs", name);
}

int share_open(const char *dir, struct err *e)
{
    if (share_is_open(dir))
        return 0;
    int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot open %s to all jobs", dir);
    int rc = share_open_at(fd, dir, e);
    close(fd);
    return rc;
}
