/* SPDX-License-Identifier: MIT
 *
 * Jobs that their cluster is too small for: see oversized.c.
 */
#ifndef SCHEDULER_OVERSIZED_H
#define SCHEDULER_OVERSIZED_H

#include "scheduler/sched_priv.h"

/* Tells of one, once what was written so far is on disk. */
void oversized_tell(struct sched *s, const struct cluster *c, const struct job *j);
/* Tells of those in the queue, if the cluster's size is another than when this was last called. */
int oversized_look(struct sched *s, struct arena *a, const struct cluster *c,
                   struct err *e) MUST_CHECK;

#endif
