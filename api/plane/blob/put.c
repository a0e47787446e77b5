/* SPDX-License-Identifier: MIT
 *
 * Put Blob and Put Block: reads the headers into a `struct blob_put`. put_body.c then owns and
 * carries it out. On the loop's thread.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/blob/put_priv.h"
#include "api/plane/storage/tiers.h"
#include "storage/storage.h"

/* --- blobs ---------------------------------------------------------------------------------- */

static void fill(struct blob_put *p, const struct file_result *f)
{
    char md5[MD5_TEXT];
    sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
    if (p->item.type != BLOB_APPEND) /* an append blob begins empty and grows */
        p->item.md5 = arena_strdup(&p->r->arena, md5);
    p->item.created_us = p->r->now_us;
}

/* Reads whether the body is a structured message. */
static int read_frames(struct request *r, struct blob_put *p, struct err *e)
{
    int has = structured_begin(r, &p->frames, e);
    p->framed = has > 0;
    return has < 0 ? -1 : 0;
}

static struct replied *noted(struct blob_put *p, const struct file_result *f)
{
    blob_state(p->r, &f->facts, &p->item);
    if (p->item.md5)
        reply_header_text(p->r, "Content-MD5", p->item.md5);
    crc64_reply(p->r, f->crc64);
    if (p->framed)
        structured_reply(p->r);
    reply_header_text(p->r, "x-ms-request-server-encrypted", "true");
    return reply_empty(p->r, 201);
}

/* Checks whether the blob may replace the file at its place (NULL: none). */
static int check_blob(struct blob_put *p, const struct file_facts *there, struct err *e)
{
    if (there && there->is_directory) {
        if (!p->blob.aside)
            blob_aside(p->r, &p->blob);
        there = NULL;
    }
    if (item_load(p->r, p->blob.name, &p->blob.item, e) < 0 ||
        blob_check(p->r, &p->blob, there, e) < 0)
        return -1;
    if (!there)
        blob_without_lease(&p->blob);
    return plane_check_overwrite(grant_of(p->r), there != NULL, e);
}

static const struct put_kind put_blob = {fill, noted, check_blob, .takes_turns = true};

