/* SPDX-License-Identifier: MIT
 *
 * List Blobs. The container's worker lists the files of its folder, in pages. Blobs whose files are
 * in the hidden folder ("aside") are merged in by the names in their rows. A page is written in
 * steps, between which the loop serves other requests. The marker is the name of the last item.
 *
 * Snapshots are listed before their blob, the oldest first. If a page ends with a snapshot, its
 * marker has three parts: the last name that is complete, and the name and the instant of the
 * snapshot. A byte that occurs in no name separates them.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/storage/beside.h"
#include "api/plane/storage/leases.h"
#include "api/plane/storage/listing.h"
#include "api/plane/storage/plane_shares.h"
#include "api/plane/storage/source.h"
#include "api/plane/storage/tiers.h"
#include "api/plane/storage/write_lock.h"
#include "api/plane/storage/xml_write.h"
#include "model/spec.h"
#include "scheduler/fleet/fleet.h"
#include "storage/folders/walk.h"
#include "storage/storage.h"

#define STEP    500    /* items written per turn of the loop: a few ms */
#define BETWEEN "\xff" /* separates the parts of a marker */
#define AGAIN   2      /* returned by add_next() for a blob whose facts must be read once more */

struct blob_list {
    struct request *r;
    struct storage_list q;
    struct page *page;            /* the page of the list */
    const struct blob_show *show; /* functions for a page that is not XML; NULL: the page is XML */
    size_t *left_out;             /* is set to the number of files left out; NULL: not wanted */
    const char *container, *delimiter;
    bool metadata, tags, copy, uncommitted;
    struct file_items files;
    struct share_item_rows aside; /* rows, in order */
    size_t next_file, next_aside, shown;
    bool aside_is_cut;
    bool snapshots;                  /* whether snapshots are listed */
    struct blob_snapshot_rows taken; /* rows, in order */
    size_t next_taken;
    bool taken_is_cut;
    /* the previous page listed this blob's snapshots up to resume_us; NULL: it ended with no
     * snapshot */
    const char *resume;
    int64_t resume_us;
    const char *last; /* the name of the last item */
    int64_t last_us;  /* the last item is the snapshot of this instant; 0: not a snapshot */
    const char *done; /* the name before the last one; NULL: none */
    uint64_t since;   /* turns_now() before anything was read */
    struct turn turn; /* the turn of the blob whose facts are read once more */
    struct blob again;
};

static void listing_free(void *ctx)
{
    struct blob_list *l = ctx;
    file_items_free(&l->files);
}

/* --- one item ------------------------------------------------------------------------------- */

static void add_prefix(struct blob_list *l, const char *name)
{
    if (l->show) {
        l->show->prefix(l->page, name);
        return;
    }
    xml_open(&l->page->text, "BlobPrefix");
    listing_name(&l->page->text, name, true);
    xml_close(&l->page->text, "BlobPrefix");
}

/* Adds the properties that few blobs have. */
static void add_rest(struct blob_list *l, const struct share_item *i)
{
    int tags = tags_count(i);
    if (tags > 0)
        xml_element(&l->page->text, "TagCount", arena_printf(&l->r->arena, "%d", tags));
    if (l->copy)
        copy_list(&l->page->text, &l->r->arena, i->copy);
}

static void add_lease(struct blob_list *l, const struct share_item *i)
{
    const struct lease of = lease_of_item(i);
    const struct lease_shown lease = lease_shown(l->r, &of);
    xml_element(&l->page->text, "LeaseStatus", lease.status);
    xml_element(&l->page->text, "LeaseState", lease.state);
    if (lease.duration)
        xml_element(&l->page->text, "LeaseDuration", lease.duration);
}

