/* SPDX-License-Identifier: MIT */
#include "lib/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

/* The position of `id`, or where it would be inserted. */
static size_t position(const struct id_map *m, int64_t id)
{
    size_t lo = 0, hi = m->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->e[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool id_map_has(const struct id_map *m, int64_t id)
{
    size_t at = position(m, id);
    return at < m->n && m->e[at].id == id;
}

void *id_map_find(const struct id_map *m, int64_t id)
{
    size_t at = position(m, id);
    return at < m->n && m->e[at].id == id ? m->e[at].p : NULL;
}

void id_map_put(struct id_map *m, int64_t id, void *p)
{
    size_t at = position(m, id);
    if (at < m->n && m->e[at].id == id) {
        m->e[at].p = p;
        return;
    }
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 16;
        m->e = xrealloc(m->e, m->cap * sizeof *m->e);
    }
    memmove(m->e + at + 1, m->e + at, (m->n - at) * sizeof *m->e);
    m->e[at] = (struct id_entry){id, p};
    m->n++;
}

void id_map_remove(struct id_map *m, int64_t id)
{
    size_t at = position(m, id);
    if (at == m->n || m->e[at].id != id)
        return;
    m->n--;
    memmove(m->e + at, m->e + at + 1, (m->n - at) * sizeof *m->e);
}

bool id_map_pop(struct id_map *m, int64_t *id)
{
    if (m->n == 0)
        return false;
    *id = m->e[0].id;
    id_map_remove(m, *id);
    return true;
}

void id_map_free(struct id_map *m)
{
    free(m->e);
    *m = (struct id_map){0};
}
