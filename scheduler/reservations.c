/* SPDX-License-Identifier: MIT
 *
 * Most nodes are held only by running runs. Each such node is available from one instant on, so for
 * each kind of need a list sorted by this instant suffices. Nodes that have reservations, or that
 * runs have got since the lists were made, are marked; the spans of each of these nodes are gone
 * through once, from instant to instant.
 */
#include "scheduler/reservations.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many different needs have a list at a time. */
#define SHAPES 16

/* A part of a node that is held from one instant to another. For a whole node the part is all of
 * its capacity. */
struct held_span {
    int64_t from, to;
    struct room_size takes;
    int64_t by; /* the waiting run that has this reservation; 0: held by a running run */
};

struct spans {
    struct held_span *e;
    uint32_t n, cap;
};

struct since {
    int64_t at_us;
    uint32_t node;
};

/* When each node is available for one need. */
struct shape {
    bool used, part;
    struct room_size need;
    struct since *list;
    size_t n;
};

/* A time in which a marked node is available. */
struct free_window {
    int64_t from, to;
    uint32_t node;
};

struct ahead {
    struct arena *a;
    int64_t now_us;
    size_t n;
    const struct plan_node *const *nodes;
    struct room_size *has;
    struct spans *spans;    /* of each node, sorted by their ends */
    struct spans *reserved; /* those of them that are reservations, sorted by their beginnings */
    bool *marked;
    uint32_t *marks; /* the marked nodes, in the order of marking */
    size_t n_marks;
    struct shape shapes[SHAPES];
    size_t n_shapes;
    struct since *spare_list; /* for sorting */
    struct free_window *windows;
    size_t n_windows, windows_cap;
    uint32_t *chosen;
    uint64_t *bits; /* one for each node */
};

static bool is_coming(const struct plan_node *n)
{
    return n->state == NODE_PREPARING && !n->out_of_service;
}

static bool serves(const struct plan_node *n)
{
    return n->state == NODE_IDLE && !n->out_of_service;
}

/* --- spans ---------------------------------------------------------------------------------- */

static uint32_t append_span(struct ahead *h, struct spans *of)
{
    if (of->n == of->cap) {
        struct held_span *old = of->e;
        of->cap = of->cap ? 2 * of->cap : 4;
        of->e = arena_alloc(h->a, of->cap * sizeof *of->e);
        if (of->n > 0)
            memcpy(of->e, old, of->n * sizeof *old);
    }
    return of->n++;
}

static void add_span(struct ahead *h, size_t node, const struct held_span *s)
{
    struct spans *of = &h->spans[node];
    uint32_t i = append_span(h, of);
    for (; i > 0 && of->e[i - 1].to > s->to; i--)
        of->e[i] = of->e[i - 1];
    of->e[i] = *s;
}

static bool begins_later(const struct held_span *a, const struct held_span *b)
{
    return a->from > b->from || (a->from == b->from && a->to > b->to);
}

static void add_reserved(struct ahead *h, size_t node, const struct held_span *s)
{
    struct spans *of = &h->reserved[node];
    uint32_t i = append_span(h, of);
    for (; i > 0 && begins_later(&of->e[i - 1], s); i--)
        of->e[i] = of->e[i - 1];
    of->e[i] = *s;
}

static int64_t end_of(int64_t from, int64_t for_us)
{
    return for_us > AHEAD_NEVER - from ? AHEAD_NEVER : from + for_us;
}

/* The span of a running run; it begins at INT64_MIN. */
static struct held_span held_span(const struct ahead *h, const struct ahead_want *w, size_t node)
{
    return (struct held_span){.from = INT64_MIN,
                              .to = end_of(h->now_us, w->for_us),
                              .takes = w->part ? w->need : h->has[node]};
}

static void mark(struct ahead *h, size_t node)
{
    if (h->marked[node])
        return;
    h->marked[node] = true;
    h->marks[h->n_marks++] = (uint32_t)node;
}

void ahead_hold(struct ahead *h, const struct ahead_want *w, size_t node)
{
    const struct held_span s = held_span(h, w, node);
    mark(h, node);
    add_span(h, node, &s);
}

/* Allocates each node's spans in one block, so that adding the first span allocates nothing. */
static void make_room(struct ahead *h, const struct ahead_input *in)
{
    size_t total = in->n_held + in->n_started;
    struct held_span *block = arena_alloc(h->a, (total + 1) * sizeof *block);
    for (size_t i = 0; i < in->n_held; i++)
        if (in->at[in->held[i].node] != SIZE_MAX)
            h->spans[in->at[in->held[i].node]].cap++;
    for (size_t i = 0; i < in->n_started; i++)
        h->spans[in->started[i].node].cap++;
    for (size_t i = 0; i < h->n; i++) {
        h->spans[i].e = block;
        block += h->spans[i].cap;
    }
}

