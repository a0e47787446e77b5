/* SPDX-License-Identifier: MIT
 *
 * A page of all files of a share, in the order of their whole paths. The files of a directory sort
 * by the directory's path with a slash at the end ("a-b", "a.txt", "a/b"), so the names of a
 * directory are sorted with this slash; then a depth-first walk meets the files in order.
 *
 * A stack of directories leads to the present position of the walk. Each keeps some of its names,
 * starting with the next; when they are used up and there are more, the directory is read again
 * from there on.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/names_priv.h"
#include "storage/folders/place_priv.h"

/* How many entries one step reads: some ms altogether on a nearby server. */
#define ENTRIES_A_STEP 256
/* The most names of one directory to keep. */
#define NAMES_MAX 8192

struct walk_level {
    char *path; /* ends in a slash, except for the share's folder: "" */
    struct dir_names names;
    size_t next;   /* index of the next name */
    char *from;    /* only names greater than this are still to come; NULL: all names */
    bool is_read;  /* all wanted names were read */
    bool in_group; /* everything below it belongs to one item */
};

struct walk_job {
    struct folder_job job; /* must be first */
    char *share, *prefix, *delimiter;
    char *after; /* items up to this one are complete; NULL: none */
    size_t max;
    bool is_begun;
    struct walk_level *level; /* a stack */
    size_t levels;
    DIR *dir; /* of the top directory; NULL: not open */
    bool is_full;
    struct strbuf path; /* see path_of() */
    struct paging p;
};

