/* SPDX-License-Identifier: MIT
 *
 * The files of tasks on nodes: removed when the task or its job is deleted, or when their retention
 * time has passed. Pending removals are rows (batch_litter) until the node has carried them out, so
 * no file stays after a crash or on a node that is away; the rows are removed with their node.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/node/node.h"
#include "scheduler/front/batch/front_priv.h"

/* One reconcile is for all pending removals, and one is for all expired files. */
static const struct wake_kind woken_cleanup = {"batch cleanup", WAKE_LAST};
static const struct wake_kind woken_files = {"batch files", WAKE_LAST};

#define AT_ONCE 50
/* How long until a removal on a silent node, or a failed removal, is tried again (us). */
#define AGAIN_US 10000000

static int cleanup_on(struct storage *st, struct arena *a, const struct batch_task *t,
                      const char *node_name, const struct task_nodes *except, struct err *e)
{
    struct node nd;
    struct batch_task on = *t;
    on.node_name = node_name;
    for (size_t i = 0; node_name && i < except->n; i++)
        if (strcmp(except->parts[i].node_name, node_name) == 0)
            return 0;
    int rc = batch_task_node(st, a, &on, &nd, e);
    return rc <= 0 ? rc : st_batch_cleanup_add(st, nd.id, batch_task_dir(a, t), 0, e);
}

int cleanup_of_task(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct task_nodes except, struct err *e)
{
    struct batch_subtask_rows parts = {NULL, 0};
    if (t->files != BATCH_FILES_THERE)
        return 0;
    if (cleanup_on(st, a, t, t->node_name, &except, e) < 0 ||
        (t->instances > 1 &&
         st_batch_subtask_list(st, a, t->id, &(struct st_page){.limit = t->instances}, &parts, e) <
             0))
        return -1;
    for (size_t i = 0; i < parts.n; i++)
        if (cleanup_on(st, a, t, parts.items[i].node_name, &except, e) < 0)
            return -1;
    return 0;
}

void cleanup_wake(struct batch_front *f)
{
    wake_durable(f->wakes, &woken_cleanup, WAKE_ALL);
}

int cleanup_kept_for(const struct front *base, struct storage *st, const struct node *nd,
                     int64_t *left_us, struct err *e)
{
    int64_t until = 0, now = wakes_steady_wall(batch_self(base)->wakes);
    if (st_batch_kept_until(st, nd->id, nd->name, nd->emptied, now, &until, e) < 0)
        return -1;
    *left_us = until == INT64_MAX ? KEPT_FOR_EVER : until > now ? until - now : 0;
    return 0;
}

/* --- removing -------------------------------------------------------------------------------- */

struct cleanup_removal {
    struct batch_front *f;
    int64_t id, node_id;
};

void cleanup_await(struct batch_front *f, int64_t run_id)
{
    id_map_put(&f->awaiting, run_id, NULL);
    wake(f->wakes, &woken_cleanup, WAKE_ALL);
}

/* Wakes the runs that wait for a removal; a run that must wait longer calls cleanup_await()
 * again. */
static void tell_runs(struct batch_front *f)
{
    for (int64_t id; id_map_pop(&f->awaiting, &id);)
        wake_durable(f->wakes, &woken_run, id);
}

/* Wakes the node's pool, because a leaving node may have waited for this removal. */
static void tell_node(const struct batch_front *f, int64_t node_id)
{
    struct arena a;
    struct node nd;
    struct err e;
    arena_init(&a);
    if (st_node_by_id(f->st, &a, node_id, &nd, &e) == 1 &&
        (nd.wish != WISH_NOTHING || id_map_has(&f->unsettled, nd.pool_id)))
        wake_durable(f->wakes, &woken_pool, nd.pool_id);
    arena_free(&a);
}

