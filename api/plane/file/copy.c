/* SPDX-License-Identifier: MIT
 *
 * Copies and renames of files. A copy is complete before the reply, and replaces the whole file in
 * one step. A rename holds the turns of both paths (api/plane/storage/write_lock.h).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "lib/container.h"
#include "lib/guid.h"
#include "storage/folders/upload.h"
#include "storage/storage.h"

/* --- copies --------------------------------------------------------------------------------- */

/* How often a copy whose source is changed meanwhile begins again. */
#define TRIES 3

/* If another request changes the source meanwhile, the copy ends its own turn, reads the source's
 * row and facts in the source's turn, and begins again. It never holds both turns, so two files
 * that are copied to each other cannot deadlock. */
struct copying {
    struct azplacing placing; /* must be the first member */
    struct source from;
    struct file_facts source; /* facts of the source */
    bool source_is_known;     /* row and facts were read in the source's turn */
    uint64_t since;           /* turns_now() before the source's row was read */
    int tries;
    struct turn turn; /* the source's turn */
    char id[GUID_SIZE];
};

static struct copying *copying_of(struct azplacing *p)
{
    return CONTAINER_OF(p, struct copying, placing);
}

/* Fails because the source cannot be read. */
static void fail_source(struct copying *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    azfile_fault(why, fault, &e);
    if (fault == FILE_MISSING || fault == FILE_PARENT_MISSING || fault == FILE_IS_DIRECTORY)
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
    azplacing_fail(&c->placing, &e);
}

/* Makes the notes (the row) of the copy: those of the request, or else those of the source. */
static int read_copy(struct copying *c, struct err *e)
{
    struct azplacing *p = &c->placing;
    const struct share_item *of = &c->from.item;
    const struct smb_source from = {&c->source, of};
    const char *metadata = NULL;
    p->properties = of->properties;
    if (metadata_read(p->r, &metadata, e) < 0)
        return -1;
    p->item.metadata = metadata ? metadata : of->metadata;
    p->item.md5 = item_is_of(of, &c->source) ? of->md5 : NULL;
    return smb_read(p->r, NULL, &from, &p->properties, &p->mtime_ns, e);
}

static void say_copy(struct azplacing *p, const struct file_facts *f)
{
    p->item.copy = copy_text(p->r, copying_of(p)->id, f->size);
}

static struct file_place source_place(const struct copying *c)
{
    return (struct file_place){c->from.folder, c->from.path};
}

static bool begin_again(struct copying *c);

/* All bytes are copied; the source's facts of now show whether it was changed meanwhile. */
static void on_looked_again(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copying *c = ctx;
    bool same = c->from.is_snapshot || (!why && item_same_file(&f->facts, &c->source));
    if (!same && begin_again(c))
        return;
    if (!same)
        c->placing.item.md5 = NULL;
    azplacing_place(&c->placing);
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copying *c = ctx;
    const struct file_place from = source_place(c);
    if (why)
        fail_source(c, why, f->fault);
    else
        files_facts(azstorage_of(c->placing.r)->files, &from, on_looked_again, c);
}

static void copy_all(struct azplacing *p)
{
    struct copying *c = copying_of(p);
    const struct file_part all = {c->from.path, {0, FILES_ALL}};
    upload_copy(p->upload, c->from.folder, &all, 1, on_copied, c);
}

/* Stores the facts of the source. False: there is no source file, and the request has failed. */
static bool take_source(struct copying *c, const struct err *why, const struct file_result *f)
{
    if (why || f->facts.is_directory) {
        fail_source(c, why ? why : &(struct err){.code = ERR_FILE_NOT_FOUND},
                    why ? f->fault : FILE_IS_DIRECTORY);
        return false;
    }
    c->source = c->from.is_snapshot ? item_facts(&c->from.item) : f->facts;
    return true;
}

static void copy_it(struct copying *c)
{
    struct err e;
    if (source_check_online(c->placing.r, &c->from, &c->source, &e) < 0 || read_copy(c, &e) < 0)
        azplacing_fail(&c->placing, &e);
    else
        azplacing_upload(&c->placing, 0, copy_all);
}

