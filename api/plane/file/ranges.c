/* SPDX-License-Identifier: MIT
 *
 * Ranges of files: written in place, and on disk before the reply.
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "api/plane/storage/xml_write.h"
#include "storage/storage.h"

#define MD5_TEXT 25 /* base64 of 16 bytes, and NUL */

static bool keeps_time(struct request *r)
{
    const char *when = request_header(r, "x-ms-file-last-write-time");
    return when && strcasecmp(when, "preserve") == 0;
}

/* Writes the file's row after a write of bytes. The MD5 that a client has set is kept, because
 * clients set it before they write the bytes. Of concurrent writes the last one decides. If the
 * file keeps its modification time, a new revision gives it a new ETag. */
static int note_write(struct request *r, struct share_item *i, const struct file_facts *f,
                      struct err *e)
{
    bool keeps_md5 = i->md5 && f->mtime_ns >= i->mtime_ns;
    if (keeps_md5)
        item_set_file(i, f);
    if (keeps_time(r))
        return azfile_note(r, i, e);
    return keeps_md5 ? st_item_put(azstorage_of(r)->storage, i, e) : 0;
}

void azfile_md5_reply(struct request *r, const uint8_t md5[])
{
    char text[MD5_TEXT];
    sodium_bin2base64(text, sizeof text, md5, FILES_MD5, sodium_base64_VARIANT_ORIGINAL);
    reply_header(r, "Content-MD5", "%s", text);
}

