/* SPDX-License-Identifier: MIT
 *
 * The core's questions about runs of tasks, and its reports. Every function runs inside the
 * transaction that writes the event.
 */
#include "model/batch/job_states.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"

/* The task of a run, and its job. */
struct task_owner {
    struct batch_task t;
    struct batch_job j;
};

static int owner_of(struct storage *st, struct arena *a, const struct run *r,
                    struct task_owner *out, struct err *e)
{
    int rc = st_batch_task_by_id(st, a, r->owner_id, &out->t, e);
    if (rc == 1)
        rc = st_batch_job_by_id(st, a, out->t.job_id, &out->j, e);
    if (rc == 0)
        return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the run's task is gone");
    return rc < 0 ? -1 : 0;
}

const char *task_run_name(const struct front *f, struct storage *st, struct arena *a,
                          const struct run *r)
{
    struct batch_task t;
    struct err e;
    (void)f;
    if (is_chore(r))
        return chore_run_name(st, a, r);
    if (st_batch_task_by_id(st, a, r->owner_id, &t, &e) != 1)
        return "";
    return arena_concat(a, t.job_name, "/", t.name);
}

/* --- results ---------------------------------------------------------------------------------- */

static int contradicts(const struct run *r, const struct batch_task *t, struct err *e)
{
    return err_set(e, ERR_STORAGE, NULL,
                   "The database is damaged: the state of task %s (%s) contradicts the state of "
                   "its run %lld (%s); restore it from a backup.",
                   t->name, enum_to_name(batch_task_state_names, (int)t->state), (long long)r->id,
                   enum_to_name(run_state_names, (int)r->state));
}

static int move(struct storage *st, const struct run *r, const struct batch_task *t,
                enum batch_task_event ev, struct st_batch_task_move m, struct err *e)
{
    m.id = t->id;
    m.from = t->state;
    m.to = batch_task_next(t->state, ev);
    return m.to == 0 ? contradicts(r, t, e) : st_batch_task_move(st, &m, e);
}

/* 1: the task must wait for the preparation of a node for the job; 0: it may start. */
static int prepare(struct batch_front *f, struct arena *a, const struct batch_job *j,
                   struct task_nodes nodes, int64_t now_us, struct err *e)
{
    int held = 0;
    for (size_t i = 0; j->prepares && i < nodes.n; i++) {
        int waits = chore_prepare(f, a, j, nodes.parts[i].node_id, now_us, e);
        if (waits < 0)
            return -1;
        held = held || waits;
    }
    return held;
}

static int start(struct batch_front *f, struct storage *st, struct arena *a, const struct run *r,
                 int64_t now_us, struct err *e)
{
    struct task_owner o;
    struct allocation *parts;
    size_t n;
    if (owner_of(st, a, r, &o, e) < 0 ||
        st_allocation_of_run(st, a, r->id, r->attempt, &parts, &n, e) < 0 ||
        cleanup_of_task(st, a, &o.t, (struct task_nodes){parts, n}, e) < 0)
        return -1;
    int held = prepare(f, a, &o.j, (struct task_nodes){parts, n}, now_us, e);
    if (held < 0)
        return -1;
    if (o.t.files == BATCH_FILES_THERE)
        cleanup_wake(f);
    struct st_batch_task_move m = {.now_us = now_us,
                                   .starts = !held,
                                   .pool_name = o.j.pool_name,
                                   .node_name = n > 0 ? parts[0].node_name : NULL};
    if (n > 0 && st_node_emptied(st, parts[0].node_id, &m.emptied, e) < 0)
        return -1;
    wake(f->wakes, &woken_tasks, r->pool_id); /* one run less waits, so another may be made */
    if (o.t.instances > 1 && team_begin(st, &o.t, parts, n, now_us, e) < 0)
        return -1;
    return move(st, r, &o.t, held ? BATCH_TASK_EV_PREPARE : BATCH_TASK_EV_START, m, e);
}

int task_run_started(const struct front *f, struct storage *st, const struct run *r, int64_t now_us,
                     struct err *e)
{
    struct arena a;
    if (is_chore(r))
        return 0;
    arena_init(&a);
    int rc = start((struct batch_front *)(uintptr_t)batch_self(f), st, &a, r, now_us, e);
    arena_free(&a);
    return rc;
}

