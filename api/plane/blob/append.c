/* SPDX-License-Identifier: MIT
 *
 * Append blobs: each request adds a block at the end of the file, in place. Two such requests for
 * one blob run one after the other (api/plane/storage/write_lock.h). For a small block, the blob's
 * new row is durable in the database, and the bytes in the journal, before the file grows; so a
 * restarted daemon can add the bytes. For a large block only the intent is durable, so a restarted
 * daemon can cut off bytes that have no row (storage/shares/journal.h). No block can be added to a
 * sealed blob.
 *
 *   small: noted, with the bytes -> durable -> added -> 201
 *   large: intent -> durable -> added, on disk -> noted -> durable -> 201
 *   https://learn.microsoft.com/rest/api/storageservices/append-block
 */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/beside.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/structured.h"
#include "storage/storage.h"

#define BLOCKS_MAX 50000

static int read_number(struct request *r, const char *name, uint64_t *out, struct err *e)
{
    const char *text = request_header(r, name);
    char *end;
    if (!text)
        return 0;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return err_set(e, AZSTORAGE_HEADER, name, "%s is '%.40s'; it must be a number of bytes.",
                       name, text);
    return 1;
}

/* Checks whether the blob may get a block, or may be sealed. */
static int check_blob(struct blob_work *w, const struct file_facts *f, const char *what,
                      struct err *e)
{
    uint64_t position = 0;
    if (blob_type_of(&w->item) != BLOB_APPEND)
        return err_set(e, AZSTORAGE_BLOB_TYPE, NULL,
                       "The blob type is invalid for this operation: it is a %s, and only an "
                       "AppendBlob can be %s.",
                       blob_type_name(blob_type_of(&w->item)), what);
    int has_position = read_number(w->r, "x-ms-blob-condition-appendpos", &position, e);
    if (has_position > 0 && position != f->size)
        return err_set(e, AZSTORAGE_APPEND_POSITION, NULL,
                       "The append position condition specified was not met: the blob has %llu "
                       "bytes.",
                       (unsigned long long)f->size);
    return has_position < 0 ? -1 : 0;
}

static int check(struct blob_work *w, const struct file_facts *f, struct err *e)
{
    struct request *r = w->r;
    uint64_t most = 0;
    int has_most = read_number(r, "x-ms-blob-condition-maxsize", &most, e);
    if (has_most < 0 || check_blob(w, f, "appended to", e) < 0)
        return -1;
    if (beside_is_sealed(&w->item))
        return err_set(e, AZSTORAGE_SEALED, NULL,
                       "The specified blob is sealed, so nothing can be appended. A new blob, or a "
                       "copy without x-ms-seal-blob, is not sealed.");
    if (has_most && f->size + r->raw.len > most)
        return err_set(e, AZSTORAGE_APPEND_SIZE, NULL,
                       "The max blob size condition specified was not met: the blob would have "
                       "%llu bytes.",
                       (unsigned long long)f->size + r->raw.len);
    if (append_count(&w->item) >= BLOCKS_MAX)
        return err_set(e, AZSTORAGE_BLOCK_COUNT, NULL,
                       "The committed block count cannot exceed the maximum limit of %d blocks.",
                       BLOCKS_MAX);
    if (r->raw.len == 0)
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "A block to append must have at least one byte.");
    return 0;
}

static void refuse(struct blob_work *w, const struct err *e)
{
    blob_finish(w, reply_err(w->r, e));
}

struct appending {
    struct blob_work *w;
    struct files_write what;
    uint8_t md5[FILES_MD5]; /* the MD5 that the block must have */
    /* the modification time of the file with the block, if the journal has the bytes */
    int64_t mtime_ns;
    struct journal_entry entry;
    bool is_guarded;
    struct file_facts was;     /* the file without the block */
    struct file_result result; /* result of the append */
    struct err why;            /* why the append failed */
};

static void appending_free(void *ctx)
{
    struct appending *x = ctx;
    free(x->what.bytes);
}

static void not_appended(struct appending *x, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    refuse(x->w, &e);
}

