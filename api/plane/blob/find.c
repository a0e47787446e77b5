/* SPDX-License-Identifier: MIT
 *
 * Find Blobs by Tags. The database has an index of tags. One comparison of the expression selects
 * the part of the index that is read, container by container in the order of their names. The tags
 * of each row are compared with the whole expression. Rows are read in steps, between which the
 * loop serves other requests; a step's rows are freed before the next step. A blob is shown only if
 * its file exists.
 *
 *   step -> files in the container's folder -> files aside -> shown -> step ...
 *
 * The marker has three parts: the container, and the value and the path of the last blob. A byte
 * that occurs in none of them separates them.
 *
 * https://learn.microsoft.com/rest/api/storageservices/find-blobs-by-tags
 */
#include <stdlib.h>
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "api/plane/blob/tag_words.h"
#include "api/plane/storage/listing.h"
#include "api/plane/storage/plane_shares.h"
#include "api/plane/storage/xml_write.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

#define STEP    500 /* rows, and containers, read per turn of the loop: a few ms */
#define BETWEEN "\xff"

struct found_blob {
    const struct share_item *item; /* a row that this step has read */
    bool there;
};

struct blob_find {
    struct request *r;
    struct storage_list q;
    struct tag_where where;
    struct tag_range range;
    struct share in;        /* the container that is searched */
    bool others;            /* whether the account's containers after `in` are searched too */
    struct arena step;      /* memory for the rows of one step */
    char *value, *path;     /* owned: where in the index the next step begins */
    bool has_more;          /* the container has rows that were not read */
    size_t read;            /* number of rows and containers read in this step */
    struct found_blob *hit; /* n blobs that match; memory of `step` */
    size_t n;
    bool aside; /* whether the files in the hidden folder are being looked for */
};

static void find_free(void *ctx)
{
    struct blob_find *f = ctx;
    arena_free(&f->step);
    free(f->value);
    free(f->path);
}

static void finish(struct blob_find *f, const struct err *e)
{
    struct replied *done = e ? reply_err(f->r, e) : page_reply(f->q.page);
    request_release(f->r);
    request_finish(f->r, done);
}

/* The next step begins after this blob. */
static void begin_after(struct blob_find *f, const char *value, const char *path)
{
    free(f->value);
    free(f->path);
    f->value = xstrdup(value);
    f->path = xstrdup(path);
}

static void search_in(struct blob_find *f, const struct share *s)
{
    f->in = *s;
    f->has_more = true;
    begin_after(f, f->range.after_value, f->range.after_path);
}

static void step(struct request *r, void *ctx);

/* --- the blobs that were found ---------------------------------------------------------------- */

/* Adds a blob to the page; false: the page is full. */
static bool show(struct blob_find *f, const struct found_blob *h)
{
    struct arena *a = &f->r->arena;
    json_auto_t *tags = json_loads(h->item->tags, 0, NULL);
    const char *value = json_string_value(json_object_get(tags, f->range.name));
    const char *marker =
        arena_concat(a, f->in.name, BETWEEN, value ? value : "", BETWEEN, h->item->path);
    struct strbuf *b = page_row(f->q.page, marker);
    if (!b)
        return false;
    xml_open(b, "Blob");
    listing_name(b, h->item->path, true);
    xml_element(b, "ContainerName", f->in.name);
    tags_write_asked(b, tags, &f->where);
    xml_close(b, "Blob");
    return true;
}

static void show_all(struct blob_find *f)
{
    bool room = true;
    for (size_t i = 0; i < f->n && room; i++)
        room = !f->hit[i].there || show(f, &f->hit[i]);
    f->n = 0;
    arena_free(&f->step);
    arena_init(&f->step);
    if (room)
        request_again(f->r, step, f);
    else
        finish(f, NULL);
}

static void look(struct blob_find *f, bool aside);

static void on_looked(void *ctx, const struct err *why, const struct file_result *found)
{
    struct blob_find *f = ctx;
    struct err e;
    size_t k = 0;
    if (why) {
        blob_fault(why, found->fault, &e);
        finish(f, &e);
        return;
    }
    for (size_t i = 0; i < f->n; i++)
        if ((f->hit[i].item->aside != NULL) == f->aside)
            f->hit[i].there = found->there[k++];
    if (f->aside)
        show_all(f);
    else
        look(f, true);
}

/* Looks for the files of the blobs: those in the container's folder, or (`aside`) those in the
 * hidden folder. */
static void look(struct blob_find *f, bool aside)
{
    struct request *r = f->r;
    const char **paths = arena_alloc(&f->step, (f->n + 1) * sizeof *paths);
    const struct mount_volume v = {
        .kind = MOUNT_BLOBS, .account = grant_of(r)->account.name, .share = f->in.name};
    size_t k = 0;
    for (size_t i = 0; i < f->n; i++)
        if ((f->hit[i].item->aside != NULL) == aside)
            paths[k++] = aside ? f->hit[i].item->aside : f->hit[i].item->path;
    f->aside = aside;
    if (k > 0)
        files_there(azstorage_of(r)->files,
                    aside ? blob_account_folder(r)
                          : fleet_share_path(azstorage_of(r)->storage_dir, &f->step, &v),
                    paths, k, on_looked, f);
    else if (aside)
        show_all(f);
    else
        look(f, true);
}

/* --- where is searched ------------------------------------------------------------------------ */

