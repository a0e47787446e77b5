/* SPDX-License-Identifier: MIT
 *
 * Files of shares: made, sent, and looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "api/azfiles/handlers.h"
#include "api/azstorage/leases.h"
#include "api/azstorage/link.h"
#include "api/azstorage/range.h"
#include "storage/storage.h"

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

static struct replied *created(struct azfile_change *c, const struct err *why,
                               const struct file_result *f)
{
    struct request *r = c->r;
    struct err e;
    if (why) {
        azfile_fault_of_new(r, why, f->fault, &e);
        return reply_err(r, &e);
    }
    item_set_file(&c->item, &f->facts);
    struct storage *st = azstorage_of(r)->storage;
    bool noted = c->item.metadata || c->item.properties || c->item.md5 ||
                 c->item.lease_state != LEASE_AVAILABLE;
    int rc = noted ? st_item_put(st, &c->item, &e)
                   : st_item_remove(st, c->item.share_id, c->item.path, &e);
    if (rc < 0)
        return reply_err(r, &e);
    azfile_state(r, &f->facts, &c->item);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    return reply_empty(r, 201);
}

static void on_created(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    request_finish(c->r, created(c, why, f));
}

static void on_made(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    const struct file_place place = {c->at.folder, c->at.path};
    if (why || c->mtime_ns == FILES_TIME_KEPT)
        on_created(c, why, f);
    else
        files_set_times(azstorage_of(c->r)->files, &place, c->mtime_ns, FILES_TIME_KEPT, on_created,
                        c);
}

/* What is noted of the file that it will be; the lease of one that is there stays. */
static int read_item(struct request *r, const char *path, struct azfile_change *c, struct err *e)
{
    struct share_item *i = &c->item;
    if (item_load(r, path, i, e) < 0 || azfile_may(r, i, true, e) < 0)
        return -1;
    item_revise(r, i);
    i->created_us = r->now_us;
    i->copy = NULL;
    i->md5 = property_given(r, "x-ms-", "content-md5");
    if (metadata_read(r, &i->metadata, e) < 0 ||
        properties_read(r, "x-ms-", false, &i->properties, e) < 0)
        return -1;
    return smb_read(r, NULL, &i->properties, &c->mtime_ns, e);
}

struct replied *azfile_create(struct request *r)
{
    struct azfile at;
    struct err e;
    struct files_make make = {.mode = 0666, .is_new = !grant_has(grant_of(r), 'w')};
    if (request_header(r, "x-ms-copy-source"))
        return azfile_copy(r);
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    struct azfile_change *c = azfile_change(r, &at);
    if (check_type(r, &e) < 0 || azfile_size(r, &make.size, &e) < 0 ||
        read_item(r, at.path, c, &e) < 0)
        return reply_err(r, &e);
    make.at = (struct file_place){at.folder, at.path};
    files_make_file(azstorage_of(r)->files, &make, on_made, c);
    return reply_later(r);
}

/* --- sent, looked at ------------------------------------------------------------------------ */

static int show(struct request *r, const struct file_facts *facts, const char **type, struct err *e)
{
    struct azfile at;
    struct share_item item;
    if (azfile_of(r, &at, e) < 0 || item_load(r, at.path, &item, e) < 0 ||
        azfile_may(r, &item, false, e) < 0)
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

static struct replied *send_file(struct request *r, const struct azfile *at)
{
    const struct file_reply what = {.folder = at->folder,
                                    .path = at->path,
                                    .range = range_header(r),
                                    .look = show,
                                    .missing = AZSTORAGE_NOT_FOUND};
    return reply_file(r, azstorage_of(r)->files, &what);
}

static void on_hashed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    struct request *r = c->r;
    const struct azfile at = c->at;
    if (!azfile_went_well(c, why, f))
        return;
    azfile_md5_reply(r, f->md5);
    request_release(r); /* the file is kept instead */
    (void)!send_file(r, &at);
}

/* A range is hashed before its first byte is sent, as the hash is in the head. */
static struct replied *send_hashed(struct request *r, const struct azfile *at)
{
    struct err e;
    struct file_range range = {0};
    if (range_exact("x-ms-range", range_header(r), &range, &e) < 0)
        return reply_err(r, &e);
    if (range.len > AZRANGE_MAX) {
        err_set(&e, AZSTORAGE_HEADER, "x-ms-range-get-content-md5",
                "x-ms-range-get-content-md5 needs a range of at most 4 MiB.");
        return reply_err(r, &e);
    }
    const struct file_place place = {at->folder, at->path};
    files_md5(azstorage_of(r)->files, &place, &range, on_hashed, azfile_change(r, at));
    return reply_later(r);
}

struct replied *azfile_get(struct request *r)
{
    struct azfile at;
    struct err e;
    const char *hashed = request_header(r, "x-ms-range-get-content-md5");
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    return hashed && strcasecmp(hashed, "true") == 0 ? send_hashed(r, &at) : send_file(r, &at);
}

static void show_head(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    const char *type = BYTES_TYPE;
    if (show(r, &c->facts, &type, &e) < 0)
        azfile_fail(r, &e);
    else
        request_finish(r, reply_length(r, type, c->facts.size));
}

struct replied *azfile_head(struct request *r)
{
    return azfile_look(r, false, show_head);
}