/* Adds the properties of a blob or snapshot. `leased`: such an item can have a lease. */
static void add_properties(struct blob_list *l, const struct share_item *i,
                           const struct file_facts *f, bool leased)
{
    struct strbuf *b = &l->page->text;
    struct arena *a = &l->r->arena;
    char created[TIMEFMT_SIZE], modified[TIMEFMT_SIZE];
    timefmt_http(i->created_us ? i->created_us : f->mtime_us, created);
    timefmt_http(item_modified_us(f, i), modified);
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
        const struct tier tier = tier_here(l->r, i, f);
        xml_element(b, "AccessTier", tier.name ? tier.name : "Hot");
        if (!tier.name)
            xml_element(b, "AccessTierInferred", "true");
        if (tier.to) {
            xml_element(b, "ArchiveStatus", tier_status(l->r, &tier));
            xml_element(b, "RehydratePriority", tier.priority);
        }
    }
    if (blob_type_of(i) == BLOB_APPEND && beside_is_sealed(i))
        xml_element(b, "Sealed", "true");
    if (leased)
        add_lease(l, i);
    xml_element(b, "ServerEncrypted", "true");
    add_rest(l, i);
    xml_close(b, "Properties");
}

/* Adds a blob or snapshot; `snapshot_us` 0: a blob. */
static void add_blob(struct blob_list *l, const char *name, int64_t snapshot_us,
                     const struct share_item *i, const struct file_facts *f)
{
    char when[ITEM_TIME_SIZE];
    if (l->show) {
        l->show->blob(l->page, name, f);
        return;
    }
    xml_open(&l->page->text, "Blob");
    listing_name(&l->page->text, name, true);
    if (snapshot_us) {
        item_time(snapshot_us * 1000, when);
        xml_element(&l->page->text, "Snapshot", when);
    }
    add_properties(l, i, f, snapshot_us == 0);
    if (l->metadata)
        metadata_list(&l->page->text, i->metadata);
    if (l->tags && i->tags)
        tags_write(&l->page->text, i->tags);
    xml_close(&l->page->text, "Blob");
}

/* Adds a file. AGAIN: its facts and its row may be of two versions, so they must be read again. */
static int add_file(struct blob_list *l, const struct file_item *f, struct err *e)
{
    struct blob *b = &l->again;
    if (f->is_prefix) {
        add_prefix(l, f->name);
        return 1;
    }
    *b = (struct blob){.name = f->name};
    if (item_load(l->r, f->name, &b->item, e) < 0)
        return -1;
    if (blob_is_torn(l->r, b, &f->facts, l->since))
        return AGAIN;
    add_blob(l, f->name, 0, &b->item, &f->facts);
    return 1;
}

/* The first delimiter after the prefix; NULL: the name has none. */
static const char *delimiter_in(const struct blob_list *l, const char *name)
{
    return *l->delimiter ? strstr(name + strlen(l->q.prefix), l->delimiter) : NULL;
}

/* The name up to and including the first delimiter after the prefix, which all names of a group
 * share. The whole name if it has no delimiter there. */
static const char *group_of(struct blob_list *l, const char *name)
{
    const char *at = delimiter_in(l, name);
    return at ? arena_strndup(&l->r->arena, name, (size_t)(at - name) + strlen(l->delimiter))
              : name;
}

static void add_aside(struct blob_list *l, const struct share_item *i, const char *shown_as)
{
    if (delimiter_in(l, i->path)) {
        add_prefix(l, shown_as);
        return;
    }
    const struct file_facts f = item_facts(i);
    add_blob(l, i->path, 0, i, &f);
}

/* --- the page ------------------------------------------------------------------------------- */

static void note_last(struct blob_list *l, const char *name, int64_t snapshot_us)
{
    if (l->last && strcmp(l->last, name) != 0)
        l->done = l->last;
    l->last = name;
    l->last_us = snapshot_us;
    l->shown++;
}

/* Adds the next snapshot if it is to be listed before `name` (NULL: no other item is left). 1: it
 * was; 0: there is none; -1: further snapshots have not been read. */
static int add_snapshot(struct blob_list *l, const char *name)
{
    if (l->next_taken < l->taken.n) {
        const struct blob_snapshot *s = &l->taken.items[l->next_taken];
        const char *path = s->item.path;
        if (name && strcmp(path, name) > 0)
            return 0;
        l->next_taken++;
        const struct file_facts f = item_facts(&s->item);
        note_last(l, path, s->taken_us);
        if (s->item.aside)
            add_blob(l, path, s->taken_us, &s->item, &f);
        else
            l->shown--;
        return 1;
    }
    return l->taken_is_cut ? -1 : 0;
}

