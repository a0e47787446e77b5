/* SPDX-License-Identifier: MIT
 *
 * All bytes of a new file in one request. A small body is collected and put at once; a large one
 * goes to the share's worker in pieces while it arrives, two at a time in memory.
 *
 *   small: collected ------------------------------> turn -> look -> put -----\
 *   large: look -> opened -> pieces -> all there -> turn -> look -> finish ---+-> noted -> 201
 *
 * A small blob whose bytes the journal takes (shares/journal.h) is noted first, so that it waits
 * for one sync only, which it shares with others:
 *
 *   ... turn -> look -> staged -> noted, kept -> durable -> placed -> 201
 *
 * Conditions and leases count when the blob's turn comes (turns.h); a large body is not read if
 * they do not hold at the beginning. A block needs neither look nor turn.
 *
 * The client may leave at any time before its body is complete, while a call is under way.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azblob/put_priv.h"
#include "api/http/body.h"
#include "storage/storage.h"

#define SMALL_MAX (256 * 1024)

static void put_free(struct put *p)
{
    if (p->upload)
        upload_end(p->upload);
    free(p->piece);
    free(p);
}

/* The client is gone, or has its reply. */
static void on_release(void *ctx)
{
    struct put *p = ctx;
    p->r = NULL;
    if (!p->calling)
        put_free(p);
    else if (p->upload) {
        p->calling = false; /* it does not call back any more */
        put_free(p);
    }
}

/* True: nobody waits any more. */
static bool is_over(struct put *p)
{
    p->calling = false;
    if (p->r)
        return false;
    put_free(p);
    return true;
}

static void finish(struct put *p, struct replied *done)
{
    bool in_turn = p->in_turn;
    p->failed = true; /* whatever still comes of the body is thrown away */
    p->in_turn = false;
    request_finish(p->r, done);
    if (in_turn)
        turn_end(azstorage_of(p->r)->turns, &p->turn);
}

static void fail(struct put *p, const struct err *e)
{
    finish(p, reply_err(p->r, e));
}

static void on_put(void *ctx, const struct err *why, const struct file_result *f);

/* Where the name cannot be a file's at the moment, because of another blob's. */
static bool must_be_aside(const struct put *p, enum file_fault fault)
{
    return !p->blob.aside &&
           (fault == FILE_IS_DIRECTORY || fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME);
}

static const struct files_upload *upload_of(const struct put *p, struct files_upload *out)
{
    *out = (struct files_upload){.at = p->blob.at,
                                 .mode = 0666,
                                 .directory_mode = 0777,
                                 .is_new = p->is_new,
                                 .wants_md5 = p->has_md5 || p->kind->note,
                                 .has_crc64 = p->has_crc64,
                                 .crc64 = p->crc64};
    return out;
}

/* It may have to be put once more, aside. */
static char *copy_of(const struct put *p)
{
    char *copy = xrealloc(NULL, p->n + 1);
    memcpy(copy, p->piece ? p->piece : "", p->n);
    return copy;
}

static void put_small(struct put *p)
{
    struct files_upload what;
    p->calling = true;
    files_put(p->files, upload_of(p, &what), copy_of(p), p->n, p->has_md5 ? p->md5 : NULL, on_put,
              p);
}

static bool stage(struct put *p);

static void give_up(struct put *p)
{
    struct file_upload *upload = p->upload;
    p->upload = NULL;
    if (upload)
        upload_end(upload);
}

/* What is at the place, or above it, has changed. */
static void begin_again(struct put *p)
{
    give_up(p);
    if (!stage(p))
        put_small(p);
}

static void not_put(struct put *p, const struct err *why, enum file_fault fault)
{
    struct err e;
    if (p->small && must_be_aside(p, fault)) {
        blob_aside(p->r, &p->blob);
        begin_again(p);
        return;
    }
    blob_fault(why, fault, &e);
    fail(p, &e);
}

static void on_put(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    if (is_over(p))
        return;
    struct err e;
    if (why)
        not_put(p, why, f->fault);
    else if (p->kind->note && p->kind->note(p, f, &e) < 0)
        fail(p, &e);
    else
        finish(p, p->kind->reply(p, f));
}

/* --- a large body --------------------------------------------------------------------------- */

static void complete(struct put *p);
static void go_on(struct put *p);

static void on_written(void *ctx, const struct err *why, const struct file_result *f);