static struct replied *written(struct azfile_change *c, const struct err *why,
                               const struct file_result *f)
{
    struct request *r = c->r;
    struct err e;
    struct share_item item;
    if (why) {
        azfile_fault(why, f->fault, &e);
        return reply_err(r, &e);
    }
    if (item_load(r, c->at.path, &item, &e) < 0 || note_write(r, &item, &f->facts, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, item_etag(&f->facts, &item), f->facts.mtime_us);
    if (request_header(r, "x-ms-copy-source"))
        crc64_reply(r, f->crc64);
    if (request_has_body(r)) {
        azfile_md5_reply(r, f->md5);
        reply_header_text(r, "x-ms-request-server-encrypted", "true");
    }
    return reply_empty(r, 201);
}

static void on_written(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    request_finish(c->r, written(c, why, f));
}

static struct replied *clear(struct request *r, const struct azfile *at,
                             const struct file_range *range)
{
    const struct files_clear what = {
        .at = {at->folder, at->path}, .range = *range, .keeps_mtime = keeps_time(r)};
    files_clear(azstorage_of(r)->files, &what, on_written, azfile_change(r, at));
    return reply_later(r);
}

static struct replied *update(struct request *r, const struct azfile *at,
                              const struct file_range *range)
{
    struct err e;
    uint8_t md5[FILES_MD5];
    int given = md5_read(r, "Content-MD5", md5, &e);
    if (given < 0)
        return reply_err(r, &e);
    if (r->raw.len != range->len) {
        err_set(&e, AZSTORAGE_HEADER, "Content-Length",
                "The body has %zu bytes, but the range has %" PRIu64 "; both must be the same.",
                r->raw.len, range->len);
        return reply_err(r, &e);
    }
    struct files_write what = {.at = {at->folder, at->path},
                               .offset = range->offset,
                               .n = r->raw.len,
                               .keeps_mtime = keeps_time(r),
                               .wants_md5 = true,
                               .md5 = given ? md5 : NULL};
    what.bytes = strbuf_take(&r->raw);
    files_write(azstorage_of(r)->files, &what, on_written, azfile_change(r, at));
    return reply_later(r);
}

struct range_copy {
    struct azfile_change *change;
    struct source from;
    struct files_copy_range what;
};

static void on_source(void *ctx, const struct err *why, const struct file_result *f)
{
    struct range_copy *x = ctx;
    struct azfile_change *c = x->change;
    const struct file_facts facts = x->from.is_snapshot ? item_facts(&x->from.item) : f->facts;
    struct err e;
    if (why)
        on_written(c, why, f);
    else if (source_check_online(c->r, &x->from, &facts, &e) < 0)
        azfile_fail(c, &e);
    else
        files_copy_range(azstorage_of(c->r)->files, &x->what, on_written, c);
}

/* Copies a range from another file of this daemon; the kernel copies the bytes. */
static struct replied *copy(struct request *r, const struct azfile *at,
                            const struct file_range *range)
{
    struct err e;
    struct range_copy *x = arena_alloc(&r->arena, sizeof *x);
    struct file_range part = {0};
    if (source_of(r, "x-ms-copy-source", "r", &x->from, &e) < 0 ||
        range_exact("x-ms-source-range", request_header(r, "x-ms-source-range"), &part, &e) < 0)
        return reply_err(r, &e);
    if (part.len != range->len || part.len > AZRANGE_MAX) {
        err_set(&e, AZSTORAGE_HEADER, "x-ms-source-range",
                "x-ms-source-range has %" PRIu64 " bytes, the range %" PRIu64
                "; both must be the same, and at most 4 MiB.",
                part.len, range->len);
        return reply_err(r, &e);
    }
    x->change = azfile_change(r, at);
    x->what = (struct files_copy_range){.at = {at->folder, at->path},
                                        .offset = range->offset,
                                        .from = {x->from.folder, x->from.path},
                                        .range = part,
                                        .keeps_mtime = keeps_time(r)};
    files_facts(azstorage_of(r)->files, &x->what.from, on_source, x);
    return reply_later(r);
}

struct replied *azrange_put(struct request *r)
{
    struct azfile at;
    struct err e;
    struct share_item item;
    struct file_range range = {0};
    const char *how = request_header(r, "x-ms-write");
    if (azfile_of(r, &at, &e) < 0 || range_exact("x-ms-range", range_header(r), &range, &e) < 0 ||
        item_load(r, at.path, &item, &e) < 0 || azfile_may(r, &item, true, &e) < 0)
        return reply_err(r, &e);
    if (how && strcasecmp(how, "update") == 0)
        return request_header(r, "x-ms-copy-source") ? copy(r, &at, &range)
                                                     : update(r, &at, &range);
    if (how && strcasecmp(how, "clear") == 0)
        return clear(r, &at, &range);
    err_set(&e, how ? AZSTORAGE_HEADER : AZSTORAGE_HEADER_MISSING, "x-ms-write",
            "The header x-ms-write is '%.40s'; it must be 'update' or 'clear'.", how ? how : "");
    return reply_err(r, &e);
}

/* --- which hold data ------------------------------------------------------------------------ */

/* Adds the ranges of the file that are within `in`, rounded to 512 bytes. */
static void add_ranges(struct strbuf *b, const struct file_result *f, const struct file_range *in)
{
    for (size_t i = 0; i < f->ranges; i++) {
        uint64_t first = f->range[i].offset, end = first + f->range[i].len;
        first = first < in->offset ? in->offset : first;
        end = end > in->offset + in->len ? in->offset + in->len : end;
        if (first < end)
            strbuf_printf(b, "<Range><Start>%" PRIu64 "</Start><End>%" PRIu64 "</End></Range>",
                          first, end - 1);
    }
}

static struct replied *show_ranges(struct azfile_change *c, const struct err *why,
                                   const struct file_result *f)
{
    struct request *r = c->r;
    struct err e;
    struct file_range in = {0, f->facts.size};
    struct strbuf b = STRBUF_INIT;
    if (why) {
        azfile_fault(why, f->fault, &e);
        return reply_err(r, &e);
    }
    if (item_load(r, c->at.path, &c->item, &e) < 0 || azfile_may(r, &c->item, false, &e) < 0 ||
        (range_header(r) && range_or_rest("x-ms-range", range_header(r), &in, &e) < 0))
        return reply_err(r, &e);
    xml_begin_document(&b);
    xml_open(&b, "Ranges");
    add_ranges(&b, f, &in);
    xml_close(&b, "Ranges");
    reply_state(r, item_etag(&f->facts, &c->item), f->facts.mtime_us);
    reply_header(r, "x-ms-content-length", "%" PRIu64, f->facts.size);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}

static void on_data(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    request_finish(c->r, show_ranges(c, why, f));
}

struct replied *azranges_list(struct request *r)
{
    struct azfile at;
    struct err e;
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    const struct file_place place = {at.folder, at.path};
    files_data(azstorage_of(r)->files, &place, on_data, azfile_change(r, &at));
    return reply_later(r);
}
