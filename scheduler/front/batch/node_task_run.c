/* SPDX-License-Identifier: MIT
 *
 * The results of runs of preparation and release tasks. Every function runs inside the transaction
 * that writes the event.
 */
#include "model/batch/job_states.h"
#include "scheduler/fleet/container/container.h"
#include "scheduler/front/batch/front_priv.h"

const char *chore_run_name(struct storage *st, struct arena *a, const struct run *r)
{
    struct batch_chore c;
    struct err e;
    if (st_batch_chore_by_id(st, a, r->owner_id, &c, &e) != 1)
        return "";
    return arena_concat(a, c.job_name, c.kind == BATCH_RELEASE ? " (release)" : " (preparation)");
}

/* --- tasks that wait for a preparation -------------------------------------------------------- */

/* Lets a task begin, unless it waits for the preparation of another of its nodes. */
static int let_begin(const struct batch_front *f, struct storage *st, struct arena *a,
                     const struct batch_task *t, int64_t now_us, struct err *e)
{
    struct run r;
    const struct st_batch_task_move m = {.id = t->id,
                                         .from = t->state,
                                         .to = batch_task_next(t->state, BATCH_TASK_EV_START),
                                         .now_us = now_us,
                                         .starts = true};
    bool awaited;
    int rc = st_run_of(st, a, RES_BATCH_TASK, t->id, 0, &r, e);
    if (rc <= 0)
        return rc;
    if (st_batch_chore_awaited(st, t->job_id, r.id, r.attempt, &awaited, e) < 0)
        return -1;
    if (awaited)
        return 0;
    if (st_batch_task_move(st, &m, e) < 0 || st_run_begins(st, r.id, now_us, e) < 0)
        return -1;
    wake_durable(f->wakes, &woken_run, r.id);
    return 0;
}

/* Requeues the task, so that it gets another node, unless the task is already ending. */
static int send_away(const struct batch_front *f, const struct batch_task *t, struct err *e)
{
    if (t->fate != BATCH_FATE_OWN)
        return 0;
    return task_stop((struct batch_front *)(uintptr_t)f, t, BATCH_FATE_REQUEUE, e);
}

/* Schedules the removal of the task's directory after its retention time; another run of the task
 * there cancels it. A node that was wiped since then (up_us 0) no longer has the directory. */
static int keep_files(const struct batch_front *f, struct storage *st, struct arena *a,
                      const struct batch_chore *c, const struct batch_job_spec *job, int64_t now_us,
                      struct err *e)
{
    const struct batch_task_spec *spec = c->kind == BATCH_RELEASE ? job->release : job->preparation;
    int64_t until = spec && c->node_id && c->up_us > 0 ? batch_kept_until(spec, now_us) : 0;
    if (until == 0)
        return 0;
    cleanup_wake((struct batch_front *)(uintptr_t)f);
    return st_batch_cleanup_add(
        st, c->node_id,
        arena_concat(a, batch_job_dir(a, c->job_name, c->job_number), "/", spec->id), until, e);
}

static int settle(const struct batch_front *f, struct storage *st, struct arena *a,
                  const struct batch_chore *c, const struct run_end *end, struct err *e)
{
    struct batch_job j;
    struct batch_job_spec spec;
    struct batch_task *tasks;
    size_t n;
    int rc = st_batch_job_by_id(st, a, c->job_id, &j, e);
    if (rc <= 0)
        return rc;
    if (batch_job_decode(a, j.doc, NULL, &spec, e) < 0 ||
        keep_files(f, st, a, c, &spec, end->now_us, e) < 0)
        return -1;
    if (c->kind == BATCH_RELEASE)
        return 0;
    if (st_batch_task_preparing(st, a, c->job_id, c->node_id, &tasks, &n, e) < 0)
        return -1;
    bool good = !end->why || !spec.preparation || !spec.preparation->awaited;
    if (!good && !end->stopped && c->node_id &&
        (st_node_bar(st, c->job_id, c->node_id, e) < 0 ||
         dispatcher_wake((struct batch_front *)(uintptr_t)f, &j, e) < 0))
        return -1;
    for (size_t i = 0; i < n; i++)
        if ((good ? let_begin(f, st, a, &tasks[i], end->now_us, e) : send_away(f, &tasks[i], e)) <
            0)
            return -1;
    return 0;
}

/* --- results ---------------------------------------------------------------------------------- */

