/* SPDX-License-Identifier: MIT
 *
 * The life of a run: see the picture in run_priv.h.
 */
#include <signal.h>
#include <stdlib.h>

#include "model/states.h"
#include "scheduler/run/run_priv.h"

/* --- runs without nodes ---------------------------------------------------------------------- */

struct failed_note {
    struct runs *runs; /* a reference */
    const struct front_words *words;
    int64_t owner_id;
    char *name, *why;
};

/* Logs the failure when it is on disk. After a rollback the run has not ended; the daemon finds the
 * run and ends it again. */
static void on_failed_durable(void *ctx, const struct err *why)
{
    struct failed_note *n = ctx;
    const struct front_words *w = n->words;
    if (!why)
        LOG_INFO(n->runs->log, "run.failed", LF_STR("kind", w->run), LF_STR("run", n->name),
                 LF_INT("row_id", n->owner_id), LF_STR("why", n->why));
    wakes_unref(n->runs->wakes);
    free(n->name);
    free(n->why);
    free(n);
}

static void log_failed(struct runs *rs, const struct run *r, const struct failure *why)
{
    struct arena a;
    const struct front *f = front_of_run(rs, r);
    struct failed_note *n = xcalloc(1, sizeof *n);
    arena_init(&a);
    *n =
        (struct failed_note){rs, f->words, r->owner_id, xstrdup(f->ops->run_name(f, rs->st, &a, r)),
                             xstrdup(failure_line(&a, why))};
    arena_free(&a);
    wakes_ref(rs->wakes);
    st_when_durable(rs->st, on_failed_durable, n);
}

/* The end of a run that is not in memory. */
struct ending {
    struct runs *runs;
    const struct run *r;
    const struct failure *why;
    bool keeps_nodes; /* the run has nodes that are not cleaned yet */
};

static int end_from_outside(struct storage *st, void *ctx, struct err *e)
{
    const struct ending *k = ctx;
    const struct front *f = front_of_run(k->runs, k->r);
    bool queued = k->r->state == RUN_WAITING;
    enum run_event ev = queued || k->keeps_nodes ? RUN_EV_ENDED : RUN_EV_RELEASED;
    int64_t now = wakes_wall(k->runs->wakes);
    const struct run_end end = {.was_queued = queued, .why = k->why, .now_us = now};
    const struct st_run_move m = {.id = k->r->id,
                                  .from = k->r->state,
                                  .to = run_next(k->r->state, ev),
                                  .start_us = queued ? now : 0,
                                  .end_us = now,
                                  .failure = (int)k->why->code};
    return st_run_move(st, &m, e) < 0 ? -1 : f->ops->ended(f, st, k->r, &end, e);
}

int runs_fail_queued(struct runs *rs, const struct run *r, const struct failure *f, struct err *e)
{
    struct ending k = {.runs = rs, .r = r, .why = f};
    if (st_tx(rs->st, "end run", end_from_outside, &k, e) < 0)
        return -1;
    log_failed(rs, r, f);
    wake(rs->wakes, &woken_run, r->id);
    runs_tell_over(rs, r->pool_id);
    return 0;
}

/* Writes of the daemon never leave an allocated run without nodes. If there is such a run all the
 * same, logs and ends it. */
static int end_nodeless(struct runs *rs, struct arena *a, const struct run *r, struct err *e)
{
    const struct front_words *w = front_of_run(rs, r)->words;
    const struct failure f = {.code = FAIL_NODE_LOST,
                              .message = front_text(w, a, "The {run}'s nodes are gone"),
                              .exit_code = -1};
    struct ending k = {.runs = rs, .r = r, .why = &f};
    LOG_ERROR(rs->log, "run.without_nodes", LF_STR("kind", w->run), LF_INT("row_id", r->owner_id));
    return st_tx(rs->st, "end run", end_from_outside, &k, e);
}

