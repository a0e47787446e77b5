/* SPDX-License-Identifier: MIT
 *
 * GET and HEAD of a download link. The file is opened on the thread pool, below its share's folder
 * (symbolic links that leave it are not followed), and sent by libmicrohttpd from its descriptor.
 * Errors are XML with x-ms-error-code, as clients of the storage data plane expect.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/error.h"
#include "api/storage/link.h"
#include "api/storage/range.h"
#include "lib/fs.h"
#include "scheduler/scheduler.h"

struct download {
    uv_work_t work;
    struct request *r;
    const char *root, *path; /* arena of the request */
    int fd;                  /* -1 until opened */
    int error;               /* errno of the failure */
    struct stat st;
};

struct replied *storage_error(struct request *r, const struct err *e)
{
    const char *code = err_code_name(e->code);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b,
                  "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code>"
                  "<Message>%s</Message></Error>",
                  code, e->msg);
    reply_header(r, "x-ms-error-code", "%s", code);
    return reply_text(r, error_status(e->code), "application/xml", strbuf_take(&b));
}

const char *share_error(int error)
{
    if (error == EXDEV)
        return "it leads out of the share";
    if (error == ELOOP)
        return "its links lead out of the share or in circles";
    return strerror(error);
}

static void open_file(uv_work_t *w)
{
    struct download *d = w->data;
    d->fd = fs_open_beneath(d->root, d->path, O_RDONLY | O_NONBLOCK);
    if (d->fd < 0)
        d->error = errno;
    else if (fstat(d->fd, &d->st) < 0)
        d->error = errno;
    else if (!S_ISREG(d->st.st_mode))
        d->error = EISDIR;
}

int storage_slice(struct request *r, uint64_t size, int64_t mtime_us, struct file_slice *out,
                  struct err *e)
{
    uint64_t first = 0, last = 0;
    const char *header = request_header(r, "x-ms-range");
    if (!header)
        header = request_header(r, "Range");
    enum range_result range = range_parse(header, size, &first, &last);
    char when[TIMEFMT_SIZE];
    timefmt_http(mtime_us, when);
    reply_header(r, "Last-Modified", "%s", when);
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)time_to_ticks(mtime_us));
    reply_header(r, "Accept-Ranges", "bytes");
    if (range == RANGE_UNSATISFIABLE) {
        reply_header(r, "Content-Range", "bytes */%llu", (unsigned long long)size);
        return err_set(e, ERR_RANGE, NULL,
                       "The range %.60s is beyond the end of the file (%llu bytes).", header,
                       (unsigned long long)size);
    }
    *out = (struct file_slice){.status = 200, .len = size};
    if (range == RANGE_NONE)
        return 0;
    reply_header(r, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)first,
                 (unsigned long long)last, (unsigned long long)size);
    *out = (struct file_slice){.status = 206, .first = first, .len = last - first + 1};
    return 0;
}

static struct replied *send_slice(struct request *r, struct download *d)
{
    struct err e;
    struct file_slice slice = {0};
    int64_t mtime_us = (int64_t)d->st.st_mtim.tv_sec * 1000000 + d->st.st_mtim.tv_nsec / 1000;
    if (storage_slice(r, (uint64_t)d->st.st_size, mtime_us, &slice, &e) == 0)
        return reply_fd(r, slice.status, "application/octet-stream", d->fd, slice.first, slice.len);
    close(d->fd);
    return storage_error(r, &e);
}

static struct replied *answer(struct download *d)
{
    if (!d->error)
        return send_slice(d->r, d);
    if (d->fd >= 0)
        close(d->fd);
    struct err e;
    err_set(&e, ERR_FILE_NOT_FOUND, NULL, "The file cannot be read: %s.", share_error(d->error));
    return storage_error(d->r, &e);
}

static void on_opened(uv_work_t *w, int status)
{
    (void)status;
    struct download *d = w->data;
    request_finish(d->r, answer(d));
    free(d);
}

static struct replied *download(struct request *r, enum link_kind kind)
{
    struct file_ref f = {kind, {request_param(r, "account"), request_param(r, "share")}, r->rest};
    struct err e;
    if (link_check(r, &f, &e) < 0)
        return storage_error(r, &e);
    struct mount_volume volume = {.kind =
                                      kind == LINK_BLOB ? MOUNT_AZURE_BLOB : MOUNT_AZURE_FILE_SHARE,
                                  .account = f.scope[0],
                                  .share = f.scope[1]};
    struct download *d = xcalloc(1, sizeof *d);
    d->work.data = d;
    d->r = r;
    d->fd = -1;
    d->root = sched_share_path(r->config->storage_dir, &r->arena, &volume);
    d->path = f.path;
    uv_queue_work(r->config->loop, &d->work, open_file, on_opened);
    return reply_later(r);
}

struct replied *files_download(struct request *r)
{
    return download(r, LINK_FILE);
}

struct replied *blobs_download(struct request *r)
{
    return download(r, LINK_BLOB);
}
