/* SPDX-License-Identifier: MIT
 *
 * Files of tasks and nodes, over the links of their nodes. Paths are below the directory of the
 * task or the node's Batch root; the node's agent refuses to leave it. Files of a seeded task,
 * which was never on a node, are rows.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/stream.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "api/plane/batch/tasks.h"
#include "api/plane/storage/range.h"
#include "lib/jsontext.h"
#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/batch_jobs.h"
#include "storage/seeding.h"

/* The most entries of one listing, all directories together. */
#define ENTRIES_MAX 100000
#define SEEDED_MODE 0100644

/* The directory of a request's files. */
struct files_place {
    struct output_dir at;
    const char *path; /* the request's path below it; "": the directory itself */
    const char *url;  /* of the directory: ".../files" */
    int64_t seeded;   /* the seeded task whose files are rows; 0: files are on a node */
};

/* --- finding it ------------------------------------------------------------------------------- */

/* A path as it was sent: with either slash, perhaps from the root of a node ("D:\batch\tasks\..."),
 * becomes one below the directory. */
static const char *clean_path(struct request *r, const char *sent)
{
    char *path = arena_strdup(&r->arena, sent ? sent : ""), *from = path, *to = path;
    static const char windows[] = "D:/batch/tasks/";
    for (char *at = path; *at; at++)
        if (*at == '\\')
            *at = '/';
    if (strncasecmp(path, windows, sizeof windows - 1) == 0)
        from += sizeof windows - 1;
    while (*from == '/')
        from++;
    for (; *from; from++)
        if (!(*from == '/' && (from[1] == '/' || from[1] == '\0')))
            *to++ = *from;
    *to = '\0';
    return path;
}

static int on_node(struct request *r, const struct node *nd, const char *below,
                   struct files_place *out, struct err *e)
{
    struct node_rt *rt = node_rt_find(arm_of(r)->fleet, nd->id);
    if (!rt)
        return err_set(e, ERR_UNAVAILABLE, NULL, "The node %s cannot be reached now.", nd->name);
    out->at = (struct output_dir){.node_id = nd->id,
                                  .node = arena_strdup(&r->arena, nd->name),
                                  .base = arena_concat(&r->arena, node_rt_root(rt), "/", BATCH_ROOT,
                                                       *below ? "/" : "", below),
                                  .is_local = node_rt_is_local(rt)};
    out->path = clean_path(r, r->rest);
    return 0;
}

static int no_node(const char *name, struct err *e)
{
    return err_set(e, BATCH_NODE_NOT_FOUND, NULL, "The node %s does not exist.", name);
}

static int of_task(struct request *r, struct files_place *out, struct err *e)
{
    struct batch_task t;
    struct node nd;
    if (find_batch_task(r, &t, e) < 0)
        return -1;
    if (t.files == BATCH_FILES_CLEANED)
        return err_set(e, BATCH_TASK_FILES_CLEANEDUP, NULL,
                       "The time for which the files of the task %s were kept is over.", t.name);
    if (t.files == BATCH_FILES_NONE)
        return err_set(e, BATCH_TASK_FILES_UNAVAILABLE, NULL, "The task %s has not run yet.",
                       t.name);
    out->url =
        batch_url(r, arena_concat(&r->arena, batch_task_path(r, t.job_name, t.name), "/files/"));
    if (!t.node_name) {
        out->seeded = t.id;
        out->path = clean_path(r, r->rest);
        return 0;
    }
    int rc = batch_task_node(arm_of(r)->storage, &r->arena, &t, &nd, e);
    if (rc <= 0)
        return rc < 0 ? -1 : no_node(t.node_name, e);
    if (batch_files_lost(&t, nd.emptied_us))
        return err_set(e, BATCH_TASK_FILES_CLEANEDUP, NULL,
                       "The files of the task %s are gone: its node %s was emptied since.", t.name,
                       nd.name);
    return on_node(r, &nd, batch_task_dir(&r->arena, &t), out, e);
}

