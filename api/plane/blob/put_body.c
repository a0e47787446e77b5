/* SPDX-License-Identifier: MIT
 *
 * Puts a new file whose bytes are all in one request; put_priv.h lists the phases. A small body is
 * collected and written as a whole. The pieces of a large body are sent to the share's worker while
 * it arrives; two of them are in memory at a time.
 *
 * Conditions and leases are checked when the put gets the blob's turn
 * (api/plane/storage/write_lock.h), which it holds until its reply. They are also checked before a
 * large body is read. A block needs no turn; its blob's lease is checked before its body is read.
 *
 * A small blob's row and bytes become durable by one sync, which also serves other puts. For the
 * order in which row, journal and file change see storage/shares/journal.h.
 *
 * The client may disconnect until its body is complete. From then on its connection is suspended
 * until the reply, so `r` stays valid. The request owns the put and frees it when it is released.
 * If the client disconnects during LOOKING or OPENING, the callback of that phase frees the put
 * instead. An upload that is not placed leaves no file.
 *
 * All runs on the loop's thread. Calls of storage/folders/ never call back inside the call; a turn
 * and blob_place() may.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/body.h"
#include "api/plane/blob/put_priv.h"
#include "api/plane/storage/plane_shares.h"
#include "storage/storage.h"

#define SMALL_MAX (256 * 1024)

/* Enters a phase and begins its work. Defined below, after the table of phases. */
static void enter(struct blob_put *p, enum put_phase phase);

/* --- the end --------------------------------------------------------------------------------- */

static void put_free(struct blob_put *p)
{
    if (p->upload)
        upload_end(p->upload);
    free(p->piece);
    free(p);
}

/* The request ends: the client has disconnected, or has its reply. */
static void on_release(void *ctx)
{
    struct blob_put *p = ctx;
    assert(!p->is_complete || p->phase == PUT_OVER);
    p->r = NULL;
    if (p->phase != PUT_LOOKING && p->phase != PUT_OPENING)
        put_free(p); /* no callback of a write will be called any more */
}

/* For the callbacks of LOOKING and OPENING: whether the client has disconnected. If so, frees the
 * put. */
static bool client_left(struct blob_put *p)
{
    if (p->r)
        return false;
    put_free(p);
    return true;
}

static void finish(struct blob_put *p, struct replied *done)
{
    enter(p, PUT_OVER);
    turn_finish(p->r, done, &p->turn);
}

static void fail(struct blob_put *p, const struct err *e)
{
    finish(p, reply_err(p->r, e));
}

static void fail_with(struct blob_put *p, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    fail(p, &e);
}

/* --- its file -------------------------------------------------------------------------------- */

static const struct files_upload *upload_of(const struct blob_put *p, struct files_upload *out)
{
    *out = (struct files_upload){.at = p->blob.at,
                                 .mode = 0666,
                                 .directory_mode = 0777,
                                 .is_new = p->is_new,
                                 .has_time = p->has_time,
                                 .mtime_ns = p->mtime_ns,
                                 .wants_md5 = p->has_md5 || p->kind->fill,
                                 .wants_crc64 = p->kind->fill || !p->has_md5,
                                 .has_crc64 = p->has_crc64,
                                 .crc64 = p->crc64};
    return out;
}

static const uint8_t *md5_of(const struct blob_put *p)
{
    return p->has_md5 ? p->md5 : NULL;
}

/* A copy of the collected bytes. They are kept, because they may have to be written again, in the
 * hidden folder. */
static char *copy_of(const struct blob_put *p)
{
    char *copy = xrealloc(NULL, p->n + 1);
    memcpy(copy, p->piece ? p->piece : "", p->n);
    return copy;
}

static bool is_kept(const struct blob_put *p)
{
    return p->item.type == BLOB_BLOCK && journal_takes(azstorage_of(p->r)->journal, p->n);
}

static bool is_staged(const struct blob_put *p)
{
    return p->small && p->kind->fill && (is_kept(p) || journal_guards(azstorage_of(p->r)->journal));
}

