/* SPDX-License-Identifier: MIT
 *
 * Machines of dedicated pools are lent to low-priority pools while no dedicated pool needs them,
 * and are taken back. A dedicated pool that is short of machines reports this to the fleet;
 * meanwhile the fleet lends none of these machines. The pool asks nodes of low-priority pools to
 * leave: as many as it lacks, minus nodes that are leaving anyway. Their runs are requeued. A node
 * on a machine that is drained by its health command counts as lacking, until the command succeeds.
 */
#include <stdlib.h>

#include "model/states.h"
#include "scheduler/pass.h"

/* us; a node that has been leaving for longer is not expected to be free soon: its machine may not
 * answer. */
#define PATIENCE_US INT64_C(60000000)

/* Whether the node's machine will be free soon; if so, the pool checks again after PATIENCE_US. */
static bool leaves_soon(struct pass *p, const struct node *nd)
{
    int64_t age = p->now_us - nd->state_us; /* negative: the clock was set back */
    int64_t again = wakes_mono(p->s->wakes) + PATIENCE_US - age;
    if (nd->state != NODE_LEAVING || age < 0 || age >= PATIENCE_US)
        return false;
    if (p->scale.look_again_us == 0 || again < p->scale.look_again_us)
        p->scale.look_again_us = again;
    return true;
}

/* Nodes with the fewest allocations are taken first; of equal nodes, the last in the inventory. */
static int by_loss(const void *pa, const void *pb)
{
    const struct node *a = pa, *b = pb;
    if (a->live != b->live)
        return a->live < b->live ? -1 : 1;
    return (a->id < b->id) - (a->id > b->id);
}

/* Finds the nodes of low-priority pools on machines that this pool could use. */
static int find(struct pass *p, struct node **out, size_t *n, int *leaving, struct err *e)
{
    int64_t *ids;
    size_t n_ids;
    machines_lent(p->s->fleet, p->a, p->pool.vm_size, &ids, &n_ids);
    *out = arena_alloc(p->a, (n_ids + 1) * sizeof **out);
    *n = 0;
    *leaving = 0;
    for (size_t i = 0; i < n_ids; i++) {
        struct node nd;
        int rc = st_node_by_id(p->s->st, p->a, ids[i], &nd, e);
        *leaving += rc == 1 && leaves_soon(p, &nd);
        if (rc < 0)
            return -1;
        if (rc == 1 && nd.state != NODE_LEAVING && nd.vm_priority == VM_LOWPRIORITY)
            (*out)[(*n)++] = nd;
    }
    if (*n > 1)
        qsort(*out, *n, sizeof **out, by_loss);
    return 0;
}

static int take(struct pass *p, const struct node *nd, struct err *e)
{
    const struct front_words *w = p->front->words;
    const struct st_node_move m = {
        .id = nd->id,
        .from = nd->state,
        .to = node_next(nd->state, NODE_EV_LEAVE),
        .now_us = p->now_us,
        .reason = front_say(w, p->a, "its machine is taken back for {pool} %s", p->name)};
    if (st_node_set_reclaimed(p->s->st, nd->id, e) != 0 || st_node_move(p->s->st, &m, e) != 0)
        return -1;
    LOG_INFO(p->s->log, "node.leaving", LF_STR("node", nd->name), LF_STR("why", m.reason));
    wake_durable(p->s->wakes, &woken_node, nd->id);
    wake(p->s->wakes, &woken_pool, nd->pool_id);
    int64_t again = wakes_mono(p->s->wakes) + PATIENCE_US;
    if (p->scale.look_again_us == 0 || again < p->scale.look_again_us)
        p->scale.look_again_us = again;
    return fleet_wake_runs(p->s->fleet, p->a, nd->id, e);
}

/* How many nodes of the class have machines on which no run can start yet. */
static int unproved(const struct pass *p, const struct pass_class *c)
{
    struct machine_use m;
    int n = 0;
    for (size_t i = 0; i < p->n_nodes; i++)
        n += p->nodes[i].vm_priority == c->priority && p->nodes[i].state != NODE_LEAVING &&
             machines_use(p->s->fleet, p->nodes[i].machine_id, &m) && m.unproved;
    return n;
}

/* Whether the node's machine may take the place of an unproved machine. */
static bool is_better(const struct pass *p, const struct node *nd)
{
    struct machine_use m;
    return machines_use(p->s->fleet, nd->machine_id, &m) && !m.troubled;
}

int pass_reclaim(struct pass *p, struct err *e)
{
    struct node *nodes;
    size_t n;
    int taken; /* and those that leave anyway */
    /* the first class is the dedicated nodes, if there are any */
    const struct pass_class *c = &p->classes[0];
    int lack = c->plan.missing + unproved(p, c);
    bool wants = c->on_machines && !p->pool.going && lack > 0 && c->priority == VM_DEDICATED;
    if (machines_want(p->s->fleet, p->pool.id, wants ? p->pool.vm_size : NULL))
        wake_short_pools(p->s);
    if (!wants)
        return 0;
    if (find(p, &nodes, &n, &taken, e) != 0)
        return -1;
    for (size_t i = 0; i < n && taken < lack; i++) {
        if (taken >= c->plan.missing && !is_better(p, &nodes[i]))
            continue;
        if (take(p, &nodes[i], e) != 0)
            return -1;
        taken++;
    }
    return 0;
}
