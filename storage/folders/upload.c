/* SPDX-License-Identifier: MIT
 *
 * Uploads from the loop's view: one call after the other, each a job of the share. Only the worker
 * touches the unfinished file while there is such a job. A second job may hash written bytes in
 * parallel, because hashing costs more than writing. It touches only the hashes of the unfinished
 * file.
 */
#include "storage/folders/upload.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "storage/folders/act_priv.h"
#include "storage/folders/unfinished_priv.h"

/* Bytes to copy before other work runs. */
#define COPIED_A_STEP (8 * 1024 * 1024)
#define PARTS_A_STEP  64

struct file_upload {
    struct folder_share *share;
    struct unfinished *file;
    struct upload_job *busy;    /* the job that has not returned yet; NULL: none */
    struct upload_job *hashing; /* the job that hashes in parallel */
    bool ended;                 /* the file is abandoned when the jobs return */
};

/* Bytes for two jobs: writing and hashing. */
struct upload_piece {
    char *bytes; /* owned */
    size_t n;
    int holds, untold; /* how many of the two jobs hold the piece; how many have not reported */
    bool failed;       /* one of the jobs has failed */
    struct err why;
    enum file_fault fault;
    files_changed cb;
    void *ctx;
};

struct upload_job {
    struct act act;             /* must be first */
    struct unfinished *file;    /* owned by the job until the upload has begun */
    struct file_upload *upload; /* NULL until then */
    files_uploading begun;
    files_staged staged;
    /* of upload_write(), shared with the other job of the piece; the last of the two frees it */
    struct upload_piece *piece;
    struct file_part *part; /* owned, like the paths */
    size_t parts, at;
    uint64_t *copied; /* owned: how many bytes of each part were copied */
};

static struct upload_job *job_of(struct act *a)
{
    return CONTAINER_OF(a, struct upload_job, act);
}

/* --- giving up -------------------------------------------------------------------------------- */

struct give_up_job {
    struct folder_job job; /* must be first */
    struct unfinished *file;
};

static bool give_up_step(struct folder_job *job)
{
    struct unfinished *file = CONTAINER_OF(job, struct give_up_job, job)->file;
    if (job_is_for_worker(job, file->size) || job_is_for_worker(job, file->replaced_size))
        return true;
    unfinished_give_up(file);
    return false;
}

static void give_up_tell(struct folder_job *job, const struct err *why)
{
    (void)job, (void)why;
}

static void give_up_destroy(struct folder_job *job)
{
    struct give_up_job *g = CONTAINER_OF(job, struct give_up_job, job);
    unfinished_free(g->file);
    free(g);
}

static const struct job_kind give_up_kind = {give_up_step, give_up_tell, give_up_destroy,
                                             .is_own = true, .is_quick = true};

static void give_up_later(struct folder_share *s, struct unfinished *file)
{
    if (file->fd < 0) {
        unfinished_free(file);
        return;
    }
    struct give_up_job *g = xcalloc(1, sizeof *g);
    g->job.kind = &give_up_kind;
    g->file = file;
    job_begin_in(s, &g->job);
}

static void upload_gone(struct file_upload *u)
{
    struct folder_share *s = u->share;
    give_up_later(s, u->file);
    free(u);
    share_release(s);
}

