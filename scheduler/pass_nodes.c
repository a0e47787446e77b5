/* SPDX-License-Identifier: MIT
 *
 * Reads the nodes of a pool for a pass, and converts them for plans.
 */
#include <assert.h>

#include "scheduler/pass.h"

/* Computes the free capacity of a node. Allocations "aside" take nothing; each other takes at least
 * one slot. So mostly the number of allocations suffices, and they need not be read. */
static int find_left(struct pass *p, const struct node *nd, struct capacity *left, struct err *e)
{
    struct allocation *live;
    size_t n;
    *left = nd->has;
    if (nd->live == nd->aside)
        return 0;
    if (nd->live - nd->aside >= nd->has.slots) {
        *left = (struct capacity){0};
        return 0;
    }
    if (st_allocation_of_node(p->s->st, p->a, nd->id, &live, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!live[i].devices) {
            *left = (struct capacity){0}; /* the allocation has the whole node */
            return 0;
        }
        left->slots -= live[i].takes.slots;
        left->gpus -= live[i].takes.gpus;
        left->cores -= live[i].takes.cores;
        left->memory -= live[i].takes.memory;
    }
    return 0;
}

/* Asserts the invariants of a pool's rows. Rows that break them were not written by this
 * program. */
static int check_node(const struct node *nd, const struct capacity *left, struct err *e)
{
    bool held_early = nd->live > 0 && nd->state == NODE_PREPARING;
    bool idle = nd->state == NODE_IDLE && nd->live == 0;
    bool too_full = left->slots < 0 || nd->live - nd->aside > nd->has.slots;
    if (!held_early && idle == (nd->idle_us != 0) && !too_full)
        return 0;
    return err_set(
        e, ERR_STORAGE, NULL,
        "The database is damaged: the row of node %lld (%s) and the rows of its allocations "
        "contradict each other; restore it from a backup.",
        (long long)nd->id, nd->name);
}

/* If the pool cannot be read, p->front is still set, because the log needs its words. */
int pass_load_pool(struct pass *p, int64_t id, struct err *e)
{
    struct sched *s = p->s;
    int rc = st_pool_by_id(s->st, p->a, id, &p->pool, e);
    p->front = rc == 1 ? front_of(&s->fronts, p->pool.kind) : s->fronts.all[0];
    p->name = rc == 1 ? p->front->ops->pool_name(p->front, s->st, p->a, id, false) : "";
    return rc;
}

/* Whether the pool has more nodes of a class than its target. */
static bool shrinks(const struct pass *p)
{
    const struct scale *s = &p->pool.scale;
    int low = 0, dedicated = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        bool stays = p->nodes[i].state != NODE_LEAVING;
        bool is_low = p->nodes[i].vm_priority == VM_LOWPRIORITY;
        low += stays && is_low;
        dedicated += stays && !is_low;
    }
    return s->kind == SCALE_MANUAL &&
           (low > s->low || dedicated > s->target || low + dedicated > plan_largest(s));
}

/* The treatment of the runs of a node that is to leave or to be prepared again; 0: neither. A node
 * that rests already, or is being prepared again, is treated like any other node. */
static enum dealloc_option how_it_goes(const struct pass *p, const struct node *nd, bool shrinking)
{
    bool is_done =
        nd->wish == IS_RESTARTING || nd->wish == IS_BEING_WIPED || nd->wish == IS_RESTING;
    if (nd->wish != WISH_NOTHING && !is_done)
        return nd->how;
    return shrinking ? p->pool.scale.dealloc : 0;
}

static void look_again(struct pass *p, int64_t at_us)
{
    if (p->scale.look_again_us == 0 || at_us < p->scale.look_again_us)
        p->scale.look_again_us = at_us;
}

/* Whether users can still get the files of tasks on the node, now or when it answers again. Files
 * on a lost node cannot be read, and files that are to be wiped are not needed. */
