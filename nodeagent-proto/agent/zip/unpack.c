/* SPDX-License-Identifier: MIT
 *
 * Writes the files of an archive to disk. No link is followed or made, so nothing is written
 * outside the target directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/zip/zip_priv.h"

#define DIRECTORY_MODE 0755
#define PROGRAM_MODE   0555
#define FILE_MODE      0444

static int failed(const char *path, struct err *e)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return err_set(e, full ? ERR_QUOTA : ERR_IO, NULL,
                   "'%.200s' of the archive cannot be written: %s.", path, strerror(errno));
}

/* Opens the parent directory of the last part of `path`, and makes missing directories on the way;
 * *last is the last part. The caller closes the result unless it is `root`. -1: see errno. */
static int open_above(int root, const char *path, const char **last)
{
    int at = root;
    for (const char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char part[NAME_MAX + 1];
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        int next = -1;
        if (mkdirat(at, part, DIRECTORY_MODE) == 0 || errno == EEXIST)
            next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int why = errno;
        if (at != root)
            close(at);
        if (next < 0) {
            errno = why;
            return -1;
        }
        at = next;
    }
    *last = path;
    return at;
}

struct written {
    int fd;
    const char *path;
};

static int write_piece(void *ctx, const void *bytes, size_t n, struct err *e)
{
    const struct written *w = ctx;
    return fs_write_all(w->fd, bytes, n) < 0 ? failed(w->path, e) : 0;
}

static int unpack_file(struct zip *z, size_t i, int above, const char *name, struct err *e)
{
    const struct zip_entry *x = &z->entries[i];
    struct written w = {
        openat(above, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), x->path};
    if (w.fd < 0)
        return failed(x->path, e);
    int rc = zip_read(z, i, write_piece, &w, e);
    if (rc == 0 && fchmod(w.fd, x->is_program ? PROGRAM_MODE : FILE_MODE) < 0)
        rc = failed(x->path, e);
    if (close(w.fd) < 0 && rc == 0)
        rc = failed(x->path, e);
    return rc;
}

static int unpack_one(struct zip *z, size_t i, int directory, struct err *e)
{
    const struct zip_entry *x = &z->entries[i];
    const char *name;
    int rc = 0;
    if (!*x->path)
        return 0; /* the entry "./" */
    int above = open_above(directory, x->path, &name);
    if (above < 0)
        return failed(x->path, e);
    if (!x->is_directory)
        rc = unpack_file(z, i, above, name, e);
    else if (mkdirat(above, name, DIRECTORY_MODE) < 0 && errno != EEXIST)
        rc = failed(x->path, e);
    if (above != directory)
        close(above);
    return rc;
}

int zip_unpack(struct zip *z, int directory, struct err *e)
{
    for (size_t i = 0; i < z->n; i++)
        if (unpack_one(z, i, directory, e) < 0)
            return -1;
    return syncfs(directory) < 0 ? failed(".", e) : 0;
}
