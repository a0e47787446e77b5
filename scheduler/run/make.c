/* SPDX-License-Identifier: MIT
 *
 * Makes a run from rows, after its allocation or after a restart of the daemon.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/secret_refs.h"
#include "scheduler/run/remote.h"
#include "scheduler/run/terminal.h"

/* For a run without a time limit, or an allocation, a beginning that is longer ago than this (us)
 * is treated as this long ago. */
#define LONGEST_KNOWN_US (10LL * 365 * 24 * 3600 * 1000000)

/* --- making a run --------------------------------------------------------------------------- */

static void add_task(struct live_run *run, const struct launch_process *process)
{
    struct run_task *t = &run->tasks[run->n_tasks++];
    const char *prefix = slot_task_prefix(&run->slots[process->rank]);
    t->process = process;
    t->step = process->title;
    if (!t->step)
        t->step = process->role == LAUNCH_PREPARATION
                      ? front_text(words_of(run), &run->a, "{run} preparation")
                      : words_of(run)->run;
    t->id = arena_printf(&run->a, "%s%s", prefix, process->name);
}

/* Plans the processes of the run. False: the settings do not work with the nodes. */
static bool make_tasks(struct live_run *run, struct failure *why)
{
    const struct launch_input in = run_launch_input(run);
    if (!launch_plan(&run->a, &in, &run->plan, why))
        return false;
    run->tasks = arena_alloc(&run->a, (run->plan.n + 1) * sizeof *run->tasks);
    for (size_t i = 0; i < run->plan.n; i++)
        add_task(run, &run->plan.processes[i]);
    return true;
}

int run_find_held(struct runs *rs, struct arena *a, const struct run *r, struct run_held *out,
                  struct err *e)
{
    size_t n;
    *out = (struct run_held){0};
    if (st_node_of_run(rs->st, a, r->id, &out->nodes, &out->n, e) < 0)
        return -1;
    if (out->n == 0)
        return 0;
    if (st_allocation_of_run(rs->st, a, r->id, r->attempt, &out->parts, &n, e) < 0)
        return -1;
    if (n == out->n) /* a run's allocations are made and released together */
        return 0;
    return err_set(e, ERR_STORAGE, NULL,
                   "The database is damaged: run %lld holds %zu nodes, and its attempt %d has %zu "
                   "allocations; restore it from a backup.",
                   (long long)r->id, out->n, r->attempt, n);
}

static void make_slots(struct live_run *run, const struct run_held *h)
{
    run->n_slots = (int)h->n;
    run->slots = arena_alloc(&run->a, h->n * sizeof *run->slots);
    for (size_t i = 0; i < h->n; i++) {
        struct node_rt *rt = node_rt_get(run->runs->fleet, &h->nodes[i]);
        struct run_slot *slot = &run->slots[i];
        *slot = (struct run_slot){
            .run = run,
            .tenant = {.events = &run_tenant_events, .dir = run->dir, .name = run->name},
            .node_id = h->nodes[i].id,
            .node_name = arena_strdup(&run->a, node_rt_name(rt)),
            .root = arena_strdup(&run->a, node_rt_root(rt)),
            .task_prefix = arena_strdup(&run->a, h->parts[i].task_prefix),
            .takes = h->parts[i].takes,
            .devices = arena_strdup(&run->a, h->parts[i].devices),
            .rank = (int)i};
        slot->tenant.gpus = slot->devices;
        slot->busy_us = h->parts[i].busy_us;
        slot->idle_us = h->parts[i].idle_us;
        slot->noted_us = slot->busy_us + slot->idle_us;
        slot->used = slot->kept = h->parts[i].used;
        slot->summed = slot->used.known && run->row.state != RUN_ALLOCATED;
        arena_init(&slot->a);
        node_attach(rt, &slot->tenant);
    }
}

static bool read_secrets(struct live_run *run, struct failure *why)
{
    const struct secret_reader reader = {.front = run->front,
                                         .st = run->runs->st,
                                         .a = &run->a,
                                         .pool_id = run->row.pool_id,
                                         .run = &run->row};
    return secret_refs_of_run(&reader, &run->spec, why);
}

