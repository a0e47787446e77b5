/* SPDX-License-Identifier: MIT
 *
 * Appends to existing files in place: lines of the daemon, and bytes of clients, whose sync may
 * follow later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/crc64.h"
#include "lib/fs.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/place_priv.h"
#include "storage/folders/unfinished_priv.h"

struct append_job {
    struct folder_job job;
    char *folder, *path, *text;
    int64_t time_ns;
    int error;
    files_done cb;
    void *ctx;
};

static int open_log(const struct append_job *j)
{
    char *path = xstrdup(j->path), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : j->path;
    if (slash)
        *slash = '\0';
    const struct new_directory how = {.mode = 0777, .time_ns = j->time_ns};
    int dir = place_make_directories(j->folder, slash ? path : "", &how, false);
    int fd = dir < 0
                 ? -1
                 : openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    int error = errno;
    if (dir >= 0)
        close(dir);
    free(path);
    errno = error;
    return fd;
}

static bool append_step(struct folder_job *job)
{
    struct append_job *j = CONTAINER_OF(job, struct append_job, job);
    int fd = open_log(j);
    if (fd < 0 || fchmod(fd, 0666) < 0 || fs_write_all(fd, j->text, strlen(j->text)) < 0)
        j->error = errno;
    if (fd >= 0) {
        place_set_time(fd, j->time_ns);
        close(fd);
    }
    return false;
}

static void append_tell(struct folder_job *job, const struct err *why)
{
    struct append_job *j = CONTAINER_OF(job, struct append_job, job);
    struct err e;
    if (!why && j->error) {
        file_error(&e, j->error);
        why = &e;
    }
    j->cb(j->ctx, why);
}

static void append_destroy(struct folder_job *job)
{
    struct append_job *j = CONTAINER_OF(job, struct append_job, job);
    free(j->folder);
    free(j->path);
    free(j->text);
    free(j);
}

static const struct job_kind append_kind = {append_step, append_tell, append_destroy,
                                            .is_own = true};

void files_append(struct files *f, const struct file_place *at, const char *text, files_done cb,
                  void *ctx)
{
    struct append_job *j = xcalloc(1, sizeof *j);
    *j = (struct append_job){.job.kind = &append_kind,
                             .folder = xstrdup(at->share),
                             .path = xstrdup(at->path),
                             .text = xstrdup(text),
                             .time_ns = files_time_ns(f),
                             .cb = cb,
                             .ctx = ctx};
    job_begin(f, at->share, &j->job);
}

/* --- bytes of clients ------------------------------------------------------------------------- */

static enum file_fault add_at_end(struct unfinished *u, const char *bytes, size_t n,
                                  struct file_result *r)
{
    errno = place_write(u->fd, bytes, n, u->size);
    if (!errno)
        place_set_time(u->fd, u->time_ns);
    if (!errno && u->sync && !u->later)
        errno = place_sync_data(u->fd);
    u->size += n;
    return errno ? fault_of(errno) : facts_of(u->fd, &r->facts);
}

enum file_fault unfinished_grow(struct unfinished *u, const char *bytes, size_t n, uint64_t offset,
                                struct file_result *r)
{
    struct file_facts before;
    enum file_fault fault = place_open(u->share, u->path, O_WRONLY, &u->fd, &before);
    if (!fault && before.size != offset)
        fault = FILE_BEYOND_END;
    if (!fault && u->wants_md5 && gnutls_hash_fast(GNUTLS_DIG_MD5, bytes, n, r->md5) < 0)
        fault = FILE_BROKEN;
    if (fault)
        return fault;
    if (u->wants_crc64)
        r->crc64 = crc64_add(0, bytes, n);
    u->size = before.size;
    u->device = before.device;
    u->later = u->sync && place_syncs_whole(u->fd);
    fault = add_at_end(u, bytes, n, r);
    if (fault)
        (void)place_cut_back(u->fd, &before);
    r->owes = u->later;
    return fault;
}