/* Adds the next item of the merged lists. 1: added; AGAIN: call look_again(); 0: none. */
static int add_next(struct blob_list *l, struct err *e)
{
    const struct file_item *f = l->next_file < l->files.n ? &l->files.item[l->next_file] : NULL;
    const struct share_item *i = l->next_aside < l->aside.n ? &l->aside.items[l->next_aside] : NULL;
    const char *group = i ? group_of(l, i->path) : NULL;
    if ((!f && l->files.last) || (!i && l->aside_is_cut))
        return 0; /* an item that was not read may be the next */
    int order = !f ? 1 : !i ? -1 : strcmp(f->name, group);
    int snapshot = add_snapshot(l, !f && !i ? NULL : order <= 0 ? f->name : group);
    int rc = 1;
    if (snapshot != 0 || (!f && !i))
        return snapshot > 0 ? 1 : 0;
    if (order <= 0) {
        l->next_file++;
        note_last(l, f->name, 0);
        rc = add_file(l, f, e);
    } else {
        note_last(l, group, 0);
    }
    /* Skips all rows that belong to the item; `first`: the first of them whose file exists. */
    const struct share_item *first = NULL;
    while (l->next_aside < l->aside.n &&
           strcmp(group_of(l, l->aside.items[l->next_aside].path), l->last) == 0) {
        const struct share_item *one = &l->aside.items[l->next_aside++];
        first = !first && one->aside ? one : first;
    }
    if (order > 0 && first)
        add_aside(l, first, l->last);
    else if (order > 0)
        l->shown--;
    return rc;
}

/* Where the next page begins. */
static void mark_end(struct blob_list *l)
{
    l->page->more =
        l->last && (l->next_file < l->files.n || l->next_aside < l->aside.n || l->files.last ||
                    l->aside_is_cut || l->next_taken < l->taken.n || l->taken_is_cut);
    if (!l->page->more)
        return;
    page_pass(l->page, l->last_us
                           ? arena_printf(&l->r->arena, "%s" BETWEEN "%s" BETWEEN "%lld",
                                          l->done ? l->done : "", l->last, (long long)l->last_us)
                           : l->last);
}

static struct replied *finish(struct blob_list *l)
{
    mark_end(l);
    if (l->left_out)
        *l->left_out = l->files.left_out;
    struct replied *done = page_reply(l->page);
    request_release(l->r);
    return done;
}

static void step(struct request *r, void *ctx);

/* Adds the blob whose facts were read again, in the blob's turn. Skips a blob that has
 * disappeared. */
static void on_facts(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_list *l = ctx;
    struct blob *b = &l->again;
    struct err e;
    turn_end(azstorage_of(l->r)->turns, &l->turn);
    if (why && why->code == ERR_UNAVAILABLE) {
        blob_fault(why, f->fault, &e);
        request_finish(l->r, reply_err(l->r, &e));
        return;
    }
    if (why || f->facts.is_directory)
        l->shown--;
    else
        add_blob(l, b->name, 0, &b->item, &f->facts);
    step(l->r, l);
}

static void on_turn(void *ctx)
{
    struct blob_list *l = ctx;
    struct blob *b = &l->again;
    struct err e;
    if (item_load(l->r, b->name, &b->item, &e) < 0) {
        turn_end(azstorage_of(l->r)->turns, &l->turn);
        request_finish(l->r, reply_err(l->r, &e));
        return;
    }
    const struct file_place at = b->item.aside
                                     ? (struct file_place){blob_account_folder(l->r), b->item.aside}
                                     : (struct file_place){l->container, b->name};
    files_facts(azstorage_of(l->r)->files, &at, on_facts, l);
}

static void look_again(struct blob_list *l)
{
    l->turn = (struct turn){
        .share_id = l->again.item.share_id, .path = l->again.name, .go = on_turn, .ctx = l};
    turn_want(azstorage_of(l->r)->turns, &l->turn);
}

static void step(struct request *r, void *ctx)
{
    struct blob_list *l = ctx;
    struct err e;
    int rc = 1;
    for (int i = 0; i < STEP && rc == 1 && l->shown < (size_t)l->page->max; i++)
        rc = add_next(l, &e);
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else if (rc == AGAIN)
        look_again(l);
    else if (rc == 0 || l->shown == (size_t)l->page->max)
        request_finish(r, finish(l));
    else
        request_again(r, step, l);
}

