/* SPDX-License-Identifier: MIT
 *
 * The end of a node: kill running tasks, remove its containers, unmount its mounts, close the link,
 * remove a local node's root directory by workers of storage/folders/ (for machines see release.c),
 * remove the row. A root without a row, which a crash between two of these steps left, is removed
 * in the same way. Each step may be repeated.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/mount/own_shares.h"
#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/fleet/script/env.h"
#include "storage/folders/files.h"

/* After this many failed tries to open a link, the node is treated as having no agent that could
 * have tasks. */
#define OPEN_TRIES 2

/* The most rounds of kills: after a failed kill, mostly because the link broke, there is
 * another. */
#define KILL_ROUNDS 3

/* The period of checks of killed tasks (us), up to KILL_MAX_US. The root is removed only after the
 * tasks have ended: their supervisors write logs and would recreate parts of a removed root. */
#define KILL_LOOK_US  20000
#define KILL_AGAIN_US 1000000 /* us; a kill in a container takes as long as its runtime needs */
#define KILL_MAX_US   30000000

/* How often a runtime is asked to remove its containers. */
#define SWEEPS_MAX 2

/* The pause (us) before a failed removal of a tree is tried again. */
#define REMOVE_AGAIN_US 5000000

enum exit_phase {
    EXIT_ASKING,
    EXIT_LOOKING,
    EXIT_KILLING,
    EXIT_SWEEPING,
    EXIT_UNMOUNTING,
    EXIT_CLOSING,
    EXIT_REMOVING,
    EXIT_REMOVED
};

struct node_exit {
    enum exit_phase phase;
    bool is_there; /* the root directory existed a moment ago */
    int pending;   /* replies to kills, or to unmounts */
    int refusals;  /* failed kills of this round */
    int rounds;
    int running;          /* running tasks in the last list */
    int64_t killed_us;    /* time of the first kill; 0: none */
    int64_t asked_us;     /* time of the last kill; 0: failed, or none yet */
    struct arena a;       /* of the script */
    struct script *sweep; /* NULL: not begun over this link */
    int sweeps;           /* number of failed sweeps */
};

static struct node_exit *exit_new(void)
{
    struct node_exit *x = xcalloc(1, sizeof *x);
    arena_init(&x->a);
    return x;
}

static void exit_free(struct node_rt *rt)
{
    if (rt->exit)
        arena_free(&rt->exit->a);
    free(rt->exit);
    rt->exit = NULL;
}

#define BIT(phase) (1U << (phase))

/* The states that may follow each state. EXIT_ASKING follows if the link broke, or if a step must
 * be repeated. */
static const unsigned exit_steps[] = {
    [EXIT_ASKING] = BIT(EXIT_LOOKING) | BIT(EXIT_KILLING) | BIT(EXIT_CLOSING),
    [EXIT_LOOKING] = BIT(EXIT_ASKING) | BIT(EXIT_REMOVED),
    [EXIT_KILLING] = BIT(EXIT_ASKING) | BIT(EXIT_SWEEPING) | BIT(EXIT_UNMOUNTING),
    [EXIT_SWEEPING] = BIT(EXIT_ASKING) | BIT(EXIT_UNMOUNTING),
    [EXIT_UNMOUNTING] = BIT(EXIT_ASKING) | BIT(EXIT_CLOSING),
    [EXIT_CLOSING] = BIT(EXIT_REMOVING),
    [EXIT_REMOVING] = BIT(EXIT_ASKING) | BIT(EXIT_REMOVED),
    [EXIT_REMOVED] = 0,
};
static_assert(sizeof exit_steps / sizeof exit_steps[0] == EXIT_REMOVED + 1, "a row a phase");

/* The states that need the link. */
#define WITH_LINK (BIT(EXIT_KILLING) | BIT(EXIT_SWEEPING) | BIT(EXIT_UNMOUNTING))

static void go(struct node_rt *rt, enum exit_phase to)
{
    assert(exit_steps[rt->exit->phase] & BIT(to));
    rt->exit->phase = to;
}

