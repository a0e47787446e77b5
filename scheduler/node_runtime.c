/* SPDX-License-Identifier: MIT
 *
 * A node in memory: what its row says is compared with what is known of it, and the next step
 * taken.
 *
 * A node that is given up (too many links lost in a row, a machine that was silent for too long or
 * is not what it was) is unusable, and a job that it held is lost. The link is asked for in the
 * background from then on. When the node can be reached again, it is prepared anew: a preparation
 * ends everything that still runs there, and waits until it is gone, before anything new starts.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/machines.h"
#include "scheduler/node_priv.h"
#include "scheduler/outputs.h"

/* --- finding, making, freeing --------------------------------------------------------------- */

struct node_rt *node_rt_find(const struct sched *s, int64_t id)
{
    return id_map_find(&s->nodes, id);
}

/* A machine's node root is used by one node at a time, so it needs no name of its own. */
static char *root_of(const struct sched *s, const struct machine *m, const char *name)
{
    struct arena a;
    arena_init(&a);
    char *root;
    if (m)
        root = xstrdup(m->site ? m->site->group->node_root : "");
    else
        root = xstrdup(arena_printf(&a, "%s/%s", s->cfg.nodes_dir, name));
    arena_free(&a);
    return root;
}

static struct node_rt *rt_new(struct sched *s, int64_t id, const char *name, struct machine *m)
{
    struct node_rt *rt = xcalloc(1, sizeof *rt);
    rt->s = s;
    rt->id = id;
    rt->machine = m;
    rt->name = xstrdup(name);
    rt->root = root_of(s, m, name);
    id_map_put(&s->nodes, id, rt);
    return rt;
}

struct node_rt *node_rt_get(struct sched *s, const struct node *row)
{
    struct node_rt *rt = node_rt_find(s, row->id);
    if (!rt)
        rt = rt_new(s, row->id, row->name,
                    row->machine_id ? machine_find(s, row->machine_id) : NULL);
    rt->cluster_id = row->cluster_id;
    return rt;
}

struct node_rt *node_rt_new_orphan(struct sched *s, const char *name)
{
    return rt_new(s, --s->last_orphan, name, NULL);
}

void node_rt_free(struct node_rt *rt)
{
    assert(rt->link_state == LINK_NONE && !rt->run);
    node_rt_close(rt); /* it may wait for its turn to connect */
    wake_at(rt->s, WAKE_NODE, rt->id, 0);
    id_map_remove(&rt->s->nodes, rt->id);
    node_prepare_abandon(rt);
    node_exit_free(rt);
    node_login_close(rt);
    node_release_free(rt);
    node_watch_free(rt);
    free(rt->facts);
    free(rt->name);
    free(rt->root);
    free(rt->why_down);
    free(rt->why_told);
    free(rt->incarnation);
    free(rt->runtimes);
    free(rt);
}

const char *node_rt_job_user(const struct node_rt *rt)
{
    const struct site_machine *m = rt->machine ? rt->machine->site : NULL;
    if (!m || !rt->is_root)
        return NULL;
    return m->group->job_user ? m->group->job_user : m->group->user;
}

bool node_rt_usable(const struct node_rt *rt)
{
    return rt->link_state == LINK_READY && rt->greeted;
}

/* --- failing -------------------------------------------------------------------------------- */

static int write_failure(struct node_rt *rt, struct arena *a, const struct failure *f,
                         struct err *e)
{
    struct node row;
    int rc = st_node_by_id(rt->s->st, a, rt->id, &row, e);
    if (rc <= 0)
        return rc;
    enum node_state to = node_next(row.state, NODE_EV_FAILED);
    if (to == 0) /* a report that comes too late to mean anything */
        return 0;
    const struct st_node_move m = {.id = row.id,
                                   .from = row.state,
                                   .to = to,
                                   .now_us = sched_now(rt->s),
                                   .job_id = row.job_id,
                                   .rank = row.rank,
                                   .errors =
                                       to == NODE_UNUSABLE ? failure_append(a, NULL, f) : NULL};
    if (st_node_move(rt->s->st, &m, e) != 0)
        return -1;
    LOG_WARN(rt->s->log, to == NODE_UNUSABLE ? "node.unusable" : "node.failed",
             LF_STR("node", rt->name), LF_STR("why", failure_line(a, f)),
             LF_STR("command", f->command), LF_STR("stderr", f->stderr_tail));
    if (row.job_id)
        sched_after_durable(rt->s, row.job_id, effect_wake_job);
    sched_after_durable(rt->s, row.id, effect_wake_node);
    wake(rt->s, WAKE_CLUSTER, row.cluster_id);
    return 0;
}

