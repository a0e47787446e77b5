/* SPDX-License-Identifier: MIT
 *
 * List Blobs. The files of the container's folder come from its worker, in pages; between them go
 * those blobs that lie aside, whose names are in their rows. A page is written in steps, so that
 * others have their turn. The marker is the name of the last item.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/azblob/handlers.h"
#include "api/azstorage/leases.h"
#include "api/azstorage/listing.h"
#include "api/azstorage/source.h"
#include "api/azstorage/xml_write.h"
#include "files/walk.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

#define STEP 500 /* items written in one turn of the loop: some ms */

struct listing {
    struct request *r;
    struct listing_query q;
    const char *delimiter;
    bool metadata, tags, copy;
    struct file_items files;
    struct share_item *aside; /* rows, in order */
    size_t n_aside, next_file, next_aside, shown;
    bool aside_is_cut;
    struct strbuf text; /* owned */
    const char *last;   /* the name of the last item */
};

static void listing_free(void *ctx)
{
    struct listing *l = ctx;
    file_items_free(&l->files);
    strbuf_free(&l->text);
}

/* --- one item ------------------------------------------------------------------------------- */

static void add_name(struct listing *l, const char *name)
{
    if (xml_can_hold(name))
        xml_element(&l->text, "Name", name);
    else
        listing_encoded_name(&l->text, name);
}

static void add_prefix(struct listing *l, const char *name)
{
    xml_open(&l->text, "BlobPrefix");
    add_name(l, name);
    xml_close(&l->text, "BlobPrefix");
}

/* Of what most blobs do not have. */
static void add_rest(struct listing *l, const struct share_item *i)
{
    int tags = tags_count(i);
    if (tags > 0)
        xml_element(&l->text, "TagCount", arena_printf(&l->r->arena, "%d", tags));
    if (l->copy)
        copy_list(&l->text, &l->r->arena, i->copy);
}

static void add_properties(struct listing *l, const struct share_item *i,
                           const struct file_facts *f)
{
    struct strbuf *b = &l->text;
    struct arena *a = &l->r->arena;
    char created[TIMEFMT_SIZE], modified[TIMEFMT_SIZE];
    timefmt_http(i->created_us ? i->created_us : f->mtime_us, created);
    timefmt_http(f->mtime_us, modified);
    xml_open(b, "Properties");
    xml_element(b, "Creation-Time", created);
    xml_element(b, "Last-Modified", modified);
    xml_element(b, "Etag", arena_printf(a, "0x%llX", (unsigned long long)item_etag(f, i)));
    xml_element(b, "Content-Length", arena_printf(a, "%llu", (unsigned long long)f->size));
    const char *has[PROPERTIES];
    properties_of(a, i->properties, has);
    xml_element(b, "Content-Type", has[PROPERTY_TYPE] ? has[PROPERTY_TYPE] : BYTES_TYPE);
    xml_element(b, "Content-Encoding", has[PROPERTY_ENCODING]);
    xml_element(b, "Content-Language", has[PROPERTY_LANGUAGE]);
    xml_element(b, "Content-MD5", i->md5 && item_is_of(i, f) ? i->md5 : NULL);
    xml_element(b, "Cache-Control", has[PROPERTY_CACHE_CONTROL]);
    xml_element(b, "Content-Disposition", has[PROPERTY_DISPOSITION]);
    xml_element(b, "BlobType", blob_type_name(blob_type_of(i)));
    if (blob_type_of(i) == BLOB_BLOCK) {
        const char *tier = i->properties ? tier_of(a, i) : NULL;
        xml_element(b, "AccessTier", tier ? tier : "Hot");
        if (!tier)
            xml_element(b, "AccessTierInferred", "true");
    }
    const struct lease of = lease_of_item(i);
    const struct lease_shown lease = lease_shown(l->r, &of);
    xml_element(b, "LeaseStatus", lease.status);
    xml_element(b, "LeaseState", lease.state);
    if (lease.duration)
        xml_element(b, "LeaseDuration", lease.duration);
    xml_element(b, "ServerEncrypted", "true");
    add_rest(l, i);
    xml_close(b, "Properties");
}

static void add_blob(struct listing *l, const char *name, const struct share_item *i,
                     const struct file_facts *f)
{
    xml_open(&l->text, "Blob");
    add_name(l, name);
    add_properties(l, i, f);
    if (l->metadata)
        metadata_list(&l->text, i->metadata);
    if (l->tags && i->tags)
        tags_write(&l->text, i->tags);
    xml_close(&l->text, "Blob");
}

