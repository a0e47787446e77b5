/* SPDX-License-Identifier: MIT
 *
 * Runs that their pool is too small for, or cannot have the nodes for now: see oversized.c.
 */
#ifndef SCHEDULER_OVERSIZED_H
#define SCHEDULER_OVERSIZED_H

#include "scheduler/sched_priv.h"

/* Tells of those in the queue, once what was written so far is on disk, if the pool's size is
 * another than when this was last called. */
int oversized_look(struct sched *s, struct arena *a, const struct pool *p,
                   struct err *e) MUST_CHECK;

/* Tells the first of the queue, if it cannot have its nodes whatever of them becomes idle. */
int oversized_blocks(struct sched *s, struct arena *a, const struct pool *p,
                     const struct pool_nodes *have, struct err *e) MUST_CHECK;
/* What was told of the pool was not written: it is told again. */
void oversized_forget(struct sched *s, int64_t pool_id);

#endif
