/* SPDX-License-Identifier: MIT
 *
 * Directories of shares.
 */
#include "api/plane/file/handlers.h"
#include "storage/storage.h"

static struct replied *created(struct azfile_change *c, const struct err *why,
                               const struct file_result *f)
{
    struct request *r = c->r;
    struct err e;
    if (why) {
        azfile_fault(why, f->fault, &e);
        if (f->fault == FILE_IS_DIRECTORY)
            err_set(&e, AZSTORAGE_EXISTS, NULL, "The specified resource already exists.");
        return reply_err(r, &e);
    }
    struct storage *st = azstorage_of(r)->storage;
    smb_changed(r, &c->item.properties, &f->facts);
    int rc = c->item.metadata || c->item.properties
                 ? st_item_put(st, &c->item, &e)
                 : st_item_remove(st, c->item.share_id, c->item.path, &e);
    if (rc < 0)
        return reply_err(r, &e);
    static const struct share_item nothing;
    bool noted = c->item.metadata || c->item.properties;
    azfile_state(r, &f->facts, noted ? &c->item : &nothing);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    return reply_empty(r, 201);
}

static void on_created(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    azfile_finish(c, created(c, why, f));
}

static void on_made(void *ctx, const struct err *why, const struct file_result *f)
{
    azfile_made(ctx, why, f, on_created);
}

/* Called in the turn of the path, so that no other request removes a directory of this name and its
 * rows at the same time. */
static void on_turn(void *ctx)
{
    struct azfile_change *c = ctx;
    const struct file_place place = {c->at.folder, c->at.path};
    files_make_directory(azstorage_of(c->r)->files, &place, 0777, on_made, c);
}

struct replied *azdirectory_create(struct request *r)
{
    struct azfile at;
    struct err e;
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    struct azfile_change *c = azfile_change(r, &at);
    c->item = (struct share_item){.share_id = grant_of(r)->share.id,
                                  .path = at.path,
                                  .lease_state = LEASE_AVAILABLE,
                                  .created_us = r->now_us};
    if (metadata_read(r, &c->item.metadata, &e) < 0 ||
        smb_read(r, NULL, NULL, &c->item.properties, &c->mtime_ns, &e) < 0)
        return reply_err(r, &e);
    struct replied *token = reply_later(r);
    c->turn =
        (struct turn){.share_id = c->item.share_id, .path = c->at.path, .go = on_turn, .ctx = c};
    turn_want(azstorage_of(r)->turns, &c->turn);
    return token;
}

static void show(struct azfile_change *c)
{
    struct request *r = c->r;
    azfile_state(r, &c->facts, &c->item);
    metadata_reply(r, c->item.metadata);
    reply_header_text(r, "x-ms-server-encrypted", "true");
    azfile_finish(c, reply_empty(r, 200));
}

struct replied *azdirectory_get(struct request *r)
{
    return azfile_look(r, true, show);
}
