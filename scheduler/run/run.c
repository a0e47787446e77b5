/* SPDX-License-Identifier: MIT
 *
 * The life of a run: see the picture in run_priv.h. It is made from rows, whether it was allocated
 * a moment ago or goes on after a restart of the daemon.
 */
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/states.h"
#include "scheduler/run/run_priv.h"

static const struct node_tenant_events tenant_events;

/* As far back as the begin of a run without a limit is looked for. */
#define LONGEST_KNOWN_US (10LL * 365 * 24 * 3600 * 1000000)

/* --- making a run --------------------------------------------------------------------------- */

static void add_task(struct job_run *run, const struct launch_process *process)
{
    struct run_task *t = &run->tasks[run->n_tasks++];
    const char *prefix = slot_task_prefix(&run->slots[process->rank]);
    t->process = process;
    t->step = process->role == LAUNCH_PREPARATION ? "job preparation" : "job";
    t->id = arena_printf(&run->a, "%s%s", prefix, process->name);
}

/* False: the settings do not go with the nodes. */
static bool make_tasks(struct job_run *run, struct failure *why)
{
    const struct launch_input in = run_launch_input(run);
    if (!launch_plan(&run->a, &in, &run->plan, why))
        return false;
    run->tasks = arena_alloc(&run->a, (run->plan.n + 1) * sizeof *run->tasks);
    for (size_t i = 0; i < run->plan.n; i++)
        add_task(run, &run->plan.processes[i]);
    return true;
}

/* What a run has of nodes, by rank. */
struct held {
    struct node *nodes;
    struct allocation *parts;
    size_t n;
};

static int find_held(struct runs *rs, struct arena *a, const struct run *r, struct held *out,
                     struct err *e)
{
    size_t n;
    *out = (struct held){0};
    if (st_node_of_run(rs->st, a, r->id, &out->nodes, &out->n, e) < 0)
        return -1;
    if (out->n == 0)
        return 0;
    if (st_allocation_of_run(rs->st, a, r->id, r->attempt, &out->parts, &n, e) < 0)
        return -1;
    assert(n == out->n); /* they are made and released together */
    return 0;
}

static void make_slots(struct job_run *run, const struct held *h)
{
    run->n_slots = (int)h->n;
    run->slots = arena_alloc(&run->a, h->n * sizeof *run->slots);
    for (size_t i = 0; i < h->n; i++) {
        struct node_rt *rt = node_rt_get(run->runs->fleet, &h->nodes[i]);
        struct job_slot *slot = &run->slots[i];
        *slot = (struct job_slot){.run = run,
                                  .tenant = {.events = &tenant_events, .dir = run->dir},
                                  .node_id = h->nodes[i].id,
                                  .node_name = arena_strdup(&run->a, node_rt_name(rt)),
                                  .root = arena_strdup(&run->a, node_rt_root(rt)),
                                  .task_prefix = arena_strdup(&run->a, h->parts[i].task_prefix),
                                  .takes = h->parts[i].takes,
                                  .devices = arena_strdup(&run->a, h->parts[i].devices),
                                  .rank = (int)i};
        arena_init(&slot->a);
        node_attach(rt, &slot->tenant);
    }
}

static void decode_spec(struct job_run *run)
{
    struct err e = {0};
    const struct front *f = run->runs->front;
    struct outcome out = {.kind = OUT_FAILED};
    if (f->ops->load(f, run->runs->st, &run->a, &run->row, true, &run->spec, &e) != 0)
        out.why = (struct failure){
            .code = FAIL_JOB_NOT_UNDERSTOOD, .message = e.msg, .step = "launch", .exit_code = -1};
    else if (!launch_refusal(&run->a, &run->spec, &out.why) && make_tasks(run, &out.why))
        return;
    run_set_outcome(run, &out);
}

