/* SPDX-License-Identifier: MIT
 *
 * How many nodes the runs need that want parts of nodes: they are placed in turn, first into what
 * is left of nodes that hold runs anyway, then on nodes that hold nothing.
 */
#include <assert.h>

#include "scheduler/plan.h"
#include "scheduler/rooms.h"

static size_t nodes_of(const struct plan_run *r)
{
    return r->nodes > 0 ? (size_t)r->nodes : 1;
}

/* Places one run. False: there are too few nodes for it. */
static bool place(struct rooms *rooms, const struct plan_run *r, uint32_t *chosen)
{
    const struct room_size need = room_size_of(&r->need);
    size_t n = 0;
    for (size_t i = rooms_next(rooms, 0, &need); i < rooms->n && n < nodes_of(r);
         i = rooms_next(rooms, i + 1, &need))
        chosen[n++] = (uint32_t)i;
    if (n < nodes_of(r))
        return false;
    for (size_t k = 0; k < n; k++) {
        struct room_size left = rooms->level[0][chosen[k]];
        room_add(&left, &need, -1);
        rooms_set(rooms, chosen[k], &left);
    }
    return true;
}

int plan_parts_demand(struct arena *a, const struct plan_node *nodes, size_t n_nodes,
                      const struct plan_parts *in)
{
    const struct room_size fresh = room_size_of(&in->node);
    struct rooms rooms;
    size_t held = 0, used = 0, most = in->most > 0 ? (size_t)in->most : 0;
    rooms_init(&rooms, a, n_nodes + most);
    uint32_t *chosen = arena_alloc(a, (n_nodes + most + 1) * sizeof *chosen);
    for (size_t i = 0; i < n_nodes; i++)
        if (nodes[i].live > 0 && plan_may_serve(&nodes[i]))
            rooms.level[0][held++] = room_size_of(&nodes[i].left);
    for (size_t i = 0; i < most; i++)
        rooms.level[0][held + i] = fresh;
    rooms_build(&rooms);
    for (size_t i = 0; i < in->n_runs; i++) {
        const struct room_size need = room_size_of(&in->runs[i].need);
        assert(in->runs[i].part);
        if (room_fits(&fresh, &need) && !place(&rooms, &in->runs[i], chosen))
            return in->most;
    }
    for (size_t i = 0; i < most; i++)
        used += rooms.level[0][held + i].v[ROOM_SLOTS] < fresh.v[ROOM_SLOTS];
    return (int)used;
}
