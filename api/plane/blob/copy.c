/* SPDX-License-Identifier: MIT
 *
 * Copies of blobs and files of this daemon's accounts, by their URLs. A copy is complete before the
 * reply, and replaces the whole blob in one step.
 *
 * turn -> look -> look at the source -> opened -> copied -> finished -> noted
 *
 * If the source is overwritten meanwhile, the copy ends its own turn (write_lock.h), reads the
 * source's facts in the source's turn, and begins again. It never holds both turns, so two blobs
 * that are copied to each other cannot deadlock.
 * https://learn.microsoft.com/rest/api/storageservices/copy-blob
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/body.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/storage/beside.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/tiers.h"
#include "api/plane/storage/write_lock.h"
#include "lib/guid.h"

#define TRIES 20

struct blob_copy {
    struct request *r;
    struct blob blob;
    struct source from;
    struct file_facts source; /* the source's facts when they were read last */
    bool source_is_known;     /* these facts were read in the source's turn */
    uint64_t since;           /* turns_now() before the source's notes were read */
    int tries;
    struct share_item item; /* the row to write */
    const char *md5;        /* the MD5 to note, which the request gives; or NULL */
    struct file_upload *upload;
    struct turn turn;
    int status; /* status of the reply after success */
    bool has_was;
    struct file_facts was; /* facts of the blob's present file, if has_was */
    struct placing placing;
    char id[GUID_SIZE]; /* id of the copy */
    uint64_t crc64;     /* CRC64 of the bytes of a synchronous copy */
};

static void finish(struct blob_copy *c, struct replied *done)
{
    turn_finish(c->r, done, &c->turn);
}

static void fail(struct blob_copy *c, const struct err *e)
{
    finish(c, reply_err(c->r, e));
}

static void fail_with(struct blob_copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    fail(c, &e);
}

static void fail_source(struct blob_copy *c, const struct err *why, enum file_fault fault)
{
    struct err e;
    blob_fault(why, fault, &e);
    if (e.code == AZSTORAGE_BLOB_NOT_FOUND)
        err_set(&e, AZSTORAGE_COPY_SOURCE, NULL, "The specified copy source does not exist.");
    fail(c, &e);
}

/* --- noted ---------------------------------------------------------------------------------- */

/* Sets the properties that depend on the bytes, such as the MD5 and the blocks. */
static void note_bytes(struct blob_copy *c)
{
    const struct share_item *from = &c->from.item;
    bool same = item_is_of(from, &c->source);
    c->item.md5 = c->md5 ? c->md5 : same ? from->md5 : NULL;
    c->item.blocks = same && c->item.type == blob_type_of(from) ? from->blocks : NULL;
}

/* Whether the copy gets the source's properties. */
static bool takes_properties(struct request *r)
{
    const char *says = request_header(r, "x-ms-copy-source-blob-properties");
    return !says || strcasecmp(says, "false") != 0;
}

#define TAG_OPTION "x-ms-copy-source-tag-option"

static bool copies_tags(struct request *r)
{
    const char *says = request_header(r, TAG_OPTION);
    return says && strcasecmp(says, "COPY") == 0;
}

/* Reads the tags of the request; with the option COPY the source's tags, which are checked as if
 * they were the request's. */
static int read_tags(struct blob_copy *c, struct err *e)
{
    const char *says = request_header(c->r, TAG_OPTION);
    bool copies = copies_tags(c->r);
    if (says && !copies && strcasecmp(says, "REPLACE") != 0)
        return err_set(e, AZSTORAGE_HEADER, TAG_OPTION,
                       TAG_OPTION " is '%.40s'; it must be COPY or REPLACE.", says);
    if (tags_read_header(c->r, &c->item.tags, e) < 0)
        return -1;
    if (copies && request_header(c->r, "x-ms-tags"))
        return err_set(e, AZSTORAGE_HEADER, TAG_OPTION,
                       TAG_OPTION " is COPY, so the request must have no x-ms-tags.");
    if (!copies)
        return 0;
    c->item.tags = c->from.item.tags;
    return plane_check_tags(c->r, e);
}

