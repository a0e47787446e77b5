/* SPDX-License-Identifier: MIT
 *
 * Counts of the machines that no pool has, for metrics. Nodes are counted by their rows.
 */
#include "scheduler/fleet/node/node_priv.h"

static enum machine_rest rest_of(const struct machine *m)
{
    if (m->drained)
        return MACHINE_DRAINED;
    if (m->trouble)
        return MACHINE_UNREACHABLE;
    return m->contact_us == 0 ? MACHINE_UNKNOWN : MACHINE_FREE;
}

void fleet_count_unclaimed(const struct fleet *fl, struct machine_tally out[MACHINE_RESTS])
{
    for (size_t i = 0; i < MACHINE_RESTS; i++)
        out[i] = (struct machine_tally){0};
    for (size_t i = 0; i < fl->n_machines; i++) {
        const struct machine *m = fl->machines[i];
        if (m->node_id != 0)
            continue;
        out[rest_of(m)].machines++;
        out[rest_of(m)].gpus += m->has.gpus;
    }
}