/* --- runs that wait on their nodes ------------------------------------------------------------ */

/* An earlier job or task with this name may have left files. They must be removed first: a later
 * removal would hit files of this run. `dir`: the run's directory. */
static int waits_for_removal(const struct batch_front *f, struct storage *st, const struct run *r,
                             const char *job_dir, const char *dir, bool *held, struct err *e)
{
    return st_batch_cleanup_under(st, r->id, r->attempt, job_dir, dir, wakes_steady_wall(f->wakes),
                                  held, e);
}

static int chore_waits(const struct batch_front *f, struct storage *st, struct arena *a,
                       const struct run *r, bool *held, struct err *e)
{
    struct batch_chore c;
    int rc = st_batch_chore_by_id(st, a, r->owner_id, &c, e);
    if (rc <= 0)
        return rc;
    const char *dir = batch_job_dir(a, c.job_name, c.job_number);
    return waits_for_removal(f, st, r, dir, dir, held, e);
}

int task_run_waits(const struct batch_front *f, struct storage *st, struct arena *a,
                   const struct run *r, bool *held, struct err *e)
{
    struct task_owner o;
    *held = false;
    if (is_chore(r))
        return chore_waits(f, st, a, r, held, e);
    if (owner_of(st, a, r, &o, e) < 0)
        return -1;
    *held = o.t.state == BATCH_TASK_PREPARING;
    if (*held)
        return 0;
    return waits_for_removal(f, st, r, batch_job_dir(a, o.j.name, o.j.number),
                             batch_task_dir(a, &o.t), held, e);
}

int task_run_is_held(const struct front *f, struct storage *st, const struct run *r, bool *held,
                     struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = task_run_waits(batch_self(f), st, &a, r, held, e);
    if (rc == 0 && *held)
        cleanup_await((struct batch_front *)(uintptr_t)batch_self(f), r->id);
    arena_free(&a);
    return rc;
}

int task_run_prepared(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e)
{
    (void)f, (void)st, (void)r, (void)now_us, (void)e;
    return 0; /* Batch clients see no state between start and end of a task */
}

int task_run_contained(const struct front *f, struct storage *st, const struct run *r,
                       const struct run_container *c, struct err *e)
{
    (void)f;
    if (is_chore(r))
        return st_batch_chore_contain(st, r->owner_id, c->id, e);
    return c->rank > 0 ? st_batch_subtask_contain(st, r->owner_id, c->rank, c->id, e)
                       : st_batch_task_contain(st, r->owner_id, c->id, e);
}

int task_run_stopping(const struct front *f, struct storage *st, const struct run *r,
                      int64_t now_us, struct err *e)
{
    /* a task that is being ended is shown as running */
    return task_run_prepared(f, st, r, now_us, e);
}

/* --- how it ended ---------------------------------------------------------------------------- */

/* The task waits for a node again, if it had one. The rows of its subtasks stay until the task
 * starts again, because they record on which nodes it has files. */
static int again(struct storage *st, const struct run *r, const struct batch_task *t, bool retried,
                 int64_t now_us, struct err *e)
{
    const struct st_batch_task_move m = {
        .now_us = now_us, .retried = retried, .requeued = !retried};
    const struct batch_subtask all = {.task_id = t->id, .end_us = now_us, .result = BATCH_FAILURE};
    if (t->instances > 1 && st_batch_subtask_end(st, &all, e) < 0)
        return -1;
    return t->state == BATCH_TASK_ACTIVE ? 0 : move(st, r, t, BATCH_TASK_EV_AGAIN, m, e);
}

/* Whether the task waits in its job again: its user requested it, or its pool was deleted before
 * the task ended (its job may get another pool). */
static bool goes_back(const struct batch_task *t, const struct run_end *end)
{
    if (t->fate == BATCH_FATE_REQUEUE)
        return end->stopped || end->was_queued;
    return t->fate == BATCH_FATE_OWN && end->why && end->why->code == FAIL_POOL_DELETED;
}

/* The user reactivated the task while it was being ended. The end of the task may have ended its
 * job, too. */