void node_fail(struct node_rt *rt, const struct failure *f)
{
    struct arena a;
    arena_init(&a);
    struct failure named = *f;
    named.node = rt->name;
    struct err e = {0};
    if (write_failure(rt, &a, &named, &e) != 0) {
        LOG_ERROR(rt->s->log, "node.failure_not_written", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->s, WAKE_NODE, rt->id, sched_now(rt->s) + WRITE_AGAIN_US);
    }
    arena_free(&a);
}

/* How long until tasks that were sent SIGKILL are gone, in s: their supervisor gives up what is
 * left of one after 10. */
#define KILL_TIMEOUT_S 60

bool node_kill_is_overdue(struct node_rt *rt, const char *task, int64_t *since_us,
                          enum wake_kind kind, int64_t id, struct arena *a, struct failure *why)
{
    struct sched *s = rt->s;
    int limit_s = s->cfg.kill_timeout_s > 0 ? s->cfg.kill_timeout_s : KILL_TIMEOUT_S;
    if (*since_us == 0)
        *since_us = sched_now(s);
    int64_t until = *since_us + limit_s * 1000000LL;
    if (sched_now(s) < until) {
        wake_by(s, kind, id, until);
        return false;
    }
    *why = (struct failure){
        .code = "TaskNotKilled",
        .message = arena_printf(
            a, "Task %s has not ended %d s after SIGKILL: it hangs in the kernel", task, limit_s),
        .step = "kill stray tasks",
        .remedy = "see what its processes wait for (a mount that is dead, a driver) or restart the "
                  "machine, then resize the cluster or undrain the machine",
        .exit_code = -1};
    return true;
}

/* The link first: closing it answers what the run has asked for. */
void node_give_up(struct node_rt *rt, const struct failure *why)
{
    node_rt_close(rt);
    job_node_gone(rt);
    node_fail(rt, why);
}

/* What says nothing about the cluster: after these a node is prepared again as soon as it can be
 * reached. After all others (a setup task that fails) a resize or `undrain` says when. */
static const char *const healing_codes[] = {
    "NodeLost",      "NodeUnreachable",  "NodeRefused",       "NodeRebooted",
    "NodeRebooting", "NodeRootReplaced", "NodeNotInInventory"};

static bool heals(const struct node *row)
{
    struct arena a;
    bool found = false;
    if (row->state != NODE_UNUSABLE || !row->errors)
        return false;
    arena_init(&a);
    const char *code = failure_code(&a, row->errors);
    for (size_t i = 0; code && i < sizeof healing_codes / sizeof healing_codes[0]; i++)
        found = found || strcmp(healing_codes[i], code) == 0;
    arena_free(&a);
    return found;
}

static struct failure local_lost(struct arena *a, const struct node_rt *rt, const char *why)
{
    return (struct failure){
        .code = "NodeLost",
        .message = arena_printf(a, "Contact with the node was lost %d times in a row: %s",
                                rt->failures, why),
        .step = "connect",
        .remedy = "see that the agent can run on the node; it is tried again every half minute "
                  "and when the cluster is resized",
        .exit_code = -1};
}

static struct failure machine_lost(struct arena *a, const struct node_rt *rt, const char *why)
{
    struct failure f = {.step = "connect", .exit_code = -1};
    const char *name = rt->machine->name;
    if (rt->refused) {
        f.code = "NodeRefused";
        f.message = arena_printf(a, "Machine %s cannot be used: %s", name, why);
        f.remedy = "put right what the message names; the machine is tried again every 5 minutes, "
                   "and at once when it is undrained or the cluster is resized";
        return f;
    }
    int64_t silent_s = (sched_now(rt->s) - rt->lost_us) / 1000000;
    f.code = "NodeUnreachable";
    if (rt->let_in) {
        f.message = arena_printf(a, "The agent did not start on machine %s, in %d tries: %s", name,
                                 rt->failures, why);
        f.remedy = "put right what the message names; it is tried again by itself";
        return f;
    }
    f.message = arena_printf(a, "Machine %s could not be reached for %lld s, in %d tries: %s", name,
                             (long long)silent_s, rt->failures, why);
    f.remedy =
        "see that the machine is up and can be reached; it is tried again by itself, and used "
        "when it answers";
    return f;
}

