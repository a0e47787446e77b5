/* SPDX-License-Identifier: MIT
 *
 * At the daemon's start: restores files that were acknowledged before they were on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "storage/folders/unfinished_priv.h"

static bool has_bytes(int fd, const struct file_facts *facts, const struct files_restore *what)
{
    if (facts->size != what->n)
        return false;
    char *bytes = xrealloc(NULL, what->n + 1);
    size_t n;
    bool same = place_read(fd, 0, bytes, what->n, &n) == 0 && n == what->n &&
                memcmp(bytes, what->bytes, n) == 0;
    free(bytes);
    return same;
}

/* Whether a file with other bytes than the acknowledged ones may be replaced: if a power cut took
 * its bytes, or if it is the old file whose replacement was lost. */
static bool is_to_be_replaced(const struct file_facts *facts, const struct files_restore *what)
{
    if (facts->inode == what->inode)
        return what->was_cut && facts->mtime_ns <= what->mtime_ns;
    if (facts->inode == what->was_inode && facts->mtime_ns == what->was_mtime_ns)
        return true;
    return facts->mtime_ns < what->mtime_ns && facts->ctime_ns < what->mtime_ns;
}

static enum file_fault sync_above(const struct files_restore *what)
{
    char *above = fs_folder(what->what.at.path);
    int dir = fs_open_beneath(what->what.at.share, above, O_RDONLY | O_DIRECTORY);
    free(above);
    if (dir < 0)
        return fault_of(errno);
    errno = place_sync_directory(dir);
    int error = errno;
    close(dir);
    errno = error;
    return fault_of(error);
}

/* Writes the file again with its recorded time, so that the file is not mistaken for a later change
 * by another process. */
static enum file_fault put_again(const struct files_restore *what, struct file_result *r)
{
    const struct timespec times[] = {time_to_set(FILES_TIME_KEPT), time_to_set(what->mtime_ns)};
    struct unfinished *u = unfinished_new(&what->what, true, FILES_TIME_KEPT);
    enum file_fault fault = unfinished_begin(u);
    if (!fault)
        fault = unfinished_add(u, what->bytes, what->n);
    if (!fault && futimens(u->fd, times) < 0)
        fault = fault_of(errno);
    if (!fault)
        fault = unfinished_finish(u, NULL, r);
    int error = errno;
    unfinished_give_up(u);
    unfinished_free(u);
    errno = error;
    return fault;
}

static enum file_fault restore(const struct files_restore *what, bool *put, struct file_result *r)
{
    const struct file_place *at = &what->what.at;
    struct file_facts facts = {0};
    int fd = -1;
    enum file_fault fault = place_open(at->share, at->path, O_RDONLY, &fd, &facts);
    bool same = !fault && has_bytes(fd, &facts, what);
    if (same && (errno = place_sync_data(fd)) != 0)
        fault = fault_of(errno);
    if (fd >= 0)
        close(fd);
    if (same)
        return fault ? fault : sync_above(what);
    bool is_missing = fault == FILE_MISSING || fault == FILE_PARENT_MISSING;
    if (fault && !is_missing) /* a directory or a FIFO: not the daemon's */
        return fault == FILE_IS_DIRECTORY || fault == FILE_SPECIAL ? FILE_FINE : fault;
    *put = is_missing ? what->was_cut : is_to_be_replaced(&facts, what);
    if (is_missing && !*put)
        r->fault = FILE_MISSING;
    return *put ? put_again(what, r) : FILE_FINE;
}

int files_restore(const struct files_restore *what, bool *put, struct file_result *r, struct err *e)
{
    *put = false;
    *r = (struct file_result){0};
    enum file_fault fault = restore(what, put, r);
    if (!fault)
        return 0;
    fault_say(e, fault, errno);
    return -1;
}

/* --- bytes that were added -------------------------------------------------------------------- */

