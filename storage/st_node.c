/* SPDX-License-Identifier: MIT
 *
 * Nodes.
 */
#include "storage/storage_priv.h"

#include <assert.h>

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
    struct q q;
    if (q_write(&q, st, ST_NODE_INSERT, e) < 0)
        return -1;
    q_row(&q, &node_row, &new->nd, NULL);
    if (q_insert(&q, new->id, e) < 0)
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

int st_node_by_id(struct storage *st, struct arena *a, int64_t id, struct node *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &node_row, out, e);
}

static int nodes_of(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t owner,
                    struct node **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, stmt);
    q_int(&q, owner);
    void *items;
    if (q_rows(&q, a, &node_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_node_named(struct storage *st, struct arena *a, int64_t pool_id, const char *name,
                  struct node *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_NAMED);
    q_int(&q, pool_id);
    q_text(&q, name);
    return q_one(&q, a, &node_row, out, e);
}

int st_node_list(struct storage *st, struct arena *a, int64_t cluster_id, struct node **rows,
                 size_t *n, struct err *e)
{
    return nodes_of(st, ST_NODE_LIST, a, cluster_id, rows, n, e);
}

int st_node_of_run(struct storage *st, struct arena *a, int64_t run_id, struct node **rows,
                   size_t *n, struct err *e)
{
    return nodes_of(st, ST_NODE_OF_RUN, a, run_id, rows, n, e);
}

int st_node_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_node_local_total(struct storage *st, const char *but_sizes, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_LOCAL_TOTAL);
    q_text(&q, but_sizes ? but_sizes : "");
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_node_uses(struct storage *st, struct arena *a, struct node_use **rows, size_t *n,
                 struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_USES);
    void *items;
    if (q_rows(&q, a, &node_use_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

static int move_row(struct storage *st, const struct st_node_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0);
    if (q_write(&q, st, ST_NODE_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->to == NODE_IDLE ? m->now_us : 0);
    q_int(&q, m->to == NODE_UNUSABLE ? m->failure : 0);
    q_text(&q, m->errors);
    q_text(&q, st->epoch.text);
    q_text(&q, m->why);
    if (m->wish != WISH_NOTHING)
        q_int(&q, m->wish);
    else
        q_null(&q);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_NODE_STATE, "Node", node_state_names, m->id, (int)m->from, (int)m->to, e);
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

int st_node_set_capacity(struct storage *st, int64_t id, const struct capacity *has,
                         const char *devices, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_CAPACITY, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, has->slots);
    q_int(&q, has->gpus);
    q_int(&q, has->cores);
    q_int(&q, has->memory);
    q_text(&q, devices);
    return q_change(&q, "node", id, e);
}

int st_node_setup_put(struct storage *st, const struct node_setup *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SETUP_PUT, e) < 0)
        return -1;
    q_row(&q, &node_setup_row, s, NULL);
    return q_run(&q, e);
}

int st_node_setup_get(struct storage *st, struct arena *a, int64_t node_id, struct node_setup *out,
                      struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_SETUP_GET);
    q_int(&q, node_id);
    return q_one(&q, a, &node_setup_row, out, e);
}

int st_node_set_wish(struct storage *st, int64_t id, enum node_wish wish, enum dealloc_option how,
                     struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_WISH, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, wish);
    q_int(&q, how);
    return q_change(&q, "node", id, e);
}

int st_node_set_off(struct storage *st, int64_t id, enum dealloc_option off, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_OFF, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, off);
    return q_change(&q, "node", id, e);
}

int st_node_set_reclaimed(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_RECLAIMED, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "node", id, e);
}

int st_node_set_incarnation(struct storage *st, int64_t id, const char *incarnation, int64_t now_us,
                            struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_INCARNATION, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, incarnation);
    q_int(&q, now_us);
    return q_change(&q, "node", id, e);
}

static int remove_row(struct storage *st, void *ctx, struct err *e)
{
    int64_t id = *(const int64_t *)ctx;
    struct q q;
    if (q_write(&q, st, ST_NODE_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    if (q_change(&q, "node", id, e) < 0)
        return -1;
    return st_event_forget(st, RES_NODE, id, e);
}

int st_node_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "remove node", remove_row, &id, e);
}