/* A text that sorts after all names with this prefix. */
static const char *end_of(struct arena *a, const char *prefix)
{
    return arena_concat(a, prefix, "\xff");
}

/* A text that sorts after the marker's item. If the item is a group, it sorts after all names of
 * the group. */
static const char *after_marker(struct blob_list *l)
{
    const char *marker = l->q.marker, *prefix = l->q.prefix;
    bool group = strncmp(marker, prefix, strlen(prefix)) == 0 && delimiter_in(l, marker);
    return group ? end_of(&l->r->arena, group_of(l, marker))
                 : arena_concat(&l->r->arena, marker, "\x01");
}

/* Reads the rows between the marker and the last file of the page. */
static int read_rows(struct blob_list *l, struct err *e)
{
    struct storage *st = azstorage_of(l->r)->storage;
    int64_t share_id = grant_of(l->r)->share.id;
    int max = page_limit(l->page);
    struct arena *a = &l->r->arena;
    const char *from = l->q.prefix, *to = end_of(a, l->q.prefix);
    if (l->q.marker && strcmp(l->q.marker, from) >= 0)
        from = after_marker(l);
    if (l->files.last)
        to = end_of(a, l->files.last);
    if (st_item_list(st, a, share_id, true,
                     &(struct st_paths){.from = from, .to = to, .limit = max}, &l->aside, e) < 0 ||
        (l->snapshots &&
         st_snapshot_list(
             st, a, share_id, l->resume ? l->resume_us : -1,
             &(struct st_paths){.from = l->resume ? l->resume : from, .to = to, .limit = max},
             &l->taken, e) < 0))
        return -1;
    l->aside_is_cut = l->aside.n == (size_t)max;
    if (l->uncommitted &&
        uncommitted_add(l->r, from, to, max, &l->aside.items, &l->aside.n, &l->aside_is_cut, e) < 0)
        return -1;
    l->taken_is_cut = l->taken.n == (size_t)max;
    return 0;
}

/* Continues with the page. Rows whose file in the hidden folder has disappeared get `aside` NULL,
 * so they are not listed. */
static void on_aside(void *ctx, const struct err *why, const struct file_result *f)
{
    struct blob_list *l = ctx;
    struct err e;
    if (why) {
        blob_fault(why, f->fault, &e);
        request_finish(l->r, reply_err(l->r, &e));
        return;
    }
    for (size_t i = 0; i < l->aside.n; i++)
        if (!f->there[i])
            l->aside.items[i].aside = NULL;
    for (size_t i = 0; i < l->taken.n; i++)
        if (!f->there[l->aside.n + i])
            l->taken.items[i].item.aside = NULL;
    step(l->r, l);
}

static void look_aside(struct blob_list *l)
{
    struct request *r = l->r;
    size_t n = l->aside.n + l->taken.n;
    const char **paths = arena_alloc(&r->arena, n * sizeof *paths);
    for (size_t i = 0; i < n; i++)
        paths[i] =
            i < l->aside.n ? l->aside.items[i].aside : l->taken.items[i - l->aside.n].item.aside;
    files_there(azstorage_of(r)->files, blob_account_folder(r), paths, n, on_aside, l);
}

static void on_page(void *ctx, const struct err *why, enum file_fault fault,
                    struct file_items *found)
{
    struct blob_list *l = ctx;
    struct request *r = l->r;
    struct err e;
    if (why) {
        blob_fault(why, fault, &e);
        request_finish(r, reply_err(r, &e));
        return;
    }
    l->files = *found;
    *found = (struct file_items){0};
    if (read_rows(l, &e) < 0)
        request_finish(r, reply_err(r, &e));
    else if (l->aside.n + l->taken.n > 0)
        look_aside(l);
    else
        step(r, l);
}