static void hand_on(struct put *p)
{
    char *piece = p->piece;
    size_t n = p->n;
    p->piece = NULL;
    p->n = p->room = 0;
    p->calling = true;
    upload_write(p->upload, piece, n, on_written, p);
}

static void on_written(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    struct err e;
    if (is_over(p))
        return;
    if (why) {
        blob_fault(why, f->fault, &e);
        fail(p, &e);
        return;
    }
    go_on(p);
}

/* Hands on what is there, and asks for more. */
static void go_on(struct put *p)
{
    if (p->calling || p->failed)
        return;
    if (p->n > 0 && (p->n == p->room || p->ended)) {
        hand_on(p);
    } else if (p->ended) {
        complete(p);
        return;
    }
    body_more(p->r);
}

static void open_large(struct put *p);

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct put *p = ctx;
    struct err e;
    p->upload = upload;
    if (is_over(p))
        return;
    if (!why) {
        go_on(p);
    } else if (must_be_aside(p, fault)) {
        blob_aside(p->r, &p->blob);
        open_large(p);
    } else {
        blob_fault(why, fault, &e);
        fail(p, &e);
    }
}

static void open_large(struct put *p)
{
    struct files_upload what;
    p->calling = true;
    files_upload(p->files, upload_of(p, &what), on_opened, p);
}

/* --- what is there -------------------------------------------------------------------------- */

static void put_it(struct put *p)
{
    if (p->small) {
        put_small(p);
        return;
    }
    p->calling = true;
    upload_finish(p->upload, p->has_md5 ? p->md5 : NULL, on_put, p);
}

/* Whether the blob may be put over the file that is at its place (or NULL). */
static int check(struct put *p, const struct file_facts *there, struct err *e)
{
    if (there && there->is_directory) {
        if (!p->blob.aside)
            blob_aside(p->r, &p->blob);
        there = NULL;
    }
    if (item_load(p->r, p->blob.name, &p->blob.item, e) < 0 ||
        blob_check(p->r, &p->blob, there, e) < 0)
        return -1;
    if (!there || grant_has(grant_of(p->r), 'w'))
        return 0;
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation using this "
                   "permission: the blob is there, and the signature may only create.");
}

/* --- a blob whose bytes the journal has ------------------------------------------------------- */

/* As if it had never been noted. */
static int unnote(struct put *p, struct err *e)
{
    struct storage *st = azstorage_of(p->r)->storage;
    const struct share_item *old = &p->blob.item;
    return old->id > 0 ? st_item_put(st, old, e)
                       : st_item_remove(st, p->item.share_id, p->item.path, e);
}

static void on_placed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    struct err e;
    p->calling = false;
    if (why && why->code == ERR_UNAVAILABLE) { /* a worker may yet place it */
        journal_leave(azstorage_of(p->r)->journal, &p->entry);
        blob_fault(why, f->fault, &e);
        fail(p, &e);
        return;
    }
    if (why) {
        journal_drop(azstorage_of(p->r)->journal, &p->entry);
        if (unnote(p, &e) < 0)
            fail(p, &e);
        else
            not_put(p, why, f->fault);
        return;
    }
    journal_placed(azstorage_of(p->r)->journal, &p->entry, p->upload);
    p->upload = NULL;
    finish(p, p->kind->reply(p, f));
}

static void on_durable(void *ctx, const struct err *why)
{
    struct put *p = ctx;
    p->calling = false;
    if (why) {
        journal_drop(azstorage_of(p->r)->journal, &p->entry);
        fail(p, why);
        return;
    }
    p->calling = true;
    upload_finish(p->upload, NULL, on_placed, p);
}

static int keep(struct put *p, struct err *e)
{
    const struct kept_put put = {.share_id = p->item.share_id,
                                 .path = p->item.path,
                                 .aside = p->item.aside,
                                 .inode = p->item.inode,
                                 .mtime_ns = p->item.mtime_ns,
                                 .bytes = p->piece ? p->piece : "",
                                 .n = p->n};
    return journal_keep(azstorage_of(p->r)->journal, &put, &p->entry, e);
}

