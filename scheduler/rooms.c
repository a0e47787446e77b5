/* SPDX-License-Identifier: MIT */
#include "scheduler/rooms.h"

#include <assert.h>
#include <string.h>

#define FANOUT 8

void rooms_init(struct rooms *r, struct arena *a, size_t n)
{
    *r = (struct rooms){.n = n};
    size_t len = n > 0 ? n : 1;
    for (r->top = 0;; r->top++) {
        assert(r->top < ROOMS_LEVELS);
        r->len[r->top] = len;
        r->level[r->top] = arena_alloc(a, len * sizeof *r->level[r->top]);
        if (len == 1)
            break;
        len = (len + FANOUT - 1) / FANOUT;
    }
}

static struct room_size maximum(const struct rooms *r, int level, size_t first)
{
    struct room_size most = r->level[level][first];
    size_t end = first + FANOUT < r->len[level] ? first + FANOUT : r->len[level];
    for (size_t i = first + 1; i < end; i++)
        for (int k = 0; k < ROOM_KINDS; k++)
            if (r->level[level][i].v[k] > most.v[k])
                most.v[k] = r->level[level][i].v[k];
    return most;
}

void rooms_build(struct rooms *r)
{
    for (int level = 1; level <= r->top; level++)
        for (size_t i = 0; i < r->len[level]; i++)
            r->level[level][i] = maximum(r, level - 1, i * FANOUT);
}

void rooms_set(struct rooms *r, size_t i, const struct room_size *left)
{
    assert(i < r->n);
    r->level[0][i] = *left;
    for (int level = 1; level <= r->top; level++) {
        i /= FANOUT;
        struct room_size most = maximum(r, level - 1, i * FANOUT);
        if (memcmp(&most, &r->level[level][i], sizeof most) == 0)
            return;
        r->level[level][i] = most;
    }
}

/* Searches below entry `at` of `level`. `span`: how many nodes an entry of the level below
 * covers. */
static size_t find(const struct rooms *r, int level, size_t at, size_t span, size_t from,
                   const struct room_size *need)
{
    if (!room_fits(&r->level[level][at], need))
        return r->n;
    if (level == 0 || span == 0)
        return at;
    size_t i = at * FANOUT, end = i + FANOUT;
    if (from / span > i)
        i = from / span;
    if (end > r->len[level - 1])
        end = r->len[level - 1];
    for (; i < end; i++) {
        size_t found = find(r, level - 1, i, span / FANOUT, from, need);
        if (found < r->n)
            return found;
    }
    return r->n;
}

size_t rooms_next(const struct rooms *r, size_t from, const struct room_size *need)
{
    assert(need->v[ROOM_SLOTS] > 0);
    if (from >= r->n)
        return r->n;
    size_t span = 1;
    for (int level = 1; level < r->top; level++)
        span *= FANOUT;
    return find(r, r->top, 0, span, from, need);
}