static void decode_spec(struct live_run *run)
{
    struct err e = {0};
    const struct front *f = run->front;
    struct run_outcome out = {.kind = OUT_FAILED};
    const struct front_read how = {.st = run->runs->st, .a = &run->a, .secrets = true};
    if (f->ops->load(f, &how, &run->row, &run->spec, &e) != 0)
        out.why = (struct failure){
            .code = FAIL_RUN_NOT_UNDERSTOOD, .message = e.msg, .step = "launch", .exit_code = -1};
    else if (read_secrets(run, &out.why) && make_tasks(run, &out.why))
        return;
    run_set_outcome(run, &out);
}

int run_read_limits(struct live_run *run, struct err *e)
{
    struct arena a;
    struct run_spec now;
    arena_init(&a);
    const struct front_read how = {.st = run->runs->st, .a = &a};
    int rc = run->front->ops->load(run->front, &how, &run->row, &now, e);
    if (rc == 0) {
        run->spec.max_wall_us = now.max_wall_us;
        run->spec.wishes.retry = now.wishes.retry;
        run->late_us = 0;
    }
    arena_free(&a);
    return rc;
}

/* A restarted daemon does not know the run's earlier requests, so it treats all tasks as sent, and
 * all terminals as possibly used. */
static void resume_run(struct live_run *run)
{
    run->resumed = true;
    for (size_t i = 0; i < run->n_tasks; i++)
        run->tasks[i].state = RT_SENT;
    for (int i = 0; i < run->n_slots; i++)
        run->slots[i].begun = run->slots[i].visited = true;
}

/* The beginning of the run on the monotonic clock. It is at most the run's time limit ago: if the
 * wall clock was set forward, the limit has expired just now, not long ago. */
static int64_t began(struct live_run *run)
{
    int64_t limit = run->spec.max_wall_us > 0 ? run->spec.max_wall_us : LONGEST_KNOWN_US;
    return wakes_mono_of(run->runs->wakes, run->row.start_us, limit);
}

static void log_begin(const struct live_run *run, bool resumed)
{
    const struct log *log = run->runs->log;
    const char *kind = run->front->words->run, *node = run->slots[0].node_name;
    const char *machine = node_rt_machine(run->slots[0].tenant.node);
    if (resumed)
        LOG_INFO(log, "run.resumed", LF_STR("kind", kind), LF_STR("run", run->name),
                 LF_INT("row_id", run->row.owner_id), LF_INT("attempt", run->row.attempt),
                 LF_STR("node", node), LF_STR("machine", machine), LF_INT("nodes", run->n_slots));
    else
        LOG_INFO(log, "run.started", LF_STR("kind", kind), LF_STR("run", run->name),
                 LF_INT("row_id", run->row.owner_id), LF_INT("attempt", run->row.attempt),
                 LF_STR("node", node), LF_STR("machine", machine), LF_INT("nodes", run->n_slots));
}

struct live_run *run_make(struct runs *rs, const struct run *row, const struct run_held *h)
{
    const struct front *f = front_of_run(rs, row);
    struct live_run *run = xcalloc(1, sizeof *run);
    arena_init(&run->a);
    run->runs = rs;
    run->front = f;
    run->row = *row;
    run->row.guid = arena_strdup(&run->a, row->guid);
    run->name = f->ops->run_name(f, rs->st, &run->a, row);
    run->dir = arena_printf(&run->a, "%s-%d", row->guid, row->attempt);
    id_map_put(&rs->map, row->id, run);
    make_slots(run, h);
    decode_spec(run);
    run->began_us = began(run);
    run->held_us = wakes_mono_of(rs->wakes, h->parts[0].created_us, LONGEST_KNOWN_US);
    run->held = run->spec.place && run->spec.place->held;
    bool resumed = h->parts[0].term != st_epoch(rs->st)->term;
    if (resumed)
        resume_run(run);
    if (row->state != RUN_ALLOCATED)
        run_go(run, RUN_CLEANING);
    log_begin(run, resumed);
    if (!resumed)
        runs_note_wait(rs, row);
    return run;
}

void live_run_free(struct live_run *run)
{
    terminals_leave(run);
    for (int i = 0; i < run->n_slots; i++) {
        node_detach(&run->slots[i].tenant);
        mounts_wipe(run->slots[i].secrets);
        remote_forget_link(&run->slots[i]);
        arena_free(&run->slots[i].a);
    }
    wake_at(run->runs->wakes, &woken_run, run->row.id, 0);
    id_map_remove(&run->runs->map, run->row.id);
    run_spec_wipe(&run->spec);
    arena_free(&run->a);
    free(run);
}
