/* SPDX-License-Identifier: MIT
 *
 * Invariants: heap[0] is the earliest; the hash table of each kind has the position of each entry
 * in the heap. Every move of an entry uses place(), which updates both. Runs on the loop's thread;
 * the owner sets a timer of the loop for the first entry.
 */
#include "lib/deadlines.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/idmap.h"

struct deadlines {
    struct deadline *heap; /* heap[i] is not before heap[(i - 1) / 2] */
    size_t n, cap;
    int n_kinds;
    struct id_map at[]; /* for each kind: id -> position in the heap */
};

struct deadlines *deadlines_new(int n_kinds)
{
    assert(n_kinds > 0);
    struct deadlines *d = xcalloc(1, sizeof *d + (size_t)n_kinds * sizeof d->at[0]);
    d->n_kinds = n_kinds;
    return d;
}

void deadlines_free(struct deadlines *d)
{
    if (!d)
        return;
    for (int k = 0; k < d->n_kinds; k++)
        id_map_free(&d->at[k]);
    free(d->heap);
    free(d);
}

static bool before(const struct deadline *a, const struct deadline *b)
{
    if (a->at_us != b->at_us)
        return a->at_us < b->at_us;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->id < b->id;
}

static void place(struct deadlines *d, size_t i, struct deadline what)
{
    d->heap[i] = what;
    (void)id_map_put_number(&d->at[what.kind], what.id, (int64_t)i);
}

/* Puts `what` into the free position i, then moves it up or down to its right position. */
static void settle(struct deadlines *d, size_t i, struct deadline what)
{
    while (i > 0 && before(&what, &d->heap[(i - 1) / 2])) {
        place(d, i, d->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (size_t child; (child = 2 * i + 1) < d->n; i = child) {
        if (child + 1 < d->n && before(&d->heap[child + 1], &d->heap[child]))
            child++;
        if (!before(&d->heap[child], &what))
            break;
        place(d, i, d->heap[child]);
    }
    place(d, i, what);
}

/* Finds the position of a deadline in the heap. False: there is no deadline for this id. */
static bool position(const struct deadlines *d, int kind, int64_t id, size_t *i)
{
    assert(kind >= 0 && kind < d->n_kinds);
    if (!id_map_has(&d->at[kind], id))
        return false;
    *i = (size_t)id_map_number(&d->at[kind], id);
    assert(*i < d->n && d->heap[*i].kind == kind && d->heap[*i].id == id);
    return true;
}

bool deadlines_get(const struct deadlines *d, int kind, int64_t id, int64_t *at_us)
{
    size_t i;
    bool known = position(d, kind, id, &i);
    if (known)
        *at_us = d->heap[i].at_us;
    return known;
}

void deadlines_set(struct deadlines *d, int kind, int64_t id, int64_t at_us)
{
    const struct deadline what = {at_us, kind, id};
    size_t i;
    if (position(d, kind, id, &i)) {
        settle(d, i, what);
        return;
    }
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->heap = xrealloc(d->heap, d->cap * sizeof *d->heap);
    }
    settle(d, d->n++, what);
}

void deadlines_remove(struct deadlines *d, int kind, int64_t id)
{
    size_t i;
    if (!position(d, kind, id, &i))
        return;
    (void)id_map_remove(&d->at[kind], id);
    struct deadline last = d->heap[--d->n];
    if (i < d->n)
        settle(d, i, last);
}

bool deadlines_first(const struct deadlines *d, struct deadline *out)
{
    if (d->n > 0)
        *out = d->heap[0];
    return d->n > 0;
}
