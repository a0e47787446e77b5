/* SPDX-License-Identifier: MIT
 *
 * Lists: of an account's shares, and of what is in a directory.
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
/* Names that no XML can hold come percent-encoded since this version. */
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
    struct listing_query q;
    struct share *rows;
    size_t n;
    if (listing_read(r, &q, &e) < 0 ||
        st_share_list(azstorage_of(r)->storage, &r->arena, grant_of(r)->account.id, SHARE_FILES,
                      q.marker ? q.marker : "", q.prefix, (int)q.max + 1, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    struct strbuf b = STRBUF_INIT;
    bool more = n > (size_t)q.max;
    size_t shown = more ? (size_t)q.max : n;
    listing_begin(&b, r, NULL, NULL, &q);
    xml_open(&b, "Shares");
    for (size_t i = 0; i < shown; i++)
        add_share(r, &b, &rows[i], listing_includes(r, "metadata"));
    xml_close(&b, "Shares");
    listing_end(&b, &q, more ? rows[shown - 1].name : NULL);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}

/* --- a directory ---------------------------------------------------------------------------- */

struct listing {
    struct request *r;
    struct azfile at;
    struct listing_query query;
    bool timestamps, etag, attributes, permission, ids;
};

static void add_name(struct listing *l, struct strbuf *b, const char *name)
{
    if (xml_can_hold(name) || grant_of(l->r)->version < ENCODED_SINCE) {
        xml_element(b, "Name", name);
        return;
    }
    listing_encoded_name(b, name);
}

static void add_properties(struct listing *l, struct strbuf *b, const struct file_facts *f,
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

static int add_entry(struct listing *l, struct strbuf *b, const struct file_item *item,
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
    add_name(l, b, item->name);
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

static struct replied *show(struct listing *l, const struct file_items *found)
{
    struct strbuf b = STRBUF_INIT;
    struct err e;
    const struct named_value attributes[] = {{"ShareName", grant_of(l->r)->share.name},
                                             {"DirectoryPath", l->at.path}};
    listing_begin_with(&b, l->r, attributes, 2, &l->query);
    if (found->n == 0)
        xml_element(&b, "Entries", NULL);
    else
        xml_open(&b, "Entries");
    for (size_t i = 0; i < found->n; i++)
        if (add_entry(l, &b, &found->item[i], &e) < 0) {
            strbuf_free(&b);
            return reply_err(l->r, &e);
        }
    if (found->n > 0)
        xml_close(&b, "Entries");
    listing_end(&b, &l->query, found->last);
    return reply_text(l->r, 200, "application/xml", strbuf_take(&b));
}

static void on_page(void *ctx, const struct err *why, enum file_fault fault,
                    struct file_items *found)
{
    struct listing *l = ctx;
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
    struct listing *l = arena_alloc(&r->arena, sizeof *l);
    const char *extended = request_header(r, "x-ms-file-extended-info");
    *l = (struct listing){.r = r};
    if (azfile_of(r, &l->at, &e) < 0 || listing_read(r, &l->query, &e) < 0)
        return reply_err(r, &e);
    l->timestamps = listing_includes(r, "timestamps");
    l->etag = listing_includes(r, "etag");
    l->attributes = listing_includes(r, "attributes");
    l->permission = listing_includes(r, "permissionkey");
    l->ids = l->timestamps || l->etag || l->attributes || l->permission ||
             (extended && strcasecmp(extended, "true") == 0);
    const struct files_page what = {.at = {l->at.folder, l->at.path},
                                    .prefix = l->query.prefix,
                                    .after = l->query.marker,
                                    .max = (size_t)l->query.max};
    files_page(azstorage_of(r)->files, &what, on_page, l);
    return reply_later(r);
}