void upload_end(struct file_upload *u)
{
    u->ended = true;
    if (u->busy)
        job_forget(&u->busy->act.job);
    if (u->hashing)
        job_forget(&u->hashing->act.job);
    if (!u->busy && !u->hashing)
        upload_gone(u);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* Call when a job has ended: the upload may get its next job. */
static void leave(struct file_upload *u, const struct upload_job *j)
{
    if (u->busy == j)
        u->busy = NULL;
    if (u->hashing == j)
        u->hashing = NULL;
}

static void piece_let_go(struct upload_piece *p)
{
    if (!p || --p->holds > 0)
        return;
    free(p->bytes);
    free(p);
}

static void upload_free(struct folder_job *job)
{
    struct upload_job *j = CONTAINER_OF(CONTAINER_OF(job, struct act, job), struct upload_job, act);
    struct file_upload *u = j->upload;
    if (j->file)
        give_up_later(job->share, j->file);
    if (u) {
        leave(u, j);
        if (u->ended && !u->busy && !u->hashing)
            upload_gone(u);
    }
    piece_let_go(j->piece);
    free(j->copied);
    for (size_t i = 0; i < j->parts; i++)
        free((char *)(uintptr_t)j->part[i].path);
    free(j->part);
    act_free(&j->act);
}

/* Reports a job. The upload is released first, because the callback may call the next function, or
 * end the upload. */
static void upload_tell(struct folder_job *job, const struct err *why)
{
    struct upload_job *j = CONTAINER_OF(CONTAINER_OF(job, struct act, job), struct upload_job, act);
    if (!why && j->upload) {
        leave(j->upload, j);
        j->upload = NULL;
    }
    act_tell(job, why);
}

static const struct job_kind upload_kind = {
    .step = act_step, .tell = upload_tell, .destroy = upload_free, .is_quick = true};
/* A job with many bytes: it always needs a worker. */
static const struct job_kind piece_kind = {
    .step = act_step, .tell = upload_tell, .destroy = upload_free};

static struct upload_job *job_for(struct file_upload *u, const struct job_kind *kind, act_fn run,
                                  files_changed cb, void *ctx)
{
    struct upload_job *j = xcalloc(1, sizeof *j);
    assert(!u->busy && !u->hashing && !u->ended);
    act_init(&j->act, kind, run, cb, ctx);
    j->upload = u;
    return j;
}

static struct upload_job *next_job(struct file_upload *u, const struct job_kind *kind, act_fn run,
                                   files_changed cb, void *ctx)
{
    struct upload_job *j = job_for(u, kind, run, cb, ctx);
    u->busy = j;
    return j;
}

static struct unfinished *file_of(struct act *a)
{
    struct upload_job *j = job_of(a);
    return j->upload ? j->upload->file : j->file;
}

/* --- beginning -------------------------------------------------------------------------------- */

static enum file_fault run_begin(struct act *a)
{
    return unfinished_begin(job_of(a)->file);
}

/* Reports that the upload has begun, and gives it the job's file; or reports the failure. */
static void begin_tell(struct folder_job *job, const struct err *why)
{
    struct upload_job *j = CONTAINER_OF(CONTAINER_OF(job, struct act, job), struct upload_job, act);
    struct file_result failed = {.fault = why ? FILE_UNAVAILABLE : j->act.r.fault};
    struct file_upload *u = NULL;
    struct err e;
    if (!why && failed.fault) {
        fault_say(&e, failed.fault, j->act.error);
        why = &e;
    }
    if (!why) {
        u = xcalloc(1, sizeof *u);
        *u = (struct file_upload){.share = job->share, .file = j->file};
        j->file = NULL;
        share_hold(job->share);
    }
    if (j->begun)
        j->begun(j->act.ctx, why, failed.fault, u);
    else
        j->staged(j->act.ctx, why, why ? &failed : &j->act.r, u);
}

static const struct job_kind begin_kind = {
    .step = act_step, .tell = begin_tell, .destroy = upload_free, .is_quick = true};

void files_upload(struct files *f, const struct files_upload *what, files_uploading cb, void *ctx)
{
    struct upload_job *j = xcalloc(1, sizeof *j);
    act_init(&j->act, &begin_kind, run_begin, NULL, ctx);
    j->file = unfinished_new(what, files_sync(f), files_time_ns(f));
    j->begun = cb;
    job_begin(f, what->at.share, &j->act.job);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static enum file_fault run_piece(struct act *a)
{
    const struct upload_piece *p = job_of(a)->piece;
    return unfinished_write(file_of(a), p->bytes, p->n);
}

static enum file_fault run_hash(struct act *a)
{
    const struct upload_piece *p = job_of(a)->piece;
    unfinished_hash(file_of(a), p->bytes, p->n);
    return FILE_FINE;
}

/* Called at the end of each of the two jobs; reports the piece when both have ended. */
static void on_half(void *ctx, const struct err *why, const struct file_result *r)
{
    struct upload_piece *p = ctx;
    if (why && !p->failed) {
        p->failed = true;
        p->why = *why;
        p->fault = r->fault;
    }
    if (--p->untold > 0)
        return;
    const struct file_result done = {.fault = p->fault};
    p->cb(p->ctx, p->failed ? &p->why : NULL, &done);
}

static struct upload_job *half_job(struct file_upload *u, act_fn run, struct upload_piece *p)
{
    struct upload_job *j = job_for(u, &piece_kind, run, on_half, p);
    j->piece = p;
    p->holds++;
    p->untold++;
    return j;
}

void upload_write(struct file_upload *u, char *bytes, size_t n, files_changed cb, void *ctx)
{
    struct upload_piece *p = xcalloc(1, sizeof *p);
    *p = (struct upload_piece){.bytes = bytes, .n = n, .cb = cb, .ctx = ctx};
    struct upload_job *write = half_job(u, run_piece, p);
    struct upload_job *hash = unfinished_hashes(u->file) ? half_job(u, run_hash, p) : NULL;
    u->busy = write;
    u->hashing = hash;
    job_begin_in(u->share, &write->act.job);
    if (hash)
        job_begin_in(u->share, &hash->act.job);
}

/* Copies some of the next part: a->len bytes from a->offset on. */
static enum file_fault copy_part(struct upload_job *j)
{
    struct act *a = &j->act;
    const struct file_part *p = &j->part[j->at];
    enum file_fault fault = FILE_FINE;
    if (a->fd < 0) {
        fault = place_open(a->share, p->path, O_RDONLY, &a->fd, &a->r.facts);
        a->offset = p->range.offset;
        a->len = p->range.len;
    }
    if (!fault)
        fault = unfinished_copy(file_of(a), a->fd, &a->offset, &a->len, COPIED_A_STEP);
    if (fault || a->len > 0)
        return fault;
    act_close(a);
    j->copied[j->at++] = a->offset - p->range.offset;
    return FILE_FINE;
}

static enum file_fault run_copy(struct act *a)
{
    struct upload_job *j = job_of(a);
    enum file_fault fault = file_of(a)->fault;
    bool is_whole = true;
    for (int i = 0; !fault && is_whole && i < PARTS_A_STEP && j->at < j->parts; i++) {
        size_t before = j->at;
        fault = copy_part(j);
        is_whole = j->at > before;
    }
    a->more = j->at < j->parts;
    a->r.copied = j->copied;
    return fault;
}

void upload_copy(struct file_upload *u, const char *share, const struct file_part *parts, size_t n,
                 files_changed cb, void *ctx)
{
    struct upload_job *j = next_job(u, &piece_kind, run_copy, cb, ctx);
    j->act.share = xstrdup(share);
    j->part = xcalloc(n ? n : 1, sizeof *j->part);
    j->copied = xcalloc(n ? n : 1, sizeof *j->copied);
    j->parts = n;
    for (size_t i = 0; i < n; i++)
        j->part[i] = (struct file_part){xstrdup(parts[i].path), parts[i].range};
    job_begin_in(u->share, &j->act.job);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Whether a worker must do this step, because the loop is in it and the new file replaces a large
 * file. */
static bool replaces_much(struct act *a, const struct unfinished *file)
{
    struct file_facts there;
    return a->job.prompt && unfinished_look(file, &there) == FILE_FINE &&
           act_is_for_worker(a, there.size);
}

static enum file_fault run_finish(struct act *a)
{
    struct unfinished *file = file_of(a);
    if (replaces_much(a, file))
        return FILE_FINE;
    a->more = unfinished_settle(file);
    return a->more ? FILE_FINE : unfinished_finish(file, a->has_md5 ? a->md5 : NULL, &a->r);
}

static void expect_md5(struct act *a, const uint8_t *md5)
{
    a->has_md5 = md5 != NULL;
    if (md5)
        memcpy(a->md5, md5, FILES_MD5);
}

void upload_finish(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx)
{
    struct upload_job *j = next_job(u, &upload_kind, run_finish, cb, ctx);
    expect_md5(&j->act, md5);
    if (!u->file->is_staged)
        u->file->time_ns = files_time_ns(share_files(u->share));
    job_begin_in(u->share, &j->act.job);
}

void upload_move(struct file_upload *u, const struct file_place *to)
{
    assert(!u->busy && !u->hashing && !u->ended);
    unfinished_move(u->file, to);
}

static enum file_fault run_stage_begun(struct act *a)
{
    struct unfinished *file = file_of(a);
    a->more = unfinished_settle(file);
    return a->more ? FILE_FINE : unfinished_stage(file, a->has_md5 ? a->md5 : NULL, &a->r);
}

void upload_stage(struct file_upload *u, const uint8_t *md5, files_changed cb, void *ctx)
{
    struct upload_job *j = next_job(u, &upload_kind, run_stage_begun, cb, ctx);
    expect_md5(&j->act, md5);
    u->file->is_staged = true;
    u->file->time_ns = files_time_ns(share_files(u->share));
    job_begin_in(u->share, &j->act.job);
}

static enum file_fault run_stage(struct act *a)
{
    struct unfinished *file = job_of(a)->file;
    enum file_fault fault = unfinished_begin(file);
    if (fault)
        return fault;
    a->r.existed = unfinished_look(file, &a->r.before) == FILE_FINE;
    fault = unfinished_add(file, a->bytes, a->n);
    return fault ? fault : unfinished_stage(file, a->has_md5 ? a->md5 : NULL, &a->r);
}

/* Makes a job that gets all bytes of the file at once. */
static struct upload_job *whole_job(struct files *f, const struct files_upload *what,
                                    const struct file_content *all)
{
    struct upload_job *j = xcalloc(1, sizeof *j);
    j->file = unfinished_new(what, files_sync(f), files_time_ns(f));
    j->act.bytes = all->bytes;
    j->act.n = all->n;
    expect_md5(&j->act, all->md5);
    return j;
}

void files_stage(struct files *f, const struct files_upload *what, const struct file_content *all,
                 files_staged cb, void *ctx)
{
    struct upload_job *j = whole_job(f, what, all);
    act_init(&j->act, &begin_kind, run_stage, NULL, ctx);
    j->staged = cb;
    j->file->is_staged = true;
    job_begin(f, what->at.share, &j->act.job);
}

static enum file_fault run_grow(struct act *a)
{
    return unfinished_grow(job_of(a)->file, a->bytes, a->n, a->offset, &a->r);
}

void files_grow(struct files *f, const struct files_write *what, int64_t mtime_ns, files_staged cb,
                void *ctx)
{
    const struct files_upload file = {
        .at = what->at, .wants_md5 = what->wants_md5, .wants_crc64 = what->wants_crc64};
    struct upload_job *j = xcalloc(1, sizeof *j);
    act_init(&j->act, &begin_kind, run_grow, NULL, ctx);
    j->act.path = xstrdup(what->at.path);
    j->act.bytes = what->bytes;
    j->act.n = what->n;
    j->act.offset = what->offset;
    j->act.job.reach = WRITES_BYTES;
    j->file = unfinished_new(&file, files_sync(f), mtime_ns);
    j->staged = cb;
    job_begin(f, what->at.share, &j->act.job);
}

static enum file_fault run_put(struct act *a)
{
    struct unfinished *file = job_of(a)->file;
    if (replaces_much(a, file))
        return FILE_FINE;
    enum file_fault fault = unfinished_begin(file);
    if (!fault)
        fault = unfinished_add(file, a->bytes, a->n);
    if (!fault)
        fault = unfinished_finish(file, a->has_md5 ? a->md5 : NULL, &a->r);
    int error = errno;
    unfinished_give_up(file);
    errno = error;
    return fault;
}

void files_put(struct files *f, const struct files_upload *what, const struct file_content *all,
               files_changed cb, void *ctx)
{
    struct upload_job *j = whole_job(f, what, all);
    act_init(&j->act, &upload_kind, run_put, cb, ctx);
    job_begin(f, what->at.share, &j->act.job);
}

/* --- settling --------------------------------------------------------------------------------- */

struct settle_job {
    struct folder_job job; /* must be first */
    struct file_upload **upload;
    struct unfinished **file; /* the files of `upload`, for the worker */
    size_t n;
    int error;
    files_done cb;
    void *ctx;
};

static bool settle_step(struct folder_job *job)
{
    struct settle_job *s = CONTAINER_OF(job, struct settle_job, job);
    s->error = unfinished_settle_all(s->file, s->n);
    return false;
}

static void settle_tell(struct folder_job *job, const struct err *why)
{
    struct settle_job *s = CONTAINER_OF(job, struct settle_job, job);
    struct err e;
    if (!why && s->error) {
        fault_say(&e, fault_of(s->error), s->error);
        why = &e;
    }
    s->cb(s->ctx, why);
}

static void settle_destroy(struct folder_job *job)
{
    struct settle_job *s = CONTAINER_OF(job, struct settle_job, job);
    for (size_t i = 0; i < s->n; i++)
        upload_gone(s->upload[i]);
    free(s->upload);
    free(s->file);
    free(s);
}

static const struct job_kind settle_kind = {settle_step, settle_tell, settle_destroy,
                                            .is_own = true};

void files_settle(struct file_upload *const *uploads, size_t n, files_done cb, void *ctx)
{
    struct settle_job *s = xcalloc(1, sizeof *s);
    *s = (struct settle_job){.job.kind = &settle_kind, .n = n, .cb = cb, .ctx = ctx};
    s->upload = xcalloc(n, sizeof *s->upload);
    s->file = xcalloc(n, sizeof *s->file);
    for (size_t i = 0; i < n; i++) {
        assert(!uploads[i]->busy && !uploads[i]->ended);
        s->upload[i] = uploads[i];
        s->file[i] = uploads[i]->file;
    }
    job_begin_in(uploads[0]->share, &s->job);
}
