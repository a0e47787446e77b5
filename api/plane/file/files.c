/* SPDX-License-Identifier: MIT
 *
 * Files of shares: creation, download, properties. Workers (storage/folders/) read and write the
 * files; handlers and callbacks run on the loop's thread. Memory is the request's.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/link.h"
#include "api/plane/storage/range.h"
#include "storage/storage.h"

#define GET_MD5 "x-ms-range-get-content-md5"

/* --- made ----------------------------------------------------------------------------------- */

static int check_type(struct request *r, struct err *e)
{
    const char *type = request_header(r, "x-ms-type");
    if (type && strcasecmp(type, "file") == 0)
        return 0;
    if (!type)
        return err_set(e, AZSTORAGE_HEADER_MISSING, "x-ms-type",
                       "An HTTP header that's mandatory for this request is not specified: "
                       "x-ms-type, which must be 'file'.");
    return err_set(e, AZSTORAGE_HEADER, "x-ms-type", "x-ms-type is '%.40s'; it must be 'file'.",
                   type);
}

/* Refuses a body. (Since 2026 Azure accepts the first bytes of a file in this request.) */
static int check_no_body(struct request *r, struct err *e)
{
    if (!request_has_body(r))
        return 0;
    return err_set(
        e, AZSTORAGE_HEADER_UNSUPPORTED, "Content-Length",
        "A file is created empty, and bytes are put with comp=range: Content-Length must be 0.");
}

static void created(struct azplacing *p, const struct file_facts *f)
{
    static const struct share_item nothing;
    /* shows the state that the next reader will see */
    azfile_state(p->r, f, p->is_noted ? &p->item : &nothing);
    reply_header_text(p->r, "x-ms-request-server-encrypted", "true");
    azplacing_finish(p, reply_empty(p->r, 201));
}

/* Prepares the notes (the row) of the new file; an existing file keeps its lease. */
static int read_item(struct azplacing *p, struct err *e)
{
    struct request *r = p->r;
    p->item.copy = NULL;
    if (md5_given(r, "x-ms-", &p->item.md5, e) < 0 || metadata_read(r, &p->item.metadata, e) < 0 ||
        properties_read(r, "x-ms-", false, &p->properties, e) < 0)
        return -1;
    return smb_read(r, NULL, NULL, &p->properties, &p->mtime_ns, e);
}

static void create(struct azplacing *p)
{
    struct err e;
    uint64_t size;
    if (read_item(p, &e) < 0 || azfile_size(p->r, &size, &e) < 0)
        azplacing_fail(p, &e);
    else
        azplacing_upload(p, size, azplacing_place);
}

struct replied *azfile_create(struct request *r)
{
    struct err e;
    uint64_t size;
    if (request_header(r, "x-ms-copy-source"))
        return azfile_copy(r);
    struct azplacing *p = arena_alloc(&r->arena, sizeof *p);
    *p = (struct azplacing){.ready = create, .done = created};
    if (azfile_of(r, &p->at, &e) < 0 || check_type(r, &e) < 0 || check_no_body(r, &e) < 0 ||
        azfile_size(r, &size, &e) < 0)
        return reply_err(r, &e);
    return azplacing_begin(p, r);
}

/* --- sent, looked at ------------------------------------------------------------------------ */

/* `ctx`: the range that is hashed (struct file_range), or NULL. */
static int show(struct request *r, void *ctx, const struct file_facts *facts, const char **type,
                struct err *e)
{
    struct azfile at;
    struct share_item item;
    if (azfile_of(r, &at, e) < 0 || item_load(r, at.path, &item, e) < 0 ||
        azfile_may(r, &item, false, e) < 0 ||
        (ctx && range_hashed_check(GET_MD5, ctx, facts->size, e) < 0))
        return -1;
    azfile_state(r, facts, &item);
    properties_reply(r, &item, type);
    if (item.md5 && item_is_of(&item, facts))
        reply_header_text(r, range_header(r) ? "x-ms-content-md5" : "Content-MD5", item.md5);
    metadata_reply(r, item.metadata);
    reply_header_text(r, "x-ms-type", "File");
    reply_header_text(r, "x-ms-server-encrypted", "true");
    const struct lease l = lease_of_item(&item);
    if (grant_of(r)->version >= FILE_LEASES_SINCE)
        lease_headers(r, &l);
    copy_reply(r, item.copy);
    return 0;
}

/* Sets *out to the range to hash; NULL: none. */
static int read_hashed(struct request *r, struct file_range **out, struct err *e)
{
    const char *text = request_header(r, GET_MD5);
    *out = NULL;
    if (!text || strcasecmp(text, "true") != 0)
        return 0;
    /* The whole range is read into memory before the headers are sent. */
    if (files_piece(azstorage_of(r)->files) < FILES_PIECE_MAX)
        return err_set(
            e, ERR_UNAVAILABLE, NULL,
            "Too many files are being sent at the moment, so no range can be hashed; try again.");
    *out = arena_alloc(&r->arena, sizeof **out);
    return range_hashed(GET_MD5, "x-ms-range", range_header(r), *out, e);
}

struct replied *azfile_get(struct request *r)
{
    struct azfile at;
    struct file_range *hashed;
    struct err e;
    if (azfile_of(r, &at, &e) < 0 || read_hashed(r, &hashed, &e) < 0)
        return reply_err(r, &e);
    const struct file_reply what = {.folder = at.folder,
                                    .path = at.path,
                                    .range = range_header(r),
                                    .look = show,
                                    .ctx = hashed,
                                    /* most bytes of a range that is hashed */
                                    .at_once = AZRANGE_MAX,
                                    .hashed = hashed ? azfile_md5_reply : NULL,
                                    .missing = AZSTORAGE_NOT_FOUND};
    return reply_file(r, azstorage_of(r)->files, &what);
}

static void show_head(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    const char *type = BYTES_TYPE;
    if (show(r, NULL, &c->facts, &type, &e) < 0)
        azfile_fail(c, &e);
    else
        azfile_finish(c, reply_length(r, type, c->facts.size));
}

struct replied *azfile_head(struct request *r)
{
    return azfile_look(r, false, show_head);
}
