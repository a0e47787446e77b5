/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of Batch AI's front: the operations of struct front_ops that are not in
 * batchai.c.
 */
#ifndef SCHEDULER_FRONT_BATCHAI_FRONT_PRIV_H
#define SCHEDULER_FRONT_BATCHAI_FRONT_PRIV_H

#include <assert.h>

#include "lib/timefmt.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/run/runs.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/paced.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

static inline const struct batchai_front *front_self(const struct front *f)
{
    assert(f->words == &batchai_front_words);
    return (const struct batchai_front *)f;
}

static inline struct batchai_front *front_self_rw(struct front *f)
{
    assert(f->words == &batchai_front_words);
    return (struct batchai_front *)f;
}

/* Whether the run's job has no exit code if no process returned one. Set by batchai_front.strict,
 * or by a test. */
static inline bool front_is_strict(const struct front *f, const struct run *r)
{
    return front_self(f)->strict || wakes_pace_is_on(front_self(f)->wakes, r->pool_id);
}

/* --- deletion.c ------------------------------------------------------------------------------ */
void deletions_begin(struct batchai_front *f);
void may_remove(struct front *f);
bool removes_runs(const struct front *f);

/* --- dependents.c ---------------------------------------------------------------------------- */
void dependents_begin(struct batchai_front *f);
/* Called when the job ends: releases dependent jobs, or marks them to fail, and wakes their pools.
 * If there are many, the rest follows later. */
int dependents_settle(const struct front *base, int64_t job_id, const struct run_end *end,
                      struct err *e) MUST_CHECK;
/* Like dependents_settle(), for a job that is about to be removed. *left: dependents are left, so
 * the job cannot be removed yet. */
int dependents_leave(const struct batchai_front *f, int64_t job_id, bool *left,
                     struct err *e) MUST_CHECK;

/* --- array.c: the results of single runs of an array --- */
/* Writes an event of a job whose state does not change. */
int front_tell_job(struct storage *st, const struct job *j, int64_t now_us, const char *reason,
                   struct err *e) MUST_CHECK;
int array_started(struct storage *st, const struct run *r, int64_t now_us,
                  struct err *e) MUST_CHECK;
int array_stopping(struct storage *st, const struct run *r, int64_t now_us,
                   struct err *e) MUST_CHECK;
int array_requeued(struct storage *st, const struct run *r, const char *why, int64_t now_us,
                   struct err *e) MUST_CHECK;
int array_ended(const struct front *f, struct storage *st, const struct run *r,
                const struct run_end *end, struct err *e) MUST_CHECK;
/* Adds the array's variables for its processes, and the names of its files. */
void array_spec(struct arena *a, const struct run *r, struct run_spec *s);

/* --- keep_jobs.c ----------------------------------------------------------------------------- */
void keep_jobs_begin(struct batchai_front *f);

/* --- waits.c --------------------------------------------------------------------------------- */
void waits(const struct front *f, struct storage *st, const struct run_waiting *w);

/* --- file_server.c --------------------------------------------------------------------------- */
int file_server_find(const struct front *f, struct storage *st, struct arena *a, const char *id,
                     struct file_server **out, struct err *e);
int file_server_made(const struct front *f, struct storage *st, int64_t id,
                     const struct failure *why, int64_t now_us, struct err *e);

/* --- secrets.c ------------------------------------------------------------------------------- */
int secret_read(const struct front *f, struct storage *st, struct arena *a,
                const struct secret_wish *w, struct secret_answer *out, struct err *e);

#endif
