/* SPDX-License-Identifier: MIT
 *
 * Where the link to a node comes from: a machine, this one, or a node without processes.
 */
#include "scheduler/fleet/node/node_priv.h"
#include "storage/storage.h"

struct node_provider *node_provider_of(struct node_rt *rt)
{
    const struct fleet_config *cfg = &rt->fleet->cfg;
    struct arena a;
    struct pool p;
    struct err e;
    if (rt->machine)
        return cfg->machines;
    if (!cfg->scripted || rt->id < 0)
        return cfg->local;
    arena_init(&a);
    bool scripted = st_pool_by_id(rt->fleet->st, &a, rt->pool_id, &p, &e) > 0 &&
                    fleet_is_scripted(rt->fleet, p.vm_size);
    arena_free(&a);
    return scripted ? cfg->scripted : cfg->local;
}
