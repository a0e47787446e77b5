/* SPDX-License-Identifier: MIT
 *
 * GET and HEAD of a download link. The share's workers (storage/folders/) open and read the file,
 * at most two pieces ahead of the client. If the file becomes shorter during the reply, the reply
 * is cut off.
 */
#include <stdlib.h>
#include <string.h>

#include "api/http/stream.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "api/plane/storage/structured.h"
#include "api/plane/storage/tiers.h"
#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/scheduler.h"
#include "storage/folders/files.h"

struct plane_download {
    struct request *r;      /* valid until the request has its reply */
    struct file *file;      /* owned, after it was opened */
    struct files *files;    /* borrowed */
    struct file_reply what; /* texts are the request's */
    /* the request has If-Range: it wants a part only of the version that If-Range names, else the
     * whole file */
    bool wants_same;
    bool is_all;    /* all wanted bytes were read when the file was opened */
    uint64_t first; /* for a structured message: the offset in the file of the first byte */
    struct structuring frames;
    struct reply_stream *stream; /* borrowed */
};

const char *range_header(const struct request *r)
{
    const char *header = request_header(r, "x-ms-range");
    return header ? header : request_header(r, "Range");
}

void reply_file_state(struct request *r, int64_t mtime_us)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(mtime_us, when);
    reply_header(r, "Last-Modified", "%s", when);
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)time_to_ticks(mtime_us));
}

const char *range_if_same(struct request *r, const char *range)
{
    const char *wanted = request_header(r, "If-Range");
    const char *etag = reply_header_value(r, "ETag");
    const char *modified = reply_header_value(r, "Last-Modified");
    bool same = !wanted || (etag && strcmp(wanted, etag) == 0) ||
                (*wanted != '"' && modified && strcmp(wanted, modified) == 0);
    return same ? range : NULL;
}

int storage_slice(struct request *r, const char *range, uint64_t size, struct file_slice *out,
                  struct err *e)
{
    uint64_t first = 0, last = 0;
    enum range_result kind = range_parse(range, size, &first, &last);
    reply_header(r, "Accept-Ranges", "bytes");
    if (kind == RANGE_UNSATISFIABLE) {
        reply_header(r, "Content-Range", "bytes */%llu", (unsigned long long)size);
        return err_set(e, AZSTORAGE_RANGE, NULL,
                       "The range %.60s is beyond the end of the file (%llu bytes).", range,
                       (unsigned long long)size);
    }
    *out = (struct file_slice){.status = 200, .len = size};
    if (kind == RANGE_NONE)
        return 0;
    reply_header(r, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)first,
                 (unsigned long long)last, (unsigned long long)size);
    *out = (struct file_slice){.status = 206, .first = first, .len = last - first + 1};
    return 0;
}

static void download_free(void *ctx)
{
    struct plane_download *d = ctx;
    if (d->file)
        file_close(d->file);
    free(d);
}

/* Makes the next piece of the structured message from these bytes. */
static char *frame(struct plane_download *d, char *bytes, size_t n, size_t *length)
{
    struct strbuf out = STRBUF_INIT;
    structuring_add(&d->frames, bytes ? bytes : "", n, &out);
    free(bytes);
    *length = out.len;
    return strbuf_take(&out);
}

static void on_piece(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct plane_download *d = ctx;
    if (d->what.framed && !why && n > 0)
        bytes = frame(d, bytes, n, &n);
    stream_take(d->stream, bytes, why ? 0 : n);
}

static int fetch(void *ctx, struct reply_stream *s, uint64_t offset, size_t max)
{
    struct plane_download *d = ctx;
    size_t piece = files_piece(d->files);
    if (d->is_all)
        return -1; /* the file has become shorter */
    d->stream = s;
    max = max < piece ? max : piece;
    if (d->what.framed) {
        offset = d->first + d->frames.got;
        max = structuring_room(&d->frames, max);
    }
    file_read(d->file, offset, max, on_piece, d);
    return 0;
}