/* Continues with the next container of the account. 0: there is none. */
static int next_container(struct blob_find *f, struct err *e)
{
    struct share_rows rows = {0};
    struct storage *st = azstorage_of(f->r)->storage;
    if (!f->others)
        return 0;
    if (st_share_list(st, &f->step, grant_of(f->r)->account.id, SHARE_BLOBS, "",
                      &(struct st_names){.after = f->in.name, .limit = 1}, &rows, e) < 0)
        return -1;
    if (rows.n == 0)
        return 0;
    f->read++;
    struct share s = rows.items[0];
    s.name = arena_strdup(&f->r->arena, s.name);
    search_in(f, &s);
    return 1;
}

/* Reads a step's rows of the container, and keeps those that match. */
static int read_rows(struct blob_find *f, struct err *e)
{
    struct share_item_rows rows;
    if (st_item_list_tagged(
            azstorage_of(f->r)->storage, &f->step, f->in.id, f->range.name, f->value,
            f->range.to_value,
            &(struct st_paths){.from = f->path, .to = f->range.to_path, .limit = STEP}, &rows,
            e) < 0)
        return -1;
    f->has_more = rows.n == STEP;
    f->read += rows.n;
    f->hit = arena_alloc(&f->step, (rows.n + 1) * sizeof *f->hit);
    for (size_t i = 0; i < rows.n; i++) {
        const struct share_item *item = &rows.items[i];
        json_auto_t *tags = item->tags ? json_loads(item->tags, 0, NULL) : NULL;
        const char *value = json_string_value(json_object_get(tags, f->range.name));
        if (i + 1 == rows.n && value)
            begin_after(f, value, item->path);
        else if (i + 1 == rows.n)
            f->has_more = false; /* the rest of the index is about other tags */
        if (tag_where_holds(&f->where, tags))
            f->hit[f->n++] = (struct found_blob){item, false};
    }
    return 1;
}

static void step(struct request *r, void *ctx)
{
    struct blob_find *f = ctx;
    struct err e;
    int rc = 1;
    f->read = 0;
    while (rc > 0 && f->n == 0 && f->read < STEP)
        rc = f->has_more ? read_rows(f, &e) : next_container(f, &e);
    if (rc <= 0) {
        finish(f, rc < 0 ? &e : NULL);
    } else if (f->n > 0) {
        look(f, false);
    } else {
        arena_free(&f->step);
        arena_init(&f->step);
        request_again(r, step, f);
    }
}

/* --- the request ------------------------------------------------------------------------------ */

static int read_where(struct request *r, struct blob_find *f, struct err *e)
{
    struct err why;
    f->q.where = request_query(r, "where");
    if (!f->q.where)
        return err_set(e, AZSTORAGE_QUERY_MISSING, "where",
                       "A query parameter that's mandatory for this request is not specified: "
                       "where, such as \"Project\" = 'A'.");
    if (tag_where_read(f->q.where, &f->where, &why) < 0)
        return err_set(e, ERR_INVALID_QUERY, "where",
                       "Value for one of the query parameters specified in the request URI is "
                       "invalid: where is '%.100s'; %s.",
                       f->q.where, why.msg);
    f->range = tag_where_range(&f->where);
    return 0;
}

/* The container in which the search begins. */
static int begin_in(struct blob_find *f, const char *name, struct err *e)
{
    struct request *r = f->r;
    struct share s;
    f->in.name = name;
    int rc = st_share_by_name(azstorage_of(r)->storage, &r->arena, grant_of(r)->account.id,
                              SHARE_BLOBS, name, &s, e);
    if (rc > 0 && s.state == SHARE_THERE)
        search_in(f, &s);
    return rc < 0 ? -1 : 0;
}

/* Splits a marker, and begins after its blob. `only`: the only container that is searched; NULL:
 * all. */
static int begin_behind(struct blob_find *f, const char *only, struct err *e)
{
    const char *marker = f->q.marker, *value = strstr(marker, BETWEEN),
               *path = value ? strstr(value + 1, BETWEEN) : NULL;
    struct arena *a = &f->r->arena;
    const char *name = value ? arena_strndup(a, marker, (size_t)(value - marker)) : NULL;
    if (!path || (only && strcmp(only, name) != 0))
        return err_set(e, ERR_INVALID_QUERY, "marker",
                       "The marker does not come from this search of blobs by their tags.");
    if (begin_in(f, name, e) < 0)
        return -1;
    begin_after(f, arena_strndup(a, value + 1, (size_t)(path - value - 1)), path + 1);
    return 0;
}

static int begin(struct blob_find *f, struct err *e)
{
    const struct tag_where *w = &f->where;
    const struct grant *g = grant_of(f->r);
    bool here = f->r->n_segments > 0;
    const char *only = here ? g->share.name : w->has_container ? w->container : NULL;
    f->others = !here && !w->has_container;
    f->in.name = "";
    if (here && w->has_container && strcmp(w->container, g->share.name) != 0)
        return 0; /* no blob is in both containers */
    if (f->q.marker)
        return begin_behind(f, only, e);
    return only ? begin_in(f, only, e) : 0;
}

struct replied *azblobs_find(struct request *r)
{
    static const char *const words[] = {"none", "versions", NULL};
    struct err e;
    struct blob_find *f = arena_alloc(&r->arena, sizeof *f);
    *f = (struct blob_find){.r = r};
    if ((r->n_segments > 0 && plane_share(r, &e) < 0) ||
        storage_list_begin(r, "Blobs", &f->q, &e) < 0 || listing_check_include(r, words, &e) < 0 ||
        read_where(r, f, &e) < 0)
        return reply_err(r, &e);
    f->q.prefix = "";
    arena_init(&f->step);
    request_keep(r, f, find_free);
    if (begin(f, &e) < 0)
        return reply_err(r, &e);
    request_again(r, step, f);
    return reply_later(r);
}