static int of_node(struct request *r, struct files_place *out, struct err *e)
{
    struct batch_pool p;
    struct node nd;
    struct storage *st = arm_of(r)->storage;
    const char *pool = request_param(r, "poolId"), *node = request_param(r, "nodeId");
    int rc = st_batch_pool_get(st, &r->arena, batch_account_of(r)->id, pool, &p, e);
    if (rc == 0)
        return err_set(e, BATCH_POOL_NOT_FOUND, NULL, "The specified pool does not exist.");
    if (rc > 0)
        rc = st_node_named(st, &r->arena, p.id, node, &nd, e);
    if (rc <= 0)
        return rc < 0 ? -1 : no_node(node, e);
    out->url = batch_url(r, arena_concat(&r->arena, "/pools/", batch_segment(r, p.name), "/nodes/",
                                         batch_segment(r, nd.name), "/files/"));
    return on_node(r, &nd, "", out, e);
}

typedef int find_place(struct request *r, struct files_place *out, struct err *e);

/* Turns a node's error about a file into the service's error. */
static struct replied *refuse(struct request *r, const struct err *why)
{
    struct err e = *why;
    if (e.code == ERR_INVALID_PATH || e.code == ERR_FILE_NOT_FOUND)
        e.code = (enum err_code)BATCH_FILE_NOT_FOUND;
    return reply_err(r, &e);
}

/* A file's URL: its path with its slashes. */
static const char *url_of(struct request *r, const struct files_place *p, const char *path)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, p->url);
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        strbuf_puts(&b, batch_segment(r, arena_strndup(&r->arena, at, n)));
        if (at[n])
            strbuf_putc(&b, '/');
        at += n + (at[n] == '/');
    }
    const char *text = arena_strdup(&r->arena, b.s);
    strbuf_free(&b);
    return text;
}

static const char *type_of(const char *path)
{
    size_t n = strlen(path);
    return n >= 4 && strcasecmp(path + n - 4, ".txt") == 0 ? "text/plain"
                                                           : "application/octet-stream";
}

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
    struct listed_file *entries; /* the arena's */
    size_t n, cap, next; /* next: index of the first possible directory that was not listed yet */
    const char *dir;     /* that is being listed */
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

/* "0o100644"; NULL: not known. */
static const char *mode_of(struct request *r, int64_t mode)
{
    return mode ? arena_printf(&r->arena, "0o%06llo", (unsigned long long)mode) : NULL;
}

static json_t *render(struct files_list_work *l, const struct listed_file *en)
{
    char when[TIMEFMT_SIZE];
    json_t *o = json_pack("{s:s, s:s, s:b}", "name", en->path, "url",
                          url_of(l->r, &l->place, en->path), "isDirectory", en->is_dir);
    if (!o || en->is_dir)
        return o;
    timefmt_exact(en->mtime_us, when);
    const char *size = arena_printf(&l->r->arena, "%lld", (long long)en->size);
    json_object_set_new(o, "properties",
                        json_pack("{s:s, s:s, s:s, s:s*}", "lastModified", when, "contentLength",
                                  size, "contentType", type_of(en->path), "fileMode",
                                  mode_of(l->r, en->mode)));
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

/* The next directory of a recursive list. */
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

/* Leaves out a directory that has disappeared meanwhile; a root that no task has created yet is
 * empty. */
static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct files_list_work *l = ctx;
    if (why && why->code != ERR_FILE_NOT_FOUND && !*l->dir) {
        request_finish(l->r, refuse(l->r, why));
        return;
    }
    for (size_t i = 0; !why && i < n && l->n < ENTRIES_MAX; i++)
        add_entry(l, &list[i]);
    if (!list_next(l))
        request_finish(l->r, show(l));
}

/* Adds the missing parent directories of a seeded file. Files come in order of their paths, so the
 * files of a directory are adjacent. */
static void add_seeded(struct files_list_work *l, const struct batch_seeded_file *f,
                       const char *before)
{
    struct node_dir_entry en = {.size = f->size, .mtime_us = f->mtime_us, .mode = SEEDED_MODE};
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

static struct replied *list_files(struct request *r, find_place *find)
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
        return refuse(r, &e);
    return reply_later(r);
}

