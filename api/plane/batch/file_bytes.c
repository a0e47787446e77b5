/* SPDX-License-Identifier: MIT
 *
 * GET and HEAD of one file of a task or node, in the form of the data plane or in the form of the
 * page.
 */
#include <stdlib.h>
#include <string.h>

#include "api/http/stream.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "nodeagent-proto/link/node.h"
#include "storage/seeding.h"

struct file_download {
    struct request *r; /* valid until the request has its reply */
    struct fleet *fleet;
    struct output_dir at; /* texts are owned */
    char *path, *url;
    /* the Content-Type for the web page; NULL: the request is one of the data plane */
    const char *page_type;
    struct reply_stream *stream; /* borrowed */
};

static void download_free(void *ctx)
{
    struct file_download *d = ctx;
    free((char *)(uintptr_t)d->at.node);
    free((char *)(uintptr_t)d->at.base);
    free(d->path);
    free(d->url);
    free(d);
}

static void on_piece(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct file_download *d = ctx;
    stream_got(d->stream, why ? NULL : got->bytes, why ? 0 : got->n);
}

static int fetch(void *ctx, struct reply_stream *s, uint64_t offset, size_t max)
{
    struct file_download *d = ctx;
    struct err e;
    d->stream = s;
    return fleet_read_file(d->fleet, &d->at, d->path, (int64_t)offset, max, on_piece, d, &e);
}

static void add_headers(struct request *r, const struct file_download *d,
                        const struct node_bytes *got)
{
    char when[TIMEFMT_SIZE];
    const char *mode = batch_file_mode(r, got->mode);
    timefmt_http(got->mtime_us, when);
    reply_header(r, "Last-Modified", "%s", when);
    reply_header(r, "ocp-creation-time", "%s", when);
    reply_header_text(r, "ocp-batch-file-isdirectory", "False");
    if (mode)
        reply_header_text(r, "ocp-batch-file-mode", mode);
    reply_header_text(r, "ocp-batch-file-url", batch_segment(r, arena_strdup(&r->arena, d->url)));
}

/* Reads the range of bytes in the header ocp-range. A reply to such a request has the status
 * 200. */
static int read_range(struct request *r, uint64_t size, uint64_t *first, uint64_t *n, struct err *e)
{
    uint64_t last;
    *first = 0;
    *n = size;
    switch (range_parse(request_header(r, "ocp-range"), size, first, &last)) {
    case RANGE_PART:
        *n = last - *first + 1;
        return 0;
    case RANGE_UNSATISFIABLE:
        return err_set(e, BATCH_INVALID_RANGE, "ocp-range", "The file has %llu bytes.",
                       (unsigned long long)size);
    case RANGE_NONE:
        break;
    }
    return 0;
}

/* Sends bytes [first, first+n) of the file. */
static struct replied *send_bytes(struct file_download *d, const struct node_bytes *got,
                                  const char *type, const struct file_slice *part)
{
    struct request *r = d->r;
    struct stream_source source = {.fetch = fetch, .release = download_free};
    /* all bytes of a seeded file are in `got` */
    if (got->n > 0 && part->len > 0 && got->n == (size_t)got->size) {
        source.first = xrealloc(NULL, part->len + 1);
        memcpy(source.first, got->bytes + part->first, part->len);
        source.n_first = part->len;
    }
    source.ctx = request_take_back(r);
    return reply_stream(r, part->status, type, part->first, part->len, &source);
}

static struct replied *send_to_page(struct file_download *d, const struct node_bytes *got)
{
    struct request *r = d->r;
    struct file_slice part;
    struct err e;
    reply_file_state(r, got->mtime_us);
    if (storage_slice(r, range_if_same(r, range_header(r)), (uint64_t)got->size, &part, &e) < 0) {
        e.code = (enum err_code)BATCH_INVALID_RANGE;
        return reply_err(r, &e);
    }
    return send_bytes(d, got, d->page_type, &part);
}

static struct replied *send_file(struct file_download *d, const struct node_bytes *got)
{
    struct request *r = d->r;
    struct file_slice part = {.status = 200};
    struct err e;
    if (d->page_type)
        return send_to_page(d, got);
    if (batch_conditions(r, got->mtime_us, &e) < 0 ||
        read_range(r, (uint64_t)got->size, &part.first, &part.len, &e) < 0)
        return reply_err(r, &e);
    add_headers(r, d, got);
    if (strcmp(r->method, "HEAD") == 0)
        return reply_length(r, batch_file_type(d->path), (uint64_t)got->size);
    return send_bytes(d, got, batch_file_type(d->path), &part);
}

static void on_size(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct file_download *d = ctx;
    struct request *r = d->r;
    request_finish(r, why ? batch_files_refuse(r, &d->at, d->path, why) : send_file(d, got));
}

static struct replied *get_seeded(struct file_download *d, int64_t task)
{
    struct batch_seeded_file f;
    struct err e;
    int rc = st_batch_file_get(arm_of(d->r)->storage, &d->r->arena, task, d->path, &f, &e);
    if (rc == 0)
        batch_no_file(d->path, &e);
    if (rc <= 0)
        return reply_err(d->r, &e);
    const struct node_bytes got = {.bytes = f.bytes,
                                   .n = (size_t)f.size,
                                   .size = f.size,
                                   .mtime_us = f.mtime_us,
                                   .mode = BATCH_SEEDED_MODE};
    return send_file(d, &got);
}

struct replied *batch_file_send(struct request *r, const struct files_place *p,
                                const char *page_type)
{
    struct err e;
    struct file_download *d = xcalloc(1, sizeof *d);
    *d = (struct file_download){
        .r = r, .fleet = arm_of(r)->fleet, .at = p->at, .page_type = page_type};
    d->at.node = p->seeded ? NULL : xstrdup(p->at.node);
    d->at.base = p->seeded ? NULL : xstrdup(p->at.base);
    d->path = xstrdup(p->path);
    d->url = xstrdup(batch_file_url(r, p, p->path));
    request_keep(r, d, download_free);
    if (p->seeded)
        return get_seeded(d, p->seeded);
    if (fleet_read_file(d->fleet, &d->at, d->path, 0, 0, on_size, d, &e) == 0)
        return reply_later(r);
    return batch_files_refuse(r, &d->at, d->path, &e);
}

static struct replied *get(struct request *r, find_files_place *find)
{
    struct files_place p = {.path = "", .url = ""};
    struct err e;
    return find(r, &p, &e) < 0 ? reply_err(r, &e) : batch_file_send(r, &p, NULL);
}

struct replied *batch_files_get_task(struct request *r)
{
    return get(r, batch_files_of_task);
}

struct replied *batch_files_get_node(struct request *r)
{
    return get(r, batch_files_of_node);
}
