/* SPDX-License-Identifier: MIT
 *
 * A node in memory: its link, and what is being done to it.
 *
 *   LINK_NONE --open--> LINK_OPENING --hello--> LINK_READY
 *       ^                    | down                 | down, or no longer wanted
 *       +----closed---- LINK_CLOSING <--------------+
 *
 * A lost link is opened again at once, then with growing pauses; tasks on the node go on meanwhile.
 * After too many losses in a row, or when the node root is not the one that we knew, the node is
 * unusable and a job that it held is lost.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/machines.h"
#include "scheduler/sched_priv.h"

/* Pause before the n-th reopening, in ms: about 4 s in all, enough for an agent that was killed or
 * a machine short of processes for a moment. */
static const int pauses_ms[] = {0, 0, 50, 100, 200, 500, 1000, 2000};
#define LOSSES_MAX ((int)(sizeof pauses_ms / sizeof pauses_ms[0]))

/* A node that was lost is prepared anew after this long: it may have healed. */
#define HEAL_AFTER_US 30000000

/* A link that lived this long was a good one: losses before it do not count any more. */
#define GOOD_LINK_US 2000000

/* --- finding, making, freeing --------------------------------------------------------------- */

struct node_rt *node_rt_find(const struct sched *s, int64_t id)
{
    return id_map_find(&s->nodes, id);
}

static struct node_rt *rt_new(struct sched *s, int64_t id, const char *name)
{
    struct node_rt *rt = xcalloc(1, sizeof *rt);
    struct arena a;
    arena_init(&a);
    rt->s = s;
    rt->id = id;
    rt->name = xstrdup(name);
    rt->root = xstrdup(arena_printf(&a, "%s/%s", s->cfg.nodes_dir, name));
    arena_free(&a);
    id_map_put(&s->nodes, id, rt);
    return rt;
}

struct node_rt *node_rt_get(struct sched *s, const struct node *row)
{
    struct node_rt *rt = node_rt_find(s, row->id);
    if (!rt)
        rt = rt_new(s, row->id, row->name);
    rt->cluster_id = row->cluster_id;
    rt->machine = machine_find(s, row->machine_id);
    return rt;
}

struct node_rt *node_rt_new_orphan(struct sched *s, const char *name)
{
    return rt_new(s, --s->last_orphan, name);
}

