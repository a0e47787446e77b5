/* SPDX-License-Identifier: MIT
 *
 * Files that were acknowledged before they were on disk, when the daemon starts again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/unfinished_priv.h"
#include "lib/arena.h"
#include "lib/fs.h"

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

/* What is there has other bytes. It is ours if a power cut took bytes of it, or was there before,
 * and then did not lose its place for good. */
static bool is_to_be_replaced(const struct file_facts *facts, const struct files_restore *what)
{
    if (facts->inode == what->inode)
        return what->was_cut && facts->mtime_ns <= what->mtime_ns;
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

/* With the time that it had, so that it is not taken for somebody's later change. */
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
    if (fault && !is_missing) /* a directory, a FIFO: somebody else's */
        return fault == FILE_IS_DIRECTORY || fault == FILE_SPECIAL ? FILE_FINE : fault;
    *put = is_missing ? what->was_cut : is_to_be_replaced(&facts, what);
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
