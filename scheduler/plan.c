/* SPDX-License-Identifier: MIT
 *
 * Computes how many nodes a pool gets or gives up, and how many nodes are needed by the runs that
 * use parts of nodes. plan_queue.c decides which runs get nodes.
 */
#include "scheduler/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/rooms.h"

static bool is_running(const struct plan_node *n)
{
    return n->state == NODE_IDLE && n->live > 0;
}

int plan_largest(const struct scale *scale)
{
    return (scale->kind == SCALE_AUTO ? scale->maximum : scale->target) + scale->low;
}

/* Whether a node stays because of data or runs that this option waits for. */
static bool is_awaited(const struct plan_node *n, enum dealloc_option how)
{
    switch (how) {
    case DEALLOC_WAIT_FOR_DATA:
        return is_running(n) || n->keeps;
    case DEALLOC_WAIT_FOR_COMPLETION:
        return is_running(n);
    case DEALLOC_REQUEUE:
    case DEALLOC_TERMINATE:
        return false;
    }
    return false;
}

/* The node with the lowest rank leaves first; within a rank the node with the highest ordinal. */
static int leave_rank(const struct plan_node *n)
{
    if (n->parting)
        return -1;
    switch (n->state) {
    case NODE_UNUSABLE:
        return 0;
    case NODE_PREPARING:
        return 2;
    case NODE_IDLE:
        return n->live > 0 ? 5 : n->out_of_service ? 1 : n->keeps ? 4 : 3;
    case NODE_LEAVING:
        return 6;
    }
    return 6;
}

static int by_leave_order(const void *pa, const void *pb)
{
    const struct plan_node *a = *(const struct plan_node *const *)pa;
    const struct plan_node *b = *(const struct plan_node *const *)pb;
    int ra = leave_rank(a), rb = leave_rank(b);
    if (ra != rb)
        return ra - rb;
    return (a->ordinal < b->ordinal) - (a->ordinal > b->ordinal);
}

static int clamp(int64_t v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : (int)v;
}

/* The target of automatic scaling: the nodes with runs plus the nodes that the queue requests.
 * While a run waits in the queue, nodes that cannot serve it do not count: the pool may have as
 * many nodes in addition. */
static int auto_target(const struct plan_scale_input *in)
{
    int64_t held = 0, useless = 0;
    for (size_t i = 0; i < in->n_nodes; i++) {
        const struct plan_node *n = &in->nodes[i];
        bool holds = n->live > 0 && n->state != NODE_LEAVING;
        held += holds;
        useless +=
            !holds && n->state != NODE_LEAVING && (n->out_of_service || n->state == NODE_UNUSABLE);
    }
    int64_t want = held + in->demand + (in->demand > 0 ? useless : 0);
    if (in->initial && want < in->scale.initial)
        want = in->scale.initial;
    return clamp(want, in->scale.minimum, in->scale.maximum);
}

static int wanted(const struct plan_scale_input *in)
{
    if (in->deleting)
        return 0;
    return in->scale.kind == SCALE_AUTO ? auto_target(in) : in->scale.target;
}

/* Whether this node may be asked to leave. `over`: the pool has more nodes than its maximum. */
static bool may_leave(const struct plan_scale_input *in, const struct plan_node *n, bool over)
{
    if (in->deleting)
        return true;
    if (n->parting)
        return !is_awaited(n, n->how);
    if (in->scale.kind == SCALE_MANUAL)
        return !is_awaited(n, in->scale.dealloc);
    switch (n->state) {
    case NODE_UNUSABLE: /* while runs wait, the node is not counted in the target; a resize would
                           try it again at once */
        return n->live == 0 && (over || in->demand == 0);
    case NODE_PREPARING:
        return over;
    case NODE_IDLE:
        return n->live == 0 && (over || in->now_us - n->idle_since_us >= in->idle_us);
    case NODE_LEAVING:
        return false;
    }
    return false;
}

static void choose_leaving(const struct plan_scale_input *in, const struct plan_node **staying,
                           size_t n_staying, int excess, struct plan_scale_result *out)
{
    int over = in->scale.kind == SCALE_AUTO ? (int)n_staying - in->scale.maximum : 0;
    for (size_t i = 0; i < n_staying && excess > 0; i++) {
        const struct plan_node *n = staying[i];
        if (may_leave(in, n, over > 0)) {
            out->leave[out->n_leave++] = n;
            excess--;
            over--;
        } else if (n->parting) {
            out->waiting++; /* no other node leaves instead of this node */
            excess--;
            over--;
        } else if (in->scale.kind == SCALE_AUTO && n->state == NODE_IDLE && n->live == 0) {
            int64_t at = n->idle_since_us + in->idle_us;
            if (out->look_again_us == 0 || at < out->look_again_us)
                out->look_again_us = at;
        }
    }
    out->waiting += in->scale.kind == SCALE_MANUAL || in->deleting ? excess : over > 0 ? over : 0;
}

