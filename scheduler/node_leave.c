/* SPDX-License-Identifier: MIT
 *
 * The end of a node: kill what still runs there, unmount what is mounted there, close the link,
 * remove a local node's root directory on the thread pool (for machines see node_release.c), remove
 * the row. The same for a root that no row knows, left behind by a crash between two of these
 * steps. Each step may be repeated.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "scheduler/launch/env.h"
#include "scheduler/node_priv.h"

/* A link that cannot be opened this many times has no agent that could know of tasks. */
#define OPEN_TRIES 2

/* Kills that fail (the link went down under them, as a rule) are repeated this often. */
#define KILL_ROUNDS 3

/* Killed tasks are looked at again this often, and given up after so long: their supervisors write
 * logs, which would bring back parts of a root that was removed meanwhile. */
#define KILL_LOOK_US 20000
#define KILL_MAX_US  30000000

/* How long until the removal of a tree that failed is tried again. */
#define REMOVE_AGAIN_US 5000000

enum exit_phase {
    EXIT_ASKING,
    EXIT_KILLING,
    EXIT_UNMOUNTING,
    EXIT_CLOSING,
    EXIT_REMOVING,
    EXIT_REMOVED
};

struct node_exit {
    enum exit_phase phase;
    int pending;  /* replies to kills, or to unmounts */
    int refusals; /* kills that failed, in this round */
    int rounds;
    int running;       /* tasks that the last list said to run */
    int64_t killed_us; /* when the first was killed; 0: none was */
};

void node_exit_free(struct node_rt *rt)
{
    free(rt->exit);
    rt->exit = NULL;
}

/* --- killing what runs there ---------------------------------------------------------------- */

static void step_to(struct node_rt *rt, enum exit_phase phase)
{
    rt->exit->phase = phase;
    wake(rt->s, WAKE_NODE, rt->id);
}

static bool current(const struct node_rt *rt)
{
    return rt->exit && rt->link_state == LINK_READY && rt->exit->phase == EXIT_KILLING;
}

