/* SPDX-License-Identifier: MIT */
#include "lib/share.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/arena.h"

#define DEFAULT_LIST "system.posix_acl_default"

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

/* `path` is no link. */
static int open_one(const char *path, const struct stat *st)
{
    mode_t more = S_ISDIR(st->st_mode) || (st->st_mode & 0100) ? 0777 : 0666;
    if ((st->st_mode & more) != more && chmod(path, (st->st_mode & 07777) | more) < 0)
        return -1;
    if (S_ISDIR(st->st_mode) && setxattr(path, DEFAULT_LIST, everybody, sizeof everybody, 0) < 0)
        return errno == ENOTSUP || errno == EOPNOTSUPP ? 0 : -1;
    return 0;
}

/* The folder itself comes last: if the walk is interrupted, the next call repeats it. */
int share_open(const char *dir, struct err *e)
{
    if (share_is_open(dir))
        return 0;
    char *path = realpath(dir, NULL), *paths[] = {path, NULL};
    FTS *tree = path ? fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL) : NULL;
    FTSENT *at;
    int rc = tree ? 0 : -1;
    while (rc == 0 && (errno = 0, at = fts_read(tree))) {
        bool is_dir = at->fts_info == FTS_DP, is_file = at->fts_info == FTS_F;
        if ((is_dir || is_file) && open_one(at->fts_accpath, at->fts_statp) < 0 && errno != ENOENT)
            rc = -1;
    }
    if (rc < 0 || errno != 0)
        rc = err_errno(e, ERR_IO, "cannot open %s to all jobs", dir);
    if (tree)
        fts_close(tree);
    free(path);
    return rc;
}
