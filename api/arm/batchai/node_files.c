/* SPDX-License-Identifier: MIT
 *
 * Lists output on the nodes' own disks. The list is the directory of the job's first node; in it
 * each further node appears as a directory with the node's name.
 */
#include <string.h>

#include "api/arm/batchai/file_list.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"

struct node_list {
    struct file_list *list;
    const struct output_dir *at; /* by rank; in the request's memory */
    size_t n;
    const struct output_dir *asked; /* the node that was asked for its files */
};

const struct output_dir *node_files_choose(const struct output_dir *at, size_t n, const char *path,
                                           const char **there)
{
    size_t first = strcspn(path, "/");
    for (size_t i = 0; i < n; i++) {
        if (at[i].rank == 0 || strlen(at[i].node) != first || strncmp(path, at[i].node, first) != 0)
            continue;
        *there = path[first] ? path + first + 1 : "";
        return &at[i];
    }
    *there = path;
    return n > 0 && at[0].rank == 0 ? &at[0] : NULL;
}

static void add_nodes(const struct node_list *nl)
{
    struct file_list *l = nl->list;
    for (size_t i = 0; l->is_base && l->shows_directories && i < nl->n; i++)
        if (nl->at[i].rank != 0 && !file_list_has(l, nl->at[i].node))
            file_list_add(l, nl->at[i].node, true, 0, 0);
}

static struct replied *reply(struct node_list *nl)
{
    add_nodes(nl);
    return file_list_reply(nl->list);
}

static struct replied *refuse(struct node_list *nl, const struct err *why)
{
    const struct file_list *l = nl->list;
    struct err e = *why;
    if (why->code != ERR_UNAVAILABLE)
        err_set(&e, why->code == ERR_FILE_NOT_FOUND ? ERR_FILE_NOT_FOUND : ERR_INVALID_QUERY,
                l->names->directory, "The directory '%.200s' cannot be listed: %s.", l->directory,
                why->msg);
    return reply_err(l->r, &e);
}

static void on_listed(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct node_list *nl = ctx;
    struct file_list *l = nl->list;
    struct request *r = l->r;
    /* No error: the job has not yet created its output directory. */
    bool is_root = why && why->code == ERR_FILE_NOT_FOUND && !*l->dir.path;
    if (why && !is_root) {
        request_finish(r, refuse(nl, why));
        return;
    }
    for (size_t i = 0; !why && i < n; i++)
        if (!list[i].is_dir || l->shows_directories)
            file_list_add(l, list[i].name, list[i].is_dir, list[i].size, list[i].mtime_us);
    request_finish(r, reply(nl));
}

/* 0: a node was asked, and on_listed() will reply. 1: *out is the reply. */
static int look(struct node_list *nl, const struct job *j, struct replied **out)
{
    struct file_list *l = nl->list;
    struct arena *a = &l->r->arena;
    const char *path;
    struct err e;
    const struct output_dir *at =
        node_files_choose(nl->at, nl->n, l->is_base ? "" : l->directory, &path);
    if (!at && (l->is_base || nl->n == 0)) {
        *out = reply(nl);
        return 1;
    }
    l->dir = (struct file_ref){LINK_NODE,
                               {arena_printf(a, "%lld-%s", (long long)j->id, j->guid),
                                arena_printf(a, "%d", at ? at->rank : 0), l->id},
                               path};
    if (!at)
        err_set(&e, ERR_FILE_NOT_FOUND, NULL, "its node has left the cluster");
    else if (fleet_list_dir(l->of.fleet, at, path, on_listed, nl, &e) == 0)
        return 0;
    *out = refuse(nl, &e);
    return 1;
}

static int find(struct file_list *l, const struct job *j, struct node_list **out, struct err *e)
{
    struct output_dir *at;
    size_t n;
    struct request *r = l->r;
    if (runs_output_dirs(l->of.runs, &r->arena, RES_JOB, j->id, l->id, &at, &n, e) < 0)
        return -1;
    *out = arena_alloc(&r->arena, sizeof **out);
    **out = (struct node_list){.list = l, .at = at, .n = n};
    return 0;
}

int node_files_list(struct file_list *l, const struct job *j, struct replied **out, struct err *e)
{
    struct request *r = l->r;
    struct node_list *nl;
    if (find(l, j, &nl, e) < 0)
        return -1;
    if (look(nl, j, out) == 0)
        *out = reply_later(r);
    return 0;
}

void node_files_finish(struct file_list *l, const struct job *j)
{
    struct request *r = l->r;
    struct node_list *nl;
    struct replied *done;
    struct err e;
    if (find(l, j, &nl, &e) < 0)
        request_finish(r, reply_err(r, &e));
    else if (look(nl, j, &done) == 1)
        request_finish(r, done);
}
