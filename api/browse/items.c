/* SPDX-License-Identifier: MIT
 *
 * Lists the files in a directory of a share, or below a prefix of a container, and sends the bytes
 * of one file or blob, by functions of the data planes. A "directory" of a container is the common
 * beginning of names up to a slash, so its path ends with a slash.
 */
#include <string.h>

#include "api/browse/browse.h"
#include "api/browse/routes.h"
#include "api/http/disposition.h"
#include "api/plane/blob/azblob.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/file/azfiles.h"
#include "api/plane/file/handlers.h"
#include "storage/folders/walk.h"

/* --- a share ---------------------------------------------------------------------------------- */

struct share_directory {
    struct request *r;
    struct azfile at;
    struct rows rows;
};

static struct replied *show(struct share_directory *d, const struct file_items *found)
{
    struct page *page = d->rows.page;
    struct arena *a = &d->r->arena;
    for (size_t i = 0; i < found->n; i++) {
        const struct file_item *f = &found->item[i];
        const char *path = *d->at.path ? arena_concat(a, d->at.path, "/", f->name) : f->name;
        rows_add(page, f->name,
                 &(struct entry){.name = f->name,
                                 .path = path,
                                 .is_directory = f->facts.is_directory,
                                 .size = f->facts.size,
                                 .mtime_us = f->facts.mtime_us});
    }
    if (found->last && !page->more) {
        page_pass(page, found->last);
        page->more = true;
    }
    d->rows.left_out = found->left_out;
    return page_reply(page);
}

static void on_page(void *ctx, const struct err *why, enum file_fault fault,
                    struct file_items *found)
{
    struct share_directory *d = ctx;
    struct err e;
    if (why)
        azfile_fault(why, fault, &e);
    request_finish(d->r, why ? reply_err(d->r, &e) : show(d, found));
}

static struct replied *list_share(struct request *r)
{
    struct err e;
    struct share_directory *d = arena_alloc(&r->arena, sizeof *d);
    *d = (struct share_directory){.r = r};
    if (azfile_of(r, &d->at, &e) < 0 || rows_begin(r, &d->rows, &e) < 0)
        return reply_err(r, &e);
    const char *after = d->rows.page->after;
    const struct files_page what = {.at = {d->at.folder, d->at.path},
                                    .after = *after ? after : NULL,
                                    .max = (size_t)d->rows.page->max};
    files_page(azstorage_of(r)->files, &what, on_page, d);
    return reply_later(r);
}

/* --- a container ------------------------------------------------------------------------------ */

struct container_page {
    struct rows rows; /* must be the first member */
    const char *prefix;
};

static const struct container_page *container_of(const struct page *p)
{
    return p->of;
}

/* Adds a directory of a container: in the list of "a/", "a/b/" is shown as "b". */
static void show_prefix(struct page *p, const char *name)
{
    const char *rest = name + strlen(container_of(p)->prefix);
    size_t n = strlen(rest);
    rows_add(p, name,
             &(struct entry){.name = arena_strndup(&p->r->arena, rest, n > 0 ? n - 1 : 0),
                             .path = name,
                             .is_directory = true});
}

static void show_blob(struct page *p, const char *name, const struct file_facts *f)
{
    rows_add(p, name,
             &(struct entry){.name = name + strlen(container_of(p)->prefix),
                             .path = name,
                             .size = f->size,
                             .mtime_us = f->mtime_us});
}

static struct replied *list_container(struct request *r)
{
    static const struct blob_show show_all = {show_prefix, show_blob};
    struct err e;
    struct container_page *c = arena_alloc(&r->arena, sizeof *c);
    size_t n = strlen(r->rest);
    bool ends = n == 0 || r->rest[n - 1] == '/';
    *c = (struct container_page){.prefix = ends ? r->rest : arena_concat(&r->arena, r->rest, "/")};
    if (rows_begin(r, &c->rows, &e) < 0)
        return reply_err(r, &e);
    c->rows.page->of = c;
    const char *after = c->rows.page->after;
    const struct blobs_wish wish = {.show = &show_all,
                                    .page = c->rows.page,
                                    .prefix = c->prefix,
                                    .after = *after ? after : NULL,
                                    .left_out = &c->rows.left_out};
    return blobs_show(r, &wish);
}

/* --- handlers --------------------------------------------------------------------------------- */

struct replied *items_list(struct request *r)
{
    struct err e;
    enum share_kind kind;
    if (!request_query(r, "share"))
        return names_list(r);
    if (browsed_find(r, &kind, &e) < 0)
        return reply_err(r, &e);
    return kind == SHARE_BLOBS ? list_container(r) : list_share(r);
}

/* Lets the browser save the file: replaces the blob's stored Content-Disposition, in the way in
 * which a signature (SAS) may replace it. */
static void save_as(struct request *r, const char *name)
{
    struct grant *g = grant_of(r);
    g->how = GRANT_SAS;
    g->perms = "r";
    g->sas.field[SAS_DISPOSITION] = disposition_attachment(&r->arena, name);
}

struct replied *items_content(struct request *r)
{
    struct err e;
    enum share_kind kind;
    bool download, head = strcmp(r->method, "HEAD") == 0;
    if (browsed_find(r, &kind, &e) < 0 || read_download(r, &download, &e) < 0)
        return reply_err(r, &e);
    if (!*r->rest) {
        err_set(&e, ERR_INVALID_QUERY, "path",
                "The query parameter path is missing: name a file or blob as "
                "GET /batchaid/storage/items does.");
        return reply_err(r, &e);
    }
    if (download)
        save_as(r, base_name(r->rest));
    if (kind == SHARE_BLOBS)
        return head ? azblob_head(r) : azblob_get(r);
    return head ? azfile_head(r) : azfile_get(r);
}
