/* SPDX-License-Identifier: MIT
 *
 * Changes of existing files and directories: removal, properties, metadata, leases, renames.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/leases.h"
#include "storage/storage.h"

/* --- removed -------------------------------------------------------------------------------- */

static void on_removed(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    struct request *r = c->r;
    struct err e;
    if (!azfile_went_well(c, why, f))
        return;
    if (st_item_remove_tree(azstorage_of(r)->storage, c->item.share_id, c->at.path, &e) < 0)
        azfile_fail(c, &e);
    else
        azfile_finish(c, reply_empty(r, 202));
}

static void remove_it(struct azfile_change *c)
{
    struct err e;
    struct files *files = azstorage_of(c->r)->files;
    const struct file_place place = {c->at.folder, c->at.path};
    if (azfile_may(c->r, &c->item, true, &e) < 0)
        azfile_fail(c, &e);
    else if (c->is_directory)
        files_remove_directory(files, &place, on_removed, c);
    else
        files_remove_file(files, &place, on_removed, c);
}

struct replied *azdirectory_delete(struct request *r)
{
    return azfile_to_change(r, true, remove_it);
}

struct replied *azfile_delete(struct request *r)
{
    return azfile_to_change(r, false, remove_it);
}

/* --- metadata ------------------------------------------------------------------------------- */

static void set_metadata(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    if (azfile_may(r, &c->item, true, &e) < 0 || metadata_read(r, &c->item.metadata, &e) < 0 ||
        azfile_note(r, &c->item, &e) < 0) {
        azfile_fail(c, &e);
        return;
    }
    reply_state(r, item_etag(&c->facts, &c->item), c->facts.mtime_us);
    reply_header_text(r, "x-ms-request-server-encrypted", "true");
    azfile_finish(c, reply_empty(r, 200));
}

struct replied *azdirectory_set_metadata(struct request *r)
{
    return azfile_to_change(r, true, set_metadata);
}

struct replied *azfile_set_metadata(struct request *r)
{
    return azfile_to_change(r, false, set_metadata);
}

static void get_metadata(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    if (azfile_may(r, &c->item, false, &e) < 0) {
        azfile_fail(c, &e);
        return;
    }
    reply_state(r, item_etag(&c->facts, &c->item), c->facts.mtime_us);
    metadata_reply(r, c->item.metadata);
    reply_header_text(r, "x-ms-server-encrypted", "true");
    azfile_finish(c, reply_empty(r, 200));
}

struct replied *azdirectory_get_metadata(struct request *r)
{
    return azfile_look(r, true, get_metadata);
}

struct replied *azfile_get_metadata(struct request *r)
{
    return azfile_look(r, false, get_metadata);
}

/* --- properties ----------------------------------------------------------------------------- */

static void described(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    smb_changed(r, &c->item.properties, &c->facts);
    if (azfile_note(r, &c->item, &e) < 0)
        azfile_fail(c, &e);
    else
        azfile_finish(c, azfile_changed(r, 200, &c->facts, &c->item));
}

static void on_times(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    if (!azfile_went_well(c, why, f))
        return;
    c->facts = f->facts;
    if (c->item.md5) /* the bytes have not changed */
        item_set_file(&c->item, &f->facts);
    described(c);
}

static void set_times(struct azfile_change *c)
{
    const struct file_place place = {c->at.folder, c->at.path};
    if (c->mtime_ns == FILES_TIME_KEPT)
        described(c);
    else
        files_set_times(azstorage_of(c->r)->files, &place, c->mtime_ns, FILES_TIME_KEPT, on_times,
                        c);
}

static void on_sized(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    if (!azfile_went_well(c, why, f))
        return;
    c->facts = f->facts;
    if (c->item.md5)
        item_set_file(&c->item, &f->facts);
    set_times(c);
}

/* Whether the request has any content header. If so, all content properties are set, and those
 * without a header are cleared. */
