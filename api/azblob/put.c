/* SPDX-License-Identifier: MIT
 *
 * Put Blob and Put Block: all bytes of a new file in one request. A small body is collected and put
 * at once; a large one goes to the share's worker in pieces while it arrives, two at a time in
 * memory.
 *
 *   small: collected ------------------------------> turn -> look -> put -----\
 *   large: look -> opened -> pieces -> all there -> turn -> look -> finish ---+-> noted -> 201
 *
 * Conditions and leases count when the blob's turn comes (turns.h); a large body is not read if
 * they do not hold at the beginning. A block needs neither look nor turn.
 *
 * The client may leave at any time before its body is complete, while a call is under way.
 */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/turns.h"
#include "api/http/body.h"
#include "storage/storage.h"

#define SMALL_MAX (256 * 1024)
#define PIECE     (256 * 1024)

struct put {
    struct request *r; /* NULL: the client is gone */
    struct files *files;
    struct blob blob;
    struct share_item item;
    struct replied *(*done)(struct put *p, const struct file_result *f);
    struct turn turn;
    bool wants_turn, in_turn;
    struct file_upload *upload; /* owned; NULL: small, or not opened yet */
    size_t length;              /* of a small one */
    bool small;
    bool calling; /* a call of files/ is under way */
    bool ended;   /* the body is complete */
    bool failed;
    bool has_md5, is_new;
    uint8_t md5[FILES_MD5];
    char *piece; /* owned: what is collected; as large as `room` */
    size_t n, room;
};

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

/* --- done ----------------------------------------------------------------------------------- */

static struct replied *put_blob_done(struct put *p, const struct file_result *f)
{
    struct request *r = p->r;
    struct err e;
    char md5[MD5_TEXT];
    sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
    p->item.md5 = md5;
    p->item.aside = p->blob.aside ? p->blob.at.path : NULL;
    p->item.created_us = r->now_us;
    item_set_file(&p->item, &f->facts);
    if (blob_note(r, &p->blob, &p->item, &e) < 0)
        return reply_err(r, &e);
    blob_state(r, &f->facts, &p->item);
    reply_header(r, "Content-MD5", "%s", md5);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    return reply_empty(r, 201);
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
                                 .wants_md5 = p->has_md5 || p->done == put_blob_done};
    return out;
}

static void put_small(struct put *p)
{
    struct files_upload what;
    char *copy = xrealloc(NULL, p->n + 1); /* it may have to be put once more, aside */
    memcpy(copy, p->piece ? p->piece : "", p->n);
    p->calling = true;
    files_put(p->files, upload_of(p, &what), copy, p->n, p->has_md5 ? p->md5 : NULL, on_put, p);
}

static void on_put(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    struct err e;
    if (is_over(p))
        return;
    if (!why) {
        finish(p, p->done(p, f));
    } else if (p->small && must_be_aside(p, f->fault)) {
        blob_aside(p->r, &p->blob);
        put_small(p);
    } else {
        blob_fault(why, f->fault, &e);
        fail(p, &e);
    }
}

/* --- a large body --------------------------------------------------------------------------- */

static void complete(struct put *p);
static void go_on(struct put *p);

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
        char *piece = p->piece;
        size_t n = p->n;
        p->piece = NULL;
        p->n = p->room = 0;
        p->calling = true;
        upload_write(p->upload, piece, n, on_written, p);
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

/* Whether the blob may be put over what is there. */
static int check(struct put *p, const struct err *why, const struct file_result *f, struct err *e)
{
    bool there = !why && !f->facts.is_directory;
    if (why && why->code == ERR_UNAVAILABLE)
        return blob_fault(why, f->fault, e);
    if (!why && f->facts.is_directory && !p->blob.aside)
        blob_aside(p->r, &p->blob);
    if (item_load(p->r, p->blob.name, &p->blob.item, e) < 0 ||
        blob_check(p->r, &p->blob, there ? &f->facts : NULL, e) < 0)
        return -1;
    if (!there || grant_has(grant_of(p->r), 'w'))
        return 0;
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation using this "
                   "permission: the blob is there, and the signature may only create.");
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct put *p = ctx;
    struct err e;
    if (is_over(p))
        return;
    if (check(p, why, f, &e) < 0)
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
    else
        look(p);
}

/* All bytes are there. */
static void complete(struct put *p)
{
    if (!p->wants_turn) {
        put_it(p);
        return;
    }
    p->turn =
        (struct turn){.share_id = p->item.share_id, .path = p->blob.name, .go = on_turn, .ctx = p};
    turn_want(azstorage_of(p->r)->turns, &p->turn);
}

/* --- the body ------------------------------------------------------------------------------- */

