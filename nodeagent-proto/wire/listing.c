/* SPDX-License-Identifier: MIT
 *
 * The kernel opens every path beneath its base (fs_open_beneath()), so neither `..` nor a symbolic
 * link leaves the base, even if somebody changes the tree meanwhile. Blocks: for a worker. The
 * caller owns the results.
 */
#include "nodeagent-proto/wire/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/jsontext.h"

/* The most entries of a directory in a listing: sorting and sending more would take too long. */
#define ENTRIES_MAX 100000

static int64_t mtime_us(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000 + st->st_mtim.tv_nsec / 1000;
}

static int explain(const char *base, const char *path, struct err *e)
{
    const char *sep = *path ? "/" : "";
    if (errno == ENOENT || errno == ENOTDIR)
        return err_errno(e, ERR_FILE_NOT_FOUND, "cannot open %s%s%s", base, sep, path);
    if (errno == EXDEV || errno == ELOOP)
        return err_set(e, ERR_INVALID_PATH, "path",
                       "%s%s%s cannot be opened: a symbolic link on the way leads out of %s or in "
                       "circles",
                       base, sep, path, base);
    return err_errno(e, ERR_IO, "cannot open %s%s%s", base, sep, path);
}

static int check_relative(const char *path, struct err *e)
{
    if (fs_path_is_safe(path))
        return 0;
    return err_set(e, ERR_INVALID_PATH, "path",
                   "'%s' is not a relative path without '.', '..' and empty parts", path);
}

static int stat_link(const char *base, const char *dir, const char *name, struct stat *st)
{
    char *path = *dir ? fs_join(dir, name) : xstrdup(name);
    int fd = fs_open_beneath(base, path, O_PATH);
    int rc = fd < 0 ? -1 : fstat(fd, st);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

static bool may_list(const char *base, const char *dir, const char *name, struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return stat_link(base, dir, name, st) == 0 && S_ISREG(st->st_mode);
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

static void add(struct disk_listing *l, const char *name, const struct stat *st)
{
    if ((l->n & (l->n - 1)) == 0)
        l->entries = xrealloc(l->entries, (l->n ? l->n * 2 : 1) * sizeof *l->entries);
    l->entries[l->n++] = (struct node_dir_entry){.name = xstrdup(name),
                                                 .is_dir = S_ISDIR(st->st_mode),
                                                 .size = S_ISDIR(st->st_mode) ? 0 : st->st_size,
                                                 .mtime_us = mtime_us(st),
                                                 .mode = st->st_mode};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct node_dir_entry *)a)->name,
                  ((const struct node_dir_entry *)b)->name);
}

static void list_entry(const char *base, const char *path, const char *name, struct stat *st,
                       struct disk_listing *out)
{
    if (!jsontext_is_utf8(name, strlen(name)))
        out->left_out++;
    else if (!may_list(base, path, name, st))
        return;
    else if (out->n == ENTRIES_MAX)
        out->cut = true;
    else
        add(out, name, st);
}

/* Looks at an entry. False with errno ENOENT: it went away meanwhile. If the file system does not
 * answer (a damaged disk, a dead mount, a mount of somebody else), only the kind is known, but the
 * entry is there. */
static bool look_at(DIR *d, const struct dirent *de, struct stat *st)
{
    if (fstatat(dirfd(d), de->d_name, st, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    *st = (struct stat){.st_mode = DTTOIF(de->d_type)};
    return errno != ENOENT && de->d_type != DT_UNKNOWN;
}

/* Reads the entries until the end of the directory, or until the list is cut. -1: errno has the
 * reason. */
static int read_entries(DIR *d, const char *base, const char *path, struct disk_listing *out)
{
    struct stat st;
    for (;;) {
        errno = 0;
        const struct dirent *de = out->cut ? NULL : readdir(d);
        if (!de)
            return errno == 0 ? 0 : -1;
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        if (look_at(d, de, &st))
            list_entry(base, path, de->d_name, &st, out);
        else if (errno != ENOENT)
            return -1;
    }
}

int disk_list(const char *base, const char *path, struct disk_listing *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    if (check_relative(path, e) < 0)
        return -1;
    int fd = fs_open_beneath(base, path, O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return explain(base, path, e);
    int rc = read_entries(d, base, path, out);
    if (rc < 0) {
        err_errno(e, ERR_IO, "cannot list %s%s%s", base, *path ? "/" : "", path);
        disk_list_free(out);
        *out = (struct disk_listing){0};
    }
    closedir(d);
    if (out->n > 1)
        qsort(out->entries, out->n, sizeof *out->entries, by_name);
    return rc;
}

void disk_list_free(struct disk_listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        free((char *)(uintptr_t)l->entries[i].name);
    free(l->entries);
}

static int read_part(int fd, int64_t offset, size_t max, struct disk_part *out)
{
    ssize_t n = 1;
    while (out->n < max && n != 0) {
        n = pread(fd, out->bytes + out->n, max - out->n, offset + (int64_t)out->n);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            out->n += (size_t)n;
    }
    return 0;
}

/* The inode, mixed with the time of the file's birth where the file system knows it: ext4 gives the
 * inode of a removed file to the next new file. */
static int64_t identity_of(int fd, const struct stat *st)
{
    struct statx x;
    uint64_t born = 0;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 && (x.stx_mask & STATX_BTIME))
        born = (uint64_t)x.stx_btime.tv_sec * 1000000000U + x.stx_btime.tv_nsec;
    return (int64_t)(((uint64_t)st->st_ino ^ born) & INT64_MAX);
}

int disk_read_file(const char *base, const char *path, int64_t offset, size_t max,
                   struct disk_part *out, struct err *e)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    if (check_relative(path, e) < 0)
        return -1;
    /* A pipe without a writer must not block us. */
    int fd = fs_open_beneath(base, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return explain(base, path, e);
    int rc = fstat(fd, &st);
    if (rc == 0 && !S_ISREG(st.st_mode)) {
        rc = err_set(e, ERR_INVALID_PATH, "path", "%s/%s is not a regular file", base, path);
    } else if (rc == 0) {
        out->size = st.st_size;
        out->mtime_us = mtime_us(&st);
        out->mode = st.st_mode;
        out->inode = identity_of(fd, &st);
        out->bytes = xcalloc(1, max + 1);
        rc = read_part(fd, offset, max, out);
    }
    if (rc < 0 && e->code == ERR_NONE)
        err_errno(e, ERR_IO, "cannot read %s/%s", base, path);
    close(fd);
    return rc;
}
