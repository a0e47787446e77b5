/* SPDX-License-Identifier: MIT
 *
 * A map is a hash table with open addressing and linear probing; at most half of the cells are
 * used. A queue is a ring of ids, and a map of the ids in the ring. Invariant: each id is in both
 * exactly once, or in neither.
 */
#include "lib/idmap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/hash.h"

#define ENTRIES_MIN 16

static size_t mask_of(const struct id_map *m)
{
    return 2 * m->cap - 1;
}

static size_t home(const struct id_map *m, int64_t id)
{
    return (size_t)number_hash((uint64_t)id) & mask_of(m);
}

/* The cell that contains `id`, or else the free cell where it belongs. */
static uint32_t *cell_of(const struct id_map *m, int64_t id)
{
    size_t i = home(m, id);
    while (m->cells[i] && m->e[m->cells[i] - 1].id != id)
        i = (i + 1) & mask_of(m);
    return &m->cells[i];
}

static struct id_entry *find(const struct id_map *m, int64_t id)
{
    const uint32_t *cell = m->n > 0 ? cell_of(m, id) : NULL;
    return cell && *cell ? &m->e[*cell - 1] : NULL;
}

bool id_map_has(const struct id_map *m, int64_t id)
{
    return find(m, id) != NULL;
}

void *id_map_find(const struct id_map *m, int64_t id)
{
    const struct id_entry *e = find(m, id);
    return e ? e->p : NULL;
}

int64_t id_map_number(const struct id_map *m, int64_t id)
{
    const struct id_entry *e = find(m, id);
    return e ? e->number : 0;
}

static void grow(struct id_map *m)
{
    m->cap = m->cap ? m->cap * 2 : ENTRIES_MIN;
    m->e = xrealloc(m->e, m->cap * sizeof *m->e);
    free(m->cells);
    m->cells = xcalloc(2 * m->cap, sizeof *m->cells);
    for (size_t i = 0; i < m->n; i++)
        *cell_of(m, m->e[i].id) = (uint32_t)i + 1;
}

static bool put(struct id_map *m, struct id_entry e)
{
    struct id_entry *known = find(m, e.id);
    if (known) {
        *known = e;
        return false;
    }
    if (m->n == m->cap)
        grow(m);
    assert(m->e && m->cells && m->n < UINT32_MAX);
    m->e[m->n++] = e;
    *cell_of(m, e.id) = (uint32_t)m->n;
    return true;
}

bool id_map_put(struct id_map *m, int64_t id, void *p)
{
    return put(m, (struct id_entry){.id = id, .p = p});
}

bool id_map_put_number(struct id_map *m, int64_t id, int64_t number)
{
    return put(m, (struct id_entry){.id = id, .number = number});
}

/* Frees a cell, and moves later cells into the gap, so that there is never a free cell between an
 * entry's cell and the cell of its hash. */
static void free_cell(struct id_map *m, uint32_t *cell)
{
    size_t hole = (size_t)(cell - m->cells), mask = mask_of(m);
    for (size_t i = (hole + 1) & mask; m->cells[i]; i = (i + 1) & mask) {
        size_t from_home = (i - home(m, m->e[m->cells[i] - 1].id)) & mask;
        if (from_home < ((i - hole) & mask))
            continue;
        m->cells[hole] = m->cells[i];
        hole = i;
    }
    m->cells[hole] = 0;
}

bool id_map_remove(struct id_map *m, int64_t id)
{
    const struct id_entry *known = find(m, id);
    if (!known)
        return false;
    size_t place = (size_t)(known - m->e);
    free_cell(m, cell_of(m, id));
    if (place != m->n - 1) {
        uint32_t *last = cell_of(m, m->e[m->n - 1].id);
        m->e[place] = m->e[m->n - 1];
        *last = (uint32_t)place + 1;
    }
    m->n--;
    return true;
}

bool id_map_pop(struct id_map *m, int64_t *id)
{
    if (m->n == 0)
        return false;
    *id = m->e[m->n - 1].id;
    return id_map_remove(m, *id);
}

void id_map_free(struct id_map *m)
{
    free(m->e);
    free(m->cells);
    *m = (struct id_map){0};
}

/* --- queues of ids ---------------------------------------------------------------------------- */

#define RING_MIN 16

static void ring_grow(struct id_queue *q)
{
    size_t cap = q->cap ? q->cap * 2 : RING_MIN;
    int64_t *ring = xcalloc(cap, sizeof *ring);
    for (size_t i = 0; i < q->n; i++)
        ring[i] = q->ring[(q->first + i) & (q->cap - 1)];
    free(q->ring);
    q->ring = ring;
    q->cap = cap;
    q->first = 0;
}

bool id_queue_put(struct id_queue *q, int64_t id)
{
    if (!id_map_put(&q->in, id, NULL))
        return false;
    if (q->n == q->cap)
        ring_grow(q);
    q->ring[(q->first + q->n++) & (q->cap - 1)] = id;
    assert(q->n == q->in.n); /* the ring and the map contain the same ids */
    return true;
}

bool id_queue_pop(struct id_queue *q, int64_t *id)
{
    if (q->n == 0)
        return false;
    *id = q->ring[q->first];
    q->first = (q->first + 1) & (q->cap - 1);
    q->n--;
    bool known = id_map_remove(&q->in, *id);
    assert(known && q->n == q->in.n);
    (void)known;
    return true;
}

void id_queue_free(struct id_queue *q)
{
    id_map_free(&q->in);
    free(q->ring);
    *q = (struct id_queue){0};
}
