/* SPDX-License-Identifier: MIT
 *
 * Users' operations on tasks. A task that has a run (`fed`) keeps it until its node is cleaned,
 * also when the run has ended and the task is completed, or active again. Operations on such a task
 * must not leave it to the end of that run.
 */
#include "model/batch/job_states.h"
#include "scheduler/front/batch/front_priv.h"

int batch_task_add(struct storage *st, struct batch_task *t, const char *secrets,
                   const struct batch_waits *w, struct err *e)
{
    if (st_batch_task_insert(st, t, secrets, &t->id, e) < 0)
        return -1;
    for (size_t i = 0; i < w->n_names; i++)
        if (st_batch_wait_add(st, t, w->names[i], e) < 0)
            return -1;
    for (size_t i = 0; i < w->n_ranges; i++)
        if (st_batch_wait_add_range(st, t, w->ranges[i].low, w->ranges[i].high, e) < 0)
            return -1;
    return w->n_names + w->n_ranges > 0 ? st_batch_wait_count(st, t->id, e) : 0;
}

static int change_run(struct batch_front *f, struct arena *a, const struct batch_task *t,
                      struct err *e)
{
    struct batch_task_spec spec;
    struct run r;
    int rc = st_run_of(f->st, a, RES_BATCH_TASK, t->id, 0, &r, e);
    if (rc <= 0)
        return rc;
    if (batch_task_decode_kept(f->docs, a, t->doc, &spec, e) < 0 ||
        st_run_set_limit(f->st, r.id, spec.limits.max_wall_us, e) < 0)
        return -1;
    runs_limits_changed(sched_runs(f->sched), r.id);
    sched_wake_pool(f->sched, r.pool_id);
    return 0;
}

int batch_task_change(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                      struct err *e)
{
    struct arena a;
    if (st_batch_task_update(f->st, t->id, t->doc, now_us, e) < 0)
        return -1;
    arena_init(&a);
    int rc = t->fed ? change_run(f, &a, t, e) : 0;
    arena_free(&a);
    return rc;
}

/* 1: the run ends, and then task_run_ended() is called, at once if the run waits; 0: the task has
 * no run, or only a run that has ended, of which the node is still cleaned; -1: error. */
static int end_run(struct batch_front *f, const struct batch_task *t, struct err *e)
{
    struct arena a;
    struct run r = {.id = 0};
    arena_init(&a);
    int rc = st_run_of(f->st, &a, RES_BATCH_TASK, t->id, 0, &r, e);
    if (rc == 1)
        rc = runs_terminate(sched_runs(f->sched), r.id, e);
    arena_free(&a);
    return rc;
}

int task_stop(struct batch_front *f, const struct batch_task *t, enum batch_fate fate,
              struct err *e)
{
    if (st_batch_task_set_fate(f->st, t->id, fate, e) < 0)
        return -1;
    return end_run(f, t, e) < 0 ? -1 : 0;
}

static const struct failure user_ended = {.code = FAIL_RUN_TERMINATED, .exit_code = -1};

int batch_task_terminate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                         struct err *e)
{
    if (t->fed) {
        int ending = st_batch_task_set_fate(f->st, t->id, BATCH_FATE_TERMINATE, e);
        if (ending == 0)
            ending = end_run(f, t, e);
        /* The end of its last run can no longer end a task that is active again. */
        if (ending != 0 || t->state != BATCH_TASK_ACTIVE)
            return ending < 0 ? -1 : 0;
    }
    const struct run_end end = {
        .was_queued = true, .stopped = true, .why = &user_ended, .now_us = now_us};
    if (task_complete(f, f->st, t, &end, e) < 0)
        return -1;
    batch_job_changed(f, t->job_id);
    return 0;
}

/* Removes the task, and its files on its node. */
int task_remove(struct storage *st, const struct batch_task *t, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = cleanup_of_task(st, &a, t, (struct task_nodes){NULL, 0}, e);
    if (rc == 0)
        rc = task_dependents_leave(st, t, e);
    if (rc == 0)
        rc = st_batch_task_remove(st, t->id, e);
    arena_free(&a);
    return rc;
}

int batch_task_delete(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                      struct err *e)
{
    (void)now_us;
    if (t->fed)
        return task_stop(f, t, BATCH_FATE_DELETE, e);
    if (task_remove(f->st, t, e) < 0)
        return -1;
    cleanup_wake(f);
    batch_job_changed(f, t->job_id);
    return 0;
}

bool batch_task_is_ending(const struct batch_task *t)
{
    return t->state != BATCH_TASK_COMPLETED &&
           (t->fate == BATCH_FATE_TERMINATE || t->fate == BATCH_FATE_AGAIN);
}

int batch_task_reactivate(struct batch_front *f, const struct batch_task *t, int64_t now_us,
                          struct err *e)
{
    if (batch_task_is_ending(t))
        return st_batch_task_set_fate(f->st, t->id, BATCH_FATE_AGAIN, e);
    const struct st_batch_task_move m = {.id = t->id,
                                         .from = t->state,
                                         .to = batch_task_next(t->state, BATCH_TASK_EV_REACTIVATE),
                                         .now_us = now_us,
                                         .by_user = true};
    /* A fate that was set for the last run is not for the next run. */
    if (t->fed && t->fate != BATCH_FATE_OWN &&
        st_batch_task_set_fate(f->st, t->id, BATCH_FATE_OWN, e) < 0)
        return -1;
    if (task_dependents_leave(f->st, t, e) < 0 || st_batch_task_move(f->st, &m, e) < 0)
        return -1;
    batch_job_changed(f, t->job_id);
    return 0;
}
