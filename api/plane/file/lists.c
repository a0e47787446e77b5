/* SPDX-License-Identifier: MIT
 *
 * Lists: of an account's shares, and of the files in a directory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/file/handlers.h"
#include "api/plane/storage/listing.h"
#include "api/plane/storage/xml_write.h"
#include "lib/timefmt.h"
#include "storage/folders/walk.h"
#include "storage/storage.h"

#define QUOTA_DEFAULT 5120
/* Since this api-version names that XML cannot contain are percent-encoded. */
#define ENCODED_SINCE 20211202

/* --- values --------------------------------------------------------------------------------- */

static void add_etag(struct strbuf *b, const char *name, uint64_t etag)
{
    char text[32];
    snprintf(text, sizeof text, "\"0x%" PRIX64 "\"", etag);
    xml_element(b, name, text);
}

static void add_number(struct strbuf *b, const char *name, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    xml_element(b, name, text);
}

static void add_http_time(struct strbuf *b, const char *name, int64_t us)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(us, when);
    xml_element(b, name, when);
}

/* --- shares --------------------------------------------------------------------------------- */

static void add_share(struct request *r, struct strbuf *b, const struct share *s,
                      bool with_metadata)
{
    const struct lease l = lease_of_share(s);
    const struct lease_shown lease = lease_shown(r, &l);
    xml_open(b, "Share");
    xml_element(b, "Name", s->name);
    xml_open(b, "Properties");
    add_http_time(b, "Last-Modified", s->updated_us);
    add_etag(b, "Etag", (uint64_t)s->etag);
    add_number(b, "Quota", (uint64_t)(s->quota > 0 ? s->quota : QUOTA_DEFAULT));
    xml_element(b, "AccessTier", s->access_tier ? s->access_tier : "TransactionOptimized");
    if (grant_of(r)->version >= SHARE_LEASES_SINCE) {
        xml_element(b, "LeaseStatus", lease.status);
        xml_element(b, "LeaseState", lease.state);
        if (lease.duration)
            xml_element(b, "LeaseDuration", lease.duration);
    }
    xml_close(b, "Properties");
    if (with_metadata)
        metadata_list(b, s->metadata);
    xml_close(b, "Share");
}

struct replied *azshares_list(struct request *r)
{
    struct err e;
    struct storage_list l;
    struct share_rows rows;
    struct strbuf *out;
    if (storage_list_begin(r, "Shares", &l, &e) < 0 ||
        st_share_list(
            azstorage_of(r)->storage, &r->arena, grant_of(r)->account.id, SHARE_FILES, l.prefix,
            &(struct st_names){.after = storage_list_after(&l), .limit = page_limit(l.page)}, &rows,
            &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n; i++)
        if ((out = page_row(l.page, rows.items[i].name)))
            add_share(r, out, &rows.items[i], listing_includes(r, "metadata"));
    return page_reply(l.page);
}

/* --- a directory ---------------------------------------------------------------------------- */

struct directory_list {
    struct request *r;
    struct azfile at;
    struct storage_list list;
    bool timestamps, etag, attributes, permission, ids;
};

static void add_properties(struct directory_list *l, struct strbuf *b, const struct file_facts *f,
                           const struct share_item *i)
{
    if (f->is_directory && !l->timestamps && !l->etag) {
        xml_element(b, "Properties", NULL);
        return;
    }
    xml_open(b, "Properties");
    if (!f->is_directory)
        add_number(b, "Content-Length", f->size);
    if (l->timestamps) {
        struct smb_times t;
        smb_times(l->r, f, i, &t);
        xml_element(b, "CreationTime", t.created);
        xml_element(b, "LastAccessTime", t.accessed);
        xml_element(b, "LastWriteTime", t.written);
        xml_element(b, "ChangeTime", t.changed);
        add_http_time(b, "Last-Modified", f->mtime_us);
    }
    if (l->etag)
        add_etag(b, "Etag", item_etag(f, i));
    xml_close(b, "Properties");
}

static int add_entry(struct directory_list *l, struct strbuf *b, const struct file_item *item,
                     struct err *e)
{
    struct request *r = l->r;
    const struct file_facts *f = &item->facts;
    struct share_item noted = {0};
    const char *path =
        *l->at.path ? arena_concat(&r->arena, l->at.path, "/", item->name) : item->name;
    if ((l->timestamps || l->etag || l->attributes) && item_load(r, path, &noted, e) < 0)
        return -1;
    xml_open(b, f->is_directory ? "Directory" : "File");
    listing_name(b, item->name, grant_of(r)->version >= ENCODED_SINCE);
    if (l->ids)
        add_number(b, "FileId", f->inode);
    add_properties(l, b, f, &noted);
    if (l->attributes)
        xml_element(b, "Attributes", smb_attributes(r, f, &noted));
    if (l->permission)
        xml_element(b, "PermissionKey", "1*1");
    xml_close(b, f->is_directory ? "Directory" : "File");
    return 0;
}

static struct replied *show(struct directory_list *l, const struct file_items *found)
{
    struct page *page = l->list.page;
    struct strbuf *out;
    struct err e;
    const struct named_value attributes[] = {{"ShareName", grant_of(l->r)->share.name},
                                             {"DirectoryPath", l->at.path}};
    l->list.attribute = attributes;
    l->list.n_attributes = 2;
    l->list.is_tag = true;
    for (size_t i = 0; i < found->n; i++)
        if ((out = page_row(page, found->item[i].name)) &&
            add_entry(l, out, &found->item[i], &e) < 0)
            return reply_err(l->r, &e);
    if (found->last && !page->more) {
        page_pass(page, found->last);
        page->more = true;
    }
    return page_reply(page);
}

static void on_page(void *ctx, const struct err *why, enum file_fault fault,
                    struct file_items *found)
{
    struct directory_list *l = ctx;
    struct err e;
    if (why) {
        azfile_fault(why, fault, &e);
        if (fault == FILE_IS_FILE)
            err_set(&e, AZSTORAGE_NOT_FOUND, NULL, "The specified resource does not exist.");
    }
    request_finish(l->r, why ? reply_err(l->r, &e) : show(l, found));
}

struct replied *azdirectory_list(struct request *r)
{
    struct err e;
    struct directory_list *l = arena_alloc(&r->arena, sizeof *l);
    const char *extended = request_header(r, "x-ms-file-extended-info");
    *l = (struct directory_list){.r = r};
    if (azfile_of(r, &l->at, &e) < 0 || storage_list_begin(r, "Entries", &l->list, &e) < 0)
        return reply_err(r, &e);
    l->timestamps = listing_includes(r, "timestamps");
    l->etag = listing_includes(r, "etag");
    l->attributes = listing_includes(r, "attributes");
    l->permission = listing_includes(r, "permissionkey");
    l->ids = l->timestamps || l->etag || l->attributes || l->permission ||
             (extended && strcasecmp(extended, "true") == 0);
    const struct files_page what = {.at = {l->at.folder, l->at.path},
                                    .prefix = l->list.prefix,
                                    .after = l->list.marker,
                                    .max = (size_t)l->list.page->max};
    files_page(azstorage_of(r)->files, &what, on_page, l);
    return reply_later(r);
}