/* Writes the file again, because the file at its place, or a directory above it, has changed. */
static void begin_again(struct blob_put *p)
{
    if (p->upload)
        upload_end(p->upload);
    p->upload = NULL;
    enter(p, !p->small ? PUT_OPENING : is_staged(p) ? PUT_STAGING : PUT_PLACING);
}

/* The file could not be put. If at present another blob's name prevents a file with this name, puts
 * the blob's file into the hidden folder. If the upload of a large blob has bytes, placing.c has
 * done so. */
static void not_put(struct blob_put *p, const struct err *why, enum file_fault fault)
{
    bool may_be_aside = !p->blob.aside && (p->small || p->phase == PUT_OPENING);
    if (may_be_aside &&
        (fault == FILE_IS_DIRECTORY || fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME)) {
        blob_aside(p->r, &p->blob);
        begin_again(p);
    } else {
        fail_with(p, why, fault);
    }
}

/* --- the body: collecting, receiving, writing ------------------------------------------------ */

/* Whether more bytes can be taken. False while a full piece waits until the piece before it has
 * been written. */
static bool has_room(const struct blob_put *p)
{
    bool collects =
        p->phase == PUT_COLLECTING || p->phase == PUT_RECEIVING || p->phase == PUT_WRITING;
    bool full = p->piece && p->n == p->room;
    return collects && (!full || (p->framed && !structured_wants_room(&p->frames)));
}

static size_t take_some(struct blob_put *p, const char *bytes, size_t n)
{
    if (!p->piece) {
        p->room = p->small ? p->length : files_written_piece(p->files);
        p->piece = xrealloc(NULL, p->room);
    }
    size_t took = n < p->room - p->n ? n : p->room - p->n;
    memcpy(p->piece + p->n, bytes, took);
    p->n += took;
    if (p->phase == PUT_RECEIVING && p->n == p->room)
        enter(p, PUT_WRITING);
    return took;
}

/* Takes some bytes of a structured message. Returns how many. */
static size_t take_frame(struct blob_put *p, const char *bytes, size_t n)
{
    struct structured_taken t;
    size_t room = p->piece ? p->room - p->n : p->small ? p->length : files_written_piece(p->files);
    if (structured_take(&p->frames, bytes, n, room, &t, &p->bad) < 0) {
        p->is_bad = true;
        return n;
    }
    if (t.found > 0)
        take_some(p, bytes + t.from, t.found);
    return t.took;
}

static size_t take(void *ctx, const char *bytes, size_t n)
{
    struct blob_put *p = ctx;
    size_t took = 0;
    if (p->phase == PUT_OVER)
        return n;
    while (took < n && !p->is_bad && has_room(p))
        took += p->framed ? take_frame(p, bytes + took, n - took)
                          : take_some(p, bytes + took, n - took);
    return p->is_bad ? n : took;
}

/* Continues when the piece or the body is complete; otherwise asks for more bytes. */
static void collect(struct blob_put *p)
{
    if (p->is_complete && p->is_bad)
        fail(p, &p->bad);
    else if (!p->small && p->n > 0 && (p->n == p->room || p->is_complete))
        enter(p, PUT_WRITING);
    else if (p->is_complete)
        enter(p, p->kind->takes_turns ? PUT_WAITING : PUT_PLACING);
    if (!p->is_complete)
        body_more(p->r);
}

static void end(void *ctx)
{
    struct blob_put *p = ctx;
    p->is_complete = true;
    if (p->framed && !p->is_bad)
        p->is_bad = structured_end(&p->frames, &p->bad) < 0;
    if (p->phase == PUT_COLLECTING || p->phase == PUT_RECEIVING)
        collect(p);
}

static void on_written(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_put *p = ctx;
    if (why)
        fail_with(p, why, f->fault);
    else
        enter(p, PUT_RECEIVING);
}

static void write_piece(struct blob_put *p)
{
    char *piece = p->piece;
    size_t n = p->n;
    p->piece = NULL;
    p->n = p->room = 0;
    upload_write(p->upload, piece, n, on_written, p);
}

