/* SPDX-License-Identifier: MIT
 *
 * How many nodes the queue of a pool requests from automatic scaling.
 */
#include "model/capacity.h"
#include "scheduler/pass.h"
#include "storage/overview.h"

/* The most runs with parts of nodes that are placed exactly; each further run counts as if it
 * requested whole nodes, which the maximum of the pool bounds. */
#define PLACED_MAX 2000

/* The capacity of the pool's largest possible node. False: not known. */
static bool usual_node(struct pass *p, struct capacity *out)
{
    static const struct capacity everything = {CAPACITY_MAX, CAPACITY_MAX, CAPACITY_MAX,
                                               CAPACITY_MEMORY_MAX};
    (void)fleet_part_fits(p->s->fleet, p->pool.vm_size, p->pool.vm_priority, &everything, out);
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].state == NODE_IDLE)
            capacity_raise(out, &p->nodes[i].has);
    return out->slots > 0;
}

int pass_demand(struct pass *p, const struct plan_node *nodes, int64_t *demand, struct err *e)
{
    struct storage *st = p->s->st;
    int largest = plan_largest(&p->pool.scale);
    int64_t parts;
    struct run *rows;
    size_t n;
    struct plan_parts in = {.most = largest};
    if (st_run_queue_demand(st, p->pool.id, largest, demand, e) != 0 ||
        st_run_parts_demand(st, p->pool.id, largest, &parts, e) != 0)
        return -1;
    if (parts == 0)
        return 0;
    if (st_run_parts(st, p->a, p->pool.id, largest, PLACED_MAX, &rows, &n, e) != 0)
        return -1;
    struct plan_run *runs = arena_alloc(p->a, (n + 1) * sizeof *runs);
    *demand -= parts;
    if (!usual_node(p, &in.node)) { /* the pool's first node will show its capacity */
        *demand += n > 0 ? rows[0].nodes : 0;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        runs[i] = pass_plan_run(&rows[i]);
        parts -= rows[i].nodes;
    }
    in.runs = runs;
    in.n_runs = n;
    *demand += plan_parts_demand(p->a, nodes, p->n_nodes, &in) + parts;
    return 0;
}
