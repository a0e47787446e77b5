/* SPDX-License-Identifier: MIT
 *
 * Operations on files, given by their paths. If a path must stay below the node root, symbolic
 * links in it are not followed. A file gets a new text by a rename, as a whole; a discarded file is
 * moved to the trash by one rename.
 */
#include "nodeagent-proto/agent/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/guid.h"
#include "lib/share.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/jobdir.h"
#include "nodeagent-proto/agent/mounts.h"

#define SAME_MAX 4096 /* longer files are not compared */

/* True: the file exists, belongs to the account of this process and has this content and mode. */
static bool is_so(const char *path, const void *data, size_t len, mode_t mode)
{
    struct stat st;
    char now[SAME_MAX];
    int fd = len <= sizeof now
                 ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                 : -1;
    bool so = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
              st.st_uid == geteuid() && (st.st_mode & 07777) == mode && st.st_size == (off_t)len &&
              read(fd, now, len) == (ssize_t)len && memcmp(now, data, len) == 0;
    if (fd >= 0)
        close(fd);
    return so;
}

int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
    if (is_so(path, data, len, mode))
        return 0;
    struct strbuf tmp = STRBUF_INIT;
    strbuf_printf(&tmp, "%s.tmp-XXXXXX", path);
    int rc = -1, fd = mkostemp(tmp.s, O_CLOEXEC);
    if (fd < 0) {
        err_errno(e, ERR_IO, "cannot create %s", tmp.s);
        goto out;
    }
    if (fchmod(fd, mode) < 0 || fs_write_all(fd, data, len) < 0 || rename(tmp.s, path) < 0) {
        err_errno(e, ERR_IO, "cannot write %s", path);
        unlink(tmp.s);
    } else {
        rc = 0;
    }
    close(fd);
out:
    strbuf_free(&tmp);
    return rc;
}

int file_append(const char *path, const char *text, struct err *e)
{
    /* O_NONBLOCK: a pipe without a reader must not block the agent. O_NOFOLLOW: a job may have
     * replaced its log by a link to a foreign file. */
    const int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    int fd = open(path, flags, 0666);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot open %s", path);
    int rc = fs_write_all(fd, text, strlen(text));
    if (rc < 0)
        err_errno(e, ERR_IO, "cannot write %s", path);
    close(fd);
    return rc;
}

int file_make_parents(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    char *dir = xstrdup(path);
    dir[slash - path] = '\0';
    int rc = access(dir, F_OK) == 0 ? 0 : fs_mkdirs(dir, 0777, e);
    free(dir);
    return rc;
}

/* Returns the part of `path` below `root`; NULL: `path` is `root` or is not below it. */
static const char *below(const char *root, const char *path, struct err *e)
{
    size_t n = strlen(root);
    if (strncmp(path, root, n) == 0 && path[n] == '/' && path[n + 1] &&
        fs_path_is_safe(path + n + 1))
        return path + n + 1;
    err_set(e, ERR_INVALID_PATH, "path",
            "'%s' is not below the node root %s (an absolute path without '.', '..' or empty "
            "parts is needed)",
            path, root);
    return NULL;
}

int file_check_below(const char *root, const char *path, struct err *e)
{
    return below(root, path, e) ? 0 : -1;
}

int file_open_holder(const char *root, const char *path, bool make, const char **name,
                     struct err *e)
{
    err_clear(e);
    *name = path;
    const char *rest = below(root, path, e);
    int dir = rest ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rest && dir < 0)
        return err_errno(e, ERR_IO, "cannot open %s", root);
    for (const char *slash; dir >= 0 && (slash = strchr(rest, '/')); rest = slash + 1) {
        char *part = strndup(rest, (size_t)(slash - rest));
        if (make && part && mkdirat(dir, part, 0777) < 0 && errno != EEXIST)
            err_errno(e, ERR_IO, "cannot create '%s' for %s", part, path);
        int next = openat(dir, part ? part : "", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && errno != ENOENT && e->code == ERR_NONE)
            err_errno(e, ERR_INVALID_PATH,
                      "'%s' on the way to %s cannot be opened as a directory of the node", part,
                      path);
        free(part);
        close(dir);
        dir = next;
    }
    *name = rest;
    return dir;
}

/* Opens the next directory of the path. If it is missing, makes it and gives it to the account.
 * Closes `dir`. Returns the directory's descriptor, or -1 after a failure. */
