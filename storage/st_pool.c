/* SPDX-License-Identifier: MIT
 *
 * Pools.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

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
