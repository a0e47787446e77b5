/* SPDX-License-Identifier: MIT
 *
 * Writes that a run has ended: its result, and the release of its nodes.
 */
#include <assert.h>

#include "model/states.h"
#include "scheduler/run/outputs.h"
#include "scheduler/run/run_priv.h"

/* Records the measured use now, because the nodes forget the tasks before their allocations end. */
static int note_used(struct live_run *run, struct storage *st, struct err *e)
{
    for (int i = 0; i < run->n_slots; i++) {
        const struct run_slot *slot = &run->slots[i];
        if (slot->used.known && st_allocation_note_used(st, run->row.id, run->row.attempt,
                                                        slot->rank, &slot->used, e) < 0)
            return -1;
    }
    return 0;
}

static int end_tx(struct storage *st, void *ctx, struct err *e)
{
    struct live_run *run = ctx;
    const struct front *f = run->front;
    const struct run_outcome *out = &run->out;
    int64_t now = wakes_wall(run->runs->wakes);
    const struct run_end end = {
        .succeeded = out->kind == OUT_SUCCEEDED,
        /* The row may lack the stop: a full disk may have rolled it back. */
        .stopped = out->kind == OUT_STOPPED && run->row.stop == STOP_RUN,
        .has_exit_code = out->has_exit_code,
        .exit_code = out->exit_code,
        .why = out->kind == OUT_SUCCEEDED ? NULL : &out->why,
        .now_us = now};
    const struct st_run_move m = {.id = run->row.id,
                                  .from = run->row.state,
                                  .to = run_next(run->row.state, RUN_EV_ENDED),
                                  .end_us = now,
                                  .failure = end.why ? (int)end.why->code : 0};
    assert(out->kind != OUT_NONE && out->kind != OUT_REQUEUE && out->kind != OUT_REMOVE);
    if (st_run_move(st, &m, e) < 0 || note_used(run, st, e) < 0)
        return -1;
    return f->ops->ended(f, st, &run->row, &end, e);
}

static void log_end(struct live_run *run)
{
    const struct log *log = run->runs->log;
    const char *kind = words_of(run)->run, *node = run->slots[0].node_name;
    const char *machine = node_rt_machine(run->slots[0].tenant.node);
    const struct failure *why = &run->out.why;
    int64_t ms = (wakes_mono(run->runs->wakes) - run->began_us) / 1000;
    if (run->out.kind == OUT_SUCCEEDED)
        LOG_INFO(log, "run.succeeded", LF_STR("kind", kind), LF_STR("run", run->name),
                 LF_INT("row_id", run->row.owner_id), LF_STR("node", node),
                 LF_STR("machine", machine), LF_INT("ms", ms));
    else
        LOG_INFO(log, "run.failed", LF_STR("kind", kind), LF_STR("run", run->name),
                 LF_INT("row_id", run->row.owner_id), LF_STR("node", node),
                 LF_STR("machine", machine), LF_INT("ms", ms),
                 LF_STR("why", why->code ? failure_line(&run->a, why) : NULL),
                 LF_STR("command", why->command), LF_STR("stderr", why->stderr_tail),
                 LF_STR("remedy", why->remedy));
}

/* If the end of the run is on disk, the nodes may forget the run. If the write was rolled back, the
 * end must be written again. */
