/* SPDX-License-Identifier: MIT
 *
 * Ranges of files: written in place, and on disk before they are acknowledged.
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azfiles/handlers.h"
#include "api/azstorage/link.h"
#include "storage/storage.h"

#define MD5_TEXT 25 /* base64 of 16 bytes, and NUL */

static int bad_range(const char *text, struct err *e)
{
    return err_set(e, AZSTORAGE_HEADER, "x-ms-range",
                   "The value for one of the HTTP headers is not in the correct format: the range "
                   "is '%.60s'; it must be bytes=FIRST-LAST.",
                   text ? text : "");
}

/* "bytes=0-511": both ends must be given. */
static int read_range(struct request *r, struct file_range *out, struct err *e)
{
    const char *text = range_header(r);
    char *end;
    if (!text)
        return err_set(e, AZSTORAGE_HEADER_MISSING, "x-ms-range",
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-range or Range.");
    if (strncasecmp(text, "bytes=", 6) != 0 || text[6] < '0' || text[6] > '9')
        return bad_range(text, e);
    errno = 0;
    uint64_t first = strtoull(text + 6, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return bad_range(text, e);
    uint64_t last = strtoull(end + 1, &end, 10);
    if (*end || errno || last < first || last >= INT64_MAX)
        return bad_range(text, e);
    *out = (struct file_range){.offset = first, .len = last - first + 1};
    return 0;
}

/* 1: Content-MD5 says what is expected; 0: it is not there. */
static int read_md5(struct request *r, uint8_t out[FILES_MD5], struct err *e)
{
    const char *text = request_header(r, "Content-MD5");
    size_t n;
    if (!text)
        return 0;
    if (sodium_base642bin(out, FILES_MD5, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0 &&
        n == FILES_MD5)
        return 1;
    return err_set(e, AZSTORAGE_MD5, "Content-MD5",
                   "The MD5 value specified in the request is invalid: '%.60s'. MD5 value must be "
                   "128 bits and base64-encoded.",
                   text);
}

static struct replied *written(struct azfile_change *c, const struct err *why,
                               const struct file_result *f)
{
    struct request *r = c->r;
    struct err e;
    char md5[MD5_TEXT];
    struct share_item item;
    if (why) {
        azfile_fault(why, f->fault, &e);
        return reply_err(r, &e);
    }
    if (item_load(r, c->at.path, &item, &e) < 0)
        return reply_err(r, &e);
    reply_state(r, item_etag(&f->facts, &item), f->facts.mtime_us);
    if (request_has_body(r)) {
        sodium_bin2base64(md5, sizeof md5, f->md5, sizeof f->md5, sodium_base64_VARIANT_ORIGINAL);
        reply_header(r, "Content-MD5", "%s", md5);
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
    const struct files_clear what = {.at = {at->folder, at->path}, .range = *range};
    files_clear(azstorage_of(r)->files, &what, on_written, azfile_change(r, at));
    return reply_later(r);
}

static struct replied *update(struct request *r, const struct azfile *at,
                              const struct file_range *range)
{
    struct err e;
    uint8_t md5[FILES_MD5];
    int given = read_md5(r, md5, &e);
    if (given < 0)
        return reply_err(r, &e);
    if (r->raw.len != range->len) {
        err_set(&e, AZSTORAGE_HEADER, "Content-Length",
                "The body has %zu bytes, the range %" PRIu64 ".", r->raw.len, range->len);
        return reply_err(r, &e);
    }
    struct files_write what = {.at = {at->folder, at->path},
                               .offset = range->offset,
                               .n = r->raw.len,
                               .wants_md5 = true,
                               .md5 = given ? md5 : NULL};
    what.bytes = strbuf_take(&r->raw);
    files_write(azstorage_of(r)->files, &what, on_written, azfile_change(r, at));
    return reply_later(r);
}

struct replied *azrange_put(struct request *r)
{
    struct azfile at;
    struct err e;
    struct file_range range = {0};
    const char *how = request_header(r, "x-ms-write");
    if (azfile_of(r, &at, &e) < 0 || read_range(r, &range, &e) < 0)
        return reply_err(r, &e);
    if (how && strcasecmp(how, "update") == 0)
        return update(r, &at, &range);
    if (how && strcasecmp(how, "clear") == 0)
        return clear(r, &at, &range);
    err_set(&e, how ? AZSTORAGE_HEADER : AZSTORAGE_HEADER_MISSING, "x-ms-write",
            "The header x-ms-write is '%.40s'; it must be 'update' or 'clear'.", how ? how : "");
    return reply_err(r, &e);
}