static void step_to(struct node_rt *rt, enum exit_phase phase)
{
    go(rt, phase);
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* --- unmounting ----------------------------------------------------------------------------- */

/* A failed unmount is not handled here: it makes the removal of the root fail, with a message. */
static void on_unmounted(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    if (!rt->exit || rt->contact.state != CONNECTION_READY || rt->exit->phase != EXIT_UNMOUNTING)
        return;
    if (why)
        LOG_WARN(rt->fleet->log, "node.not_unmounted", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
    if (--rt->exit->pending == 0)
        step_to(rt, EXIT_CLOSING);
}

static void unmount(struct node_rt *rt)
{
    struct arena a;
    arena_init(&a);
    go(rt, EXIT_UNMOUNTING);
    rt->exit->pending = 2;
    node_ask(rt->contact.link,
             REQUEST(unmount, .target = node_mount_root(&a, words_of_node(rt), rt->root)),
             on_unmounted, rt);
    node_ask(rt->contact.link, REQUEST(unmount, .target = arena_concat(&a, rt->root, "/" RUNS_DIR)),
             on_unmounted, rt);
    arena_free(&a);
}

/* --- removing its containers ----------------------------------------------------------------- */

static void on_swept(void *ctx)
{
    const struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* Removes the node's containers. Killing a container's processes, or the step that starts it, may
 * not reach the container's runtime, which would then keep the container forever. */
static void sweep(struct node_rt *rt)
{
    struct node_exit *x = rt->exit;
    bool any =
        rt->seen.runtimes && *rt->seen.runtimes && !node_provider_keeps_roots(node_provider_of(rt));
    if (!any || x->sweeps >= SWEEPS_MAX) {
        unmount(rt);
        return;
    }
    go(rt, EXIT_SWEEPING);
    x->sweep = script_new(&x->a, rt->fleet->log, rt->name);
    container_add_sweep(x->sweep, &x->a, words_of_node(rt), rt->root,
                        arena_printf(&x->a, "%ssweep", node_task_prefix(rt, &x->a, NULL, "leave")));
    script_run(x->sweep, rt->contact.link, on_swept, rt);
}

/* A failed removal of containers is tried again over a new link. */
static void await_sweep(struct node_rt *rt)
{
    struct node_exit *x = rt->exit;
    switch (script_state(x->sweep)) {
    case SCRIPT_RUNNING:
        break;
    case SCRIPT_DONE:
        unmount(rt);
        break;
    case SCRIPT_FAILED:
        LOG_WARN(rt->fleet->log, "node.containers_not_removed", LF_STR("node", rt->name),
                 LF_STR("why", script_failure(x->sweep)->message),
                 LF_STR("stderr", script_failure(x->sweep)->stderr_tail));
        x->sweeps++;
        node_rt_close(rt);
        break;
    }
}

static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    if (rt->exit && rt->exit->sweep)
        script_task_ended(rt->exit->sweep, st);
}

static void halt(struct node_rt *rt)
{
    if (rt->exit && rt->exit->sweep)
        script_halt(rt->exit->sweep);
}

/* --- killing the node's tasks ----------------------------------------------------------------- */

static bool current(const struct node_rt *rt)
{
    return rt->exit && rt->contact.state == CONNECTION_READY && rt->exit->phase == EXIT_KILLING;
}

static bool wait_for_ends(struct node_rt *rt)
{
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (rt->exit->running == 0)
        return false;
    if (rt->exit->killed_us == 0)
        rt->exit->killed_us = now;
    if (now - rt->exit->killed_us >= KILL_MAX_US) {
        LOG_WARN(rt->fleet->log, "task.not_killed", LF_STR("node", rt->name),
                 LF_STR("why", "a task has not ended half a minute after SIGKILL"));
        return false;
    }
    go(rt, EXIT_ASKING);
    wake_by(rt->fleet->wakes, &woken_node, rt->id, now + KILL_LOOK_US);
    return true;
}

static void on_killed(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    if (!current(rt))
        return;
    if (why) {
        rt->exit->refusals++;
        LOG_WARN(rt->fleet->log, "task.not_killed", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
    }
    if (--rt->exit->pending > 0)
        return;
    bool again = rt->exit->refusals > 0 && ++rt->exit->rounds < KILL_ROUNDS;
    if (rt->exit->refusals > 0)
        rt->exit->asked_us = 0;
    rt->exit->refusals = 0;
    if (again)
        step_to(rt, EXIT_ASKING);
    else if (!wait_for_ends(rt))
        sweep(rt);
}

static void on_tasks(void *ctx, const struct err *why, const struct task_status *list, size_t n)
{
    struct node_rt *rt = ctx;
    if (!current(rt))
        return;
    int64_t now = wakes_mono(rt->fleet->wakes), asked = rt->exit->asked_us;
    bool kill = asked == 0 || now - asked >= KILL_AGAIN_US;
    if (kill)
        rt->exit->asked_us = now;
    rt->exit->running = 0;
    for (size_t i = 0; !why && i < n; i++) {
        if (list[i].state != TASK_RUNNING)
            continue;
        rt->exit->running++;
        if (!kill)
            continue;
        rt->exit->pending++;
        node_ask(rt->contact.link, REQUEST(signal, .task = list[i].id, .signal = SIGKILL),
                 on_killed, rt);
    }
    on_killed(rt, why);
}

/* --- the root's folder: looked at, removed; the node may be gone by then -----------------------
 */

struct root_work {
    struct fleet *fleet;
    int64_t node_id;
    char *root;
};

static struct root_work *root_work_new(struct node_rt *rt, enum exit_phase phase)
{
    struct root_work *w = xcalloc(1, sizeof *w);
    *w = (struct root_work){rt->fleet, rt->id, xstrdup(rt->root)};
    wakes_ref(rt->fleet->wakes);
    go(rt, phase);
    return w;
}

/* The node, if its end is still in progress. */
static struct node_rt *root_work_node(const struct root_work *w)
{
    struct node_rt *rt = node_rt_find(w->fleet, w->node_id);
    return rt && rt->exit ? rt : NULL;
}

static void root_work_free(struct root_work *w)
{
    struct fleet *fl = w->fleet;
    free(w->root);
    free(w);
    wakes_unref(fl->wakes);
}

static void on_looked(void *ctx, const struct err *why)
{
    struct root_work *w = ctx;
    struct node_rt *rt = root_work_node(w);
    if (rt && why && why->code == ERR_FILE_NOT_FOUND) {
        step_to(rt, EXIT_REMOVED);
    } else if (rt) {
        rt->exit->is_there = true;
        step_to(rt, EXIT_ASKING);
    }
    root_work_free(w);
}

static void look(struct node_rt *rt)
{
    struct root_work *w = root_work_new(rt, EXIT_LOOKING);
    struct node_provider *local = node_provider_of(rt);
    if (node_provider_keeps_roots(local)) {
        static const struct err gone = {.code = ERR_FILE_NOT_FOUND};
        on_looked(w, node_provider_has_root(local, w->root) ? NULL : &gone);
        return;
    }
    files_look(rt->fleet->cfg.files, rt->fleet->cfg.nodes_dir, w->root, on_looked, w);
}

static void ask(struct node_rt *rt)
{
    if (rt->contact.state == CONNECTION_READY) {
        go(rt, EXIT_KILLING);
        rt->exit->pending = 1; /* the reply with the list of tasks */
        node_tasks(rt->contact.link, on_tasks, rt);
        return;
    }
    if (rt->contact.state != CONNECTION_NONE)
        return;
    if (!rt->exit->is_there) {
        look(rt);
        return;
    }
    rt->exit->is_there = false;
    if (rt->contact.failures >= OPEN_TRIES)
        step_to(rt, EXIT_CLOSING);
    else
        node_connect_want(rt);
}

static void on_link_down(struct node_rt *rt)
{
    if (!rt->exit)
        return;
    rt->exit->sweep = NULL;
    arena_free(&rt->exit->a);
    arena_init(&rt->exit->a);
    if (BIT(rt->exit->phase) & WITH_LINK)
        go(rt, EXIT_ASKING);
}

const struct node_work node_leave_work = {
    .halt = halt, .link_down = on_link_down, .task_ended = on_task_ended, .free = exit_free};

/* --- removing the root ---------------------------------------------------------------------- */

static void on_root_removed(void *ctx, const struct err *why)
{
    struct root_work *w = ctx;
    struct fleet *fl = w->fleet;
    struct node_rt *rt = root_work_node(w);
    if (why && !wakes_stopping(fl->wakes))
        LOG_ERROR(fl->log, "node.root_not_removed", LF_STR("root", w->root),
                  LF_STR("why", why->msg));
    if (rt && !why) {
        step_to(rt, EXIT_REMOVED);
    } else if (rt) {
        go(rt, EXIT_ASKING); /* there may be a mount left */
        wake_by(fl->wakes, &woken_node, rt->id, wakes_mono(fl->wakes) + REMOVE_AGAIN_US);
    }
    root_work_free(w);
}

static void remove_root(struct node_rt *rt)
{
    struct root_work *w = root_work_new(rt, EXIT_REMOVING);
    struct node_provider *local = node_provider_of(rt);
    if (node_provider_keeps_roots(local)) {
        node_provider_remove_root(local, w->root);
        on_root_removed(w, NULL);
        return;
    }
    files_remove_tree(rt->fleet->cfg.files, rt->fleet->cfg.nodes_dir, w->root, on_root_removed, w);
}

/* --- removing the row ----------------------------------------------------------------------- */

static void remove_row(struct node_rt *rt)
{
    struct fleet *fl = rt->fleet;
    struct err e = {0};
    if (rt->id > 0 && st_node_remove(fl->st, rt->id, &e) != 0) {
        LOG_ERROR(fl->log, "node.not_removed", LF_STR("node", rt->name), LF_STR("why", e.msg));
        wake_by(fl->wakes, &woken_node, rt->id, wakes_mono(fl->wakes) + REMOVE_AGAIN_US);
        return;
    }
    if (rt->id <= 0) {
        LOG_INFO(fl->log, "node.orphan_removed", LF_STR("node", rt->name));
    } else {
        LOG_INFO(fl->log, "node.removed", LF_STR("node", rt->name));
        wake_durable(fl->wakes, &woken_node, rt->id);
        machine_release(fl, rt->id);
        if (rt->machine)
            own_shares_take_back(fl, rt->name, NULL);
        fleet_row_gone(fl);
    }
    fleet_pool_changed(fl, rt->pool_id);
    fleet_capacity_freed(fl, false);
    node_rt_free(rt);
}

static void leave_local(struct node_rt *rt)
{
    if (!rt->exit) {
        rt->exit = exit_new();
        rt->contact.retry_us = 0;
    }
    switch (rt->exit->phase) {
    case EXIT_ASKING:
        ask(rt);
        break;
    case EXIT_SWEEPING:
        await_sweep(rt);
        break;
    case EXIT_CLOSING:
        if (rt->contact.state == CONNECTION_NONE)
            remove_root(rt);
        else
            node_rt_close(rt);
        break;
    case EXIT_REMOVED:
        remove_row(rt);
        break;
    case EXIT_LOOKING:
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

static bool known(const struct fleet *fl, const char *name)
{
    for (size_t i = 0; i < fl->nodes.n; i++)
        if (strcmp(((const struct node_rt *)fl->nodes.e[i].p)->name, name) == 0)
            return true;
    return false;
}

/* A root is made only after its node has a struct node_rt, so a root without a struct node_rt is an
 * orphan. */
static void on_root(void *ctx, const char *name)
{
    struct fleet *fl = ctx;
    if (known(fl, name))
        return;
    struct node_rt *rt = node_rt_new_orphan(fl, name);
    LOG_WARN(fl->log, "node.orphan_found", LF_STR("node", rt->name));
    wake(fl->wakes, &woken_node, rt->id);
}

static void on_scanned(void *ctx, const struct err *why, struct file_entries *found, bool no_base)
{
    struct fleet *fl = ctx;
    (void)no_base;
    if (why && !wakes_stopping(fl->wakes))
        LOG_WARN(fl->log, "node.orphans_not_listed", LF_STR("why", why->msg));
    for (size_t i = 0; !wakes_stopping(fl->wakes) && found && i < found->n; i++) {
        const char *name = found->entry[i].name;
        if (strncmp(name, "tvm-", 4) == 0)
            on_root(fl, name);
    }
    wakes_unref(fl->wakes);
}

void node_find_orphans(struct fleet *fl)
{
    if (node_provider_keeps_roots(fl->cfg.local)) {
        node_provider_each_root(fl->cfg.local, fl->cfg.nodes_dir, on_root, fl);
        return;
    }
    wakes_ref(fl->wakes);
    files_names(fl->cfg.files, fl->cfg.nodes_dir, on_scanned, fl);
}