static int read_item(struct request *r, enum blob_type type, struct share_item *out, struct err *e)
{
    *out = (struct share_item){.share_id = grant_of(r)->share.id,
                               .path = r->rest,
                               .type = type,
                               .lease_state = LEASE_AVAILABLE,
                               .revision = 1};
    const char *tier;
    if (metadata_read(r, &out->metadata, e) < 0 ||
        properties_read(r, "x-ms-blob-", true, &out->properties, e) < 0 ||
        tags_read_header(r, &out->tags, e) < 0 || tier_read(r, &tier, e) < 0)
        return -1;
    if (tier)
        tier_set(&r->arena, out, tier);
    return tier_check_type(type, tier, e);
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

/* Checks that the body of an append blob is empty: it can only grow by later requests. */
static int check_length(struct request *r, enum blob_type type, struct err *e)
{
    if (type == BLOB_APPEND && request_has_body(r))
        return err_set(e, AZSTORAGE_HEADER, "Content-Length",
                       "The value for one of the HTTP headers is not in the correct format: an "
                       "append blob is created empty, so Content-Length must be 0.");
    return 0;
}

static int read_crc64(struct request *r, struct blob_put *p, struct err *e)
{
    int given = blob_crc64(r, &p->crc64, e);
    p->has_crc64 = given > 0;
    return given < 0 ? -1 : 0;
}

#define STORED_MD5 "x-ms-blob-content-md5"

/* Reads the header x-ms-blob-content-md5 of an append blob. It is the MD5 of bytes that will be
 * appended, so the empty body is not compared with it. */
static int read_later_md5(struct request *r, struct share_item *i, struct err *e)
{
    uint8_t md5[FILES_MD5];
    int given = md5_read(r, STORED_MD5, md5, e);
    if (given > 0)
        i->md5 = request_header(r, STORED_MD5);
    return given < 0 ? -1 : 0;
}

/* Reads the MD5 of the body from one of two headers; for an append blob from Content-MD5 only. */
static int read_md5(struct request *r, struct blob_put *p, struct err *e)
{
    bool grows = p->item.type == BLOB_APPEND;
    int given = md5_read(r, "Content-MD5", p->md5, e);
    if (given == 0 && !grows)
        given = md5_read(r, STORED_MD5, p->md5, e);
    p->has_md5 = given > 0;
    if (given < 0)
        return -1;
    return grows ? read_later_md5(r, &p->item, e) : 0;
}

struct replied *azblob_put(struct request *r)
{
    struct err e;
    enum blob_type type = BLOB_BLOCK;
    if (request_header(r, "x-ms-copy-source"))
        return azblob_copy(r);
    struct blob_put *p = xcalloc(1, sizeof *p);
    if (blob_of(r, &p->blob, &e) < 0 || read_type(r, &type, &e) < 0 ||
        check_length(r, type, &e) < 0 || read_item(r, type, &p->item, &e) < 0 ||
        read_md5(r, p, &e) < 0 || read_crc64(r, p, &e) < 0 || read_frames(r, p, &e) < 0) {
        free(p);
        return reply_err(r, &e);
    }
    p->is_new = blob_must_be_new(r, &p->blob.item);
    p->kind = &put_blob;
    return put_start(r, p);
}

/* --- blocks --------------------------------------------------------------------------------- */

static struct replied *block_put(struct blob_put *p, const struct file_result *f)
{
    char md5[MD5_TEXT];
    struct err e;
    if (uncommitted_note(p->r, &e) < 0)
        return reply_err(p->r, &e);
    if (p->has_md5) {
        sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
        reply_header(p->r, "Content-MD5", "%s", md5);
    } else {
        crc64_reply(p->r, f->crc64);
    }
    if (p->framed)
        structured_reply(p->r);
    reply_header_text(p->r, "x-ms-request-server-encrypted", "true");
    return reply_empty(p->r, 201);
}

static int check_block(struct blob_put *p, const struct file_facts *there, struct err *e)
{
    bool exists = there && !there->is_directory;
    return exists ? block_check(p->r, p->block_of, there, e) : 0;
}

/* The blob, if its row refuses the block; or NULL. A job may have removed or replaced the file of
 * which the row speaks. */
static const struct blob *refusing(struct request *r, const struct blob *b)
{
    struct err e;
    if (block_check(r, b, NULL, &e) == 0)
        return NULL;
    struct blob *copy = arena_alloc(&r->arena, sizeof *copy);
    *copy = *b;
    return copy;
}

static const struct put_kind put_block = {NULL, block_put, check_block, .takes_turns = false};

struct replied *azblock_put(struct request *r)
{
    struct err e;
    const char *id;
    struct blob_put *p = xcalloc(1, sizeof *p);
    int given = 0;
    if (blob_of(r, &p->blob, &e) < 0 || block_id(r, request_query(r, "blockid"), &id, &e) < 0 ||
        (given = md5_read(r, "Content-MD5", p->md5, &e)) < 0 || read_crc64(r, p, &e) < 0 ||
        read_frames(r, p, &e) < 0) {
        free(p);
        return reply_err(r, &e);
    }
    const struct blob *blob = refusing(r, &p->blob);
    const struct file_place at = {blob_account_folder(r),
                                  arena_concat(&r->arena, blocks_folder(r), "/", id)};
    struct files_upload to = {.at = at, .mode = 0666, .directory_mode = 0777};
    blocks_set_time(&to, r, &p->blob.item);
    if (request_header(r, "x-ms-copy-source")) {
        free(p);
        return azblock_copy(r, blob, &to);
    }
    p->has_md5 = given > 0;
    p->kind = &put_block;
    p->block_of = blob;
    p->has_time = to.has_time;
    p->mtime_ns = to.mtime_ns;
    p->blob.aside = true; /* the daemon chooses the name of the block's file */
    p->blob.at = at;
    return put_start(r, p);
}
