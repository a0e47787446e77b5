/* SPDX-License-Identifier: MIT
 *
 * A reconciler, woken by the id of the row: it makes the next job in the transaction that updates
 * the row's numbers, or ends a terminating or deleting schedule, and is woken again when the next
 * job is due.
 */
#include "scheduler/front/batch/schedules.h"

#include <limits.h>

#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/tasks.h"

static const struct wake_kind woken_schedule = {"batch schedule", WAKE_LAST};

/* Jobs that one pass deletes; other work of the loop waits meanwhile. */
#define JOBS_AT_ONCE 100
/* The period of checks of the wall clock (us): it may be set at any moment. */
#define LOOK_US (INT64_C(60) * 1000000)
/* How long (us) the wall clock must stay set forward before schedules use the new time. */
#define TRUST_US (5 * LOOK_US)
/* A smaller change (us) of the wall clock is ignored. */
#define STEP_US INT64_C(1000000)

/* --- jobs ------------------------------------------------------------------------------------- */

/* The data of one pass over a schedule. */
struct schedule_pass {
    struct batch_front *f;
    struct arena *a;
    const struct batch_schedule *s;
    int64_t now_us;
    struct batch_times times;
    struct batch_job last; /* the last job that the schedule made */
    bool busy;             /* the last job is not completed */
};

static int load_last(struct schedule_pass *p, struct err *e)
{
    struct batch_job_rows rows;
    if (p->s->number == 0)
        return 0;
    if (st_batch_job_list_schedule(
            p->f->st, p->a, p->s->id, NULL,
            &(struct st_page){.after = p->s->number - 1, .upto = p->s->number, .limit = 1}, &rows,
            e) < 0)
        return -1;
    if (rows.n > 0)
        p->last = rows.items[0];
    p->busy = rows.n > 0 && p->last.state < BATCH_JOB_COMPLETED;
    return 0;
}

static int read_spec(struct schedule_pass *p, struct batch_job_spec *out, struct err *e)
{
    return batch_job_decode(p->a, batch_schedule_job_doc(p->a, p->s->doc, p->s->name), NULL, out,
                            e);
}

/* The pool that was made for the earlier jobs; "": the next job makes a pool, because there is
 * none, or because the schedule now wants a pool for each job. */
static int pool_of_jobs(struct schedule_pass *p, const char **name, struct err *e)
{
    struct batch_job_spec spec;
    struct batch_pool pool;
    *name = "";
    if (!p->s->auto_pool)
        return 0;
    if (read_spec(p, &spec, e) < 0)
        return -1;
    if (spec.auto_life != BATCH_AUTO_OF_SCHEDULE)
        return 0;
    int rc = st_batch_pool_get(p->f->st, p->a, p->s->account_id, p->s->auto_pool, &pool, e);
    if (rc == 1 && pool.state == BATCH_POOL_ACTIVE)
        *name = p->s->auto_pool;
    return rc < 0 ? -1 : 0;
}

static int make_job(struct schedule_pass *p, struct err *e)
{
    const struct batch_schedule *s = p->s;
    const char *secrets;
    int number = s->number + 1;
    const char *name = arena_printf(p->a, "%s:job-%d", s->name, number);
    struct batch_job j = {.account_id = s->account_id,
                          .name = name,
                          .doc = batch_schedule_job_doc(p->a, s->doc, name),
                          .created_by = s->created_by,
                          .state = BATCH_JOB_ACTIVE,
                          .state_us = p->now_us,
                          .created_us = p->now_us,
                          .updated_us = p->now_us,
                          .start_us = p->now_us,
                          .schedule_id = s->id,
                          .number = number};
    if (pool_of_jobs(p, &j.pool_name, e) < 0 ||
        st_batch_schedule_secrets(p->f->st, p->a, s->id, &secrets, e) < 0 ||
        batch_job_add(p->f, p->a, &j, batch_schedule_job_secrets(p->a, secrets), e) < 0)
        return -1;
    batch_job_changed(p->f, j.id);
    p->busy = true;
    if (j.auto_life != BATCH_AUTO_OF_SCHEDULE || !*j.pool_name)
        return 0;
    return st_batch_schedule_set_pool(p->f->st, s->id, j.pool_name, e);
}

