/* SPDX-License-Identifier: MIT
 *
 * Puts new files in their places, where they may replace existing files:
 *
 *   turn -> looked -> ready: the caller makes an upload -> staged -> noted, with the intent
 *        -> durable -> placed -> done
 *
 * storage/shares/journal.h explains this order. If the data need not survive the daemon
 * (--ephemeral), the file is placed first, and then the row is written.
 */
#include <string.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/plane_shares.h"
#include "storage/folders/upload.h"
#include "storage/storage.h"

static void placing_gone(void *ctx)
{
    struct azplacing *p = ctx;
    if (p->upload)
        upload_end(p->upload);
}

void azplacing_finish(struct azplacing *p, struct replied *done)
{
    turn_finish(p->r, done, &p->turn);
}

void azplacing_fail(struct azplacing *p, const struct err *e)
{
    azplacing_finish(p, reply_err(p->r, e));
}

static void fail_with(struct azplacing *p, const struct err *why, enum file_fault fault)
{
    struct err e;
    azfile_fault_of_new(p->r, why, fault, &e);
    azplacing_fail(p, &e);
}

/* --- its turn --------------------------------------------------------------------------------- */

static void on_looked(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azplacing *p = ctx;
    struct err e;
    if (why && f->fault != FILE_MISSING) {
        fail_with(p, why, f->fault);
        return;
    }
    if (!why && f->facts.is_directory) { /* before the directory's row is changed */
        fail_with(p, &(struct err){.code = ERR_IO}, FILE_IS_DIRECTORY);
        return;
    }
    p->was_there = !why;
    p->there = f->facts;
    int rc = item_load(p->r, p->at.path, &p->was, &e);
    p->item = p->was;
    if (!p->was_there)
        azfile_without_lease(&p->item);
    if (rc < 0 || azfile_may(p->r, &p->item, true, &e) < 0) {
        azplacing_fail(p, &e);
        return;
    }
    item_revise(p->r, &p->item);
    p->item.created_us = p->r->now_us;
    p->item.type = BLOB_NONE;
    p->ready(p);
}

static void on_turn(void *ctx)
{
    struct azplacing *p = ctx;
    const struct file_place place = {p->at.folder, p->at.path};
    files_facts(azstorage_of(p->r)->files, &place, on_looked, p);
}

struct replied *azplacing_begin(struct azplacing *p, struct request *r)
{
    struct replied *token = reply_later(r);
    p->r = r;
    request_keep(r, p, placing_gone);
    azplacing_again(p);
    return token;
}

void azplacing_leave(struct azplacing *p)
{
    if (p->upload)
        upload_end(p->upload);
    p->upload = NULL;
    turn_end(azstorage_of(p->r)->turns, &p->turn);
}

void azplacing_again(struct azplacing *p)
{
    p->mtime_ns = FILES_TIME_KEPT;
    p->turn = (struct turn){
        .share_id = grant_of(p->r)->share.id, .path = p->at.path, .go = on_turn, .ctx = p};
    turn_want(azstorage_of(p->r)->turns, &p->turn);
}

/* --- its file --------------------------------------------------------------------------------- */

static void on_begun(void *ctx, const struct err *why, enum file_fault fault,
                     struct file_upload *upload)
{
    struct azplacing *p = ctx;
    p->upload = upload;
    if (why)
        fail_with(p, why, fault);
    else
        p->begun(p);
}

void azplacing_upload(struct azplacing *p, uint64_t size, void (*begun)(struct azplacing *p))
{
    const struct files_upload to = {.at = {p->at.folder, p->at.path},
                                    .beside = azstorage_of(p->r)->storage_dir,
                                    .mode = 0666,
                                    .directory_mode = 0777,
                                    .in_there = true,
                                    .is_new = !grant_has(grant_of(p->r), 'w'),
                                    .zeros = size,
                                    .has_time = p->mtime_ns != FILES_TIME_KEPT,
                                    .mtime_ns = p->mtime_ns};
    p->begun = begun;
    files_upload(azstorage_of(p->r)->files, &to, on_begun, p);
}