static void on_source_in_turn(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copying *c = ctx;
    turn_end(azstorage_of(c->placing.r)->turns, &c->turn);
    if (!take_source(c, why, f))
        return;
    c->source_is_known = true;
    azplacing_again(&c->placing);
}

static void on_source_turn(void *ctx)
{
    struct copying *c = ctx;
    struct request *r = c->placing.r;
    struct err e;
    c->since = turns_now(azstorage_of(r)->turns);
    if (source_of(r, "x-ms-copy-source", "r", &c->from, &e) < 0) {
        turn_end(azstorage_of(r)->turns, &c->turn);
        azplacing_fail(&c->placing, &e);
        return;
    }
    const struct file_place from = source_place(c);
    files_facts(azstorage_of(r)->files, &from, on_source_in_turn, c);
}

/* False: no request has changed the source, but perhaps a job; or there were too many tries. */
static bool begin_again(struct copying *c)
{
    struct write_turns *turns = azstorage_of(c->placing.r)->turns;
    if (!turn_was_had(turns, c->from.share.id, c->from.name, c->since) || c->tries == TRIES)
        return false;
    c->tries++;
    azplacing_leave(&c->placing);
    c->turn = (struct turn){
        .share_id = c->from.share.id, .path = c->from.name, .go = on_source_turn, .ctx = c};
    turn_want(turns, &c->turn);
    return true;
}

static void on_copy_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct copying *c = ctx;
    bool hangs = why && why->code == ERR_UNAVAILABLE;
    bool torn = !hangs && source_is_torn(c->placing.r, &c->from, why ? NULL : &f->facts, c->since);
    if (torn && begin_again(c))
        return;
    if (take_source(c, why, f))
        copy_it(c);
}

static void copy(struct azplacing *p)
{
    struct copying *c = copying_of(p);
    const struct file_place from = source_place(c);
    if (c->source_is_known)
        copy_it(c);
    else
        files_facts(azstorage_of(p->r)->files, &from, on_copy_source, c);
}

static void copied(struct azplacing *p, const struct file_facts *f)
{
    struct request *r = p->r;
    reply_state(r, item_etag(f, &p->item), f->mtime_us);
    reply_header(r, "x-ms-copy-id", "%s", copying_of(p)->id);
    reply_header_text(r, "x-ms-copy-status", "success");
    azplacing_finish(p, reply_empty(r, 202));
}

struct replied *azfile_copy(struct request *r)
{
    struct err e;
    struct copying *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct copying){.placing = {.ready = copy, .fill = say_copy, .done = copied},
                          .since = turns_now(azstorage_of(r)->turns)};
    if (azfile_of(r, &c->placing.at, &e) < 0 ||
        source_of(r, "x-ms-copy-source", "r", &c->from, &e) < 0)
        return reply_err(r, &e);
    request_guid(r, c->id);
    return azplacing_begin(&c->placing, r);
}

/* Always fails: a copy has ended before the client gets its id. */
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

struct rename {
    struct request *r;
    struct azfile at;
    struct source from;
    struct file_facts source; /* facts of the source */
    struct share_item item;   /* first the row of the item at the new path, then the row to write */
    const char *properties, *metadata; /* the request's properties and metadata */
    int64_t mtime_ns;                  /* the time to set, or FILES_TIME_KEPT */
    bool replaces, is_directory;
    bool is_there;             /* an item exists at the new path */
    struct file_facts renamed; /* the file at its new place */
    struct err why;            /* it fails */
    /* The turns of both paths; only one if the paths are equal. They are always taken in the same
     * order, so that two renames cannot deadlock. */
    struct turn turn[2];
    int wanted, held;
};

static void rename_finish(struct rename *c, struct replied *done)
{
    request_finish(c->r, done);
    for (int i = c->wanted; i-- > 0;)
        turn_end(azstorage_of(c->r)->turns, &c->turn[i]);
}

static void fail(struct rename *c, const struct err *e)
{
    rename_finish(c, reply_err(c->r, e));
}

static void fail_with(struct rename *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    azfile_fault(why, fault, &e);
    fail(c, &e);
}