/* Changes the blob's item in memory to its state with the block. */
static void grow(struct appending *x, const struct file_facts *f)
{
    struct request *r = x->w->r;
    struct share_item *i = &x->w->item;
    i->blocks = arena_printf(&r->arena, "[%d]", append_count(i) + 1);
    /* keeps the MD5 that a client set, unless a job has written the file since */
    item_follow_file(i, &x->was);
    item_revise(r, i);
    lease_written(r, i);
    item_set_file(i, f);
}

static void appended(struct appending *x, const struct file_result *f)
{
    struct blob_work *w = x->w;
    struct request *r = w->r;
    char md5[MD5_TEXT];
    sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
    blob_state(r, &f->facts, &w->item);
    reply_header(r, "Content-MD5", "%s", md5);
    crc64_reply(r, f->crc64);
    reply_header(r, "x-ms-blob-append-offset", "%llu", (unsigned long long)x->what.offset);
    reply_header(r, "x-ms-blob-committed-block-count", "%d", append_count(&w->item));
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    blob_finish(w, reply_empty(r, 201));
}

/* --- a block whose bytes the journal has ------------------------------------------------------ */

static void on_grown(void *ctx, const struct err *why, const struct file_result *f,
                     struct file_upload *upload)
{
    struct appending *x = ctx;
    const struct azstorage *s = azstorage_of(x->w->r);
    struct err e;
    if (why && journal_may_happen(s->journal, why)) {
        journal_leave(s->journal, &x->entry);
        not_appended(x, why, f->fault);
        return;
    }
    if (why) {
        journal_drop(s->journal, &x->entry);
        if (st_item_put(s->storage, &x->w->blob.item, &e) < 0)
            refuse(x->w, &e);
        else
            not_appended(x, why, f->fault);
        return;
    }
    item_set_file(&x->w->item, &f->facts);
    /* Stores the real modification time if the file system did not keep the intended one. */
    int rc = f->facts.mtime_ns == x->mtime_ns ? 0 : st_item_put(s->storage, &x->w->item, &e);
    if (f->owes) {
        journal_placed(s->journal, &x->entry, upload);
    } else {
        journal_settled(s->journal, &x->entry);
        upload_end(upload);
    }
    if (rc < 0)
        refuse(x->w, &e);
    else
        appended(x, f);
}

static void on_durable(void *ctx, const struct err *why)
{
    struct appending *x = ctx;
    const struct azstorage *s = azstorage_of(x->w->r);
    struct files_write what = x->what;
    if (why) {
        journal_drop(s->journal, &x->entry);
        refuse(x->w, why);
        return;
    }
    x->what.bytes = NULL;
    files_grow(s->files, &what, x->mtime_ns, on_grown, x);
}

/* A modification time that no other change of the file has. */
static int64_t time_of(struct request *r, const struct file_facts *before)
{
    int64_t given = files_time_ns(azstorage_of(r)->files);
    int64_t now = given == FILES_TIME_KEPT ? r->now_us * 1000 : given;
    return now > before->mtime_ns || given != FILES_TIME_KEPT ? now : before->mtime_ns + 1;
}

static int keep(struct appending *x, const struct file_facts *f, struct err *e)
{
    struct share_item *i = &x->w->item;
    const struct azstorage *s = azstorage_of(x->w->r);
    struct file_facts now = *f;
    now.size += x->what.n;
    now.mtime_ns = x->mtime_ns = time_of(x->w->r, f);
    grow(x, &now);
    const struct kept_put put = {.share_id = i->share_id,
                                 .path = i->path,
                                 .aside = i->aside,
                                 .inode = i->inode,
                                 .mtime_ns = i->mtime_ns,
                                 .bytes = x->what.bytes,
                                 .n = x->what.n,
                                 .was_inode = i->inode,
                                 .was_mtime_ns = f->mtime_ns,
                                 .grows = true,
                                 .grows_from = (int64_t)f->size};
    if (st_item_put(s->storage, i, e) == 0 && journal_keep(s->journal, &put, &x->entry, e) == 0)
        return 0;
    struct err ignored;
    (void)!st_item_put(s->storage, &x->w->blob.item, &ignored); /* the first error is reported */
    return -1;
}

