/* SPDX-License-Identifier: MIT
 *
 * Snapshots of blobs: creation, and deletion with or without their blob. A snapshot's bytes are in
 * a file of the hidden folder, which shares disk blocks with the blob's file if the file system
 * supports that. The snapshot also has its own row, a copy of the blob's row at that instant.
 * Overwriting a blob keeps its snapshots.
 *
 * turn -> look -> opened -> copied -> finished -> noted -> 201
 *
 * https://learn.microsoft.com/rest/api/storageservices/snapshot-blob
 */
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "storage/storage.h"

#define LIST_STEP 1000 /* snapshots of a blob that are read at a time */

static void refuse(struct blob_work *w, const struct err *e)
{
    blob_finish(w, reply_err(w->r, e));
}

static void refuse_with(struct blob_work *w, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    refuse(w, &e);
}

/* --- taken ---------------------------------------------------------------------------------- */

struct taking {
    struct blob_work *w;
    struct blob_snapshot row;
    struct file_upload *upload; /* owned */
};

static void taking_free(void *ctx)
{
    struct taking *t = ctx;
    if (t->upload)
        upload_end(t->upload);
}

/* Chooses an instant that no other snapshot of the blob has, because the instant is the snapshot's
 * name. */
static int choose_instant(struct request *r, struct blob_snapshot *row, struct err *e)
{
    int64_t last = 0;
    int rc =
        st_snapshot_newest(azstorage_of(r)->storage, row->item.share_id, row->item.path, &last, e);
    row->taken_us = rc > 0 && last >= r->now_us ? last + 1 : r->now_us;
    return rc < 0 ? -1 : 0;
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct taking *t = ctx;
    struct request *r = t->w->r;
    struct err e;
    char when[ITEM_TIME_SIZE];
    if (why) {
        refuse_with(t->w, why, f->fault);
        return;
    }
    if (choose_instant(r, &t->row, &e) < 0 ||
        st_snapshot_put(azstorage_of(r)->storage, &t->row, &e) < 0) {
        blob_forget(r, t->row.item.aside);
        refuse(t->w, &e);
        return;
    }
    const struct file_facts facts = item_facts(&t->row.item);
    item_time(t->row.taken_us * 1000, when);
    blob_state(r, &facts, &t->row.item);
    reply_header(r, "x-ms-snapshot", "%s", when);
    reply_header_text(r, "x-ms-request-server-encrypted",
                      t->row.item.metadata == t->w->item.metadata ? "false" : "true");
    blob_finish(t->w, reply_empty(r, 201));
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct taking *t = ctx;
    if (why) {
        refuse_with(t->w, why, f->fault);
        return;
    }
    item_follow_file(&t->row.item, &f->facts);
    upload_finish(t->upload, NULL, on_finished, t);
}

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct taking *t = ctx;
    const struct file_place *at = &t->w->blob.at;
    const struct file_part all = {at->path, {0, FILES_ALL}};
    t->upload = upload;
    if (why)
        refuse_with(t->w, why, fault);
    else
        upload_copy(upload, at->share, &all, 1, on_copied, t);
}

static void take(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    const char *given;
    struct taking *t = arena_alloc(&r->arena, sizeof *t);
    *t = (struct taking){.w = w, .row = {.item = w->item}};
    struct share_item *i = &t->row.item;
    if (metadata_read(r, &given, &e) < 0) {
        refuse(w, &e);
        return;
    }
    if (given) {
        i->metadata = given;
        i->revision++; /* so that the snapshot's ETag differs from the blob's */
    }
    i->type = blob_type_of(i);
    i->created_us = i->created_us ? i->created_us : f->mtime_us;
    i->aside = blob_aside_name(r);
    request_keep(r, t, taking_free);
    const struct files_upload what = {
        .at = {blob_account_folder(r), i->aside}, .mode = 0666, .directory_mode = 0777};
    files_upload(azstorage_of(r)->files, &what, on_opened, t);
}

