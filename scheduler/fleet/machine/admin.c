/* SPDX-License-Identifier: MIT
 *
 * Administrators' operations on machines: drain, undrain, reboot. A reboot is first written to the
 * node's row as a failure, and requested when this is on disk; if the link breaks meanwhile, the
 * next link requests it. All this runs on the loop's thread.
 */
#include <strings.h>

#include "model/states.h"
#include "scheduler/fleet/node/node_priv.h"

/* How long no link to a rebooting machine is opened (us). The machine must be down within this
 * time; otherwise a node would be prepared on it and then be cut off. */
#define REBOOT_PAUSE_US 30000000

static struct machine *find_named(struct fleet *fl, const char *name, struct err *e)
{
    for (size_t i = 0; i < fl->n_machines; i++)
        if (strcasecmp(fl->machines[i]->name, name) == 0)
            return fl->machines[i];
    for (size_t i = 0; i < fl->nodes.n; i++) {
        const struct node_rt *rt = fl->nodes.e[i].p;
        if (strcasecmp(rt->name, name) != 0)
            continue;
        if (rt->machine)
            err_set(e, ERR_NOT_SUPPORTED, NULL, "%.100s is a node: name its machine, %.100s", name,
                    rt->machine->name);
        else
            err_set(e, ERR_NOT_SUPPORTED, NULL,
                    "%.100s is a local node: only machines of the inventory can be drained, "
                    "undrained or rebooted",
                    name);
        return NULL;
    }
    err_set(e, ERR_MACHINE_NOT_FOUND, NULL,
            "There is no machine %.200s; 'batchaid nodes' lists all machines", name);
    return NULL;
}

static int set_drained(struct fleet *fl, struct machine *m, bool drained, const char *reason,
                       struct err *e)
{
    if (st_machine_set_drained(fl->st, m->id, drained, reason, e) != 0)
        return -1;
    m->drained = drained;
    m->unproved = m->unproved && drained;
    machine_text(&m->reason, drained ? reason : NULL);
    machine_changed(fl, m);
    wake_when_durable(fl->wakes, effect_reread_machines, fl, m->id);
    struct node_rt *rt = m->node_id ? node_rt_find(fl, m->node_id) : NULL;
    if (rt)
        node_sample_soon(rt);
    fleet_pool_changed(fl, m->pool_id);
    fleet_capacity_freed(fl, false);
    return 0;
}

int fleet_machine_drain(struct fleet *fl, const char *name, const char *reason, struct err *e)
{
    struct machine *m = find_named(fl, name, e);
    if (!m || set_drained(fl, m, true, reason, e) != 0)
        return -1;
    LOG_INFO(fl->log, "machine.drain_started", LF_STR("machine", m->name),
             LF_STR("reason", reason));
    return 0;
}

/* Reads the row of the node that claims the machine. Returns 1 (found), 0 (the machine is free) or
 * -1. */
static int claiming_node(struct fleet *fl, const struct machine *m, struct arena *a,
                         struct node *row, struct err *e)
{
    return m->node_id == 0 ? 0 : st_node_by_id(fl->st, a, m->node_id, row, e);
}

