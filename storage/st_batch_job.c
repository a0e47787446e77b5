/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's jobs.
 */
#include "storage/batch_jobs.h"

#include <assert.h>

#include "storage/seeding.h"
#include "storage/storage_priv.h"

static int jobs(struct q *q, struct arena *a, struct batch_job **rows, size_t *n, struct err *e)
{
    void *items;
    if (q_rows(q, a, &batch_job_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_job_insert(struct storage *st, const struct batch_job *j, const char *secrets,
                        int64_t *id, struct err *e)
{
    return q_new(st, ST_BATCH_JOB_INSERT, &batch_job_row, j, secrets, id, e);
}

int st_batch_job_adopt(struct storage *st, const struct st_batch_adoption *x, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_JOB_ADOPT, e) < 0)
        return -1;
    q_int(&q, x->id);
    q_int(&q, x->schedule_id);
    q_int(&q, x->number);
    q_text(&q, x->name);
    return q_change(&q, "job", x->id, e);
}

int st_batch_job_get(struct storage *st, struct arena *a, int64_t account_id, const char *name,
                     struct batch_job *out, struct err *e)
{
    return q_named(st, ST_BATCH_JOB_GET, a, account_id, name, &batch_job_row, out, e);
}

int st_batch_job_by_id(struct storage *st, struct arena *a, int64_t id, struct batch_job *out,
                       struct err *e)
{
    return q_known_id(st, ST_BATCH_JOB_BY_ID, a, id, &batch_job_row, out, e);
}

int st_batch_job_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                         struct err *e)
{
    return q_secret_of(st, ST_BATCH_JOB_SECRETS, a, id, secrets, e);
}

static const char *const properties[BATCH_JOB_PROPERTIES] = {
    [BATCH_JOB_BY_ID] = "bj.name",
    [BATCH_JOB_BY_STATE] = "bj.state",
    [BATCH_JOB_BY_STATE_TIME] = "bj.state_us",
    [BATCH_JOB_BY_CREATED] = "bj.created_us",
    [BATCH_JOB_BY_MODIFIED] = "bj.updated_us",
    [BATCH_JOB_BY_START] = "nullif(bj.start_us, 0)",
    [BATCH_JOB_BY_END] = "nullif(bj.end_us, 0)",
    [BATCH_JOB_BY_POOL] = "bj.pool_name",
};

int st_batch_job_list(struct storage *st, struct arena *a, int64_t account_id,
                      const struct filter *filter, const char *after, const char *upto, int limit,
                      struct batch_job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read_filtered(&q, st, ST_BATCH_JOB_LIST, filter, properties);
    q_int(&q, account_id);
    q_text(&q, after ? after : "");
    q_int(&q, limit);
    q_text(&q, upto ? upto : Q_LAST_NAME);
    return jobs(&q, a, rows, n, e);
}

int st_batch_job_nth(struct storage *st, struct arena *a, int64_t account_id, const char *after,
                     int nth, const char **name, struct err *e)
{
    return q_nth_name(st, ST_BATCH_JOB_NTH, a, account_id, after, nth, name, e);
}

int st_batch_job_list_schedule(struct storage *st, struct arena *a, int64_t schedule_id,
                               const struct filter *filter, int after, int upto, int limit,
                               struct batch_job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read_filtered(&q, st, ST_BATCH_JOB_LIST_SCHEDULE, filter, properties);
    q_int(&q, schedule_id);
    q_int(&q, after);
    q_int(&q, limit);
    q_int(&q, upto);
    return jobs(&q, a, rows, n, e);
}

int st_batch_job_nth_schedule(struct storage *st, int64_t schedule_id, int after, int nth,
                              int *number, struct err *e)
{
    struct q q;
    int64_t found;
    q_read(&q, st, ST_BATCH_JOB_NTH_SCHEDULE);
    q_int(&q, schedule_id);
    q_int(&q, after);
    q_int(&q, nth - 1);
    int rc = q_step(&q, e);
    if (rc != 1)
        return rc;
    found = c_int(&q);
    q_end(&q);
    *number = (int)found;
    return 1;
}

int st_batch_job_unfinished(struct storage *st, int64_t account_id, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_JOB_UNFINISHED);
    q_int(&q, account_id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_batch_job_turn(struct storage *st, struct arena *a, int64_t account_id,
                      const char *pool_name, int nodes, int limit, struct batch_job **rows,
                      size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_JOB_TURN);
    q_int(&q, account_id);
    q_text(&q, pool_name);
    q_int(&q, limit);
    q_int(&q, nodes);
    return jobs(&q, a, rows, n, e);
}

int st_batch_job_moving(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                        struct err *e)
{
    return q_ids_of(st, ST_BATCH_JOB_MOVING, a, ids, n, e);
}

int st_batch_job_limited(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                         struct err *e)
{
    return q_ids_of(st, ST_BATCH_JOB_LIMITED, a, ids, n, e);
}

int st_batch_job_update(struct storage *st, const struct batch_job *j, const char *secrets,
                        struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_JOB_UPDATE, e) < 0)
        return -1;
    q_int(&q, j->id);
    q_text(&q, j->doc);
    q_sealed(&q, secrets);
    q_int(&q, j->updated_us);
    q_int(&q, j->limit_us);
    q_text(&q, j->pool_name);
    q_int(&q, j->priority);
    q_int(&q, j->max_parallel);
    q_int(&q, j->on_all);
    q_int(&q, j->on_failure);
    return q_change(&q, "batch job", j->id, e);
}

int st_batch_job_move(struct storage *st, const struct st_batch_job_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0 && m->to != m->from);
    if (q_write(&q, st, ST_BATCH_JOB_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->by_user);
    q_int(&q, m->disable);
    q_text(&q, m->reason);
    q_text(&q, m->failure);
    q_int(&q, m->ends);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_BATCH_JOB_STATE, "Job", batch_job_state_names, m->id, (int)m->from,
                   (int)m->to, e);
}

int st_batch_job_remove_numbers(struct storage *st, int64_t id, int limit, bool *left,
                                struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_DONE_REMOVE, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, limit);
    if (q_run(&q, e) < 0)
        return -1;
    *left = q_changed(st) == limit;
    return 0;
}

int st_batch_job_remove(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_JOB_REMOVE, id, "batch job", e);
}

int st_batch_job_counts(struct storage *st, struct arena *a, int64_t id, struct batch_counts *out,
                        struct err *e)
{
    return q_by_id(st, ST_BATCH_JOB_COUNTS, a, id, &batch_count_row, out, e);
}

int st_batch_schedule_counts(struct storage *st, struct arena *a, int64_t schedule_id,
                             struct batch_counts *out, struct err *e)
{
    return q_by_id(st, ST_BATCH_SCHEDULE_COUNTS, a, schedule_id, &batch_count_row, out, e);
}

int st_batch_account_counts(struct storage *st, struct arena *a, int64_t account_id,
                            struct batch_counts *out, struct err *e)
{
    return q_by_id(st, ST_BATCH_ACCOUNT_COUNTS, a, account_id, &batch_count_row, out, e);
}
