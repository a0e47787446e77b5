/* SPDX-License-Identifier: MIT
 *
 * Blobs that are there: sent, looked at, changed in what is noted of them, deleted.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/leases.h"
#include "api/azstorage/link.h"
#include "api/azstorage/range.h"
#include "api/azstorage/source.h"
#include "storage/storage.h"

#define HASHED_MAX (4 << 20) /* bytes of a range */
#define GET_MD5    "x-ms-range-get-content-md5"
#define GET_CRC64  "x-ms-range-get-content-crc64"

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
    reply_header_text(r, "Accept-Ranges", "bytes");
    const struct lease lease = lease_of_item(i);
    if (!request_query(r, "snapshot"))
        lease_headers(r, &lease);
    if (blob_type_of(i) == BLOB_APPEND)
        reply_header(r, "x-ms-blob-committed-block-count", "%d", append_count(i));
    if (tags_count(i) > 0)
        reply_header(r, "x-ms-tag-count", "%d", tags_count(i));
    if (blob_type_of(i) == BLOB_BLOCK && strcmp(r->method, "HEAD") == 0) {
        const char *tier = tier_of(&r->arena, i);
        reply_header_text(r, "x-ms-access-tier", tier ? tier : "Hot");
        if (!tier)
            reply_header_text(r, "x-ms-access-tier-inferred", "true");
    }
}

/* --- sent ----------------------------------------------------------------------------------- */

static int show(struct request *r, const struct file_facts *f, const char **type, struct err *e)
{
    struct blob b;
    if (blob_of(r, &b, e) < 0)
        return -1;
    const struct file_facts facts = blob_facts(&b, f);
    if (blob_check(r, &b, &facts, e) < 0)
        return -1;
    blob_headers(r, &facts, &b.item, type);
    return 0;
}

static struct replied *send_blob(struct request *r, const struct file_place *at, bool later)
{
    const struct file_reply what = {.folder = at->share,
                                    .path = at->path,
                                    .range = range_header(r),
                                    .look = show,
                                    .later = later,
                                    .missing = AZSTORAGE_BLOB_NOT_FOUND};
    return reply_file(r, azstorage_of(r)->files, &what);
}

static void hash_reply(struct request *r, const char *name, const uint8_t *hash, size_t n)
{
    char text[MD5_TEXT];
    sodium_bin2base64(text, sizeof text, hash, n, sodium_base64_VARIANT_ORIGINAL);
    reply_header(r, name, "%s", text);
}

static void on_hashed(struct blob_work *w, const struct err *why, const struct file_result *f,
                      bool is_md5)
{
    struct request *r = w->r;
    const struct file_place at = w->blob.at;
    struct err e;
    uint8_t crc64[sizeof f->crc64];
    if (why) {
        blob_fault(why, f->fault, &e);
        request_finish(r, reply_err(r, &e));
        return;
    }
    for (size_t i = 0; i < sizeof crc64; i++)
        crc64[i] = (uint8_t)(f->crc64 >> (8 * i));
    if (is_md5)
        hash_reply(r, "Content-MD5", f->md5, sizeof f->md5);
    else
        hash_reply(r, "x-ms-content-crc64", crc64, sizeof crc64);
    request_release(r); /* the file is kept instead */
    (void)!send_blob(r, &at, true);
}

static void on_md5(void *ctx, const struct err *why, const struct file_result *f)
{
    on_hashed(ctx, why, f, true);
}

static void on_crc64(void *ctx, const struct err *why, const struct file_result *f)
{
    on_hashed(ctx, why, f, false);
}

/* A range is hashed before its first byte is sent, as the hash is in the head. */
static struct replied *send_hashed(struct request *r, const struct blob *b, bool is_md5)
{
    struct err e;
    struct file_range range;
    if (range_exact("x-ms-range", range_header(r), &range, &e) < 0)
        return reply_err(r, &e);
    if (range.len > HASHED_MAX) {
        err_set(&e, AZSTORAGE_HEADER, is_md5 ? GET_MD5 : GET_CRC64,
                "A range that is to be hashed has at most 4 MiB.");
        return reply_err(r, &e);
    }
    struct blob_work *w = blob_work(r, b);
    if (is_md5)
        files_md5(azstorage_of(r)->files, &w->blob.at, &range, on_md5, w);
    else
        files_crc64(azstorage_of(r)->files, &w->blob.at, &range, on_crc64, w);
    return reply_later(r);
}

static bool says_true(const struct request *r, const char *name)
{
    const char *text = request_header(r, name);
    return text && strcasecmp(text, "true") == 0;
}

struct replied *azblob_get(struct request *r)
{
    struct blob b;
    struct err e;
    bool md5 = says_true(r, GET_MD5), crc64 = says_true(r, GET_CRC64);
    if (blob_of(r, &b, &e) < 0)
        return reply_err(r, &e);
    if (md5 && crc64) {
        err_set(&e, AZSTORAGE_HEADER, GET_CRC64,
                "Only one of " GET_MD5 " and " GET_CRC64 " may be asked for.");
        return reply_err(r, &e);
    }
    return md5 || crc64 ? send_hashed(r, &b, md5) : send_blob(r, &b.at, false);
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

/* All properties are set anew: those that are missing are cleared. */
static void set_properties(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    const char *md5 = property_given(w->r, "x-ms-blob-", "content-md5");
    const char *tier = tier_of(&w->r->arena, &w->item);
    if (properties_read(w->r, "x-ms-blob-", false, &w->item.properties, &e) < 0) {
        refuse(w, &e);
        return;
    }
    if (tier)
        tier_set(&w->r->arena, &w->item, tier);
    w->item.md5 = md5;
    if (md5)
        item_set_file(&w->item, f);
    note(w, f);
}

struct replied *azblob_set_properties(struct request *r)
{
    return blob_change(r, set_properties);
}

/* --- leased --------------------------------------------------------------------------------- */

/* The action itself says whether its id is right. */
static void lease(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    struct lease l = lease_of_item(&w->item);
    int status = lease_act(r, &l, false, &e);
    lease_to_item(&l, &w->item);
    item_revise(r, &w->item);
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