void node_rt_free(struct node_rt *rt)
{
    assert(rt->link_state == LINK_NONE && !rt->run);
    wake_at(rt->s, WAKE_NODE, rt->id, 0);
    id_map_remove(&rt->s->nodes, rt->id);
    node_prepare_abandon(rt);
    node_exit_free(rt);
    node_login_close(rt);
    free(rt->name);
    free(rt->root);
    free(rt->why_down);
    free(rt->incarnation);
    free(rt->facts);
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

/* --- the link ------------------------------------------------------------------------------- */

static void replace(char **field, const char *text)
{
    free(*field);
    *field = text ? xstrdup(text) : NULL;
}

/* How many objects there are in the list: those that open one level deep, outside of strings. */
static int count_gpus(const char *list)
{
    int depth = 0, n = 0;
    bool in_string = false;
    for (const char *p = list ? list : ""; *p; p++) {
        if (in_string && *p == '\\' && p[1])
            p++;
        else if (*p == '"')
            in_string = !in_string;
        else if (!in_string && (*p == '{' || *p == '['))
            n += ++depth == 2;
        else if (!in_string && (*p == '}' || *p == ']'))
            depth--;
    }
    return n;
}

static void on_ready(void *ctx, const struct node_facts *facts)
{
    struct node_rt *rt = ctx;
    rt->link_state = LINK_READY;
    rt->ready_us = sched_now(rt->s);
    rt->gpus = count_gpus(facts->gpus);
    replace(&rt->incarnation, facts->incarnation);
    free(rt->facts);
    rt->facts = node_facts_text(facts);
    LOG_DEBUG(rt->s->log, "node.connected", LF_STR("node", rt->name),
              LF_STR("agent", facts->agent_version));
    wake(rt->s, WAKE_NODE, rt->id);
}

static void on_closed(void *ctx)
{
    struct node_rt *rt = ctx;
    struct sched *s = rt->s;
    rt->link = NULL;
    rt->link_state = LINK_NONE;
    wake(s, WAKE_NODE, rt->id);
    if (s->stopping)
        node_rt_free(rt);
    sched_unref(s);
}

void node_rt_close(struct node_rt *rt)
{
    if (rt->link_state == LINK_NONE || rt->link_state == LINK_CLOSING)
        return;
    rt->link_state = LINK_CLOSING;
    rt->greeted = false;
    node_close(rt->link, on_closed, rt);
    node_prepare_abandon(rt);
    node_leave_link_down(rt);
    job_node_down(rt);
}

static void note_loss(struct node_rt *rt, const char *why)
{
    int64_t now = sched_now(rt->s);
    bool good = rt->ready_us != 0 && now - rt->ready_us >= GOOD_LINK_US;
    rt->failures = good ? 1 : rt->failures + 1;
    rt->ready_us = 0;
    if (rt->failures < LOSSES_MAX)
        rt->retry_us = now + pauses_ms[rt->failures] * 1000LL;
    replace(&rt->why_down, why);
    LOG_WARN(rt->s->log, "node.link_down", LF_STR("node", rt->name), LF_INT("losses", rt->failures),
             LF_STR("why", why));
}

static void on_down(void *ctx, const struct err *why)
{
    node_rt_distrust(ctx, why->msg);
}

void node_rt_distrust(struct node_rt *rt, const char *why)
{
    note_loss(rt, why);
    node_rt_close(rt);
}

static void on_task_ended(void *ctx, const struct task_status *status)
{
    struct node_rt *rt = ctx;
    if (rt->prep)
        node_prepare_task_ended(rt, status);
    if (rt->run)
        job_task_ended(rt, status);
}

void node_rt_open(struct node_rt *rt)
{
    struct sched *s = rt->s;
    if (rt->machine) { /* an agent started here would act on this host instead */
        note_loss(rt, "there is no link to machines of the inventory yet");
        machine_trouble(rt->machine, rt->why_down);
        wake(s, WAKE_NODE, rt->id);
        return;
    }
    const struct node_local_config c = {
        .loop = s->cfg.loop,
        .log = s->log,
        .agent_path = s->cfg.agent_path,
        .root = rt->root,
        .callbacks = {on_ready, on_down, on_task_ended, rt},
    };
    struct err e = {0};
    if (node_open_local(&c, &rt->link, &e) != 0) {
        note_loss(rt, e.msg);
        wake(s, WAKE_NODE, rt->id);
        return;
    }
    rt->link_state = LINK_OPENING;
    sched_ref(s);
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
        wake_at(rt->s, WAKE_NODE, rt->id, sched_now(rt->s) + 1000000);
    }
    arena_free(&a);
}

static void node_lost(struct node_rt *rt)
{
    struct arena a;
    arena_init(&a);
    const struct failure f = {
        .code = "NodeLost",
        .message = arena_printf(&a, "Contact with the node was lost %d times in a row: %s",
                                rt->failures, rt->why_down ? rt->why_down : "no reason given"),
        .step = "connect",
        .remedy = "see that the agent can run on the node; it is tried again every half minute "
                  "and when the cluster is resized",
        .exit_code = -1};
    rt->failures = 0;
    rt->heal = true;
    rt->retry_us = sched_now(rt->s) + HEAL_AFTER_US;
    job_node_gone(rt);
    node_fail(rt, &f);
    arena_free(&a);
}

/* --- reconciling ---------------------------------------------------------------------------- */