/* Finds the source. If its tags are copied, the request needs the right to read them too. */
static int find_source(struct blob_copy *c, struct err *e)
{
    return source_of(c->r, "x-ms-copy-source", copies_tags(c->r) ? "rt" : "r", &c->from, e);
}

/* Whether this is Copy Blob From URL: its reply has a hash of the bytes. */
static bool copies_at_once(const struct blob_copy *c)
{
    const char *says = request_header(c->r, "x-ms-requires-sync");
    return c->status == 202 && says && strcasecmp(says, "true") == 0;
}

/* Sets the copy's tier: the tier of the request, or else the source's. An archived source is
 * refused, except by an asynchronous Copy Blob: then the copy is rehydrated. */
static int read_tier(struct blob_copy *c, struct err *e)
{
    struct request *r = c->r;
    const char *given, *priority;
    const struct tier from = tier_now(r, c->from.subscription, &c->from.item, &c->source);
    if (tier_read(r, &given, e) < 0 || tier_check_type(c->item.type, given, e) < 0 ||
        tier_read_priority(r, &priority, e) < 0)
        return -1;
    bool kept = !given && takes_properties(r);
    beside_drop(&r->arena, &c->item);
    if (!from.archived) {
        tier_set(&r->arena, &c->item, kept ? from.name : given);
        return 0;
    }
    if (!given || strcmp(given, "Archive") == 0 || copies_at_once(c) || c->status != 202)
        return tier_refuse(&from, e);
    tier_rehydrate(r, &c->item, given, priority && strcmp(priority, "High") == 0);
    return 0;
}

#define SEAL "x-ms-seal-blob"

/* Seals the copy if the request asks for it, whether or not the source is sealed. */
static int read_seal(struct blob_copy *c, struct err *e)
{
    const char *says = request_header(c->r, SEAL);
    if (!says || strcasecmp(says, "false") == 0)
        return 0;
    if (strcasecmp(says, "true") != 0)
        return err_set(e, AZSTORAGE_HEADER, SEAL, SEAL " is '%.40s'; it must be true or false.",
                       says);
    if (c->item.type != BLOB_APPEND)
        return err_set(e, AZSTORAGE_BLOB_TYPE, NULL,
                       "The blob type is invalid for this operation: the source is a %s, and only "
                       "the copy of an AppendBlob can be sealed (" SEAL ").",
                       blob_type_name(c->item.type));
    beside_seal(&c->r->arena, &c->item);
    return 0;
}

/* Makes the copy's row. Properties of the request replace those of the source. */
static int read_item(struct blob_copy *c, struct err *e)
{
    struct request *r = c->r;
    const struct share_item *from = &c->from.item;
    const char *given;
    c->item = (struct share_item){.share_id = grant_of(r)->share.id,
                                  .path = c->blob.name,
                                  .type = c->status == 201 ? BLOB_BLOCK : blob_type_of(from),
                                  .properties = from->properties,
                                  .metadata = from->metadata,
                                  .lease_state = LEASE_AVAILABLE,
                                  .revision = 1,
                                  .created_us = r->now_us};
    note_bytes(c);
    if (properties_read(r, "x-ms-blob-", false, &given, e) < 0)
        return -1;
    c->item.properties = given || !takes_properties(r) ? given : from->properties;
    if (metadata_read(r, &given, e) < 0)
        return -1;
    c->item.metadata = given ? given : from->metadata;
    return read_tags(c, e) < 0 || read_tier(c, e) < 0 ? -1 : read_seal(c, e);
}

static void fill(void *ctx, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    c->crc64 = f->crc64;
    request_guid(c->r, c->id);
    c->item.copy = copy_text(c->r, c->id, f->facts.size);
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    struct request *r = c->r;
    if (why) {
        fail_with(c, why, f->fault);
        return;
    }
    blob_state(r, &f->facts, &c->item);
    if (copies_at_once(c))
        crc64_reply(r, c->crc64);
    if (c->status == 202) { /* a reply of Put Blob From URL has no copy headers */
        reply_header(r, "x-ms-copy-id", "%s", c->id);
        reply_header_text(r, "x-ms-copy-status", "success");
    }
    finish(c, reply_empty(r, c->status));
}

/* --- copied --------------------------------------------------------------------------------- */

static bool look_in_turn(struct blob_copy *c, const struct file_facts *f);