/* --- looking, opening, checking -------------------------------------------------------------- */

/* The upload was opened in the hidden folder because another blob prevented a file of this name.
 * Since then, the blob got a file of its name: the upload replaces that file. */
static void leave_aside(struct blob_put *p)
{
    p->blob.at = p->named;
    p->blob.aside = false;
    p->looks_elsewhere = false;
    p->leaves_aside = true;
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_put *p = ctx;
    struct err e;
    if (client_left(p))
        return;
    if (!why && !f->facts.is_directory && p->named.path && p->blob.aside)
        leave_aside(p);
    p->has_was = !why && !f->facts.is_directory && !p->looks_elsewhere;
    p->was = f->facts;
    if (why && why->code == ERR_UNAVAILABLE)
        fail_with(p, why, f->fault);
    else if (p->kind->check(p, why ? NULL : &f->facts, &e) < 0)
        fail(p, &e);
    else if (p->phase == PUT_LOOKING)
        enter(p, p->small ? PUT_COLLECTING : PUT_OPENING);
    else
        enter(p, PUT_PLACING);
}

static void look(struct blob_put *p, const struct file_place *at)
{
    p->looks_elsewhere = strcmp(at->path, p->blob.at.path) != 0;
    files_facts(p->files, at, on_facts, p);
}

static void look_first(struct blob_put *p)
{
    look(p, p->block_of ? &p->block_of->at : &p->blob.at);
}

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct blob_put *p = ctx;
    p->upload = upload;
    if (client_left(p))
        return;
    if (why)
        not_put(p, why, fault);
    else
        enter(p, PUT_RECEIVING);
}

static void open_upload(struct blob_put *p)
{
    struct files_upload what;
    files_upload(p->files, upload_of(p, &what), on_opened, p);
}

/* Checks the conditions again, because the blob may have changed during the turns of other
 * requests. */
static void check_again(struct blob_put *p)
{
    struct blob now;
    struct err e;
    if (blob_of(p->r, &now, &e) < 0) {
        fail(p, &e);
        return;
    }
    if (p->small)
        p->blob = now;
    if (is_staged(p)) { /* staging checks the place too */
        enter(p, PUT_STAGING);
        return;
    }
    /* the upload of a large blob was opened for a place, but the blob's file may now be
     * elsewhere */
    if (!now.aside)
        p->named = now.at;
    look(p, &now.at);
}

static void on_turn(void *ctx)
{
    enter(ctx, PUT_CHECKING);
}

static void want_turn(struct blob_put *p)
{
    p->turn =
        (struct turn){.share_id = p->item.share_id, .path = p->blob.name, .go = on_turn, .ctx = p};
    turn_want(azstorage_of(p->r)->turns, &p->turn);
}

/* --- a small blob: staging, keeping, placing ------------------------------------------------- */

static void on_staged(void *ctx, const struct err *why, const struct file_result *f,
                      struct file_upload *upload)
{
    struct blob_put *p = ctx;
    struct err e;
    if (why) {
        not_put(p, why, f->fault);
        return;
    }
    const char *place = p->blob.at.path;
    p->upload = upload;
    p->staged = *f;
    p->has_was = f->existed;
    p->was = f->before;
    if (p->kind->check(p, f->existed ? &f->before : NULL, &e) < 0)
        fail(p, &e);
    /* a directory was at the place, so the check has chosen another */
    else if (p->blob.at.path != place)
        begin_again(p);
    else
        enter(p, f->owes ? PUT_KEEPING : PUT_PLACING);
}

static void stage(struct blob_put *p)
{
    struct files_upload what;
    upload_of(p, &what);
    what.later = is_kept(p);
    files_stage(p->files, &what, &(struct file_content){copy_of(p), p->n, md5_of(p)}, on_staged, p);
}

static void fill(struct blob_put *p, const struct file_result *f)
{
    p->item.aside = p->blob.aside ? p->blob.at.path : NULL;
    item_set_file(&p->item, &f->facts);
    p->kind->fill(p, f);
}

