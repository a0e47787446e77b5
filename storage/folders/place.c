/* SPDX-License-Identifier: MIT
 *
 * Opens and finds names below a share's folder (fs_open_beneath()), and turns errno into faults.
 * The caller owns returned descriptors. All functions run on workers: every call may hang with its
 * file system.
 */
#include "storage/folders/place_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/timefmt.h"
#include "storage/folders/files_priv.h"

/* --- faults ----------------------------------------------------------------------------------- */

enum file_fault fault_of(int error)
{
    static const struct {
        int error;
        enum file_fault fault;
    } rows[] = {
        {0, FILE_FINE},
        {ENOENT, FILE_MISSING},
        {ENOTDIR, FILE_IS_FILE},
        {EISDIR, FILE_IS_DIRECTORY},
        {EXDEV, FILE_LEADS_OUT},
        {ELOOP, FILE_LEADS_OUT},
        {ENOTEMPTY, FILE_NOT_EMPTY},
        {ENAMETOOLONG, FILE_BAD_NAME},
        {EILSEQ, FILE_BAD_NAME},
        {EFBIG, FILE_TOO_LARGE},
        {EOVERFLOW, FILE_TOO_LARGE},
        {ENOSPC, FILE_FULL},
        {EDQUOT, FILE_FULL},
        {EACCES, FILE_FORBIDDEN},
        {EPERM, FILE_FORBIDDEN},
        {EROFS, FILE_FORBIDDEN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].error == error)
            return rows[i].fault;
    return FILE_BROKEN;
}

void file_error(struct err *e, int error)
{
    enum err_code code = error == ENOENT ? ERR_FILE_NOT_FOUND : ERR_IO;
    const char *text = strerror(error);
    if (error == EXDEV)
        text = "it leaves the share";
    else if (error == ELOOP)
        text = "its links leave the share or form a loop";
    err_set(e, code, NULL, "%s", text);
}

