/* SPDX-License-Identifier: MIT
 *
 * Pools, the samples of their metrics, and runs: functions with more than one statement. Each
 * function runs in the transaction of its caller's turn, on the loop.
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

int st_run_next_turn(struct storage *st, enum resource_kind owner, int64_t owner_id, struct err *e)
{
    return st_run_hold_next(st, owner, owner_id, HOLD_TURN, hold_next(HOLD_TURN, HOLD_EV_TURN), e);
}