static int step_down(int dir, const char *part, const struct account *as)
{
    bool made = mkdirat(dir, part, 0777) == 0;
    int next = made || errno == EEXIST ? fs_open_here(dir, part, O_RDONLY) : -1;
    if (next >= 0 && made && fchown(next, as->uid, as->gid) < 0) {
        close(next);
        next = -1;
    }
    close(dir);
    return next;
}

/* Makes the directories of the path; stops at a symbolic link or at another file system than the
 * root's. True: all of them exist now. */
static bool make_below(const char *root, const struct account *as, const char *path)
{
    const char *rest = below(root, path, NULL);
    int dir = rest ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    while (dir >= 0 && *rest) {
        size_t n = strcspn(rest, "/");
        char *part = strndup(rest, n);
        dir = part ? step_down(dir, part, as) : -1;
        free(part);
        rest += n + (rest[n] == '/');
    }
    if (dir >= 0)
        close(dir);
    return dir >= 0;
}

int file_make_dirs(const char *root, const struct account *as, const char *path, struct err *e)
{
    if (!as || geteuid() != 0)
        return fs_mkdirs(path, 0777, e);
    if (make_below(root, as, path))
        return 0;
    if (account_assume(as, e) < 0)
        return -1;
    int rc = fs_mkdirs(path, 0777, e);
    account_resume();
    return rc < 0 ? err_prefix(e, "as %s", as->name) : 0;
}

int file_make_parents_as(const char *root, const struct account *as, const char *path,
                         struct err *e)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    char *dir = xstrdup(path);
    dir[slash - path] = '\0';
    int rc = file_make_dirs(root, as, dir, e);
    free(dir);
    return rc;
}

static int refuse_occupied(const char *target, struct err *e)
{
    if (errno == ENOTDIR)
        return err_set(e, ERR_CONFLICT, "target",
                       "cannot mount at %s: a file is there; remove it first", target);
    if (errno == ENOTEMPTY || errno == EEXIST)
        return err_set(e, ERR_CONFLICT, "target",
                       "cannot mount at %s: a directory that is not empty is there; mount "
                       "elsewhere or empty it first",
                       target);
    return err_errno(e, ERR_IO, "cannot mount at %s", target);
}

/* Puts a symbolic link in place by a rename. A rename replaces another link, but an empty directory
 * must be removed first. */
static int place_link(int dir, const char *source, const char *name, const char *target,
                      struct err *e)
{
    char tmp[GUID_SIZE + 8], guid[GUID_SIZE];
    struct stat st;
    guid_new(guid);
    snprintf(tmp, sizeof tmp, ".mount-%s", guid);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode) &&
        unlinkat(dir, name, AT_REMOVEDIR) < 0)
        return refuse_occupied(target, e);
    if (symlinkat(source, dir, tmp) == 0 && renameat(dir, tmp, dir, name) == 0)
        return 0;
    int saved = errno;
    unlinkat(dir, tmp, 0);
    errno = saved;
    return err_errno(e, ERR_IO, "cannot mount %s at %s", source, target);
}

/* Opens the folder with O_PATH. -1 with ERR_NONE in `e`: the folder does not exist. */
static int open_folder(const struct file_folder *f, struct err *e)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    size_t n = f->within ? strlen(f->within) : 0;
    err_clear(e);
    if (f->within && !fs_is_within(f->path, f->within))
        return err_set(e, ERR_INVALID_PATH, "source", "%s is not below %s", f->path, f->within);
    int fd = f->within ? fs_open_beneath(f->within, f->path + n + (f->path[n] == '/'), flags)
                       : open(f->path, flags);
    if (fd >= 0 || errno == ENOENT)
        return fd;
    if (errno == EXDEV)
        return err_set(e, ERR_INVALID_PATH, "source",
                       "%s: a symbolic link in it is absolute or leads out of %s; name the "
                       "directory itself",
                       f->path, f->within);
    if (errno == ENOTDIR)
        return err_set(e, ERR_INVALID_PATH, "source",
                       "%s is not a directory; only a directory can be mounted", f->path);
    return err_errno(e, ERR_IO, "cannot open %s", f->path);
}

int file_open_to_all(const struct file_folder *f, struct err *e)
{
    int fd = open_folder(f, e);
    if (fd < 0) {
        err_clear(e);
        return 0;
    }
    int rc = share_open_at(fd, f->path, e);
    close(fd);
    return rc;
}