/* Deletes the pool that was made for the schedule's jobs, unless the pool is to be kept. */
static int end_pool(struct schedule_pass *p, struct err *e)
{
    struct batch_job_spec spec;
    if (!p->s->auto_pool)
        return 0;
    if (read_spec(p, &spec, e) < 0)
        return -1;
    return spec.auto_keep ? 0 : auto_pool_end(p->f, p->s->account_id, p->s->auto_pool, e);
}

/* --- when ------------------------------------------------------------------------------------- */

/* The recurrence whose job is due or is the next. A recurrence is skipped when the next interval
 * has begun, or when its window has passed. 0: there is none. */
static int64_t not_too_late(const struct batch_times *t, int64_t next_us, int64_t now_us)
{
    if (t->interval_us > 0 && next_us < now_us)
        next_us += (now_us - next_us) / t->interval_us * t->interval_us;
    if (now_us - next_us <= t->window_us)
        return next_us;
    return t->interval_us > 0 ? next_us + t->interval_us : 0;
}

/* Returns `next_us`; 0: the job would be made after doNotRunAfter. A job that is due is made
 * now. */
static int64_t within(const struct batch_times *t, int64_t next_us, int64_t now_us)
{
    int64_t at_us = next_us > now_us ? next_us : now_us;
    return t->after_us && at_us > t->after_us ? 0 : next_us;
}

/* Makes a job if it is due, and computes the time of the next job. */
static int advance(struct schedule_pass *p, int64_t *next, int *number, struct err *e)
{
    const struct batch_times *t = &p->times;
    *number = p->s->number;
    *next = p->s->next_us ? within(t, not_too_late(t, p->s->next_us, p->now_us), p->now_us) : 0;
    if (*next == 0 || *next > p->now_us || p->busy)
        return 0;
    if (make_job(p, e) < 0)
        return -1;
    *number = p->s->number + 1;
    *next = t->interval_us ? within(t, *next + t->interval_us, p->now_us) : 0;
    return 0;
}

/* Sets the schedule's next wake-up; the end of a job wakes the schedule, too. */
static void wake_then(const struct schedule_pass *p, int64_t next_us)
{
    int64_t in = next_us - p->now_us;
    in = in <= 0 || in > LOOK_US ? LOOK_US : in;
    wake_at(p->f->wakes, &woken_schedule, p->s->id, wakes_mono(p->f->wakes) + in);
}

static int move(struct schedule_pass *p, enum batch_schedule_state to, struct err *e)
{
    const struct st_schedule_move m = {.id = p->s->id,
                                       .from = p->s->state,
                                       .to = to,
                                       .now_us = p->now_us,
                                       .ends = to == BATCH_SCHEDULE_COMPLETED};
    if (m.ends && end_pool(p, e) < 0)
        return -1;
    return st_batch_schedule_move(p->f->st, &m, e);
}

static int active(struct schedule_pass *p, struct err *e)
{
    int64_t next;
    int number;
    if (advance(p, &next, &number, e) < 0)
        return -1;
    if ((next != p->s->next_us || number != p->s->number) &&
        st_batch_schedule_set_next(p->f->st, p->s->id, number, next, e) < 0)
        return -1;
    if (next == 0 && !p->busy)
        return move(p, BATCH_SCHEDULE_COMPLETED, e);
    if (next)
        wake_then(p, next);
    return 0;
}

static int terminating(struct schedule_pass *p, struct err *e)
{
    if (!p->busy)
        return move(p, BATCH_SCHEDULE_COMPLETED, e);
    if (p->last.state == BATCH_JOB_TERMINATING)
        return 0;
    return batch_job_terminate(p->f, &p->last, "TerminateJobSchedule", false, p->now_us, e);
}

