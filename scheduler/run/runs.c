/* SPDX-License-Identifier: MIT
 *
 * Starts and stops the runs, and serves requests of the code that uses them.
 */
#include "scheduler/run/runs.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/strbuf.h"
#include "model/states.h"
#include "scheduler/fleet/node/secret_refs.h"
#include "scheduler/run/outputs.h"
#include "scheduler/run/run_priv.h"

void runs_keep_outputs(struct runs *rs, int kept_outputs)
{
    rs->kept_outputs = kept_outputs;
}

struct runs *runs_create(const struct runs_config *c)
{
    struct runs *rs = xcalloc(1, sizeof *rs);
    rs->fleet = c->fleet;
    rs->wakes = c->wakes;
    rs->st = c->storage;
    rs->log = c->log;
    rs->kept_outputs = c->kept_outputs;
    rs->fronts = c->fronts;
    rs->events = c->events;
    rs->events_ctx = c->events_ctx;
    wakes_handle(rs->wakes, &woken_run, run_reconcile, rs);
    wakes_handle_refused(rs->wakes, &woken_run, run_refused);
    return rs;
}

int runs_start(struct runs *rs, struct err *e)
{
    return wake_listed(rs->wakes, &woken_run, st_run_live_ids, e);
}

void runs_stop(struct runs *rs)
{
    while (rs->map.n > 0)
        live_run_free(rs->map.e[0].p);
}

void runs_free(struct runs *rs)
{
    assert(rs->map.n == 0);
    id_map_free(&rs->map);
    id_map_free(&rs->allocating);
    free(rs);
}

/* Loads the run without its secrets, because they are not needed here. Only checks that referenced
 * secrets can be read, because otherwise the run would take its nodes and fail there. */
bool runs_refuse(const struct runs *rs, struct arena *a, const struct run *r, struct failure *why)
{
    const struct front *f = front_of_run(rs, r);
    const struct secret_reader reader = {
        .front = f, .st = rs->st, .a = a, .pool_id = r->pool_id, .run = r, .only_look = true};
    struct run_spec spec;
    struct err e = {0};
    const struct front_read how = {.st = rs->st, .a = a};
    if (f->ops->load(f, &how, r, &spec, &e) == 0)
        return !secret_refs_of_run(&reader, &spec, why);
    *why = (struct failure){.code = FAIL_RUN_NOT_UNDERSTOOD,
                            .message = arena_strdup(a, e.msg),
                            .step = "launch",
                            .exit_code = -1};
    return true;
}

void runs_end(struct runs *rs, int64_t run_id)
{
    wake_durable(rs->wakes, &woken_run, run_id);
}

int runs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e)
{
    if (!id_map_has(&rs->map, run_id))
        return outputs_forget(rs, a, run_id, e) < 0 ? -1 : 1;
    runs_end(rs, run_id);
    return 0;
}

/* --- giving nodes to a run -------------------------------------------------------------------- */

struct giving {
    struct runs *runs;
    struct run *r;
    const struct run_part *parts;
    int64_t now_us;
};

static int insert_parts(const struct giving *g, struct arena *a, struct err *e)
{
    struct storage *st = g->runs->st;
    size_t n = (size_t)g->r->nodes;
    struct allocation *rows = arena_alloc(a, n * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct allocation){.run_id = g->r->id,
                                      .attempt = g->r->attempt,
                                      .rank = (int)i,
                                      .node_id = g->parts[i].node_id,
                                      .node_name = g->parts[i].node_name,
                                      .takes = g->parts[i].takes,
                                      .devices = g->parts[i].devices,
                                      .state = ALLOCATION_HELD,
                                      .term = st_epoch(st)->term,
                                      .task_prefix = st_task_prefix(st, a, g->r, (int)i),
                                      .created_us = g->now_us};
    return st_allocation_insert(st, rows, n, e);
}

static int give(struct storage *st, void *ctx, struct err *e)
{
    const struct giving *g = ctx;
    const struct front *f = front_of_run(g->runs, g->r);
    struct run *r = g->r;
    const struct st_run_move m = {.id = r->id,
                                  .from = r->state,
                                  .to = run_next(r->state, RUN_EV_ALLOCATED),
                                  .start_us = g->now_us,
                                  .attempt = ++r->attempt,
                                  .failure = 0};
    struct arena a;
    arena_init(&a);
    int rc = st_run_move(st, &m, e);
    if (rc == 0)
        rc = insert_parts(g, &a, e);
    if (rc == 0)
        rc = FRONT_ASK(f, started, st, r, g->now_us, e);
    arena_free(&a);
    return rc;
}

/* The allocation is on disk, so the run's steps begin; or it was rolled back, and the run waits as
 * before. */