static int add_file(struct listing *l, const struct file_item *f, struct err *e)
{
    struct share_item item;
    if (f->is_prefix) {
        add_prefix(l, f->name);
        return 0;
    }
    if (item_load(l->r, f->name, &item, e) < 0)
        return -1;
    add_blob(l, f->name, &item, &f->facts);
    return 0;
}

/* The part of a name that all of its group have; the whole name if it has none. */
static const char *group_of(struct listing *l, const char *name)
{
    size_t skip = strlen(l->q.prefix);
    const char *at = *l->delimiter ? strstr(name + skip, l->delimiter) : NULL;
    return at ? arena_strndup(&l->r->arena, name, (size_t)(at - name) + strlen(l->delimiter))
              : name;
}

static void add_aside(struct listing *l, const struct share_item *i, const char *shown_as)
{
    if (strcmp(shown_as, i->path) != 0) {
        add_prefix(l, shown_as);
        return;
    }
    const struct file_facts f = {.size = (uint64_t)i->size,
                                 .inode = (uint64_t)i->inode,
                                 .mtime_ns = i->mtime_ns,
                                 .mtime_us = i->mtime_ns / 1000};
    add_blob(l, i->path, i, &f);
}

/* --- the page ------------------------------------------------------------------------------- */

/* The next item of both lists in their order. 1: there was one; 0: there is none. */
static int add_next(struct listing *l, struct err *e)
{
    const struct file_item *f = l->next_file < l->files.n ? &l->files.item[l->next_file] : NULL;
    const struct share_item *i = l->next_aside < l->n_aside ? &l->aside[l->next_aside] : NULL;
    const char *group = i ? group_of(l, i->path) : NULL;
    if (!f && !i)
        return 0;
    if ((!f && l->files.last) || (!i && l->aside_is_cut))
        return 0; /* what was not read may come before the rest */
    int order = !f ? 1 : !i ? -1 : strcmp(f->name, group);
    if (order <= 0) {
        l->next_file++;
        l->last = f->name;
        l->shown++;
        if (add_file(l, f, e) < 0)
            return -1;
    } else {
        l->last = group;
        l->shown++;
        add_aside(l, i, group);
    }
    /* All that the item stands for. */
    while (l->next_aside < l->n_aside &&
           strcmp(group_of(l, l->aside[l->next_aside].path), l->last) == 0)
        l->next_aside++;
    return 1;
}

static struct replied *finish(struct listing *l)
{
    bool more =
        l->next_file < l->files.n || l->next_aside < l->n_aside || l->files.last || l->aside_is_cut;
    xml_close(&l->text, "Blobs");
    listing_end(&l->text, &l->q, more && l->last ? l->last : NULL);
    char *text = strbuf_take(&l->text);
    request_release(l->r);
    return reply_text(l->r, 200, "application/xml", text);
}

static void step(struct request *r, void *ctx)
{
    struct listing *l = ctx;
    struct err e;
    int rc = 1;
    for (int i = 0; i < STEP && rc > 0 && l->shown < (size_t)l->q.max; i++)
        rc = add_next(l, &e);
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else if (rc == 0 || l->shown == (size_t)l->q.max)
        request_finish(r, finish(l));
    else
        request_again(r, step, l);
}

/* Above all names that begin like this. */
static const char *end_of(struct arena *a, const char *prefix)
{
    return arena_concat(a, prefix, "\xff");
}

/* What lies aside between the marker and the end of the page of files. */
static int read_aside(struct listing *l, struct err *e)
{
    struct arena *a = &l->r->arena;
    const char *from = l->q.prefix, *to = end_of(a, l->q.prefix);
    const char *marker = l->q.marker;
    if (marker && strcmp(marker, from) >= 0) {
        size_t n = strlen(marker), m = strlen(l->delimiter);
        bool group = m > 0 && n > m && strcmp(marker + n - m, l->delimiter) == 0;
        from = group ? end_of(a, marker) : arena_concat(a, marker, "\x01");
    }
    if (l->files.last)
        to = end_of(a, l->files.last);
    if (st_item_list(azstorage_of(l->r)->storage, a, grant_of(l->r)->share.id, from, to, true,
                     l->q.max + 1, &l->aside, &l->n_aside, e) < 0)
        return -1;
    l->aside_is_cut = l->n_aside > (size_t)l->q.max;
    return 0;
}

