/* SPDX-License-Identifier: MIT
 *
 * Nodes, and the machines of the inventory: functions with more than one statement. A move of a
 * node writes its event in the same turn. Each function runs in the transaction of its caller's
 * turn, on the loop.
 */
#include <assert.h>

#include "storage/storage_priv.h"

/* --- machines -------------------------------------------------------------------------------- */

int st_machine_put(struct storage *st, const char *name, int64_t *id, struct err *e)
{
    int rc = st_machine_id(st, name, id, e);
    return rc == 0 ? st_machine_insert(st, name, id, e) : rc < 0 ? -1 : 0;
}

/* --- nodes ----------------------------------------------------------------------------------- */

static int add_event(struct storage *st, int64_t id, enum node_state from, enum node_state to,
                     int64_t now_us, const char *reason, struct err *e)
{
    if (from == to)
        return 0;
    const struct event ev = {.at_us = now_us,
                             .kind = RES_NODE,
                             .resource_id = id,
                             .from = (int)from,
                             .to = (int)to,
                             .reason = reason};
    return st_event_add(st, &ev, e);
}

struct new_node {
    struct node nd;
    int64_t *id;
};

static int insert_node(struct storage *st, void *ctx, struct err *e)
{
    struct new_node *new = ctx;
    if (st_node_insert_row(st, &new->nd, new->id, e) < 0)
        return -1;
    return add_event(st, *new->id, 0, new->nd.state, new->nd.created_us, NULL, e);
}

int st_node_insert(struct storage *st, const struct node *nd, int64_t *id, struct err *e)
{
    struct new_node new = {.nd = *nd, .id = id};
    new.nd.epoch = st->epoch.text;
    if (new.nd.state == NODE_IDLE &&new.nd.idle_us == 0)
        new.nd.idle_us = nd->state_us;
    if (new.nd.vm_priority == 0)
        new.nd.vm_priority = VM_DEDICATED;
    if (new.nd.has.slots == 0)
        new.nd.has.slots = 1;
    return st_tx(st, "insert node", insert_node, &new, e);
}

static int move_row(struct storage *st, const struct st_node_move *m, struct err *e)
{
    assert(m->from != 0 && m->to != 0);
    if (st_node_move_row(st, m, st->epoch.text, e) < 0)
        return -1;
    static const struct moving moving = {ST_NODE_STATE, "Node", node_state_names};
    return q_moved(st, &moving, m->id, (int)m->from, (int)m->to, e);
}

static int move_all(struct storage *st, void *ctx, struct err *e)
{
    const struct st_node_move *m = ctx;
    if (move_row(st, m, e) < 0)
        return -1;
    return add_event(st, m->id, m->from, m->to, m->now_us, st_reason(m->reason, m->failure), e);
}

int st_node_move(struct storage *st, const struct st_node_move *m, struct err *e)
{
    struct st_node_move move = *m;
    return st_tx(st, "move node", move_all, &move, e);
}

static int remove_row(struct storage *st, void *ctx, struct err *e)
{
    int64_t id = *(const int64_t *)ctx;
    if (st_removes(st, RES_NODE, id, e) < 0 || st_node_remove_row(st, id, e) < 0)
        return -1;
    return st_event_forget(st, RES_NODE, id, e);
}

int st_node_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "remove node", remove_row, &id, e);
}
