/* SPDX-License-Identifier: MIT
 *
 * GET and HEAD of a link to a file on a node's disk. Gets the file's length from the node, then
 * fetches the bytes piece by piece, as fast as the client reads. If the node is lost or the file
 * becomes shorter during the reply, the reply is cut off.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/stream.h"
#include "api/plane/storage/link.h"
#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"
#include "storage/storage.h"

struct node_download {
    struct request *r; /* valid until the request has its reply */
    struct fleet *fleet;
    struct output_dir at; /* texts are owned */
    char *path;
    const char *content_type;    /* owned by the request */
    struct reply_stream *stream; /* borrowed */
};

static void download_free(void *ctx)
{
    struct node_download *d = ctx;
    free((char *)(uintptr_t)d->at.node);
    free((char *)(uintptr_t)d->at.base);
    free(d->path);
    free(d);
}

static void on_piece(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct node_download *d = ctx;
    stream_got(d->stream, why ? NULL : got->bytes, why ? 0 : got->n);
}

static int fetch(void *ctx, struct reply_stream *s, uint64_t offset, size_t max)
{
    struct node_download *d = ctx;
    struct err e;
    d->stream = s;
    return fleet_read_file(d->fleet, &d->at, d->path, (int64_t)offset, max, on_piece, d, &e);
}

static int refused(struct err *e)
{
    if (e->code != ERR_UNAVAILABLE)
        e->code = ERR_FILE_NOT_FOUND;
    return -1;
}

static struct replied *refuse(struct request *r, const struct err *why)
{
    struct err e = *why;
    (void)refused(&e);
    return reply_err(r, &e);
}

static struct replied *send_file(struct request *r, const struct node_download *d,
                                 const struct node_bytes *got)
{
    const char *type = d->content_type;
    struct err e;
    struct file_slice slice = {0};
    reply_file_state(r, got->mtime_us);
    if (storage_slice(r, range_if_same(r, range_header(r)), (uint64_t)got->size, &slice, &e) < 0)
        return reply_err(r, &e);
    const struct stream_source source = {
        .fetch = fetch, .release = download_free, .ctx = request_take_back(r)};
    return reply_stream(r, slice.status, type, slice.first, slice.len, &source);
}

static void on_size(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct node_download *d = ctx;
    struct request *r = d->r;
    request_finish(r, why ? refuse(r, why) : send_file(r, d, got));
}

int send_node_file(struct request *r, const struct node_file *what, struct err *e)
{
    struct node_download *d = xcalloc(1, sizeof *d);
    d->r = r;
    d->fleet = what->fleet;
    d->at = *what->at;
    d->at.node = xstrdup(what->at->node);
    d->at.base = xstrdup(what->at->base);
    d->path = xstrdup(what->path);
    d->content_type = what->content_type;
    request_keep(r, d, download_free);
    if (fleet_read_file(d->fleet, &d->at, d->path, 0, 0, on_size, d, e) == 0)
        return 0;
    return refused(e);
}

/* Reads a number; only digits are valid. */
static int number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno ? -1 : 0;
}

/* Splits ROWID-GUID. The job is found by its row id; the GUID proves that this is the link's job,
 * because after the restore of a backup row ids may be used again. */
static int split_job(struct request *r, const char *text, int64_t *id, const char **guid)
{
    size_t n = strcspn(text, "-");
    *guid = text[n] ? text + n + 1 : "";
    return number(arena_strndup(&r->arena, text, n), id);
}

static int find_place(struct request *r, const struct file_ref *f, struct output_dir *out,
                      struct err *e)
{
    int64_t job_id, rank;
    const char *guid;
    struct job j;
    struct output_dir *at;
    size_t n;
    if (split_job(r, f->scope[0], &job_id, &guid) < 0 || number(f->scope[1], &rank) < 0)
        return err_set(e, ERR_FILE_NOT_FOUND, NULL, "The link names no job's node.");
    int rc = st_job_by_id(azstorage_of(r)->storage, &r->arena, job_id, &j, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || j.prov_state == PROV_DELETING || strcmp(j.guid, guid) != 0)
        return err_set(e, ERR_FILE_NOT_FOUND, NULL,
                       "The file cannot be read: its job has been deleted.");
    if (runs_output_dirs(azstorage_of(r)->runs, &r->arena, RES_JOB, j.id, f->scope[2], &at, &n, e) <
        0)
        return err_prefix(e, "The file cannot be read");
    for (size_t i = 0; i < n; i++)
        if (at[i].rank == rank) {
            *out = at[i];
            return 0;
        }
    return err_set(e, ERR_FILE_NOT_FOUND, NULL,
                   "The file cannot be read: its node has left the cluster.");
}

struct replied *nodes_download(struct request *r)
{
    const struct file_ref f = {
        LINK_NODE,
        {request_param(r, "job"), request_param(r, "rank"), request_param(r, "directory")},
        r->rest};
    struct err e;
    struct output_dir at = {0};
    if (link_check(r, &f, &e) < 0)
        return reply_err(r, &e);
    if (find_place(r, &f, &at, &e) < 0)
        return refuse(r, &e);
    const struct node_file what = {.fleet = azstorage_of(r)->fleet,
                                   .at = &at,
                                   .path = f.path,
                                   .content_type = "application/octet-stream"};
    return send_node_file(r, &what, &e) < 0 ? reply_err(r, &e) : reply_later(r);
}
