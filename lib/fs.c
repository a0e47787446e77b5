/* SPDX-License-Identifier: MIT
 *
 * Wrappers of system calls, with EINTR, short writes and partial paths handled; no state. A file is
 * replaced by renaming a new file beside it: the file is synced before, its directory after.
 * Removing a tree crosses no mount and follows no symbolic link, because jobs write into these
 * trees. All functions block: call them on the loop's thread only for disks that are certain to
 * answer.
 */
#include "lib/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define NS_PER_S INT64_C(1000000000)
/* Makes a path; `p` is changed during the call, and then restored. Mostly only the end of a path is
 * missing, so it begins with the last directory: each mkdir() resolves its whole path, and locks
 * the parent even if the directory exists. */
static int make_path(char *p, mode_t mode, struct err *e)
{
    if (mkdir(p, mode) == 0 || errno == EEXIST)
        return 0;
    char *slash = strrchr(p, '/');
    if (errno == ENOENT && slash && slash != p) {
        *slash = '\0';
        int rc = make_path(p, mode, e);
        *slash = '/';
        if (rc < 0)
            return -1;
        if (mkdir(p, mode) == 0 || errno == EEXIST)
            return 0;
    }
    return err_errno(e, ERR_IO, "cannot create directory %s", p);
}

int fs_mkdirs(const char *path, mode_t mode, struct err *e)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    char *p = xstrdup(path);
    int rc = make_path(p, mode, e);
    if (rc == 0 && (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
        rc = err_set(e, ERR_IO, NULL, "%s exists and is not a directory", path);
    free(p);
    return rc;
}

void fs_spread(const char *path)
{
    int flags, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    close(fd);
}

static int read_all(int fd, size_t max, struct strbuf *b)
{
    char chunk[16384];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (b->len + (size_t)n > max) {
            errno = EFBIG;
            return -1;
        }
        strbuf_add(b, chunk, (size_t)n);
    }
    return 0;
}

int fs_read(const char *path, size_t max, char **data, size_t *len, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, ERR_IO, "cannot open %s", path);
    struct strbuf b = STRBUF_INIT;
    if (read_all(fd, max, &b) < 0) {
        err_errno(e, ERR_IO, "cannot read %s", path);
        close(fd);
        strbuf_free(&b);
        return -1;
    }
    close(fd);
    if (len)
        *len = b.len;
    *data = strbuf_take(&b);
    return 0;
}

int fs_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

void fs_set_mtime(int fd, int64_t ns)
{
    struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                               {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S}};
    int error = errno;
    if (times[1].tv_nsec < 0) {
        times[1].tv_sec--;
        times[1].tv_nsec += NS_PER_S;
    }
    (void)!futimens(fd, times);
    errno = error;
}

static void sync_parent(const char *path)
{
    char *dir = xstrdup(path);
    char *slash = strrchr(dir, '/');
    if (slash)
        *(slash == dir ? slash + 1 : slash) = '\0';
    int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

int fs_write_whole(const char *path, const void *data, size_t len, mode_t mode, bool sync,
                   struct err *e)
{
    struct strbuf tmp = STRBUF_INIT;
    strbuf_printf(&tmp, "%s" FS_UNFINISHED "XXXXXX", path);
    int fd = mkostemp(tmp.s, O_CLOEXEC);
    int rc = -1;
    if (fd < 0)
        err_errno(e, ERR_IO, "cannot create %s", tmp.s);
    else if (fchmod(fd, mode) < 0 || fs_write_all(fd, data, len) < 0 || (sync && fsync(fd) < 0) ||
             rename(tmp.s, path) < 0)
        err_errno(e, ERR_IO, "cannot write %s", path);
    else
        rc = 0;
    if (fd >= 0) {
        close(fd);
        if (rc < 0)
            unlink(tmp.s);
        else if (sync)
            sync_parent(path);
    }
    strbuf_free(&tmp);
    return rc;
}

int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
    return fs_write_whole(path, data, len, mode, true, e);
}

static bool is_leftover(const char *name, const char *of)
{
    size_t n = strlen(of), m = strlen(FS_UNFINISHED);
    const char *random = name + n + m;
    return strncmp(name, of, n) == 0 && strncmp(name + n, FS_UNFINISHED, m) == 0 &&
           strlen(random) == 6 &&
           strspn(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == 6;
}

void fs_remove_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *d = dir ? opendir(dir) : NULL;
    struct dirent *de;
    while (d && (de = readdir(d)))
        if (is_leftover(de->d_name, name))
            (void)unlinkat(dirfd(d), de->d_name, 0);
    if (d)
        closedir(d);
    free(dir);
}

/* The id of the mount that contains the descriptor's file; -1: unknown. */
static long mount_of(int fd)
{
    char path[64], text[512], *at;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = info < 0 ? -1 : read(info, text, sizeof text - 1);
    if (info >= 0)
        close(info);
    text[n < 0 ? 0 : n] = '\0';
    at = strstr(text, "mnt_id:");
    return at ? strtol(at + strlen("mnt_id:"), NULL, 10) : -1;
}

/* For kernels before 5.6, which have no openat2(): opens first, and then checks that no mount was
 * crossed. */
