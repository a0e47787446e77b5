/* SPDX-License-Identifier: MIT
 *
 * Copies of a database. They can be made while a daemon writes to it, and restored while none runs.
 * SQLite's backup interface works as a reader and copies the state that was committed when it
 * began; the copy has no write-ahead log. Secrets stay sealed in it, and the key is not in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "storage/storage_priv.h"

static int sync_path(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd >= 0 && fsync(fd) == 0 ? 0 : err_errno(e, ERR_STORAGE, "cannot sync %s", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int sync_folder_of(const char *path, struct err *e)
{
    char *dir = xstrdup(path);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    int rc = sync_path(slash ? dir : ".", e);
    free(dir);
    return rc;
}

/* Removes a copy that is not complete, with the journal that SQLite has beside it while it writes,
 * and leaves there if the disk is full. */
static int discard(const char *path, struct err *e)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm", ""};
    int rc = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && rc == 0; i++) {
        struct strbuf file = STRBUF_INIT;
        strbuf_printf(&file, "%s%s", path, ends[i]);
        if (unlink(file.s) < 0 && errno != ENOENT)
            rc = err_errno(e, ERR_STORAGE, "cannot replace %s", file.s);
        strbuf_free(&file);
    }
    return rc;
}

/* The lock of a copy that is being written. SQLite locks other bytes. */
static struct flock first_byte(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
}

static int refuse_if_written(const char *path, struct err *e)
{
    struct flock lk = first_byte();
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool is_written = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lk) == 0 && lk.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return is_written ? err_set(e, ERR_CONFIG, NULL,
                                "another backup is writing %s; wait for its end, or name another "
                                "file",
                                path)
                      : 0;
}

/* Makes a new file that only its owner can read, whatever the umask is; never replaces a file that
 * is being written. `dir` not NULL: the owner is the owner of this directory. Returns the file,
 * whose lock the caller keeps until the copy is complete; -1: err. */
static int make_private(const char *path, const char *dir, struct err *e)
{
    struct flock lk = first_byte();
    if (refuse_if_written(path, e) < 0 || discard(path, e) < 0)
        return -1;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, ERR_STORAGE, "cannot make %s", path);
    (void)!fcntl(fd, F_OFD_SETLK, &lk); /* some file systems have no locks */
    if (!dir || fs_give_to_owner(fd, dir) == 0)
        return fd;
    err_errno(e, ERR_STORAGE, "cannot give %s to the owner of %s", path, dir);
    unlink(path);
    close(fd);
    return -1;
}

/* `dir`: as in make_private(). Makes a copy that is either complete and on disk under its name, or
 * does not exist. */
static int copy_to(const char *from, const char *to, const char *dir, const struct st_copying *told,
                   struct err *e)
{
    struct strbuf part = STRBUF_INIT;
    struct err also;
    strbuf_printf(&part, "%s.part", to);
    int fd = make_private(part.s, dir, e);
    int rc = fd < 0 ? -1 : 0;
    if (rc == 0)
        rc = st_sql_copy(from, part.s, told, e);
    if (rc == 0)
        rc = sync_path(part.s, e);
    if (rc == 0 && rename(part.s, to) < 0)
        rc = err_errno(e, ERR_STORAGE, "cannot rename %s to %s", part.s, to);
    if (rc == 0)
        rc = sync_folder_of(to, e);
    else if (fd >= 0)
        (void)discard(part.s, &also); /* *e has the reason of the first failure */
    if (fd >= 0)
        close(fd);
    strbuf_free(&part);
    return rc;
}

static int expect_ours(const char *path, struct err *e)
{
    struct st_peek p;
    if (st_peek(path, &p, e) < 0)
        return -1;
    if (!p.exists)
        return err_set(e, ERR_STORAGE, NULL, "the database %s does not exist", path);
    return st_refuse_foreign(path, &p, e);
}

int st_backup(const char *path, const char *to, const struct st_copying *told, struct err *e)
{
    if (expect_ours(path, e) < 0)
        return -1;
    if (access(to, F_OK) == 0)
        return err_set(e, ERR_CONFIG, NULL, "%s exists already; name another file", to);
    return copy_to(path, to, NULL, told, e);
}

/* Moves a database: its file, its log, and -shm; SQLite can rebuild -shm. */
static int move_db(const char *path, const char *to, struct err *e)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    int rc = 0;
    bool there = access(path, F_OK) == 0; /* false: an earlier attempt has moved it */
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && rc == 0; i++) {
        struct strbuf was = STRBUF_INIT, is = STRBUF_INIT;
        strbuf_printf(&was, "%s%s", path, ends[i]);
        strbuf_printf(&is, "%s%s", to, ends[i]);
        if (there)
            unlink(is.s);
        if (rename(was.s, is.s) < 0 && errno != ENOENT)
            rc = err_errno(e, ERR_STORAGE, "cannot set %s aside as %s", was.s, is.s);
        strbuf_free(&was);
        strbuf_free(&is);
    }
    return rc;
}

/* Raises the term above those of the replaced database, and of the database that an earlier attempt
 * has moved away: agents know these terms, and a term may come from a clock that was ahead. Ends
 * all sessions of browsers: the copy does not know who has logged out since. Forgets the unfinished
 * changes of files: the folders have changed since the copy, so the next start must not complete
 * those changes. */
static int renew(const char *path, const char *before, const char *new, struct err *e)
{
    int64_t a = st_sql_term(path), b = st_sql_term(before);
    int rc = st_sql_raise_term(new, a > b ? a : b, e);
    if (rc == 0)
        rc = st_sql_end_sessions(new, time_now_us(), e);
    if (rc == 0)
        rc = st_sql_forget_changes(new, e);
    return rc == 0 ? sync_path(new, e) : rc;
}

/* Replaces a database by a copy. A crash in between leaves the old database, or none. Without a
 * database the daemon refuses to start, and the restore can be repeated. */
int st_restore(const char *path, const char *key_path, const char *from,
               const struct st_copying *told, struct err *e)
{
    struct strbuf new = STRBUF_INIT, before = STRBUF_INIT;
    char *dir = fs_folder(path);
    strbuf_printf(&new, "%s.new", path);
    strbuf_printf(&before, "%s.before", path);
    int rc = expect_ours(from, e);
    if (rc == 0)
        rc = copy_to(from, new.s, dir, told, e);
    if (rc == 0 && told)
        told->tell(told->ctx, 0, 0);
    if (rc == 0 && st_check_copy(new.s, key_path, e) < 0)
        rc = err_prefix(e, "%s cannot be restored", from);
    if (rc == 0)
        rc = renew(path, before.s, new.s, e);
    if (rc == 0)
        rc = move_db(path, before.s, e);
    if (rc == 0 && rename(new.s, path) < 0)
        rc = err_errno(e, ERR_STORAGE, "cannot rename %s to %s", new.s, path);
    if (rc == 0)
        rc = sync_folder_of(path, e);
    else
        unlink(new.s);
    free(dir);
    strbuf_free(&before);
    strbuf_free(&new);
    return rc;
}
