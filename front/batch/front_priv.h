/* SPDX-License-Identifier: MIT
 *
 * What the files of Azure Batch's front share: the operations of struct front_ops that are not in
 * batch.c.
 */
#ifndef FRONT_BATCH_FRONT_PRIV_H
#define FRONT_BATCH_FRONT_PRIV_H

#include "front/batch/batch.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"

static inline const struct batch_front *batch_self(const struct front *f)
{
    return (const struct batch_front *)f;
}

static inline struct batch_front *batch_self_rw(struct front *f)
{
    return (struct batch_front *)f;
}

/* --- pools.c: their sizes -------------------------------------------------------------------- */
void pools_begin(struct batch_front *f);
int pool_scaled(const struct front *f, struct storage *st, const struct pool *p,
                const struct pool_scaled *s, int64_t now_us, struct err *e);

/* --- autoscale.c ----------------------------------------------------------------------------- */
void autoscale_begin(struct batch_front *f);

/* --- windows.c -------------------------------------------------------------------------------- */
/* The words that run a command line on the nodes of a pool, as batch_argv() gives them. */
size_t batch_program(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
                     const char *line, const char ***argv);

/* --- pool_deletion.c ------------------------------------------------------------------------- */
void pool_deletions_begin(struct batch_front *f);
void pools_may_remove(struct front *f);

/* --- task_run.c: runs of tasks --------------------------------------------------------------- */
const char *task_run_name(const struct front *f, struct storage *st, struct arena *a,
                          const struct run *r);
int task_run_load(const struct front *f, struct storage *st, struct arena *a, const struct run *r,
                  bool secrets, struct job_spec *out, struct err *e);
int task_run_started(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                     struct err *e);
int task_run_prepared(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
int task_run_stopping(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e);
int task_run_ended(const struct front *f, struct storage *st, const struct run *r,
                   const struct run_end *end, struct err *e);
int task_run_requeued(const struct front *f, struct storage *st, const struct run *r,
                      const char *why, int64_t now_us, struct err *e);
int task_run_may_forget(const struct front *f, struct storage *st, const struct run *r,
                        int64_t now_us, struct err *e);
/* Nothing waits in the pool, and its nodes have room. */
void task_runs_wanted(const struct front *f, const struct pool *p);

#endif
