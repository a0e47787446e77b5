/* SPDX-License-Identifier: MIT
 *
 * How the fleet tells what has changed: calls the callbacks of its users (struct fleet_events), and
 * numbers the changes of its machines and local nodes for clients who poll. The number of changes
 * grows with each change, and each machine or node has the number of its last change. So nothing
 * has to be kept for a client.
 */
#include "scheduler/fleet/node/node_priv.h"

void fleet_pool_changed(struct fleet *fl, int64_t pool_id)
{
    fl->cfg.events->pool_changed(fl->cfg.events_ctx, pool_id);
}

void fleet_capacity_freed(struct fleet *fl, bool rolled_back)
{
    fl->cfg.events->capacity_freed(fl->cfg.events_ctx, rolled_back);
}

void fleet_row_gone(struct fleet *fl)
{
    fl->cfg.events->deletion_goes_on(fl->cfg.events_ctx);
}

/* --- for clients who poll --------------------------------------------------------------------- */

void machine_changed(struct fleet *fl, struct machine *m)
{
    m->changed = ++fl->changes;
}

void machines_all_changed(struct fleet *fl)
{
    fl->all_changed = ++fl->changes;
}

void node_shown_changed(struct node_rt *rt)
{
    if (rt->machine)
        machine_changed(rt->fleet, rt->machine);
    else
        rt->changed = ++rt->fleet->changes;
}

uint64_t fleet_changes(const struct fleet *fl)
{
    return fl->changes;
}

size_t fleet_changed_since(const struct fleet *fl, uint64_t since, const char **names, size_t max)
{
    size_t n = 0;
    if (fl->all_changed > since)
        return SIZE_MAX;
    for (size_t i = 0; i < fl->n_machines; i++)
        if (fl->machines[i]->changed > since && n++ < max)
            names[n - 1] = fl->machines[i]->name;
    for (size_t i = 0; i < fl->nodes.n; i++) {
        const struct node_rt *rt = fl->nodes.e[i].p;
        if (!rt->machine && rt->changed > since && n++ < max)
            names[n - 1] = rt->name;
    }
    return n;
}
