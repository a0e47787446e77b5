/* SPDX-License-Identifier: MIT */
#include "lib/sm.h"

#include <assert.h>
#include <stddef.h>

const struct sm_edge *sm_step(const struct sm *m, int state, int event)
{
    assert(state >= 0 && state < m->states && event >= 0 && event < m->events);
    const struct sm_edge *e = &m->edges[state * m->events + event];
    return e->legal ? e : NULL;
}