static struct walk_level *top_of(struct walk_job *w)
{
    return &w->level[w->levels - 1];
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* --- which items --- */

/* Paths that are equal from the prefix up to the delimiter are one item. Returns the length of this
 * common beginning; 0: the path is an item by itself. */
static size_t group_of(const struct walk_job *w, const char *path)
{
    size_t skip = strlen(w->prefix);
    if (!*w->delimiter || !begins_with(path, w->prefix))
        return 0;
    const char *at = strstr(path + skip, w->delimiter);
    return at ? (size_t)(at - path) + strlen(w->delimiter) : 0;
}

/* Whether the item of a path was shown before, or sorts before the wanted items. */
static bool is_done(const struct walk_job *w, const char *path)
{
    if (!w->after)
        return false;
    size_t n = group_of(w, path);
    if (n == 0)
        return strcmp(path, w->after) <= 0;
    return strncmp(path, w->after, n) <= 0; /* also if `after` is longer than the item's name */
}

/* Like is_done() for all paths below a directory. `path` ends in a slash. */
static bool is_tree_done(const struct walk_job *w, const char *path)
{
    if (!w->after || group_of(w, path))
        return is_done(w, path);
    return !begins_with(w->after, path) && strcmp(path, w->after) < 0;
}

static bool is_wanted(const struct walk_job *w, const char *path, bool is_directory)
{
    if (is_directory)
        return (begins_with(path, w->prefix) || begins_with(w->prefix, path)) &&
               !is_tree_done(w, path);
    return begins_with(path, w->prefix) && !is_done(w, path);
}

/* --- levels ----------------------------------------------------------------------------------- */

static void close_directory(struct walk_job *w)
{
    if (w->dir)
        closedir(w->dir);
    w->dir = NULL;
}

static void push(struct walk_job *w, const char *path)
{
    close_directory(w);
    if ((w->levels & (w->levels - 1)) == 0)
        w->level = xrealloc(w->level, (w->levels ? w->levels * 2 : 1) * sizeof *w->level);
    w->level[w->levels++] = (struct walk_level){
        .path = xstrdup(path), .names.max = NAMES_MAX, .in_group = group_of(w, path) > 0};
}

static void level_free(struct walk_level *l)
{
    names_clear(&l->names);
    free(l->path);
    free(l->from);
}

static void pop(struct walk_job *w)
{
    close_directory(w);
    level_free(&w->level[--w->levels]);
}

/* Whether the directory was removed, or replaced by another kind of file; then it is skipped. */
static bool has_gone(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

/* Opens the directory at the top of the stack; if this fails, it is popped. */
static enum file_fault open_top(struct walk_job *w)
{
    char *path = xstrdup(top_of(w)->path);
    size_t n = strlen(path);
    if (n > 0)
        path[n - 1] = '\0';
    int fd = fs_open_without_links(w->share, path, O_RDONLY | O_DIRECTORY);
    free(path);
    w->dir = fd < 0 ? NULL : fdopendir(fd);
    if (w->dir)
        return FILE_FINE;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    if (w->levels == 1 && n == 0)
        return fault_of(error);
    if (!has_gone(error) && error != EACCES && error != ENAMETOOLONG)
        return fault_of(error);
    w->p.found.left_out += !has_gone(error);
    w->p.found.closed += error == EACCES;
    pop(w);
    return FILE_FINE;
}

/* --- items ------------------------------------------------------------------------------------ */

/* Adds an item to the page. One item more than wanted shows that there are more. */
static void show(struct walk_job *w, const char *path, const struct file_facts *facts)
{
    size_t n = group_of(w, path);
    if (w->p.found.n == w->max) {
        w->p.found.last = xstrdup(w->p.found.item[w->max - 1].name);
        w->is_full = true;
        return;
    }
    struct file_item *item = item_add(&w->p.found, path);
    if (n == 0) {
        item->facts = *facts;
        return;
    }
    item->name[n] = '\0';
    item->is_prefix = true;
    free(w->after);
    w->after = xstrdup(item->name);
}

/* The path of `name` in the directory at the top; valid until the next call. */
static const char *path_of(struct walk_job *w, const char *name, bool with_slash)
{
    strbuf_reset(&w->path);
    strbuf_puts(&w->path, top_of(w)->path);
    strbuf_puts(&w->path, name);
    if (with_slash)
        strbuf_putc(&w->path, '/');
    return w->path.s;
}

/* Shows `name` in the directory at the top, if it is a file. */
static void meet(struct walk_job *w, const char *name, unsigned char type)
{
    const char *path = path_of(w, name, false);
    struct file_facts facts;
    int fd = -1;
    enum file_fault fault = type == DT_LNK ? place_find(w->share, path, &fd, &facts)
                                           : facts_at(dirfd(w->dir), name, &facts, NULL);
    if (fd >= 0)
        close(fd);
    if (!fault && !facts.is_directory)
        show(w, path, &facts);
}

/* --- the walk --------------------------------------------------------------------------------- */

static void offer(struct walk_job *w, const char *name, unsigned char type)
{
    struct walk_level *top = top_of(w);
    const char *path = path_of(w, name, type == DT_DIR);
    const char *key = path + strlen(top->path);
    if (is_wanted(w, path, type == DT_DIR) && (!top->from || strcmp(key, top->from) > 0))
        names_offer(&top->names, key, type);
}

/* Reads one entry of the directory at the top. In a group a file is shown at once, because one file
 * is enough to show the group. */
static enum file_fault read_one(struct walk_job *w)
{
    struct walk_level *top = top_of(w);
    const char *name;
    unsigned char type;
    if (!names_next(w->dir, &name, &type, &w->p.found.left_out)) {
        names_end(&top->names);
        top->is_read = true;
        return fault_of(errno);
    }
    if (top->in_group && type != DT_DIR)
        meet(w, name, type);
    else
        offer(w, name, type);
    return FILE_FINE;
}

static void read_again(struct walk_job *w)
{
    struct walk_level *top = top_of(w);
    free(top->from);
    top->from = xstrdup(top->names.at[top->names.n - 1].text);
    names_clear(&top->names);
    top->next = 0;
    top->is_read = false;
    close_directory(w);
}

static void go_on(struct walk_job *w)
{
    struct walk_level *top = top_of(w);
    if (top->next == top->names.n && top->names.is_cut) {
        read_again(w);
        return;
    }
    if (top->next == top->names.n) {
        pop(w);
        return;
    }
    const struct name *name = &top->names.at[top->next++];
    const char *path = path_of(w, name->text, false);
    if (name->type != DT_DIR && !is_done(w, path))
        meet(w, name->text, name->type);
    else if (name->type == DT_DIR && !is_tree_done(w, path))
        push(w, path);
}

/* Whether the directory must be open: to read its names, or the facts of a file in it. */
static bool needs_directory(const struct walk_level *top)
{
    return !top->is_read || (top->next < top->names.n && top->names.at[top->next].type != DT_DIR);
}

static enum file_fault walk_on(struct walk_job *w)
{
    if (top_of(w)->in_group && is_tree_done(w, top_of(w)->path)) {
        pop(w);
        return FILE_FINE;
    }
    if (!w->dir && needs_directory(top_of(w))) {
        enum file_fault fault = open_top(w);
        if (fault || !w->dir)
            return fault;
    }
    if (!top_of(w)->is_read)
        return read_one(w);
    go_on(w);
    return FILE_FINE;
}

/* Starts the walk at the directory of the prefix. */
static void begin(struct walk_job *w)
{
    char *base = xstrdup(w->prefix), *slash = strrchr(base, '/');
    w->is_begun = true;
    if (slash)
        *slash = '\0';
    else
        *base = '\0';
    if (!slash || (*base && place_is_good(base))) {
        if (slash)
            *slash = '/', slash[1] = '\0';
        push(w, base);
    }
    free(base);
}

static bool walk_step(struct folder_job *job)
{
    struct walk_job *w = CONTAINER_OF(job, struct walk_job, job);
    if (!w->is_begun)
        begin(w);
    for (int i = 0; i < ENTRIES_A_STEP && w->levels > 0 && !w->is_full && !w->p.fault; i++)
        w->p.fault = walk_on(w);
    w->p.error = errno;
    if (w->levels > 0 && !w->is_full && !w->p.fault)
        return true;
    close_directory(w);
    return false;
}

static void walk_tell(struct folder_job *job, const struct err *why)
{
    paging_tell(&CONTAINER_OF(job, struct walk_job, job)->p, why);
}

static void walk_destroy(struct folder_job *job)
{
    struct walk_job *w = CONTAINER_OF(job, struct walk_job, job);
    if (w->dir)
        close_directory_later(job->share, w->dir);
    while (w->levels > 0)
        level_free(&w->level[--w->levels]);
    file_items_free(&w->p.found);
    strbuf_free(&w->path);
    free(w->level);
    free(w->share);
    free(w->prefix);
    free(w->delimiter);
    free(w->after);
    free(w);
}

static const struct job_kind walk_kind = {
    .step = walk_step, .tell = walk_tell, .destroy = walk_destroy};

void files_walk(struct files *f, const struct files_walk *what, files_paged cb, void *ctx)
{
    struct walk_job *w = xcalloc(1, sizeof *w);
    assert(what->max > 0);
    *w = (struct walk_job){.job.kind = &walk_kind,
                           .share = xstrdup(what->share),
                           .prefix = xstrdup(what->prefix ? what->prefix : ""),
                           .delimiter = xstrdup(what->delimiter ? what->delimiter : ""),
                           .after = what->after ? xstrdup(what->after) : NULL,
                           .max = what->max,
                           .path = STRBUF_INIT,
                           .p = {.cb = cb, .ctx = ctx}};
    job_begin(f, what->share, &w->job);
}