/* Whether the journal keeps the bytes. It does not if their hash must be checked, because only the
 * worker that writes the file checks hashes. */
static bool is_kept(const struct appending *x)
{
    const struct azstorage *s = azstorage_of(x->w->r);
    return x->is_guarded && files_sync(s->files) && !x->what.md5 && !x->what.has_crc64 &&
           journal_takes(s->journal, x->what.n);
}

/* --- any other -------------------------------------------------------------------------------- */

/* Called when the block has been cut off the file again. If this failed, the intent stays in the
 * journal, and the next start of the daemon cuts the block off. */
static void on_cut_back(void *ctx, const struct err *why, const struct file_result *f)
{
    struct appending *x = ctx;
    if ((!why || f->fault == FILE_MISSING) && x->is_guarded)
        journal_ended(azstorage_of(x->w->r)->journal, &x->entry);
    refuse(x->w, &x->why);
}

static void take_back(struct appending *x, const struct err *why)
{
    x->why = *why;
    files_cut_back(azstorage_of(x->w->r)->files, &x->what.at, &x->was, x->what.n, on_cut_back, x);
}

/* The append failed. The block is cut off only if the result shows that bytes were added; otherwise
 * bytes at the end of the file are from another writer. */
static void not_added(struct appending *x, const struct err *why, const struct file_result *f)
{
    struct err e;
    if (journal_may_happen(azstorage_of(x->w->r)->journal, why)) {
        not_appended(x, why, f->fault);
        return;
    }
    blob_fault(why, f->fault, &e);
    if (f->added) {
        take_back(x, &e);
        return;
    }
    if (x->is_guarded)
        journal_ended(azstorage_of(x->w->r)->journal, &x->entry);
    refuse(x->w, &e);
}

static void on_noted(void *ctx, const struct err *why)
{
    struct appending *x = ctx;
    if (why)
        take_back(x, why);
    else
        appended(x, &x->result);
}

static void on_appended(void *ctx, const struct err *why, const struct file_result *f)
{
    struct appending *x = ctx;
    const struct azstorage *s = azstorage_of(x->w->r);
    struct err e;
    if (why) {
        not_added(x, why, f);
        return;
    }
    x->result = *f;
    grow(x, &f->facts);
    if (st_item_put(s->storage, &x->w->item, &e) < 0) {
        take_back(x, &e);
        return;
    }
    if (x->is_guarded)
        journal_ended(s->journal, &x->entry);
    journal_when_guarded(s->journal, on_noted, x);
}

static void on_guarded(void *ctx, const struct err *why)
{
    struct appending *x = ctx;
    struct files_write what = x->what;
    if (why) {
        refuse(x->w, why);
        return;
    }
    x->what.bytes = NULL;
    files_write(azstorage_of(x->w->r)->files, &what, on_appended, x);
}

static int guard(struct appending *x, const struct file_facts *f, struct err *e)
{
    const struct share_item *i = &x->w->item;
    const struct item_change c = {.kind = CHANGE_GROWS,
                                  .place = i->aside,
                                  .now_inode = (int64_t)f->inode,
                                  .was_there = true,
                                  .was_inode = (int64_t)f->inode,
                                  .was_size = (int64_t)f->size,
                                  .was_mtime_ns = f->mtime_ns,
                                  .was_noted = true,
                                  .was = x->w->blob.item};
    return journal_guard(azstorage_of(x->w->r)->journal, &c, &x->entry, e);
}

static int read_append(struct appending *x, const struct file_facts *f, struct err *e)
{
    struct request *r = x->w->r;
    x->what = (struct files_write){.at = x->w->blob.at,
                                   .offset = f->size,
                                   .n = r->raw.len,
                                   .appends = true,
                                   .wants_md5 = true,
                                   .wants_crc64 = true};
    if (check(x->w, f, e) < 0)
        return -1;
    int given = md5_read(r, "Content-MD5", x->md5, e);
    int has_crc64 = given < 0 ? -1 : blob_crc64(r, &x->what.crc64, e);
    x->what.md5 = given > 0 ? x->md5 : NULL;
    x->what.has_crc64 = has_crc64 > 0;
    return has_crc64 < 0 ? -1 : 0;
}