static void node_lost(struct node_rt *rt)
{
    struct arena a;
    arena_init(&a);
    const char *why = rt->why_down ? rt->why_down : "no reason given";
    const struct failure f = (rt->machine ? machine_lost : local_lost)(&a, rt, why);
    node_set_text(&rt->why_told, why);
    if (!rt->machine)
        node_link_pause(rt);
    job_node_gone(rt);
    node_fail(rt, &f);
    arena_free(&a);
}

/* The errors of an unusable node give the reason of now. */
static bool told_otherwise(const struct node_rt *rt)
{
    return rt->machine && rt->why_down &&
           (!rt->why_told || strcmp(rt->why_told, rt->why_down) != 0);
}

/* --- a node that is not what it was --------------------------------------------------------- */

static const struct failure changes[] = {
    /* The root was wiped or replaced: whatever ran there is unknown to the agent now. */
    [NODE_REPLACED] = {.code = "NodeRootReplaced",
                       .message = "The node's directory is not the one it had before: what it held "
                                  "is gone",
                       .step = "connect",
                       .remedy = "none needed: the node is prepared again",
                       .exit_code = -1},
    /* Mounts and processes are gone. */
    [NODE_REBOOTED] = {.code = "NodeRebooted",
                       .message = "The node was restarted: what ran there is gone",
                       .step = "connect",
                       .remedy = "none needed: the node is prepared again",
                       .exit_code = -1},
};

/* A preparation that a new root interrupts just goes on there; after a restart the record of its
 * setup task is still there, so it must begin anew under another name. */
static bool is_failed_by(enum node_state state, enum node_likeness change)
{
    return state == NODE_IDLE || state == NODE_RUNNING ||
           (state == NODE_PREPARING && change == NODE_REBOOTED);
}

/* Compares hello with the row, until the row says the same. */
static bool same_as_row(struct node_rt *rt, const struct node *row)
{
    if (row->incarnation && strcmp(row->incarnation, rt->incarnation) == 0)
        return true;
    enum node_likeness change =
        row->incarnation ? node_compare(row->incarnation, rt->incarnation) : NODE_SAME;
    struct err e = {0};
    if (st_node_set_incarnation(rt->s->st, rt->id, rt->incarnation, &e) != 0) {
        LOG_ERROR(rt->s->log, "node.incarnation_not_written", LF_STR("why", e.msg));
        wake_by(rt->s, WAKE_NODE, rt->id, sched_now(rt->s) + WRITE_AGAIN_US);
        return false;
    }
    sched_after_durable(rt->s, rt->id, effect_wake_node);
    if (change == NODE_SAME || (change == NODE_REPLACED && row->state == NODE_PREPARING))
        return true;
    job_node_gone(rt);
    if (is_failed_by(row->state, change))
        node_fail(rt, &changes[change]);
    return false;
}

static bool greet(struct node_rt *rt, const struct node *row)
{
    if (!same_as_row(rt, row))
        return false;
    if (!rt->greeted) {
        rt->greeted = true;
        rt->swept = false;
        if (rt->run)
            job_node_ready(rt);
    }
    return true;
}

/* --- reconciling ---------------------------------------------------------------------------- */

/* A link is kept where something is to be done or watched. */
static bool wants_link(const struct node_rt *rt, const struct node *row)
{
    switch (row->state) {
    case NODE_PREPARING:
    case NODE_IDLE:
    case NODE_RUNNING:
        return true;
    case NODE_LEAVING:
        return rt->run != NULL;
    case NODE_UNUSABLE:
        return rt->run != NULL || rt->heal;
    }
    return false;
}

/* It answers again. The preparation comes before everything else that could start there. */
static void prepare_healed(struct node_rt *rt, const struct node *row)
{
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = node_next(row->state, NODE_EV_RETRY),
                                   .now_us = sched_now(rt->s)};
    struct err e = {0};
    if (st_node_move(rt->s->st, &m, &e) != 0) {
        LOG_ERROR(rt->s->log, "node.retry_failed", LF_STR("node", rt->name), LF_STR("why", e.msg));
        wake_by(rt->s, WAKE_NODE, rt->id, sched_now(rt->s) + WRITE_AGAIN_US);
        return;
    }
    LOG_INFO(rt->s->log, "node.preparing", LF_STR("node", rt->name));
    sched_after_durable(rt->s, rt->id, effect_wake_node);
    wake(rt->s, WAKE_CLUSTER, row->cluster_id);
}