static void fill(struct ahead *h, const struct ahead_input *in)
{
    for (size_t i = 0; i < in->n_held; i++) {
        size_t node = in->at[in->held[i].node];
        struct held_span s = {.from = INT64_MIN,
                              .to = in->held[i].end_us > h->now_us ? in->held[i].end_us
                                                                   : h->now_us + 1,
                              .takes = room_size_of(&in->held[i].takes)};
        if (node == SIZE_MAX)
            continue;
        add_span(h, node, &s);
    }
    for (size_t i = 0; i < in->n_started; i++) {
        const struct ahead_held *now = &in->started[i];
        const struct held_span s = held_span(h, &now->what, now->node);
        add_span(h, now->node, &s);
    }
}

struct ahead *ahead_new(struct arena *a, const struct ahead_input *in)
{
    struct ahead *h = arena_alloc(a, sizeof *h);
    size_t n = in->n_nodes + 1;
    h->a = a;
    h->now_us = in->now_us;
    h->n = in->n_nodes;
    h->nodes = in->nodes;
    h->has = arena_alloc(a, n * sizeof *h->has);
    h->spans = arena_alloc(a, n * sizeof *h->spans);
    h->reserved = arena_alloc(a, n * sizeof *h->reserved);
    h->marked = arena_alloc(a, n * sizeof *h->marked);
    h->marks = arena_alloc(a, n * sizeof *h->marks);
    h->chosen = arena_alloc(a, n * sizeof *h->chosen);
    h->spare_list = arena_alloc(a, n * sizeof *h->spare_list);
    h->bits = arena_alloc(a, (n / 64 + 1) * sizeof *h->bits);
    for (size_t i = 0; i < h->n; i++)
        h->has[i] = room_size_of(&in->nodes[i]->has);
    make_room(h, in);
    fill(h, in);
    return h;
}

/* --- nodes that are only held ------------------------------------------------------------------
 */

/* The instant from which a node without reservations is available. */
static int64_t since(const struct ahead *h, const struct shape *s, size_t node)
{
    const struct spans *of = &h->spans[node];
    if (is_coming(h->nodes[node]))
        return h->now_us;
    if (!serves(h->nodes[node]))
        return AHEAD_NEVER;
    if (!s->part)
        return of->n > 0 ? of->e[of->n - 1].to : h->now_us;
    struct room_size left = h->has[node];
    if (!room_fits(&left, &s->need))
        return AHEAD_NEVER;
    for (uint32_t i = 0; i < of->n; i++)
        room_add(&left, &of->e[i].takes, -1);
    for (uint32_t i = 0; i < of->n; i++) {
        if (room_fits(&left, &s->need))
            return i > 0 ? of->e[i - 1].to : h->now_us;
        room_add(&left, &of->e[i].takes, 1);
    }
    return of->n > 0 ? of->e[of->n - 1].to : h->now_us;
}

/* Sorts by instant, and nodes of one instant by their order: a radix sort that skips passes over
 * constant bytes. */
static void sort_since(struct ahead *h, struct since *list, size_t n)
{
    struct since *from = list, *to = h->spare_list;
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++)
        differ |= (uint64_t)list[i].at_us ^ (uint64_t)list[0].at_us;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t count[257] = {0};
        if ((differ >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            count[((uint64_t)from[i].at_us >> shift & 0xff) + 1]++;
        for (int k = 0; k < 256; k++)
            count[k + 1] += count[k];
        for (size_t i = 0; i < n; i++)
            to[count[(uint64_t)from[i].at_us >> shift & 0xff]++] = from[i];
        struct since *t = from;
        from = to;
        to = t;
    }
    if (from != list)
        memcpy(list, from, n * sizeof *list);
}

static const struct shape *shape_of(struct ahead *h, const struct ahead_want *w)
{
    for (size_t i = 0; i < SHAPES && h->shapes[i].used; i++) {
        const struct shape *s = &h->shapes[i];
        if (s->part == w->part && (!s->part || memcmp(&s->need, &w->need, sizeof w->need) == 0))
            return s;
    }
    struct shape *s = &h->shapes[h->n_shapes++ % SHAPES];
    struct since *list = s->list ? s->list : arena_alloc(h->a, (h->n + 1) * sizeof *list);
    *s = (struct shape){.used = true, .part = w->part, .need = w->need, .list = list};
    for (size_t i = 0; i < h->n; i++) {
        int64_t at = h->marked[i] ? AHEAD_NEVER : since(h, s, i);
        if (at != AHEAD_NEVER)
            list[s->n++] = (struct since){at, (uint32_t)i};
    }
    sort_since(h, list, s->n);
    return s;
}

/* --- marked nodes ------------------------------------------------------------------------------
 */

