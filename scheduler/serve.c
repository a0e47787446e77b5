/* SPDX-License-Identifier: MIT
 *
 * The queue of a pool: gives idle nodes to the runs that the plan chooses, and fails runs that can
 * never start. Rows are read only while nodes are free, and no more rows than the plan needs.
 */
#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "model/capacity.h"
#include "model/states.h"
#include "scheduler/pass.h"
#include "storage/overview.h"
#include "storage/storage.h"

/* Waiting runs that one pass checks without backfill; also bounds how many it fails or starts at
 * once. The pool is woken again when there is more to do. */
#define QUEUE_MAX 64
/* Waiting runs that one pass checks with backfill; at most PLAN_DEPTH runs get reservations. */
#define QUEUE_LOOK 128
/* The most waiting runs that one pass checks, including runs that stand aside (plan.h). */
#define QUEUE_LOOK_MOST 1024

/* The most ids of checked runs to remember: if there are more, all runs are checked again. */
#define JUDGED_MAX 4096

int pass_fail_queue(struct pass *p, struct err *e)
{
    const struct front *front = p->front;
    /* If the front removes runs, most runs need not fail: the pool is woken after their removal. */
    if (front->ops->removes_runs && front->ops->removes_runs(front))
        return 0;
    struct run *runs;
    size_t n;
    if (st_run_waiting(p->s->st, p->a, p->pool.id, QUEUE_MAX, &runs, &n, e) != 0)
        return -1;
    const struct failure f = {
        .code = FAIL_POOL_DELETED,
        .message =
            front_say(front->words, p->a, "{Pool} %s was deleted before the {run} ran", p->name),
        .exit_code = -1};
    for (size_t i = 0; i < n; i++)
        if (runs_fail_queued(p->s->runs, &runs[i], &f, e) != 0)
            return -1;
    if (n > 0 && front->ops->may_remove)
        front->ops->may_remove(p->front);
    return 0;
}

/* --- giving nodes ------------------------------------------------------------------------------
 */

