/* SPDX-License-Identifier: MIT */
#include "lib/idhash.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"

#define CELLS_MIN 16

/* The final step of splitmix64: neighbouring ids must not land in neighbouring cells. */
static size_t home(const struct id_hash *h, int64_t id)
{
    uint64_t z = (uint64_t)id;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (size_t)(z ^ (z >> 31)) & (h->cap - 1);
}

/* Where `id` is, or the free cell where it would be put. */
static struct id_hash_cell *cell(const struct id_hash *h, int64_t id)
{
    assert(h->n < h->cap); /* a free cell ends the search */
    size_t i = home(h, id);
    while (h->cells[i].id != 0 && h->cells[i].id != id)
        i = (i + 1) & (h->cap - 1);
    return &h->cells[i];
}

size_t *id_hash_find(const struct id_hash *h, int64_t id)
{
    if (h->n == 0)
        return NULL;
    struct id_hash_cell *c = cell(h, id);
    return c->id == id ? &c->value : NULL;
}

/* At most half of the cells are taken. */
static void grow(struct id_hash *h)
{
    struct id_hash bigger = {.cap = h->cap ? h->cap * 2 : CELLS_MIN, .n = h->n};
    bigger.cells = xcalloc(bigger.cap, sizeof *bigger.cells);
    for (size_t i = 0; i < h->cap; i++)
        if (h->cells[i].id != 0)
            *cell(&bigger, h->cells[i].id) = h->cells[i];
    free(h->cells);
    *h = bigger;
}

bool id_hash_put(struct id_hash *h, int64_t id, size_t value)
{
    assert(id != 0);
    if (h->n * 2 >= h->cap)
        grow(h);
    struct id_hash_cell *c = cell(h, id);
    bool is_new = c->id == 0;
    *c = (struct id_hash_cell){id, value};
    h->n += is_new;
    return is_new;
}

/* Later cells move up, so that there is never a free cell between a cell and its home. */
bool id_hash_remove(struct id_hash *h, int64_t id)
{
    if (h->n == 0)
        return false;
    struct id_hash_cell *c = cell(h, id);
    if (c->id != id)
        return false;
    size_t hole = (size_t)(c - h->cells), mask = h->cap - 1;
    for (size_t i = (hole + 1) & mask; h->cells[i].id != 0; i = (i + 1) & mask) {
        size_t from_home = (i - home(h, h->cells[i].id)) & mask;
        if (from_home < ((i - hole) & mask))
            continue;
        h->cells[hole] = h->cells[i];
        hole = i;
    }
    h->cells[hole] = (struct id_hash_cell){0};
    h->n--;
    return true;
}

void id_hash_free(struct id_hash *h)
{
    free(h->cells);
    *h = (struct id_hash){0};
}
