/* SPDX-License-Identifier: MIT
 *
 * Copies all files of a container: lists the names page by page, and carries each file. As in
 * copy_step.c, a step is described by an order (`struct put_order`), and a `struct putting` carries
 * the order out.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/strbuf.h"
#include "model/spec.h"
#include "scheduler/fleet/copy/copy_step.h"
#include "scheduler/fleet/transfer/blobs.h"
#include "storage/folders/walk.h"

#define PAGE 1000 /* the most names of a page */
/* The most bytes of a page of a foreign list; such a page has 5,000 names at most. */
#define LIST_BYTES_MAX ((size_t)16 * 1024 * 1024)
/* More files in a container are most likely a user's mistake, so the step fails. */
#define FILES_MAX 100000

/* A file of the container. */
struct listed_blob {
    const char *name;
    struct file_place at; /* its file; share NULL: the file is at the container's URL */
    bool has_bytes;
};

/* Hashes of the target paths: different names of blobs may map to one file. Only a hostile user can
 * arrange a hash collision; it fails that user's task. */
struct targets {
    uint64_t *hash;
    size_t n;
    struct arena a;
    const char **changed; /* names of blobs that differ from the paths of their files */
    size_t n_changed;
};

struct put_order {
    struct carry_what what;
    struct put_which which;
    struct putting *work;
};

struct putting {
    struct put_order *order; /* NULL: the script was halted */
    struct script_turn *turn;
    struct node_link *link;
    struct arena a; /* memory of the page */
    struct listed_blob *found;
    size_t n, at, total; /* total: of all pages so far; at most FILES_MAX */
    char *next;          /* the marker of the next page; NULL: there is none */
    /* the page has the blobs of `which.aside` (whose names are not file names) */
    bool is_aside;
    struct transfer *list;
    struct strbuf text; /* the received part of the list */
    /* the page of the list, or why it cannot be understood (code ERR_NONE: it can be); a thread
     * writes these and `a` meanwhile */
    struct blob_page page;
    struct err wrong;
    struct carry *carry;
    struct targets targets;
};

static void end(struct putting *j, const struct err *why)
{
    struct script_turn *turn = j->order ? j->turn : NULL;
    if (j->order)
        j->order->work = NULL;
    if (j->list)
        transfer_end(j->list);
    arena_free(&j->a);
    arena_free(&j->targets.a);
    free(j->targets.hash);
    free(j->targets.changed);
    strbuf_free(&j->text);
    free(j->next);
    free(j);
    if (turn)
        script_turn_end(turn, why);
}

/* --- names -------------------------------------------------------------------------------------
 */

/* The path of the file for a blob: the name without empty parts and dots, because a path cannot
 * have these. NULL: no file below the directory has such a path. */
static const char *path_of(struct arena *a, const char *name)
{
    char *path = arena_strdup(a, name);
    const char *last = strrchr(name, '/');
    size_t to = 0;
    last = last ? last + 1 : name;
    if (*name == '/' || !*last || strcmp(last, ".") == 0)
        return NULL;
    for (const char *at = name; *at; at += *at == '/') {
        size_t n = strcspn(at, "/");
        bool is_dot = n == 1 && *at == '.';
        if (n == 2 && memcmp(at, "..", 2) == 0)
            return NULL;
        if (n > 0 && !is_dot) {
            memmove(path + to, at, n);
            to += n;
            path[to++] = '/';
        }
        at += n;
    }
    path[to - 1] = '\0';
    return path;
}

static bool is_directory(const struct listed_blob *f)
{
    size_t n = strlen(f->name);
    return !f->has_bytes && n > 0 && f->name[n - 1] == '/';
}