void fault_say(struct err *e, enum file_fault fault, int error)
{
    static const char *const texts[FILE_FAULTS] = {
        [FILE_MISSING] = "No such file or directory",
        [FILE_PARENT_MISSING] = "its parent directory does not exist",
        [FILE_IS_FILE] = "it is a file",
        [FILE_IS_DIRECTORY] = "Is a directory",
        [FILE_SPECIAL] = "it is neither a file nor a directory",
        [FILE_NOT_EMPTY] = "Directory not empty",
        [FILE_BAD_NAME] = "no file can have this name",
        [FILE_BEYOND_END] = "the range does not lie within the file",
        [FILE_MD5_WRONG] = "the bytes have another MD5",
        [FILE_CRC64_WRONG] = "the bytes have another CRC64",
    };
    bool is_missing = fault == FILE_MISSING || fault == FILE_PARENT_MISSING;
    if (fault == FILE_LEADS_OUT)
        file_error(e, error == ELOOP ? ELOOP : EXDEV);
    else if (texts[fault])
        err_set(e, is_missing ? ERR_FILE_NOT_FOUND : ERR_IO, NULL, "%s", texts[fault]);
    else
        err_set(e, ERR_IO, NULL, "%s", strerror(error));
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Clamps to the range of int64_t nanoseconds. */
static int64_t ns_of(const struct statx_timestamp *t)
{
    int64_t ns = 0;
    if (__builtin_mul_overflow(t->tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
        return t->tv_sec < 0 ? -INT64_MAX : INT64_MAX;
    return ns;
}

static enum file_fault take_facts(const struct statx *x, struct file_facts *out)
{
    *out = (struct file_facts){
        .size = x->stx_size,
        .mtime_us = time_from_file(x->stx_mtime.tv_sec, x->stx_mtime.tv_nsec),
        .mtime_ns = ns_of(&x->stx_mtime),
        .ctime_ns = ns_of(&x->stx_ctime),
        .atime_ns = ns_of(&x->stx_atime),
        .btime_ns = (x->stx_mask & STATX_BTIME) != 0 ? ns_of(&x->stx_btime) : 0,
        .inode = x->stx_ino,
        .device = (uint64_t)x->stx_dev_major << 32 | x->stx_dev_minor,
        .is_directory = S_ISDIR(x->stx_mode),
    };
    return S_ISREG(x->stx_mode) || S_ISDIR(x->stx_mode) ? FILE_FINE : FILE_SPECIAL;
}

enum file_fault facts_of(int fd, struct file_facts *out)
{
    struct statx x;
    *out = (struct file_facts){0};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
        return fault_of(errno);
    return take_facts(&x, out);
}

enum file_fault facts_at(int dir, const char *name, struct file_facts *out, bool *is_link)
{
    struct statx x;
    *out = (struct file_facts){0};
    if (statx(dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
        return fault_of(errno);
    if (is_link)
        *is_link = S_ISLNK(x.stx_mode);
    return take_facts(&x, out);
}

/* --- names ------------------------------------------------------------------------------------ */

bool place_is_unfinished(const char *name)
{
    return strncmp(name, PLACE_UNFINISHED, sizeof PLACE_UNFINISHED - 1) == 0;
}

bool place_has_unfinished(const char *path)
{
    for (const char *name = path; name; name = strchr(name, '/')) {
        name += *name == '/';
        if (place_is_unfinished(name))
            return true;
    }
    return false;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool place_is_good(const char *path)
{
    return fs_path_is_safe(path) && strcmp(path, ".") != 0 && !place_has_unfinished(path);
}

static int open_above(const char *share, const char *path, int flags)
{
    const char *name = last_name(path);
    char *above = strndup(path, name > path ? (size_t)(name - path) - 1 : 0);
    if (!above)
        abort();
    int fd = fs_open_beneath(share, above, flags | O_DIRECTORY);
    int error = errno;
    free(above);
    errno = error;
    return fd;
}

/* The reason why an entry below a directory could not be opened. */
static enum file_fault why_missing(const char *share, const char *path, int error)
{
    if (error == ENOTDIR)
        return FILE_PARENT_MISSING;
    if (error != ENOENT || !*path)
        return fault_of(error);
    int above = open_above(share, path, O_PATH);
    if (above < 0)
        return errno == ENOENT || errno == ENOTDIR ? FILE_PARENT_MISSING : fault_of(errno);
    close(above);
    return FILE_MISSING;
}

enum file_fault place_find(const char *share, const char *path, int *fd, struct file_facts *out)
{
    *fd = -1;
    if (place_has_unfinished(path)) {
        errno = ENOENT;
        return FILE_MISSING;
    }
    *fd = fs_open_beneath(share, path, O_PATH);
    if (*fd < 0)
        return why_missing(share, path, errno);
    enum file_fault fault = facts_of(*fd, out);
    if (fault) {
        close(*fd);
        *fd = -1;
    }
    return fault;
}

/* Opens the file of an O_PATH descriptor again, for reading or writing. */
static int open_again(int fd, int flags)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return open(link, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

enum file_fault place_open(const char *share, const char *path, int flags, int *fd,
                           struct file_facts *out)
{
    int found;
    enum file_fault fault = place_find(share, path, &found, out);
    *fd = -1;
    if (fault)
        return fault;
    if (out->is_directory)
        fault = FILE_IS_DIRECTORY;
    else if ((*fd = open_again(found, flags)) < 0)
        fault = fault_of(errno);
    int error = errno;
    close(found);
    errno = error;
    return fault;
}

enum file_fault above_enter(const char *share, const char *path, struct above *out)
{
    *out = (struct above){.dir = -1, .path = xstrdup(path)};
    out->name = last_name(out->path);
    if (!*path)
        return FILE_BAD_NAME;
    out->dir = open_above(share, path, O_RDONLY);
    if (out->dir >= 0)
        return FILE_FINE;
    return errno == ENOENT || errno == ENOTDIR ? FILE_PARENT_MISSING : fault_of(errno);
}

void above_leave(struct above *a)
{
    int error = errno;
    if (a->dir >= 0)
        close(a->dir);
    free(a->path);
    *a = (struct above){.dir = -1};
    errno = error;
}

/* --- directories ------------------------------------------------------------------------------ */

int place_open_nearest(const char *share, const char *path, bool *is_above)
{
    char *above = xstrdup(path), *slash;
    int fd, tries = 0;
    do {
        slash = strrchr(above, '/');
        *(slash ? slash : above) = '\0';
        fd = fs_open_beneath(share, above, O_RDONLY | O_DIRECTORY);
        tries++;
    } while (fd < 0 && errno == ENOENT && *above);
    *is_above = tries == 1;
    int error = errno;
    free(above);
    errno = error;
    return fd;
}

bool place_was_removed(int dir)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    struct stat st;
    int error = errno;
    bool removed = fstat(dir, &st) == 0 && st.st_nlink == 0;
    if (removed)
        nanosleep(&moment, NULL);
    errno = error;
    return removed;
}

int place_make_directory(int dir, const char *name, const struct new_directory *how)
{
    if (mkdirat(dir, name, how->mode) < 0)
        return errno;
    /* Opened with O_NOFOLLOW and changed by descriptor: another process may have replaced the new
     * directory by a link. */
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = fd < 0 || fchmod(fd, how->mode) < 0 ? errno : 0;
    if (fd >= 0) {
        place_set_time(fd, how->time_ns);
        close(fd);
    }
    place_set_time(dir, how->time_ns);
    return error;
}

/* Makes `name` in the directory `above`, unless it exists. Returns errno. */
static int make_below(const char *share, const char *above, const char *name,
                      const struct new_directory *how, bool sync)
{
    int up = fs_open_beneath(share, above, O_RDONLY | O_DIRECTORY);
    if (up < 0)
        return errno;
    int error = place_make_directory(up, name, how);
    if (error == 0 && sync)
        error = place_sync_directory(up);
    close(up);
    return error == EEXIST ? 0 : error;
}

static int make_missing(const char *share, const char *path, const struct new_directory *how,
                        bool sync)
{
    char *copy = xstrdup(path);
    const char *above = "";
    int error = 0;
    for (char *name = copy, *end; error == 0 && *name; name = end) {
        end = name + strcspn(name, "/");
        bool last = *end == '\0';
        *end = '\0';
        if (*name)
            error = make_below(share, above, name, how, sync);
        if (name > copy)
            name[-1] = '/';
        above = copy;
        end += !last;
    }
    free(copy);
    return error;
}

int place_make_directories(const char *share, const char *path, const struct new_directory *how,
                           bool sync)
{
    int fd = fs_open_beneath(share, path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    errno = make_missing(share, path, how, sync);
    return errno ? -1 : fs_open_beneath(share, path, O_RDONLY | O_DIRECTORY);
}

int place_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
    struct stat st;
    int rc = renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE);
    if (rc == 0 || (errno != EINVAL && errno != ENOSYS))
        return rc;
    if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = EEXIST;
    else if (errno == ENOENT)
        rc = renameat(from_dir, from, to_dir, to);
    return rc;
}

/* --- bytes and times -------------------------------------------------------------------------- */

int place_read(int fd, uint64_t offset, char *to, size_t max, size_t *n)
{
    *n = 0;
    while (*n < max) {
        ssize_t got = pread(fd, to + *n, max - *n, (off_t)(offset + *n));
        if (got == 0)
            break;
        if (got > 0)
            *n += (size_t)got;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int place_write(int fd, const char *bytes, size_t n, uint64_t offset)
{
    if (offset > (uint64_t)INT64_MAX - n)
        return EFBIG;
    while (n > 0) {
        ssize_t put = pwrite(fd, bytes, n, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes += put;
        n -= (size_t)put;
        offset += (uint64_t)put;
    }
    return 0;
}

struct timespec time_to_set(int64_t ns)
{
    if (ns == FILES_TIME_KEPT)
        return (struct timespec){.tv_nsec = UTIME_OMIT};
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    if (t.tv_nsec < 0) {
        t.tv_sec--;
        t.tv_nsec += 1000000000;
    }
    return t;
}

void place_set_time(int fd, int64_t ns)
{
    if (ns != FILES_TIME_KEPT)
        fs_set_mtime(fd, ns);
}

bool place_cut_back(int fd, const struct file_facts *before)
{
    int error = errno;
    bool is_cut = ftruncate(fd, (off_t)before->size) == 0;
    place_set_time(fd, before->mtime_ns);
    errno = error;
    return is_cut;
}

/* --- on disk ---------------------------------------------------------------------------------- */

static int sync_error(int rc)
{
    return rc < 0 && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS ? errno : 0;
}

int place_sync_data(int fd)
{
    return sync_error(fdatasync(fd));
}

int place_sync_directory(int dir)
{
    return sync_error(fsync(dir));
}

/* Whether syncfs() is reliable: it is for local file systems, because their sync_fs() writes dirty
 * pages, commits and flushes. Network and FUSE file systems only sync single files. */
bool place_syncs_whole(int fd)
{
    static const unsigned long local[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* XFS */
        0x9123683e, /* Btrfs */
        0xf2f52010, /* F2FS */
        0x2fc12fc1, /* ZFS */
        0x794c7630, /* overlayfs: depends on the lower file system */
        0x01021994, /* tmpfs */
    };
    struct statfs s;
    if (fstatfs(fd, &s) < 0)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((unsigned long)s.f_type == local[i])
            return true;
    return false;
}
