/* SPDX-License-Identifier: MIT
 *
 * Adds parts to a file. Unpacks an archive into a directory beside its target, and then renames the
 * complete directory.
 */
#include "nodeagent-proto/agent/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/zip/zip.h"

static int failed(const char *what, const char *path, struct err *e)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return err_set(e, full ? ERR_QUOTA : ERR_IO, NULL, "%s %s: %s", what, path, strerror(errno));
}

static int write_at(int fd, const struct file_piece *piece, const char *path, struct err *e)
{
    for (size_t done = 0; done < piece->n;) {
        ssize_t n = pwrite(fd, (const char *)piece->bytes + done, piece->n - done,
                           (off_t)(piece->offset + (int64_t)done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed("cannot write", path, e);
        done += (size_t)n;
    }
    return 0;
}

/* A job can write where its files go. So the first piece removes what is there and makes a new
 * file. O_NONBLOCK: a pipe without a reader must not block the agent. */
static int open_part(const char *part, bool begins)
{
    const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    if (!begins)
        return open(part, flags);
    if (unlink(part) < 0 && errno != ENOENT)
        return -1;
    return open(part, flags | O_CREAT | O_EXCL, 0600);
}

int file_write_piece(const char *path, const struct file_piece *piece, struct err *e)
{
    struct strbuf part = STRBUF_INIT;
    bool begins = piece->offset == 0;
    struct stat st;
    strbuf_printf(&part, "%s" FS_UNFINISHED "part", path);
    int fd = open_part(part.s, begins);
    int rc = 0;
    if (fd < 0 && errno == ENOENT && !begins)
        rc = err_set(e, ERR_CONFLICT, "offset", "the beginning of %s is not there", path);
    else if (fd < 0 || fstat(fd, &st) < 0)
        rc = failed("cannot make", path, e);
    else if (!S_ISREG(st.st_mode))
        rc = err_set(e, ERR_IO, NULL, "the incomplete %s is not a regular file", path);
    else if (st.st_size < piece->offset)
        rc = err_set(e, ERR_CONFLICT, "offset", "%s has %lld bytes yet, not %lld", path,
                     (long long)st.st_size, (long long)piece->offset);
    if (rc == 0)
        rc = write_at(fd, piece, path, e);
    if (rc == 0 && piece->last &&
        (ftruncate(fd, (off_t)(piece->offset + (int64_t)piece->n)) < 0 ||
         fchmod(fd, piece->mode) < 0 || rename(part.s, path) < 0))
        rc = failed("cannot make", path, e);
    if (fd >= 0)
        close(fd);
    if (rc < 0 && e && e->code == ERR_QUOTA) /* the incomplete file would keep the disk full */
        unlink(part.s);
    strbuf_free(&part);
    return rc;
}

static int unpack_into(const char *archive, const char *directory, struct err *e)
{
    struct zip *z = NULL;
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = open(archive, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = at < 0   ? failed("cannot open", directory, e)
             : fd < 0 ? failed("cannot open", archive, e)
                      : zip_open(fd, &zip_usual_limits, &z, e);
    if (rc == 0)
        rc = zip_unpack(z, at, e);
    zip_close(z);
    if (fd >= 0)
        close(fd);
    if (at >= 0)
        close(at);
    return rc;
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int archive_unpack(const char *archive, const char *target, struct err *e)
{
    struct err ignored;
    struct strbuf fresh = STRBUF_INIT;
    int rc = 0;
    strbuf_printf(&fresh, "%s" FS_UNFINISHED "XXXXXX", target);
    if (!is_directory(target)) {
        rc = file_make_parents(target, e);
        if (rc == 0 && (!mkdtemp(fresh.s) || chmod(fresh.s, 0755) < 0))
            rc = failed("cannot make", target, e);
        if (rc == 0)
            rc = unpack_into(archive, fresh.s, e);
        if (rc == 0 && rename(fresh.s, target) < 0 && !is_directory(target))
            rc = failed("cannot make", target, e);
        (void)!fs_remove_tree(fresh.s, &ignored);
    }
    unlink(archive);
    strbuf_free(&fresh);
    return rc;
}
