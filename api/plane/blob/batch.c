/* SPDX-License-Identifier: MIT
 *
 * Batches: up to some hundred deletions or tier changes of blobs in one request. Each inner request
 * is carried out like a separate request, and has its own reply; the order may change. If the whole
 * batch is refused, the reply has one part, the error, without a Content-ID.
 *
 * read -> accepted, in steps -> carried out, in steps -> all answered -> 202
 *
 * https://learn.microsoft.com/rest/api/storageservices/blob-batch
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/subrequest.h"
#include "api/plane/blob/batch_read.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/storage/plane_shares.h"

#define STEP 16 /* requests per turn of the loop: 1 to 2 ms */

struct blob_batch {
    struct request *r;
    struct batch_parts parts;
    struct request *inner[BATCH_PARTS_MAX]; /* owned */
    size_t n_inner, next, answered;
};

static void batch_free(void *ctx)
{
    struct blob_batch *b = ctx;
    for (size_t i = 0; i < b->n_inner; i++)
        request_inner_end(b->inner[i]);
    free(b);
}

/* --- the answer ----------------------------------------------------------------------------- */

static void begin_part(struct strbuf *text, const char *boundary, const char *id)
{
    strbuf_concat(text, "--", boundary, "\r\nContent-Type: application/http\r\n");
    if (id)
        strbuf_concat(text, "Content-ID: ", id, "\r\n");
    strbuf_puts(text, "\r\n");
}

static REPLIED reply_parts(struct request *r, const char *boundary, struct strbuf *text)
{
    strbuf_concat(text, "--", boundary, "--\r\n");
    const char *type = arena_concat(&r->arena, "multipart/mixed; boundary=", boundary);
    return reply_text(r, 202, type, strbuf_take(text));
}

static const char *new_boundary(struct request *r)
{
    char guid[GUID_SIZE];
    request_guid(r, guid);
    return arena_concat(&r->arena, "batchresponse_", guid);
}

static REPLIED reply_all(struct blob_batch *b)
{
    struct strbuf text = STRBUF_INIT;
    const char *boundary = new_boundary(b->r);
    for (size_t i = 0; i < b->n_inner; i++) {
        begin_part(&text, boundary, b->parts.part[i].id);
        request_inner_write(b->inner[i], &text);
        strbuf_puts(&text, "\r\n");
    }
    return reply_parts(b->r, boundary, &text);
}

/* Refuses the whole batch. The error has the form of the reply to one inner request. */
static REPLIED refuse_all(struct request *r, const struct err *e)
{
    struct strbuf text = STRBUF_INIT;
    const char *boundary = new_boundary(r);
    const struct inner_head head = {.method = "POST", .target = r->target, .path = r->path};
    struct request *none = request_inner_refused(r, &head, e);
    begin_part(&text, boundary, NULL);
    request_inner_write(none, &text);
    request_inner_end(none);
    return reply_parts(r, boundary, &text);
}

/* --- carried out ---------------------------------------------------------------------------- */

static void on_answered(void *ctx, struct request *inner)
{
    struct blob_batch *b = ctx;
    (void)inner;
    if (++b->answered == b->n_inner)
        request_finish(b->r, reply_all(b));
}

static void carry_out(struct request *r, void *ctx)
{
    struct blob_batch *b = ctx;
    size_t end = b->next + STEP < b->n_inner ? b->next + STEP : b->n_inner;
    /* Computed before the loop: the answer to the last inner request ends the whole request, and
     * `b`. */
    bool more = end < b->n_inner;
    while (b->next < end)
        request_inner_go(b->inner[b->next++], on_answered, b);
    if (more)
        request_again(r, carry_out, b);
}

/* --- accepted ------------------------------------------------------------------------------- */

/* The path of an inner request without the account. At a port of one service, clients may leave the
 * account out. */
static const char *path_of(struct request *r, const char *target)
{
    const char *path = arena_strndup(&r->arena, target, strcspn(target, "?"));
    size_t n = r->door->service ? strlen(r->label) : 0;
    bool has_account = n > 0 && strncasecmp(path + 1, r->label, n) == 0 && path[1 + n] == '/';
    return has_account ? path + 1 + n : path;
}

static int accept_next(struct blob_batch *b, struct err *e)
{
    struct request *r = b->r;
    const struct batch_part *p = &b->parts.part[b->n_inner];
    const struct inner_head head = {.method = p->method,
                                    .target = p->target,
                                    .path = path_of(r, p->target),
                                    .header = p->header,
                                    .n_headers = p->n_headers};
    struct request *one = request_inner(r, &head);
    b->inner[b->n_inner++] = one;
    api_handler what = one->route ? one->route->handler : NULL;
    if (what != azblob_delete && what != azblob_set_tier)
        return err_set(e, AZSTORAGE_INPUT, NULL,
                       "One of the request inputs is not valid: a batch can delete blobs and set "
                       "their tiers, not '%.20s %.200s'.",
                       p->method, p->target);
    if (what != b->inner[0]->route->handler)
        return err_set(e, AZSTORAGE_BATCH_MIXED, NULL,
                       "All batch subrequests should be the same api.");
    if (request_has_body(one))
        return err_set(e, AZSTORAGE_INPUT, NULL,
                       "One of the request inputs is not valid: a request of a batch has no body.");
    if (r->n_segments > 0 && strcmp(one->segment[0], r->segment[0]) != 0)
        return err_set(e, AZSTORAGE_INPUT, NULL,
                       "One of the request inputs is not valid: '%.200s' is not in the container "
                       "'%.63s', which the batch is for.",
                       p->target, r->segment[0]);
    if (grant_of(one) && grant_of(r)->version)
        reply_header_text(one, "x-ms-version", request_header(r, "x-ms-version"));
    return 0;
}

static void accept_all(struct request *r, void *ctx)
{
    struct blob_batch *b = ctx;
    struct err e;
    for (size_t i = 0; i < STEP && b->n_inner < b->parts.n; i++)
        if (accept_next(b, &e) < 0) {
            request_finish(r, refuse_all(r, &e));
            return;
        }
    request_again(r, b->n_inner < b->parts.n ? accept_all : carry_out, b);
}

struct replied *azblob_batch(struct request *r)
{
    struct err e;
    const char *type = request_header(r, "Content-Type");
    const char *boundary = batch_boundary(&r->arena, type);
    if (r->n_segments > 0 && plane_share(r, &e) < 0)
        return reply_err(r, &e);
    if (!boundary) {
        err_set(&e, AZSTORAGE_HEADER, "Content-Type",
                "The value for one of the HTTP headers is not in the correct format: Content-Type "
                "is '%.100s'; it must be multipart/mixed with a boundary.",
                type ? type : "");
        return reply_err(r, &e);
    }
    struct blob_batch *b = xcalloc(1, sizeof *b);
    b->r = r;
    request_keep(r, b, batch_free);
    if (batch_read(&r->arena, r->raw.s, r->raw.len, boundary, &b->parts, &e) < 0)
        return refuse_all(r, &e);
    request_again(r, accept_all, b);
    return reply_later(r);
}
