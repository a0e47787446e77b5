/* SPDX-License-Identifier: MIT
 *
 * Writes the failure of a node to its row. The tenants of a node that is given up are informed at
 * once, which cannot be undone. So if the write is rolled back (a full disk), the failure is
 * written again before any run may use the node.
 */
#include <stdlib.h>

#include "model/states.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/node/node_priv.h"

int fleet_wake_runs(struct fleet *fl, struct arena *a, int64_t node_id, struct err *e)
{
    struct allocation *live;
    size_t n;
    if (st_allocation_of_node(fl->st, a, node_id, &live, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        fl->cfg.events->run_hit(fl->cfg.events_ctx, live[i].run_id);
    return 0;
}

/* `rt`: NULL if not known. */
static int write_failure(struct fleet *fl, struct arena *a, const struct node *row,
                         const struct node_rt *rt, const struct failure *f, struct err *e)
{
    const char *machine = rt ? node_rt_machine(rt) : NULL;
    struct failure named = *f;
    named.node = row->name;
    f = &named;
    enum node_state to = node_next(row->state, NODE_EV_FAILED);
    if (to == 0) /* in this state of the row, a failure changes nothing */
        return 0;
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = to,
                                   .now_us = wakes_wall(fl->wakes),
                                   .errors =
                                       to == NODE_UNUSABLE ? failure_append(a, NULL, f) : NULL,
                                   .why = to == NODE_UNUSABLE ? f->message : NULL,
                                   .failure = f->code,
                                   .emptied = row->state == NODE_PREPARING && rt && rt->wiped};
    if (st_node_move(fl->st, &m, e) != 0)
        return -1;
    const char *why = failure_line(a, f);
    if (to == NODE_UNUSABLE)
        LOG_WARN(fl->log, "node.unusable", LF_STR("node", row->name), LF_STR("machine", machine),
                 LF_STR("why", why), LF_STR("command", f->command),
                 LF_STR("stderr", f->stderr_tail), LF_STR("remedy", f->remedy));
    else
        LOG_WARN(fl->log, "node.failed_while_leaving", LF_STR("node", row->name),
                 LF_STR("machine", machine), LF_STR("why", why), LF_STR("command", f->command),
                 LF_STR("stderr", f->stderr_tail), LF_STR("remedy", f->remedy));
    wake_durable(fl->wakes, &woken_node, row->id);
    fleet_pool_changed(fl, row->pool_id);
    return fleet_wake_runs(fl, a, row->id, e);
}

int node_write_failure(struct node_rt *rt, struct arena *a, const struct failure *f, struct err *e)
{
    struct node row;
    int rc = st_node_by_id(rt->fleet->st, a, rt->id, &row, e);
    return rc <= 0 ? rc : write_failure(rt->fleet, a, &row, rt, f, e);
}

void node_refused(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct arena a;
    struct node row;
    struct err e = {0};
    const struct failure f = {.code = FAIL_ENDED_DAEMON, .message = why->msg, .exit_code = -1};
    arena_init(&a);
    int rc = id > 0 ? st_node_by_id(fl->st, &a, id, &row, &e) : 0;
    if (rc == 1 && row.state != NODE_UNUSABLE && row.state != NODE_LEAVING)
        rc = write_failure(fl, &a, &row, NULL, &f, &e);
    if (rc < 0) {
        LOG_ERROR(fl->log, "node.unusable_not_written", LF_INT("node_id", id),
                  LF_STR("why", e.msg));
        wake_at(fl->wakes, &woken_node, id, wakes_mono(fl->wakes) + WRITE_AGAIN_US);
    }
    arena_free(&a);
}

/* False: the write failed; the node is woken a moment later. */
static bool try_to_write(struct node_rt *rt, const struct failure *f)
{
    struct arena a;
    arena_init(&a);
    struct err e = {0};
    int rc = node_write_failure(rt, &a, f, &e);
    if (rc != 0) {
        LOG_ERROR(rt->fleet->log, "node.failure_not_written", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
    }
    arena_free(&a);
    return rc == 0;
}

/* --- until it is on disk ------------------------------------------------------------------------
 */

struct node_loss {
    struct arena a;
    struct failure why; /* in the arena */
    int unsure; /* writes of the loss that are neither known to be on disk nor rolled back */
};

void node_loss_free(struct node_rt *rt)
{
    if (rt->loss)
        arena_free(&rt->loss->a);
    free(rt->loss);
    rt->loss = NULL;
}

static struct node_loss *loss_new(const struct failure *why)
{
    struct node_loss *l = xcalloc(1, sizeof *l);
    arena_init(&l->a);
    l->why = (struct failure){.code = why->code,
                              .message = arena_strdup(&l->a, why->message),
                              .step = arena_strdup(&l->a, why->step),
                              .command = arena_strdup(&l->a, why->command),
                              .stderr_tail = arena_strdup(&l->a, why->stderr_tail),
                              .remedy = arena_strdup(&l->a, why->remedy),
                              .exit_code = why->exit_code,
                              .signal = why->signal};
    return l;
}

static void effect_written(void *ctx, int64_t id, const struct err *why)
{
    struct node_rt *rt = node_rt_find(ctx, id);
    if (!rt || !rt->loss || rt->loss->unsure == 0)
        return; /* the loss is not in memory any more, or no write of it is pending */
    rt->loss->unsure--;
    if (!why && rt->loss->unsure == 0)
        node_loss_free(rt);
}

static void write_loss(struct node_rt *rt)
{
    if (!try_to_write(rt, &rt->loss->why))
        return;
    rt->loss->unsure++;
    wake_when_durable(rt->fleet->wakes, effect_written, rt->fleet, rt->id);
}

void node_lose(struct node_rt *rt, const struct failure *why)
{
    struct node_loss *l = loss_new(why);
    l->unsure = rt->loss ? rt->loss->unsure : 0;
    node_loss_free(rt);
    rt->loss = l;
    write_loss(rt);
}

bool node_lose_again(struct node_rt *rt)
{
    if (!rt->loss || rt->loss->unsure > 0)
        return false;
    write_loss(rt);
    return true;
}

int fleet_write_loss(struct fleet *fl, int64_t node_id, struct err *e)
{
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (!rt || !rt->loss || rt->loss->unsure > 0)
        return 0;
    struct arena a;
    arena_init(&a);
    int rc = node_write_failure(rt, &a, &rt->loss->why, e);
    arena_free(&a);
    return rc;
}
