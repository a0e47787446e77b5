/* SPDX-License-Identifier: MIT
 *
 * Carries out the consequences of changed rows of jobs.
 */
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/schedules.h"
#include "scheduler/keep.h"
#include "scheduler/wake/paced.h"

/* The most tasks to stop, tasks to remove (some 6 us each), and rows of task numbers to remove in
 * one pass. Other work of the loop waits during a pass. */
#define TASKS_AT_ONCE   200
#define REMOVED_AT_ONCE 1000
#define NUMBERS_AT_ONCE 5000

/* The treatment of a task that has a run and is in this state, while its job is in its present
 * state. */
static enum batch_fate fate_of(const struct batch_job *j, enum batch_task_state state)
{
    if (j->state == BATCH_JOB_DELETING)
        return BATCH_FATE_DELETE;
    if (state == BATCH_TASK_ACTIVE) /* it waits in the core's queue: its run is removed */
        return BATCH_FATE_REQUEUE;
    if (state == BATCH_TASK_COMPLETED)
        return BATCH_FATE_OWN;
    if (j->state == BATCH_JOB_TERMINATING || j->disable == BATCH_DISABLE_TERMINATE)
        return BATCH_FATE_TERMINATE;
    return j->disable == BATCH_DISABLE_WAIT ? BATCH_FATE_OWN : BATCH_FATE_REQUEUE;
}

/* Stops at most *most tasks in this state, and reduces *most by the number of stopped tasks. */
static int stop_some(struct batch_front *f, const struct batch_job *j, enum batch_task_state state,
                     int *most, struct err *e)
{
    struct arena a;
    struct batch_task *tasks;
    size_t n;
    enum batch_fate fate = fate_of(j, state);
    arena_init(&a);
    int rc = st_batch_task_to_stop(f->st, &a, j->id, state, fate, *most, &tasks, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++, (*most)--)
        rc = task_stop(f, &tasks[i], fate, e);
    arena_free(&a);
    return rc;
}

/* Stops the tasks that must stop: first the waiting ones, so that none of them starts. *more: other
 * tasks are stopped in a later turn of the loop. */
static int stop_tasks(struct batch_front *f, const struct batch_job *j, bool *more, struct err *e)
{
    static const enum batch_task_state order[] = {BATCH_TASK_ACTIVE, BATCH_TASK_PREPARING,
                                                  BATCH_TASK_RUNNING, BATCH_TASK_COMPLETED};
    int most = TASKS_AT_ONCE;
    for (size_t i = 0; i < sizeof order / sizeof order[0] && most > 0; i++)
        if (stop_some(f, j, order[i], &most, e) < 0)
            return -1;
    *more = most == 0;
    if (*more)
        wake_durable(f->wakes, &woken_job, j->id);
    return 0;
}

/* Removes some tasks. If the job has no preparation tasks, only its tasks show which pools it had
 * before its present pool, so the removal of files there is recorded first. */
static int remove_tasks(struct batch_front *f, const struct batch_job *j, bool *left, struct err *e)
{
    struct arena a;
    *left = false;
    arena_init(&a);
    const struct st_batch_moved m = {.job_id = j->id,
                                     .account_id = j->account_id,
                                     .pool_name = j->pool_name,
                                     .path = batch_job_dir(&a, j->name, j->number),
                                     .limit = REMOVED_AT_ONCE};
    int rc = j->prepares ? 0 : st_batch_cleanup_add_moved(f->st, &m, e);
    if (rc == 0)
        rc = st_batch_task_remove_some(f->st, j->id, REMOVED_AT_ONCE, left, e);
    arena_free(&a);
    return rc;
}

static int remove_slice(struct batch_front *f, const struct batch_job *j, bool runs, struct err *e)
{
    struct arena a;
    struct batch_pool p;
    bool left;
    if (remove_tasks(f, j, &left, e) < 0)
        return -1;
    if (!left && runs) /* the end of the last run wakes the job */
        return 0;
    if (!left && st_batch_job_remove_numbers(f->st, j->id, NUMBERS_AT_ONCE, &left, e) < 0)
        return -1;
    if (left) {
        wake_durable(f->wakes, &woken_job, j->id); /* in a later turn, after other work */
        return 0;
    }
    arena_init(&a);
    int rc = st_batch_pool_get(f->st, &a, j->account_id, j->pool_name, &p, e);
    if (rc >= 0)
        rc = st_batch_cleanup_add_all(f->st, rc == 1 ? p.id : 0, j->id, j->created_us,
                                      batch_job_dir(&a, j->name, j->number), e);
    if (rc >= 0)
        rc = auto_pool_end_of_job(f, j, e);
    if (rc == 0)
        rc = st_batch_job_remove(f->st, j->id, e);
    arena_free(&a);
    if (rc == 0) {
        cleanup_wake(f);
        batch_schedule_look(f, j->schedule_id);
        sched_row_gone(f->sched); /* the job's account may wait for this removal */
    }
    return rc;
}