static void effect_given(void *ctx, int64_t run_id, const struct err *why)
{
    struct runs *rs = ctx;
    id_map_remove(&rs->allocating, run_id);
    wake_after(rs->wakes, &woken_run, run_id, why);
}

int runs_allocate(struct runs *rs, const struct run *r, const struct run_part *parts, struct err *e)
{
    struct run run = *r;
    struct giving g = {rs, &run, parts, wakes_wall(rs->wakes)};
    if (st_tx(rs->st, "allocate run", give, &g, e) < 0)
        return -1;
    id_map_put(&rs->allocating, r->id, NULL);
    wake_when_durable(rs->wakes, effect_given, rs, r->id);
    return 0;
}

const char *runs_all_devices(struct arena *a, const struct node *nd)
{
    struct strbuf b = STRBUF_INIT;
    for (int k = 0; k < nd->has.gpus; k++)
        strbuf_printf(&b, "%s%d", k > 0 ? "," : "", k);
    const char *all = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return all;
}

int runs_begin_aside(struct runs *rs, const struct run *r, const struct node *nd, struct err *e)
{
    struct arena a;
    arena_init(&a);
    const struct run_part part = {
        .node_id = nd->id, .node_name = nd->name, .devices = runs_all_devices(&a, nd)};
    int rc = runs_allocate(rs, r, &part, e);
    arena_free(&a);
    return rc;
}

/* --- terminate ------------------------------------------------------------------------------ */

static int terminate_waiting(struct runs *rs, struct arena *a, const struct run *r, struct err *e)
{
    const struct failure f = {.code = FAIL_RUN_TERMINATED,
                              .message =
                                  front_text(front_of_run(rs, r)->words, a, RUN_TERMINATED_TEXT),
                              .exit_code = -1};
    return runs_fail_queued(rs, r, &f, e);
}

struct stopping {
    struct runs *runs;
    const struct run *r;
};

static int stop(struct storage *st, void *ctx, struct err *e)
{
    const struct stopping *k = ctx;
    const struct front *f = front_of_run(k->runs, k->r);
    if (st_run_set_stop(st, k->r->id, STOP_RUN, e) < 0)
        return -1;
    return FRONT_ASK(f, stopping, st, k->r, wakes_wall(k->runs->wakes), e);
}

static int terminate_running(struct runs *rs, struct arena *a, const struct run *r, struct err *e)
{
    const struct front *f = front_of_run(rs, r);
    const struct front_words *w = f->words;
    struct stopping k = {rs, r};
    if (r->stop != STOP_NOT)
        return 0;
    if (st_tx(rs->st, "stop run", stop, &k, e) < 0)
        return -1;
    LOG_INFO(rs->log, "run.stopping", LF_STR("kind", w->run),
             LF_STR("run", f->ops->run_name(f, rs->st, a, r)), LF_INT("row_id", r->owner_id));
    wake_durable(rs->wakes, &woken_run, r->id);
    return 0;
}

/* 1: the end is in progress; 0: the run had already ended; -1: err. */
static int terminate(struct runs *rs, struct arena *a, const struct run *r, struct err *e)
{
    if (run_has_verdict(r))
        return 0;
    int rc =
        r->state == RUN_WAITING ? terminate_waiting(rs, a, r, e) : terminate_running(rs, a, r, e);
    return rc < 0 ? -1 : 1;
}

/* After a rollback, the rows have the earlier limits, and nothing is to be done. */
static void effect_limits(void *ctx, int64_t run_id, const struct err *why)
{
    struct runs *rs = ctx;
    struct err e;
    struct live_run *run = why ? NULL : id_map_find(&rs->map, run_id);
    if (!run || run_has_verdict(&run->row))
        return;
    if (run_read_limits(run, &e) < 0)
        LOG_ERROR(rs->log, "run.limits_not_read", LF_INT("run_id", run_id), LF_STR("why", e.msg));
    wake(rs->wakes, &woken_run, run_id);
}

void runs_limits_changed(struct runs *rs, int64_t run_id)
{
    wake_when_durable(rs->wakes, effect_limits, rs, run_id);
}

int runs_terminate(struct runs *rs, int64_t run_id, struct err *e)
{
    struct arena a;
    struct run r;
    arena_init(&a);
    int rc = st_run_by_id(rs->st, &a, run_id, &r, e);
    if (rc == 0)
        rc = err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    else if (rc > 0)
        rc = terminate(rs, &a, &r, e);
    /* The caller may write the row of its operation after this call. The woken run finishes the
     * operation at the end of this turn. */
    if (rc >= 0)
        wake(rs->wakes, &woken_run, r.id);
    arena_free(&a);
    return rc;
}