static struct replied *refuse(struct request *r, int missing, const struct err *why)
{
    struct err e;
    err_set(&e, why->code == ERR_UNAVAILABLE ? ERR_UNAVAILABLE : missing, NULL,
            "The file cannot be read: %s.", why->msg);
    return reply_err(r, &e);
}

static int look(struct request *r, const struct plane_download *d, const struct file_facts *facts,
                const char **type, struct err *e)
{
    *type = "application/octet-stream";
    if (d->what.look)
        return d->what.look(r, d->what.ctx, facts, type, e);
    if (facts)
        reply_file_state(r, facts->mtime_us);
    return 0;
}

/* Makes a structured message of the slice; the slice's length becomes the length of the message. */
static void frame_slice(struct request *r, struct plane_download *d, struct file_start *start,
                        struct file_slice *slice)
{
    reply_header(r, STRUCTURED_LENGTH, "%llu", (unsigned long long)slice->len);
    structured_reply(r);
    d->first = slice->first;
    uint64_t length = structuring_begin(&d->frames, slice->len);
    start->bytes = frame(d, start->bytes, start->n, &start->n);
    *slice = (struct file_slice){.status = slice->status, .len = length};
}

/* With If-Range the bytes that were read at the opening begin at the start of the file, because it
 * was not known whether a part is wanted. Keeps only the bytes of the slice; none if not all of
 * them have been read. */
static void cut_start(struct file_start *start, const struct file_slice *slice)
{
    bool has_slice = start->is_all && slice->first + slice->len <= start->n;
    if (slice->status == 200)
        return;
    if (has_slice && slice->len > 0)
        memmove(start->bytes, start->bytes + slice->first, slice->len);
    else
        free(start->bytes);
    start->n = has_slice ? slice->len : 0;
    start->bytes = start->n > 0 ? start->bytes : NULL;
}

static struct replied *send_file(struct request *r, struct plane_download *d,
                                 struct file_start *start)
{
    struct err e;
    struct file_slice slice = {0};
    const char *type;
    int rc = look(r, d, &start->facts, &type, &e);
    if (rc == LOOK_AGAIN)
        return NULL;
    const char *range = d->wants_same && rc == 0 ? range_if_same(r, d->what.range) : d->what.range;
    if (rc < 0 || storage_slice(r, range, start->facts.size, &slice, &e) < 0)
        return reply_err(r, &e);
    if (d->wants_same)
        cut_start(start, &slice);
    if (d->what.hashed)
        d->what.hashed(r, start->md5);
    if (d->what.framed)
        frame_slice(r, d, start, &slice);
    const struct stream_source source = {.fetch = fetch,
                                         .release = download_free,
                                         .ctx = request_take_back(r),
                                         .first = start->bytes,
                                         .n_first = start->n};
    start->bytes = NULL;
    d->is_all = start->is_all;
    return reply_stream(r, slice.status, type, slice.first, slice.len, &source);
}

/* The file cannot be opened: whether another file must be opened instead (LOOK_AGAIN). */
static bool is_other(struct plane_download *d, const struct err *why)
{
    const char *type;
    struct err e;
    return d->what.again && why->code != ERR_UNAVAILABLE &&
           look(d->r, d, NULL, &type, &e) == LOOK_AGAIN;
}

/* Replies; NULL: the reply is sent later. */
static struct replied *answer(struct plane_download *d, const struct err *why, struct file *file,
                              struct file_start *start)
{
    struct request *r = d->r;
    const struct file_reply what = d->what;
    struct replied *done;
    d->file = file;
    if (why)
        done = is_other(d, why) ? NULL : refuse(r, what.missing, why);
    else
        done = send_file(r, d, start);
    if (done && what.opened) {
        what.opened(what.ctx);
    } else if (!done) {
        request_release(r);
        what.again(r, what.ctx);
    }
    return done;
}

struct at_once {
    struct plane_download *d;
    struct replied *done;
};

static void on_opened_now(void *ctx, const struct err *why, struct file *file,
                          struct file_start *start)
{
    struct at_once *now = ctx;
    now->done = answer(now->d, why, file, start);
}