static void on_removed(void *ctx, const struct err *why)
{
    struct cleanup_removal *k = ctx;
    struct batch_front *f = k->f;
    struct err e = {0};
    if (!why && st_batch_cleanup_gone(f->st, k->id, &e) < 0 && e.code != ERR_RESOURCE_NOT_FOUND)
        LOG_WARN(f->log, "batch_cleanup.not_written", LF_INT("node_id", k->node_id),
                 LF_STR("why", e.msg));
    if (!why) {
        tell_node(f, k->node_id);
        tell_runs(f);
    }
    wake_if_lost(f->wakes, &woken_cleanup, WAKE_ALL);
    if (why)
        wake_by(f->wakes, &woken_cleanup, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
    id_map_remove(&f->removing, k->id);
    wakes_unref(f->wakes);
    free(k);
}

static void remove_one(struct batch_front *f, struct arena *a, struct node_rt *rt,
                       const struct batch_cleanup *l)
{
    if (id_map_has(&f->removing, l->id))
        return;
    struct cleanup_removal *k = xcalloc(1, sizeof *k);
    *k = (struct cleanup_removal){f, l->id, l->node_id};
    id_map_put(&f->removing, l->id, NULL);
    wakes_ref(f->wakes);
    node_ask(node_rt_link(rt),
             REQUEST(remove_tree,
                     .path = arena_concat(a, node_rt_root(rt), "/" BATCH_ROOT "/", l->path)),
             on_removed, k);
}

static int remove_from(struct batch_front *f, struct arena *a, int64_t node_id, struct err *e)
{
    struct batch_cleanup *rows;
    size_t n;
    struct node_rt *rt = node_rt_find(sched_fleet(f->sched), node_id);
    if (!rt || !node_rt_usable(rt)) {
        wake_by(f->wakes, &woken_cleanup, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
        return 0;
    }
    if (st_batch_cleanup_of_node(f->st, a, node_id, wakes_steady_wall(f->wakes), AT_ONCE, &rows, &n,
                                 e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        remove_one(f, a, rt, &rows[i]);
    if (n == AT_ONCE)
        wake_by(f->wakes, &woken_cleanup, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US / 10);
    return 0;
}

static void cleanup_reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct err e = {0};
    int64_t *nodes, next = 0, now = wakes_steady_wall(f->wakes);
    size_t n;
    (void)id;
    arena_init(&a);
    int rc = st_batch_cleanup_nodes(f->st, &a, now, &nodes, &n, &e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = remove_from(f, &a, nodes[i], &e);
    if (rc == 0)
        rc = st_batch_cleanup_next(f->st, now, &next, &e);
    if (rc == 0 && next > 0)
        wake_by(f->wakes, &woken_cleanup, WAKE_ALL, wakes_mono(f->wakes) + next - now);
    if (rc < 0) {
        LOG_ERROR(f->log, "batch_cleanup.not_read", LF_STR("why", e.msg));
        wake_by(f->wakes, &woken_cleanup, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
    }
    arena_free(&a);
}

/* --- files whose time is up ------------------------------------------------------------------ */

static int clean_task(struct storage *st, struct arena *a, const struct batch_task *t,
                      struct err *e)
{
    if (cleanup_of_task(st, a, t, (struct task_nodes){NULL, 0}, e) < 0)
        return -1;
    return st_batch_task_set_files(st, t->id, BATCH_FILES_CLEANED, e);
}

static int clean_due(struct storage *st, void *ctx, struct err *e)
{
    struct batch_front *f = ctx;
    struct arena a;
    struct batch_task *tasks;
    int64_t next = 0, now = wakes_steady_wall(f->wakes);
    size_t n;
    arena_init(&a);
    int rc = st_batch_task_files_due(st, &a, now, AT_ONCE, &tasks, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = clean_task(st, &a, &tasks[i], e);
    if (rc == 0 && n > 0)
        cleanup_wake(f);
    if (rc == 0)
        rc = st_batch_task_files_next(st, &next, e);
    if (rc == 0 && next > 0)
        wake_at(f->wakes, &woken_files, WAKE_ALL,
                wakes_mono(f->wakes) + (next > now ? next - now : 1));
    arena_free(&a);
    return rc;
}

static void files_reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct err e = {0};
    (void)id;
    wake_if_lost(f->wakes, &woken_files, WAKE_ALL);
    if (st_tx(f->st, "clean files", clean_due, f, &e) == 0)
        return;
    LOG_ERROR(f->log, "batch_files.not_removed", LF_STR("why", e.msg));
    wake_at(f->wakes, &woken_files, WAKE_ALL, wakes_mono(f->wakes) + AGAIN_US);
}

void files_wake(const struct batch_front *f, int64_t at_us)
{
    int64_t now = wakes_steady_wall(f->wakes);
    wake_by(f->wakes, &woken_files, WAKE_ALL,
            wakes_mono(f->wakes) + (at_us > now ? at_us - now : 1));
}

void cleanup_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_cleanup, cleanup_reconcile, f);
    wakes_handle(f->wakes, &woken_files, files_reconcile, f);
    wake(f->wakes, &woken_cleanup, WAKE_ALL);
    wake(f->wakes, &woken_files, WAKE_ALL);
}