/* Picks the free GPUs with the lowest numbers. In the arena. */
static int pick_devices(struct pass *p, const struct node *nd, int want, const char **out,
                        struct err *e)
{
    struct allocation *live;
    size_t n;
    bool *taken = arena_alloc(p->a, (size_t)nd->has.gpus + 1);
    *out = "";
    if (st_allocation_of_node(p->s->st, p->a, nd->id, &live, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (const char *at = live[i].devices; at && *at;) {
            char *end;
            long k = strtol(at, &end, 10);
            if (k >= 0 && k < nd->has.gpus)
                taken[k] = true;
            at = *end == ',' ? end + 1 : "";
        }
    for (int k = 0; k < nd->has.gpus && want > 0; k++) {
        if (taken[k])
            continue;
        *out = arena_printf(p->a, "%s%s%d", *out, **out ? "," : "", k);
        want--;
    }
    assert(want == 0); /* the plan gives no more GPUs than are left */
    return 0;
}

/* The need of a run on each node: at least one slot. */
static struct capacity need_of(const struct run *r)
{
    struct capacity need = r->need;
    need.slots = need.slots > 0 ? need.slots : 1;
    return need;
}

static int assign(struct pass *p, const struct run *r, const struct plan_node *const *nodes,
                  struct err *e)
{
    struct run_part *parts = arena_alloc(p->a, (size_t)r->nodes * sizeof *parts);
    for (int i = 0; i < r->nodes; i++) {
        const struct node *nd = pass_row_of(p, nodes[i]);
        parts[i] = (struct run_part){.node_id = nd->id,
                                     .node_name = nd->name,
                                     .takes = r->need_whole ? nd->has : need_of(r)};
        if (r->need_whole)
            continue;
        /* in a pool that counts only slots, each run may use all GPUs */
        parts[i].devices = runs_all_devices(p->a, nd);
        if (p->pool.slots == 0 && pick_devices(p, nd, r->need.gpus, &parts[i].devices, e) != 0)
            return -1;
    }
    return runs_allocate(p->s->runs, r, parts, e);
}

/* --- the input of the plan -------------------------------------------------------------------- */

struct plan_run pass_plan_run(const struct run *r)
{
    return (struct plan_run){.id = r->id,
                             .priority = r->priority,
                             .nodes = r->nodes,
                             .part = !r->need_whole,
                             .need = need_of(r),
                             .for_us = r->max_wall_us > 0 ? r->max_wall_us + SCHED_ENDING_US : 0,
                             .near = r->near_id};
}

static int by_id(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

/* Bars the low-priority nodes to a run, too. */
static void bar_low(struct pass *p, struct plan_run *out)
{
    int64_t *ids = arena_alloc(p->a, (p->n_nodes + out->n_barred + 1) * sizeof *ids);
    size_t n = 0;
    for (size_t i = 0; i < out->n_barred; i++)
        ids[n++] = out->barred[i];
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].vm_priority == VM_LOWPRIORITY)
            ids[n++] = p->nodes[i].id;
    if (n > 1)
        qsort(ids, n, sizeof *ids, by_id);
    out->barred = ids;
    out->n_barred = n;
}

/* Finds the nodes that are barred to the run's group. They are kept for the next run, because runs
 * of one group are mostly adjacent in the queue. */
int pass_find_barred(struct pass *p, const struct run *r, struct plan_run *out, struct err *e)
{
    if (r->group_id != 0 && p->barred.group_id != r->group_id &&
        st_node_barred(p->s->st, p->a, r->group_id, &p->barred.ids, &p->barred.n, e) < 0)
        return -1;
    if (r->group_id != 0) {
        p->barred.group_id = r->group_id;
        out->barred = p->barred.ids;
        out->n_barred = p->barred.n;
    }
    if (r->own_class)
        bar_low(p, out);
    return 0;
}

/* When a run's part of a node becomes free by its time limit. A run past its limit ends as soon as
 * its processes have been killed and its nodes cleaned. */
static int64_t end_of(const struct held_part *h, int64_t now_us)
{
    int64_t soon = now_us + SCHED_ENDING_US;
    int64_t since = h->start_us < now_us ? h->start_us : now_us; /* the clock was set back */
    if (h->state == RUN_RELEASING)
        return soon;
    if (h->max_wall_us <= 0)
        return INT64_MAX;
    int64_t end = since + h->max_wall_us + SCHED_ENDING_US;
    return end > soon ? end : soon;
}

static bool just_started(const struct pass *p, int64_t run_id)
{
    for (size_t i = 0; i < p->n_started; i++)
        if (p->started[i] == run_id)
            return true;
    return false;
}

int pass_load_held(struct pass *p, struct plan_held **out, size_t *n, struct err *e)
{
    struct held_part *rows;
    size_t n_rows, node = 0;
    if (st_pool_held(p->s->st, p->a, p->pool.id, &rows, &n_rows, e) != 0)
        return -1;
    *out = arena_alloc(p->a, (n_rows + 1) * sizeof **out);
    *n = 0;
    /* rows and nodes are both ordered by the nodes' ordinals */
    for (size_t i = 0; i < n_rows; i++) {
        while (node < p->n_nodes && p->nodes[node].id != rows[i].node_id)
            node++;
        assert(node < p->n_nodes);
        if (just_started(p, rows[i].run_id))
            continue;
        (*out)[(*n)++] =
            (struct plan_held){.node = node,
                               .end_us = end_of(&rows[i], p->now_us),
                               .takes = rows[i].whole ? p->nodes[node].has : rows[i].takes};
    }
    return 0;
}

bool pass_backfills(struct pass *p)
{
    const struct sched *s = p->s;
    const char *path = NULL;
    for (char *const *pattern = s->backfill; *pattern; pattern++) {
        bool by_path = strchr(*pattern, '/') != NULL;
        if (by_path && !p->front->ops->pool_path)
            continue;
        if (by_path && !path)
            path = p->front->ops->pool_path(p->front, s->st, p->a, p->pool.id);
        if (fnmatch(*pattern, by_path ? path : p->name, FNM_CASEFOLD) == 0)
            return true;
    }
    return false;
}

/* --- the queue ---------------------------------------------------------------------------------
 */

/* *refused: whether the run can never start; then it is failed. Each run's document is read only
 * once. */
static int judge(struct pass *p, const struct run *r, bool *refused, struct err *e)
{
    struct id_map *judged = &p->s->judged;
    struct failure why;
    *refused = !id_map_has(judged, r->id) && runs_refuse(p->s->runs, p->a, r, &why);
    if (*refused)
        return runs_fail_queued(p->s->runs, r, &why, e);
    if (judged->n >= JUDGED_MAX) {
        id_map_free(judged);
        *judged = (struct id_map){0};
    }
    id_map_put(judged, r->id, NULL);
    return 0;
}

struct serving {
    struct plan_queue *q;
    int largest;
    struct run *runs; /* the first waiting runs */
    size_t n, limit;  /* how many were read, and how many were requested */
    size_t next;
    size_t looked, waiting; /* runs of this pass: looked at, and found to wait */
    size_t aside;           /* those of `waiting` that delay no other run */
    int64_t first_wait_us;  /* how long a run waits at least for its first nodes (strict mode) */
};

/* *early: whether the minimum of the run's first wait has not passed yet; then the pool is woken at
 * its end. */
static int is_early(struct pass *p, const struct serving *v, const struct run *r, bool *early,
                    struct err *e)
{
    int64_t since_us;
    *early = false;
    if (r->attempt > 0 || v->first_wait_us == 0)
        return 0;
    int rc = st_run_queued_since(p->s->st, r->id, &since_us, e);
    if (rc <= 0)
        return rc;
    *early = wake_until_over(p->s->wakes, &woken_pool, p->pool.id, since_us, v->first_wait_us);
    return 0;
}

static int ask(struct pass *p, struct serving *v, const struct run *r, struct err *e)
{
    struct plan_held *held;
    size_t n;
    bool refused, early;
    v->looked++;
    if (is_early(p, v, r, &early, e) != 0 || (!early && judge(p, r, &refused, e) != 0))
        return -1;
    v->waiting += early;
    if (early || refused)
        return 0;
    if (plan_queue_wants_held(v->q)) {
        if (pass_load_held(p, &held, &n, e) != 0)
            return -1;
        plan_queue_hold(v->q, held, n);
    }
    struct plan_run wish = pass_plan_run(r);
    if (pass_find_barred(p, r, &wish, e) < 0)
        return -1;
    struct plan_verdict got = plan_queue_ask(v->q, &wish);
    v->waiting += got.turn != PLAN_STARTS;
    v->aside += got.turn == PLAN_BARRED || got.turn == PLAN_TOO_MUCH;
    if (got.turn != PLAN_STARTS)
        return 0;
    p->started[p->n_started++] = r->id;
    id_map_remove(&p->s->judged, r->id);
    return assign(p, r, got.nodes, e);
}

/* Reads more waiting runs. First come those that were read before and still wait: started and
 * failed runs have left the queue. */
static int read_more(struct pass *p, struct serving *v, struct err *e)
{
    if (v->runs && v->n < v->limit) /* the last read found no more */
        return 0;
    if (v->runs)
        v->limit = v->limit < QUEUE_LOOK ? QUEUE_LOOK : 2 * v->limit;
    if (st_run_queue(p->s->st, p->a, p->pool.id, v->largest, (int)v->limit, &v->runs, &v->n, e) !=
        0)
        return -1;
    v->next = v->waiting;
    return 0;
}

/* How many runs to read first: as many as can be started, and one that may have to wait. */
static size_t first_look(const struct plan_node *nodes, size_t n)
{
    size_t slots = 0;
    for (size_t i = 0; i < n; i++)
        slots += plan_may_serve(&nodes[i]) ? (size_t)nodes[i].left.slots : 0;
    return slots + 1 < QUEUE_MAX ? slots + 1 : QUEUE_MAX;
}

int pass_serve_queue(struct pass *p, struct err *e)
{
    const struct plan_node *nodes = pass_queue_nodes(p);
    const struct plan_queue_input in = {.nodes = nodes,
                                        .n_nodes = p->n_nodes,
                                        .largest = plan_largest(&p->pool.scale),
                                        .spread = p->pool.spread,
                                        .backfill = pass_backfills(p),
                                        .depth = PLAN_DEPTH,
                                        .now_us = p->now_us};
    struct serving v = {.q = plan_queue_new(p->a, &in),
                        .largest = in.largest,
                        .limit = first_look(nodes, p->n_nodes)};
    p->started = arena_alloc(p->a, QUEUE_MAX * sizeof *p->started);
    v.first_wait_us = front_takes_us(p->front, STEP_RUN_START, p->pool.id);
    while (plan_queue_goes_on(v.q) && p->n_started < QUEUE_MAX && v.looked - v.aside < QUEUE_LOOK &&
           v.looked < QUEUE_LOOK_MOST) {
        if (v.next == v.n && read_more(p, &v, e) != 0)
            return -1;
        if (v.next == v.n) {
            if (p->front->ops->has_room)
                p->front->ops->has_room(p->front, &p->pool);
            return 0;
        }
        if (ask(p, &v, &v.runs[v.next++], e) != 0)
            return -1;
    }
    if (v.looked >= QUEUE_LOOK_MOST && p->front->ops->has_room)
        p->front->ops->has_room(p->front, &p->pool);
    if (p->n_started > 0 && plan_queue_goes_on(v.q))
        wake(p->s->wakes, &woken_pool, p->pool.id);
    return 0;
}

/* ---- the demand for automatic scaling -------------------------------------------------------- */

/* The most runs with parts of nodes that are placed exactly, and the most nodes that these may
 * request together. Each further run is treated as if it requested whole nodes; the maximum of the
 * pool limits these. */
#define PLACED_MAX       2000
#define PLACED_NODES_MAX 20000

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
    if (!usual_node(p, &in.node)) { /* the first run is enough: its nodes will show the capacity */
        *demand += n > 0 ? rows[0].nodes : 0;
        return 0;
    }
    in.runs = runs;
    for (int64_t nodes_left = PLACED_NODES_MAX; in.n_runs < n; in.n_runs++) {
        const struct run *r = &rows[in.n_runs];
        nodes_left -= r->nodes;
        if (nodes_left < 0)
            break;
        runs[in.n_runs] = pass_plan_run(r);
        parts -= r->nodes;
    }
    *demand += plan_parts_demand(p->a, nodes, p->n_nodes, &in) + parts;
    return 0;
}