struct replied *azblob_snapshot(struct request *r)
{
    return blob_change(r, take);
}

/* --- deleted -------------------------------------------------------------------------------- */

enum with_snapshots { NONE_THERE, INCLUDED, THEM_ALONE };

static int read_kind(struct request *r, enum with_snapshots *out, struct err *e)
{
    static const char name[] = "x-ms-delete-snapshots";
    const char *text = request_header(r, name);
    *out = !text ? NONE_THERE : strcasecmp(text, "include") == 0 ? INCLUDED : THEM_ALONE;
    bool good = *out != THEM_ALONE || strcasecmp(text, "only") == 0;
    if (good && !(text && request_query(r, "snapshot")))
        return 0;
    return err_set(e, AZSTORAGE_HEADER, name,
                   "The value for one of the HTTP headers is not in the correct format: %s is "
                   "'%.40s'; it must be include or only, and is for blobs, not for a snapshot.",
                   name, text);
}

static int list(struct blob_work *w, struct blob_snapshot_rows *rows, struct err *e)
{
    struct request *r = w->r;
    const char *path = w->blob.name;
    return st_snapshot_list(azstorage_of(r)->storage, &r->arena, w->item.share_id, -1,
                            &(struct st_paths){.from = path,
                                               .to = arena_concat(&r->arena, path, "\x01"),
                                               .limit = LIST_STEP},
                            rows, e);
}

/* Removes all snapshots of the blob. */
static int remove_snapshots(struct blob_work *w, struct err *e)
{
    struct blob_snapshot_rows rows;
    do {
        if (list(w, &rows, e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++) {
            if (st_snapshot_remove(azstorage_of(w->r)->storage, w->item.share_id, w->item.path,
                                   rows.items[i].taken_us, e) < 0)
                return -1;
            blob_forget(w->r, rows.items[i].item.aside);
        }
    } while (rows.n == LIST_STEP);
    return 0;
}

static void removed(struct blob_work *w)
{
    reply_header_text(w->r, "x-ms-delete-type-permanent", "true");
    blob_finish(w, reply_empty(w->r, 202));
}

/* The deletion of a blob with its snapshots. Order: the row, together with the intent
 * (storage/shares/journal.h); the file; the snapshots; the uncommitted blocks. A restarted daemon
 * completes it. The blocks are last: when the blob's row is gone, blocks that the blob had replaced
 * would count again. */
struct snapshot_removal {
    struct blob_work *w;
    struct file_facts facts; /* facts of the blob's file */
    struct journal_entry entry;
    bool is_guarded;
};

/* The file could not be removed, so the blob's row is restored. */
static void not_removed(struct snapshot_removal *x, const struct err *why, enum file_fault fault)
{
    struct blob_work *w = x->w;
    struct err e;
    blob_fault(why, fault, &e);
    if (x->is_guarded && !journal_may_happen(azstorage_of(w->r)->journal, why)) {
        struct err failed;
        if (blob_unnote(w->r, &w->blob, &w->item, &failed) < 0)
            e = failed;
        else
            journal_ended(azstorage_of(w->r)->journal, &x->entry);
    }
    refuse(w, &e);
}

/* Ends. Ignores a failure, after which another blob of this name would have these blocks. */
static void on_blocks_removed(void *ctx, const struct err *why)
{
    (void)why;
    removed(ctx);
}

/* The snapshots' rows are removed. If this was lost with the daemon, the intent still exists, and
 * the next start removes the snapshots. */
static void on_snapshots_removed(void *ctx, const struct err *why)
{
    struct blob_work *w = ctx;
    if (why)
        refuse(w, why);
    else
        blocks_remove(w->r, on_blocks_removed, w);
}

static void on_removed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct snapshot_removal *x = ctx;
    struct blob_work *w = x->w;
    struct err e;
    if (why) {
        not_removed(x, why, f->fault);
        return;
    }
    if (remove_snapshots(w, &e) < 0 ||
        (!x->is_guarded &&
         st_item_remove(azstorage_of(w->r)->storage, w->item.share_id, w->item.path, &e) < 0)) {
        refuse(w, &e);
        return;
    }
    if (x->is_guarded)
        journal_ended(azstorage_of(w->r)->journal, &x->entry);
    journal_when_guarded(azstorage_of(w->r)->journal, on_snapshots_removed, w);
}

