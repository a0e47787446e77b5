/* SPDX-License-Identifier: MIT */
#include "scheduler/file_server.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/fs.h"

/* What follows "/NAME/" in the id, up to the next slash; NULL: no such part. */
static const char *id_part(struct arena *a, const char *id, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strchr(id, '/'); p; p = strchr(p + 1, '/'))
        if (strncasecmp(p + 1, name, n) == 0 && p[n + 1] == '/')
            return arena_strndup(a, p + n + 2, strcspn(p + n + 2, "/"));
    return NULL;
}

int file_server_find(struct storage *st, struct arena *a, const char *id, struct file_server **out,
                     struct err *e)
{
    const char *subscription = id_part(a, id, "subscriptions"),
               *group = id_part(a, id, "resourceGroups"), *workspace = id_part(a, id, "workspaces"),
               *name = id_part(a, id, "fileServers");
    struct resource_group g;
    struct workspace w;
    struct file_server f;
    *out = NULL;
    if (!subscription || !group || !workspace || !name)
        return 0;
    int rc = st_group_get(st, a, subscription, group, &g, e);
    if (rc > 0)
        rc = st_workspace_get(st, a, g.id, workspace, &w, e);
    if (rc > 0)
        rc = st_file_server_get(st, a, w.id, name, &f, e);
    if (rc <= 0 || f.prov_state == PROV_DELETING)
        return rc < 0 ? -1 : 0;
    *out = arena_alloc(a, sizeof **out);
    **out = f;
    return 0;
}

bool sched_file_server_place(const struct sched *s, struct arena *a, const struct file_server *f,
                             struct file_server_place *out)
{
    return file_server_place(a, s->cfg.site, s->cfg.local_nodes, s->cfg.storage_dir, f, out);
}

/* --- work ------------------------------------------------------------------------------------- */

static void work_free(struct server_work *w)
{
    id_map_remove(&w->s->servers, w->id);
    arena_free(&w->a);
    free(w);
}

static struct server_work *work_new(struct sched *s, const struct file_server *f, bool take_down,
                                    const struct file_server_place *at)
{
    struct server_work *w = xcalloc(1, sizeof *w);
    arena_init(&w->a);
    w->s = s;
    w->id = f->id;
    w->take_down = take_down;
    w->name = arena_strdup(&w->a, f->name);
    w->guid = arena_strdup(&w->a, f->guid);
    w->at = (struct file_server_place){.is_local = at->is_local,
                                       .host = arena_strdup(&w->a, at->host),
                                       .directory = arena_strdup(&w->a, at->directory),
                                       .machine = arena_strdup(&w->a, at->machine)};
    id_map_put(&s->servers, w->id, w);
    return w;
}

static void remove_on_pool(uv_work_t *req)
{
    struct server_work *w = req->data;
    w->removal_rc = fs_remove_tree(w->at.directory, &w->removal);
}

static void on_folder_removed(uv_work_t *req, int status)
{
    struct server_work *w = req->data;
    struct sched *s = w->s;
    if (status != 0 || w->removal_rc != 0)
        w->why = (struct failure){
            .code = "FileServerNotRemoved",
            .message = arena_strdup(&w->a, status ? uv_strerror(status) : w->removal.msg),
            .exit_code = -1};
    server_work_done(w);
    sched_unref(s);
}

static void remove_folder(struct server_work *w)
{
    w->req.data = w;
    sched_ref(w->s);
    int rc = uv_queue_work(w->s->cfg.loop, &w->req, remove_on_pool, on_folder_removed);
    if (rc != 0) /* only for a NULL callback; report it the same way */
        on_folder_removed(&w->req, rc);
}

/* The decision is on disk. */
static void effect_begin(struct sched *s, int64_t id, const struct err *why)
{
    struct server_work *w = id_map_find(&s->servers, id);
    if (!w || w->begun)
        return;
    if (why) {
        work_free(w);
        return;
    }
    w->begun = true;
    if (w->at.machine)
        export_begin(w);
    else
        remove_folder(w);
}

void server_work_done(struct server_work *w)
{
    w->done = true;
    if (w->why.code)
        LOG_WARN(w->s->log, "fileserver.failed", LF_STR("fileServer", w->name),
                 LF_STR("why", w->why.message));
    if (w->s->stopping)
        return;
    wake(w->s, WAKE_FILE_SERVER, w->id);
    w->s->wake_deletions = true; /* it may have been deleted while it was set up */
}