static int retry_node(struct fleet *fl, const struct machine *m, struct err *e)
{
    struct arena a;
    struct node row;
    arena_init(&a);
    int rc = claiming_node(fl, m, &a, &row, e);
    if (rc == 1 && row.state == NODE_UNUSABLE && row.live == 0) {
        const struct st_node_move move = {.id = row.id,
                                          .from = row.state,
                                          .to = node_next(row.state, NODE_EV_RETRY),
                                          .now_us = wakes_wall(fl->wakes)};
        rc = st_node_move(fl->st, &move, e);
        wake_durable(fl->wakes, &woken_node, row.id);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

struct undrain {
    struct fleet *fleet;
    struct machine *m;
};

static int undrain(struct storage *st, void *ctx, struct err *e)
{
    const struct undrain *u = ctx;
    (void)st;
    return retry_node(u->fleet, u->m, e) != 0 ? -1 : set_drained(u->fleet, u->m, false, NULL, e);
}

int fleet_machine_undrain(struct fleet *fl, const char *name, struct err *e)
{
    struct machine *m = find_named(fl, name, e);
    struct undrain u = {fl, m};
    if (!m || st_tx(fl->st, "undrain machine", undrain, &u, e) != 0)
        return -1;
    machine_trouble(fl, m, NULL);
    LOG_INFO(fl->log, "machine.drain_ended", LF_STR("machine", m->name));
    return 0;
}

/* --- rebooting a machine ---------------------------------------------------------------------- */

static void on_rebooting(void *ctx, const struct err *why)
{
    const struct node_rt *rt = ctx;
    if (why)
        LOG_WARN(rt->fleet->log, "machine.reboot_not_confirmed", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
}

/* Requests the reboot. The node's next reconcile closes the link; the request is sent before
 * that. */
static void ask_reboot(struct node_rt *rt)
{
    rt->contact.reboots++;
    rt->contact.retry_us = wakes_mono(rt->fleet->wakes) + REBOOT_PAUSE_US;
    node_ask(rt->contact.link, BARE_REQUEST(reboot), on_rebooting, rt);
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* Runs when the failure is on disk, before the node's next reconcile. If the link has broken
 * meanwhile, the next link requests the reboot. */
static void effect_reboot(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (!why && rt && node_rt_usable(rt))
        ask_reboot(rt);
}

void node_reboot_resume(struct node_rt *rt, const struct node *row)
{
    if (row->state == NODE_UNUSABLE && row->failure == FAIL_NODE_REBOOTING)
        rt->contact.retry_us =
            wakes_mono_of(rt->fleet->wakes, row->state_us, REBOOT_PAUSE_US) + REBOOT_PAUSE_US;
}

bool node_reboot_waits(const struct node_rt *rt, const struct node *row)
{
    return row->failure == FAIL_NODE_REBOOTING && rt->contact.reboots == 0 &&
           wakes_mono(rt->fleet->wakes) < rt->contact.retry_us;
}

bool node_reboot_again(struct node_rt *rt, const struct node *row)
{
    if (row->failure != FAIL_NODE_REBOOTING || rt->contact.reboots >= REBOOTS_MAX)
        return false;
    ask_reboot(rt);
    return true;
}

/* Decides by the row of the machine's node; row->id is 0 if the machine belongs to no pool. */
static int refuse_reboot(const struct fleet *fl, const struct machine *m, const struct node *row,
                         struct err *e)
{
    if (row->id == 0)
        return err_set(e, ERR_UNAVAILABLE, NULL,
                       "The machine %s is free, so the daemon has no connection to it: restart the "
                       "machine with ssh",
                       m->name);
    const struct front_words *w = front_of(fl->cfg.fronts, row->pool_kind)->words;
    if (row->state == NODE_LEAVING)
        return err_set(e, ERR_CONFLICT, NULL,
                       "The machine %s is leaving its %s: wait until the machine is free", m->name,
                       w->pool);
    if (row->live > 0)
        return err_set(e, ERR_CONFLICT, NULL,
                       "A %s runs on %s: drain the machine and wait for the end of the %s, or "
                       "terminate the %s first",
                       w->run, m->name, w->run, w->run);
    return 0;
}

/* Makes the node unusable first, so that it gets no further run. The reboot is requested when this
 * is on disk; after a rollback it is not requested. */
static int reboot_node(struct fleet *fl, struct node_rt *rt, struct err *e)
{
    const struct failure f = {.code = FAIL_NODE_REBOOTING,
                              .message = "The machine restarts, as was asked for",
                              .step = "reboot",
                              .remedy = "none needed: the node is prepared again when it is back",
                              .exit_code = -1};
    struct arena a;
    arena_init(&a);
    int rc = node_write_failure(rt, &a, &f, e);
    arena_free(&a);
    if (rc != 0)
        return -1;
    rt->noted.heals = true;
    rt->contact.reboots = 0;
    rt->contact.retry_us = wakes_mono(fl->wakes) + REBOOT_PAUSE_US;
    wake_when_durable(fl->wakes, effect_reboot, fl, rt->id);
    return 0;
}

bool fleet_node_may_reboot(const struct fleet *fl, int64_t node_id)
{
    const struct node_rt *rt = node_rt_find(fl, node_id);
    return rt && rt->machine && rt->seen.is_root && node_rt_usable(rt);
}

int fleet_node_reboot(struct fleet *fl, int64_t node_id, struct err *e)
{
    return reboot_node(fl, node_rt_find(fl, node_id), e);
}

static int order_reboot(struct fleet *fl, const struct machine *m, const struct node *row,
                        struct err *e)
{
    struct node_rt *rt = node_rt_find(fl, row->id);
    if (refuse_reboot(fl, m, row, e) != 0)
        return -1;
    if (!rt || !node_rt_usable(rt))
        return err_set(e, ERR_UNAVAILABLE, NULL,
                       "There is no link to %s now%s%.600s: restart it with ssh or by hand",
                       m->name, m->trouble ? ": " : "", m->trouble ? m->trouble : "");
    if (!rt->seen.is_root)
        return err_set(e, ERR_NOT_SUPPORTED, NULL,
                       "The agent on %s is not root and cannot restart it: give its inventory "
                       "group `become`, or restart it by hand",
                       m->name);
    if (reboot_node(fl, rt, e) != 0)
        return -1;
    LOG_INFO(fl->log, "machine.rebooting", LF_STR("machine", m->name));
    return 0;
}

int fleet_machine_reboot(struct fleet *fl, const char *name, struct err *e)
{
    struct arena a;
    struct node row = {0};
    const struct machine *m = find_named(fl, name, e);
    if (!m)
        return -1;
    arena_init(&a);
    int rc = claiming_node(fl, m, &a, &row, e);
    if (rc >= 0)
        rc = order_reboot(fl, m, &row, e);
    arena_free(&a);
    return rc;
}
