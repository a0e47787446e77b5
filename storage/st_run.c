/* SPDX-License-Identifier: MIT
 *
 * Runs.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include "model/states.h"

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