static int keep_bytes(struct blob_put *p, struct err *e)
{
    const struct kept_put put = {.share_id = p->item.share_id,
                                 .path = p->item.path,
                                 .aside = p->item.aside,
                                 .inode = p->item.inode,
                                 .mtime_ns = p->item.mtime_ns,
                                 .bytes = p->piece ? p->piece : "",
                                 .n = p->n,
                                 .was_inode = p->has_was ? (int64_t)p->was.inode : 0,
                                 .was_mtime_ns = p->has_was ? p->was.mtime_ns : 0};
    return journal_keep(azstorage_of(p->r)->journal, &put, &p->entry, e);
}

static void on_durable(void *ctx, const struct err *why)
{
    struct blob_put *p = ctx;
    if (why) {
        journal_drop(azstorage_of(p->r)->journal, &p->entry);
        fail(p, why);
    } else {
        enter(p, PUT_PLACING_KEPT);
    }
}

static void keep(struct blob_put *p)
{
    struct err e, ignored;
    fill(p, &p->staged);
    if (blob_note(p->r, &p->blob, &p->item, &e) == 0 && keep_bytes(p, &e) == 0) {
        st_when_durable(azstorage_of(p->r)->storage, on_durable, p);
        return;
    }
    (void)!blob_unnote(p->r, &p->blob, &p->item, &ignored); /* the first error is reported */
    fail(p, &e);
}

static void on_blocks_removed(void *ctx, const struct err *why)
{
    struct blob_put *p = ctx;
    (void)why; /* after a failure the blocks remain; the blob is complete */
    finish(p, p->kind->reply(p, &p->staged));
}

/* The new version is in its place: removes the files of the old one. */
static void forget_old(struct blob_put *p, const struct file_result *f)
{
    blob_forget_old(p->r, &p->blob, &p->item);
    p->staged = *f;
    if (blocks_outlive(&p->blob.item, &p->item))
        blocks_remove(p->r, on_blocks_removed, p);
    else
        on_blocks_removed(p, NULL);
}

static void on_kept_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_put *p = ctx;
    struct journal *j = azstorage_of(p->r)->journal;
    struct err e;
    if (!why) {
        journal_placed(j, &p->entry, p->upload);
        p->upload = NULL;
        forget_old(p, f);
    } else if (journal_may_happen(j, why)) {
        journal_leave(j, &p->entry);
        fail_with(p, why, f->fault);
    } else {
        journal_drop(j, &p->entry);
        if (blob_unnote(p->r, &p->blob, &p->item, &e) < 0)
            fail(p, &e);
        else
            not_put(p, why, f->fault);
    }
}

static void place_kept(struct blob_put *p)
{
    upload_finish(p->upload, NULL, on_kept_placed, p);
}

/* --- any other file: placing ----------------------------------------------------------------- */

/* A file is in its place without a journal: a block, or a blob of a daemon whose data need not
 * survive it. */
static void on_put(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_put *p = ctx;
    struct err e;
    if (why) {
        not_put(p, why, f->fault);
        return;
    }
    if (!p->kind->fill) {
        finish(p, p->kind->reply(p, f));
        return;
    }
    fill(p, f);
    if (blob_note(p->r, &p->blob, &p->item, &e) < 0)
        fail(p, &e);
    else
        forget_old(p, f);
}

static void on_blob_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_put *p = ctx;
    if (why)
        not_put(p, why, f->fault);
    else
        finish(p, p->kind->reply(p, f));
}

static void fill_in(void *ctx, const struct file_result *f)
{
    struct blob_put *p = ctx;
    p->kind->fill(p, f);
}

static void place_blob(struct blob_put *p)
{
    p->placing = (struct placing){.r = p->r,
                                  .blob = &p->blob,
                                  .item = &p->item,
                                  .upload = p->upload,
                                  .staged = p->small ? &p->staged : NULL,
                                  .md5 = md5_of(p),
                                  .was = p->has_was ? &p->was : NULL,
                                  .leaves_aside = p->leaves_aside,
                                  .fill = fill_in,
                                  .done = on_blob_placed,
                                  .ctx = p};
    blob_place(&p->placing);
}