static int deleting(struct schedule_pass *p, struct err *e)
{
    struct batch_job_rows rows;
    if (st_batch_job_list_schedule(p->f->st, p->a, p->s->id, NULL,
                                   &(struct st_page){.upto = INT_MAX, .limit = JOBS_AT_ONCE}, &rows,
                                   e) < 0)
        return -1;
    if (rows.n == 0)
        return end_pool(p, e) < 0 ? -1 : st_batch_schedule_remove(p->f->st, p->s->id, e);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].state != BATCH_JOB_DELETING &&
            batch_job_delete(p->f, &rows.items[i], p->now_us, e) < 0)
            return -1;
    return 0;
}

static int next_step(struct schedule_pass *p, struct err *e)
{
    switch (p->s->state) {
    case BATCH_SCHEDULE_ACTIVE:
        return active(p, e);
    case BATCH_SCHEDULE_TERMINATING:
        return terminating(p, e);
    case BATCH_SCHEDULE_DELETING:
        return deleting(p, e);
    case BATCH_SCHEDULE_DISABLED:
    case BATCH_SCHEDULE_COMPLETED:
        break;
    }
    return 0;
}

/* The wall clock for schedules. If the clock is set forward, schedules use the new time only after
 * a while, in case it is set back: a schedule that the wrong time has ended, or whose next job it
 * has postponed, would stay so. */
static int64_t schedules_wall(struct batch_front *f)
{
    int64_t steady_us = wakes_steady_wall(f->wakes), now_us = wakes_mono(f->wakes);
    int64_t ahead_us = wakes_wall(f->wakes) - steady_us;
    if (ahead_us < f->ahead_us - STEP_US || ahead_us > f->ahead_us + STEP_US) {
        f->ahead_us = ahead_us;
        f->ahead_since_us = now_us;
    }
    if (ahead_us < f->trusted_us || now_us - f->ahead_since_us >= TRUST_US)
        f->trusted_us = ahead_us;
    return steady_us + f->trusted_us;
}

struct schedule_step {
    struct batch_front *f;
    int64_t id;
};

/* 1: the schedule exists, and its account is not being deleted; 0: nothing is to be done any
 * more. */
static int load(struct storage *st, struct arena *a, int64_t id, struct batch_schedule *out,
                struct err *e)
{
    struct batch_account account;
    int rc = st_batch_schedule_by_id(st, a, id, out, e);
    if (rc == 1)
        rc = st_batch_account_by_id(st, a, out->account_id, &account, e);
    return rc == 1 ? account.prov_state != PROV_DELETING : rc;
}

static int step_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct schedule_step *k = ctx;
    struct arena a;
    struct batch_schedule s;
    arena_init(&a);
    int rc = load(st, &a, k->id, &s, e);
    if (rc == 1) {
        struct schedule_pass p = {.f = k->f, .a = &a, .s = &s, .now_us = schedules_wall(k->f)};
        if (p.now_us < s.created_us) /* its first job may be due at once */
            p.now_us = s.created_us;
        batch_times_read(s.doc, &p.times);
        rc = load_last(&p, e) < 0 ? -1 : next_step(&p, e);
    }
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

static void schedule_reconcile(void *ctx, int64_t id)
{
    struct batch_front *f = ctx;
    struct schedule_step k = {f, id};
    struct err e = {0};
    wake_if_lost(f->wakes, &woken_schedule, id);
    if (st_tx(f->st, "job schedule", step_in_tx, &k, &e) == 0)
        return;
    LOG_ERROR(f->log, "batch_schedule.reconcile_failed", LF_INT("schedule_id", id),
              LF_STR("why", e.msg));
    wake_at(f->wakes, &woken_schedule, id, wakes_mono(f->wakes) + WRITE_AGAIN_US);
}

void batch_schedule_changed(struct batch_front *f, int64_t id)
{
    wake_durable(f->wakes, &woken_schedule, id);
}

void batch_schedule_look(struct batch_front *f, int64_t id)
{
    wake(f->wakes, &woken_schedule, id);
}

void schedules_begin(struct batch_front *f)
{
    struct err e;
    wakes_handle(f->wakes, &woken_schedule, schedule_reconcile, f);
    if (wake_listed(f->wakes, &woken_schedule, st_batch_schedule_live_ids, &e) < 0)
        LOG_ERROR(f->log, "batch_schedule.not_listed", LF_STR("why", e.msg));
}
