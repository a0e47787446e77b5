/* SPDX-License-Identifier: MIT
 *
 * What the core asks of runs of tasks, and tells of them.
 */
#include "front/batch/front_priv.h"

const char *task_run_name(const struct front *f, struct storage *st, struct arena *a,
                          const struct run *r)
{
    (void)f;
    (void)st;
    return arena_printf(a, "%lld", (long long)r->owner_id);
}

int task_run_load(const struct front *f, struct storage *st, struct arena *a, const struct run *r,
                  bool secrets, struct job_spec *out, struct err *e)
{
    (void)f;
    (void)st;
    (void)a;
    (void)secrets;
    (void)out;
    return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the task %lld is gone", (long long)r->owner_id);
}

int task_run_started(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                     struct err *e)
{
    (void)f;
    (void)st;
    (void)r;
    (void)now_us;
    (void)e;
    return 0;
}

int task_run_prepared(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e)
{
    return task_run_started(f, st, r, now_us, e);
}

int task_run_stopping(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e)
{
    return task_run_started(f, st, r, now_us, e);
}

int task_run_ended(const struct front *f, struct storage *st, const struct run *r,
                   const struct run_end *end, struct err *e)
{
    return task_run_started(f, st, r, end->now_us, e);
}

int task_run_requeued(const struct front *f, struct storage *st, const struct run *r,
                      const char *why, int64_t now_us, struct err *e)
{
    (void)why;
    return task_run_started(f, st, r, now_us, e);
}

int task_run_may_forget(const struct front *f, struct storage *st, const struct run *r,
                        int64_t now_us, struct err *e)
{
    return task_run_started(f, st, r, now_us, e);
}

void task_runs_wanted(const struct front *f, const struct pool *p)
{
    (void)f;
    (void)p;
}