static int without_run(struct runs *rs, struct arena *a, int64_t id, struct live_run **run,
                       struct err *e)
{
    struct run row;
    struct run_held h;
    if (id_map_has(&rs->allocating, id))
        return 0;
    int rc = st_run_by_id(rs->st, a, id, &row, e);
    if (rc <= 0)
        return rc;
    if (run_find_held(rs, a, &row, &h, e) < 0)
        return -1;
    if (h.n > 0) {
        *run = run_make(rs, &row, &h);
        return 0;
    }
    if (row.stop == STOP_AND_FORGET) {
        runs_tell_deletion(rs);
        return 0;
    }
    if (row.state == RUN_WAITING)
        return 0;
    if (row.state == RUN_ALLOCATED && end_nodeless(rs, a, &row, e) < 0)
        return -1;
    const struct front *f = front_of_run(rs, &row);
    return FRONT_ASK(f, may_forget, rs->st, &row, wakes_wall(rs->wakes), e);
}

/* --- the next step -------------------------------------------------------------------------- */

static void tell_prepared(struct live_run *run)
{
    const struct front *f = run->front;
    struct err e;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->role != LAUNCH_PREPARATION && run->tasks[i].state != RT_NOT_SENT)
            return; /* the end of the preparation was reported, or is unknown after a restart */
    if (FRONT_ASK(f, prepared, run->runs->st, &run->row, wakes_wall(run->runs->wakes), &e) < 0)
        LOG_WARN(run->runs->log, "run.progress_not_written", LF_STR("run", run->name),
                 LF_STR("why", e.msg));
}

