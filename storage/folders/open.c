/* SPDX-License-Identifier: MIT
 *
 * A file of a share: opened, read piece by piece, closed. Each of these calls may hang, even
 * closing.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/place_priv.h"

struct file {
    struct folder_share *share;
    int fd;                     /* -1: all wanted bytes were read when it was opened */
    struct folder_job *reading; /* a read that has not returned yet; or NULL */
    bool closed;                /* the descriptor is closed when the pending read returns */
};

/* --- opening ---------------------------------------------------------------------------------- */

struct open_job {
    struct folder_job job;
    char *folder, *path, *text;
    struct file_range (*choose)(const char *text, uint64_t size);
    int fd, error; /* fd -1: not open, or not any more; error: errno, for FILE_BROKEN */
    size_t first_max, at_once;
    bool wants_md5;
    struct file_start start;
    files_opened cb;
    void *ctx;
};

static int read_start(struct open_job *o)
{
    struct file_start *s = &o->start;
    if (o->choose)
        s->range = o->choose(o->text, s->facts.size);
    size_t most = s->range.len <= o->at_once ? o->at_once : o->first_max;
    size_t max = s->range.len < most ? (size_t)s->range.len : most;
    s->is_all = s->range.len <= most;
    s->bytes = max > 0 ? xrealloc(NULL, max) : NULL;
    int error = max > 0 ? place_read(o->fd, s->range.offset, s->bytes, max, &s->n) : 0;
    if (error || !o->wants_md5 || !s->is_all)
        return error;
    return gnutls_hash_fast(GNUTLS_DIG_MD5, s->bytes, s->n, s->md5) < 0 ? EIO : 0;
}

static bool open_step(struct folder_job *job)
{
    struct open_job *o = CONTAINER_OF(job, struct open_job, job);
    struct file_start *s = &o->start;
    s->fault = fs_path_is_safe(o->path)
                   ? place_open(o->folder, o->path, O_RDONLY, &o->fd, &s->facts)
                   : FILE_BAD_NAME;
    o->error = errno;
    if (!s->fault)
        s->fault = fault_of(o->error = read_start(o));
    if (o->fd >= 0 && (s->fault || s->is_all)) {
        close(o->fd);
        o->fd = -1;
    }
    return false;
}

static void open_tell(struct folder_job *job, const struct err *why)
{
    struct open_job *o = CONTAINER_OF(job, struct open_job, job);
    struct file_start failed = {.fault = FILE_UNAVAILABLE};
    struct err e;
    if (!why && o->start.fault) {
        failed.fault = o->start.fault;
        fault_say(&e, failed.fault, o->error);
        why = &e;
    }
    if (why) {
        o->cb(o->ctx, why, NULL, &failed);
        return;
    }
    struct file *file = xcalloc(1, sizeof *file);
    file->share = job->share;
    file->fd = o->fd;
    o->fd = -1;
    share_hold(job->share);
    files_add_bytes(share_files(job->share), o->start.n);
    o->cb(o->ctx, NULL, file, &o->start);
}

/* --- closing ---------------------------------------------------------------------------------- */

struct close_job {
    struct folder_job job;
    int fd;
};

static bool close_step(struct folder_job *job)
{
    const struct close_job *c = CONTAINER_OF(job, struct close_job, job);
    struct stat st;
    bool frees = job->prompt && fstat(c->fd, &st) == 0 && st.st_nlink == 0;
    if (frees && job_is_for_worker(job, (uint64_t)st.st_size))
        return true;
    close(c->fd);
    return false;
}

static void close_tell(struct folder_job *job, const struct err *why)
{
    (void)job, (void)why;
}

static void close_destroy(struct folder_job *job)
{
    free(job);
}

static const struct job_kind close_kind = {close_step, close_tell, close_destroy, .is_own = true,
                                           .is_quick = true};

void close_later(struct folder_share *s, int fd)
{
    struct close_job *c = xcalloc(1, sizeof *c);
    c->job.kind = &close_kind;
    c->fd = fd;
    job_begin_in(s, &c->job);
}

