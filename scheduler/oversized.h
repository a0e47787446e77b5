/* SPDX-License-Identifier: MIT
 *
 * Runs that their pool is too small for: see oversized.c.
 */
#ifndef SCHEDULER_OVERSIZED_H
#define SCHEDULER_OVERSIZED_H

#include "scheduler/sched_priv.h"

/* Tells of those in the queue, once what was written so far is on disk, if the pool's size is
 * another than when this was last called. */
int oversized_look(struct sched *s, struct arena *a, const struct pool *p,
                   struct err *e) MUST_CHECK;

#endif
