/* SPDX-License-Identifier: MIT
 *
 * Jobs that wait for the ends of other jobs. Many jobs may wait for one job, so they are released
 * some at a time. Dependency rows that are still open although the job has ended are the ones that
 * are not yet released.
 */
#include "scheduler/front/batchai/front_priv.h"

/* Wakes jobs whose dependents are not all released. */
static const struct wake_kind woken_dependents = {"dependents", WAKE_RUNS};

/* Released dependents per turn of the loop and job; some 20 us each. */
#define SETTLED_AT_ONCE 500

static int wake_pools(const struct batchai_front *f, int64_t job_id, struct err *e)
{
    struct arena a;
    int64_t *pools;
    size_t n;
    arena_init(&a);
    int rc = st_dependency_pools(f->st, &a, RES_JOB, job_id, SETTLED_AT_ONCE, &pools, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        sched_wake_pool(f->sched, pools[i]);
    arena_free(&a);
    return rc;
}

static int settle(const struct batchai_front *f, int64_t job_id, enum ended_how ended,
                  int64_t now_us, bool *left, struct err *e)
{
    const struct st_settling how = {ended, SETTLED_AT_ONCE, now_us};
    if (wake_pools(f, job_id, e) < 0)
        return -1;
    return st_dependency_settle(f->st, RES_JOB, job_id, &how, left, e);
}

int dependents_settle(const struct front *base, int64_t job_id, const struct run_end *end,
                      struct err *e)
{
    const struct batchai_front *f = front_self(base);
    bool left;
    if (settle(f, job_id, end->succeeded ? ENDED_WELL : ENDED_BADLY, end->now_us, &left, e) < 0)
        return -1;
    if (left)
        wake_durable(f->wakes, &woken_dependents, job_id);
    return 0;
}

/* Settles more dependents of a job whose row exists. `removed`: the job is about to be removed,
 * perhaps before its end. */
static int settle_more(const struct batchai_front *f, int64_t job_id, bool removed, bool *left,
                       struct err *e)
{
    struct arena a;
    struct job j;
    *left = false;
    arena_init(&a);
    int rc = st_job_by_id(f->st, &a, job_id, &j, e);
    bool well = rc == 1 && j.exec_state == EXEC_SUCCEEDED,
         badly = rc == 1 && j.exec_state == EXEC_FAILED;
    if (rc == 1 && (removed || well || badly))
        rc = settle(f, job_id,
                    well    ? ENDED_WELL
                    : badly ? ENDED_BADLY
                            : ENDED_REMOVED,
                    wakes_wall(f->wakes), left, e);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

int dependents_leave(const struct batchai_front *f, int64_t job_id, bool *left, struct err *e)
{
    return settle_more(f, job_id, true, left, e);
}

static void go_on(void *ctx, int64_t job_id)
{
    struct batchai_front *f = ctx;
    struct err e = {0};
    bool left;
    wake_if_lost(f->wakes, &woken_dependents, job_id);
    if (settle_more(f, job_id, false, &left, &e) < 0) {
        LOG_ERROR(f->log, "job.dependents_not_released", LF_INT("job_id", job_id),
                  LF_STR("why", e.msg));
        wake_at(f->wakes, &woken_dependents, job_id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
    } else if (left) {
        wake_durable(f->wakes, &woken_dependents, job_id);
    }
}

void dependents_begin(struct batchai_front *f)
{
    struct err e;
    wakes_handle(f->wakes, &woken_dependents, go_on, f);
    if (wake_listed(f->wakes, &woken_dependents, st_dependency_unsettled, &e) < 0)
        LOG_ERROR(f->log, "job.dependents_not_listed", LF_STR("why", e.msg));
}
