/* SPDX-License-Identifier: MIT
 *
 * What is written when a run is over: how the job ended, and that its nodes are free again.
 */
#include <assert.h>

#include "model/machines.h"
#include "scheduler/job_priv.h"
#include "scheduler/outputs.h"

static enum job_event end_event(enum outcome_kind kind)
{
    switch (kind) {
    case OUT_SUCCEEDED:
        return JOB_EV_SUCCEEDED;
    case OUT_STOPPED:
        return JOB_EV_STOPPED;
    case OUT_REQUEUE:
        return JOB_EV_REQUEUE;
    case OUT_FAILED:
    case OUT_REMOVE:
    case OUT_NONE:
        return JOB_EV_FAILED;
    }
    return JOB_EV_FAILED;
}

static int end_tx(struct storage *st, void *ctx, struct err *e)
{
    struct job_run *run = ctx;
    int64_t now = sched_now(run->s);
    bool failed = run->out.kind != OUT_SUCCEEDED;
    const struct st_job_move m = {.id = run->id,
                                  .from = run->exec,
                                  .to = job_next(run->exec, end_event(run->out.kind)),
                                  .now_us = now,
                                  .end_us = now,
                                  .has_exit_code = run->out.has_exit_code,
                                  .exit_code = run->out.exit_code,
                                  .errors =
                                      failed ? failure_append(&run->a, NULL, &run->out.why) : NULL};
    assert(m.to != 0);
    if (st_job_move(st, &m, e) != 0)
        return -1;
    if (run->exec != EXEC_TERMINATING)
        return 0;
    return st_op_finish(st, RES_JOB, run->id, false, NULL, NULL, now, e);
}

static void log_end(struct job_run *run)
{
    const char *event = run->out.kind == OUT_SUCCEEDED ? "job.succeeded" : "job.failed";
    LOG_INFO(run->s->log, event, LF_STR("job", run->name), LF_INT("job_id", run->id),
             LF_STR("node", run->slots[0].node_name),
             LF_INT("ms", (sched_now(run->s) - run->start_us) / 1000),
             LF_STR("why", run->out.why.code ? failure_line(&run->a, &run->out.why) : NULL),
             LF_STR("command", run->out.why.command), LF_STR("stderr", run->out.why.stderr_tail));
}

/* On disk: the nodes may forget. Rolled back: to be written again. */
static void effect_ended(struct sched *s, int64_t id, const struct err *why)
{
    struct job_run *run = id_map_find(&s->runs, id);
    if (!run || run->phase != RUN_ENDED)
        return;
    if (why) {
        run->phase = RUN_ENDING;
        wake_at(s, WAKE_JOB, id, sched_now(s) + WRITE_AGAIN_US);
        return;
    }
    log_end(run); /* not before: what is rolled back has not happened */
    run->phase = RUN_CLEANING;
    wake(s, WAKE_JOB, id);
}

void run_write_end(struct job_run *run)
{
    struct err e = {0};
    if (st_tx(run->s->st, "end job", end_tx, run, &e) != 0) {
        LOG_ERROR(run->s->log, "job.end_not_written", LF_STR("job", run->name),
                  LF_STR("why", e.msg));
        wake_at(run->s, WAKE_JOB, run->id, sched_now(run->s) + WRITE_AGAIN_US);
        return;
    }
    run->phase = RUN_ENDED;
    sched_after_durable(run->s, run->id, effect_ended);
}

static int release_node(struct job_run *run, const struct node *row, struct err *e)
{
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = node_next(row->state, NODE_EV_RELEASED),
                                   .now_us = sched_now(run->s),
                                   .errors = row->state == NODE_UNUSABLE ? row->errors : NULL};
    assert(m.to != 0);
    return st_node_move(run->s->st, &m, e);
}

/* Where output may be that no share of ours holds; on a machine a share need not be ours. */
static int write_place(struct job_run *run, struct job_slot *slot, struct err *e)
{
    const struct job_place p = {
        .job_id = run->id, .rank = slot->rank, .node_id = slot->node_id, .kept = slot_keeps(slot)};
    bool on_machine = slot->rt && slot->rt->machine;
    if (!p.kept && !on_machine && !outputs_off_shares(&run->a, &run->spec))
        return 0;
    if (p.kept)
        sched_after_durable(run->s, slot->node_id, effect_sweep_node);
    return st_place_insert(run->s->st, &p, sched_now(run->s), run->s->cfg.kept_outputs, e);
}

/* `nodes`: those of the run that still have rows. */
static int write_places(struct job_run *run, const struct node *nodes, size_t n, struct err *e)
{
    bool ended = run->exec == EXEC_SUCCEEDED || run->exec == EXEC_FAILED;
    if (!ended || run->deleting || !run->spec.segment)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (nodes[i].rank < run->n_slots && write_place(run, &run->slots[nodes[i].rank], e) != 0)
            return -1;
    return 0;
}

static int release_tx(struct storage *st, void *ctx, struct err *e)
{
    struct job_run *run = ctx;
    struct node *nodes;
    size_t n;
    if (st_node_of_job(st, &run->a, run->id, &nodes, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (release_node(run, &nodes[i], e) != 0)
            return -1;
    if (write_places(run, nodes, n, e) != 0)
        return -1;
    if (run->out.kind != OUT_REQUEUE)
        return 0;
    const struct st_job_move m = {.id = run->id,
                                  .from = run->exec,
                                  .to = job_next(run->exec, JOB_EV_REQUEUE),
                                  .now_us = sched_now(run->s),
                                  .start_us = -1};
    assert(m.to != 0);
    return st_job_move(st, &m, e);
}

/* Rolled back: the rows still say that the nodes hold the job, so a new run cleans them again. */
static void effect_released(struct sched *s, int64_t id, const struct err *why)
{
    if (why)
        wake_at(s, WAKE_JOB, id, sched_now(s) + WRITE_AGAIN_US);
}

void run_release(struct job_run *run)
{
    struct sched *s = run->s;
    struct err e = {0};
    if (st_tx(s->st, "release nodes", release_tx, run, &e) != 0) {
        LOG_ERROR(s->log, "job.release_failed", LF_STR("job", run->name), LF_STR("why", e.msg));
        wake_at(s, WAKE_JOB, run->id, sched_now(s) + WRITE_AGAIN_US);
        return;
    }
    if (run->out.kind == OUT_REQUEUE)
        LOG_INFO(s->log, "job.queued", LF_STR("job", run->name), LF_INT("job_id", run->id),
                 LF_STR("why", failure_line(&run->a, &run->out.why)));
    sched_after_durable(s, run->id, effect_released);
    for (int i = 0; i < run->n_slots; i++)
        sched_after_durable(s, run->slots[i].node_id, effect_wake_node);
    wake(s, WAKE_CLUSTER, run->cluster_id);
    if (run->deleting)
        s->wake_deletions = true;
    job_run_free(run);
}
