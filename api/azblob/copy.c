/* SPDX-License-Identifier: MIT
 *
 * Copies: of blobs and files of this daemon's accounts, by their URLs. A copy is done when it is
 * answered, and takes the blob's place at once.
 * https://learn.microsoft.com/rest/api/storageservices/copy-blob
 */
#include <stdlib.h>
#include <string.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/source.h"
#include "api/azstorage/turns.h"
#include "api/http/body.h"
#include "lib/guid.h"

struct copy {
    struct request *r;
    struct blob blob;
    struct source from;
    struct file_facts source; /* the source's, as it was looked at */
    struct share_item item;   /* what is to be noted */
    struct file_upload *upload;
    struct turn turn;
    bool in_turn;
    int status; /* of the reply when all went well */
};

static void finish(struct copy *c, struct replied *done)
{
    bool in_turn = c->in_turn;
    c->in_turn = false;
    request_finish(c->r, done);
    if (in_turn)
        turn_end(azstorage_of(c->r)->turns, &c->turn);
}

static void fail(struct copy *c, const struct err *e)
{
    finish(c, reply_err(c->r, e));
}

static void fail_with(struct copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    fail(c, &e);
}

static void fail_source(struct copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    if (e.code == AZSTORAGE_BLOB_NOT_FOUND)
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
    fail(c, &e);
}

/* --- noted ---------------------------------------------------------------------------------- */

/* What the request gives stands instead of what the source has. */
static int read_item(struct copy *c, struct err *e)
{
    struct request *r = c->r;
    const struct share_item *from = &c->from.item;
    const char *given, *tier;
    c->item = (struct share_item){.share_id = grant_of(r)->share.id,
                                  .path = c->blob.name,
                                  .type = blob_type_of(from),
                                  .properties = from->properties,
                                  .metadata = from->metadata,
                                  .lease_state = LEASE_AVAILABLE,
                                  .revision = 1,
                                  .created_us = r->now_us};
    if (item_is_of(from, &c->source)) {
        c->item.md5 = from->md5;
        c->item.blocks = from->blocks;
    }
    if (properties_read(r, "x-ms-blob-", false, &given, e) < 0)
        return -1;
    c->item.properties = given ? given : from->properties;
    if (metadata_read(r, &given, e) < 0)
        return -1;
    c->item.metadata = given ? given : from->metadata;
    if (tags_read_header(r, &c->item.tags, e) < 0 || tier_read(r, &tier, e) < 0)
        return -1;
    if (tier)
        tier_set(&r->arena, &c->item, tier);
    return 0;
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct request *r = c->r;
    char id[GUID_SIZE];
    struct err e;
    if (why) {
        fail_with(c, why, f->fault);
        return;
    }
    request_guid(r, id);
    c->item.copy = copy_text(r, id, f->facts.size);
    c->item.aside = c->blob.aside ? c->blob.at.path : NULL;
    item_set_file(&c->item, &f->facts);
    if (blob_note(r, &c->blob, &c->item, &e) < 0) {
        fail(c, &e);
        return;
    }
    blob_state(r, &f->facts, &c->item);
    reply_header(r, "x-ms-copy-id", "%s", id);
    reply_header_text(r, "x-ms-copy-status", "success");
    finish(c, reply_empty(r, c->status));
}

/* --- copied --------------------------------------------------------------------------------- */

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    if (why)
        fail_source(c, why, f->fault);
    else
        upload_finish(c->upload, NULL, on_finished, c);
}

static void open_upload(struct copy *c);

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct copy *c = ctx;
    const struct file_part all = {c->from.path, {0, FILES_ALL}};
    c->upload = upload;
    if (!why) {
        upload_copy(upload, c->from.folder, &all, 1, on_copied, c);
    } else if (!c->blob.aside && (fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME)) {
        blob_aside(c->r, &c->blob);
        open_upload(c);
    } else {
        fail_with(c, why, fault);
    }
}

static void open_upload(struct copy *c)
{
    const struct files_upload what = {.at = c->blob.at,
                                      .mode = 0666,
                                      .directory_mode = 0777,
                                      .is_new = conditions_want_new(c->r)};
    files_upload(azstorage_of(c->r)->files, &what, on_opened, c);
}

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct err e;
    if (why || f->facts.is_directory) {
        fail_source(c, why ? why : &(struct err){.code = ERR_FILE_NOT_FOUND},
                    why ? f->fault : FILE_IS_DIRECTORY);
        return;
    }
    c->source = c->from.is_snapshot ? item_facts(&c->from.item) : f->facts;
    const struct condition_state now = {true, item_etag(&c->source, &c->from.item),
                                        c->source.mtime_us};
    if (conditions_check_source(c->r, &now, &e) < 0 ||
        tags_check(c->r, "x-ms-source-if-tags", &c->from.item, AZSTORAGE_SOURCE_CONDITION, &e) <
            0 ||
        read_item(c, &e) < 0)
        fail(c, &e);
    else
        open_upload(c);
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct request *r = c->r;
    struct err e;
    bool there = !why && !f->facts.is_directory;
    if (why && why->code == ERR_UNAVAILABLE) {
        fail_with(c, why, f->fault);
        return;
    }
    if (!why && !there && !c->blob.aside)
        blob_aside(r, &c->blob); /* a directory has its name */
    if (blob_check(r, &c->blob, there ? &f->facts : NULL, &e) < 0) {
        fail(c, &e);
        return;
    }
    if (there && !grant_has(grant_of(r), 'w')) {
        err_set(&e, AZSTORAGE_PERMISSION, NULL,
                "This request is not authorized to perform this operation using this permission: "
                "the blob is there, and the signature may only create.");
        fail(c, &e);
        return;
    }
    const struct file_place from = {c->from.folder, c->from.path};
    files_facts(azstorage_of(r)->files, &from, on_source, c);
}

static void on_turn(void *ctx)
{
    struct copy *c = ctx;
    struct err e;
    c->in_turn = true;
    if (blob_of(c->r, &c->blob, &e) < 0)
        fail(c, &e);
    else
        files_facts(azstorage_of(c->r)->files, &c->blob.at, on_facts, c);
}

/* --- the request: its body does not matter -------------------------------------------------- */

static size_t take(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes;
    return n;
}

static void begin(void *ctx)
{
    struct copy *c = ctx;
    c->turn = (struct turn){
        .share_id = grant_of(c->r)->share.id, .path = c->blob.name, .go = on_turn, .ctx = c};
    turn_want(azstorage_of(c->r)->turns, &c->turn);
}

static void release(void *ctx)
{
    struct copy *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

struct replied *azblob_copy(struct request *r)
{
    struct err e;
    struct copy *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct copy){.r = r, .status = request_header(r, "x-ms-blob-type") ? 201 : 202};
    if (blob_of(r, &c->blob, &e) < 0 || source_of(r, "x-ms-copy-source", "r", &c->from, &e) < 0)
        return reply_err(r, &e);
    const struct body_sink sink = {.take = take, .end = begin, .release = release, .ctx = c};
    return request_stream(r, &sink);
}

/* A copy has ended before its id is known. */
struct replied *azblob_copy_abort(struct request *r)
{
    struct err e;
    err_set(&e, AZSTORAGE_NO_COPY, NULL, "There is currently no pending copy operation.");
    return reply_err(r, &e);
}