static void place(struct blob_put *p)
{
    struct files_upload what;
    struct err e;
    if (!p->kind->fill && plane_share(p->r, &e) < 0) /* its container was deleted meanwhile */
        fail(p, &e);
    else if (!p->upload)
        files_put(p->files, upload_of(p, &what),
                  &(struct file_content){copy_of(p), p->n, md5_of(p)}, on_put, p);
    else if (!p->kind->fill)
        upload_finish(p->upload, md5_of(p), on_put, p);
    else
        place_blob(p);
}

/* --- the phases ------------------------------------------------------------------------------ */

#define BIT(phase) (1U << (phase))

static const struct {
    void (*begin)(struct blob_put *p); /* begins the work of the phase; NULL: none */
    unsigned next;                     /* the phases that may follow */
} phases[] = {
    [PUT_NEW] = {NULL, BIT(PUT_COLLECTING) | BIT(PUT_LOOKING) | BIT(PUT_OPENING)},
    [PUT_COLLECTING] = {collect, BIT(PUT_WAITING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_LOOKING] = {look_first, BIT(PUT_COLLECTING) | BIT(PUT_OPENING) | BIT(PUT_OVER)},
    [PUT_OPENING] = {open_upload, BIT(PUT_OPENING) | BIT(PUT_RECEIVING) | BIT(PUT_OVER)},
    [PUT_RECEIVING] = {collect,
                       BIT(PUT_WRITING) | BIT(PUT_WAITING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_WRITING] = {write_piece, BIT(PUT_RECEIVING) | BIT(PUT_OVER)},
    [PUT_WAITING] = {want_turn, BIT(PUT_CHECKING)},
    [PUT_CHECKING] = {check_again, BIT(PUT_STAGING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_STAGING] = {stage, BIT(PUT_STAGING) | BIT(PUT_KEEPING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_KEEPING] = {keep, BIT(PUT_PLACING_KEPT) | BIT(PUT_OVER)},
    [PUT_PLACING_KEPT] = {place_kept, BIT(PUT_STAGING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_PLACING] = {place, BIT(PUT_STAGING) | BIT(PUT_PLACING) | BIT(PUT_OVER)},
    [PUT_OVER] = {NULL, 0},
};
static_assert(sizeof phases / sizeof phases[0] == PUT_OVER + 1, "a row a phase");

/* Checks the invariants of a phase when it begins. Only in PLACING a small body may be staged or
 * not. */
static void check_phase(const struct blob_put *p)
{
    assert(p->r);
    if (p->phase == PUT_OVER)
        return;
    assert(p->is_complete || p->phase < PUT_WAITING);
    if (!p->small)
        assert((p->upload != NULL) == (p->phase >= PUT_RECEIVING));
    else if (p->phase != PUT_PLACING)
        assert((p->upload != NULL) == (p->phase >= PUT_KEEPING));
}

static void enter(struct blob_put *p, enum put_phase phase)
{
    assert(phases[p->phase].next & BIT(phase));
    p->phase = phase;
    check_phase(p);
    if (phases[phase].begin)
        phases[phase].begin(p);
}

struct replied *put_start(struct request *r, struct blob_put *p)
{
    const struct body_sink sink = {.take = take, .end = end, .release = on_release, .ctx = p};
    struct replied *token = request_stream(r, &sink);
    const char *length = request_header(r, "Content-Length");
    unsigned long long n = length ? strtoull(length, NULL, 10) : SMALL_MAX + 1;
    if (p->framed)
        n = p->frames.content;
    p->r = r;
    p->files = azstorage_of(r)->files;
    p->small = n <= SMALL_MAX;
    p->length = p->small ? (size_t)n : 0;
    bool looks = p->kind->takes_turns ? !p->small : p->block_of != NULL;
    enter(p, looks ? PUT_LOOKING : p->small ? PUT_COLLECTING : PUT_OPENING);
    return token;
}
