/* SPDX-License-Identifier: MIT
 *
 * Lists of the files of tasks and nodes, over the links of their nodes, and deletions.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/routes.h"
#include "nodeagent-proto/link/node.h"
#include "storage/seeding.h"
#include "storage/storage.h"

/* The most entries of one listing, all directories together. */
#define ENTRIES_MAX 100000

/* --- lists ------------------------------------------------------------------------------------ */

struct listed_file {
    const char *path;
    bool is_dir;
    int64_t size, mtime_us, mode;
};

struct files_list_work {
    struct request *r;
    struct files_place place;
    struct batch_list list;
    bool recursive;
    struct listed_file *entries; /* in the request's arena */
    size_t n, cap, next; /* next: index of the first entry that may be a directory not yet listed */
    const char *dir;     /* the directory that is being listed */
};

static void add_entry(struct files_list_work *l, const struct node_dir_entry *en)
{
    struct arena *a = &l->r->arena;
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        struct listed_file *all = arena_alloc(a, l->cap * sizeof *all);
        if (l->n > 0)
            memcpy(all, l->entries, l->n * sizeof *all);
        l->entries = all;
    }
    l->entries[l->n++] =
        (struct listed_file){.path = arena_concat(a, l->dir, *l->dir ? "/" : "", en->name),
                             .is_dir = en->is_dir,
                             .size = en->size,
                             .mtime_us = en->mtime_us,
                             .mode = en->mode};
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct listed_file *)a)->path, ((const struct listed_file *)b)->path);
}

static bool is_wanted(const void *ctx, const struct filter_term *t)
{
    return filter_text_is(t, ((const struct listed_file *)ctx)->path);
}

static json_t *render(struct files_list_work *l, const struct listed_file *en)
{
    char when[TIMEFMT_SIZE];
    json_t *o = json_pack("{s:s, s:s, s:b}", "name", en->path, "url",
                          batch_file_url(l->r, &l->place, en->path), "isDirectory", en->is_dir);
    if (!o || en->is_dir)
        return o;
    timefmt_exact(en->mtime_us, when);
    const char *size = arena_printf(&l->r->arena, "%lld", (long long)en->size);
    json_object_set_new(o, "properties",
                        json_pack("{s:s, s:s, s:s, s:s*}", "lastModified", when, "contentLength",
                                  size, "contentType", batch_file_type(en->path), "fileMode",
                                  batch_file_mode(l->r, en->mode)));
    return o;
}

static struct replied *show(struct files_list_work *l)
{
    if (l->n > 0)
        qsort(l->entries, l->n, sizeof *l->entries, by_path);
    for (size_t i = 0; i < l->n; i++) {
        const struct listed_file *en = &l->entries[i];
        if (strcmp(en->path, l->list.page->after) <= 0 ||
            (l->list.filter && !filter_holds(l->list.filter, is_wanted, en)))
            continue;
        json_t *row = render(l, en);
        if (row)
            page_add(l->list.page, en->path, row);
    }
    return page_reply(l->list.page);
}

static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list,
                      size_t n);

/* Starts to list the next directory of a recursive list; false: there is none. */
static bool list_next(struct files_list_work *l)
{
    struct err e;
    while (l->recursive && l->next < l->n && l->n < ENTRIES_MAX) {
        const struct listed_file *en = &l->entries[l->next++];
        if (!en->is_dir)
            continue;
        l->dir = en->path;
        if (fleet_list_dir(arm_of(l->r)->fleet, &l->place.at, l->dir, on_listed, l, &e) == 0)
            return true;
    }
    return false;
}

/* Adds the entries of a directory. Ignores the errors of a subdirectory, which may have
 * disappeared, and a missing root, which no task has created yet; other errors end the request. */
static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct files_list_work *l = ctx;
    if (why && why->code != ERR_FILE_NOT_FOUND && !*l->dir) {
        request_finish(l->r, batch_files_refuse(l->r, &l->place.at, l->dir, why));
        return;
    }
    for (size_t i = 0; !why && i < n && l->n < ENTRIES_MAX; i++)
        add_entry(l, &list[i]);
    if (!list_next(l))
        request_finish(l->r, show(l));
}

/* Adds a seeded file, after its parent directories that are not in the list yet. Files come in the
 * order of their paths, so the previous path `before` tells which directories are there. */