/* A mount that cannot be taken away keeps the root from being removed, which says so. */
static void on_unmounted(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    if (!rt->exit || rt->link_state != LINK_READY || rt->exit->phase != EXIT_UNMOUNTING)
        return;
    if (why)
        LOG_WARN(rt->s->log, "node.not_unmounted", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
    if (--rt->exit->pending == 0)
        step_to(rt, EXIT_CLOSING);
}

static void unmount(struct node_rt *rt)
{
    struct arena a;
    arena_init(&a);
    rt->exit->phase = EXIT_UNMOUNTING;
    rt->exit->pending = 2;
    node_unmount(rt->link, launch_mount_root(&a, rt->root), on_unmounted, rt);
    node_unmount(rt->link, arena_printf(&a, "%s/jobs", rt->root), on_unmounted, rt);
    arena_free(&a);
}

static bool wait_for_ends(struct node_rt *rt)
{
    int64_t now = sched_now(rt->s);
    if (rt->exit->running == 0)
        return false;
    if (rt->exit->killed_us == 0)
        rt->exit->killed_us = now;
    if (now - rt->exit->killed_us >= KILL_MAX_US) {
        LOG_WARN(rt->s->log, "task.not_killed", LF_STR("node", rt->name),
                 LF_STR("why", "it has not ended half a minute after SIGKILL"));
        return false;
    }
    rt->exit->phase = EXIT_ASKING;
    wake_by(rt->s, WAKE_NODE, rt->id, now + KILL_LOOK_US);
    return true;
}

static void on_killed(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    if (!current(rt))
        return;
    if (why) {
        rt->exit->refusals++;
        LOG_WARN(rt->s->log, "task.not_killed", LF_STR("node", rt->name), LF_STR("why", why->msg));
    }
    if (--rt->exit->pending > 0)
        return;
    bool again = rt->exit->refusals > 0 && ++rt->exit->rounds < KILL_ROUNDS;
    rt->exit->refusals = 0;
    if (again)
        step_to(rt, EXIT_ASKING);
    else if (!wait_for_ends(rt))
        unmount(rt);
}

static void on_tasks(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct node_rt *rt = ctx;
    if (!current(rt))
        return;
    rt->exit->running = 0;
    for (size_t i = 0; !why && i < n; i++) {
        if (list[i].state != TASK_RUNNING)
            continue;
        rt->exit->running++;
        rt->exit->pending++;
        node_signal(rt->link, list[i].id, SIGKILL, on_killed, rt);
    }
    on_killed(rt, why);
}

static void ask(struct node_rt *rt)
{
    if (rt->link_state == LINK_READY) {
        rt->exit->phase = EXIT_KILLING;
        rt->exit->pending = 1; /* the list itself */
        node_tasks(rt->link, on_tasks, rt);
        return;
    }
    if (rt->link_state != LINK_NONE)
        return;
    if (access(rt->root, F_OK) != 0 && errno == ENOENT)
        step_to(rt, EXIT_REMOVED);
    else if (rt->failures >= OPEN_TRIES)
        step_to(rt, EXIT_CLOSING);
    else
        node_link_want(rt);
}

void node_leave_link_down(struct node_rt *rt)
{
    if (rt->exit && (rt->exit->phase == EXIT_KILLING || rt->exit->phase == EXIT_UNMOUNTING))
        rt->exit->phase = EXIT_ASKING;
}

/* --- removing the root ---------------------------------------------------------------------- */

struct removal {
    uv_work_t req;
    struct sched *s;
    int64_t node_id;
    char *root;
    struct err e;
    int rc;
};

static void remove_on_pool(uv_work_t *req)
{
    struct removal *r = req->data;
    r->rc = fs_remove_tree(r->root, &r->e);
}

static void on_root_removed(uv_work_t *req, int status)
{
    struct removal *r = req->data;
    struct sched *s = r->s;
    struct node_rt *rt = node_rt_find(s, r->node_id);
    bool ok = status == 0 && r->rc == 0;
    if (!ok)
        LOG_ERROR(s->log, "node.root_not_removed", LF_STR("root", r->root),
                  LF_STR("why", status == 0 ? r->e.msg : uv_strerror(status)));
    if (rt && rt->exit && ok) {
        step_to(rt, EXIT_REMOVED);
    } else if (rt && rt->exit) {
        rt->exit->phase = EXIT_ASKING; /* something may be mounted there still */
        wake_by(s, WAKE_NODE, rt->id, sched_now(s) + REMOVE_AGAIN_US);
    }
    free(r->root);
    free(r);
    sched_unref(s);
}

static void remove_root(struct node_rt *rt)
{
    struct removal *r = xcalloc(1, sizeof *r);
    r->req.data = r;
    r->s = rt->s;
    r->node_id = rt->id;
    r->root = xstrdup(rt->root);
    sched_ref(rt->s);
    rt->exit->phase = EXIT_REMOVING;
    int rc = uv_queue_work(rt->s->cfg.loop, &r->req, remove_on_pool, on_root_removed);
    if (rc != 0) /* only for a NULL callback; report it the same way */
        on_root_removed(&r->req, rc);
}

/* --- removing the row ----------------------------------------------------------------------- */

static void remove_row(struct node_rt *rt)
{
    struct sched *s = rt->s;
    struct err e = {0};
    if (rt->id > 0 && st_node_remove(s->st, rt->id, &e) != 0) {
        LOG_ERROR(s->log, "node.not_removed", LF_STR("node", rt->name), LF_STR("why", e.msg));
        wake_by(s, WAKE_NODE, rt->id, sched_now(s) + REMOVE_AGAIN_US);
        return;
    }
    LOG_INFO(s->log, rt->id > 0 ? "node.removed" : "node.orphan_removed", LF_STR("node", rt->name));
    if (rt->id > 0) {
        sched_after_durable(s, rt->id, effect_wake_node);
        machine_release(s, rt->id);
        s->wake_deletions = true;
    }
    wake(s, WAKE_CLUSTER, rt->cluster_id);
    wake_short_clusters(s);
    node_rt_free(rt);
}

static void leave_local(struct node_rt *rt)
{
    if (!rt->exit) {
        rt->exit = xcalloc(1, sizeof *rt->exit);
        rt->retry_us = 0;
    }
    switch (rt->exit->phase) {
    case EXIT_ASKING:
        ask(rt);
        break;
    case EXIT_CLOSING:
        if (rt->link_state == LINK_NONE)
            remove_root(rt);
        else
            node_rt_close(rt);
        break;
    case EXIT_REMOVED:
        remove_row(rt);
        break;
    case EXIT_KILLING:
    case EXIT_UNMOUNTING:
    case EXIT_REMOVING:
        break;
    }
}

void node_leave(struct node_rt *rt)
{
    if (!rt->machine)
        leave_local(rt);
    else if (node_release(rt))
        remove_row(rt);
}

/* --- roots without a row -------------------------------------------------------------------- */

struct scan {
    uv_fs_t req;
    struct sched *s;
};

static bool known(const struct sched *s, const char *name)
{
    for (size_t i = 0; i < s->nodes.n; i++)
        if (strcmp(((const struct node_rt *)s->nodes.e[i].p)->name, name) == 0)
            return true;
    return false;
}

/* A root is made only after its node has a struct node_rt, so a name without one is an orphan. */
static void on_scanned(uv_fs_t *req)
{
    struct scan *scan = req->data;
    struct sched *s = scan->s;
    uv_dirent_t entry;
    while (!s->stopping && req->result > 0 && uv_fs_scandir_next(req, &entry) == 0) {
        if (strncmp(entry.name, "tvm-", 4) != 0 || known(s, entry.name))
            continue;
        struct node_rt *rt = node_rt_new_orphan(s, entry.name);
        LOG_WARN(s->log, "node.orphan_found", LF_STR("node", rt->name));
        wake(s, WAKE_NODE, rt->id);
    }
    uv_fs_req_cleanup(req);
    free(scan);
    sched_unref(s);
}

void node_find_orphans(struct sched *s)
{
    struct scan *scan = xcalloc(1, sizeof *scan);
    scan->s = s;
    scan->req.data = scan;
    sched_ref(s);
    int rc = uv_fs_scandir(s->cfg.loop, &scan->req, s->cfg.nodes_dir, 0, on_scanned);
    if (rc != 0) {
        LOG_WARN(s->log, "node.orphans_not_looked_for", LF_STR("why", uv_strerror(rc)));
        free(scan);
        sched_unref(s);
    }
}