/* What a run that is resumed has sent before cannot be known. */
static void resume_run(struct job_run *run)
{
    for (size_t i = 0; i < run->n_tasks; i++)
        run->tasks[i].state = RT_SENT;
    for (int i = 0; i < run->n_slots; i++)
        run->slots[i].begun = true;
}

/* A limit that has passed has passed just now, however far the wall clock was set meanwhile. */
static int64_t began(struct job_run *run)
{
    int64_t limit = run->spec.max_wall_us > 0 ? run->spec.max_wall_us : LONGEST_KNOWN_US;
    return wakes_mono_of(run->runs->wakes, run->row.start_us, limit);
}

static struct job_run *run_new(struct runs *rs, const struct run *row, const struct held *h)
{
    const struct front *f = rs->front;
    struct job_run *run = xcalloc(1, sizeof *run);
    arena_init(&run->a);
    run->runs = rs;
    run->row = *row;
    run->row.guid = arena_strdup(&run->a, row->guid);
    run->name = f->ops->run_name(f, rs->st, &run->a, row);
    run->dir = arena_printf(&run->a, "%s-%d", row->guid, row->attempt);
    id_map_put(&rs->map, row->id, run);
    make_slots(run, h);
    decode_spec(run);
    run->began_us = began(run);
    bool resumed = h->parts[0].term != st_epoch(rs->st)->term;
    if (resumed)
        resume_run(run);
    if (row->state != RUN_ALLOCATED)
        run_go(run, RUN_CLEANING);
    LOG_INFO(rs->log, resumed ? "job.resumed" : "job.running", LF_STR("job", run->name),
             LF_INT("job_id", row->owner_id), LF_INT("attempt", row->attempt),
             LF_STR("node", run->slots[0].node_name), LF_INT("nodes", run->n_slots));
    return run;
}

void job_run_free(struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++) {
        node_detach(&run->slots[i].tenant);
        mounts_wipe(run->slots[i].secrets);
        arena_free(&run->slots[i].a);
    }
    wake_at(run->runs->wakes, WAKE_RUN, run->row.id, 0);
    id_map_remove(&run->runs->map, run->row.id);
    job_spec_wipe(&run->spec);
    arena_free(&run->a);
    free(run);
}

/* --- runs without nodes ---------------------------------------------------------------------- */

struct failed_note {
    struct runs *runs; /* a reference */
    int64_t owner_id;
    char *name, *why;
};

/* Rolled back: it has not happened, and is found and written again. */
static void on_failed_durable(void *ctx, const struct err *why)
{
    struct failed_note *n = ctx;
    if (!why)
        LOG_INFO(n->runs->log, "job.failed", LF_STR("job", n->name), LF_INT("job_id", n->owner_id),
                 LF_STR("why", n->why));
    wakes_unref(n->runs->wakes);
    free(n->name);
    free(n->why);
    free(n);
}

static void log_failed(struct runs *rs, const struct run *r, const struct failure *f)
{
    struct arena a;
    struct failed_note *n = xcalloc(1, sizeof *n);
    arena_init(&a);
    *n = (struct failed_note){rs, r->owner_id,
                              xstrdup(rs->front->ops->run_name(rs->front, rs->st, &a, r)),
                              xstrdup(failure_line(&a, f))};
    arena_free(&a);
    wakes_ref(rs->wakes);
    st_when_durable(rs->st, on_failed_durable, n);
}

/* A run that has no nodes ends. */
struct ending {
    struct runs *runs;
    const struct run *r;
    const struct failure *why;
};

static int end_without_nodes(struct storage *st, void *ctx, struct err *e)
{
    const struct ending *k = ctx;
    const struct front *f = k->runs->front;
    bool queued = k->r->state == RUN_WAITING;
    enum run_event ev = queued ? RUN_EV_ENDED : RUN_EV_RELEASED;
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
    struct ending k = {rs, r, f};
    if (st_tx(rs->st, "end run", end_without_nodes, &k, e) < 0)
        return -1;
    log_failed(rs, r, f);
    wake(rs->wakes, WAKE_RUN, r->id);
    runs_tell_over(rs, r->pool_id);
    return 0;
}