static void note_target(struct targets *t, const char *name, const char *path)
{
    if ((t->n & (t->n - 1)) == 0)
        t->hash = xrealloc(t->hash, (t->n ? 2 * t->n : 1) * sizeof *t->hash);
    t->hash[t->n++] = text_hash(path, strlen(path));
    if (strcmp(name, path) == 0)
        return;
    if ((t->n_changed & (t->n_changed - 1)) == 0)
        t->changed =
            xrealloc(t->changed, (t->n_changed ? 2 * t->n_changed : 1) * sizeof *t->changed);
    t->changed[t->n_changed++] = arena_strdup(&t->a, name);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns a blob whose file would replace another blob's file or directory; NULL: there is none. */
static const char *find_clash(struct targets *t)
{
    if (t->n_changed == 0)
        return NULL;
    qsort(t->hash, t->n, sizeof *t->hash, compare_hashes);
    for (size_t i = 0; i < t->n_changed; i++) {
        const char *path = path_of(&t->a, t->changed[i]);
        uint64_t hash = text_hash(path, strlen(path));
        const uint64_t *at = bsearch(&hash, t->hash, t->n, sizeof hash, compare_hashes);
        size_t k = (size_t)(at - t->hash);
        if ((k > 0 && at[-1] == hash) || (k + 1 < t->n && at[1] == hash))
            return t->changed[i];
    }
    return NULL;
}

/* --- files -------------------------------------------------------------------------------------
 */

static void find_page(struct putting *j);
static void carry_next(struct putting *j);

static void on_carried(void *ctx, const struct err *why)
{
    struct putting *j = ctx;
    j->carry = NULL;
    if (why) {
        struct err e = *why;
        (void)err_prefix(&e, "%s", j->found[j->at].name);
        end(j, &e);
        return;
    }
    j->at++;
    carry_next(j);
}

static void finish(struct putting *j)
{
    struct err e;
    const char *clash = find_clash(&j->targets);
    if (clash)
        err_set(&e, ERR_INVALID_PATH, NULL,
                "%s has the same path as another blob, and one file cannot be both", clash);
    end(j, clash ? &e : NULL);
}

static void take_aside(struct putting *j)
{
    const struct put_which *which = &j->order->which;
    j->is_aside = true;
    j->at = 0;
    j->n = which->n_aside;
    j->found = arena_alloc(&j->a, (j->n + 1) * sizeof *j->found);
    for (size_t i = 0; i < j->n; i++) {
        const struct input_blob *b = &which->aside[i];
        j->found[i] = (struct listed_blob){b->name, {b->share, b->path}, b->has_bytes};
    }
    carry_next(j);
}

/* Called at the end of a page. */
static void turn_page(struct putting *j)
{
    if (j->next)
        find_page(j);
    else if (!j->is_aside)
        take_aside(j);
    else
        finish(j);
}

static int compare_names(const void *name, const void *blob)
{
    return strcmp(name, ((const struct archived_blob *)blob)->name);
}

static const struct archived_blob *find_archived(const struct putting *j, const char *name)
{
    const struct put_which *w = &j->order->which;
    return w->n_archived == 0
               ? NULL
               : bsearch(name, w->archived, w->n_archived, sizeof *w->archived, compare_names);
}

static void carry_next(struct putting *j)
{
    struct err e;
    while (j->at < j->n && is_directory(&j->found[j->at]))
        j->at++, j->total++;
    if (j->at == j->n) {
        turn_page(j);
        return;
    }
    const struct listed_blob *f = &j->found[j->at];
    const char *path = path_of(&j->a, f->name);
    if (!path || ++j->total > FILES_MAX) {
        if (j->total > FILES_MAX)
            err_set(&e, ERR_BODY_TOO_LARGE, NULL, "it has more than %d files", FILES_MAX);
        else
            err_set(&e, ERR_INVALID_PATH, NULL,
                    "%s leaves the directory, or is a directory, so no file can have this name",
                    f->name);
        end(j, &e);
        return;
    }
    note_target(&j->targets, f->name, path);
    struct carry_what what = j->order->what;
    what.path = arena_concat(&j->a, what.path, "/", path);
    what.from = f->at;
    what.archived = find_archived(j, f->name);
    if (what.url)
        what.url = blob_url(&j->a, what.url, f->name);
    j->carry = carry_begin(j->link, &what, on_carried, j);
}

/* --- lists -------------------------------------------------------------------------------------
 */

/* Begins a page of `n` files. */
static void begin_page(struct putting *j, size_t n, const char *next)
{
    char *was = j->next;
    j->next = next ? xstrdup(next) : NULL;
    free(was);
    j->at = 0;
    j->n = n;
}

static void on_walked(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_items *found)
{
    struct putting *j = ctx;
    struct err e;
    (void)fault;
    if (why || !j->order) {
        end(j, why);
        return;
    }
    if (found->closed > 0) {
        err_set(&e, ERR_FORBIDDEN, NULL, "%zu of its directories may not be read", found->closed);
        end(j, &e);
        return;
    }
    arena_reset(&j->a);
    begin_page(j, found->n, found->last);
    j->found = arena_alloc(&j->a, (found->n + 1) * sizeof *j->found);
    for (size_t i = 0; i < found->n; i++) {
        const char *name = arena_strdup(&j->a, found->item[i].name);
        j->found[i] = (struct listed_blob){name, {j->order->what.from.share, name}, true};
    }
    carry_next(j);
}

/* On a thread, because a page may take long. */
static void understand(void *ctx)
{
    struct putting *j = ctx;
    struct err why;
    if (blob_page_read(&j->a, j->text.s, j->text.len, &j->page, &why) < 0)
        j->wrong = why;
}

/* Blobs without a name count, too, because a hostile server may list any number of them. */
static void on_understood(void *ctx, enum loop_work_end how)
{
    struct putting *j = ctx;
    const struct blob_page *page = &j->page;
    struct err e;
    if (how == LOOP_WORK_DROPPED || !j->order) {
        end(j, NULL);
        return;
    }
    j->total += 1 + page->nameless;
    bool again = page->next && j->next && strcmp(page->next, j->next) == 0;
    if (j->wrong.code == ERR_NONE && (j->total > FILES_MAX || again))
        err_set(&j->wrong, ERR_PROTOCOL, NULL, "its list is endless");
    if (j->wrong.code != ERR_NONE) {
        e = j->wrong;
        end(j, &e);
        return;
    }
    strbuf_free(&j->text);
    begin_page(j, page->n, page->next);
    j->found = arena_alloc(&j->a, (page->n + 1) * sizeof *j->found);
    for (size_t i = 0; i < page->n; i++)
        j->found[i] = (struct listed_blob){.name = page->blobs[i].name,
                                           .has_bytes = page->blobs[i].has_bytes};
    carry_next(j);
}

static void read_page(struct putting *j)
{
    struct err e;
    arena_reset(&j->a);
    if (transfers_work(j->order->what.transfers, understand, on_understood, j))
        return;
    err_set(&e, ERR_UNAVAILABLE, NULL, "too many lists are being read");
    end(j, &e);
}

static void on_list(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct putting *j = ctx;
    struct err e;
    if (why) {
        end(j, why);
        return;
    }
    strbuf_add(&j->text, got->bytes, got->n);
    if (!transfer_is_good(got->status) || j->text.len > LIST_BYTES_MAX) {
        if (transfer_is_good(got->status))
            err_set(&e, ERR_PROTOCOL, NULL, "a page of its list is longer than %zu bytes",
                    LIST_BYTES_MAX);
        else
            transfer_refused(got->status, got->bytes, got->n, &e);
        end(j, &e);
    } else if (!got->end) {
        transfer_read(j->list, NODE_PIECE_MAX, on_list, j);
    } else {
        transfer_end(j->list);
        j->list = NULL;
        read_page(j);
    }
}

static void find_page(struct putting *j)
{
    const struct put_order *o = j->order;
    const char *prefix = o->which.prefix;
    if (o->what.url) {
        const struct transfer_ask ask = {.url = blob_list_url(&j->a, o->what.url, prefix, j->next)};
        j->list = transfer_begin(o->what.transfers, &ask);
        transfer_read(j->list, NODE_PIECE_MAX, on_list, j);
        return;
    }
    const struct files_walk walk = {
        .share = o->what.from.share, .prefix = prefix, .after = j->next, .max = PAGE};
    files_walk(o->what.files, &walk, on_walked, j);
}

/* --- the step ----------------------------------------------------------------------------------
 */

static void begin(void *ctx, struct node_link *link, struct script_turn *turn)
{
    struct put_order *o = ctx;
    struct putting *j = xcalloc(1, sizeof *j);
    assert(!o->work);
    o->work = j;
    *j = (struct putting){.order = o, .turn = turn, .link = link};
    arena_init(&j->a);
    arena_init(&j->targets.a);
    find_page(j);
}

static void halt(void *ctx)
{
    struct put_order *o = ctx;
    struct putting *j = o->work;
    if (!j)
        return;
    o->work = NULL;
    j->order = NULL;
    if (j->carry)
        carry_halt(j->carry);
    /* Without `carry` and `list`, a files_walk() or understand() is still running; its callback
     * ends the work. */
    if (j->carry || j->list)
        end(j, NULL);
}

void script_put_all(struct script *sc, struct arena *a, const struct script_label *label,
                    const struct carry_what *what, const struct put_which *which)
{
    struct put_order *o = arena_alloc(a, sizeof *o);
    *o = (struct put_order){.what = *what, .which = *which};
    const struct script_work work = {.begin = begin, .halt = halt, .ctx = o};
    script_work(sc, label, &work);
}