struct replied *batch_files_list_task(struct request *r)
{
    return list_files(r, of_task);
}

struct replied *batch_files_list_node(struct request *r)
{
    return list_files(r, of_node);
}

/* --- one file --------------------------------------------------------------------------------- */

struct file_download {
    struct request *r; /* until it is answered */
    struct fleet *fleet;
    struct output_dir at; /* texts are owned */
    char *path, *url;
    struct reply_stream *stream; /* borrowed */
};

static void download_free(void *ctx)
{
    struct file_download *d = ctx;
    free((char *)(uintptr_t)d->at.node);
    free((char *)(uintptr_t)d->at.base);
    free(d->path);
    free(d->url);
    free(d);
}

static void on_piece(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct file_download *d = ctx;
    stream_got(d->stream, why ? NULL : got->bytes, why ? 0 : got->n);
}

static int fetch(void *ctx, struct reply_stream *s, uint64_t offset, size_t max)
{
    struct file_download *d = ctx;
    struct err e;
    d->stream = s;
    return fleet_read_file(d->fleet, &d->at, d->path, (int64_t)offset, max, on_piece, d, &e);
}

static void add_headers(struct request *r, const struct file_download *d,
                        const struct node_bytes *got)
{
    char when[TIMEFMT_SIZE];
    const char *mode = mode_of(r, got->mode);
    timefmt_http(got->mtime_us, when);
    reply_header(r, "Last-Modified", "%s", when);
    reply_header(r, "ocp-creation-time", "%s", when);
    reply_header_text(r, "ocp-batch-file-isdirectory", "False");
    if (mode)
        reply_header_text(r, "ocp-batch-file-mode", mode);
    reply_header_text(r, "ocp-batch-file-url", batch_segment(r, arena_strdup(&r->arena, d->url)));
}

/* Reads ocp-range; such a request is answered with 200. */
static int read_range(struct request *r, uint64_t size, uint64_t *first, uint64_t *n, struct err *e)
{
    uint64_t last;
    *first = 0;
    *n = size;
    switch (range_parse(request_header(r, "ocp-range"), size, first, &last)) {
    case RANGE_PART:
        *n = last - *first + 1;
        return 0;
    case RANGE_UNSATISFIABLE:
        return err_set(e, BATCH_INVALID_RANGE, "ocp-range", "The file has %llu bytes.",
                       (unsigned long long)size);
    case RANGE_NONE:
        break;
    }
    return 0;
}

static struct replied *send_file(struct file_download *d, const struct node_bytes *got)
{
    struct request *r = d->r;
    uint64_t first, n;
    struct err e;
    if (batch_conditions(r, got->mtime_us, &e) < 0 ||
        read_range(r, (uint64_t)got->size, &first, &n, &e) < 0)
        return reply_err(r, &e);
    add_headers(r, d, got);
    if (strcmp(r->method, "HEAD") == 0)
        return reply_length(r, type_of(d->path), (uint64_t)got->size);
    struct stream_source source = {.fetch = fetch, .release = download_free};
    if (got->n > 0 && n > 0 && got->n == (size_t)got->size) { /* a seeded file */
        source.first = xrealloc(NULL, n + 1);
        memcpy(source.first, got->bytes + first, n);
        source.n_first = n;
    }
    source.ctx = request_take_back(r);
    return reply_stream(r, 200, type_of(d->path), first, n, &source);
}

static void on_size(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct file_download *d = ctx;
    struct request *r = d->r;
    request_finish(r, why ? refuse(r, why) : send_file(d, got));
}

static int no_file(const char *path, struct err *e)
{
    return err_set(e, BATCH_FILE_NOT_FOUND, NULL, "There is no file '%.200s'.", path);
}