/* Reads the request's properties of the file before the rename. */
static int read_renamed(struct rename *c, struct err *e)
{
    struct request *r = c->r;
    const char *type = c->is_directory ? NULL : request_header(r, "x-ms-content-type");
    const char *old = c->from.item.properties;
    c->properties = old;
    if (metadata_read(r, &c->metadata, e) < 0 ||
        smb_read(r, old ? old : "", NULL, &c->properties, &c->mtime_ns, e) < 0)
        return -1;
    if (type)
        c->properties = properties_with_type(&r->arena, c->properties, type);
    return 0;
}

/* Writes the request's notes. The MD5 stays valid, because a new time does not mean new bytes. */
static int note_renamed(struct rename *c, const struct file_facts *f, struct err *e)
{
    struct share_item *i = &c->item;
    if (item_load(c->r, c->at.path, i, e) < 0)
        return -1;
    const char *was = i->properties ? i->properties : "";
    smb_changed(c->r, &c->properties, f);
    bool same = !c->metadata && strcmp(was, c->properties ? c->properties : "") == 0;
    if (same && c->mtime_ns == FILES_TIME_KEPT)
        return 0;
    if (i->md5 && c->mtime_ns != FILES_TIME_KEPT && item_is_of(i, &c->source))
        item_set_file(i, f);
    i->properties = c->properties;
    i->metadata = c->metadata ? c->metadata : i->metadata;
    return azfile_note(c->r, i, e);
}

static void on_rename_timed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct rename *c = ctx;
    struct err e;
    if (why)
        fail_with(c, why, f->fault);
    else if (note_renamed(c, &f->facts, &e) < 0)
        fail(c, &e);
    else
        rename_finish(c, azfile_changed(c->r, 200, &f->facts, &c->item));
}

static void set_time(struct rename *c)
{
    const struct file_place place = {c->at.folder, c->at.path};
    files_set_times(azstorage_of(c->r)->files, &place, c->mtime_ns, FILES_TIME_KEPT,
                    on_rename_timed, c);
}

static bool moves(const struct rename *c)
{
    return strcmp(c->from.path, c->at.path) != 0; /* not a file that is renamed to its own name */
}

/* Moves the rows of the renamed item. Rows at the new path belong to a replaced item, and are
 * removed. If no item was there, other requests have added them for the renamed item, and they
 * stay. */
static int move_notes(struct storage *st, void *ctx, struct err *e)
{
    const struct rename *c = ctx;
    int64_t share = c->from.share.id;
    if (c->is_there && st_item_remove_tree(st, share, c->at.path, e) < 0)
        return -1;
    return st_item_move_tree(st, share, c->from.path, c->at.path, e);
}

static void on_renamed_back(void *ctx, const struct err *why, const struct file_result *f)
{
    struct rename *c = ctx;
    (void)why, (void)f;
    fail(c, &c->why);
}

/* The rows could not be moved, so the item is renamed back. If it has replaced another item it
 * keeps its new name, as otherwise nothing would be there. */
static void rename_back(struct rename *c, const struct err *why)
{
    const struct files_rename what = {.at = {c->at.folder, c->at.path}, .to = c->from.path};
    c->why = *why;
    if (moves(c) && !c->is_there)
        files_rename(azstorage_of(c->r)->files, &what, on_renamed_back, c);
    else
        fail(c, why);
}

static void on_moved(void *ctx, const struct err *why)
{
    struct rename *c = ctx;
    const struct file_result r = {.facts = c->renamed};
    if (why)
        rename_back(c, why);
    else if (c->mtime_ns == FILES_TIME_KEPT)
        on_rename_timed(c, NULL, &r);
    else
        set_time(c);
}

static void on_renamed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct rename *c = ctx;
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
    struct storage *st = azstorage_of(c->r)->storage;
    c->renamed = f->facts;
    if (moves(c) && st_tx(st, "rename", move_notes, c, &e) < 0)
        rename_back(c, &e);
    else
        st_when_durable(st, on_moved, c);
}

static void on_cleared(void *ctx, const struct err *why)
{
    struct rename *c = ctx;
    const struct files_rename what = {
        .at = {c->at.folder, c->from.path}, .to = c->at.path, .replaces = c->replaces};
    if (why)
        fail(c, why);
    else
        files_rename(azstorage_of(c->r)->files, &what, on_renamed, c);
}