/* One that runs without nodes cannot come to be by our own writes: say so, and end it. */
static int end_nodeless(struct runs *rs, const struct run *r, struct err *e)
{
    const struct failure f = {
        .code = FAIL_NODE_LOST, .message = "The job's nodes are gone", .exit_code = -1};
    struct ending k = {rs, r, &f};
    LOG_ERROR(rs->log, "job.without_nodes", LF_INT("job_id", r->owner_id));
    return st_tx(rs->st, "end run", end_without_nodes, &k, e);
}

static int without_run(struct runs *rs, struct arena *a, int64_t id, struct job_run **run,
                       struct err *e)
{
    struct run row;
    struct held h;
    if (id_map_has(&rs->allocating, id))
        return 0;
    int rc = st_run_by_id(rs->st, a, id, &row, e);
    if (rc <= 0)
        return rc;
    if (find_held(rs, a, &row, &h, e) < 0)
        return -1;
    if (h.n > 0) {
        *run = run_new(rs, &row, &h);
        return 0;
    }
    if (row.stop == STOP_AND_FORGET) {
        runs_tell_deletion(rs);
        return 0;
    }
    if (row.state == RUN_WAITING)
        return 0;
    if (row.state == RUN_ALLOCATED && end_nodeless(rs, &row, e) < 0)
        return -1;
    return rs->front->ops->may_forget(rs->front, rs->st, &row, wakes_wall(rs->wakes), e);
}

/* --- the next step -------------------------------------------------------------------------- */

static void advance_active(struct job_run *run)
{
    for (int i = 0; i < run->n_slots; i++) {
        struct job_slot *slot = &run->slots[i];
        if (slot->has_error)
            verdict_slot_error(run, slot);
        else if (slot->state == SLOT_WAITING && slot->tenant.node &&
                 node_rt_usable(slot->tenant.node))
            slot_start(slot);
        else if (slot->state == SLOT_STARTED)
            slot_advance(slot);
    }
    if (run->out.kind == OUT_NONE && run_prepared(run))
        run_send_main(run);
}

