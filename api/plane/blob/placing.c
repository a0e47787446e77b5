/* SPDX-License-Identifier: MIT
 *
 * Replaces a blob by a new version whose bytes are in a file that is not in its place yet:
 *
 * staged -> noted, with the intent -> durable -> placed -> done
 *
 * storage/shares/journal.h explains this order. If the data need not survive the daemon
 * (--ephemeral), the file is placed first, and then the row is written.
 */
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/plane_shares.h"
#include "storage/storage.h"

/* Ends with an error that is not about the file. */
static void fail(struct placing *p, const struct err *why)
{
    const struct file_result failed = {.fault = FILE_FINE};
    p->done(p->ctx, why, &failed);
}

static void fill(struct placing *p, const struct file_result *f)
{
    p->item->aside = p->blob->aside ? p->blob->at.path : NULL;
    item_set_file(p->item, &f->facts);
    if (p->fill)
        p->fill(p->ctx, f);
}

/* Ends. Ignores a failure, because the new version is complete without the removal of the
 * blocks. */
static void on_blocks_removed(void *ctx, const struct err *why)
{
    struct placing *p = ctx;
    (void)why;
    p->done(p->ctx, NULL, &p->placed);
}

static void forget_old(struct placing *p, const struct file_result *f)
{
    blob_forget_old(p->r, p->blob, p->item);
    if (!blocks_outlive(&p->blob->item, p->item)) {
        p->done(p->ctx, NULL, f);
        return;
    }
    p->placed = *f;
    blocks_remove(p->r, on_blocks_removed, p);
}

static void begin(struct placing *p);

/* The file could not be put in its place. If another blob has made a directory or a file there
 * meanwhile, puts the file into the hidden folder. */
static void not_placed(struct placing *p, const struct err *why, const struct file_result *f)
{
    bool is_taken = f->fault == FILE_IS_DIRECTORY || f->fault == FILE_PARENT_MISSING;
    struct err e;
    if (is_taken && !p->staged && !p->blob->aside) {
        blob_aside(p->r, p->blob);
        begin(p);
    } else if (f->fault == FILE_LEADS_OUT && (p->blob->aside || p->leaves_aside)) {
        err_set(&e, ERR_UNAVAILABLE, NULL,
                "Another request has just put a different blob in the place of this blob's file. "
                "Send the request again.");
        fail(p, &e);
    } else {
        p->done(p->ctx, why, f);
    }
}

static void on_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct placing *p = ctx;
    struct journal *j = azstorage_of(p->r)->journal;
    struct err e;
    if (why && journal_may_happen(j, why)) {
        p->done(p->ctx, why, f);
    } else if (why && blob_unnote(p->r, p->blob, p->item, &e) < 0) {
        fail(p, &e);
    } else if (why) {
        journal_ended(j, &p->entry);
        not_placed(p, why, f);
    } else {
        journal_ended(j, &p->entry);
        forget_old(p, f);
    }
}

static void on_guarded(void *ctx, const struct err *why)
{
    struct placing *p = ctx;
    if (why) /* nothing was written */
        fail(p, why);
    else
        upload_finish(p->upload, NULL, on_placed, p);
}

/* Whether the new version has its file at another place than the old version: at a new name in the
 * hidden folder. */
static bool is_moved(const struct placing *p)
{
    const char *was = p->blob->item.aside, *is = p->item->aside;
    return is && (!was || strcmp(was, is) != 0);
}

static int guard(struct placing *p, struct err *e)
{
    struct item_change c = {.kind = CHANGE_REPLACES,
                            .place = p->item->aside,
                            .now_inode = p->item->inode,
                            .now_mtime_ns = p->item->mtime_ns,
                            .was_there = p->was && !is_moved(p),
                            .was_noted = p->blob->item.id > 0,
                            .was = p->blob->item};
    c.was.share_id = p->item->share_id;
    c.was.path = p->item->path;
    if (c.was_there) {
        c.was_inode = (int64_t)p->was->inode;
        c.was_size = (int64_t)p->was->size;
        c.was_mtime_ns = p->was->mtime_ns;
    }
    return journal_guard(azstorage_of(p->r)->journal, &c, &p->entry, e);
}

static void note(struct placing *p, const struct file_result *f)
{
    struct err e, ignored;
    fill(p, f);
    if (blob_note(p->r, p->blob, p->item, &e) < 0 || guard(p, &e) < 0) {
        (void)!blob_unnote(p->r, p->blob, p->item, &ignored); /* the first error is reported */
        fail(p, &e);
    } else {
        journal_when_guarded(azstorage_of(p->r)->journal, on_guarded, p);
    }
}

static void on_staged(void *ctx, const struct err *why, const struct file_result *f)
{
    struct placing *p = ctx;
    if (why)
        p->done(p->ctx, why, f);
    else
        note(p, f);
}

/* Without a journal: the file is in its place, but its row is not written yet. */
static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct placing *p = ctx;
    struct err e;
    if (why) {
        not_placed(p, why, f);
        return;
    }
    fill(p, f);
    if (blob_note(p->r, p->blob, p->item, &e) < 0) {
        fail(p, &e);
        return;
    }
    forget_old(p, f);
}

static void begin(struct placing *p)
{
    if (!p->staged) /* the upload may have been opened for another place */
        upload_move(p->upload, &p->blob->at);
    if (!journal_guards(azstorage_of(p->r)->journal))
        upload_finish(p->upload, p->staged ? NULL : p->md5, on_finished, p);
    else if (p->staged)
        note(p, p->staged);
    else
        upload_stage(p->upload, p->md5, on_staged, p);
}

void blob_place(struct placing *p)
{
    struct err e;
    if (plane_share(p->r, &e) < 0) { /* its container was deleted meanwhile */
        fail(p, &e);
        return;
    }
    if (p->was) {
        p->before = *p->was;
        p->was = &p->before;
    }
    begin(p);
}