static void on_copied(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    bool same = !why && (c->from.is_snapshot || item_same_file(&f->facts, &c->source));
    if (!same && look_in_turn(c, why ? NULL : &f->facts))
        return;
    if (why) {
        fail_source(c, why, f->fault);
        return;
    }
    if (!same) { /* another request has overwritten the source */
        c->source = f->facts;
        note_bytes(c);
    }
    c->placing = (struct placing){.r = c->r,
                                  .blob = &c->blob,
                                  .item = &c->item,
                                  .upload = c->upload,
                                  .was = c->has_was ? &c->was : NULL,
                                  .fill = fill,
                                  .done = on_finished,
                                  .ctx = c};
    blob_place(&c->placing);
}

static void open_upload(struct blob_copy *c);

static void on_opened(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_upload *upload)
{
    struct blob_copy *c = ctx;
    /* copies only the bytes of the row's version: an append may add more meanwhile */
    bool is_known = item_is_of(&c->from.item, &c->source);
    const struct file_part all = {c->from.path, {0, is_known ? c->source.size : FILES_ALL}};
    c->upload = upload;
    if (!why) {
        upload_copy(upload, c->from.folder, &all, 1, on_copied, c);
    } else if (!c->blob.aside && (fault == FILE_PARENT_MISSING || fault == FILE_BAD_NAME)) {
        blob_aside(c->r, &c->blob);
        open_upload(c);
    } else {
        fail_with(c, why, fault);
    }
}

static void open_upload(struct blob_copy *c)
{
    const struct files_upload what = {.at = c->blob.at,
                                      .mode = 0666,
                                      .directory_mode = 0777,
                                      .is_new = blob_must_be_new(c->r, &c->blob.item),
                                      .wants_crc64 = copies_at_once(c)};
    files_upload(azstorage_of(c->r)->files, &what, on_opened, c);
}

static void begin(void *ctx);

/* Stores the facts of the source. False: there is no source file, and the request has failed. */
static bool take_source(struct blob_copy *c, const struct err *why, const struct file_result *f)
{
    if (why || f->facts.is_directory) {
        fail_source(c, why ? why : &(struct err){.code = ERR_FILE_NOT_FOUND},
                    why ? f->fault : FILE_IS_DIRECTORY);
        return false;
    }
    c->source = c->from.is_snapshot ? item_facts(&c->from.item) : f->facts;
    return true;
}

static void on_source_in_turn(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    if (!take_source(c, why, f))
        return;
    turn_end(azstorage_of(c->r)->turns, &c->turn);
    c->source_is_known = true;
    begin(c);
}

static void on_source_turn(void *ctx)
{
    struct blob_copy *c = ctx;
    struct err e;
    c->since = turns_now(azstorage_of(c->r)->turns);
    if (find_source(c, &e) < 0) {
        fail(c, &e);
        return;
    }
    const struct file_place from = {c->from.folder, c->from.path};
    files_facts(azstorage_of(c->r)->files, &from, on_source_in_turn, c);
}

/* If the source's facts and row may be of two versions, begins again in the source's turn, or fails
 * after too many tries: true. False: they are of one version. */
static bool look_in_turn(struct blob_copy *c, const struct file_facts *f)
{
    struct err e;
    if (!source_is_torn(c->r, &c->from, f, c->since))
        return false;
    if (c->tries++ == TRIES) {
        err_set(&e, AZSTORAGE_SOURCE_CONDITION, NULL,
                "The source was overwritten during each of %d attempts to copy it.", TRIES);
        fail(c, &e);
        return true;
    }
    if (c->upload)
        upload_end(c->upload);
    c->upload = NULL;
    turn_end(azstorage_of(c->r)->turns, &c->turn);
    c->turn = (struct turn){
        .share_id = c->from.share.id, .path = c->from.name, .go = on_source_turn, .ctx = c};
    turn_want(azstorage_of(c->r)->turns, &c->turn);
    return true;
}

