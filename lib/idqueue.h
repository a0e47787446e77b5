/* SPDX-License-Identifier: MIT
 *
 * A queue of row ids, each in it at most once: first in, first out, so that ids that are woken
 * again and again cannot starve the others.
 */
#ifndef LIB_IDQUEUE_H
#define LIB_IDQUEUE_H

#include "lib/idmap.h"

struct id_queue {
    struct id_map in; /* the ids in the queue */
    int64_t *ring;
    size_t first, n, cap; /* cap: a power of two, or 0 */
};

/* False: it is in the queue already. Ids must not be 0. */
bool id_queue_put(struct id_queue *q, int64_t id);
/* False: the queue is empty. */
bool id_queue_pop(struct id_queue *q, int64_t *id);
void id_queue_free(struct id_queue *q);

#endif
