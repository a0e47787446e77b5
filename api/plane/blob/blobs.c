/* SPDX-License-Identifier: MIT
 *
 * Existing blobs: download, properties, changes of their rows (metadata, properties, MD5), leases,
 * deletion.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/beside.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/structured.h"
#include "api/plane/storage/tiers.h"
#include "api/plane/storage/write_lock.h"
#include "storage/storage.h"

#define GET_MD5   "x-ms-range-get-content-md5"
#define GET_CRC64 "x-ms-range-get-content-crc64"

void blob_headers(struct request *r, const struct file_facts *f, const struct share_item *i,
                  const char **type)
{
    char when[TIMEFMT_SIZE];
    bool ranged = range_header(r) != NULL;
    blob_state(r, f, i);
    properties_reply(r, i, type);
    if (i->md5 && item_is_of(i, f))
        reply_header_text(r, ranged ? "x-ms-blob-content-md5" : "Content-MD5", i->md5);
    metadata_reply(r, i->metadata);
    copy_reply(r, i->copy);
    timefmt_http(i->created_us ? i->created_us : f->mtime_us, when);
    reply_header(r, "x-ms-creation-time", "%s", when);
    reply_header_text(r, "x-ms-blob-type", blob_type_name(blob_type_of(i)));
    reply_header_text(r, "x-ms-server-encrypted", "true");
    const struct lease lease = lease_of_item(i);
    if (!request_query(r, "snapshot"))
        lease_headers(r, &lease);
    if (blob_type_of(i) == BLOB_APPEND) {
        reply_header(r, "x-ms-blob-committed-block-count", "%d", append_count(i));
        if (beside_is_sealed(i))
            reply_header_text(r, BESIDE_SEALED, "true");
    }
    if (tags_count(i) > 0)
        reply_header(r, "x-ms-tag-count", "%d", tags_count(i));
    if (blob_type_of(i) == BLOB_BLOCK && strcmp(r->method, "HEAD") == 0) {
        const struct tier tier = tier_here(r, i, f);
        reply_header_text(r, "x-ms-access-tier", tier.name ? tier.name : "Hot");
        if (!tier.name)
            reply_header_text(r, "x-ms-access-tier-inferred", "true");
        if (tier.to) {
            reply_header(r, "x-ms-archive-status", "%s", tier_status(r, &tier));
            reply_header_text(r, "x-ms-rehydrate-priority", tier.priority);
        }
    }
}

/* --- sent ----------------------------------------------------------------------------------- */

/* A download of a blob. If the file was opened during a change of the blob, waits for the blob's
 * turn (write_lock.h) and opens the file again. */
struct blob_reading {
    struct request *r;
    struct turn turn;
    uint64_t since;
    bool later;
    /* whether the request wants this hash; whether `hash` has been computed */
    bool md5, crc64, is_hashed;
    bool framed;             /* the request wants a structured message */
    struct file_range range; /* the range that is hashed */
    struct file_facts facts; /* facts of the file that was hashed */
    char hash[MD5_TEXT];
};

static void end_turn(void *ctx)
{
    struct blob_reading *g = ctx;
    turn_end(azstorage_of(g->r)->turns, &g->turn);
}

static void refuse_reading(struct blob_reading *g, const struct err *e)
{
    struct request *r = g->r;
    end_turn(g);
    request_finish(r, reply_err(r, e));
}

/* Whether the hash was computed from an earlier file than `f`. */
static bool is_other_file(const struct blob_reading *g, const struct file_facts *f)
{
    return g->is_hashed && !item_same_file(f, &g->facts);
}

static int show(struct request *r, void *ctx, const struct file_facts *f, const char **type,
                struct err *e)
{
    struct blob_reading *g = ctx;
    struct blob b;
    if (blob_of(r, &b, e) < 0)
        return f ? -1 : 0;
    if (!g->turn.is_held && (blob_is_torn(r, &b, f, g->since) || (f && is_other_file(g, f))))
        return LOOK_AGAIN;
    if (!f)
        return 0;
    const struct file_facts facts = blob_facts(&b, f);
    if (blob_check(r, &b, &facts, e) < 0)
        return -1;
    blob_headers(r, &facts, &b.item, type);
    if (g->is_hashed)
        reply_header_text(r, g->md5 ? "Content-MD5" : "x-ms-content-crc64", g->hash);
    return 0;
}