static int end_of(const struct batch_front *f, struct storage *st, struct arena *a,
                  const struct run *r, const struct run_end *end, struct err *e)
{
    struct batch_chore c;
    int rc = st_batch_chore_by_id(st, a, r->owner_id, &c, e);
    if (rc <= 0) /* a newer row has replaced it, because the node was rebooted */
        return rc;
    const struct st_batch_chore_end m = {.id = c.id,
                                         .now_us = end->now_us,
                                         .has_exit_code = end->has_exit_code,
                                         .exit_code = end->exit_code,
                                         .result = end->why ? BATCH_FAILURE : BATCH_SUCCESS,
                                         .failure =
                                             end->why ? task_failure_info(a, end->why) : NULL,
                                         .container_error = container_error(end->why)};
    wake_durable(f->wakes, &woken_job, c.job_id);
    if (st_batch_chore_end(st, &m, e) < 0)
        return -1;
    return settle(f, st, a, &c, end, e);
}

int chore_run_ended(const struct batch_front *f, struct storage *st, const struct run *r,
                    const struct run_end *end, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = end_of(f, st, &a, r, end, e);
    arena_free(&a);
    return rc;
}

/* The run has ended without a result. A release task is repeated on its node if the node returns in
 * time (chores_finish()). */
static int lose(struct storage *st, struct arena *a, const struct batch_chore *c,
                const struct run_end *end, struct err *e)
{
    const struct st_batch_chore_end m = {.id = c->id,
                                         .now_us = end->now_us,
                                         .result = BATCH_FAILURE,
                                         .failure = task_failure_info(a, end->why)};
    if (st_runs_remove(st, RES_BATCH_CHORE, c->id, e) < 0)
        return -1;
    return c->kind == BATCH_PREPARATION ? st_batch_chore_end(st, &m, e) : 0;
}

/* Tasks that wait for a preparation are requeued when their node is lost. If the node still exists,
 * they are requeued here. The job may use the node again, because the preparation itself has not
 * failed. */
static int give_way(const struct batch_front *f, struct storage *st, struct arena *a,
                    const struct batch_chore *c, bool is_there, int64_t now_us, struct err *e)
{
    const struct failure why = {.code = FAIL_NODE_LOST,
                                .message = is_there ? "The node could not run the task to its end"
                                                    : "The node was lost before the task had ended",
                                .node = c->node_name,
                                .exit_code = -1};
    const struct run_end end = {.why = &why, .stopped = true, .now_us = now_us};
    if (lose(st, a, c, &end, e) < 0)
        return -1;
    return is_there && c->kind == BATCH_PREPARATION ? settle(f, st, a, c, &end, e) : 0;
}

/* Whether a task of which the node has no record may begin again on the same node. The core limits
 * how often this happens to a run. */
static bool is_open(const struct batch_front *f, const struct node *nd, enum batch_chore_kind kind)
{
    bool takes =
        kind == BATCH_RELEASE ? chore_may_release(nd) : nd->wish == WISH_NOTHING && nd->off == 0;
    return takes && !fleet_node_closed(sched_fleet(f->sched), nd->id);
}

static int again(const struct batch_front *f, struct storage *st, struct arena *a,
                 const struct run *was, int64_t now_us, struct err *e)
{
    struct batch_chore c;
    struct run r;
    struct node nd;
    int rc = st_batch_chore_by_id(st, a, was->owner_id, &c, e);
    if (rc <= 0)
        return rc < 0 ? -1 : st_runs_remove(st, RES_BATCH_CHORE, was->owner_id, e);
    wake_durable(f->wakes, &woken_job, c.job_id);
    rc = st_run_by_id(st, a, was->id, &r, e);
    if (rc <= 0)
        return rc;
    bool retried = r.retried > was->retried;
    rc = c.node_id ? st_node_by_id(st, a, c.node_id, &nd, e) : 0;
    if (rc < 0)
        return -1;
    bool is_there = rc == 1 && nd.state == NODE_IDLE;
    if (!is_there || (!retried && !is_open(f, &nd, c.kind)))
        return give_way(f, st, a, &c, is_there, now_us, e);
    if (retried && st_batch_chore_retry(st, c.id, now_us, e) < 0)
        return -1;
    return runs_begin_aside(sched_runs(f->sched), &r, &nd, e);
}

int chore_run_requeued(const struct batch_front *f, struct storage *st, const struct run *r,
                       int64_t now_us, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = again(f, st, &a, r, now_us, e);
    arena_free(&a);
    return rc;
}

int chore_run_may_forget(const struct batch_front *f, struct storage *st, const struct run *r,
                         struct err *e)
{
    struct arena a;
    struct batch_chore c;
    arena_init(&a);
    int rc = st_batch_chore_by_id(st, &a, r->owner_id, &c, e);
    if (rc == 1)
        wake_durable(f->wakes, &woken_job, c.job_id);
    arena_free(&a);
    return rc < 0 ? -1 : st_runs_remove(st, RES_BATCH_CHORE, r->owner_id, e);
}