/* Splits the marker if it ends with a snapshot. */
static int split_marker(struct blob_list *l, struct err *e)
{
    struct storage_list *q = &l->q;
    const char *name = q->marker ? strstr(q->marker, BETWEEN) : NULL;
    l->done = q->marker;
    if (!name)
        return 0;
    size_t n = (size_t)(name++ - q->marker);
    const char *when = strstr(name, BETWEEN);
    if (!when)
        return err_set(e, ERR_INVALID_QUERY, "marker",
                       "The marker does not come from a list of blobs.");
    l->resume = arena_strndup(&l->r->arena, name, (size_t)(when - name));
    l->resume_us = strtoll(when + 1, NULL, 10);
    q->marker = n > 0 ? arena_strndup(&l->r->arena, q->marker, n) : NULL;
    l->done = q->marker;
    return 0;
}

static int read_includes(struct blob_list *l, struct err *e)
{
    l->metadata = listing_includes(l->r, "metadata");
    l->tags = listing_includes(l->r, "tags");
    l->copy = listing_includes(l->r, "copy");
    l->snapshots = listing_includes(l->r, "snapshots");
    l->uncommitted = listing_includes(l->r, "uncommittedblobs");
    if (!l->snapshots || !*l->delimiter)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "include",
                   "Snapshots can be listed without a delimiter only.");
}

static struct replied *walk(struct blob_list *l)
{
    struct request *r = l->r;
    request_keep(r, l, listing_free);
    page_open(l->page);
    const struct mount_volume v = {.kind = MOUNT_BLOBS,
                                   .account = grant_of(r)->account.name,
                                   .share = grant_of(r)->share.name};
    l->container = fleet_share_path(azstorage_of(r)->storage_dir, &r->arena, &v);
    l->since = turns_now(azstorage_of(r)->turns);
    const struct files_walk walk = {.share = l->container,
                                    .prefix = l->q.prefix,
                                    .delimiter = l->delimiter,
                                    .after = l->q.marker,
                                    .max = (size_t)l->page->max};
    files_walk(azstorage_of(r)->files, &walk, on_page, l);
    return reply_later(r);
}

struct replied *azblobs_list(struct request *r)
{
    static const char *const words[] = {
        "snapshots",   "metadata", "uncommittedblobs",    "copy",      "deleted",
        "tags",        "versions", "deletedwithversions", "legalhold", "immutabilitypolicy",
        "permissions", NULL};
    struct err e;
    struct blob_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct blob_list){.r = r};
    const char *delimiter = request_query(r, "delimiter");
    if (plane_share(r, &e) < 0 || storage_list_begin(r, "Blobs", &l->q, &e) < 0 ||
        listing_check_include(r, words, &e) < 0)
        return reply_err(r, &e);
    l->page = l->q.page;
    l->delimiter = l->q.delimiter = delimiter ? delimiter : "";
    if (split_marker(l, &e) < 0 || read_includes(l, &e) < 0)
        return reply_err(r, &e);
    struct named_value *name = arena_alloc(&r->arena, sizeof *name);
    *name = (struct named_value){"ContainerName", grant_of(r)->share.name};
    l->q.attribute = name;
    l->q.n_attributes = 1;
    return walk(l);
}

struct replied *blobs_show(struct request *r, const struct blobs_wish *w)
{
    struct blob_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct blob_list){.r = r,
                            .q = {.page = w->page, .prefix = w->prefix, .marker = w->after},
                            .page = w->page,
                            .show = w->show,
                            .left_out = w->left_out,
                            .delimiter = "/",
                            .done = w->after};
    return walk(l);
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
    struct storage_list l;
    struct share_rows rows;
    struct strbuf *out;
    if (storage_list_begin(r, "Containers", &l, &e) < 0 ||
        listing_check_include(r, words, &e) < 0 ||
        st_share_list(
            azstorage_of(r)->storage, &r->arena, grant_of(r)->account.id, SHARE_BLOBS, l.prefix,
            &(struct st_names){.after = storage_list_after(&l), .limit = page_limit(l.page)}, &rows,
            &e) < 0)
        return reply_err(r, &e);
    bool metadata = listing_includes(r, "metadata");
    for (size_t i = 0; i < rows.n; i++)
        if ((out = page_row(l.page, rows.items[i].name)))
            add_container(out, r, &rows.items[i], metadata);
    return page_reply(l.page);
}