static void again(struct request *r, void *ctx)
{
    struct blob_reading *g = ctx;
    turn_want(azstorage_of(r)->turns, &g->turn);
}

static struct replied *send_blob(struct blob_reading *g, const struct file_place *at)
{
    const struct file_reply what = {.folder = at->share,
                                    .path = at->path,
                                    .range = range_header(g->r),
                                    .look = show,
                                    .again = again,
                                    .opened = end_turn,
                                    .ctx = g,
                                    .framed = g->framed,
                                    .later = g->later,
                                    .missing = AZSTORAGE_BLOB_NOT_FOUND};
    return reply_file(g->r, azstorage_of(g->r)->files, &what);
}

static const char *hash_header(const struct blob_reading *g)
{
    return g->md5 ? GET_MD5 : GET_CRC64;
}

static void set_hash(struct blob_reading *g, const struct file_result *f)
{
    uint8_t crc64[sizeof f->crc64];
    for (size_t i = 0; i < sizeof crc64; i++)
        crc64[i] = (uint8_t)(f->crc64 >> (8 * i));
    sodium_bin2base64(g->hash, sizeof g->hash, g->md5 ? f->md5 : crc64,
                      g->md5 ? sizeof f->md5 : sizeof crc64, sodium_base64_VARIANT_ORIGINAL);
    g->facts = f->facts;
    g->is_hashed = true;
}

static void on_hashed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_reading *g = ctx;
    struct blob b;
    struct err e;
    if (why && why->code != ERR_UNAVAILABLE && !g->turn.is_held && blob_of(g->r, &b, &e) == 0 &&
        blob_is_torn(g->r, &b, NULL, g->since)) {
        again(g->r, g);
    } else if (why) {
        blob_fault(why, f->fault, &e);
        refuse_reading(g, &e);
    } else if (blob_of(g->r, &b, &e) < 0 ||
               range_hashed_check(hash_header(g), &g->range, f->facts.size, &e) < 0) {
        refuse_reading(g, &e);
    } else {
        set_hash(g, f);
        (void)!send_blob(g, &b.at);
    }
}

/* Hashes the range before its first byte is sent, because the hash is in the reply's headers. */
static void hash(struct blob_reading *g, const struct file_place *at)
{
    struct files *files = azstorage_of(g->r)->files;
    if (g->md5)
        files_md5(files, at, &g->range, on_hashed, g);
    else
        files_crc64(files, at, &g->range, on_hashed, g);
}

static void on_turn(void *ctx)
{
    struct blob_reading *g = ctx;
    struct blob b;
    struct err e;
    g->later = true;
    if (blob_of(g->r, &b, &e) < 0)
        refuse_reading(g, &e);
    else if (g->md5 || g->crc64)
        hash(g, &b.at);
    else
        (void)!send_blob(g, &b.at);
}

static struct replied *send_hashed(struct blob_reading *g, const struct blob *b)
{
    struct request *r = g->r;
    struct err e;
    if (range_hashed(hash_header(g), "x-ms-range", range_header(r), &g->range, &e) < 0)
        return reply_err(r, &e);
    g->later = true;
    hash(g, &b->at);
    return reply_later(r);
}

static bool says_true(const struct request *r, const char *name)
{
    const char *text = request_header(r, name);
    return text && strcasecmp(text, "true") == 0;
}

/* Reads which hash the request asks for: at most one. */
static int read_hashes(struct blob_reading *g, struct err *e)
{
    int framed = structuring_wanted(g->r, e);
    g->md5 = says_true(g->r, GET_MD5);
    g->crc64 = says_true(g->r, GET_CRC64);
    g->framed = framed > 0;
    if (framed < 0 || g->md5 + g->crc64 + g->framed <= 1)
        return framed < 0 ? -1 : 0;
    return err_set(e, AZSTORAGE_HEADER, g->crc64 ? GET_CRC64 : GET_MD5,
                   "Only one of " GET_MD5 ", " GET_CRC64 " and " STRUCTURED_BODY
                   " may be asked for.");
}