/* Goes from instant to instant through the spans of a node. */
struct timeline {
    const struct spans *spans, *reserved; /* of the node */
    uint32_t end, begin; /* in these: the next span that ends, the next reservation that begins */
    uint32_t begun;      /* the first reservation that began at this instant, if any did */
    struct room_size left;
    uint32_t n_held; /* how many spans hold parts of the node at this instant */
    int64_t at_us;
};

static void hold(struct timeline *t, const struct held_span *s, int times)
{
    room_add(&t->left, &s->takes, -times);
    t->n_held += (uint32_t)times;
}

static struct timeline timeline_at(const struct ahead *h, size_t node, int64_t at)
{
    struct timeline t = {.spans = &h->spans[node],
                         .reserved = &h->reserved[node],
                         .left = h->has[node],
                         .at_us = at};
    while (t.end < t.spans->n && t.spans->e[t.end].to <= at)
        t.end++;
    for (uint32_t i = t.end; i < t.spans->n; i++)
        if (t.spans->e[i].from <= at)
            hold(&t, &t.spans->e[i], 1);
    while (t.begin < t.reserved->n && t.reserved->e[t.begin].from <= at)
        t.begin++;
    return t;
}

/* Moves to the next instant at which a span begins or ends. False: there is none. */
static bool timeline_next(struct timeline *t)
{
    const struct held_span *ends = t->spans->e, *begins = t->reserved->e;
    int64_t at = t->end < t->spans->n ? ends[t->end].to : AHEAD_NEVER;
    if (t->begin < t->reserved->n && begins[t->begin].from < at)
        at = begins[t->begin].from;
    if (at == AHEAD_NEVER)
        return false;
    t->at_us = at;
    for (; t->end < t->spans->n && ends[t->end].to == at; t->end++)
        hold(t, &ends[t->end], -1);
    t->begun = t->begin;
    for (; t->begin < t->reserved->n && begins[t->begin].from == at; t->begin++)
        hold(t, &begins[t->begin], 1);
    return true;
}

/* Whether the node has room at the instant of the timeline. */
static bool fits(const struct ahead *h, const struct ahead_want *w, size_t node,
                 const struct timeline *t)
{
    /* A node's capacity is known only when it is prepared. */
    return (t->n_held == 0 && (!w->part || is_coming(h->nodes[node]))) ||
           (w->part && room_fits(&t->left, &w->need));
}

bool ahead_allows(const struct ahead *h, const struct ahead_want *w, size_t node, int64_t *by)
{
    const struct spans *of = &h->spans[node];
    if (!h->marked[node])
        return true;
    struct timeline t = timeline_at(h, node, h->now_us);
    if (fits(h, w, node, &t)) {
        int64_t end = end_of(h->now_us, w->for_us);
        while (timeline_next(&t) && t.at_us < end)
            if (!fits(h, w, node, &t)) {
                *by = t.reserved->e[t.begun].by;
                return false;
            }
        return true;
    }
    /* reserved from now on, for a run that waits for other nodes */
    for (uint32_t i = 0; i < of->n; i++)
        if (of->e[i].by != 0 && of->e[i].from <= h->now_us)
            *by = of->e[i].by;
    return false;
}

static void add_window(struct ahead *h, int64_t from, int64_t to, uint32_t node)
{
    if (!h->windows || h->n_windows == h->windows_cap) {
        struct free_window *old = h->windows;
        h->windows_cap = old ? 2 * h->windows_cap : 256;
        h->windows = arena_alloc(h->a, h->windows_cap * sizeof *h->windows);
        if (old)
            memcpy(h->windows, old, h->n_windows * sizeof *old);
    }
    h->windows[h->n_windows++] = (struct free_window){from, to, node};
}

/* Adds the times in which this node is available for long enough: from when to when a run may
 * begin. */
static void windows_of(struct ahead *h, const struct ahead_want *w, uint32_t node, int64_t start)
{
    bool serving = serves(h->nodes[node]) || is_coming(h->nodes[node]), open = false;
    struct timeline t = timeline_at(h, node, start);
    int64_t from = start;
    if (!serving || start == AHEAD_NEVER)
        return;
    do {
        bool fit = fits(h, w, node, &t);
        if (fit && !open)
            from = t.at_us;
        if (!fit && open && w->for_us <= t.at_us - from)
            add_window(h, from, t.at_us - w->for_us, node);
        open = fit;
    } while (timeline_next(&t));
    if (open)
        add_window(h, from, AHEAD_NEVER, node);
}

