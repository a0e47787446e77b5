/* SPDX-License-Identifier: MIT
 *
 * Files that are made of others: copied, or renamed. A copy is done when it is answered, and takes
 * the file's place at once.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azfiles/handlers.h"
#include "api/azstorage/leases.h"
#include "files/upload.h"
#include "lib/guid.h"
#include "storage/storage.h"

struct copy {
    struct request *r;
    struct azfile at;
    struct source from;
    struct share_item item; /* what was noted at the place, then what is to be noted */
    struct file_upload *upload;
    bool replaces, is_directory; /* of a rename */
};

static void fail(struct copy *c, const struct err *e)
{
    request_finish(c->r, reply_err(c->r, e));
}

static void fail_with(struct copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    azfile_fault(why, fault, &e);
    fail(c, &e);
}

/* What went wrong with the source. */
static void fail_source(struct copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    azfile_fault(why, fault, &e);
    if (fault == FILE_MISSING || fault == FILE_PARENT_MISSING || fault == FILE_IS_DIRECTORY)
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
    fail(c, &e);
}

static void copy_gone(void *ctx)
{
    struct copy *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

static struct copy *copy_new(struct request *r, const char *header, const char *needed,
                             struct err *e)
{
    struct copy *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct copy){.r = r};
    if (azfile_of(r, &c->at, e) < 0 || item_load(r, c->at.path, &c->item, e) < 0 ||
        source_of(r, header, needed, &c->from, e) < 0)
        return NULL;
    return c;
}

/* --- copies --------------------------------------------------------------------------------- */

static int note_copy(struct copy *c, const struct file_facts *f, const char *id, struct err *e)
{
    struct request *r = c->r;
    const char *given;
    const struct share_item *from = &c->from.item;
    if (metadata_read(r, &given, e) < 0)
        return -1;
    c->item.metadata = given ? given : from->metadata;
    c->item.properties = from->properties;
    c->item.md5 = from->md5;
    c->item.type = BLOB_NONE;
    c->item.copy = copy_text(r, id, f->size);
    c->item.created_us = r->now_us;
    item_set_file(&c->item, f);
    return azfile_note(r, &c->item, e);
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct request *r = c->r;
    char id[GUID_SIZE];
    struct err e;
    if (why) {
        azfile_fault_of_new(r, why, f->fault, &e);
        fail(c, &e);
        return;
    }
    request_guid(r, id);
    if (note_copy(c, &f->facts, id, &e) < 0) {
        fail(c, &e);
        return;
    }
    reply_state(r, item_etag(&f->facts, &c->item), f->facts.mtime_us);
    reply_header(r, "x-ms-copy-id", "%s", id);
    reply_header_text(r, "x-ms-copy-status", "success");
    request_finish(r, reply_empty(r, 202));
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    if (why)
        fail_source(c, why, f->fault);
    else
        upload_finish(c->upload, NULL, on_finished, c);
}

static void on_begun(void *ctx, const struct err *why, enum file_fault fault,
                     struct file_upload *upload)
{
    struct copy *c = ctx;
    const struct file_part all = {c->from.path, {0, FILES_ALL}};
    c->upload = upload;
    if (why)
        fail_with(c, why, fault);
    else
        upload_copy(upload, c->from.folder, &all, 1, on_copied, c);
}

/* The directory must be there: a copy makes none. */
static void on_looked(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    const struct files_upload to = {.at = {c->at.folder, c->at.path},
                                    .beside = azstorage_of(c->r)->storage_dir,
                                    .mode = 0666,
                                    .directory_mode = 0777,
                                    .is_new = !grant_has(grant_of(c->r), 'w')};
    if (why && f->fault != FILE_MISSING)
        fail_with(c, why, f->fault);
    else
        files_upload(azstorage_of(c->r)->files, &to, on_begun, c);
}

struct replied *azfile_copy(struct request *r)
{
    struct err e;
    struct copy *c = copy_new(r, "x-ms-copy-source", "r", &e);
    if (!c || azfile_may(r, &c->item, true, &e) < 0)
        return reply_err(r, &e);
    request_keep(r, c, copy_gone);
    const struct file_place place = {c->at.folder, c->at.path};
    files_facts(azstorage_of(r)->files, &place, on_looked, c);
    return reply_later(r);
}

/* A copy has ended before its id is known. */
struct replied *azfile_copy_abort(struct request *r)
{
    struct err e;
    struct azfile at;
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    err_set(&e, AZSTORAGE_NO_COPY, NULL, "There is currently no pending copy operation.");
    return reply_err(r, &e);
}

/* --- renames -------------------------------------------------------------------------------- */

static void on_renamed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct request *r = c->r;
    struct storage *st = azstorage_of(r)->storage;
    struct err e;
    if (why && f->fault == FILE_IS_FILE && !c->replaces) {
        err_set(&e, AZSTORAGE_EXISTS, NULL, "The specified resource already exists.");
        fail(c, &e);
        return;
    }
    if (why) {
        fail_with(c, why, f->fault);
        return;
    }
    if (st_item_remove_tree(st, c->from.share.id, c->at.path, &e) < 0 ||
        st_item_move_tree(st, c->from.share.id, c->from.path, c->at.path, &e) < 0 ||
        item_load(r, c->at.path, &c->item, &e) < 0) {
        fail(c, &e);
        return;
    }
    request_finish(r, azfile_changed(r, 200, &f->facts, &c->item));
}

static void rename_it(struct copy *c)
{
    const struct files_rename what = {
        .at = {c->at.folder, c->from.path}, .to = c->at.path, .replaces = c->replaces};
    files_rename(azstorage_of(c->r)->files, &what, on_renamed, c);
}

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copy *c = ctx;
    struct err e;
    if (why) {
        fail_with(c, why, f->fault);
    } else if (f->facts.is_directory != c->is_directory) {
        err_set(&e, AZSTORAGE_NOT_FOUND, NULL, "The specified resource does not exist.");
        fail(c, &e);
    } else {
        rename_it(c);
    }
}

static int may_rename(struct copy *c, struct err *e)
{
    struct request *r = c->r;
    if (c->from.share.id != grant_of(r)->share.id)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-file-rename-source",
                       "A file can be renamed within its share only.");
    const struct lease from = lease_of_item(&c->from.item), to = lease_of_item(&c->item);
    if (lease_check_by(r, "x-ms-source-lease-id", &from, true, &azfile_leased, e) < 0)
        return -1;
    return lease_check_by(r, "x-ms-destination-lease-id", &to, true, &azfile_leased, e);
}

static struct replied *begin_rename(struct request *r, bool is_directory)
{
    struct err e;
    struct copy *c = copy_new(r, "x-ms-file-rename-source", "d", &e);
    const char *replace = request_header(r, "x-ms-file-rename-replace-if-exists");
    if (!c || may_rename(c, &e) < 0)
        return reply_err(r, &e);
    c->is_directory = is_directory;
    c->replaces = replace && strcasecmp(replace, "true") == 0;
    const struct file_place place = {c->at.folder, c->from.path};
    files_facts(azstorage_of(r)->files, &place, on_source, c);
    return reply_later(r);
}

struct replied *azfile_rename(struct request *r)
{
    return begin_rename(r, false);
}

struct replied *azdirectory_rename(struct request *r)
{
    return begin_rename(r, true);
}
