/* SPDX-License-Identifier: MIT
 *
 * Runs.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

#include "model/states.h"

int st_run_insert(struct storage *st, const struct run *r, int64_t *id, struct err *e)
{
    struct q q;
    struct run row = *r;
    if (row.held == 0)
        row.held = HOLD_NOT;
    if (row.runs == 0)
        row.runs = 1;
    if (q_write(&q, st, ST_RUN_INSERT, e) < 0)
        return -1;
    q_row(&q, &run_row, &row, NULL);
    return q_insert(&q, id, e);
}

int st_run_by_id(struct storage *st, struct arena *a, int64_t id, struct run *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &run_row, out, e);
}

int st_run_of(struct storage *st, struct arena *a, enum resource_kind owner, int64_t owner_id,
              int idx, struct run *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_OF);
    q_int(&q, owner);
    q_int(&q, owner_id);
    q_int(&q, idx);
    return q_one(&q, a, &run_row, out, e);
}

static int queue(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t pool_id,
                 int largest, int limit, struct run **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, stmt);
    q_int(&q, pool_id);
    q_int(&q, largest);
    q_int(&q, limit);
    if (q_rows(&q, a, &run_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_run_queue(struct storage *st, struct arena *a, int64_t pool_id, int largest, int limit,
                 struct run **rows, size_t *n, struct err *e)
{
    return queue(st, ST_RUN_QUEUE, a, pool_id, largest, limit, rows, n, e);
}

static int some(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t pool_id, int limit,
                struct run **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, stmt);
    q_int(&q, pool_id);
    q_int(&q, limit);
    if (q_rows(&q, a, &run_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_run_waiting(struct storage *st, struct arena *a, int64_t pool_id, int limit,
                   struct run **rows, size_t *n, struct err *e)
{
    return some(st, ST_RUN_WAITING, a, pool_id, limit, rows, n, e);
}

int st_run_in_turn(struct storage *st, struct arena *a, int64_t pool_id, int limit,
                   struct run **rows, size_t *n, struct err *e)
{
    return some(st, ST_RUN_IN_TURN, a, pool_id, limit, rows, n, e);
}

int st_run_held(struct storage *st, struct arena *a, int64_t pool_id, int limit, struct run **rows,
                size_t *n, struct err *e)
{
    return some(st, ST_RUN_HELD, a, pool_id, limit, rows, n, e);
}

int st_run_broken(struct storage *st, struct arena *a, int64_t pool_id, int limit,
                  struct run **rows, size_t *n, struct err *e)
{
    return some(st, ST_RUN_BROKEN, a, pool_id, limit, rows, n, e);
}

int st_run_oversized(struct storage *st, struct arena *a, int64_t pool_id, int largest, int limit,
                     struct run **rows, size_t *n, struct err *e)
{
    return queue(st, ST_RUN_OVERSIZED, a, pool_id, largest, limit, rows, n, e);
}

int st_run_parts_after(struct storage *st, struct arena *a, int64_t pool_id, int64_t after,
                       int limit, struct run **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_RUN_PARTS_AFTER);
    q_int(&q, pool_id);
    q_int(&q, after);
    q_int(&q, limit);
    if (q_rows(&q, a, &run_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

static int sum(struct storage *st, enum stmt_id stmt, int64_t pool_id, int largest, int64_t *nodes,
               struct err *e)
{
    struct q q;
    q_read(&q, st, stmt);
    q_int(&q, pool_id);
    q_int(&q, largest);
    return q_one_int(&q, nodes, e) < 0 ? -1 : 0;
}

int st_run_queue_demand(struct storage *st, int64_t pool_id, int largest, int64_t *nodes,
                        struct err *e)
{
    return sum(st, ST_RUN_QUEUE_DEMAND, pool_id, largest, nodes, e);
}

int st_run_parts_demand(struct storage *st, int64_t pool_id, int largest, int64_t *nodes,
                        struct err *e)
{
    return sum(st, ST_RUN_PARTS_DEMAND, pool_id, largest, nodes, e);
}

int st_run_parts(struct storage *st, struct arena *a, int64_t pool_id, int largest, int limit,
                 struct run **rows, size_t *n, struct err *e)
{
    return queue(st, ST_RUN_PARTS, a, pool_id, largest, limit, rows, n, e);
}

int st_run_live_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_LIVE_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_run_doomed_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_DOOMED_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_run_move(struct storage *st, const struct st_run_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0 && m->to != m->from);
    if (q_write(&q, st, ST_RUN_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->start_us);
    q_int(&q, m->end_us);
    q_int(&q, m->attempt);
    q_int(&q, m->failure);
    q_int(&q, m->retry);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_RUN_STATE, "Run", run_state_names, m->id, (int)m->from, (int)m->to, e);
}

int st_run_begins(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_RUN_BEGINS, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    return q_change(&q, "run", id, e);
}

int st_node_bar(struct storage *st, int64_t group_id, int64_t node_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_NODE_BAR, e) < 0)
        return -1;
    q_int(&q, group_id);
    q_int(&q, node_id);
    return q_run(&q, e);
}

int st_node_barred(struct storage *st, struct arena *a, int64_t group_id, int64_t **ids, size_t *n,
                   struct err *e)
{
    struct q q;
    q_read(&q, st, ST_NODE_BARRED);
    q_int(&q, group_id);
    return q_ids(&q, a, ids, n, e);
}

int st_run_set_stop(struct storage *st, int64_t id, enum run_stop stop, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_RUN_SET_STOP, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, stop);
    return q_change(&q, "run", id, e);
}

int st_runs_remove(struct storage *st, enum resource_kind owner, int64_t owner_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_RUN_REMOVE_OF, e) < 0)
        return -1;
    q_int(&q, owner);
    q_int(&q, owner_id);
    return q_run(&q, e);
}

int st_run_ids_of(struct storage *st, struct arena *a, enum resource_kind owner, int64_t owner_id,
                  int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_IDS_OF);
    q_int(&q, owner);
    q_int(&q, owner_id);
    return q_ids(&q, a, ids, n, e);
}

int st_run_count_left(struct storage *st, enum resource_kind owner, int64_t owner_id, int64_t *n,
                      struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_COUNT_LEFT);
    q_int(&q, owner);
    q_int(&q, owner_id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_run_next_turn(struct storage *st, enum resource_kind owner, int64_t owner_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_RUN_NEXT_TURN, e) < 0)
        return -1;
    q_int(&q, owner);
    q_int(&q, owner_id);
    q_int(&q, HOLD_TURN);
    q_int(&q, hold_next(HOLD_TURN, HOLD_EV_TURN));
    return q_run(&q, e);
}