static void copy_it(struct blob_copy *c)
{
    struct err e;
    if (source_check_conditions(c->r, &c->from, &c->source, &e) < 0 ||
        tags_check(c->r, "x-ms-source-if-tags", &c->from.item, AZSTORAGE_SOURCE_CONDITION, &e) <
            0 ||
        read_item(c, &e) < 0)
        fail(c, &e);
    else
        open_upload(c);
}

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    bool hangs = why && why->code == ERR_UNAVAILABLE;
    if (!hangs && look_in_turn(c, why ? NULL : &f->facts))
        return;
    if (take_source(c, why, f))
        copy_it(c);
}

/* Checks the lease of an asynchronous copy. It may last longer than a finite lease, so only an
 * infinite lease is accepted. */
static int check_lease(struct blob_copy *c, struct err *e)
{
    const struct lease l = lease_of_item(&c->blob.item);
    bool at_once = c->status != 202 || request_header(c->r, "x-ms-requires-sync");
    return at_once ? 0 : lease_check_infinite(c->r, &l, e);
}

static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_copy *c = ctx;
    struct request *r = c->r;
    struct err e;
    bool there = !why && !f->facts.is_directory;
    if (why && why->code == ERR_UNAVAILABLE) {
        fail_with(c, why, f->fault);
        return;
    }
    c->has_was = there;
    c->was = f->facts;
    if (!why && !there && !c->blob.aside)
        blob_aside(r, &c->blob); /* a directory has the blob's name */
    if (blob_check(r, &c->blob, there ? &f->facts : NULL, &e) < 0 ||
        (there && check_lease(c, &e) < 0)) {
        fail(c, &e);
        return;
    }
    if (!there)
        blob_without_lease(&c->blob);
    if (plane_check_overwrite(grant_of(r), there, &e) < 0) {
        fail(c, &e);
        return;
    }
    const struct file_place from = {c->from.folder, c->from.path};
    if (c->source_is_known)
        copy_it(c);
    else
        files_facts(azstorage_of(r)->files, &from, on_source, c);
}

static void on_turn(void *ctx)
{
    struct blob_copy *c = ctx;
    struct err e;
    if (blob_of(c->r, &c->blob, &e) < 0)
        fail(c, &e);
    else
        files_facts(azstorage_of(c->r)->files, &c->blob.at, on_facts, c);
}

/* --- the request: its body does not matter -------------------------------------------------- */

static size_t take(void *ctx, const char *bytes, size_t n)
{
    (void)ctx, (void)bytes;
    return n;
}

static void begin(void *ctx)
{
    struct blob_copy *c = ctx;
    c->turn = (struct turn){
        .share_id = grant_of(c->r)->share.id, .path = c->blob.name, .go = on_turn, .ctx = c};
    turn_want(azstorage_of(c->r)->turns, &c->turn);
}

static void release(void *ctx)
{
    struct blob_copy *c = ctx;
    if (c->upload)
        upload_end(c->upload);
}

/* Put Blob From URL makes a block blob, whatever its source is; a copy is of its source's type. */
static int check_type(struct request *r, struct err *e)
{
    const char *type = request_header(r, "x-ms-blob-type");
    if (!type || strcasecmp(type, "BlockBlob") == 0)
        return 0;
    return err_set(e, AZSTORAGE_HEADER, "x-ms-blob-type",
                   "x-ms-blob-type is '%.40s'; a blob that is put from a URL is a BlockBlob.",
                   type);
}

struct replied *azblob_copy(struct request *r)
{
    struct err e;
    struct blob_copy *c = arena_alloc(&r->arena, sizeof *c);
    *c = (struct blob_copy){.r = r,
                            .status = request_header(r, "x-ms-blob-type") ? 201 : 202,
                            .since = turns_now(azstorage_of(r)->turns)};
    if (check_type(r, &e) < 0 || blob_of(r, &c->blob, &e) < 0 ||
        md5_given(r, "x-ms-blob-", &c->md5, &e) < 0 || find_source(c, &e) < 0)
        return reply_err(r, &e);
    const struct body_sink sink = {.take = take, .end = begin, .release = release, .ctx = c};
    return request_stream(r, &sink);
}

/* Always fails: a copy has ended before the client gets its id. */
struct replied *azblob_copy_abort(struct request *r)
{
    struct err e;
    err_set(&e, AZSTORAGE_NO_COPY, NULL, "There is currently no pending copy operation.");
    return reply_err(r, &e);
}
