/* SPDX-License-Identifier: MIT
 *
 * Jobs that wait for the ends of other jobs.
 */
#include "scheduler/front/batchai/front_priv.h"

int dependents_wake(const struct batchai_front *f, int64_t job_id, struct err *e)
{
    struct arena a;
    int64_t *pools;
    size_t n;
    arena_init(&a);
    int rc = st_dependency_pools(f->st, &a, RES_JOB, job_id, &pools, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        sched_wake_pool(f->sched, pools[i]);
    arena_free(&a);
    return rc;
}

int dependents_settle(const struct front *f, struct storage *st, int64_t job_id,
                      const struct run_end *end, struct err *e)
{
    if (dependents_wake(front_self(f), job_id, e) < 0)
        return -1;
    return st_dependency_settle(st, RES_JOB, job_id, end->succeeded ? ENDED_WELL : ENDED_BADLY,
                                end->now_us, e);
}