/* The turn keeps others off the blob, and its client waits for the reply. */
static void on_staged(void *ctx, const struct err *why, const struct file_result *f,
                      struct file_upload *upload)
{
    struct put *p = ctx;
    struct err e;
    p->calling = false;
    if (why) {
        not_put(p, why, f->fault);
        return;
    }
    const char *place = p->blob.at.path;
    p->upload = upload;
    if (check(p, f->existed ? &f->before : NULL, &e) < 0) {
        fail(p, &e);
        return;
    }
    if (p->blob.at.path != place) { /* there is a directory */
        begin_again(p);
        return;
    }
    p->calling = true;
    if (!f->owes) {
        upload_finish(upload, NULL, on_put, p);
    } else if (p->kind->note(p, f, &e) < 0 || keep(p, &e) < 0) {
        struct err ignored; /* the first says why */
        (void)unnote(p, &ignored);
        p->calling = false;
        fail(p, &e);
    } else {
        st_when_durable(azstorage_of(p->r)->storage, on_durable, p);
    }
}

static bool stage(struct put *p)
{
    struct files_upload what;
    if (!p->small || !p->kind->note || p->item.type != BLOB_BLOCK ||
        !journal_takes(azstorage_of(p->r)->journal, p->n))
        return false;
    upload_of(p, &what);
    what.later = true;
    p->calling = true;
    files_stage(p->files, &what, copy_of(p), p->n, p->has_md5 ? p->md5 : NULL, on_staged, p);
    return true;
}

/* --- its turn ------------------------------------------------------------------------------- */

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    struct err e;
    if (is_over(p))
        return;
    if (why && why->code == ERR_UNAVAILABLE) {
        blob_fault(why, f->fault, &e);
        fail(p, &e);
    } else if (check(p, why ? NULL : &f->facts, &e) < 0)
        fail(p, &e);
    else if (p->in_turn)
        put_it(p);
    else
        open_large(p);
}

static void look(struct put *p)
{
    p->calling = true;
    files_facts(p->files, &p->blob.at, on_facts, p);
}

/* What was known of the blob may have changed while others had their turns. */
static void on_turn(void *ctx)
{
    struct put *p = ctx;
    struct err e;
    p->in_turn = true;
    if (p->small && blob_of(p->r, &p->blob, &e) < 0)
        fail(p, &e);
    else if (!stage(p))
        look(p);
}

/* All bytes are there. */
static void complete(struct put *p)
{
    if (!p->kind->takes_turns) {
        put_it(p);
        return;
    }
    p->turn =
        (struct turn){.share_id = p->item.share_id, .path = p->blob.name, .go = on_turn, .ctx = p};
    turn_want(azstorage_of(p->r)->turns, &p->turn);
}

/* --- the body ------------------------------------------------------------------------------- */

/* A large one goes on while the piece before is being written. */
static bool has_room(const struct put *p)
{
    if (p->small)
        return !p->piece || p->n < p->room;
    return p->upload && !(p->calling && p->room > 0 && p->n == p->room);
}

static size_t take_some(struct put *p, const char *bytes, size_t n)
{
    if (!p->piece) {
        p->room = p->small ? p->length : files_written_piece(p->files);
        p->piece = xrealloc(NULL, p->room);
    }
    size_t took = n < p->room - p->n ? n : p->room - p->n;
    memcpy(p->piece + p->n, bytes, took);
    p->n += took;
    if (!p->small && p->n == p->room && !p->calling)
        hand_on(p);
    return took;
}

static size_t take(void *ctx, const char *bytes, size_t n)
{
    struct put *p = ctx;
    size_t took = 0;
    if (p->failed)
        return n;
    while (took < n && has_room(p))
        took += take_some(p, bytes + took, n - took);
    return took;
}

static void end(void *ctx)
{
    struct put *p = ctx;
    p->ended = true;
    if (p->failed)
        return;
    if (p->small)
        complete(p);
    else if (p->upload)
        go_on(p);
}

struct replied *put_start(struct request *r, struct put *p)
{
    const struct body_sink sink = {.take = take, .end = end, .release = on_release, .ctx = p};
    struct replied *token = request_stream(r, &sink);
    const char *length = request_header(r, "Content-Length");
    unsigned long long n = length ? strtoull(length, NULL, 10) : SMALL_MAX + 1;
    p->r = r;
    p->files = azstorage_of(r)->files;
    p->small = n <= SMALL_MAX;
    p->length = p->small ? (size_t)n : 0;
    if (!p->small && p->kind->takes_turns)
        look(p);
    else if (!p->small)
        open_large(p);
    return token;
}
