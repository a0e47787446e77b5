/* SPDX-License-Identifier: MIT
 *
 * Machines of a dedicated cluster that a low-priority one has are taken back. Steps alone make both
 * want them for long enough in one of thousands of histories.
 */
#include "storage/storage.h"
#include "test/sim/sim_steps.h"

static struct thing *machine_cluster(struct sim *m, enum vm_priority priority)
{
    struct cluster c;
    struct err e = {0};
    for (int i = 0; i < m->n_things; i++) {
        struct thing *t = m->things[i];
        if (sim_there(t, THING_CLUSTER) && t->on_machines &&
            st_cluster_by_id(m->life->st, &m->a, t->id, &c, &e) == 1 && c.vm_priority == priority)
            return t;
    }
    return NULL;
}

void sim_lend(struct sim *m)
{
    struct thing *low = machine_cluster(m, VM_LOWPRIORITY);
    struct thing *own = machine_cluster(m, VM_DEDICATED);
    struct scale s = {.kind = SCALE_MANUAL, .target = 1, .dealloc = DEALLOC_REQUEUE};
    if (!low || !own)
        return;
    sim_scale(m, own, s);
    s.target = MACHINES;
    sim_scale(m, low, s);
    sim_pass(m, 120 * SECOND);
    s.target = JOB_NODES;
    if (!sim_failed(m))
        sim_scale(m, own, s);
    for (int i = 0; i < 10 && !sim_failed(m); i++) {
        sim_pass(m, 20 * SECOND);
        sim_check(m);
    }
}