static int open_and_compare(int dirfd, const char *name, int flags)
{
    int fd = openat(dirfd, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    long here = mount_of(dirfd);
    if (here >= 0 && mount_of(fd) == here)
        return fd;
    close(fd);
    errno = EXDEV;
    return -1;
}

int fs_open_here(int dirfd, const char *name, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
    };
    int fd = (int)syscall(SYS_openat2, dirfd, name, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? open_and_compare(dirfd, name, flags) : fd;
}

/* Changes the mode of a directory that its owner has no permission to open. */
static int make_openable(int dirfd, const char *name)
{
    char link[64];
    int fd = fs_open_here(dirfd, name, O_PATH);
    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int rc = chmod(link, 0700);
    close(fd);
    return rc;
}

int fs_open_to_empty(int dirfd, const char *name)
{
    int fd = fs_open_here(dirfd, name, O_RDONLY);
    if (fd < 0 && errno == EACCES && make_openable(dirfd, name) == 0)
        fd = fs_open_here(dirfd, name, O_RDONLY);
    if (fd >= 0)
        fchmod(fd, 0700);
    return fd;
}

/* A tree that is being removed. Directories more than DEEP levels below its top are moved up into
 * the top, so that a tree of any depth needs few descriptors and little stack. */
#define DEEP 100

struct tree_removal {
    int top;        /* the descriptor of the tree's top */
    unsigned names; /* how many names were made for moved directories */
    bool moved;     /* a directory was moved since the top was last read */
};

static int move_up(struct tree_removal *r, int dirfd, const char *name)
{
    char up[32];
    int rc;
    do {
        snprintf(up, sizeof up, ".deep-%u", r->names++);
        rc = (int)syscall(SYS_renameat2, dirfd, name, r->top, up, RENAME_NOREPLACE);
    } while (rc < 0 && errno == EEXIST);
    r->moved = r->moved || rc == 0;
    return rc;
}

static int remove_at(struct tree_removal *r, int dirfd, const char *name, int depth);

static int empty(struct tree_removal *r, DIR *d, int depth)
{
    struct dirent *de;
    int rc = 0;
    while (rc == 0 && (de = readdir(d)))
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            rc = remove_at(r, dirfd(d), de->d_name, depth + 1);
    return rc;
}

/* Also removes what was moved into the top meanwhile. */
static int empty_top(struct tree_removal *r, DIR *d)
{
    int rc;
    r->top = dirfd(d);
    do {
        r->moved = false;
        rewinddir(d);
        rc = empty(r, d, 0);
    } while (rc == 0 && r->moved);
    return rc;
}

static int remove_at(struct tree_removal *r, int dirfd, const char *name, int depth)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    int fd = fs_open_to_empty(dirfd, name);
    if (fd < 0)
        return -1;
    if (depth >= DEEP && move_up(r, dirfd, name) == 0) {
        close(fd);
        return 0;
    }
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -1;
    }
    int rc = depth == 0 ? empty_top(r, d) : empty(r, d, depth);
    closedir(d);
    return rc < 0 ? -1 : unlinkat(dirfd, name, AT_REMOVEDIR);
}

int fs_remove_tree(const char *path, struct err *e)
{
    char *holder = xstrdup(path), *slash = strrchr(holder, '/');
    const char *name = slash ? path + (slash - holder) + 1 : path;
    if (slash)
        slash[slash == holder] = '\0';
    int dir = open(slash ? holder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct tree_removal r = {.top = -1};
    int rc = dir < 0 ? -1 : remove_at(&r, dir, name, 0);
    if (rc < 0 && errno == EXDEV)
        err_set(e, ERR_IO, NULL, "cannot remove %s: there is a mount in it; unmount it first",
                path);
    else if (rc < 0 && errno != ENOENT)
        err_errno(e, ERR_IO, "cannot remove %s", path);
    else
        rc = 0;
    if (dir >= 0)
        close(dir);
    free(holder);
    return rc;
}

bool fs_path_is_safe(const char *relative)
{
    if (strcmp(relative, "") == 0 || strcmp(relative, ".") == 0)
        return true;
    for (const char *p = relative;;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        if (p[n] == '\0')
            return true;
        p += n + 1;
    }
}

bool fs_is_within(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int open_beneath(const char *root, const char *relative, int flags, uint64_t resolve)
{
    if (!*relative && (flags & O_DIRECTORY) != 0)
        return open(root, flags | O_CLOEXEC);
    /* O_PATH, because the caller may have no permission to read the directory */
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = resolve};
    int fd = (int)syscall(SYS_openat2, dir, *relative ? relative : ".", &how, sizeof how);
    int saved = errno;
    close(dir);
    errno = saved;
    return fd;
}

int fs_open_beneath(const char *root, const char *relative, int flags)
{
    return open_beneath(root, relative, flags, RESOLVE_BENEATH);
}

int fs_open_without_links(const char *root, const char *relative, int flags)
{
    return open_beneath(root, relative, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

char *fs_join(const char *a, const char *b)
{
    struct strbuf s = STRBUF_INIT;
    strbuf_puts(&s, a);
    while (s.len > 1 && s.s[s.len - 1] == '/')
        s.s[--s.len] = '\0';
    while (*b == '/')
        b++;
    if (*b) {
        if (s.len == 0 || s.s[s.len - 1] != '/')
            strbuf_putc(&s, '/');
        strbuf_puts(&s, b);
    }
    return strbuf_take(&s);
}

int fs_give_to_owner(int fd, const char *dir)
{
    struct stat st;
    if (geteuid() != 0)
        return 0;
    if (stat(dir, &st) < 0)
        return -1;
    return st.st_uid == 0 ? 0 : fchown(fd, st.st_uid, st.st_gid);
}

char *fs_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return xstrdup(".");
    struct strbuf s = STRBUF_INIT;
    strbuf_add(&s, path, slash == path ? 1 : (size_t)(slash - path));
    return strbuf_take(&s);
}
