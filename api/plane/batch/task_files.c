/* SPDX-License-Identifier: MIT
 *
 * Files of a task for the page: lists of one directory, and ranges of one file. A node sends the
 * names of a directory in any order; they are sorted here. The next page begins after the last name
 * of a page.
 */
#include <stdlib.h>
#include <string.h>

#include "api/http/disposition.h"
#include "api/http/entries.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/routes.h"
#include "api/plane/batch/tasks.h"
#include "lib/fs.h"
#include "nodeagent-proto/link/node.h"
#include "storage/seeding.h"

struct task_files {
    struct request *r;
    struct rows rows;
    struct files_place place;
    struct entry *entries; /* in the request's arena */
    size_t n;
};

/* Finds the directory of the task's files, and the path in the query; "": the directory itself. */
static int find_place(struct request *r, const struct batch_task *t, struct files_place *out,
                      struct err *e)
{
    const char *path = request_query(r, "path");
    if (path && *path && !fs_path_is_safe(path))
        return err_set(e, ERR_INVALID_PATH, "path",
                       "The path '%.200s' is not allowed: it must be a relative path inside the "
                       "task's directory, without '..'.",
                       path);
    if (batch_files_of(r, t, out, e) < 0)
        return -1;
    out->path = path && strcmp(path, ".") != 0 ? path : "";
    return 0;
}

/* --- a directory ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static struct replied *show(struct task_files *l)
{
    struct page *page = l->rows.page;
    const char *dir = l->place.path;
    if (l->n > 0)
        qsort(l->entries, l->n, sizeof *l->entries, by_name);
    for (size_t i = 0; i < l->n && !page->more; i++) {
        struct entry *en = &l->entries[i];
        en->path = arena_concat(&l->r->arena, dir, *dir ? "/" : "", en->name);
        rows_add(page, en->name, en);
    }
    return page_reply(page);
}

/* Adds an entry; the name is borrowed until show(). Leaves out the names of earlier pages. */
static void add(struct task_files *l, const char *name, const struct node_dir_entry *en)
{
    if (strcmp(name, l->rows.page->after) <= 0)
        return;
    l->entries[l->n++] = (struct entry){.name = name,
                                        .is_directory = en->is_dir,
                                        .size = (uint64_t)en->size,
                                        .mtime_us = en->is_dir ? 0 : en->mtime_us};
}

/* Replies with the entries. The directory of the task may not exist yet; then it is shown as
 * empty. */
static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct task_files *l = ctx;
    struct err e;
    if (why && why->code == ERR_FILE_NOT_FOUND && *l->place.path) {
        err_set(&e, BATCH_FILE_NOT_FOUND, NULL, "There is no directory '%.200s'.", l->place.path);
        request_finish(l->r, reply_err(l->r, &e));
        return;
    }
    if (why && why->code != ERR_FILE_NOT_FOUND) {
        request_finish(l->r, batch_files_refuse(l->r, &l->place.at, l->place.path, why));
        return;
    }
    n = why ? 0 : n;
    l->entries = arena_alloc(&l->r->arena, (n + 1) * sizeof *l->entries);
    for (size_t i = 0; i < n; i++)
        add(l, list[i].name, &list[i]);
    request_finish(l->r, show(l));
}

/* Lists a directory of a seeded task, whose files are rows: the rows whose paths begin with the
 * directory's path and a slash. Rows are in the order of their paths. */
static struct replied *list_seeded(struct task_files *l)
{
    struct arena *a = &l->r->arena;
    struct batch_seeded_file *rows;
    struct err e;
    size_t n, skip = *l->place.path ? strlen(l->place.path) + 1 : 0;
    const char *prefix = skip > 0 ? arena_concat(a, l->place.path, "/") : "";
    if (st_batch_file_list(arm_of(l->r)->storage, a, l->place.seeded, &rows, &n, &e) < 0)
        return reply_err(l->r, &e);
    l->entries = arena_alloc(a, (n + 1) * sizeof *l->entries);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(rows[i].path, prefix, skip) != 0)
            continue;
        const char *rest = rows[i].path + skip, *slash = strchr(rest, '/');
        const char *name = slash ? arena_strndup(a, rest, (size_t)(slash - rest)) : rest;
        const struct node_dir_entry en = {
            .is_dir = slash != NULL, .size = rows[i].size, .mtime_us = rows[i].mtime_us};
        if (l->n == 0 || strcmp(l->entries[l->n - 1].name, name) != 0)
            add(l, name, &en);
    }
    return show(l);
}

/* Lists a directory of the task, in the form of api/http/entries.h. */
struct replied *task_files_list(struct request *r)
{
    struct batch_task t;
    struct err e;
    struct task_files *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct task_files){.r = r};
    if (find_batch_task(r, &t, &e) < 0 || rows_begin(r, &l->rows, &e) < 0)
        return reply_err(r, &e);
    if (t.files == BATCH_FILES_NONE) /* the task has written no files yet */
        return page_reply(l->rows.page);
    if (find_place(r, &t, &l->place, &e) < 0)
        return reply_err(r, &e);
    if (l->place.seeded)
        return list_seeded(l);
    if (fleet_list_dir(arm_of(r)->fleet, &l->place.at, l->place.path, on_listed, l, &e) < 0)
        return batch_files_refuse(r, &l->place.at, l->place.path, &e);
    return reply_later(r);
}

/* --- one file --------------------------------------------------------------------------------- */

/* GET and HEAD of a file of the task; serves ranges. */
struct replied *task_files_get(struct request *r)
{
    struct files_place place = {.path = ""};
    struct batch_task t;
    struct err e;
    bool download;
    if (read_download(r, &download, &e) < 0 || find_batch_task(r, &t, &e) < 0 ||
        find_place(r, &t, &place, &e) < 0)
        return reply_err(r, &e);
    if (!*place.path) {
        err_set(&e, ERR_INVALID_QUERY, "path",
                "The query parameter path is missing: name a file as GET .../files does.");
        return reply_err(r, &e);
    }
    if (download)
        reply_header_text(r, "Content-Disposition",
                          disposition_attachment(&r->arena, base_name(place.path)));
    return batch_file_send(r, &place, type_of(place.path));
}
