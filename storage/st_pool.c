/* SPDX-License-Identifier: MIT
 *
 * Pools.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

int st_pool_insert(struct storage *st, const struct pool *p, int64_t *id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_POOL_INSERT, e) < 0)
        return -1;
    q_row(&q, &pool_row, p, NULL);
    return q_insert(&q, id, e);
}

int st_pool_by_id(struct storage *st, struct arena *a, int64_t id, struct pool *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_POOL_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &pool_row, out, e);
}

int st_pool_place(struct storage *st, struct arena *a, int64_t id, struct pool_place *out,
                  struct err *e)
{
    struct q q;
    q_read(&q, st, ST_POOL_PLACE);
    q_int(&q, id);
    return q_one(&q, a, &pool_place_row, out, e);
}

int st_pool_kind(struct storage *st, int64_t id, enum resource_kind *kind, struct err *e)
{
    struct q q;
    int64_t n = 0;
    q_read(&q, st, ST_POOL_KIND);
    q_int(&q, id);
    int rc = q_one_int(&q, &n, e);
    *kind = (enum resource_kind)n;
    return rc;
}

int st_pool_set_scale(struct storage *st, int64_t id, const struct scale *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_POOL_SET_SCALE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, s->kind);
    q_int(&q, s->target);
    q_int(&q, s->dealloc);
    q_int(&q, s->minimum);
    q_int(&q, s->maximum);
    q_int(&q, s->initial);
    q_int(&q, s->low);
    return q_change(&q, "pool", id, e);
}

int st_pool_move(struct storage *st, const struct st_pool_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0 && m->to != m->from);
    if (q_write(&q, st, ST_POOL_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    if (q_run(&q, e) < 0)
        return -1;
    if (q_moved(st, ST_POOL_ALLOC, "Cluster", alloc_state_names, m->id, (int)m->from, (int)m->to,
                e) < 0)
        return -1;
    return st_event_add(st,
                        &(struct event){.at_us = m->now_us,
                                        .kind = m->kind,
                                        .resource_id = m->id,
                                        .from = (int)m->from,
                                        .to = (int)m->to,
                                        .reason = m->reason},
                        e);
}

int st_pool_set_auto_target(struct storage *st, int64_t id, int target, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_POOL_SET_AUTO_TARGET, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, target);
    return q_change(&q, "pool", id, e);
}

int st_pool_set_errors(struct storage *st, int64_t id, const char *errors, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_POOL_SET_ERRORS, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, errors);
    return q_change(&q, "pool", id, e);
}

int st_pool_remove(struct storage *st, int64_t id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_POOL_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    return q_change(&q, "pool", id, e);
}

int st_pool_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_POOL_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_pool_held(struct storage *st, struct arena *a, int64_t pool_id, struct held_part **rows,
                 size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_POOL_HELD);
    q_int(&q, pool_id);
    if (q_rows(&q, a, &held_part_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
