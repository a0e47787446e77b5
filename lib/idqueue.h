/* SPDX-License-Identifier: MIT
 *
 * A first-in-first-out queue of row ids that contains each id at most once, so that ids that are
 * added again and again cannot delay the others.
 */
#ifndef LIB_IDQUEUE_H
#define LIB_IDQUEUE_H

#include "lib/idmap.h"

struct id_queue {
    struct id_map in; /* the ids in the queue */
    int64_t *ring;
    size_t first, n, cap; /* cap: a power of two, or 0 */
};

/* Adds an id, which must not be 0. False: the queue contains it already. */
bool id_queue_put(struct id_queue *q, int64_t id);
/* Takes the first id. False: the queue is empty. */
bool id_queue_pop(struct id_queue *q, int64_t *id);
void id_queue_free(struct id_queue *q);

#endif
