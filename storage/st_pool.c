/* SPDX-License-Identifier: MIT
 *
 * Pools, the samples of their metrics, runs, and pools of Azure Batch: functions with more than one
 * statement. Each function runs in the transaction of its caller's turn, on the loop.
 */
#include "model/states.h"
#include "storage/batch_samples.h"
#include "storage/overview.h"
#include "storage/storage_priv.h"

/* --- pools ----------------------------------------------------------------------------------- */

int st_pool_move(struct storage *st, const struct st_pool_move *m, struct err *e)
{
    const struct event ev = {.at_us = m->now_us,
                             .kind = m->kind,
                             .resource_id = m->id,
                             .from = (int)m->from,
                             .to = (int)m->to,
                             .reason = m->reason};
    return st_pool_move_row(st, m, e) < 0 ? -1 : st_event_add(st, &ev, e);
}

/* --- samples --------------------------------------------------------------------------------- */

int st_batch_sample_add(struct storage *st, int64_t pool_id, const struct batch_sample *s,
                        int64_t forget_us, struct err *e)
{
    return st_batch_sample_put(st, pool_id, s, e) < 0
               ? -1
               : st_batch_sample_forget(st, pool_id, forget_us, e);
}

/* --- runs ------------------------------------------------------------------------------------ */

int st_run_insert(struct storage *st, const struct run *r, int64_t *id, struct err *e)
{
    struct run row = *r;
    if (row.held == 0)
        row.held = HOLD_NOT;
    if (row.runs == 0)
        row.runs = 1;
    return st_run_insert_row(st, &row, id, e);
}

int st_run_next_turn(struct storage *st, const struct run *r, struct err *e)
{
    return st_run_hold_next(st, r->owner_kind, r->owner_id, r->idx, HOLD_TURN,
                            hold_next(HOLD_TURN, HOLD_EV_TURN), e);
}

/* --- pools of Azure Batch -------------------------------------------------------------------- */

struct new_pool {
    const struct batch_pool *p;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct new_pool *new = ctx;
    struct batch_pool p = *new->p;
    const struct pool core = {
        .kind = RES_BATCH_POOL,
        .vm_size = p.vm_size,
        .vm_priority = VM_DEDICATED,
        .scale = {SCALE_MANUAL, p.size.dedicated, .dealloc = p.dealloc, .low = p.size.low},
        .alloc_state = ALLOC_RESIZING,
        .alloc_us = p.created_us,
        .is_new = true,
        .slots = p.slots,
        .spread = p.spread};
    if (st_pool_insert(st, &core, &p.id, e) < 0)
        return -1;
    if (st_batch_pool_insert_row(st, &p, new->secrets, new->id, e) < 0)
        return -1;
    const struct event ev = {.at_us = p.created_us,
                             .kind = RES_BATCH_POOL,
                             .resource_id = p.id,
                             .to = (int)core.alloc_state};
    return st_event_add(st, &ev, e);
}

int st_batch_pool_insert(struct storage *st, const struct batch_pool *p, const char *secrets,
                         int64_t *id, struct err *e)
{
    struct new_pool new = {p, secrets, id};
    return st_tx(st, "insert pool", insert_both, &new, e);
}

int st_batch_pool_set_doc(struct storage *st, const struct batch_pool *p, const char *secrets,
                          struct err *e)
{
    int managers;
    if (st_batch_pool_write_doc(st, p, secrets, e) < 0 || st_pool_set_shape(st, p, e) < 0)
        return -1;
    return st_batch_runs_alone(st, p->id, p->slots, &managers, e);
}

int st_batch_pool_mark(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    if (st_batch_pool_delete(st, id, now_us, e) < 0)
        return -1;
    return q_changed(st) == 1
               ? 0
               : err_set(e, ERR_CONFLICT, NULL, "the pool %lld is being deleted", (long long)id);
}

static int remove_both(struct storage *st, void *ctx, struct err *e)
{
    int64_t id = *(const int64_t *)ctx;
    if (st_removes(st, RES_BATCH_POOL, id, e) < 0 || st_end_roles_of_batch_pool(st, id, e) < 0 ||
        st_batch_pool_remove_row(st, id, e) < 0 || st_pool_remove(st, id, e) < 0)
        return -1;
    return st_event_forget(st, RES_BATCH_POOL, id, e);
}

int st_batch_pool_remove(struct storage *st, int64_t id, struct err *e)
{
    return st_tx(st, "remove pool", remove_both, &id, e);
}
