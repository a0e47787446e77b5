/* SPDX-License-Identifier: MIT
 *
 * Where the files of a task or node are, and how their paths, types and modes are shown.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/tasks.h"
#include "model/batch/images.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/tasks.h"

/* --- finding it ------------------------------------------------------------------------------- */

/* Makes a sent path relative to the directory. A path may begin at the root of a Windows node, as
 * in "D:\batch\tasks\...". In such a path, and in pools of Windows nodes, a backslash is a slash;
 * in other pools a file's name may contain a backslash. */
static const char *clean_path(struct request *r, const char *sent, bool is_windows)
{
    char *path = arena_strdup(&r->arena, sent ? sent : ""), *from = path, *to = path;
    static const char root[] = "D:/batch/tasks/";
    bool from_root = strncasecmp(path, "D:\\", 3) == 0;
    for (char *at = path; *at && (is_windows || from_root); at++)
        if (*at == '\\')
            *at = '/';
    if (strncasecmp(path, root, sizeof root - 1) == 0)
        from += sizeof root - 1;
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
    struct batch_pool p;
    struct node_rt *rt = node_rt_find(arm_of(r)->fleet, nd->id);
    int rc = st_batch_pool_by_id(arm_of(r)->storage, &r->arena, nd->pool_id, &p, e);
    if (rc < 0)
        return -1;
    if (!rt)
        return err_set(e, ERR_UNAVAILABLE, NULL, "The node %s cannot be reached now.", nd->name);
    out->at = (struct output_dir){.node_id = nd->id,
                                  .node = arena_strdup(&r->arena, nd->name),
                                  .base = arena_concat(&r->arena, node_rt_root(rt), "/", BATCH_ROOT,
                                                       *below ? "/" : "", below),
                                  .is_local = node_rt_is_local(rt)};
    out->path = clean_path(r, r->rest, rc == 1 && batch_pool_is_windows(p.doc));
    return 0;
}

/* Finds the path of a seeded task's file. */
static int in_rows(struct request *r, const struct batch_task *t, struct files_place *out,
                   struct err *e)
{
    struct batch_job j;
    struct batch_pool p;
    int rc = st_batch_job_by_id(arm_of(r)->storage, &r->arena, t->job_id, &j, e);
    if (rc == 1)
        rc = st_batch_pool_get(arm_of(r)->storage, &r->arena, j.account_id, j.pool_name, &p, e);
    out->seeded = t->id;
    out->path = clean_path(r, r->rest, rc == 1 && batch_pool_is_windows(p.doc));
    return rc < 0 ? -1 : 0;
}

static int no_node(const char *name, struct err *e)
{
    return err_set(e, BATCH_NODE_NOT_FOUND, NULL, "The node %s does not exist.", name);
}

int batch_files_of(struct request *r, const struct batch_task *t, struct files_place *out,
                   struct err *e)
{
    struct node nd;
    if (t->files == BATCH_FILES_CLEANED)
        return err_set(e, BATCH_TASK_FILES_CLEANEDUP, NULL,
                       "The time for which the files of the task %s were kept is over.", t->name);
    if (t->files == BATCH_FILES_NONE)
        return err_set(e, BATCH_TASK_FILES_UNAVAILABLE, NULL, "The task %s has not run yet.",
                       t->name);
    out->url =
        batch_url(r, arena_concat(&r->arena, batch_task_path(r, t->job_name, t->name), "/files/"));
    if (!t->node_name)
        return in_rows(r, t, out, e);
    int rc = batch_task_node(arm_of(r)->storage, &r->arena, t, &nd, e);
    if (rc <= 0)
        return rc < 0 ? -1 : no_node(t->node_name, e);
    if (batch_files_lost(t, &nd))
        return err_set(e, BATCH_TASK_FILES_CLEANEDUP, NULL,
                       "The files of the task %s are gone: its node %s was emptied since.", t->name,
                       nd.name);
    return on_node(r, &nd, batch_task_dir(&r->arena, t), out, e);
}

int batch_files_of_task(struct request *r, struct files_place *out, struct err *e)
{
    struct batch_task t;
    return find_batch_task(r, &t, e) < 0 ? -1 : batch_files_of(r, &t, out, e);
}

int batch_files_of_node(struct request *r, struct files_place *out, struct err *e)
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

/* Removes the path of the directory from an error message. */
static void hide(const char *directory, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    size_t n = strlen(directory);
    const char *from = e->msg;
    for (const char *at = strstr(from, directory); at; at = strstr(from, directory)) {
        bool below = at[n] == '/';
        strbuf_add(&b, from, (size_t)(at - from));
        strbuf_puts(&b, below ? "" : "the directory");
        from = at + n + below;
    }
    strbuf_puts(&b, from);
    (void)snprintf(e->msg, sizeof e->msg, "%s", b.s);
    strbuf_free(&b);
}

struct replied *batch_files_refuse(struct request *r, const struct output_dir *at, const char *path,
                                   const struct err *why)
{
    struct err e = *why;
    if (e.code == ERR_FILE_NOT_FOUND)
        batch_no_file(path, &e);
    else if (at->base)
        hide(at->base, &e);
    if (e.code == ERR_INVALID_PATH)
        e.code = (enum err_code)BATCH_FILE_NOT_FOUND;
    return reply_err(r, &e);
}

const char *batch_file_url(struct request *r, const struct files_place *p, const char *path)
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

const char *batch_file_type(const char *path)
{
    size_t n = strlen(path);
    return n >= 4 && strcasecmp(path + n - 4, ".txt") == 0 ? "text/plain"
                                                           : "application/octet-stream";
}

const char *batch_file_mode(struct request *r, int64_t mode)
{
    return mode ? arena_printf(&r->arena, "0o%06llo", (unsigned long long)mode) : NULL;
}

int batch_no_file(const char *path, struct err *e)
{
    return err_set(e, BATCH_FILE_NOT_FOUND, NULL, "There is no file '%.200s'.", path);
}
