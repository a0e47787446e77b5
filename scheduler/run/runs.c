/* SPDX-License-Identifier: MIT
 *
 * Birth and end of the runs, and what is asked of them from above.
 */
#include "scheduler/run/runs.h"

#include <assert.h>
#include <stdlib.h>

#include "model/states.h"
#include "scheduler/run/run_priv.h"

struct runs *runs_create(const struct runs_config *c)
{
    struct runs *rs = xcalloc(1, sizeof *rs);
    rs->fleet = c->fleet;
    rs->wakes = c->wakes;
    rs->st = c->storage;
    rs->log = c->log;
    rs->kept_outputs = c->kept_outputs;
    rs->front = c->front;
    rs->events = c->events;
    rs->events_ctx = c->events_ctx;
    wakes_handle(rs->wakes, WAKE_RUN, run_reconcile, rs);
    return rs;
}

/* Jobs that have ended, and whose nodes are not free yet. */
static int wake_held(struct runs *rs, struct arena *a, struct err *e)
{
    int64_t *ids;
    size_t n;
    struct node row;
    int rc = st_node_ids(rs->st, a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        int found = st_node_by_id(rs->st, a, ids[i], &row, e);
        if (found > 0)
            wake(rs->wakes, WAKE_RUN, row.job_id);
        rc = found < 0 ? -1 : 0;
    }
    return rc;
}

int runs_start(struct runs *rs, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    int rc = st_job_active_ids(rs->st, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++)
        wake(rs->wakes, WAKE_RUN, ids[i]);
    if (rc == 0)
        rc = wake_held(rs, &a, e);
    arena_free(&a);
    return rc;
}

void runs_stop(struct runs *rs)
{
    while (rs->map.n > 0)
        job_run_free(rs->map.e[0].p);
}

void runs_free(struct runs *rs)
{
    assert(rs->map.n == 0);
    id_map_free(&rs->map);
    id_map_free(&rs->allocating);
    free(rs);
}

/* Secrets are not needed for that. */
bool runs_refuse(const struct runs *rs, struct arena *a, const struct job *j, struct failure *why)
{
    struct job_spec spec;
    struct err e = {0};
    if (rs->front->ops->load(rs->front, rs->st, a, j, false, &spec, &e) == 0)
        return launch_refusal(a, &spec, why);
    *why = (struct failure){.code = FAIL_JOB_NOT_UNDERSTOOD,
                            .message = arena_strdup(a, e.msg),
                            .step = "launch",
                            .exit_code = -1};
    return true;
}

bool runs_has(const struct runs *rs, int64_t job_id)
{
    return id_map_has(&rs->map, job_id);
}

/* On disk: the steps begin. Rolled back: the job is found queued, as before. */
static void effect_allocated(void *ctx, int64_t job_id, const struct err *why)
{
    struct runs *rs = ctx;
    id_map_remove(&rs->allocating, job_id);
    wake_after(rs->wakes, WAKE_RUN, job_id, why);
}

void runs_allocated(struct runs *rs, int64_t job_id)
{
    id_map_put(&rs->allocating, job_id, NULL);
    wake_when_durable(rs->wakes, effect_allocated, rs, job_id);
}

/* --- terminate ------------------------------------------------------------------------------ */

static int terminate_queued(struct runs *rs, const struct job *j, struct err *e)
{
    const struct failure f = {.code = FAIL_JOB_TERMINATED,
                              .message = "The specified job has been terminated by the user",
                              .exit_code = -1};
    return runs_fail_queued(rs, j, &f, e);
}

static int terminate_running(struct runs *rs, const struct job *j, struct err *e)
{
    const struct st_job_move m = {.id = j->id,
                                  .from = j->exec_state,
                                  .to = job_next(j->exec_state, JOB_EV_TERMINATE),
                                  .now_us = wakes_wall(rs->wakes)};
    if (st_job_move(rs->st, &m, e) != 0)
        return -1;
    LOG_INFO(rs->log, "job.terminating", LF_STR("job", j->name), LF_INT("job_id", j->id));
    wake_durable(rs->wakes, WAKE_RUN, j->id);
    return 0;
}

int runs_terminate(struct runs *rs, int64_t job_id, struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct job j;
    int rc = st_job_by_id(rs->st, &a, job_id, &j, e);
    if (rc == 0)
        rc = err_set(e, ERR_JOB_NOT_FOUND, NULL, "there is no job with id %lld", (long long)job_id);
    if (rc < 0)
        goto out;
    switch (j.exec_state) {
    case EXEC_QUEUED:
        rc = terminate_queued(rs, &j, e) == 0 ? 1 : -1;
        break;
    case EXEC_RUNNING:
        rc = terminate_running(rs, &j, e) == 0 ? 1 : -1;
        break;
    case EXEC_TERMINATING:
        rc = 1;
        break;
    case EXEC_SUCCEEDED:
    case EXEC_FAILED:
        rc = 0;
        break;
    }
    /* The operation's row may be written after this call: it is finished in this turn's end. */
    if (rc >= 0)
        wake(rs->wakes, WAKE_RUN, job_id);
out:
    arena_free(&a);
    return rc;
}