static int by_from(const void *pa, const void *pb)
{
    const struct free_window *a = pa, *b = pb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* --- the earliest instant ----------------------------------------------------------------------
 */

/* Visits the instants at which another node becomes available. */
struct span_sweep {
    const struct shape *shape;
    size_t i, k;    /* the next index in the list, and in the windows */
    size_t n_found; /* in chosen[]: nodes that are available from now on */
    size_t n_open;  /* open windows are moved to the front */
    int64_t at_us;
};

static void advance(struct ahead *h, struct span_sweep *s)
{
    for (; s->i < s->shape->n && s->shape->list[s->i].at_us <= s->at_us; s->i++)
        if (!h->marked[s->shape->list[s->i].node])
            h->chosen[s->n_found++] = s->shape->list[s->i].node;
    for (; s->k < h->n_windows && h->windows[s->k].from <= s->at_us; s->k++)
        h->windows[s->n_open++] = h->windows[s->k];
}

static void close_windows(struct ahead *h, struct span_sweep *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_open; i++)
        if (h->windows[i].to >= s->at_us)
            h->windows[kept++] = h->windows[i];
    s->n_open = kept;
}

/* Moves to the next instant at which a node becomes available. False: there is no later instant. */
static bool next_instant(const struct ahead *h, struct span_sweep *s)
{
    int64_t at = AHEAD_NEVER;
    if (s->i < s->shape->n)
        at = s->shape->list[s->i].at_us;
    if (s->k < h->n_windows && h->windows[s->k].from < at)
        at = h->windows[s->k].from;
    if (at == AHEAD_NEVER)
        return false;
    s->at_us = at;
    return true;
}

/* Moves to the first instant (s->at_us) at which `wanted` nodes are available, and returns their
 * number; fewer: so many will never be available. */
static size_t sweep(struct ahead *h, struct span_sweep *s, size_t wanted)
{
    for (;;) {
        advance(h, s);
        if (s->n_found + s->n_open >= wanted)
            close_windows(h, s);
        if (s->n_found + s->n_open >= wanted)
            return s->n_found + s->n_open;
        if (!next_instant(h, s))
            break;
    }
    close_windows(h, s);
    return s->n_found + s->n_open;
}

/* Takes the first of the available nodes, in the order of nodes. The choice depends only on the
 * instant, not on when each node became available. So it stays the same if a later run has started
 * meanwhile. */
static void choose(struct ahead *h, struct span_sweep *s, struct ahead_place *out)
{
    size_t n = 0, words = h->n / 64 + 1;
    memset(h->bits, 0, words * sizeof *h->bits);
    for (size_t i = 0; i < s->n_found; i++)
        h->bits[h->chosen[i] / 64] |= UINT64_C(1) << h->chosen[i] % 64;
    for (size_t i = 0; i < s->n_open; i++)
        h->bits[h->windows[i].node / 64] |= UINT64_C(1) << h->windows[i].node % 64;
    for (size_t i = 0; i < words && n < out->n_nodes; i++)
        for (uint64_t left = h->bits[i]; left != 0 && n < out->n_nodes; left &= left - 1) {
            uint32_t node = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(left));
            h->chosen[n++] = node;
            out->coming += is_coming(h->nodes[node]);
        }
    out->nodes = h->chosen;
}

static struct span_sweep sweep_new(struct ahead *h, const struct ahead_want *w,
                                   const struct shape *shape, int64_t start)
{
    h->n_windows = 0;
    for (size_t i = 0; i < h->n_marks; i++)
        windows_of(h, w, h->marks[i], start);
    if (h->n_windows > 1)
        qsort(h->windows, h->n_windows, sizeof *h->windows, by_from);
    return (struct span_sweep){.shape = shape, .at_us = start};
}

bool ahead_find(struct ahead *h, const struct ahead_want *w, size_t wanted, size_t spare,
                int64_t not_before, struct ahead_place *out)
{
    int64_t start = not_before > h->now_us ? not_before : h->now_us;
    const struct shape *shape = shape_of(h, w);
    struct span_sweep s = sweep_new(h, w, shape, start);
    size_t n = sweep(h, &s, wanted);
    *out = (struct ahead_place){.n_nodes = wanted};
    if (n < wanted) {
        out->lacking = wanted - n;
        out->n_nodes = n;
        if (out->lacking > spare)
            return false;
        s = sweep_new(h, w, shape, start); /* the first sweep went past the instant of `n` nodes */
        (void)sweep(h, &s, n);
    }
    out->at_us = s.at_us;
    choose(h, &s, out);
    return true;
}

void ahead_keep(struct ahead *h, const struct ahead_want *w, const struct ahead_place *p,
                int64_t by)
{
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct held_span s = {.from = p->at_us,
                                    .to = end_of(p->at_us, w->for_us),
                                    .takes = w->part ? w->need : h->has[p->nodes[i]],
                                    .by = by};
        mark(h, p->nodes[i]);
        add_span(h, p->nodes[i], &s);
        add_reserved(h, p->nodes[i], &s);
    }
}