/* Before the rename, removes rows of vanished items at the new path: later, other requests may
 * create files in the renamed directory. For a file only the path's own row can exist. */
static void rename_it(struct rename *c)
{
    struct storage *st = azstorage_of(c->r)->storage;
    struct err e;
    bool clears = !c->is_there && (c->is_directory || c->item.id);
    if (!clears)
        on_cleared(c, NULL);
    else if (st_item_remove_tree(st, c->from.share.id, c->at.path, &e) < 0)
        fail(c, &e);
    else
        st_when_durable(st, on_cleared, c);
}

/* Checks that the present leases of both items permit the rename. */
static int may_rename(struct rename *c, struct err *e)
{
    struct request *r = c->r;
    if (item_load(r, c->at.path, &c->item, e) < 0 ||
        item_load(r, c->from.path, &c->from.item, e) < 0)
        return -1;
    if (!c->is_there)
        azfile_without_lease(&c->item);
    const struct lease from = lease_of_item(&c->from.item), to = lease_of_item(&c->item);
    if (lease_check_by(r, "x-ms-source-lease-id", &from, true, &azfile_leased, e) < 0)
        return -1;
    return lease_check_by(r, "x-ms-destination-lease-id", &to, true, &azfile_leased, e);
}

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct rename *c = ctx;
    struct err e;
    if (why) {
        fail_with(c, why, f->fault);
    } else if (may_rename(c, &e) < 0 || read_renamed(c, &e) < 0) {
        fail(c, &e);
    } else if (f->facts.is_directory != c->is_directory) {
        err_set(&e, AZSTORAGE_NOT_FOUND, NULL, "The specified resource does not exist.");
        fail(c, &e);
    } else {
        c->source = f->facts;
        rename_it(c);
    }
}

static struct rename *rename_new(struct request *r, struct err *e)
{
    struct rename *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct rename){.r = r};
    if (azfile_of(r, &c->at, e) < 0 ||
        source_of(r, "x-ms-file-rename-source", "w", &c->from, e) < 0)
        return NULL;
    if (c->from.share.id == grant_of(r)->share.id)
        return c;
    err_set(e, AZSTORAGE_HEADER, "x-ms-file-rename-source",
            "A file can be renamed within its share only.");
    return NULL;
}

static void on_place(void *ctx, const struct err *why, const struct file_result *f)
{
    struct rename *c = ctx;
    const struct file_place from = {c->at.folder, c->from.path};
    c->is_there = !(why && (f->fault == FILE_MISSING || f->fault == FILE_PARENT_MISSING));
    files_facts(azstorage_of(c->r)->files, &from, on_source, c);
}

/* Called when the request holds both turns. */
static void look(struct rename *c)
{
    const struct file_place place = {c->at.folder, c->at.path};
    files_facts(azstorage_of(c->r)->files, &place, on_place, c);
}

static void on_turn(void *ctx)
{
    struct rename *c = ctx;
    c->held++;
    if (c->held < c->wanted)
        turn_want(azstorage_of(c->r)->turns, &c->turn[c->held]);
    else
        look(c);
}

static void want_turns(struct rename *c)
{
    int order = strcmp(c->from.path, c->at.path);
    const char *const paths[] = {order < 0 ? c->from.path : c->at.path,
                                 order < 0 ? c->at.path : c->from.path};
    c->wanted = order == 0 ? 1 : 2;
    for (int i = 0; i < c->wanted; i++)
        c->turn[i] =
            (struct turn){.share_id = c->from.share.id, .path = paths[i], .go = on_turn, .ctx = c};
    turn_want(azstorage_of(c->r)->turns, &c->turn[0]);
}

static struct replied *begin_rename(struct request *r, bool is_directory)
{
    struct err e;
    struct rename *c = rename_new(r, &e);
    const char *replace = request_header(r, "x-ms-file-rename-replace-if-exists");
    if (!c)
        return reply_err(r, &e);
    c->is_directory = is_directory;
    c->replaces = replace && strcasecmp(replace, "true") == 0;
    struct replied *token = reply_later(r);
    want_turns(c);
    return token;
}

struct replied *azfile_rename(struct request *r)
{
    return begin_rename(r, false);
}

struct replied *azdirectory_rename(struct request *r)
{
    return begin_rename(r, true);
}
