/* SPDX-License-Identifier: MIT
 *
 * Changes of a job's state that a user or a task requests. jobs.c carries out the consequences.
 */
#include <assert.h>

#include "model/batch/job_states.h"
#include "scheduler/front/batch/front_priv.h"

int batch_job_columns(struct arena *a, struct batch_job *j, struct err *e)
{
    struct batch_job_spec spec;
    if (batch_job_decode(a, j->doc, NULL, &spec, e) < 0)
        return -1;
    j->auto_life = (enum batch_auto_life)spec.auto_life;
    if (j->auto_life == 0 || !j->pool_name) /* the daemon sets the name of an auto pool itself */
        j->pool_name = spec.pool_id ? spec.pool_id : "";
    j->priority = spec.priority;
    j->max_parallel = spec.max_parallel;
    j->depends = spec.depends;
    j->prepares = spec.preparation != NULL;
    j->on_all = (enum batch_on_all)spec.on_all;
    j->on_failure = (enum batch_on_failure)spec.on_failure;
    j->limit_us = spec.limits.max_wall_us;
    return 0;
}

static int wake_pool_of(struct batch_front *f, struct arena *a, const struct batch_job *j,
                        struct err *e)
{
    struct batch_pool p;
    int rc = st_batch_pool_get(f->st, a, j->account_id, j->pool_name, &p, e);
    if (rc == 1)
        sched_wake_pool(f->sched, p.id);
    return rc < 0 ? -1 : 0;
}

/* Wakes the pool if runs got a new priority, or were removed: a run that these delayed may start
 * now. */
int batch_job_update(struct batch_front *f, const struct batch_job *j, const char *secrets,
                     struct err *e)
{
    struct arena a;
    int moved;
    bool taken;
    if (st_batch_job_update(f->st, j, secrets, e) < 0 ||
        st_batch_task_set_priority(f->st, j->id, j->priority, &moved, e) < 0)
        return -1;
    arena_init(&a);
    int rc = waiting_runs_limit(f->st, &a, j, &taken, e);
    if (rc == 0 && (moved > 0 || taken))
        rc = wake_pool_of(f, &a, j, e);
    arena_free(&a);
    return rc;
}

void batch_job_changed(struct batch_front *f, int64_t job_id)
{
    wake_durable(f->wakes, &woken_job, job_id);
}

void batch_job_has_more(struct batch_front *f, int64_t job_id)
{
    wake(f->wakes, &woken_job, job_id);
}

int job_move(struct storage *st, const struct batch_job *j, enum batch_job_event ev,
             struct st_batch_job_move m, struct err *e)
{
    m.id = j->id;
    m.from = j->state;
    m.to = batch_job_next(j->state, ev);
    assert(m.to != 0);
    return st_batch_job_move(st, &m, e);
}

int batch_job_disable(struct batch_front *f, const struct batch_job *j, enum batch_disable how,
                      int64_t now_us, struct err *e)
{
    const struct st_batch_job_move m = {.now_us = now_us, .by_user = true, .disable = how};
    int rc = 0;
    if (j->state == BATCH_JOB_DISABLING)
        rc = st_batch_job_set_disable(f->st, j->id, how, now_us, e);
    else if (j->state != BATCH_JOB_DISABLED)
        rc = job_move(f->st, j, BATCH_JOB_EV_DISABLE, m, e);
    if (rc < 0)
        return -1;
    batch_job_changed(f, j->id);
    return 0;
}

int batch_job_enable(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e)
{
    const struct st_batch_job_move m = {.now_us = now_us, .by_user = true};
    if (job_move(f->st, j, BATCH_JOB_EV_ENABLE, m, e) < 0)
        return -1;
    batch_job_changed(f, j->id);
    return 0;
}

int batch_job_terminate(struct batch_front *f, const struct batch_job *j, const char *reason,
                        bool by_user, int64_t now_us, struct err *e)
{
    const struct st_batch_job_move m = {.now_us = now_us,
                                        .by_user = by_user,
                                        .reason = reason && *reason ? reason : "UserTerminate"};
    if (job_move(f->st, j, BATCH_JOB_EV_TERMINATE, m, e) < 0)
        return -1;
    batch_job_changed(f, j->id);
    return 0;
}

int batch_job_delete(struct batch_front *f, const struct batch_job *j, int64_t now_us,
                     struct err *e)
{
    const struct st_batch_job_move m = {.now_us = now_us, .by_user = true};
    if (job_move(f->st, j, BATCH_JOB_EV_DELETE, m, e) < 0)
        return -1;
    batch_job_changed(f, j->id);
    return 0;
}

/* --- waking them ------------------------------------------------------------------------------ */

static void wake_all(struct batch_front *f, wake_list *list)
{
    struct err e;
    if (wake_listed(f->wakes, &woken_job, list, &e) < 0)
        LOG_ERROR(f->log, "batch_job.not_listed", LF_STR("why", e.msg));
}

void jobs_go_on(struct batch_front *f)
{
    wake_all(f, st_batch_job_moving);
}

void jobs_wake_limited(struct batch_front *f)
{
    wake_all(f, st_batch_job_limited);
}

void jobs_wake_done(struct batch_front *f)
{
    wake_all(f, st_batch_job_done);
}