/* Whether the front lets the run begin. If it does, the run's time limit starts to count now. */
static bool may_begin(struct live_run *run)
{
    struct runs *rs = run->runs;
    const struct front *f = run->front;
    struct err e;
    if (!run->held)
        return true;
    if (FRONT_ASK(f, is_held, rs->st, &run->row, &run->held, &e) < 0) {
        LOG_ERROR(rs->log, "run.permission_to_start_not_read", LF_STR("run", run->name),
                  LF_STR("why", e.msg));
        wake_at(rs->wakes, &woken_run, run->row.id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
        return false;
    }
    if (!run->held)
        run->began_us = wakes_mono(rs->wakes);
    return !run->held;
}

/* Reports ended preparations to the front. If the front could not write a report, it gets the
 * missing reports at the run's end. */
static void tell_parts(struct live_run *run)
{
    const struct front *f = run->front;
    struct err e;
    for (size_t i = 0; i < run->n_tasks; i++) {
        const struct run_prep *p = run->tasks[i].part;
        run->tasks[i].part = NULL;
        if (p && FRONT_ASK(f, part_prepared, run->runs->st, &run->row, p, &e) < 0)
            LOG_WARN(run->runs->log, "run.progress_not_written", LF_STR("run", run->name),
                     LF_STR("why", e.msg));
    }
}

/* Reports the ids of containers to the front. If the front could not write an id, the id is not
 * reported again. */
static void tell_containers(struct live_run *run)
{
    const struct front *f = run->front;
    struct err e;
    for (int i = 0; i < run->n_slots; i++) {
        struct run_slot *slot = &run->slots[i];
        const struct run_container c = {slot->rank, container_id(&slot->a, slot->container_said)};
        slot->container_said = NULL;
        if (c.id && FRONT_ASK(f, contained, run->runs->st, &run->row, &c, &e) < 0)
            LOG_WARN(run->runs->log, "run.progress_not_written", LF_STR("run", run->name),
                     LF_STR("why", e.msg));
    }
}

static void advance_active(struct live_run *run)
{
    if (!may_begin(run))
        return;
    verdict_unstarted(run);
    for (int i = 0; i < run->n_slots; i++) {
        struct run_slot *slot = &run->slots[i];
        if (slot->has_error)
            verdict_slot_error(run, slot);
        else if (slot->state == SLOT_WAITING && slot->tenant.node &&
                 node_rt_usable(slot->tenant.node))
            slot_start(slot);
        else if (slot->state == SLOT_STARTED)
            slot_advance(slot);
    }
    if (run->out.kind == OUT_NONE && run_prepared(run)) {
        tell_prepared(run);
        run_send_main(run);
    }
}

/* Whether a run that its user terminates must continue for a while (strict mode: as long as in the
 * real service). */
static bool stop_is_early(struct live_run *run)
{
    struct wakes *w = run->runs->wakes;
    bool asked = run->out.kind == OUT_STOPPED && run->row.stop == STOP_RUN;
    int64_t us = asked ? front_takes_us(run->front, STEP_RUN_STOP, run->row.pool_id) : 0;
    if (us == 0)
        return false;
    if (run->asked_us == 0)
        run->asked_us = wakes_mono(w);
    run->stop_us = run->asked_us + us;
    return wakes_mono(w) < run->stop_us;
}

static void begin_stop(struct live_run *run)
{
    run_go(run, run->out.grace_us > 0 ? RUN_STOPPING : RUN_KILLING);
    run->kill_us = wakes_mono(run->runs->wakes) + run->out.grace_us;
    if (!run_tasks_over(run))
        run_signal(run, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
}

/* Call when the run's processes have ended, and only the cleaning of its nodes remains. */
static void leave(struct live_run *run)
{
    bool end = run->out.kind != OUT_REQUEUE && run->out.kind != OUT_REMOVE;
    run_go(run, end ? RUN_ENDING : RUN_CLEANING);
}

static void advance_stop(struct live_run *run)
{
    bool late = run->phase == RUN_STOPPING && wakes_mono(run->runs->wakes) >= run->kill_us;
    if (late || (run->phase == RUN_STOPPING && run->out.grace_us == 0)) {
        run_go(run, RUN_KILLING);
        run_signal(run, SIGKILL);
    }
    if (!run_tasks_over(run))
        return;
    if (run_saves(run))
        run_go(run, RUN_SAVING);
    else
        leave(run);
}

/* If the cleaning failed, the node is given up, because processes of the run may still run
 * there. */
static void end_cleaning(struct run_slot *slot)
{
    const struct failure *why = script_failure(slot->script);
    slot_go(slot, SLOT_CLEAN);
    slot_mounts_over(slot);
    if (why)
        node_give_up(&slot->tenant, why);
}

/* True when every node is clean or given up. */
static bool advance_cleaning(struct live_run *run)
{
    bool all = true;
    for (int i = 0; i < run->n_slots; i++) {
        struct run_slot *slot = &run->slots[i];
        if (slot->state != SLOT_CLEAN && slot->state != SLOT_GONE && slot->state != SLOT_CLEANING &&
            slot->tenant.node && node_rt_usable(slot->tenant.node))
            slot_clean(slot);
        /* This is checked at once as well: if there is nothing to clean, no end of a step will wake
         * the run. */
        if (slot->state == SLOT_CLEANING && slot_cleaned(slot))
            end_cleaning(slot);
        all = all && (slot->state == SLOT_CLEAN || slot->state == SLOT_GONE);
    }
    return all;
}

/* Whether a run that was to be requeued has been terminated or deleted since. */
static bool end_overtaken(const struct live_run *run)
{
    return run->out.kind == OUT_STOPPED && !run_has_verdict(&run->row);
}

#define LATE_AGAIN_US 1000000

/* When a running run is checked for its time limit. A run past its limit waits for reports of its
 * nodes, and is checked again every LATE_AGAIN_US. */
static int64_t limit_of(const struct live_run *run)
{
    int64_t at = run->began_us + run->spec.max_wall_us, now = wakes_mono(run->runs->wakes);
    return at > now ? at : now + LATE_AGAIN_US;
}

static void set_deadline(struct live_run *run)
{
    int64_t at = 0;
    if (run->phase == RUN_STOPPING)
        at = run->kill_us;
    else if (run->phase == RUN_ACTIVE && run->stop_us > 0)
        at = run->stop_us;
    else if (run->phase == RUN_ACTIVE && run->spec.max_wall_us > 0 && !run->held)
        at = limit_of(run);
    else if (run->phase == RUN_ENDING || (run->phase == RUN_ACTIVE && run->held))
        return; /* the failed call has set its own wake-up */
    if (!run->awaits)
        wake_at(run->runs->wakes, &woken_run, run->row.id, at);
    else if (at > 0)
        wake_by(run->runs->wakes, &woken_run, run->row.id, at);
}

/* Takes as many steps as possible without waiting. */
static void advance(struct live_run *run)
{
    run->awaits = false;
    run_check(run);
    tell_parts(run);
    tell_containers(run);
    if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE)
        advance_active(run);
    if (run->phase == RUN_ACTIVE && run->out.kind != OUT_NONE && !stop_is_early(run))
        begin_stop(run);
    if (run->phase == RUN_STOPPING || run->phase == RUN_KILLING)
        advance_stop(run);
    if (run->phase == RUN_SAVING && run_save(run))
        leave(run);
    if (run->phase == RUN_ENDING)
        run_write_end(run);
    if (run->phase == RUN_CLEANING && advance_cleaning(run)) {
        if (!end_overtaken(run)) {
            run_release(run);
            return;
        }
        run_go(run, RUN_ENDING);
        run_write_end(run);
    }
    set_deadline(run);
    run_check_kills(run);
}

void run_reconcile(void *ctx, int64_t id)
{
    struct runs *rs = ctx;
    struct arena a;
    arena_init(&a);
    struct err e = {0};
    struct live_run *run = id_map_find(&rs->map, id);
    int rc = run ? 0 : without_run(rs, &a, id, &run, &e);
    if (rc == 0 && run)
        rc = verdict_rows(run, &a, &e);
    if (rc < 0) {
        LOG_ERROR(rs->log, "run.reconcile_failed", LF_INT("run_id", id), LF_STR("why", e.msg));
        wake_at(rs->wakes, &woken_run, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
    } else if (run) {
        advance(run);
    }
    arena_free(&a);
}

/* --- a run whose step ends the daemon --------------------------------------------------------- */

/* Ends the run as failed. Its nodes stay allocated, and its tasks continue, until the daemon may
 * take the run's steps again. */
static int fail_with_nodes(struct runs *rs, const struct run *r, const struct failure *f,
                           struct err *e)
{
    struct ending k = {.runs = rs, .r = r, .why = f, .keeps_nodes = true};
    if (st_tx(rs->st, "end run", end_from_outside, &k, e) < 0)
        return -1;
    log_failed(rs, r, f);
    return 0;
}

void run_refused(void *ctx, int64_t id, const struct err *why)
{
    struct runs *rs = ctx;
    struct arena a;
    struct run row;
    struct err e = {0};
    const struct failure f = {.code = FAIL_ENDED_DAEMON, .message = why->msg, .exit_code = -1};
    arena_init(&a);
    int rc = id_map_has(&rs->map, id) || id_map_has(&rs->allocating, id)
                 ? 0
                 : st_run_by_id(rs->st, &a, id, &row, &e);
    if (rc == 1 && row.stop != STOP_AND_FORGET && row.state == RUN_WAITING)
        rc = runs_fail_queued(rs, &row, &f, &e);
    else if (rc == 1 && row.stop != STOP_AND_FORGET && row.state == RUN_ALLOCATED)
        rc = fail_with_nodes(rs, &row, &f, &e);
    if (rc < 0) {
        LOG_ERROR(rs->log, "run.failure_not_written", LF_INT("run_id", id), LF_STR("why", e.msg));
        wake_at(rs->wakes, &woken_run, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
    } else if (st_has_pending(rs->st)) {
        wake_if_lost(rs->wakes, &woken_run, id);
    }
    arena_free(&a);
}