static bool may_keep(const struct node *nd)
{
    if (nd->wish == WISH_LEAVE_WIPE || nd->wish == IS_BEING_WIPED)
        return false;
    switch (nd->state) {
    case NODE_IDLE:
    case NODE_PREPARING:
        return true;
    case NODE_UNUSABLE:
        return nd->failure == FAIL_NODE_SETUP_FAILED || nd->failure == FAIL_NODE_REBOOTING;
    case NODE_LEAVING:
        return false;
    }
    return false;
}

/* Finds the nodes that must stay because of kept files. Schedules the next check for the instant at
 * which the files of a node expire. */
static int find_kept(struct pass *p, struct err *e)
{
    const struct front_ops *ops = p->front->ops;
    bool shrinking = shrinks(p);
    p->keeps = arena_alloc(p->a, (p->n_nodes + 1) * sizeof *p->keeps);
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct node *nd = &p->nodes[i];
        int64_t left_us = 0;
        p->keeps[i] = false;
        if (p->pool.going || !may_keep(nd) || !ops->kept_for ||
            how_it_goes(p, nd, shrinking) != DEALLOC_WAIT_FOR_DATA)
            continue;
        if (ops->kept_for(p->front, p->s->st, nd, &left_us, e) < 0)
            return -1;
        p->keeps[i] = left_us > 0;
        if (left_us > 0 && left_us < KEPT_FOR_EVER)
            look_again(p, wakes_mono(p->s->wakes) + left_us);
    }
    return 0;
}

int pass_load_nodes(struct pass *p, struct err *e)
{
    if (st_node_list(p->s->st, p->a, p->pool.id, &p->nodes, &p->n_nodes, e) != 0)
        return -1;
    p->left = arena_alloc(p->a, (p->n_nodes + 1) * sizeof *p->left);
    for (size_t i = 0; i < p->n_nodes; i++) {
        if (find_left(p, &p->nodes[i], &p->left[i], e) != 0 ||
            check_node(&p->nodes[i], &p->left[i], e) != 0)
            return -1;
    }
    return find_kept(p, e);
}

const struct node *pass_row_of(const struct pass *p, const struct plan_node *n)
{
    assert(n->at < p->n_nodes && p->nodes[n->at].id == n->id);
    return &p->nodes[n->at];
}

bool pass_out_of_service(const struct pass *p, const struct node *nd)
{
    struct machine_use m;
    if (nd->off != 0 || nd->wish != WISH_NOTHING || fleet_node_closed(p->s->fleet, nd->id))
        return true;
    return machines_use(p->s->fleet, nd->machine_id, &m) &&
           (m.drained || !m.in_inventory || (nd->state == NODE_UNUSABLE && m.troubled));
}

/* Whether another machine may replace the node: only if no run ever ran there. */
static bool replaceable(const struct pass *p, const struct node *nd)
{
    struct machine_use m;
    if (nd->live > 0 || !machines_use(p->s->fleet, nd->machine_id, &m))
        return false;
    if (m.unproved)
        return nd->state == NODE_IDLE || nd->state == NODE_UNUSABLE;
    return nd->state == NODE_UNUSABLE && !nd->incarnation && failure_replaceable(nd->failure);
}

struct plan_node *pass_plan_nodes(struct pass *p)
{
    struct plan_node *out = arena_alloc(p->a, (p->n_nodes + 1) * sizeof *out);
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct node *nd = &p->nodes[i];
        out[i] = (struct plan_node){
            .id = nd->id,
            .at = i,
            .ordinal = nd->ordinal,
            .low = nd->vm_priority != p->pool.vm_priority,
            .state = nd->state,
            .idle_since_us = fleet_node_idle_since(p->s->fleet, nd, p->s->autoscale_idle_us),
            .live = nd->live,
            .has = nd->has,
            .left = p->left[i],
            .out_of_service = pass_out_of_service(p, nd),
            .keeps = p->keeps[i],
            .parting = wish_leaves(nd->wish),
            .how = nd->how,
            .replaceable = replaceable(p, nd)};
        p->replaceable = p->replaceable || out[i].replaceable;
    }
    return out;
}

struct plan_node *pass_queue_nodes(struct pass *p)
{
    struct plan_node *out = pass_plan_nodes(p);
    plan_empty(p->a, &p->pool.scale, out, p->n_nodes);
    return out;
}