static void begin_stop(struct job_run *run)
{
    run_go(run, run->out.grace_us > 0 ? RUN_STOPPING : RUN_KILLING);
    run->kill_us = wakes_mono(run->runs->wakes) + run->out.grace_us;
    if (!run_tasks_over(run))
        run_signal(run, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
}

static void advance_stop(struct job_run *run)
{
    bool late = run->phase == RUN_STOPPING && wakes_mono(run->runs->wakes) >= run->kill_us;
    if (late || (run->phase == RUN_STOPPING && run->out.grace_us == 0)) {
        run_go(run, RUN_KILLING);
        run_signal(run, SIGKILL);
    }
    if (!run_tasks_over(run))
        return;
    bool end = run->out.kind != OUT_REQUEUE && run->out.kind != OUT_REMOVE;
    run_go(run, end ? RUN_ENDING : RUN_CLEANING);
}

/* What fails is not forgiven: something of the job may still run there. */
static void end_cleaning(struct job_slot *slot)
{
    const struct failure *why = script_failure(slot->script);
    slot_go(slot, SLOT_CLEAN);
    if (why)
        node_give_up(&slot->tenant, why);
}

/* True when every node is clean or given up. */
static bool advance_cleaning(struct job_run *run)
{
    bool all = true;
    for (int i = 0; i < run->n_slots; i++) {
        struct job_slot *slot = &run->slots[i];
        if (slot->state == SLOT_CLEANING && slot_cleaned(slot))
            end_cleaning(slot);
        bool done = slot->state == SLOT_CLEAN || slot->state == SLOT_GONE;
        if (!done && slot->state != SLOT_CLEANING && slot->tenant.node &&
            node_rt_usable(slot->tenant.node))
            slot_clean(slot);
        all = all && done;
    }
    return all;
}

/* A job that was to be queued again, and is terminated or deleted now. */
static bool end_overtaken(const struct job_run *run)
{
    return run->out.kind == OUT_STOPPED && !run_has_verdict(&run->row);
}

static void set_deadline(struct job_run *run)
{
    int64_t at = 0;
    if (run->phase == RUN_STOPPING)
        at = run->kill_us;
    else if (run->phase == RUN_ACTIVE && run->spec.max_wall_us > 0)
        at = run->began_us + run->spec.max_wall_us;
    else if (run->phase == RUN_ENDING)
        return; /* a write that failed has set its own */
    wake_at(run->runs->wakes, WAKE_RUN, run->row.id, at);
}

/* Each step falls through to the next as far as nothing has to be waited for. */
static void advance(struct job_run *run)
{
    run_check(run);
    if (run->phase == RUN_ACTIVE && run->out.kind == OUT_NONE)
        advance_active(run);
    if (run->phase == RUN_ACTIVE && run->out.kind != OUT_NONE)
        begin_stop(run);
    if (run->phase == RUN_STOPPING || run->phase == RUN_KILLING)
        advance_stop(run);
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
    struct job_run *run = id_map_find(&rs->map, id);
    int rc = run ? 0 : without_run(rs, &a, id, &run, &e);
    if (rc == 0 && run)
        rc = verdict_rows(run, &a, &e);
    if (rc < 0) {
        LOG_ERROR(rs->log, "job.reconcile_failed", LF_INT("run_id", id), LF_STR("why", e.msg));
        wake_at(rs->wakes, WAKE_RUN, id, wakes_mono(rs->wakes) + WRITE_AGAIN_US);
    } else if (run) {
        advance(run);
    }
    arena_free(&a);
}

/* --- what nodes report ---------------------------------------------------------------------- */

static struct job_slot *slot_of(struct node_tenant *t)
{
    return (struct job_slot *)((char *)t - offsetof(struct job_slot, tenant));
}

static void on_node_ready(struct node_tenant *t)
{
    struct job_slot *slot = slot_of(t);
    struct job_run *run = slot->run;
    slot_forget_link(slot);
    if (run->phase == RUN_STOPPING || run->phase == RUN_KILLING)
        slot_signal(slot, run->phase == RUN_STOPPING ? SIGTERM : SIGKILL);
    wake(run->runs->wakes, WAKE_RUN, run->row.id);
}

static void on_node_down(struct node_tenant *t)
{
    struct job_slot *slot = slot_of(t);
    struct job_run *run = slot->run;
    slot->pending = 0;
    slot->has_error = false;
    if (slot->script)
        script_halt(slot->script);
    if (slot->state == SLOT_STARTED || slot->state == SLOT_CLEANING)
        slot_go(slot, SLOT_WAITING);
    /* Asked for again when the link is back, as the node may never have heard of it. */
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            run->tasks[i].asked = false;
}

static void on_node_gone(struct node_tenant *t)
{
    struct job_slot *slot = slot_of(t);
    struct job_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->rank == slot->rank)
            run->tasks[i].state = RT_OVER;
    slot_go(slot, SLOT_GONE);
    slot->pending = 0;
    if (slot->script)
        script_halt(slot->script);
    wake(run->runs->wakes, WAKE_RUN, run->row.id);
}

static bool on_task_ended(struct node_tenant *t, const struct task_status *st)
{
    struct job_slot *slot = slot_of(t);
    struct job_run *run = slot->run;
    if (slot->script && script_task_ended(slot->script, st))
        return true;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (strcmp(run->tasks[i].id, st->id) == 0) {
            verdict_task(run, &run->tasks[i], st);
            return true;
        }
    return false;
}

static const struct node_tenant_events tenant_events = {
    .ready = on_node_ready,
    .down = on_node_down,
    .gone = on_node_gone,
    .task_ended = on_task_ended,
};