struct replied *azblob_get(struct request *r)
{
    struct blob b;
    struct err e;
    struct blob_reading *g = arena_alloc(&r->arena, sizeof *g);
    *g = (struct blob_reading){.r = r, .since = turns_now(azstorage_of(r)->turns)};
    if (blob_of(r, &b, &e) < 0 || read_hashes(g, &e) < 0)
        return reply_err(r, &e);
    g->turn = (struct turn){.share_id = b.item.share_id, .path = b.name, .go = on_turn, .ctx = g};
    return g->md5 || g->crc64 ? send_hashed(g, &b) : send_blob(g, &b.at);
}

/* --- looked at, changed --------------------------------------------------------------------- */

static void refuse(struct blob_work *w, const struct err *e)
{
    blob_finish(w, reply_err(w->r, e));
}

static void head(struct blob_work *w, const struct file_facts *f)
{
    const char *type = BYTES_TYPE;
    blob_headers(w->r, f, &w->item, &type);
    bool head_only = strcmp(w->r->method, "HEAD") == 0; /* GET ?comp=metadata has no body */
    reply_header_text(w->r, "Accept-Ranges", "bytes");
    blob_finish(w, head_only ? reply_length(w->r, type, f->size) : reply_empty(w->r, 200));
}

struct replied *azblob_head(struct request *r)
{
    return blob_look(r, head);
}

static void note(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    item_revise(r, &w->item);
    lease_written(r, &w->item);
    w->item.created_us = w->item.created_us ? w->item.created_us : f->mtime_us;
    if (st_item_put(azstorage_of(r)->storage, &w->item, &e) < 0) {
        refuse(w, &e);
        return;
    }
    blob_state(r, f, &w->item);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    blob_finish(w, reply_empty(r, 200));
}

static void set_metadata(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    if (metadata_read(w->r, &w->item.metadata, &e) < 0)
        refuse(w, &e);
    else
        note(w, f);
}

struct replied *azblob_set_metadata(struct request *r)
{
    return blob_change(r, set_metadata);
}

/* Sets the MD5 of the present file. If the item describes an earlier file, its notes (such as its
 * archiving) end, and it now describes this file. */
static void set_md5(struct blob_work *w, const struct file_facts *f, const char *md5)
{
    if (md5 && !item_is_of(&w->item, f)) {
        const struct tier now = tier_here(w->r, &w->item, f);
        tier_set(&w->r->arena, &w->item, now.name);
        item_follow_file(&w->item, f);
    }
    w->item.md5 = md5;
}

/* Sets all properties; clears those that the request lacks. */
static void set_properties(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    const char *md5, *was = w->item.properties;
    if (md5_given(w->r, "x-ms-blob-", &md5, &e) < 0 ||
        properties_replace(w->r, "x-ms-blob-", &w->item.properties, &e) < 0) {
        refuse(w, &e);
        return;
    }
    beside_keep(&w->r->arena, was, &w->item);
    set_md5(w, f, md5);
    note(w, f);
}

struct replied *azblob_set_properties(struct request *r)
{
    return blob_change(r, set_properties);
}

/* --- leased --------------------------------------------------------------------------------- */

/* Carries out a lease action. The caller has not checked the lease id, because the action checks
 * it. */
static void lease(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    struct lease l = lease_of_item(&w->item);
    int status = lease_act(r, &l, false, &e);
    lease_to_item(&l, &w->item);
    if (status < 0 || st_item_put(azstorage_of(r)->storage, &w->item, &e) < 0) {
        refuse(w, &e);
        return;
    }
    blob_state(r, f, &w->item);
    blob_finish(w, reply_empty(r, status));
}

struct replied *azblob_lease(struct request *r)
{
    return blob_change(r, lease);
}