static void add_seeded(struct files_list_work *l, const struct batch_seeded_file *f,
                       const char *before)
{
    struct node_dir_entry en = {
        .size = f->size, .mtime_us = f->mtime_us, .mode = BATCH_SEEDED_MODE};
    for (const char *slash = strchr(f->path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t n = (size_t)(slash - f->path);
        if (strncmp(before, f->path, n + 1) != 0) {
            const struct node_dir_entry dir = {.name = arena_strndup(&l->r->arena, f->path, n),
                                               .is_dir = true};
            add_entry(l, &dir);
        }
        if (!l->recursive)
            return;
    }
    en.name = arena_strdup(&l->r->arena, f->path);
    add_entry(l, &en);
}

static struct replied *list_seeded(struct files_list_work *l)
{
    struct batch_seeded_file *rows;
    struct err e;
    size_t n;
    if (st_batch_file_list(arm_of(l->r)->storage, &l->r->arena, l->place.seeded, &rows, &n, &e) < 0)
        return reply_err(l->r, &e);
    for (size_t i = 0; i < n && l->n < ENTRIES_MAX; i++)
        add_seeded(l, &rows[i], i > 0 ? rows[i - 1].path : "");
    return show(l);
}

static struct replied *list_files(struct request *r, find_files_place *find)
{
    static const struct batch_filter filters[] = {
        {"name", BATCH_BY_TEXT, 1U << FILTER_STARTS_WITH, NULL}};
    static const struct batch_list_kind kind = {
        .fragment = "files", .filters = filters, .n_filters = 1};
    struct files_list_work *l = arena_alloc(&r->arena, sizeof *l);
    const char *recursive = request_query(r, "recursive");
    struct err e;
    *l = (struct files_list_work){.r = r, .dir = ""};
    l->recursive = recursive && strcasecmp(recursive, "true") == 0;
    if (find(r, &l->place, &e) < 0 || batch_list_begin(r, &kind, &l->list, &e) < 0)
        return reply_err(r, &e);
    if (l->place.seeded)
        return list_seeded(l);
    if (fleet_list_dir(arm_of(r)->fleet, &l->place.at, "", on_listed, l, &e) < 0)
        return batch_files_refuse(r, &l->place.at, "", &e);
    return reply_later(r);
}

struct replied *batch_files_list_task(struct request *r)
{
    return list_files(r, batch_files_of_task);
}

struct replied *batch_files_list_node(struct request *r)
{
    return list_files(r, batch_files_of_node);
}

/* --- deleting --------------------------------------------------------------------------------- */

struct deletion {
    struct request *r;
    struct files_place place;
    bool recursive;
};

static struct replied *refuse(const struct deletion *d, const struct err *why)
{
    return batch_files_refuse(d->r, &d->place.at, d->place.path, why);
}

static void on_removed(void *ctx, const struct err *why)
{
    struct deletion *d = ctx;
    request_finish(d->r, why ? refuse(d, why) : reply_empty(d->r, 200));
}

static void remove_it(struct deletion *d)
{
    struct err e;
    if (fleet_remove(arm_of(d->r)->fleet, &d->place.at, d->place.path, on_removed, d, &e) < 0)
        request_finish(d->r, refuse(d, &e));
}

static void on_directory(void *ctx, const struct err *why, const struct node_dir_entry *list_,
                         size_t n)
{
    struct deletion *d = ctx;
    struct err e;
    (void)list_;
    if (why) {
        request_finish(d->r, refuse(d, why));
    } else if (n > 0 && !d->recursive) {
        err_set(&e, ERR_CONFLICT, NULL,
                "The directory is not empty; it can be deleted with recursive=true.");
        request_finish(d->r, reply_err(d->r, &e));
    } else {
        remove_it(d);
    }
}

/* Called with the facts of the file. If the path names no file, it may name a directory. */
static void on_looked(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct deletion *d = ctx;
    struct err e;
    (void)got;
    if (!why)
        remove_it(d);
    else if (fleet_list_dir(arm_of(d->r)->fleet, &d->place.at, d->place.path, on_directory, d, &e) <
             0)
        request_finish(d->r, refuse(d, &e));
}

static int remove_seeded(struct storage *st, void *ctx, struct err *e)
{
    const struct deletion *d = ctx;
    struct batch_seeded_file f;
    int n, rc = st_batch_file_get(st, &d->r->arena, d->place.seeded, d->place.path, &f, e);
    if (rc < 0 || st_batch_file_remove(st, d->place.seeded, d->place.path, &n, e) < 0)
        return -1;
    if (n == 0)
        return batch_no_file(d->place.path, e);
    if (rc > 0 || d->recursive)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL,
                   "The directory is not empty; it can be deleted with recursive=true.");
}

static struct replied *delete_file(struct request *r, find_files_place *find)
{
    struct deletion *d = arena_alloc(&r->arena, sizeof *d);
    const char *recursive = request_query(r, "recursive");
    struct err e;
    *d = (struct deletion){.r = r};
    d->recursive = recursive && strcasecmp(recursive, "true") == 0;
    if (find(r, &d->place, &e) < 0)
        return reply_err(r, &e);
    if (d->place.seeded)
        return st_tx(arm_of(r)->storage, "delete file", remove_seeded, d, &e) < 0
                   ? reply_err(r, &e)
                   : reply_empty(r, 200);
    if (fleet_read_file(arm_of(r)->fleet, &d->place.at, d->place.path, 0, 0, on_looked, d, &e) < 0)
        return refuse(d, &e);
    return reply_later(r);
}

struct replied *batch_files_delete_task(struct request *r)
{
    return delete_file(r, batch_files_of_task);
}

struct replied *batch_files_delete_node(struct request *r)
{
    return delete_file(r, batch_files_of_node);
}
