/* SPDX-License-Identifier: MIT
 *
 * Put Block From URL: a block out of a blob or file of this daemon's accounts, or a part of one.
 * As any block it needs neither look at the blob nor turn.
 * https://learn.microsoft.com/rest/api/storageservices/put-block-from-url
 */
#include "api/azblob/handlers.h"
#include "api/azstorage/range.h"
#include "api/azstorage/source.h"
#include "api/http/body.h"

struct block_copy {
    struct request *r;
    struct file_place at; /* the block's */
    struct source from;
    struct file_part part;
    struct file_upload *upload; /* owned */
};

static void fail(struct block_copy *c, const struct err *e)
{
    request_finish(c->r, reply_err(c->r, e));
}

static void fail_with(struct block_copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    fail(c, &e);
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct block_copy *c = ctx;
    if (why) {
        fail_with(c, why, f->fault);
        return;
    }
    reply_header_text(c->r, "x-ms-request-server-encrypted", "true");
    request_finish(c->r, reply_empty(c->r, 201));
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct block_copy *c = ctx;
    if (why)
        fail_with(c, why, f->fault);
    else
        upload_finish(c->upload, NULL, on_finished, c);
}

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct block_copy *c = ctx;
    c->upload = upload;
    if (why)
        fail_with(c, why, fault);
    else
        upload_copy(upload, c->from.folder, &c->part, 1, on_copied, c);
}

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct block_copy *c = ctx;
    struct err e;
    if (why && why->code == ERR_UNAVAILABLE) {
        fail_with(c, why, f->fault);
        return;
    }
    if (why || f->facts.is_directory) {
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
        fail(c, &e);
        return;
    }
    const struct file_facts facts = c->from.is_snapshot ? item_facts(&c->from.item) : f->facts;
    const struct condition_state now = {true, item_etag(&facts, &c->from.item), facts.mtime_us};
    const struct files_upload what = {.at = c->at, .mode = 0666, .directory_mode = 0777};
    if (conditions_check_source(c->r, &now, &e) < 0)
        fail(c, &e);
    else
        files_upload(azstorage_of(c->r)->files, &what, on_opened, c);
}

static int check_body(struct request *r, struct err *e)
{
    static const char *const hashes[] = {"x-ms-source-content-md5", "x-ms-source-content-crc64"};
    if (request_has_body(r))
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "A block that comes from a URL has no body, so Content-Length must be 0.");
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
        if (request_header(r, hashes[i]))
            return err_set(e, AZSTORAGE_HEADER_UNSUPPORTED, hashes[i],
                           "The hash of a part of another blob is not computed (%s).", hashes[i]);
    return 0;
}

static size_t take(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes; /* there is none */
    return n;
}

static void begin(void *ctx)
{
    struct block_copy *c = ctx;
    const struct file_place from = {c->from.folder, c->from.path};
    files_facts(azstorage_of(c->r)->files, &from, on_source, c);
}

static void release(void *ctx)
{
    struct block_copy *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

struct replied *azblock_copy(struct request *r, const struct file_place *at)
{
    struct err e;
    struct block_copy *c = arena_alloc(&r->arena, sizeof *c);
    const char *range = request_header(r, "x-ms-source-range");
    *c = (struct block_copy){.r = r, .at = *at, .part.range = {0, FILES_ALL}};
    if (check_body(r, &e) < 0 || source_of(r, "x-ms-copy-source", "r", &c->from, &e) < 0 ||
        (range && range_exact("x-ms-source-range", range, &c->part.range, &e) < 0))
        return reply_err(r, &e);
    c->part.path = c->from.path;
    const struct body_sink sink = {.take = take, .end = begin, .release = release, .ctx = c};
    return request_stream(r, &sink);
}