static size_t take(void *ctx, const char *bytes, size_t n)
{
    struct put *p = ctx;
    if (p->failed)
        return n;
    if (!p->small && (!p->upload || (p->calling && p->n == p->room && p->room > 0)))
        return 0;
    if (!p->piece) {
        p->room = p->small ? p->length : PIECE;
        p->piece = xrealloc(NULL, p->room);
    }
    size_t took = n < p->room - p->n ? n : p->room - p->n;
    memcpy(p->piece + p->n, bytes, took);
    p->n += took;
    if (!p->small && p->n == p->room && !p->calling) {
        char *piece = p->piece;
        p->piece = NULL;
        p->n = p->room = 0;
        p->calling = true;
        upload_write(p->upload, piece, PIECE, on_written, p);
    }
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

static struct replied *start(struct request *r, struct put *p)
{
    const struct body_sink sink = {.take = take, .end = end, .release = on_release, .ctx = p};
    struct replied *token = request_stream(r, &sink);
    const char *length = request_header(r, "Content-Length");
    unsigned long long n = length ? strtoull(length, NULL, 10) : SMALL_MAX + 1;
    p->r = r;
    p->files = azstorage_of(r)->files;
    p->small = n <= SMALL_MAX;
    p->length = p->small ? (size_t)n : 0;
    if (!p->small && p->wants_turn)
        look(p);
    else if (!p->small)
        open_large(p);
    return token;
}

static int read_item(struct request *r, enum blob_type type, struct share_item *out, struct err *e)
{
    *out = (struct share_item){.share_id = grant_of(r)->share.id,
                               .path = r->rest,
                               .type = type,
                               .lease_state = LEASE_AVAILABLE,
                               .revision = 1};
    const char *tier;
    if (metadata_read(r, &out->metadata, e) < 0 ||
        properties_read(r, "x-ms-blob-", &out->properties, e) < 0 ||
        tags_read_header(r, &out->tags, e) < 0 || tier_read(r, &tier, e) < 0)
        return -1;
    if (tier)
        tier_set(&r->arena, out, tier);
    return 0;
}

static int read_type(struct request *r, enum blob_type *out, struct err *e)
{
    const char *type = request_header(r, "x-ms-blob-type");
    if (!type)
        return err_set(e, AZSTORAGE_HEADER_MISSING, "x-ms-blob-type",
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-blob-type.");
    if (strcasecmp(type, "PageBlob") == 0)
        return err_set(e, AZSTORAGE_HEADER_UNSUPPORTED, "x-ms-blob-type",
                       "Page blobs (x-ms-blob-type: PageBlob) are not served; block and append "
                       "blobs are.");
    *out = strcasecmp(type, "AppendBlob") == 0 ? BLOB_APPEND : BLOB_BLOCK;
    if (*out == BLOB_BLOCK && strcasecmp(type, "BlockBlob") != 0)
        return err_set(e, AZSTORAGE_HEADER, "x-ms-blob-type",
                       "x-ms-blob-type is '%.40s'; it must be BlockBlob or AppendBlob.", type);
    return 0;
}

/* An append blob begins empty. */
static int check_length(struct request *r, enum blob_type type, struct err *e)
{
    if (type == BLOB_APPEND && request_has_body(r))
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "The value for one of the HTTP headers is not in the correct format: an "
                       "append blob is made empty, so Content-Length must be 0.");
    return 0;
}

/* Both headers may say which MD5 it must have. */
static int read_md5(struct request *r, struct put *p, struct err *e)
{
    int own = blob_md5(r, "Content-MD5", p->md5, e);
    int stored = own == 0 ? blob_md5(r, "x-ms-blob-content-md5", p->md5, e) : 0;
    p->has_md5 = own > 0 || stored > 0;
    return own < 0 || stored < 0 ? -1 : 0;
}

struct replied *azblob_put(struct request *r)
{
    struct err e;
    enum blob_type type = BLOB_BLOCK;
    if (request_header(r, "x-ms-copy-source"))
        return azblob_copy(r);
    struct put *p = xcalloc(1, sizeof *p);
    if (blob_of(r, &p->blob, &e) < 0 || read_type(r, &type, &e) < 0 ||
        check_length(r, type, &e) < 0 || read_item(r, type, &p->item, &e) < 0 ||
        read_md5(r, p, &e) < 0) {
        free(p);
        return reply_err(r, &e);
    }
    p->is_new = conditions_want_new(r);
    p->done = put_blob_done;
    p->wants_turn = true;
    return start(r, p);
}

/* --- blocks --------------------------------------------------------------------------------- */

static struct replied *put_block_done(struct put *p, const struct file_result *f)
{
    char md5[MD5_TEXT];
    if (p->has_md5) {
        sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
        reply_header(p->r, "Content-MD5", "%s", md5);
    }
    reply_header_text(p->r, "x-ms-request-server-encrypted", "true");
    return reply_empty(p->r, 201);
}

struct replied *azblock_put(struct request *r)
{
    struct err e;
    const char *id;
    struct put *p = xcalloc(1, sizeof *p);
    int given = 0;
    if (blob_of(r, &p->blob, &e) < 0 || blob_check_lease(r, &p->blob.item, true, &e) < 0 ||
        block_id(r, request_query(r, "blockid"), &id, &e) < 0 ||
        (given = blob_md5(r, "Content-MD5", p->md5, &e)) < 0) {
        free(p);
        return reply_err(r, &e);
    }
    p->has_md5 = given > 0;
    p->done = put_block_done;
    p->blob.aside = true; /* its name is ours */
    p->blob.at = (struct file_place){blob_account_folder(r),
                                     arena_concat(&r->arena, blocks_folder(r), "/", id)};
    return start(r, p);
}