/* *held: the job's present step must take longer (strict mode); the job is woken when the step is
 * over. */
static int is_held_up(struct batch_front *f, const struct batch_job *j, enum pace_step step,
                      bool *held, struct err *e)
{
    struct arena a;
    struct batch_account account;
    *held = false;
    if (!pace_is_on(wakes_pace(f->wakes), NULL))
        return 0;
    arena_init(&a);
    int rc = st_batch_account_by_id(f->st, &a, j->account_id, &account, e);
    if (rc == 1) {
        const struct paced state = {
            .step = step, .subscription = account.scope.subscription, .since_us = j->state_us};
        *held = wake_paced(f->wakes, &woken_job, j->id, &state);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

static int deleting(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    bool more, left, held;
    if (stop_tasks(f, j, &more, e) < 0 || st_batch_task_any_fed(f->st, j->id, &left, e) < 0 ||
        (!left && chores_finish(f, j, &left, e) < 0) ||
        is_held_up(f, j, PACE_BATCH_JOB_DELETION, &held, e) < 0)
        return -1;
    return held || more ? 0 : remove_slice(f, j, left, e);
}

/* *rest: none of the job's tasks runs. Tasks whose runs were removed or have ended may still be
 * cleaned up. */
static int at_rest(struct batch_front *f, const struct batch_job *j, bool *rest, struct err *e)
{
    struct arena a;
    struct batch_counts n;
    arena_init(&a);
    int rc = st_batch_job_counts(f->st, &a, j->id, &n, e);
    *rest = rc == 1 && n.running == 0;
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

static int stopping(struct batch_front *f, const struct batch_job *j, enum batch_job_event ev,
                    struct err *e)
{
    bool more, left, rest, held;
    const struct st_batch_job_move m = {.now_us = wakes_wall(f->wakes),
                                        .ends = ev == BATCH_JOB_EV_COMPLETED};
    if (stop_tasks(f, j, &more, e) < 0 || at_rest(f, j, &rest, e) < 0)
        return -1;
    if (more || !rest)
        return 0;
    if (m.ends && chores_finish(f, j, &left, e) < 0)
        return -1;
    if (m.ends && j->prepares && left)
        return 0;
    if (is_held_up(f, j, PACE_BATCH_JOB_CHANGE, &held, e) < 0)
        return -1;
    if (held)
        return 0;
    batch_schedule_look(f, j->schedule_id);
    if (m.ends && auto_pool_end_of_job(f, j, e) < 0)
        return -1;
    return job_move(f->st, j, ev, m, e);
}

/* When the job's time limit ends (monotonic); 0: no limit. The start is converted to monotonic time
 * only once, because the wall clock may be set later; the limit may change. */
static int64_t time_is_up(struct batch_front *f, const struct batch_job *j)
{
    if (j->limit_us <= 0)
        return 0;
    if (!id_map_has(&f->limited, j->id)) {
        int64_t since = wakes_mono_of(f->wakes, j->start_us, j->limit_us);
        id_map_put_number(&f->limited, j->id, since);
    }
    return id_map_number(&f->limited, j->id) + j->limit_us;
}

/* Whether the job has a time limit and has not begun to end. */
static bool is_limited(const struct batch_job *j)
{
    return j->limit_us > 0 && j->state != BATCH_JOB_TERMINATING &&
           j->state != BATCH_JOB_COMPLETED && j->state != BATCH_JOB_DELETING;
}

/* 1: the job's time limit has passed, and its termination has begun; 0: not. */
static int keep_limit(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    int64_t up = time_is_up(f, j);
    if (up && up <= wakes_mono(f->wakes)) {
        int64_t now = wakes_wall(f->wakes);
        return batch_job_terminate(f, j, "MaxWallClockTimeExpiry", false, now, e) < 0 ? -1 : 1;
    }
    wake_at(f->wakes, &woken_job, j->id, up);
    return 0;
}

/* 1: the job is terminated, and its next step follows at once: its nodes may wait only for its
 * tasks before they leave the pool, so its release tasks must begin before the last task is cleaned
 * up. */
static int active(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    struct arena a;
    struct batch_counts n;
    arena_init(&a);
    int rc = st_batch_job_counts(f->st, &a, j->id, &n, e);
    arena_free(&a);
    if (rc < 0)
        return -1;
    if (j->on_all == BATCH_ALL_TERMINATE && rc == 1 && n.active == 0 && n.running == 0)
        return batch_job_terminate(f, j, "AllTasksComplete", false, wakes_wall(f->wakes), e) < 0
                   ? -1
                   : 1;
    return n.active > 0 ? dispatcher_wake(f, j, e) : 0;
}

/* 1: the next step follows at once. */
static int next_step(struct batch_front *f, const struct batch_job *j, struct err *e)
{
    const struct st_batch_job_move m = {.now_us = wakes_wall(f->wakes)};
    bool held;
    int over = is_limited(j) ? keep_limit(f, j, e) : 0;
    if (over != 0)
        return over < 0 ? -1 : 0;
    switch (j->state) {
    case BATCH_JOB_ACTIVE:
        return active(f, j, e);
    case BATCH_JOB_DISABLING:
        return stopping(f, j, BATCH_JOB_EV_DISABLED, e);
    case BATCH_JOB_ENABLING:
        if (is_held_up(f, j, PACE_BATCH_JOB_CHANGE, &held, e) < 0 || held)
            return held ? 0 : -1;
        wake(f->wakes, &woken_job, j->id);
        return job_move(f->st, j, BATCH_JOB_EV_ENABLED, m, e);
    case BATCH_JOB_TERMINATING:
        return stopping(f, j, BATCH_JOB_EV_COMPLETED, e);
    case BATCH_JOB_DELETING:
        return deleting(f, j, e);
    case BATCH_JOB_DISABLED:
    case BATCH_JOB_COMPLETED:
        break;
    }
    return 0;
}

struct job_step {
    struct batch_front *f;
    int64_t id;
};

/* 1: the next step follows at once. */
static int do_step(struct storage *st, const struct job_step *s, struct err *e)
{
    struct arena a;
    struct batch_job j;
    arena_init(&a);
    int rc = st_batch_job_by_id(st, &a, s->id, &j, e);
    if (rc == 0 || (rc == 1 && !is_limited(&j)))
        id_map_remove(&s->f->limited, s->id);
    if (rc == 1)
        rc = next_step(s->f, &j, e);
    arena_free(&a);
    return rc;
}

static int step_in_tx(struct storage *st, void *ctx, struct err *e)
{
    int rc;
    do
        rc = do_step(st, ctx, e);
    while (rc == 1);
    return rc;
}

static void job_reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct job_step s = {f, id};
    struct err e = {0};
    wake_if_lost(f->wakes, &woken_job, id);
    if (st_tx(f->st, "batch job", step_in_tx, &s, &e) == 0)
        return;
    LOG_ERROR(f->log, "batch_job.reconcile_failed", LF_INT("job_id", id), LF_STR("why", e.msg));
    wake_at(f->wakes, &woken_job, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

/* --- jobs that are forgotten ------------------------------------------------------------------ */

struct forgetting {
    struct batch_front *f;
    const struct keep_cut *cut;
    int limit, gone;
};

static int forget_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct forgetting *k = ctx;
    struct arena a;
    struct batch_job *jobs;
    size_t n;
    arena_init(&a);
    int rc = st_batch_job_ended_before(st, &a, keep_until(k->cut), k->limit, &jobs, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++, k->gone++)
        rc = batch_job_delete(k->f, &jobs[i], k->cut->now_us, e);
    arena_free(&a);
    return rc;
}

/* Forgets jobs as if their users had deleted them. */
static int forget_jobs(void *ctx, const struct keep_cut *cut, int limit, int *gone, struct err *e)
{
    struct forgetting k = {ctx, cut, limit, 0};
    int64_t at;
    int rc = st_batch_job_ended_nth(k.f->st, keep_until(cut), 1, &at, e);
    if (rc <= 0)
        return rc;
    rc = st_tx(k.f->st, "forget jobs", forget_in_tx, &k, e);
    *gone = rc < 0 ? 0 : k.gone;
    return rc;
}

static const struct keep_kind kept_jobs = {KEEP_OWNERS, "Batch jobs", st_batch_job_ended_nth,
                                           forget_jobs, 20};

void jobs_begin(struct batch_front *f)
{
    wakes_handle(f->wakes, &woken_job, job_reconcile, f);
    jobs_go_on(f);
    jobs_wake_limited(f);
    jobs_wake_done(f);
    task_dependents_begin(f);
    schedules_begin(f);
    dispatcher_begin(f);
    cleanup_begin(f);
    chores_begin(f);
    keep_begin(f->sched, &kept_jobs, f);
}
