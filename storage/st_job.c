/* SPDX-License-Identifier: MIT
 *
 * Jobs.
 */
#include "storage/overview.h"
#include "storage/storage_priv.h"

#include <assert.h>

#include "lib/guid.h"

/* The state of the run that belongs to an execution state, when both are made. */
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

/* The runs of an array; any other job has one. */
static int insert_runs(struct storage *st, const struct job *j, struct run *r, struct err *e)
{
    char guid[GUID_SIZE];
    r->runs = j->runs > 1 ? j->runs : 1;
    for (r->idx = 0; r->idx < r->runs; r->idx++) {
        if (r->idx > 0) { /* each has directories and tasks of its own */
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

struct new_job {
    const struct job *j;
    const char *secrets;
    int64_t *id;
};

static int insert_both(struct storage *st, void *ctx, struct err *e)
{
    const struct new_job *new = ctx;
    const struct job *j = new->j;
    int64_t id;
    struct q q;
    if (q_write(&q, st, ST_JOB_INSERT, e) < 0)
        return -1;
    q_row(&q, &job_row, j, new->secrets);
    if (q_insert(&q, &id, e) < 0)
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
    struct new_job new = {j, secrets, id};
    return st_whole(st, insert_both, &new, e);
}

/* A PUT asks whether there is a job of this name, and mostly there is none: one index says that. */
int st_job_get(struct storage *st, struct arena *a, int64_t experiment_id, const char *name,
               struct job *out, struct err *e)
{
    struct q q;
    int64_t id;
    q_read(&q, st, ST_JOB_ID);
    q_int(&q, experiment_id);
    q_text(&q, name);
    int rc = q_one_int(&q, &id, e);
    return rc == 1 ? st_job_by_id(st, a, id, out, e) : rc;
}

int st_job_find(struct storage *st, struct arena *a, const struct scope *scope, const char *name,
                struct job *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_FIND);
    q_text(&q, scope->subscription);
    q_text(&q, scope->group);
    q_text(&q, scope->workspace);
    q_text(&q, scope->experiment);
    q_text(&q, name);
    return q_one(&q, a, &job_row, out, e);
}

int st_job_others(struct storage *st, int64_t experiment_id, const char *who, bool *others,
                  struct err *e)
{
    struct q q;
    int64_t any = 0;
    q_read(&q, st, ST_JOB_OTHERS);
    q_int(&q, experiment_id);
    q_text(&q, who);
    if (q_one_int(&q, &any, e) < 0)
        return -1;
    *others = any != 0;
    return 0;
}

int st_job_by_id(struct storage *st, struct arena *a, int64_t id, struct job *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, &job_row, out, e);
}

static int jobs(struct q *q, struct arena *a, const struct st_row *row, struct job **rows,
                size_t *n, struct err *e)
{
    void *items;
    if (q_rows(q, a, row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_job_list_shown(struct storage *st, struct arena *a, int64_t experiment_id, int64_t after,
                      int limit, struct job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_LIST_SHOWN);
    q_int(&q, experiment_id);
    q_int(&q, after);
    q_int(&q, limit);
    return jobs(&q, a, &job_shown_row, rows, n, e);
}

int st_job_list_named(struct storage *st, struct arena *a, const char *subscription,
                      const char *workspace, const char *experiment, int64_t after, int limit,
                      struct job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_LIST_NAMED);
    q_text(&q, subscription);
    q_text(&q, workspace);
    q_text(&q, experiment);
    q_int(&q, after);
    q_int(&q, limit);
    return jobs(&q, a, &job_row, rows, n, e);
}

int st_job_latest(struct storage *st, struct arena *a, int64_t before, int limit, struct job **rows,
                  size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_LATEST);
    q_int(&q, before);
    q_int(&q, limit);
    return jobs(&q, a, &job_row, rows, n, e);
}

int st_job_unfinished(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_UNFINISHED);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_job_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                   struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_SECRETS);
    q_int(&q, id);
    return q_secret(&q, a, secrets, e);
}

static int move_job(struct storage *st, const struct st_job_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0 && m->to != m->from);
    if (q_write(&q, st, ST_JOB_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->start_us);
    q_int(&q, m->end_us);
    if (m->has_exit_code)
        q_int(&q, m->exit_code);
    else
        q_null(&q);
    q_text(&q, m->errors);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_JOB_STATE, "Job", exec_state_names, m->id, m->from, m->to, e);
}

int st_job_note_failure(struct storage *st, const struct st_job_failure *n, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_JOB_NOTE_FAILURE, e) < 0)
        return -1;
    q_int(&q, n->id);
    if (n->has_exit_code)
        q_int(&q, n->exit_code);
    else
        q_null(&q);
    q_text(&q, n->errors);
    return q_change(&q, "job", n->id, e);
}

int st_job_set_guid(struct storage *st, int64_t id, const char *guid, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_JOB_SET_GUID, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, guid);
    return q_change(&q, "job", id, e);
}

static int move_all(struct storage *st, void *ctx, struct err *e)
{
    const struct st_job_move *m = ctx;
    if (move_job(st, m, e) < 0)
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