static void append(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct journal *j = azstorage_of(r)->journal;
    struct appending *x = arena_alloc(&r->arena, sizeof *x);
    struct err e;
    *x = (struct appending){.w = w, .is_guarded = journal_guards(j), .was = *f};
    int rc = read_append(x, f, &e);
    bool keeps = rc == 0 && is_kept(x);
    if (rc == 0) {
        x->what.bytes = strbuf_take(&r->raw);
        request_keep(r, x, appending_free);
        rc = keeps ? keep(x, f, &e) : x->is_guarded ? guard(x, f, &e) : 0;
    }
    if (rc < 0)
        refuse(w, &e);
    else if (keeps)
        st_when_durable(azstorage_of(r)->storage, on_durable, x);
    else if (x->is_guarded)
        journal_when_guarded(j, on_guarded, x);
    else
        on_guarded(x, NULL);
}

static void append_later(struct request *r)
{
    blob_change_later(r, append);
}

/* A structured message, from which the frames are removed in place. */
struct unframing {
    struct structured frames;
    /* bytes of the body that were read; bytes of content that were written back */
    size_t read, written;
};

#define UNFRAMED_AT_ONCE ((size_t)4 * 1024 * 1024) /* bytes per turn of the loop: a few ms */

static int unframe_some(struct strbuf *raw, struct unframing *u, struct err *e)
{
    size_t stop = raw->len - u->read < UNFRAMED_AT_ONCE ? raw->len : u->read + UNFRAMED_AT_ONCE;
    while (u->read < stop) {
        struct structured_taken t;
        const char *from = raw->s + u->read;
        if (structured_take(&u->frames, from, stop - u->read, SIZE_MAX, &t, e) < 0)
            return -1;
        memmove(raw->s + u->written, from + t.from, t.found);
        u->read += t.took;
        u->written += t.found;
    }
    return u->read == raw->len ? structured_end(&u->frames, e) : 0;
}

static void unframe(struct request *r, void *ctx)
{
    struct unframing *u = ctx;
    struct err e;
    if (unframe_some(&r->raw, u, &e) < 0) {
        request_finish(r, reply_err(r, &e));
    } else if (u->read < r->raw.len) {
        request_again(r, unframe, u);
    } else {
        strbuf_cut(&r->raw, u->written);
        structured_reply(r);
        append_later(r);
    }
}

struct replied *azblob_append(struct request *r)
{
    struct unframing *u = arena_alloc(&r->arena, sizeof *u);
    struct err e;
    *u = (struct unframing){0};
    if (request_header(r, "x-ms-copy-source"))
        return azappend_copy(r, append_later);
    int framed = structured_begin(r, &u->frames, &e);
    if (framed <= 0)
        return framed < 0 ? reply_err(r, &e) : blob_change(r, append);
    request_again(r, unframe, u);
    return reply_later(r);
}

/* --- sealed ----------------------------------------------------------------------------------- */

/* Seals the blob: changes only its row, and nothing if the blob is sealed already.
 * https://learn.microsoft.com/rest/api/storageservices/append-blob-seal */
static void seal(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    int rc = check_blob(w, f, "sealed", &e);
    if (rc == 0 && !beside_is_sealed(&w->item)) {
        beside_seal(&r->arena, &w->item);
        item_revise(r, &w->item);
        lease_written(r, &w->item);
        rc = st_item_put(azstorage_of(r)->storage, &w->item, &e);
    }
    if (rc < 0) {
        refuse(w, &e);
        return;
    }
    blob_state(r, f, &w->item);
    reply_header_text(r, BESIDE_SEALED, "true");
    blob_finish(w, reply_empty(r, 200));
}

struct replied *azblob_seal(struct request *r)
{
    return blob_change(r, seal);
}