/* --- the notes of the file -------------------------------------------------------------------- */

static void fill(struct azplacing *p, const struct file_facts *f)
{
    p->item.properties = p->properties;
    smb_changed(p->r, &p->item.properties, f);
    item_set_file(&p->item, f);
    if (p->fill)
        p->fill(p, f);
    p->is_noted = p->item.metadata || p->item.properties || p->item.md5 || p->item.copy ||
                  p->item.lease_state != LEASE_AVAILABLE;
}

static int write_row(struct azplacing *p, bool is_noted, const struct share_item *i, struct err *e)
{
    struct storage *st = azstorage_of(p->r)->storage;
    return is_noted ? st_item_put(st, i, e) : st_item_remove(st, p->was.share_id, p->was.path, e);
}

static int note(struct azplacing *p, struct err *e)
{
    return write_row(p, p->is_noted, &p->item, e);
}

static int unnote(struct azplacing *p, struct err *e)
{
    return write_row(p, p->was.id > 0, &p->was, e);
}

static int guard(struct azplacing *p, struct err *e)
{
    struct item_change c = {.kind = CHANGE_REPLACES,
                            .now_inode = p->item.inode,
                            .now_mtime_ns = p->item.mtime_ns,
                            .was_there = p->was_there,
                            .was_noted = p->was.id > 0,
                            .was = p->was};
    if (c.was_there) {
        c.was_inode = (int64_t)p->there.inode;
        c.was_size = (int64_t)p->there.size;
        c.was_mtime_ns = p->there.mtime_ns;
    }
    return journal_guard(azstorage_of(p->r)->journal, &c, &p->entry, e);
}

/* Placing has changed the file, so a row with a given time of change is written again for the
 * present change. */
static int note_change(struct azplacing *p, const struct file_facts *f, struct err *e)
{
    const char *noted = p->item.properties;
    fill(p, f);
    return !noted || strcmp(noted, p->item.properties) == 0 ? 0 : note(p, e);
}

/* --- into its place --------------------------------------------------------------------------- */

static void on_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azplacing *p = ctx;
    struct err e;
    if (why && journal_may_happen(azstorage_of(p->r)->journal, why)) {
        fail_with(p, why, f->fault);
        return;
    }
    int rc = why ? unnote(p, &e) : note_change(p, &f->facts, &e);
    if (rc == 0)
        journal_ended(azstorage_of(p->r)->journal, &p->entry);
    if (rc < 0)
        azplacing_fail(p, &e);
    else if (why)
        fail_with(p, why, f->fault);
    else
        p->done(p, &f->facts);
}

static void on_guarded(void *ctx, const struct err *why)
{
    struct azplacing *p = ctx;
    if (why) /* nothing was written */
        azplacing_fail(p, why);
    else
        upload_finish(p->upload, NULL, on_placed, p);
}

static void on_staged(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azplacing *p = ctx;
    struct err e, ignored;
    if (why) {
        fail_with(p, why, f->fault);
        return;
    }
    fill(p, &f->facts);
    if (note(p, &e) < 0 || guard(p, &e) < 0) {
        (void)!unnote(p, &ignored); /* the first error is reported */
        azplacing_fail(p, &e);
    } else {
        journal_when_guarded(azstorage_of(p->r)->journal, on_guarded, p);
    }
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azplacing *p = ctx;
    struct err e;
    if (why) {
        fail_with(p, why, f->fault);
        return;
    }
    fill(p, &f->facts);
    if (note(p, &e) < 0)
        azplacing_fail(p, &e);
    else
        p->done(p, &f->facts);
}

void azplacing_place(struct azplacing *p)
{
    struct err e;
    if (plane_share(p->r, &e) < 0) /* the share was deleted meanwhile */
        azplacing_fail(p, &e);
    else if (journal_guards(azstorage_of(p->r)->journal))
        upload_stage(p->upload, NULL, on_staged, p);
    else
        upload_finish(p->upload, NULL, on_finished, p);
}
