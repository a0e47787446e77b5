/* SPDX-License-Identifier: MIT
 *
 * Put Block From URL: makes a block from a blob or file of this daemon's accounts, or from a part
 * of one. Like any block, it is written without reading the blob and without the blob's turn
 * (write_lock.h). https://learn.microsoft.com/rest/api/storageservices/put-block-from-url
 */
#include "api/http/body.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/storage/plane_shares.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/write_lock.h"

struct block_copy {
    struct request *r;
    struct files_upload to;  /* the block's file */
    const struct blob *blob; /* the blob, if its row would refuse the block; or NULL */
    struct source from;
    struct file_part part;
    struct file_upload *upload; /* owned */
    struct file_facts source;   /* the source's facts when they were read */
    uint64_t since;             /* turns_now() before the source's notes were read */
    struct turn turn; /* the source's turn, taken if the source was overwritten meanwhile */
};

static void finish(struct block_copy *c, struct replied *done)
{
    turn_finish(c->r, done, &c->turn);
}

static void fail(struct block_copy *c, const struct err *e)
{
    finish(c, reply_err(c->r, e));
}

/* If the source's bytes and row may be of two versions, waits for its turn to read them again:
 * true. False: they are of one version. */
static bool look_in_turn(struct block_copy *c, const struct file_facts *f)
{
    if (c->turn.is_held || !source_is_torn(c->r, &c->from, f, c->since))
        return false;
    if (c->upload)
        upload_end(c->upload);
    c->upload = NULL;
    turn_want(azstorage_of(c->r)->turns, &c->turn);
    return true;
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
    struct err e;
    if (why) {
        fail_with(c, why, f->fault);
        return;
    }
    if (uncommitted_note(c->r, &e) < 0) {
        fail(c, &e);
        return;
    }
    crc64_reply(c->r, f->crc64);
    reply_header_text(c->r, "x-ms-request-server-encrypted", "true");
    finish(c, reply_empty(c->r, 201));
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct block_copy *c = ctx;
    struct err e;
    bool same = !why && item_same_file(&f->facts, &c->source);
    if (!same && look_in_turn(c, why ? NULL : &f->facts))
        return;
    if (why)
        fail_with(c, why, f->fault);
    else if (plane_share(c->r, &e) < 0) /* its container was deleted meanwhile */
        fail(c, &e);
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
    if (look_in_turn(c, why ? NULL : &f->facts))
        return;
    if (why || f->facts.is_directory) {
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
        fail(c, &e);
        return;
    }
    c->source = f->facts;
    const struct file_facts facts = c->from.is_snapshot ? item_facts(&c->from.item) : f->facts;
    if (source_check_conditions(c->r, &c->from, &facts, &e) < 0 ||
        source_check_online(c->r, &c->from, &facts, &e) < 0 ||
        source_cut(&c->part.range, facts.size, &e) < 0)
        fail(c, &e);
    else
        files_upload(azstorage_of(c->r)->files, &c->to, on_opened, c);
}

static int check_body(struct request *r, struct err *e)
{
    if (request_has_body(r))
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "A block that comes from a URL has no body, so Content-Length must be 0.");
    return 0;
}

static size_t take(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes; /* the request has no body */
    return n;
}

static void on_turn(void *ctx)
{
    struct block_copy *c = ctx;
    struct err e;
    if (source_of(c->r, "x-ms-copy-source", "r", &c->from, &e) < 0 ||
        source_range(c->r, &c->part.range, &e) < 0) {
        fail(c, &e);
        return;
    }
    c->part.path = c->from.path;
    const struct file_place from = {c->from.folder, c->from.path};
    files_facts(azstorage_of(c->r)->files, &from, on_source, c);
}

static void look_at_source(struct block_copy *c)
{
    const struct file_place from = {c->from.folder, c->from.path};
    files_facts(azstorage_of(c->r)->files, &from, on_source, c);
}

static void on_blob(void *ctx, const struct err *why, const struct file_result *f)
{
    struct block_copy *c = ctx;
    struct err e;
    if (why && why->code == ERR_UNAVAILABLE)
        fail_with(c, why, f->fault);
    else if (!why && !f->facts.is_directory && block_check(c->r, c->blob, &f->facts, &e) < 0)
        fail(c, &e);
    else
        look_at_source(c);
}

static void begin(void *ctx)
{
    struct block_copy *c = ctx;
    c->turn =
        (struct turn){.share_id = c->from.share.id, .path = c->from.name, .go = on_turn, .ctx = c};
    if (c->blob)
        files_facts(azstorage_of(c->r)->files, &c->blob->at, on_blob, c);
    else
        look_at_source(c);
}

static void release(void *ctx)
{
    struct block_copy *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

struct replied *azblock_copy(struct request *r, const struct blob *blob,
                             const struct files_upload *to)
{
    struct err e;
    struct block_copy *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct block_copy){
        .r = r, .blob = blob, .to = *to, .since = turns_now(azstorage_of(r)->turns)};
    c->to.wants_crc64 = true;
    if (check_body(r, &e) < 0 || source_of(r, "x-ms-copy-source", "r", &c->from, &e) < 0 ||
        source_range(r, &c->part.range, &e) < 0)
        return reply_err(r, &e);
    c->part.path = c->from.path;
    const struct body_sink sink = {.take = take, .end = begin, .release = release, .ctx = c};
    return request_stream(r, &sink);
}