/* ---- runs whose dependencies were broken ----------------------------------------------------- */

/* How many runs one pass fails. The pool is woken again if there are more. */
#define FAILED_PER_PASS 64

static const char *reason(struct pass *p, const struct run *r, struct err *e)
{
    struct dependency *rows;
    const struct front_words *w = p->front->words;
    size_t n, i = 0;
    if (st_dependency_of(p->s->st, p->a, r->owner_kind, r->owner_id, &rows, &n, e) < 0)
        return NULL;
    while (i < n && rows[i].state != DEPENDENCY_BROKEN)
        i++;
    if (i == n)
        return front_text(w, p->a, "A dependency of this {run} did not end as required");
    return front_say(w, p->a, "{Run} %s had to end with %s, but it %s", rows[i].name,
                     enum_to_name(after_names, (int)rows[i].wanted), ended_text(rows[i].ended));
}

int pass_fail_broken(struct pass *p, struct err *e)
{
    struct run *runs;
    size_t n;
    if (st_run_broken(p->s->st, p->a, p->pool.id, FAILED_PER_PASS, &runs, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct failure f = {
            .code = FAIL_DEPENDENCY, .message = reason(p, &runs[i], e), .exit_code = -1};
        if (!f.message || runs_fail_queued(p->s->runs, &runs[i], &f, e) != 0)
            return -1;
    }
    if (n == FAILED_PER_PASS)
        p->unfinished = true;
    return 0;
}