static void open_destroy(struct folder_job *job)
{
    struct open_job *o = CONTAINER_OF(job, struct open_job, job);
    if (o->fd >= 0)
        close_later(job->share, o->fd);
    free(o->start.bytes);
    free(o->folder);
    free(o->path);
    free(o->text);
    free(o);
}

static const struct job_kind open_kind = {
    .step = open_step, .tell = open_tell, .destroy = open_destroy, .is_quick = true};

static struct open_job *open_new(struct files *f, const struct files_open *what, files_opened cb,
                                 void *ctx)
{
    struct open_job *o = xcalloc(1, sizeof *o);
    *o = (struct open_job){.job = {.kind = &open_kind, .reach = READS_BYTES},
                           .folder = xstrdup(what->at.share),
                           .path = xstrdup(what->at.path),
                           .text = what->text ? xstrdup(what->text) : NULL,
                           .choose = what->choose,
                           .fd = -1,
                           .first_max = files_piece(f),
                           .at_once = files_piece(f) == FILES_PIECE_MAX ? what->at_once : 0,
                           .wants_md5 = what->wants_md5,
                           .cb = cb,
                           .ctx = ctx};
    return o;
}

void files_open(struct files *f, const struct files_open *what, files_opened cb, void *ctx)
{
    job_begin(f, what->at.share, &open_new(f, what, cb, ctx)->job);
}

bool files_open_now(struct files *f, const struct files_open *what, files_opened cb, void *ctx)
{
    struct folder_share *s = share_in_memory(f, what->at.share);
    if (!s)
        return false;
    struct open_job *o = open_new(f, what, cb, ctx);
    o->job.share = s;
    open_step(&o->job);
    open_tell(&o->job, NULL);
    open_destroy(&o->job);
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct read_job {
    struct folder_job job;
    struct file *file; /* owned by the loop; NULL: the file was closed */
    int fd, error;
    uint64_t offset;
    size_t max, n;
    char *bytes;
    files_read cb;
    void *ctx;
};

static bool read_step(struct folder_job *job)
{
    struct read_job *r = CONTAINER_OF(job, struct read_job, job);
    r->bytes = xrealloc(NULL, r->max);
    r->error = place_read(r->fd, r->offset, r->bytes, r->max, &r->n);
    return false;
}

static void read_tell(struct folder_job *job, const struct err *why)
{
    struct read_job *r = CONTAINER_OF(job, struct read_job, job);
    struct err e;
    if (!why && r->error) {
        file_error(&e, r->error);
        why = &e;
    }
    if (why) {
        r->cb(r->ctx, why, NULL, 0);
        return;
    }
    char *bytes = r->bytes;
    r->bytes = NULL;
    files_add_bytes(share_files(job->share), r->n);
    r->file->reading = NULL; /* cleared first: the callback may read more, or close the file */
    r->file = NULL;
    r->cb(r->ctx, NULL, bytes, r->n);
}

static void file_gone(struct file *file)
{
    struct folder_share *s = file->share;
    if (file->fd >= 0)
        close_later(s, file->fd);
    free(file);
    share_release(s);
}

static void read_destroy(struct folder_job *job)
{
    struct read_job *r = CONTAINER_OF(job, struct read_job, job);
    if (r->file && r->file->reading == job) {
        r->file->reading = NULL;
        if (r->file->closed)
            file_gone(r->file);
    }
    free(r->bytes);
    free(r);
}

static const struct job_kind read_kind = {read_step, read_tell, read_destroy, .is_begun = true,
                                          .is_quick = true};

void file_read(struct file *file, uint64_t offset, size_t max, files_read cb, void *ctx)
{
    assert(file->fd >= 0 && !file->reading && max > 0);
    struct read_job *r = xcalloc(1, sizeof *r);
    *r = (struct read_job){.job = {.kind = &read_kind, .reach = READS_BYTES},
                           .file = file,
                           .fd = file->fd,
                           .offset = offset,
                           .max = max,
                           .cb = cb,
                           .ctx = ctx};
    file->reading = &r->job;
    job_begin_in(file->share, &r->job);
}

void file_close(struct file *file)
{
    if (!file->reading) {
        file_gone(file);
        return;
    }
    file->closed = true;
    job_forget(file->reading);
}