/* How many of the added bytes the file has, and whether they are equal. */
static enum file_fault compare(int fd, const struct files_regrow *what, size_t *n, bool *same)
{
    char *bytes = xrealloc(NULL, what->n + 1);
    int error = place_read(fd, what->offset, bytes, what->n, n);
    *same = error == 0 && memcmp(bytes, what->bytes, *n) == 0;
    free(bytes);
    errno = error;
    return fault_of(error);
}

/* Whether the bytes must be added (again). Without a power cut, the kernel still has what was
 * written: none of the bytes, or the first ones. */
static bool is_to_grow(const struct file_facts *facts, const struct files_regrow *what, size_t n,
                       bool same)
{
    if (what->was_cut)
        return true;
    return same && (n > 0 || facts->mtime_ns == what->was_mtime_ns);
}

/* Adds the missing bytes. The intended mtime of the added bytes becomes the file's mtime, unless
 * more bytes were added since. After a power cut the file may have another mtime on disk; without
 * one, another mtime means that another process has changed the file, and that mtime stays. */
static enum file_fault grow_again(int fd, const struct files_regrow *what, bool is_whole,
                                  struct file_facts *facts)
{
    errno = is_whole ? 0 : place_write(fd, what->bytes, what->n, what->offset);
    if (!errno && facts->size <= what->offset + what->n && (!is_whole || what->was_cut))
        place_set_time(fd, what->mtime_ns);
    if (!errno)
        errno = place_sync_data(fd);
    return errno ? fault_of(errno) : facts_of(fd, facts);
}

static enum file_fault regrow(int fd, const struct files_regrow *what, bool *there, bool *put,
                              struct file_facts *facts)
{
    size_t n;
    bool same;
    if (facts->inode != what->inode || facts->size < what->offset)
        return FILE_FINE;
    enum file_fault fault = compare(fd, what, &n, &same);
    if (fault)
        return fault;
    bool is_whole = same && n == what->n;
    *there = is_whole || is_to_grow(facts, what, n, same);
    *put = *there && !is_whole;
    return *there ? grow_again(fd, what, is_whole, facts) : FILE_FINE;
}

int files_regrow(const struct files_regrow *what, bool *there, bool *put, struct file_facts *facts,
                 struct err *e)
{
    int fd = -1;
    *there = *put = false;
    enum file_fault fault = place_open(what->at.share, what->at.path, O_RDWR, &fd, facts);
    if (!fault)
        fault = regrow(fd, what, there, put, facts);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!fault || fault == FILE_MISSING || fault == FILE_PARENT_MISSING ||
        fault == FILE_IS_DIRECTORY || fault == FILE_SPECIAL)
        return 0;
    fault_say(e, fault, error);
    return -1;
}

enum file_fault files_facts_now(const struct file_place *at, struct file_facts *out)
{
    int fd;
    enum file_fault fault = place_find(at->share, at->path, &fd, out);
    if (!fault)
        close(fd);
    if (fault == FILE_PARENT_MISSING)
        return FILE_MISSING;
    return !fault && out->is_directory ? FILE_IS_DIRECTORY : fault;
}

int files_remove_now(const struct file_place *at, struct err *e)
{
    struct above up;
    enum file_fault fault = above_enter(at->share, at->path, &up);
    if (!fault && unlinkat(up.dir, up.name, 0) < 0)
        fault = fault_of(errno);
    if (!fault)
        fault = fault_of(errno = place_sync_directory(up.dir));
    above_leave(&up);
    if (!fault || fault == FILE_MISSING || fault == FILE_PARENT_MISSING)
        return 0;
    fault_say(e, fault, errno);
    return -1;
}

int files_cut_now(const struct file_place *at, uint64_t size, int64_t mtime_ns, struct err *e)
{
    struct file_facts facts;
    const struct timespec times[] = {time_to_set(FILES_TIME_KEPT), time_to_set(mtime_ns)};
    int fd;
    enum file_fault fault = place_open(at->share, at->path, O_WRONLY, &fd, &facts);
    if (!fault && (ftruncate(fd, (off_t)size) < 0 || futimens(fd, times) < 0 || fsync(fd) < 0))
        fault = fault_of(errno);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!fault)
        return 0;
    fault_say(e, fault, error);
    return -1;
}
