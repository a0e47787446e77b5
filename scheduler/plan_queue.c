/* SPDX-License-Identifier: MIT
 *
 * Decides which runs start: plan_queue_ask() of plan.h. The free capacity of nodes is in two trees,
 * one of all nodes and one of nodes without runs, in the order of ordinals. The search for a run
 * uses one tree, so its cost hardly depends on the number of nodes. reservations.c handles the
 * reservations of waiting runs.
 */
#include <assert.h>
#include <stdlib.h>

#include "scheduler/reservations.h"

struct plan_queue {
    struct arena *a;
    struct plan_queue_input in;
    const struct plan_node **order; /* all nodes, by ordinal; the arrays below use their index */
    size_t *at;                     /* index in `order` of each of the caller's nodes */
    struct rooms all, whole;        /* free capacity; whole: of nodes without any part taken */
    size_t spare; /* nodes that may become available in addition to the usable ones */
    uint32_t *chosen;
    struct ahead_held *started; /* runs that were started before `ahead` was made */
    size_t n_started, started_cap;
    const struct plan_held *held;
    size_t n_held;
    bool has_held;
    struct ahead *ahead; /* the reservations; NULL: there are none yet */
    size_t n_waiting;
    int64_t first_waiting; /* id of the first waiting run */
    bool unplaced;         /* the last waiting run (`last`) has no reservation yet */
    struct plan_run last;
    int64_t not_before; /* without backfill: no run starts before the runs ahead of it */
};

bool plan_may_serve(const struct plan_node *n)
{
    return n->state == NODE_IDLE && n->left.slots > 0 && !n->out_of_service;
}

/* --- the free capacity ------------------------------------------------------------------------ */

