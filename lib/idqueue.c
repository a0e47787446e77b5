/* SPDX-License-Identifier: MIT
 *
 * A ring of ids, and a map of the ids in the ring. Invariant: each id is in both exactly once, or
 * in neither.
 */
#include "lib/idqueue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

#define RING_MIN 16

static void grow(struct id_queue *q)
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
        grow(q);
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
