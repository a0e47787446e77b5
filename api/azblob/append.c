/* SPDX-License-Identifier: MIT
 *
 * Append blobs: each request adds a block at the end, in place. Two that append at the same time do
 * so one after the other (turns.h).
 * https://learn.microsoft.com/rest/api/storageservices/append-block
 */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>

#include "api/azblob/handlers.h"
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

static int check(struct blob_work *w, const struct file_facts *f, struct err *e)
{
    struct request *r = w->r;
    uint64_t position = 0, most = 0;
    if (blob_type_of(&w->item) != BLOB_APPEND)
        return err_set(e, AZSTORAGE_BLOB_TYPE, NULL,
                       "The blob type is invalid for this operation: it is a %s, and bytes can be "
                       "appended to an AppendBlob only.",
                       blob_type_name(blob_type_of(&w->item)));
    int has_position = read_number(r, "x-ms-blob-condition-appendpos", &position, e);
    int has_most = read_number(r, "x-ms-blob-condition-maxsize", &most, e);
    if (has_position < 0 || has_most < 0)
        return -1;
    if (has_position && position != f->size)
        return err_set(e, AZSTORAGE_APPEND_POSITION, NULL,
                       "The append position condition specified was not met: the blob has %llu "
                       "bytes.",
                       (unsigned long long)f->size);
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

static void on_appended(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_work *w = ctx;
    struct request *r = w->r;
    struct err e;
    char md5[MD5_TEXT];
    int count = append_count(&w->item) + 1;
    if (why) {
        blob_fault(why, f->fault, &e);
        refuse(w, &e);
        return;
    }
    uint64_t offset = w->item.size >= 0 ? (uint64_t)w->item.size : 0;
    w->item.blocks = arena_printf(&r->arena, "[%d]", count);
    w->item.md5 = NULL;
    item_revise(r, &w->item);
    item_set_file(&w->item, &f->facts);
    if (st_item_put(azstorage_of(r)->storage, &w->item, &e) < 0) {
        refuse(w, &e);
        return;
    }
    sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
    blob_state(r, &f->facts, &w->item);
    reply_header(r, "Content-MD5", "%s", md5);
    blob_crc64_reply(r);
    reply_header(r, "x-ms-blob-append-offset", "%llu", (unsigned long long)offset);
    reply_header(r, "x-ms-blob-committed-block-count", "%d", count);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    blob_finish(w, reply_empty(r, 201));
}

static void append(struct blob_work *w, const struct file_facts *f)
{
    struct request *r = w->r;
    struct err e;
    uint8_t md5[FILES_MD5];
    uint64_t crc64 = 0;
    int given = check(w, f, &e) < 0 ? -1 : blob_md5(r, "Content-MD5", md5, &e);
    int has_crc64 = given < 0 ? -1 : blob_crc64(r, &crc64, &e);
    if (has_crc64 < 0) {
        refuse(w, &e);
        return;
    }
    w->item.size = (int64_t)f->size; /* where the block begins */
    struct files_write what = {.at = w->blob.at,
                               .offset = f->size,
                               .n = r->raw.len,
                               .appends = true,
                               .wants_md5 = true,
                               .md5 = given ? md5 : NULL,
                               .has_crc64 = has_crc64 > 0,
                               .crc64 = crc64};
    what.bytes = strbuf_take(&r->raw);
    files_write(azstorage_of(r)->files, &what, on_appended, w);
}

struct replied *azblob_append(struct request *r)
{
    return blob_change(r, append);
}