static int by_ordinal(const void *pa, const void *pb)
{
    const struct plan_node *a = *(const struct plan_node *const *)pa;
    const struct plan_node *b = *(const struct plan_node *const *)pb;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static void order_nodes(struct plan_queue *q)
{
    size_t n = q->in.n_nodes;
    bool ordered = true;
    for (size_t i = 0; i < n; i++) {
        q->order[i] = &q->in.nodes[i];
        ordered = ordered && (i == 0 || q->order[i - 1]->ordinal <= q->order[i]->ordinal);
    }
    if (!ordered)
        qsort(q->order, n, sizeof(const struct plan_node *), by_ordinal);
    for (size_t i = 0; i < n; i++)
        q->at[q->order[i] - q->in.nodes] = i;
}

struct plan_queue *plan_queue_new(struct arena *a, const struct plan_queue_input *in)
{
    struct plan_queue *q = arena_alloc(a, sizeof *q);
    size_t n = in->n_nodes, usable = 0;
    q->a = a;
    q->in = *in;
    q->order = arena_alloc(a, (n + 1) * sizeof *q->order);
    q->at = arena_alloc(a, (n + 1) * sizeof *q->at);
    q->chosen = arena_alloc(a, (n + 1) * sizeof *q->chosen);
    order_nodes(q);
    rooms_init(&q->all, a, n);
    rooms_init(&q->whole, a, n);
    for (size_t i = 0; i < n; i++) {
        const struct plan_node *node = q->order[i];
        usable +=
            !node->out_of_service && (node->state == NODE_IDLE || node->state == NODE_PREPARING);
        if (!plan_may_serve(node))
            continue;
        q->all.level[0][i] = room_size_of(&node->left);
        if (node->live == 0)
            q->whole.level[0][i] = q->all.level[0][i];
    }
    rooms_build(&q->all);
    rooms_build(&q->whole);
    q->spare = in->largest > 0 && (size_t)in->largest > usable ? (size_t)in->largest - usable : 0;
    return q;
}

static bool any_room(const struct plan_queue *q)
{
    return q->all.level[q->all.top][0].v[ROOM_SLOTS] > 0;
}

bool plan_queue_goes_on(const struct plan_queue *q)
{
    if (q->n_waiting == 0)
        return q->in.foresee || any_room(q);
    if (q->in.foresee)
        return q->n_waiting < q->in.depth;
    return q->in.backfill && q->n_waiting < q->in.depth && any_room(q);
}

bool plan_queue_wants_held(const struct plan_queue *q)
{
    return q->unplaced && !q->has_held;
}

void plan_queue_hold(struct plan_queue *q, const struct plan_held *held, size_t n)
{
    assert(!q->ahead);
    q->held = held;
    q->n_held = n;
    q->has_held = true;
}

/* --- those that wait ---------------------------------------------------------------------------
 */

static struct ahead_want want_of(const struct plan_run *r)
{
    static const struct room_size a_slot = {{1, 0, 0, 0}};
    return (struct ahead_want){.part = r->part,
                               .need = r->part ? room_size_of(&r->need) : a_slot,
                               .for_us = r->for_us > 0 ? r->for_us : AHEAD_NEVER};
}

static size_t nodes_of(const struct plan_run *r)
{
    return r->nodes > 0 ? (size_t)r->nodes : 1;
}

/* Makes the reservation of the last waiting run. False: the run will never have its nodes. */
static bool place(struct plan_queue *q, struct ahead_place *out)
{
    const struct ahead_want w = want_of(&q->last);
    q->unplaced = false;
    if (!q->ahead) {
        assert(q->has_held);
        const struct ahead_input in = {.nodes = q->order,
                                       .n_nodes = q->in.n_nodes,
                                       .now_us = q->in.now_us,
                                       .held = q->held,
                                       .n_held = q->n_held,
                                       .at = q->at,
                                       .started = q->started,
                                       .n_started = q->n_started};
        q->ahead = ahead_new(q->a, &in);
    }
    if (!ahead_find(q->ahead, &w, nodes_of(&q->last), q->spare, q->not_before, out))
        return false;
    ahead_keep(q->ahead, &w, out, q->last.id);
    if (!q->in.backfill)
        q->not_before = out->at_us;
    return true;
}

/* Whether, if nothing else ran, enough nodes would have, or may have, the capacity that the run
 * requests. */
static bool ever_fits(const struct plan_queue *q, const struct plan_run *r)
{
    const struct room_size need = room_size_of(&r->need);
    size_t n = q->spare;
    if (!r->part)
        return true;
    for (size_t i = 0; i < q->in.n_nodes && n < nodes_of(r); i++) {
        const struct plan_node *node = q->order[i];
        const struct room_size has = room_size_of(&node->has);
        n += !node->out_of_service && (node->state == NODE_PREPARING ||
                                       (node->state == NODE_IDLE && room_fits(&has, &need)));
    }
    return n >= nodes_of(r);
}

static void wait(struct plan_queue *q, const struct plan_run *r, struct plan_verdict *v)
{
    struct ahead_place p;
    if (!ever_fits(q, r)) {
        v->turn = PLAN_TOO_MUCH;
        return;
    }
    v->turn = PLAN_WAITS;
    q->first_waiting = q->n_waiting++ == 0 ? r->id : q->first_waiting;
    q->last = *r;
    q->unplaced = true;
    if (!q->in.foresee || !place(q, &p))
        return;
    v->lacking = (int)p.lacking;
    v->coming = (int)p.coming;
    v->start_us = p.lacking > 0 || p.coming > 0 || p.at_us == AHEAD_NEVER ? 0 : p.at_us;
}

/* --- those that start ------------------------------------------------------------------------- */

/* Inserts node i into the list of the emptiest nodes with room, after the first `from` entries. The
 * emptiest node comes first; of equally empty nodes, the one with the lower index. */
static size_t insert_emptiest(struct plan_queue *q, size_t from, size_t i, size_t found,
                              size_t want)
{
    const struct room_size *left = q->all.level[0];
    uint32_t *chosen = q->chosen + from;
    if (want == 0)
        return 0;
    size_t at = found < want ? found : want - 1;
    if (found == want && left[chosen[at]].v[ROOM_SLOTS] >= left[i].v[ROOM_SLOTS])
        return found;
    for (; at > 0 && left[chosen[at - 1]].v[ROOM_SLOTS] < left[i].v[ROOM_SLOTS]; at--)
        chosen[at] = chosen[at - 1];
    chosen[at] = (uint32_t)i;
    return found < want ? found + 1 : found;
}

static bool is_barred(const struct plan_run *r, int64_t node_id)
{
    size_t low = 0, high = r->n_barred;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->barred[mid] == node_id)
            return true;
        if (r->barred[mid] < node_id)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* Chooses the node that the run prefers. 1: the run may have it; 0: it may not, or has no
 * preference. */
static size_t choose_near(struct plan_queue *q, const struct plan_run *r,
                          const struct ahead_want *w)
{
    int64_t by;
    size_t i = 0;
    if (r->near == 0 || !r->part || is_barred(r, r->near))
        return 0;
    while (i < q->in.n_nodes && q->order[i]->id != r->near)
        i++;
    if (i == q->in.n_nodes || !room_fits(&q->all.level[0][i], &w->need) ||
        (q->ahead && !ahead_allows(q->ahead, w, i, &by)))
        return 0;
    q->chosen[0] = (uint32_t)i;
    return 1;
}

/* Fills q->chosen with the nodes that are available for the run now. */
static size_t choose(struct plan_queue *q, const struct plan_run *r, const struct ahead_want *w,
                     struct plan_verdict *v)
{
    const struct rooms *rooms = r->part ? &q->all : &q->whole;
    size_t want = nodes_of(r), near = choose_near(q, r, w), found = near;
    bool spread = q->in.spread && r->part;
    for (size_t i = rooms_next(rooms, 0, &w->need); i < rooms->n && (spread || found < want);
         i = rooms_next(rooms, i + 1, &w->need)) {
        int64_t by = 0;
        if (is_barred(r, q->order[i]->id) || (near == 1 && q->chosen[0] == i))
            continue;
        v->room++;
        bool may = !q->ahead || ahead_allows(q->ahead, w, i, &by);
        if (may && spread)
            found = near + insert_emptiest(q, near, i, found - near, want - near);
        else if (may)
            q->chosen[found++] = (uint32_t)i;
        else if (v->behind == 0)
            v->behind = by;
    }
    return found;
}

static void note_started(struct plan_queue *q, size_t node, const struct ahead_want *w)
{
    if (q->ahead) {
        ahead_hold(q->ahead, w, node);
        return;
    }
    if (q->n_started == q->started_cap) {
        struct ahead_held *old = q->started;
        q->started_cap = q->started_cap ? 2 * q->started_cap : 64;
        q->started = arena_alloc(q->a, q->started_cap * sizeof *q->started);
        for (size_t i = 0; i < q->n_started; i++)
            q->started[i] = old[i];
    }
    q->started[q->n_started++] = (struct ahead_held){node, *w};
}

static void take(struct plan_queue *q, size_t i, const struct plan_run *r,
                 const struct ahead_want *w)
{
    static const struct room_size nothing = {{0}};
    struct room_size left = q->all.level[0][i];
    room_add(&left, &w->need, -1);
    rooms_set(&q->all, i, r->part ? &left : &nothing);
    if (q->whole.level[0][i].v[ROOM_SLOTS] > 0)
        rooms_set(&q->whole, i, &nothing);
    note_started(q, i, w);
}

static void start(struct plan_queue *q, const struct plan_run *r, const struct ahead_want *w,
                  struct plan_verdict *v)
{
    size_t n = nodes_of(r);
    v->turn = PLAN_STARTS;
    v->nodes = arena_alloc(q->a, n * sizeof *v->nodes);
    for (size_t i = 0; i < n; i++) {
        v->nodes[i] = q->order[q->chosen[i]];
        take(q, q->chosen[i], r, w);
    }
}

struct plan_verdict plan_queue_ask(struct plan_queue *q, const struct plan_run *r)
{
    const struct ahead_want w = want_of(r);
    struct plan_verdict v = {.turn = PLAN_NOT_SEEN};
    struct ahead_place p;
    if (r->nodes > q->in.largest) {
        v.turn = PLAN_TOO_MANY;
        return v;
    }
    if (!plan_queue_goes_on(q))
        return v;
    if (q->unplaced)
        (void)place(q, &p);
    bool fits = choose(q, r, &w, &v) == nodes_of(r);
    if (!q->in.backfill && q->n_waiting > 0)
        v.behind = q->first_waiting;
    if (fits && (q->in.backfill || q->n_waiting == 0))
        start(q, r, &w, &v);
    else if (!fits && r->n_barred > 0)
        v.turn = PLAN_BARRED;
    else
        wait(q, r, &v);
    return v;
}