static void go_on_preparing(struct node_rt *rt, const struct node *row)
{
    if (node_prepare_report(rt))
        return;
    if (node_prepare_over(rt))
        node_rt_close(rt); /* and begin again with a fresh link */
    else
        node_prepare(rt, row);
}

static void use_link(struct node_rt *rt, const struct node *row)
{
    switch (row->state) {
    case NODE_PREPARING:
        go_on_preparing(rt, row);
        break;
    case NODE_IDLE:
    case NODE_RUNNING:
        node_watch(rt);
        break;
    case NODE_UNUSABLE:
        if (sched_now(rt->s) < rt->retry_us)
            node_rt_close(rt); /* it is being restarted: not before */
        else if (rt->heal && !rt->run && row->job_id == 0)
            prepare_healed(rt, row);
        break;
    case NODE_LEAVING:
        break;
    }
}

static void keep_link(struct node_rt *rt, const struct node *row)
{
    bool holds_nothing = row->state == NODE_PREPARING || (row->state == NODE_UNUSABLE && !rt->run);
    bool given_up = row->state == NODE_UNUSABLE && !rt->run;
    if (node_link_hopeless(rt, holds_nothing) && (!given_up || told_otherwise(rt))) {
        node_lost(rt);
        return;
    }
    node_link_want(rt);
    if (rt->link_state != LINK_READY || !greet(rt, row))
        return;
    node_watch_pulse(rt);
    if (rt->link_state != LINK_READY)
        return;
    node_sweep(rt);
    use_link(rt, row);
}

/* What the row's state means for what is kept in memory. */
static void note_state(struct node_rt *rt, const struct node *row)
{
    bool was_unusable = rt->unusable;
    rt->unusable = row->state == NODE_UNUSABLE;
    rt->heal = heals(row);
    rt->reached = row->incarnation != NULL;
    if (row->state != NODE_IDLE && row->state != NODE_RUNNING)
        node_watch_stop(rt);
    if (row->state != NODE_PREPARING)
        node_prepare_cancel(rt);
    else if (was_unusable) /* tried again, be it by a resize: at once */
        node_link_forgive(rt);
}

/* Nobody says any more how it could be reached. */
static void strike_off(struct node_rt *rt, const struct node *row)
{
    struct arena a;
    arena_init(&a);
    const struct failure f = {
        .code = "NodeNotInInventory",
        .message =
            arena_printf(&a, "Machine %s is not in the inventory any more", rt->machine->name),
        .step = "connect",
        .remedy = "put the machine back into the inventory, or make the cluster smaller: unusable "
                  "nodes go first",
        .exit_code = -1};
    job_node_gone(rt);
    if (row->state == NODE_LEAVING && row->job_id == 0)
        node_leave(rt);
    else if (row->state != NODE_LEAVING && row->state != NODE_UNUSABLE)
        node_fail(rt, &f);
    arena_free(&a);
}

static void reconcile_row(struct sched *s, const struct node *row)
{
    struct node_rt *rt = node_rt_get(s, row);
    note_state(rt, row);
    if (rt->machine && !rt->machine->site)
        strike_off(rt, row);
    else if (wants_link(rt, row))
        keep_link(rt, row);
    else if (row->state == NODE_LEAVING && row->job_id == 0)
        node_leave(rt);
    else
        node_rt_close(rt);
}

void node_reconcile(struct sched *s, int64_t id)
{
    struct node_rt *rt = node_rt_find(s, id);
    if (id < 0) {
        if (rt)
            node_leave(rt);
        return;
    }
    struct arena a;
    arena_init(&a);
    struct err e = {0};
    struct node row;
    int rc = st_node_by_id(s->st, &a, id, &row, &e);
    if (rc > 0)
        reconcile_row(s, &row);
    else if (rc < 0)
        LOG_ERROR(s->log, "node.reconcile_failed", LF_INT("node_id", id), LF_STR("why", e.msg));
    else if (rt && rt->link_state == LINK_NONE && !rt->run)
        node_rt_free(rt);
    else if (rt)
        node_rt_close(rt);
    arena_free(&a);
}
