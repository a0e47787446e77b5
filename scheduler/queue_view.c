/* SPDX-License-Identifier: MIT
 *
 * A view of a pool: its nodes, its running runs, and its waiting runs with the verdict of the plan.
 * It uses struct pass like a pass over the pool, and writes nothing. All texts are in the caller's
 * arena.
 */
#include "scheduler/queue_view.h"

#include <stdlib.h>
#include <string.h>

#include "model/capacity.h"
#include "scheduler/pass.h"
#include "storage/overview.h"

/* --- nodes ---------------------------------------------------------------------------------- */

static const char *name_of(const struct pass *p, const struct node *nd)
{
    struct machine_use m;
    return machines_use(p->s->fleet, nd->machine_id, &m) ? arena_strdup(p->a, m.name) : nd->name;
}

/* Why no run starts on the node; NULL: runs may start. */
static const char *trouble(const struct pass *p, const struct node *nd)
{
    struct machine_use m;
    if (nd->state == NODE_LEAVING)
        return NULL;
    if (fleet_node_closed(p->s->fleet, nd->id))
        return "without room on the disk";
    if (machines_use(p->s->fleet, nd->machine_id, &m)) {
        if (!m.in_inventory)
            return "not in the inventory";
        if (m.drained)
            return "drained";
    }
    return nd->state == NODE_UNUSABLE ? "unusable" : NULL;
}

/* A text contains at most this many names of nodes with the same problem, and the number of the
 * others. */
#define NAMED_MAX 10

/* "gpu03, gpu07 and 5 others"; NULL: no node has this problem. */
static const char *names_with(const struct pass *p, const char *which)
{
    const char *names = NULL;
    int n = 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        const char *why = trouble(p, &p->nodes[i]);
        if (!why || strcmp(why, which) != 0 || ++n > NAMED_MAX)
            continue;
        const char *name = name_of(p, &p->nodes[i]);
        names = names ? arena_printf(p->a, "%s, %s", names, name) : name;
    }
    if (n <= NAMED_MAX)
        return names;
    n -= NAMED_MAX;
    return arena_printf(p->a, "%s and %d other%s", names, n, n == 1 ? "" : "s");
}

static void look_at_nodes(struct pass *p, struct queue_view *v)
{
    static const char *const troubles[] = {"drained", "unusable", "not in the inventory",
                                           "without room on the disk"};
    for (size_t k = 0; k < sizeof troubles / sizeof troubles[0]; k++) {
        const char *names = names_with(p, troubles[k]);
        if (names)
            v->no_use = arena_printf(p->a, "%s%s%s %s", v->no_use ? v->no_use : "",
                                     v->no_use ? "; " : "", names, troubles[k]);
    }
    for (size_t i = 0; i < p->n_nodes; i++)
        v->usable += p->nodes[i].state != NODE_LEAVING && !trouble(p, &p->nodes[i]);
}

/* --- running runs ----------------------------------------------------------------------------- */

static int by_run(const void *pa, const void *pb)
{
    const struct held_part *a = pa, *b = pb;
    return (a->run_id > b->run_id) - (a->run_id < b->run_id);
}

static int by_start(const void *pa, const void *pb)
{
    const struct queue_running *a = pa, *b = pb;
    if (a->start_us != b->start_us)
        return a->start_us < b->start_us ? -1 : 1;
    return (a->run_id > b->run_id) - (a->run_id < b->run_id);
}

