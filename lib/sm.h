/* SPDX-License-Identifier: MIT
 *
 * State machines as tables: edge[state][event] contains whether the event is legal in the state,
 * and the next state. The table is also the documentation; only sm_step() reads it.
 */
#ifndef LIB_SM_H
#define LIB_SM_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct sm_edge {
    uint8_t legal; /* 0: the event is illegal in this state */
    uint8_t next;
};

struct sm {
    const char *name;
    int states, events;
    const char *const *state_names, *const *event_names;
    const struct sm_edge *edges; /* [states][events], row-major */
};

/* The edge, or NULL if the event is illegal in that state. Static storage. */
static inline const struct sm_edge *sm_step(const struct sm *m, int state, int event)
{
    assert(state >= 0 && state < m->states && event >= 0 && event < m->events);
    const struct sm_edge *e = &m->edges[state * m->events + event];
    return e->legal ? e : NULL;
}

#endif
