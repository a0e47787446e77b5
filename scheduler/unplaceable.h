/* SPDX-License-Identifier: MIT
 *
 * Runs whose pool is too small for them, or cannot get enough nodes now: see unplaceable.c.
 */
#ifndef SCHEDULER_UNPLACEABLE_H
#define SCHEDULER_UNPLACEABLE_H

#include "scheduler/sched_priv.h"

/* Reports the queued runs that request more nodes than the pool's scale allows, when all writes so
 * far are on disk, if the pool's size has changed since the last call. */
int oversized_look(struct sched *s, struct arena *a, const struct pool *p,
                   struct err *e) MUST_CHECK;

/* Reports the first run in the queue if it cannot get its nodes even when all become idle. */
int oversized_blocks(struct sched *s, struct arena *a, const struct pool *p,
                     const struct pool_nodes *have, struct err *e) MUST_CHECK;
/* Reports runs that request more of a node than any of the pool's nodes has; they wait until a node
 * has as much. Checks only some of them in each call, and reports each once. */
int oversized_parts(struct sched *s, struct arena *a, const struct pool *p,
                    const struct node *nodes, size_t n_nodes, struct err *e) MUST_CHECK;
/* Call when the pool's rows were rolled back: all reports will be repeated. */
void oversized_forget(struct sched *s, int64_t pool_id);

#endif