static struct replied *get_seeded(struct file_download *d, int64_t task)
{
    struct batch_seeded_file f;
    struct err e;
    int rc = st_batch_file_get(arm_of(d->r)->storage, &d->r->arena, task, d->path, &f, &e);
    if (rc == 0)
        no_file(d->path, &e);
    if (rc <= 0)
        return reply_err(d->r, &e);
    const struct node_bytes got = {.bytes = f.bytes,
                                   .n = (size_t)f.size,
                                   .size = f.size,
                                   .mtime_us = f.mtime_us,
                                   .mode = SEEDED_MODE};
    return send_file(d, &got);
}

static struct replied *get(struct request *r, find_place *find)
{
    struct files_place p = {.path = "", .url = ""};
    struct err e;
    if (find(r, &p, &e) < 0)
        return reply_err(r, &e);
    struct file_download *d = xcalloc(1, sizeof *d);
    *d = (struct file_download){.r = r, .fleet = arm_of(r)->fleet, .at = p.at};
    d->at.node = p.seeded ? NULL : xstrdup(p.at.node);
    d->at.base = p.seeded ? NULL : xstrdup(p.at.base);
    d->path = xstrdup(p.path);
    d->url = xstrdup(url_of(r, &p, p.path));
    request_keep(r, d, download_free);
    if (p.seeded)
        return get_seeded(d, p.seeded);
    if (fleet_read_file(d->fleet, &d->at, d->path, 0, 0, on_size, d, &e) == 0)
        return reply_later(r);
    return refuse(r, &e);
}

struct replied *batch_files_get_task(struct request *r)
{
    return get(r, of_task);
}

struct replied *batch_files_get_node(struct request *r)
{
    return get(r, of_node);
}

/* --- deleting --------------------------------------------------------------------------------- */

struct deletion {
    struct request *r;
    struct files_place place;
    bool recursive;
};

static void on_removed(void *ctx, const struct err *why)
{
    struct deletion *d = ctx;
    request_finish(d->r, why ? refuse(d->r, why) : reply_empty(d->r, 200));
}

static void remove_it(struct deletion *d)
{
    struct err e;
    if (fleet_remove(arm_of(d->r)->fleet, &d->place.at, d->place.path, on_removed, d, &e) < 0)
        request_finish(d->r, refuse(d->r, &e));
}

static void on_directory(void *ctx, const struct err *why, const struct node_dir_entry *list_,
                         size_t n)
{
    struct deletion *d = ctx;
    struct err e;
    (void)list_;
    if (why) {
        request_finish(d->r, refuse(d->r, why));
    } else if (n > 0 && !d->recursive) {
        err_set(&e, ERR_CONFLICT, NULL,
                "The directory is not empty; it can be deleted with recursive=true.");
        request_finish(d->r, reply_err(d->r, &e));
    } else {
        remove_it(d);
    }
}

/* A path that is not a file may be a directory. */
static void on_looked(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct deletion *d = ctx;
    struct err e;
    (void)got;
    if (!why)
        remove_it(d);
    else if (fleet_list_dir(arm_of(d->r)->fleet, &d->place.at, d->place.path, on_directory, d, &e) <
             0)
        request_finish(d->r, refuse(d->r, &e));
}

static int remove_seeded(struct storage *st, void *ctx, struct err *e)
{
    const struct deletion *d = ctx;
    struct batch_seeded_file f;
    int n, rc = st_batch_file_get(st, &d->r->arena, d->place.seeded, d->place.path, &f, e);
    if (rc < 0 || st_batch_file_remove(st, d->place.seeded, d->place.path, &n, e) < 0)
        return -1;
    if (n == 0)
        return no_file(d->place.path, e);
    if (rc > 0 || d->recursive)
        return 0;
    return err_set(e, ERR_CONFLICT, NULL,
                   "The directory is not empty; it can be deleted with recursive=true.");
}

static struct replied *delete_file(struct request *r, find_place *find)
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
        return refuse(r, &e);
    return reply_later(r);
}

struct replied *batch_files_delete_task(struct request *r)
{
    return delete_file(r, of_task);
}

struct replied *batch_files_delete_node(struct request *r)
{
    return delete_file(r, of_node);
}
