/* SPDX-License-Identifier: MIT
 *
 * Jobs: a job and its runs are inserted, and moved to another state, in one transaction. On the
 * loop's thread.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

#include "lib/guid.h"

/* The state of the run for an execution state, when both are made. */
static enum run_state run_state_of(enum exec_state x)
{
    switch (x) {
    case EXEC_QUEUED:
        return RUN_WAITING;
    case EXEC_RUNNING:
    case EXEC_TERMINATING:
        return RUN_ALLOCATED;
    case EXEC_SUCCEEDED:
    case EXEC_FAILED:
        return RUN_OVER;
    }
    return RUN_OVER;
}

static enum run_stop run_stop_of(enum exec_state x)
{
    return x == EXEC_TERMINATING ? STOP_RUN : STOP_NOT;
}

/* Inserts the runs of an array; any other job has one run. */
static int insert_runs(struct storage *st, const struct job *j, struct run *r, struct err *e)
{
    char guid[GUID_SIZE];
    r->runs = j->runs > 1 ? j->runs : 1;
    for (r->idx = 0; r->idx < r->runs; r->idx++) {
        if (r->idx > 0) { /* each has its own directories and tasks */
            guid_new(guid);
            r->guid = guid;
        }
        r->number = j->numbers ? j->numbers[r->idx] : 0;
        r->held = j->at_once > 0 && r->idx >= j->at_once ? HOLD_TURN : HOLD_NOT;
        if (st_run_insert(st, r, NULL, e) < 0)
            return -1;
    }
    return 0;
}

struct job_insert {
    const struct job *j;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct job_insert *new = ctx;
    const struct job *j = new->j;
    int64_t id;
    if (st_job_insert_row(st, j, new->secrets, &id, e) < 0)
        return -1;
    struct run r = {.pool_id = j->cluster_id,
                    .owner_kind = RES_JOB,
                    .owner_id = id,
                    .guid = j->guid,
                    .priority = j->priority,
                    .nodes = j->node_count,
                    .need_whole = !j->part,
                    .need = j->need,
                    .max_wall_us = j->max_wall_us,
                    .state = run_state_of(j->exec_state),
                    .stop = run_stop_of(j->exec_state),
                    .attempt = j->attempt,
                    .start_us = j->start_us,
                    .end_us = j->end_us};
    const struct event ev = {
        .at_us = j->created_us, .kind = RES_JOB, .resource_id = id, .to = (int)j->exec_state};
    if (insert_runs(st, j, &r, e) < 0 || st_event_add(st, &ev, e) < 0)
        return -1;
    if (new->id)
        *new->id = id;
    return 0;
}

int st_job_insert(struct storage *st, const struct job *j, const char *secrets, int64_t *id,
                  struct err *e)
{
    struct job_insert new = {j, secrets, id};
    return st_whole(st, insert_both, &new, e);
}

/* A PUT checks whether there is a job of this name, and mostly there is none: one index answers
 * this. */
int st_job_get(struct storage *st, struct arena *a, int64_t experiment_id, const char *name,
               struct job *out, struct err *e)
{
    int64_t id;
    int rc = st_job_id(st, experiment_id, name, &id, e);
    return rc == 1 ? st_job_by_id(st, a, id, out, e) : rc;
}

static int move_all(struct storage *st, void *ctx, struct err *e)
{
    const struct st_job_move *m = ctx;
    if (st_job_move_row(st, m, e) < 0)
        return -1;
    const struct event ev = {.at_us = m->now_us,
                             .kind = RES_JOB,
                             .resource_id = m->id,
                             .from = (int)m->from,
                             .to = (int)m->to,
                             .reason = st_reason(m->reason, m->failure)};
    return st_event_add(st, &ev, e);
}

int st_job_move(struct storage *st, const struct st_job_move *m, struct err *e)
{
    struct st_job_move move = *m;
    return st_tx(st, "move job", move_all, &move, e);
}