/* The root was wiped or replaced: whatever ran there is unknown to the agent now. */
static void root_replaced(struct node_rt *rt, const struct node *row)
{
    const struct failure f = {
        .code = "NodeRootReplaced",
        .message = "The node's directory is not the one it had before: what it held is gone",
        .step = "connect",
        .remedy = "none needed: the node is prepared again",
        .exit_code = -1};
    job_node_gone(rt);
    if (row->state != NODE_IDLE && row->state != NODE_RUNNING)
        return;
    rt->heal = true;
    rt->retry_us = 0;
    node_fail(rt, &f);
}

/* Compares hello with the row, once per link. Returns whether the node is what the row says. */
static bool greet(struct node_rt *rt, const struct node *row)
{
    if (rt->greeted)
        return true;
    rt->greeted = true;
    struct err e = {0};
    bool same = row->incarnation && rt->incarnation && !strcmp(row->incarnation, rt->incarnation);
    if (!same && rt->incarnation &&
        st_node_set_incarnation(rt->s->st, rt->id, rt->incarnation, &e) != 0)
        LOG_ERROR(rt->s->log, "node.incarnation_not_written", LF_STR("why", e.msg));
    if (row->incarnation && !same && row->state != NODE_PREPARING) {
        root_replaced(rt, row);
        return false;
    }
    if (rt->run)
        job_node_ready(rt);
    return true;
}

/* A link is kept where something is to be done or watched. */
static bool wants_link(const struct node_rt *rt, const struct node *row)
{
    switch (row->state) {
    case NODE_PREPARING:
    case NODE_IDLE:
    case NODE_RUNNING:
        return true;
    case NODE_LEAVING:
    case NODE_UNUSABLE:
        return rt->run != NULL;
    }
    return false;
}

static void keep_link(struct node_rt *rt, const struct node *row)
{
    if (rt->link_state == LINK_NONE) {
        if (rt->failures >= LOSSES_MAX)
            node_lost(rt);
        else if (sched_now(rt->s) < rt->retry_us)
            wake_at(rt->s, WAKE_NODE, rt->id, rt->retry_us);
        else
            node_rt_open(rt);
        return;
    }
    if (rt->link_state != LINK_READY || !greet(rt, row))
        return;
    if (row->state != NODE_PREPARING || node_prepare_report(rt))
        return;
    if (node_prepare_over(rt))
        node_rt_close(rt); /* and begin again with a fresh link */
    else
        node_prepare(rt, row);
}

static void retry_healed(struct node_rt *rt, const struct node *row)
{
    if (sched_now(rt->s) < rt->retry_us) {
        node_rt_close(rt);
        wake_at(rt->s, WAKE_NODE, rt->id, rt->retry_us);
        return;
    }
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = node_next(row->state, NODE_EV_RETRY),
                                   .now_us = sched_now(rt->s)};
    struct err e = {0};
    rt->heal = false;
    if (st_node_move(rt->s->st, &m, &e) != 0) {
        LOG_ERROR(rt->s->log, "node.retry_failed", LF_STR("node", rt->name), LF_STR("why", e.msg));
        return;
    }
    LOG_INFO(rt->s->log, "node.preparing", LF_STR("node", rt->name));
    sched_after_durable(rt->s, rt->id, effect_wake_node);
    wake(rt->s, WAKE_CLUSTER, row->cluster_id);
}

static void reconcile_row(struct sched *s, const struct node *row)
{
    struct node_rt *rt = node_rt_get(s, row);
    if (row->state != NODE_PREPARING)
        node_prepare_cancel(rt);
    else if (rt->heal) {
        rt->heal = false; /* tried again, be it by a resize: at once */
        rt->retry_us = 0;
    }
    if (wants_link(rt, row))
        keep_link(rt, row);
    else if (row->state == NODE_LEAVING && row->job_id == 0)
        node_leave(rt);
    else if (row->state == NODE_UNUSABLE && row->job_id == 0 && rt->heal)
        retry_healed(rt, row);
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