static void on_page(void *ctx, const struct err *why, enum file_fault fault,
                    struct file_items *found)
{
    struct listing *l = ctx;
    struct request *r = l->r;
    struct err e;
    if (why) {
        blob_fault(why, fault, &e);
        request_finish(r, reply_err(r, &e));
        return;
    }
    l->files = *found;
    *found = (struct file_items){0};
    if (read_aside(l, &e) < 0)
        request_finish(r, reply_err(r, &e));
    else
        step(r, l);
}

static void begin_text(struct listing *l)
{
    struct request *r = l->r;
    struct strbuf *b = &l->text;
    listing_begin(b, r, "ContainerName", grant_of(r)->share.name, &l->q);
    if (*l->delimiter)
        xml_element(b, "Delimiter", l->delimiter);
    xml_open(b, "Blobs");
}

struct replied *azblobs_list(struct request *r)
{
    static const char *const words[] = {
        "snapshots",   "metadata", "uncommittedblobs",    "copy",      "deleted",
        "tags",        "versions", "deletedwithversions", "legalhold", "immutabilitypolicy",
        "permissions", NULL};
    struct err e;
    struct listing *l = arena_alloc(&r->arena, sizeof *l);
    const char *delimiter = request_query(r, "delimiter");
    if (plane_share(r, &e) < 0 || listing_read(r, &l->q, &e) < 0 ||
        listing_check_include(r, words, &e) < 0)
        return reply_err(r, &e);
    l->r = r;
    l->delimiter = delimiter ? delimiter : "";
    l->metadata = listing_includes(r, "metadata");
    l->tags = listing_includes(r, "tags");
    l->copy = listing_includes(r, "copy");
    request_keep(r, l, listing_free);
    begin_text(l);
    const struct mount_volume v = {.kind = MOUNT_AZURE_BLOB,
                                   .account = grant_of(r)->account.name,
                                   .share = grant_of(r)->share.name};
    const struct files_walk walk = {
        .share = fleet_share_path(azstorage_of(r)->storage_dir, &r->arena, &v),
        .prefix = l->q.prefix,
        .delimiter = l->delimiter,
        .after = l->q.marker,
        .max = (size_t)l->q.max};
    files_walk(azstorage_of(r)->files, &walk, on_page, l);
    return reply_later(r);
}

/* --- containers ----------------------------------------------------------------------------- */

static void add_container(struct strbuf *b, struct request *r, const struct share *s, bool metadata)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(s->updated_us, when);
    xml_open(b, "Container");
    xml_element(b, "Name", s->name);
    xml_open(b, "Properties");
    xml_element(b, "Last-Modified", when);
    xml_element(b, "Etag", arena_printf(&r->arena, "\"0x%llX\"", (unsigned long long)s->etag));
    const struct lease of = lease_of_share(s);
    const struct lease_shown lease = lease_shown(r, &of);
    xml_element(b, "LeaseStatus", lease.status);
    xml_element(b, "LeaseState", lease.state);
    if (lease.duration)
        xml_element(b, "LeaseDuration", lease.duration);
    if (s->public_access != PUBLIC_NONE)
        xml_element(b, "PublicAccess", s->public_access == PUBLIC_CONTAINER ? "container" : "blob");
    xml_element(b, "HasImmutabilityPolicy", "false");
    xml_element(b, "HasLegalHold", "false");
    xml_close(b, "Properties");
    if (metadata)
        metadata_list(b, s->metadata);
    xml_close(b, "Container");
}

struct replied *azcontainers_list(struct request *r)
{
    static const char *const words[] = {"metadata", "deleted", "system", NULL};
    struct err e;
    struct listing_query q;
    struct share *rows;
    size_t n;
    if (listing_read(r, &q, &e) < 0 || listing_check_include(r, words, &e) < 0 ||
        st_share_list(azstorage_of(r)->storage, &r->arena, grant_of(r)->account.id, SHARE_BLOBS,
                      q.marker ? q.marker : "", q.prefix, (int)q.max + 1, &rows, &n, &e) < 0)
        return reply_err(r, &e);
    struct strbuf b = STRBUF_INIT;
    bool metadata = listing_includes(r, "metadata");
    bool more = n > (size_t)q.max;
    n = more ? (size_t)q.max : n;
    listing_begin(&b, r, NULL, NULL, &q);
    xml_open(&b, "Containers");
    for (size_t i = 0; i < n; i++)
        add_container(&b, r, &rows[i], metadata);
    xml_close(&b, "Containers");
    listing_end(&b, &q, more ? rows[n - 1].name : NULL);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}
