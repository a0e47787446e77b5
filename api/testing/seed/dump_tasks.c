/* SPDX-License-Identifier: MIT
 *
 * Dumps the files of ended tasks, over the links to their nodes: task by task, directory by
 * directory, file by file. Leaves out files that cannot be read, because their node cannot be
 * reached or they do not exist any more.
 */
#include <string.h>

#include "api/testing/seed/dump.h"
#include "lib/jsontext.h"
#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/batch_jobs.h"
#include "storage/seeding.h"

#define PIECE (512 * 1024)

/* A directory to list, or a file to read. */
struct task_entry {
    const char *path;
    bool is_dir;
    struct task_entry *next;
};

struct dumped_task {
    struct output_dir at;
    json_t *into; /* the files of the task; borrowed from the tree */
    struct dumped_task *next;
};

struct task_walk {
    struct dumping *d;
    struct dumped_task *task;
    struct task_entry *todo; /* entries of the task that remain */
    struct task_entry now;
    struct strbuf bytes; /* bytes of the file `now` */
    void (*done)(struct dumping *d);
};

int dump_task_add(struct dumping *d, const struct batch_task *t, const struct dump_place *at,
                  struct err *e)
{
    struct node nd;
    int rc = batch_task_node(d->seed->arm.storage, d->a, t, &nd, e);
    struct node_rt *rt = rc > 0 ? node_rt_find(d->seed->arm.fleet, nd.id) : NULL;
    if (!rt)
        return rc < 0 ? -1 : 0;
    struct dumped_task *x = arena_alloc(d->a, sizeof *x);
    const char *dir = batch_task_dir(d->a, t);
    *x = (struct dumped_task){
        .at = {.node_id = nd.id,
               .node = nd.name,
               .base = arena_concat(d->a, node_rt_root(rt), "/", BATCH_ROOT, "/", dir),
               .is_local = node_rt_is_local(rt)},
        .into = json_object(),
        .next = d->tasks};
    dump_member(d, at, "files", x->into);
    d->tasks = x;
    return 0;
}

static void go_on(struct task_walk *w);

static void push(struct task_walk *w, const char *path, bool is_dir)
{
    struct task_entry *en = arena_alloc(w->d->a, sizeof *en);
    *en = (struct task_entry){path, is_dir, w->todo};
    w->todo = en;
}

static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct task_walk *w = ctx;
    const char *above = w->now.path;
    for (size_t i = 0; !why && i < n; i++)
        if (jsontext_is_utf8(list[i].name, strlen(list[i].name)))
            push(w, arena_concat(w->d->a, above, *above ? "/" : "", list[i].name), list[i].is_dir);
    go_on(w);
}

static void keep(struct task_walk *w)
{
    struct dumping *d = w->d;
    json_object_set_new(w->task->into, w->now.path,
                        seed_file_value(w->bytes.s ? w->bytes.s : "", w->bytes.len));
    d->left -= w->bytes.len;
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got);

static bool ask_bytes(struct task_walk *w)
{
    struct err e;
    return fleet_read_file(w->d->seed->arm.fleet, &w->task->at, w->now.path, (int64_t)w->bytes.len,
                           PIECE, on_bytes, w, &e) == 0;
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct task_walk *w = ctx;
    bool is_whole = !why;
    if (!why && got->n > 0) {
        strbuf_add(&w->bytes, got->bytes, got->n);
        is_whole = (int64_t)w->bytes.len >= got->size;
        if (w->bytes.len > w->d->left)
            err_set(&w->d->why, ERR_INVALID_CONTENT, NULL,
                    "The files of tasks are too large for a dump.");
        else if (!is_whole && ask_bytes(w))
            return;
    }
    if (is_whole && w->d->why.code == ERR_NONE)
        keep(w);
    go_on(w);
}

static void end(struct task_walk *w)
{
    for (const struct dumped_task *t = w->d->tasks; t; t = t->next) {
        seed_files_code(t->into, w->d->subscription);
        seed_files_sort(t->into);
    }
    strbuf_free(&w->bytes);
    w->done(w->d);
}

static bool begin(struct task_walk *w, const struct task_entry *en)
{
    struct err e;
    w->now = *en;
    strbuf_cut(&w->bytes, 0);
    return en->is_dir ? fleet_list_dir(w->d->seed->arm.fleet, &w->task->at, en->path, on_listed, w,
                                       &e) == 0
                      : ask_bytes(w);
}

static void go_on(struct task_walk *w)
{
    while (w->d->why.code == ERR_NONE) {
        struct task_entry *en = w->todo;
        if (en) {
            w->todo = en->next;
            if (begin(w, en))
                return;
            continue;
        }
        w->task = w->task ? w->task->next : w->d->tasks;
        if (!w->task)
            break;
        push(w, "", true);
    }
    end(w);
}

void dump_tasks(struct dumping *d, void (*done)(struct dumping *d))
{
    struct task_walk *w = arena_alloc(d->a, sizeof *w);
    *w = (struct task_walk){.d = d, .done = done};
    go_on(w);
}