static void on_guarded(void *ctx, const struct err *why)
{
    struct snapshot_removal *x = ctx;
    struct blob_work *w = x->w;
    if (why)
        refuse(w, why);
    else
        files_remove_file(azstorage_of(w->r)->files, &w->blob.at, on_removed, x);
}

static int guard(struct snapshot_removal *x, struct err *e)
{
    struct blob_work *w = x->w;
    const struct item_change c = {.kind = CHANGE_REMOVES,
                                  .place = w->item.aside,
                                  .was_there = true,
                                  .was_inode = (int64_t)x->facts.inode,
                                  .was_size = (int64_t)x->facts.size,
                                  .was_mtime_ns = x->facts.mtime_ns,
                                  .was_noted = w->item.id > 0,
                                  .was = w->item};
    return st_item_remove(azstorage_of(w->r)->storage, w->item.share_id, w->item.path, e) < 0
               ? -1
               : journal_guard(azstorage_of(w->r)->journal, &c, &x->entry, e);
}

static void remove_file(struct blob_work *w, const struct file_facts *f)
{
    const struct azstorage *az = azstorage_of(w->r);
    struct snapshot_removal *x = arena_alloc(&w->r->arena, sizeof *x);
    struct err e, ignored;
    *x = (struct snapshot_removal){.w = w, .facts = *f, .is_guarded = journal_guards(az->journal)};
    if (!x->is_guarded) {
        files_remove_file(az->files, &w->blob.at, on_removed, x);
    } else if (guard(x, &e) < 0) {
        (void)!blob_unnote(w->r, &w->blob, &w->item, &ignored); /* the first error is reported */
        refuse(w, &e);
    } else {
        journal_when_guarded(az->journal, on_guarded, x);
    }
}

static void remove_one(struct blob_work *w)
{
    struct err e;
    if (st_snapshot_remove(azstorage_of(w->r)->storage, w->item.share_id, w->blob.name,
                           w->blob.snapshot_us, &e) < 0) {
        refuse(w, &e);
        return;
    }
    blob_forget(w->r, w->item.aside);
    removed(w);
}

static int check_none(struct blob_work *w, struct err *e)
{
    int64_t newest;
    int rc =
        st_snapshot_newest(azstorage_of(w->r)->storage, w->item.share_id, w->item.path, &newest, e);
    if (rc > 0)
        return err_set(e, AZSTORAGE_BLOB_SNAPSHOTS, NULL,
                       "This operation is not permitted because the blob has snapshots.");
    return rc;
}

static void remove_it(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    enum with_snapshots kind;
    if (read_kind(w->r, &kind, &e) < 0)
        refuse(w, &e);
    else if (w->blob.snapshot_us)
        remove_one(w);
    else if ((kind == NONE_THERE && check_none(w, &e) < 0) ||
             (kind == THEM_ALONE && remove_snapshots(w, &e) < 0))
        refuse(w, &e);
    else if (kind == THEM_ALONE)
        removed(w);
    else
        remove_file(w, f);
}

struct replied *azblob_delete(struct request *r)
{
    return blob_change(r, remove_it);
}

/* --- undeleted ------------------------------------------------------------------------------ */

static void leave_it(struct blob_work *w, const struct file_facts *f)
{
    (void)f;
    blob_finish(w, reply_empty(w->r, 200));
}

/* Undelete: an existing blob stays as it is; a missing blob is not found, because deleted blobs are
 * not kept. */
struct replied *azblob_undelete(struct request *r)
{
    return blob_look(r, leave_it);
}