static void effect_ended(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    struct live_run *run = id_map_find(&rs->map, id);
    if (!run || run->phase != RUN_ENDED)
        return;
    if (why) {
        run_go(run, RUN_ENDING);
        wake_at(rs->wakes, &woken_run, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
        return;
    }
    log_end(run); /* not earlier: a rolled-back end has not happened */
    run_go(run, RUN_CLEANING);
    wake(rs->wakes, &woken_run, id);
}

void run_write_end(struct live_run *run)
{
    struct err e = {0};
    if (st_tx(run->runs->st, "end run", end_tx, run, &e) != 0) {
        const struct front_words *w = words_of(run);
        LOG_ERROR(run->runs->log, "run.end_not_written", LF_STR("kind", w->run),
                  LF_STR("run", run->name), LF_STR("why", e.msg));
        wake_at(run->runs->wakes, &woken_run, run->row.id,
                wakes_mono(run->runs->wakes) + WRITE_AGAIN_US);
        return;
    }
    run_go(run, RUN_ENDED);
    wake_when_durable(run->runs->wakes, effect_ended, run->runs, run->row.id);
}

/* Ends the allocation of one node. It is "lost" if the node was given up, because tasks may still
 * run on that node. */
static int release_part(struct live_run *run, struct run_slot *slot, struct allocation *al,
                        struct err *e)
{
    struct runs *rs = run->runs;
    enum allocation_event ev =
        slot->state == SLOT_GONE ? ALLOCATION_EV_LOST : ALLOCATION_EV_RELEASED;
    const struct allocation_end end = {.to = allocation_next(al->state, ev),
                                       .now_us = wakes_wall(rs->wakes),
                                       .held_us = wakes_mono(rs->wakes) - run->held_us,
                                       .again = run->out.kind == OUT_REQUEUE,
                                       .busy_us = slot->busy_us,
                                       .idle_us = slot->idle_us,
                                       .used = slot->used};
    if (fleet_write_loss(rs->fleet, slot->node_id, e) < 0 ||
        st_allocation_move(rs->st, al, &end, e) < 0)
        return -1;
    if (!slot_keeps(slot))
        return 0;
    fleet_sweep_when_durable(rs->fleet, slot->node_id);
    return st_allocation_keep(rs->st, al, true, rs->kept_outputs, e);
}

/* One line for users: why the run is requeued. */
static const char *why_again(struct live_run *run)
{
    const char *why = failure_line(&run->a, &run->out.why);
    if (!run->out.retry)
        return why;
    return arena_printf(&run->a, "retry %d of %d: %s", run->row.retried + 1,
                        run->spec.wishes.retry.times, why);
}

/* Changes the state in the run's row to waiting if the run is requeued, otherwise to over. */
static int move_on(struct live_run *run, struct err *e)
{
    struct runs *rs = run->runs;
    const struct front *f = run->front;
    bool again = run->out.kind == OUT_REQUEUE;
    const struct st_run_move m = {
        .id = run->row.id,
        .from = run->row.state,
        .to = run_next(run->row.state, again ? RUN_EV_REQUEUED : RUN_EV_RELEASED),
        .start_us = again ? -1 : 0,
        .failure = again ? 0 : -1,
        .retry = run->out.retry};
    if (st_run_move(rs->st, &m, e) < 0)
        return -1;
    return again
               ? FRONT_ASK(f, requeued, rs->st, &run->row, why_again(run), wakes_wall(rs->wakes), e)
               : 0;
}

static int release_tx(struct storage *st, void *ctx, struct err *e)
{
    struct live_run *run = ctx;
    struct allocation *parts;
    struct arena a;
    size_t n;
    arena_init(&a);
    int rc = st_allocation_of_run(st, &a, run->row.id, run->row.attempt, &parts, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = release_part(run, &run->slots[parts[i].rank], &parts[i], e);
    arena_free(&a);
    return rc < 0 ? -1 : move_on(run, e);
}

/* If the release was rolled back, the rows still allocate the nodes to the run, so a new struct
 * live_run cleans the nodes again. */
static void effect_released(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    if (why)
        wake_at(rs->wakes, &woken_run, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
}

/* When the release is on disk, the nodes forget the tasks that they have kept. */
static void forget_tasks(struct live_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++) {
        const struct run_slot *slot = &run->slots[run->tasks[i].process->rank];
        if (slot->state == SLOT_CLEAN && slot->records_stay)
            fleet_forget_when_durable(run->runs->fleet, slot->node_id, run->tasks[i].id);
    }
}

void run_release(struct live_run *run)
{
    struct runs *rs = run->runs;
    const struct front_words *w = words_of(run);
    struct err e = {0};
    if (st_tx(rs->st, "release nodes", release_tx, run, &e) != 0) {
        LOG_ERROR(rs->log, "run.release_not_written", LF_STR("kind", w->run),
                  LF_STR("run", run->name), LF_STR("why", e.msg));
        wake_at(rs->wakes, &woken_run, run->row.id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
        return;
    }
    if (run->out.kind == OUT_REQUEUE)
        LOG_INFO(rs->log, "run.requeued", LF_STR("kind", w->run), LF_STR("run", run->name),
                 LF_INT("row_id", run->row.owner_id), LF_STR("why", why_again(run)));
    wake_when_durable(rs->wakes, effect_released, rs, run->row.id);
    forget_tasks(run);
    if (run->out.kind != OUT_REQUEUE) /* the run is over and must be forgotten */
        wake_durable(rs->wakes, &woken_run, run->row.id);
    for (int i = 0; i < run->n_slots; i++)
        wake_durable(rs->wakes, &woken_node, run->slots[i].node_id);
    runs_tell_over(rs, run->row.pool_id);
    if (run->deleting)
        runs_tell_deletion(rs);
    live_run_free(run);
}
