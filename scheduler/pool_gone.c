/* SPDX-License-Identifier: MIT
 *
 * What is remembered of pools between passes, and what becomes of it when one is gone.
 */
#include "scheduler/sched_priv.h"
#include "scheduler/unplaceable.h"

void wake_short_pools(struct sched *s)
{
    for (size_t i = 0; i < s->short_pools.n; i++)
        wake(s->wakes, &woken_pool, s->short_pools.e[i].id);
}

void sched_pool_gone(struct sched *s, int64_t pool_id)
{
    wake_at(s->wakes, &woken_pool, pool_id, 0);
    oversized_forget(s, pool_id);
    bool wanted = machines_want(s->fleet, pool_id, NULL);
    id_map_remove(&s->resting, pool_id);
    id_map_remove(&s->retrying, pool_id);
    id_map_remove(&s->short_pools, pool_id);
    if (wanted)
        wake_short_pools(s);
}
