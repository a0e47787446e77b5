/* SPDX-License-Identifier: MIT
 *
 * Tasks that run on several nodes of their pool (multiInstanceSettings): the task itself is on the
 * first node, its subtasks on the others.
 */
#ifndef SCHEDULER_FRONT_BATCH_MULTI_INSTANCE_H
#define SCHEDULER_FRONT_BATCH_MULTI_INSTANCE_H

#include "model/batch/spec.h"
#include "scheduler/front/batch/batch.h"
#include "storage/batch_jobs.h"

/* Sets *out to the most nodes of one task: 1, unless the pool's nodes may communicate and each runs
 * one task at a time. Tasks that request more nodes wait. */
int team_nodes_max(struct arena *a, const struct batch_pool *p, int *out, struct err *e) MUST_CHECK;
/* Adds the settings for several nodes to a task's place. */
void team_add(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
              const struct batch_multi_instance *m, struct place_spec *place);

/* Begins subtasks on the nodes of the allocations, except the first. */
int team_begin(struct storage *st, const struct batch_task *t, const struct allocation *parts,
               size_t n, int64_t now_us, struct err *e) MUST_CHECK;
/* struct front_ops: a coordination command has ended on a node. */
int team_part_prepared(const struct front *f, struct storage *st, const struct run *r,
                       const struct run_prep *part, struct err *e) MUST_CHECK;
/* Called when the task has ended: ends its subtasks. */
int team_end(struct storage *st, const struct batch_task *t, const struct run_end *end,
             struct err *e) MUST_CHECK;

#endif