static int by_id(const void *pa, const void *pb)
{
    const struct node *const *a = pa, *const *b = pb;
    return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

/* The nodes in the order of their ids. */
static const struct node **nodes_by_id(const struct pass *p)
{
    const struct node **all = arena_alloc(p->a, (p->n_nodes + 1) * sizeof *all);
    for (size_t i = 0; i < p->n_nodes; i++)
        all[i] = &p->nodes[i];
    if (p->n_nodes > 1)
        qsort(all, p->n_nodes, sizeof *all, by_id);
    return all;
}

static const char *node_name(const struct pass *p, const struct node *const *all, int64_t node_id)
{
    const struct node wanted = {.id = node_id}, *key = &wanted;
    const struct node *const *found = bsearch(&key, all, p->n_nodes, sizeof *all, by_id);
    return found ? name_of(p, *found) : "";
}

static int look_at_running(struct pass *p, struct queue_view *v, struct err *e)
{
    struct held_part *rows;
    size_t n;
    if (st_pool_held(p->s->st, p->a, p->pool.id, &rows, &n, e) != 0)
        return -1;
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_run);
    v->running = arena_alloc(p->a, (n + 1) * sizeof *v->running);
    const char **names = arena_alloc(p->a, (n + 1) * sizeof *names);
    const struct node **nodes = nodes_by_id(p);
    for (size_t i = 0; i < n; i++) {
        const struct held_part *h = &rows[i];
        names[i] = node_name(p, nodes, h->node_id);
        if (i == 0 || rows[i - 1].run_id != h->run_id)
            v->running[v->n_running++] = (struct queue_running){
                .run_id = h->run_id,
                .nodes = &names[i],
                .start_us = h->start_us,
                .limit_us = h->max_wall_us > 0 ? h->start_us + h->max_wall_us : 0,
                .releasing = h->state == RUN_RELEASING};
        v->running[v->n_running - 1].n_nodes++;
    }
    if (v->n_running > 1)
        qsort(v->running, v->n_running, sizeof *v->running, by_start);
    return 0;
}

/* --- waiting runs ----------------------------------------------------------------------------- */

/* Whether a node has the capacity that the run requests. If none has, the run stands aside, as in
 * plan.h. */
static bool some_node_fits(const struct pass *p, const struct run *r)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        if (capacity_fits(&p->nodes[i].has, &r->need))
            return true;
    return r->need_whole;
}

static int look_at_waiting(struct pass *p, struct queue_view *v, struct err *e)
{
    struct plan_held *held;
    struct run *runs;
    size_t n_held, n;
    if (pass_load_held(p, &held, &n_held, e) != 0 ||
        st_run_in_turn(p->s->st, p->a, p->pool.id, QUEUE_FORESEEN + 1, &runs, &n, e) != 0)
        return -1;
    v->more = n > QUEUE_FORESEEN;
    v->n_waiting = v->more ? QUEUE_FORESEEN : n;
    v->waiting = arena_alloc(p->a, (v->n_waiting + 1) * sizeof *v->waiting);
    const struct plan_queue_input in = {.nodes = pass_queue_nodes(p),
                                        .n_nodes = p->n_nodes,
                                        .largest = plan_largest(&p->pool.scale),
                                        .spread = p->pool.spread,
                                        .backfill = v->backfill,
                                        .foresee = true,
                                        .depth = QUEUE_FORESEEN,
                                        .now_us = p->now_us};
    struct plan_queue *q = plan_queue_new(p->a, &in);
    plan_queue_hold(q, held, n_held);
    for (size_t i = 0; i < v->n_waiting; i++) {
        struct queue_waiting *w = &v->waiting[i];
        struct plan_run wish = pass_plan_run(&runs[i]);
        w->run = runs[i];
        if (pass_find_barred(p, &runs[i], &wish, e) != 0)
            return -1;
        if (runs[i].nodes <= in.largest && !some_node_fits(p, &runs[i]))
            w->verdict.turn = PLAN_TOO_MUCH;
        else
            w->verdict = plan_queue_ask(q, &wish);
    }
    return 0;
}

int queue_view(struct sched *s, struct arena *a, int64_t pool_id, struct queue_view *out,
               struct err *e)
{
    struct pass p = {.s = s, .a = a, .now_us = wakes_wall(s->wakes)};
    *out = (struct queue_view){.name = ""};
    int rc = pass_load_pool(&p, pool_id, e);
    if (rc <= 0)
        return rc;
    out->pool = p.pool;
    out->name = p.name;
    out->backfill = pass_backfills(&p);
    if (pass_load_nodes(&p, e) != 0)
        return -1;
    look_at_nodes(&p, out);
    if (look_at_running(&p, out, e) != 0 || look_at_waiting(&p, out, e) != 0)
        return -1;
    return 1;
}