static int reactivate(const struct batch_front *f, struct storage *st, const struct batch_task *t,
                      int64_t now_us, struct err *e)
{
    struct batch_task row;
    struct batch_job j;
    struct arena a;
    arena_init(&a);
    int rc = st_batch_task_by_id(st, &a, t->id, &row, e);
    if (rc > 0)
        rc = st_batch_job_by_id(st, &a, row.job_id, &j, e);
    if (rc > 0 && row.state == BATCH_TASK_COMPLETED && j.state < BATCH_JOB_TERMINATING)
        rc = batch_task_reactivate((struct batch_front *)(uintptr_t)f, &row, now_us, e);
    arena_free(&a);
    return rc < 0 ? -1 : 0;
}

static int end_of(const struct batch_front *f, struct storage *st, struct arena *a,
                  const struct run *r, const struct run_end *end, struct err *e)
{
    struct task_owner o;
    if (owner_of(st, a, r, &o, e) < 0)
        return -1;
    wake(f->wakes, &woken_tasks, r->pool_id);
    wake_durable(f->wakes, &woken_job, o.j.id);
    if (o.t.fate == BATCH_FATE_DELETE)
        return 0; /* the task is removed with its run */
    if (goes_back(&o.t, end))
        return again(st, r, &o.t, false, end->now_us, e);
    if (task_complete(f, st, &o.t, end, e) < 0 || team_end(st, &o.t, end, e) < 0)
        return -1;
    return o.t.fate == BATCH_FATE_AGAIN && end->why ? reactivate(f, st, &o.t, end->now_us, e) : 0;
}

int task_run_ended(const struct front *f, struct storage *st, const struct run *r,
                   const struct run_end *end, struct err *e)
{
    struct arena a;
    if (is_chore(r))
        return chore_run_ended(batch_self(f), st, r, end, e);
    arena_init(&a);
    int rc = end_of(batch_self(f), st, &a, r, end, e);
    arena_free(&a);
    return rc;
}

int task_run_requeued(const struct front *f, struct storage *st, const struct run *r,
                      const char *why, int64_t now_us, struct err *e)
{
    struct arena a;
    struct task_owner o;
    struct run now;
    (void)why;
    if (is_chore(r))
        return chore_run_requeued(batch_self(f), st, r, now_us, e);
    arena_init(&a);
    int rc = owner_of(st, &a, r, &o, e);
    if (rc == 0 && o.j.state != BATCH_JOB_ACTIVE) /* its job removes the run before it starts */
        wake_durable(batch_self(f)->wakes, &woken_job, o.j.id);
    if (rc == 0 && (rc = st_run_by_id(st, &a, r->id, &now, e)) >= 0)
        rc = again(st, r, &o.t, rc == 1 && now.retried > r->retried, now_us, e);
    arena_free(&a);
    return rc;
}

static int forget(struct batch_front *f, struct storage *st, struct arena *a, const struct run *r,
                  struct err *e)
{
    struct batch_task t;
    int rc = st_batch_task_by_id(st, a, r->owner_id, &t, e);
    if (rc < 0 || st_runs_remove(st, RES_BATCH_TASK, r->owner_id, e) < 0)
        return -1;
    if (rc == 0)
        return 0;
    wake_durable(f->wakes, &woken_job, t.job_id);
    wake_if_lost(f->wakes, &woken_run, r->id);
    if (t.fate == BATCH_FATE_DELETE) {
        cleanup_wake(f);
        return task_remove(st, &t, e);
    }
    if (t.fate != BATCH_FATE_OWN && st_batch_task_set_fate(st, t.id, BATCH_FATE_OWN, e) < 0)
        return -1;
    return st_batch_task_feed(st, t.id, false, e);
}

int task_run_may_forget(const struct front *f, struct storage *st, const struct run *r,
                        int64_t now_us, struct err *e)
{
    struct arena a;
    (void)now_us;
    if (is_chore(r))
        return chore_run_may_forget(batch_self(f), st, r, e);
    arena_init(&a);
    int rc = forget((struct batch_front *)(uintptr_t)batch_self(f), st, &a, r, e);
    arena_free(&a);
    return rc;
}
