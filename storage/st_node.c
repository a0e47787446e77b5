/* SPDX-License-Identifier: MIT
 *
 * Nodes.
 */
#include "storage/storage_priv.h"

static void read_node(struct q *q, struct arena *a, void *row)
{
    struct node *nd = row;
    nd->id = c_int(q);
    nd->cluster_id = c_int(q);
    nd->name = c_text(q, a);
    nd->ordinal = (int)c_int(q);
    nd->state = (enum node_state)c_int(q);
    nd->state_us = c_int(q);
    nd->created_us = c_int(q);
    nd->job_id = c_int(q);
    nd->rank = (int)c_int(q);
    nd->incarnation = c_text(q, a);
    nd->errors = c_text(q, a);
    nd->machine_id = c_int(q);
}

static void read_use(struct q *q, struct arena *a, void *row)
{
    struct node_use *u = row;
    u->node_id = c_int(q);
    u->cluster_id = c_int(q);
    u->node = c_text(q, a);
    u->state = (enum node_state)c_int(q);
    u->errors = c_text(q, a);
    u->machine_id = c_int(q);
    u->cluster = c_text(q, a);
    u->workspace = c_text(q, a);
    u->vm_priority = (enum vm_priority)c_int(q);
    u->job = c_text(q, a);
}

int st_node_insert(struct storage *st, const struct node *nd, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_INSERT, e) < 0)
        return -1;
    q_int(&q, nd->cluster_id);
    q_text(&q, nd->name);
    q_int(&q, nd->ordinal);
    q_int(&q, nd->state);
    q_int(&q, nd->state_us);
    q_int(&q, nd->created_us);
    q_id(&q, nd->job_id);
    q_int(&q, nd->rank);
    q_text(&q, nd->incarnation);
    q_text(&q, nd->errors);
    q_id(&q, nd->machine_id);
    return q_insert(&q, id, e);
}

int st_node_by_id(struct storage *st, struct arena *a, int64_t id, struct node *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, read_node, out, e);
}

static int nodes_of(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t owner,
                    struct node **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, stmt);
    q_int(&q, owner);
    void *items;
    if (q_rows(&q, a, read_node, sizeof **rows, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_node_list(struct storage *st, struct arena *a, int64_t cluster_id, struct node **rows,
                 size_t *n, struct err *e)
{
    return nodes_of(st, ST_NODE_LIST, a, cluster_id, rows, n, e);
}

int st_node_of_job(struct storage *st, struct arena *a, int64_t job_id, struct node **rows,
                   size_t *n, struct err *e)
{
    return nodes_of(st, ST_NODE_OF_JOB, a, job_id, rows, n, e);
}

int st_node_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_node_local_total(struct storage *st, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_LOCAL_TOTAL);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_node_uses(struct storage *st, struct arena *a, struct node_use **rows, size_t *n,
                 struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_USES);
    void *items;
    if (q_rows(&q, a, read_use, sizeof **rows, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_node_move(struct storage *st, const struct st_node_move *m, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_id(&q, m->job_id);
    q_int(&q, m->rank);
    q_text(&q, m->errors);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_NODE_STATE, "Node", node_state_names, m->id, m->from, m->to, e);
}

int st_node_set_incarnation(struct storage *st, int64_t id, const char *incarnation, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_SET_INCARNATION, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, incarnation);
    return q_change(&q, "node", id, e);
}

int st_node_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "node", id, e);
}