static void on_opened(void *ctx, const struct err *why, struct file *file, struct file_start *start)
{
    struct plane_download *d = ctx;
    struct request *r = d->r;
    struct replied *done = answer(d, why, file, start);
    if (done)
        request_finish(r, done);
}

/* The range that storage_slice() will choose later; called on a worker, to read its bytes early. */
static struct file_range choose(const char *header, uint64_t size)
{
    uint64_t first, last;
    switch (range_parse(header, size, &first, &last)) {
    case RANGE_PART:
        return (struct file_range){.offset = first, .len = last - first + 1};
    case RANGE_UNSATISFIABLE:
        return (struct file_range){0};
    case RANGE_NONE:
        break;
    }
    return (struct file_range){.len = size};
}

/* Like choose(), with If-Range: a part is wanted only if the file has not changed, which the worker
 * cannot check; so it reads from the start. */
static struct file_range choose_all(const char *header, uint64_t size)
{
    (void)header;
    return (struct file_range){.len = size};
}

struct replied *reply_file(struct request *r, struct files *files, const struct file_reply *what)
{
    struct plane_download *d = xcalloc(1, sizeof *d);
    *d = (struct plane_download){.r = r, .files = files, .what = *what};
    d->wants_same = what->range && !what->hashed && request_header(r, "If-Range");
    request_keep(r, d, download_free);
    const struct files_open open = {.at = {what->folder, what->path},
                                    .choose = strcmp(r->method, "HEAD") == 0 ? NULL
                                              : d->wants_same                ? choose_all
                                                                             : choose,
                                    .text = what->range,
                                    .at_once = what->at_once,
                                    .wants_md5 = what->hashed != NULL};
    struct at_once now = {.d = d};
    if (!what->later && files_open_now(files, &open, on_opened_now, &now))
        return now.done ? now.done : reply_later(r);
    files_open(files, &open, on_opened, d);
    return reply_later(r);
}

/* Checks names although the link is signed, because names become parts of a path. */
static int check_names(const struct file_ref *f, struct err *e)
{
    if (!account_name_valid(f->scope[0]))
        return err_set(e, ERR_FILE_NOT_FOUND, NULL, "The file cannot be read: '%.100s' is not %s.",
                       f->scope[0], account_name_rule);
    if (!share_name_valid(f->scope[1]))
        return err_set(e, ERR_FILE_NOT_FOUND, NULL, "The file cannot be read: '%.100s' is not %s.",
                       f->scope[1], share_name_rule);
    return 0;
}

struct linked {
    struct mount_volume volume;
    const char *path;
};

static int look_at_linked(struct request *r, void *ctx, const struct file_facts *facts,
                          const char **type, struct err *e)
{
    const struct linked *l = ctx;
    (void)type;
    if (tier_check_file(r, &l->volume, l->path, facts, e) < 0)
        return -1;
    reply_file_state(r, facts->mtime_us);
    return 0;
}

static struct replied *download(struct request *r, enum link_kind kind)
{
    struct file_ref f = {kind, {request_param(r, "account"), request_param(r, "share")}, r->rest};
    struct err e;
    if (link_check(r, &f, &e) < 0 || check_names(&f, &e) < 0)
        return reply_err(r, &e);
    struct linked *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct linked){.volume = {.kind = kind == LINK_BLOB ? MOUNT_BLOBS : MOUNT_FILE_SHARE,
                                    .account = f.scope[0],
                                    .share = f.scope[1]},
                         .path = f.path};
    const struct file_reply what = {
        .folder = fleet_share_path(azstorage_of(r)->storage_dir, &r->arena, &l->volume),
        .path = f.path,
        .range = range_header(r),
        .look = look_at_linked,
        .ctx = l,
        .missing = ERR_FILE_NOT_FOUND};
    return reply_file(r, azstorage_of(r)->files, &what);
}

struct replied *files_download(struct request *r)
{
    return download(r, LINK_FILE);
}

struct replied *blobs_download(struct request *r)
{
    return download(r, LINK_BLOB);
}
