/* SPDX-License-Identifier: MIT
 *
 * Requests about single nodes: prepare again, wipe, rest, or accept no further run. After a request
 * the node gets no run. Its present runs are ended, requeued or completed, as requested; when the
 * node is free, the pass over the pool carries out the request. (Nodes that are asked to leave are
 * the first to leave: plan.h.)
 */
#include "model/states.h"
#include "scheduler/pass.h"

static int change(struct sched *s, const struct node *nd, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = fleet_wake_runs(s->fleet, &a, nd->id, e);
    arena_free(&a);
    wake(s->wakes, &woken_pool, nd->pool_id);
    return rc;
}

/* Whether the files of tasks on the node are to be removed as soon as no task runs there. A wipe
 * that has failed, or is in progress, is still to be done. */
static bool is_condemned(const struct node *nd)
{
    return nd->wish == IS_BEING_WIPED || nd->wish == WISH_LEAVE_WIPE ||
           (nd->wish == WISH_WIPE && nd->how != DEALLOC_WAIT_FOR_DATA);
}

/* Combines a new request with the earlier one: a wipe is not forgotten, and a node rests until it
 * is started or has left. */
static enum node_wish with_earlier(const struct node *nd, enum node_wish wish)
{
    if (is_condemned(nd) && wish == WISH_LEAVE)
        return WISH_LEAVE_WIPE;
    if ((is_condemned(nd) && wish == WISH_RESTART) ||
        (nd->wish == WISH_LEAVE_WIPE && wish == WISH_NOTHING))
        return WISH_WIPE;
    bool rests = nd->wish == WISH_REST || nd->wish == IS_RESTING || nd->wish == WISH_LEAVE_REST;
    if (rests && wish == WISH_LEAVE)
        return WISH_LEAVE_REST;
    return nd->wish == WISH_LEAVE_REST && wish == WISH_NOTHING ? WISH_REST : wish;
}

/* Called when a request to leave is withdrawn, and an earlier request remains: how the node's runs
 * end. The last setting is kept. */
static enum dealloc_option withdrawn_how(const struct node *nd, enum node_wish now)
{
    if (nd->live == 0)
        return DEALLOC_REQUEUE;
    bool wipes = now == WISH_WIPE && nd->how == DEALLOC_WAIT_FOR_DATA; /* nobody waits for files */
    return wipes ? DEALLOC_WAIT_FOR_COMPLETION : nd->how;
}

int sched_node_ask(struct sched *s, const struct node *nd, enum node_wish wish,
                   enum dealloc_option how, struct err *e)
{
    enum node_wish now = with_earlier(nd, wish);
    if (wish == WISH_NOTHING && now != wish)
        how = withdrawn_how(nd, now);
    if (st_node_set_wish(s->st, nd->id, now, how, e) < 0)
        return -1;
    return change(s, nd, e);
}

int sched_node_set_off(struct sched *s, const struct node *nd, enum dealloc_option off,
                       struct err *e)
{
    return st_node_set_off(s->st, nd->id, off, e) < 0 ? -1 : change(s, nd, e);
}

/* If the agent may do that, reboots the whole machine; the node is prepared when the machine is
 * back. */
static int restart(struct pass *p, const struct node *nd, struct err *e)
{
    bool idle = nd->state == NODE_IDLE;
    if (idle && nd->wish == WISH_RESTART && fleet_node_may_reboot(p->s->fleet, nd->id)) {
        if (st_node_set_wish(p->s->st, nd->id, WISH_NOTHING, 0, e) < 0)
            return -1;
        return fleet_node_reboot(p->s->fleet, nd->id, e);
    }
    const struct st_node_move m = {.id = nd->id,
                                   .from = nd->state,
                                   .to =
                                       node_next(nd->state, idle ? NODE_EV_RESTART : NODE_EV_RETRY),
                                   .now_us = p->now_us,
                                   .wish = nd->wish == WISH_WIPE ? IS_BEING_WIPED : IS_RESTARTING};
    if (st_node_move(p->s->st, &m, e) < 0)
        return -1;
    LOG_INFO(p->s->log, "node.preparing", LF_STR("node", nd->name),
             LF_STR("kind", p->front->words->pool), LF_STR("pool", p->name),
             LF_STR("why", "a request asks for it"));
    wake_durable(p->s->wakes, &woken_node, nd->id);
    return 0;
}

static int fulfil(struct pass *p, const struct node *nd, struct err *e)
{
    switch (nd->wish) {
    case WISH_RESTART:
    case WISH_WIPE:
        return restart(p, nd, e);
    case WISH_REST:
        return st_node_set_wish(p->s->st, nd->id, IS_RESTING, 0, e);
    case WISH_NOTHING:
    case WISH_LEAVE:
    case WISH_LEAVE_REST:
    case WISH_LEAVE_WIPE:
    case IS_RESTARTING:
    case IS_BEING_WIPED:
    case IS_RESTING:
        return 0;
    }
    return 0;
}

int pass_fulfil(struct pass *p, struct err *e)
{
    bool any = false;
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct node *nd = &p->nodes[i];
        bool can =
            (nd->state == NODE_IDLE || nd->state == NODE_UNUSABLE) && nd->live == 0 && !p->keeps[i];
        if (nd->wish == WISH_NOTHING || !can)
            continue;
        any = true;
        if (fulfil(p, nd, e) < 0)
            return -1;
    }
    return any ? pass_load_nodes(p, e) : 0;
}
