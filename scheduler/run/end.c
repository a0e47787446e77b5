/* SPDX-License-Identifier: MIT
 *
 * What is written when a run is over: how the job ended, and that its nodes are free again.
 */
#include <assert.h>

#include "model/states.h"
#include "scheduler/run/outputs.h"
#include "scheduler/run/run_priv.h"

static int end_tx(struct storage *st, void *ctx, struct err *e)
{
    struct job_run *run = ctx;
    const struct front *f = run->runs->front;
    const struct outcome *out = &run->out;
    const struct run_end end = {.job_id = run->id,
                                .from = run->exec,
                                .succeeded = out->kind == OUT_SUCCEEDED,
                                /* Unless a full disk took back that it was to stop. */
                                .stopped =
                                    out->kind == OUT_STOPPED && run->exec == EXEC_TERMINATING,
                                .has_exit_code = out->has_exit_code,
                                .exit_code = out->exit_code,
                                .why = out->kind == OUT_SUCCEEDED ? NULL : &out->why,
                                .now_us = wakes_wall(run->runs->wakes)};
    assert(out->kind != OUT_NONE && out->kind != OUT_REQUEUE && out->kind != OUT_REMOVE);
    return f->ops->ended(f, st, &end, e);
}

static void log_end(struct job_run *run)
{
    const char *event = run->out.kind == OUT_SUCCEEDED ? "job.succeeded" : "job.failed";
    LOG_INFO(run->runs->log, event, LF_STR("job", run->name), LF_INT("job_id", run->id),
             LF_STR("node", run->slots[0].node_name),
             LF_INT("ms", (wakes_mono(run->runs->wakes) - run->began_us) / 1000),
             LF_STR("why", run->out.why.code ? failure_line(&run->a, &run->out.why) : NULL),
             LF_STR("command", run->out.why.command), LF_STR("stderr", run->out.why.stderr_tail));
}

/* On disk: the nodes may forget. Rolled back: to be written again. */
static void effect_ended(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    struct job_run *run = id_map_find(&rs->map, id);
    if (!run || run->phase != RUN_ENDED)
        return;
    if (why) {
        run_go(run, RUN_ENDING);
        wake_at(rs->wakes, WAKE_RUN, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
        return;
    }
    log_end(run); /* not before: what is rolled back has not happened */
    run_go(run, RUN_CLEANING);
    wake(rs->wakes, WAKE_RUN, id);
}

void run_write_end(struct job_run *run)
{
    struct err e = {0};
    if (st_tx(run->runs->st, "end job", end_tx, run, &e) != 0) {
        LOG_ERROR(run->runs->log, "job.end_not_written", LF_STR("job", run->name),
                  LF_STR("why", e.msg));
        wake_at(run->runs->wakes, WAKE_RUN, run->id, wakes_mono(run->runs->wakes) + WRITE_AGAIN_US);
        return;
    }
    run_go(run, RUN_ENDED);
    wake_when_durable(run->runs->wakes, effect_ended, run->runs, run->id);
}

static int release_node(struct job_run *run, const struct node *row, struct err *e)
{
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = node_next(row->state, NODE_EV_RELEASED),
                                   .now_us = wakes_wall(run->runs->wakes),
                                   .errors = row->state == NODE_UNUSABLE ? row->errors : NULL};
    assert(m.to != 0);
    return st_node_move(run->runs->st, &m, e);
}

/* Where output may be that no share of ours holds; on a machine a share need not be ours. */
static int write_place(struct job_run *run, struct job_slot *slot, struct err *e)
{
    const struct job_place p = {
        .job_id = run->id, .rank = slot->rank, .node_id = slot->node_id, .kept = slot_keeps(slot)};
    bool on_machine = slot->tenant.node && !node_rt_is_local(slot->tenant.node);
    if (!p.kept && !on_machine && !outputs_off_shares(&run->a, &run->spec))
        return 0;
    if (p.kept)
        fleet_sweep_when_durable(run->runs->fleet, slot->node_id);
    return st_place_insert(run->runs->st, &p, wakes_wall(run->runs->wakes), run->runs->kept_outputs,
                           e);
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
    const struct front *f = run->runs->front;
    return f->ops->requeued(f, st, run->id, run->exec, wakes_wall(run->runs->wakes), e);
}

/* Rolled back: the rows still say that the nodes hold the job, so a new run cleans them again. */
static void effect_released(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    if (why)
        wake_at(rs->wakes, WAKE_RUN, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
}

void run_release(struct job_run *run)
{
    struct runs *rs = run->runs;
    struct err e = {0};
    if (st_tx(rs->st, "release nodes", release_tx, run, &e) != 0) {
        LOG_ERROR(rs->log, "job.release_failed", LF_STR("job", run->name), LF_STR("why", e.msg));
        wake_at(rs->wakes, WAKE_RUN, run->id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
        return;
    }
    if (run->out.kind == OUT_REQUEUE)
        LOG_INFO(rs->log, "job.queued", LF_STR("job", run->name), LF_INT("job_id", run->id),
                 LF_STR("why", failure_line(&run->a, &run->out.why)));
    wake_when_durable(rs->wakes, effect_released, rs, run->id);
    for (int i = 0; i < run->n_slots; i++)
        wake_durable(rs->wakes, WAKE_NODE, run->slots[i].node_id);
    runs_tell_over(rs, run->cluster_id);
    if (run->deleting)
        runs_tell_deletion(rs);
    job_run_free(run);
}
