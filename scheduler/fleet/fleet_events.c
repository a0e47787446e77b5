/* SPDX-License-Identifier: MIT
 *
 * Calls the callbacks of the fleet's users (struct fleet_events).
 */
#include "scheduler/fleet/fleet_priv.h"

struct files *fleet_files(const struct fleet *fl)
{
    return fl->cfg.files;
}

struct transfers *fleet_transfers(const struct fleet *fl)
{
    return fl->cfg.transfers;
}

const struct site *fleet_site(const struct fleet *fl)
{
    return fl->cfg.site;
}

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