/* Makes the folder, without following symbolic links below `within`. */
static int make_folder(const struct file_folder *f, struct err *e)
{
    const char *name;
    if (!f->within || strcmp(f->path, f->within) == 0)
        return fs_mkdirs(f->path, 0777, e);
    int dir = fs_mkdirs(f->within, 0777, e) < 0
                  ? -1
                  : file_open_holder(f->within, f->path, true, &name, e);
    if (dir < 0)
        return e->code != ERR_NONE ? -1 : err_errno(e, ERR_IO, "cannot create %s", f->path);
    int rc = mkdirat(dir, name, 0777) == 0 || errno == EEXIST
                 ? 0
                 : err_errno(e, ERR_IO, "cannot create %s", f->path);
    close(dir);
    return rc;
}

/* Opens the folder that a link shall lead to; makes it if it is missing. */
static int open_or_make(const struct file_folder *f, bool *made, struct err *e)
{
    int fd = open_folder(f, e);
    *made = fd < 0 && e->code == ERR_NONE;
    if (!*made)
        return fd;
    if (make_folder(f, e) < 0)
        return -1;
    fd = open_folder(f, e);
    return fd >= 0 || e->code != ERR_NONE ? fd : err_errno(e, ERR_IO, "cannot open %s", f->path);
}

static int place_link_to(const char *root, const char *source, const char *target, struct err *e)
{
    const char *name;
    int dir = file_open_holder(root, target, true, &name, e);
    if (dir < 0)
        return e->code != ERR_NONE ? -1 : err_errno(e, ERR_IO, "cannot mount at %s", target);
    char now[4096];
    ssize_t n = readlinkat(dir, name, now, sizeof now);
    int rc = n > 0 && (size_t)n == strlen(source) && memcmp(now, source, (size_t)n) == 0
                 ? 0
                 : place_link(dir, source, name, target, e);
    close(dir);
    return rc;
}

int file_link(const char *root, const struct file_folder *source, const char *target, bool shared,
              struct err *e)
{
    bool made;
    int fd = open_or_make(source, &made, e);
    if (fd < 0)
        return err_prefix(e, "cannot mount %s at %s", source->path, target);
    int rc = shared || (made && geteuid() == 0) ? share_open_at(fd, source->path, e) : 0;
    close(fd);
    return rc < 0 ? -1 : place_link_to(root, source->path, target, e);
}

int file_unlink(const char *root, const char *target, struct err *e)
{
    const char *name;
    struct stat st;
    int dir = file_open_holder(root, target, false, &name, e);
    if (dir < 0)
        return e->code == ERR_NONE ? 0 : -1;
    int rc = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
    if (rc == 0 && S_ISLNK(st.st_mode))
        rc = unlinkat(dir, name, 0);
    else if (rc == 0 && S_ISDIR(st.st_mode))
        rc = unlinkat(dir, name, AT_REMOVEDIR);
    if (rc < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
        err_errno(e, ERR_IO, "cannot unmount %s", target);
    else
        rc = 0;
    close(dir);
    return rc;
}

int file_discard(const char *root, const char *path, const char *trash, struct mounts_kept *mounts,
                 struct err *e)
{
    const char *name;
    int dir = file_open_holder(root, path, false, &name, e);
    if (dir < 0)
        return e->code == ERR_NONE ? 0 : -1;
    /* Renaming the directory could move mounts in it. */
    if (mounts_refuse_within(mounts, path, e) < 0) {
        close(dir);
        return -1;
    }
    if (jobdir_keep(root, path, dir, name)) {
        close(dir);
        return 0;
    }
    char guid[GUID_SIZE];
    guid_new(guid);
    char *to = fs_join(trash, guid);
    int rc = renameat(dir, name, AT_FDCWD, to);
    /* Moving a directory needs write permission on it. */
    if (rc < 0 && errno == EACCES && fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
        rc = renameat(dir, name, AT_FDCWD, to);
    if (rc == 0)
        rc = 1;
    else
        rc = errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot remove %s", path);
    free(to);
    close(dir);
    return rc;
}

void file_empty_directory(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    while (d && (de = readdir(d))) {
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        char *path = fs_join(dir, de->d_name);
        int ignored = fs_remove_tree(path, NULL);
        (void)ignored;
        free(path);
    }
    if (d)
        closedir(d);
}