/* For each good machine that the pool does not need otherwise, one replaceable node leaves, and a
 * new node is added. This ends, because each replacement uses up one good machine. */
static void replace(const struct plan_scale_input *in, const struct plan_node **staying,
                    size_t n_staying, struct plan_scale_result *out)
{
    for (size_t i = 0; i < n_staying && out->add < in->good_capacity; i++) {
        if (!staying[i]->replaceable)
            continue;
        out->leave[out->n_leave++] = staying[i];
        out->add++;
        out->replaced++;
    }
}

static enum plan_why why(const struct plan_scale_input *in, int have,
                         const struct plan_scale_result *r)
{
    if (r->replaced > 0 && r->add == r->replaced)
        return PLAN_REPLACED;
    if (in->deleting || in->scale.kind == SCALE_MANUAL)
        return PLAN_AS_ASKED;
    if (r->n_leave > 0)
        return have > in->scale.maximum ? PLAN_BOUNDS : PLAN_IDLE;
    bool few = have < in->scale.minimum || (in->initial && have < in->scale.initial);
    return few && in->demand == 0 ? PLAN_BOUNDS : PLAN_DEMAND;
}

void plan_scale(struct arena *a, const struct plan_scale_input *in, struct plan_scale_result *out)
{
    *out = (struct plan_scale_result){0};
    const struct plan_node **staying = arena_alloc(a, (in->n_nodes + 1) * sizeof *staying);
    size_t n_staying = 0;
    for (size_t i = 0; i < in->n_nodes; i++)
        if (in->nodes[i].state != NODE_LEAVING)
            staying[n_staying++] = &in->nodes[i];
    qsort(staying, n_staying, sizeof *staying, by_leave_order);
    out->leave = arena_alloc(a, (n_staying + 1) * sizeof *out->leave);

    int want = wanted(in), have = (int)n_staying;
    out->target = want;
    if (want > have) {
        int room = in->free_capacity > 0 ? in->free_capacity : 0;
        out->add = want - have < room ? want - have : room;
        out->missing = want - have - out->add;
    } else if (want < have) {
        choose_leaving(in, staying, n_staying, have - want, out);
        /* Automatic scaling keeps idle nodes for a while; until they leave, they count in the
         * target. */
        if (in->scale.kind == SCALE_AUTO && !in->deleting)
            out->target = have - (int)out->n_leave - out->waiting;
    }
    if (want >= have && !in->deleting)
        replace(in, staying, n_staying, out);
    out->why = why(in, have, out);
    assert(out->add >= 0 && out->missing >= 0 && out->waiting >= 0 && out->n_leave <= n_staying);
}

/* Marks the nodes above the target as leaving. Nodes without runs are marked first, because they
 * leave at once. */
void plan_empty(struct arena *a, const struct scale *scale, struct plan_node *nodes, size_t n)
{
    if (scale->kind != SCALE_MANUAL || scale->dealloc < DEALLOC_WAIT_FOR_COMPLETION)
        return;
    struct plan_node **staying = arena_alloc(a, (n + 1) * sizeof *staying);
    int excess[] = {[false] = -scale->target, [true] = -scale->low};
    size_t n_staying = 0;
    for (size_t i = 0; i < n; i++)
        if (nodes[i].state != NODE_LEAVING) {
            staying[n_staying++] = &nodes[i];
            excess[nodes[i].low]++;
        }
    qsort(staying, n_staying, sizeof *staying, by_leave_order);
    for (size_t i = 0; i < n_staying; i++)
        if (excess[staying[i]->low]-- > 0)
            staying[i]->state = NODE_LEAVING;
}

void plan_ordinals(struct arena *a, const struct plan_node *nodes, size_t n_nodes, int *out, int n)
{
    size_t most = n_nodes + (size_t)n; /* among this many ordinals, at least n are free */
    bool *taken = arena_alloc(a, most + 1);
    for (size_t i = 0; i < n_nodes; i++)
        if (nodes[i].ordinal > 0 && (size_t)nodes[i].ordinal <= most)
            taken[nodes[i].ordinal] = true;
    int ordinal = 1;
    for (int k = 0; k < n; ordinal++) {
        assert((size_t)ordinal <= most);
        if (!taken[ordinal])
            out[k++] = ordinal;
    }
}

/* --- parts of nodes ---
 *
 * Computes how many nodes are needed by the runs that use parts of nodes. The runs are placed one
 * by one, first in the free parts of nodes with runs, then on free nodes. */

static size_t nodes_of(const struct plan_run *r)
{
    return r->nodes > 0 ? (size_t)r->nodes : 1;
}

/* The most free nodes that the runs can take. */
static size_t most_fresh(const struct plan_parts *in)
{
    int64_t want = 0;
    for (size_t i = 0; i < in->n_runs; i++)
        want += (int64_t)nodes_of(&in->runs[i]);
    return (size_t)(want < in->most ? want : in->most > 0 ? in->most : 0);
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
    size_t held = 0, used = 0, most = most_fresh(in);
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