void file_servers_stop(struct sched *s)
{
    for (size_t i = 0; i < s->servers.n; i++)
        export_stop(s->servers.e[i].p);
}

void file_servers_free(struct sched *s)
{
    for (size_t i = s->servers.n; i-- > 0;)
        work_free(s->servers.e[i].p);
    id_map_free(&s->servers);
}

/* --- setting up ------------------------------------------------------------------------------- */

struct finish {
    const struct file_server *f;
    const struct failure *why; /* code NULL: it went well */
    int64_t now_us;
};

static int finish_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct finish *t = ctx;
    const char *code = t->why->code;
    if (st_file_server_move(st, t->f->id, PROV_CREATING, code ? PROV_FAILED : PROV_SUCCEEDED,
                            t->now_us, e) != 0)
        return -1;
    return st_op_finish(st, RES_FILE_SERVER, t->f->id, false, code, t->why->message, t->now_us, e);
}

static void finish(struct sched *s, const struct file_server *f, const struct failure *why)
{
    struct finish t = {.f = f, .why = why, .now_us = sched_now(s)};
    struct err e = {0};
    if (st_tx(s->st, "file server set up", finish_tx, &t, &e) != 0) {
        LOG_ERROR(s->log, "fileserver.not_written", LF_STR("fileServer", f->name),
                  LF_STR("why", e.msg));
        wake_at(s, WAKE_FILE_SERVER, f->id, t.now_us + WRITE_AGAIN_US);
        return;
    }
    if (!why->code)
        LOG_INFO(s->log, "fileserver.served", LF_STR("fileServer", f->name));
    file_server_forget(s, f->id);
}

static void set_up(struct sched *s, struct arena *a, const struct file_server *f)
{
    struct server_work *w = id_map_find(&s->servers, f->id);
    struct file_server_place at;
    if (w && w->done) {
        finish(s, f, &w->why);
    } else if (!w && sched_file_server_place(s, a, f, &at) && at.machine) {
        work_new(s, f, false, &at);
        sched_after_durable(s, f->id, effect_begin);
    } else if (!w) {
        finish(s, f, &(struct failure){0}); /* the configuration is another now */
    }
}

void file_server_reconcile(struct sched *s, int64_t id)
{
    struct arena a;
    struct file_server f;
    struct err e = {0};
    struct server_work *w = id_map_find(&s->servers, id);
    if (w && w->over && !w->done) {
        export_stop(w);
        return;
    }
    arena_init(&a);
    int rc = st_file_server_by_id(s->st, &a, id, &f, &e);
    if (rc < 0) {
        LOG_ERROR(s->log, "fileserver.reconcile_failed", LF_INT("id", id), LF_STR("why", e.msg));
        wake_at(s, WAKE_FILE_SERVER, id, sched_now(s) + WRITE_AGAIN_US);
    } else if (rc > 0 && f.prov_state == PROV_CREATING) {
        set_up(s, &a, &f);
    }
    arena_free(&a);
}

int file_servers_resume(struct sched *s, struct arena *a, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_file_server_creating_ids(s->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake(s, WAKE_FILE_SERVER, ids[i]);
    return 0;
}

void sched_wake_file_server(struct sched *s, int64_t id)
{
    wake(s, WAKE_FILE_SERVER, id);
}

/* --- taking down ------------------------------------------------------------------------------ */

bool file_server_cleared(struct sched *s, struct arena *a, int64_t id)
{
    struct file_server f;
    struct file_server_place at;
    struct err e = {0};
    struct server_work *w = id_map_find(&s->servers, id);
    if (w && !w->done) {
        if (!w->take_down)
            export_stop(w);
        return false;
    }
    if (w && w->take_down)
        return true; /* what could not be taken down was logged */
    file_server_forget(s, id);
    if (st_file_server_by_id(s->st, a, id, &f, &e) <= 0 ||
        !sched_file_server_place(s, a, &f, &at) || (!at.machine && !at.is_local))
        return true;
    work_new(s, &f, true, &at);
    sched_after_durable(s, id, effect_begin);
    return false;
}

void file_server_forget(struct sched *s, int64_t id)
{
    struct server_work *w = id_map_find(&s->servers, id);
    if (w)
        work_free(w);
}