static bool gives_content(struct request *r)
{
    static const char *const names[] = {"content-type",     "content-encoding",
                                        "content-language", "content-disposition",
                                        "cache-control",    "content-md5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (property_given(r, "x-ms-", names[i]))
            return true;
    return false;
}

static int read_new(struct azfile_change *c, struct err *e)
{
    struct request *r = c->r;
    const char *old = c->item.properties, *now = old;
    if (!c->is_directory && gives_content(r)) {
        if (properties_replace(r, "x-ms-", &now, e) < 0 ||
            md5_given(r, "x-ms-", &c->item.md5, e) < 0)
            return -1;
        item_set_file(&c->item, &c->facts);
    }
    if (smb_read(r, old ? old : "", NULL, &now, &c->mtime_ns, e) < 0)
        return -1;
    c->item.properties = now;
    return 0;
}

static void set_properties(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    uint64_t size;
    if (azfile_may(r, &c->item, true, &e) < 0 || read_new(c, &e) < 0) {
        azfile_fail(c, &e);
    } else if (c->is_directory || !request_header(r, "x-ms-content-length")) {
        set_times(c);
    } else if (azfile_size(r, &size, &e) < 0) {
        azfile_fail(c, &e);
    } else {
        const struct file_place place = {c->at.folder, c->at.path};
        if (size != c->facts.size)
            c->item.md5 = gives_content(r) ? c->item.md5 : NULL;
        files_set_size(azstorage_of(r)->files, &place, size, on_sized, c);
    }
}

struct replied *azdirectory_set_properties(struct request *r)
{
    return azfile_to_change(r, true, set_properties);
}

struct replied *azfile_set_properties(struct request *r)
{
    return azfile_to_change(r, false, set_properties);
}

/* --- leases --------------------------------------------------------------------------------- */

static void lease(struct azfile_change *c)
{
    struct request *r = c->r;
    struct err e;
    struct lease l = lease_of_item(&c->item);
    int status = lease_act(r, &l, true, &e);
    if (status < 0) {
        azfile_fail(c, &e);
        return;
    }
    lease_to_item(&l, &c->item);
    if (st_item_put(azstorage_of(r)->storage, &c->item, &e) < 0) {
        azfile_fail(c, &e);
        return;
    }
    reply_state(r, item_etag(&c->facts, &c->item), c->facts.mtime_us);
    azfile_finish(c, reply_empty(r, status));
}

struct replied *azfile_lease(struct request *r)
{
    return azfile_to_change(r, false, lease);
}

/* --- open handles of SMB: there are never any ------------------------------------------------ */

static void list_handles(struct azfile_change *c)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults>"
                    "<Entries /><NextMarker /></EnumerationResults>");
    azfile_finish(c, reply_text(c->r, 200, "application/xml", strbuf_take(&b)));
}

static void close_handles(struct azfile_change *c)
{
    reply_header_text(c->r, "x-ms-number-of-handles-closed", "0");
    reply_header_text(c->r, "x-ms-number-of-handles-failed", "0");
    azfile_finish(c, reply_empty(c->r, 200));
}

/* Continues for an item that may be a file or a directory. */
static void on_any(void *ctx, const struct err *why, const struct file_result *f)
{
    struct azfile_change *c = ctx;
    if (azfile_went_well(c, why, f))
        c->then(c);
}

static struct replied *of_any(struct request *r, azfile_then then)
{
    struct azfile at;
    struct err e;
    if (azfile_of(r, &at, &e) < 0)
        return reply_err(r, &e);
    struct azfile_change *c = azfile_change(r, &at);
    const struct file_place place = {at.folder, at.path};
    c->then = then;
    files_facts(azstorage_of(r)->files, &place, on_any, c);
    return reply_later(r);
}

struct replied *azfile_handles(struct request *r)
{
    return of_any(r, list_handles);
}

struct replied *azfile_close_handles(struct request *r)
{
    struct err e;
    if (request_header(r, "x-ms-handle-id"))
        return of_any(r, close_handles);
    err_set(&e, AZSTORAGE_HEADER_MISSING, "x-ms-handle-id",
            "An HTTP header that's mandatory for this request is not specified: x-ms-handle-id.");
    return reply_err(r, &e);
}
