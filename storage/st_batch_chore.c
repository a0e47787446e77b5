/* SPDX-License-Identifier: MIT */
#include "storage/batch_chores.h"

#include "storage/storage_priv.h"

int st_batch_chore_begin(struct storage *st, const struct batch_chore *c, int64_t *id,
                         struct err *e)
{
    return q_new(st, ST_BATCH_CHORE_INSERT, &batch_chore_row, c, NULL, id, e);
}

int st_batch_chore_get(struct storage *st, struct arena *a, int64_t job_id, const char *node_name,
                       enum batch_chore_kind kind, struct batch_chore *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_CHORE_GET);
    q_int(&q, job_id);
    q_text(&q, node_name);
    q_int(&q, kind);
    return q_one(&q, a, &batch_chore_row, out, e);
}

int st_batch_chore_by_id(struct storage *st, struct arena *a, int64_t id, struct batch_chore *out,
                         struct err *e)
{
    return q_by_id(st, ST_BATCH_CHORE_BY_ID, a, id, &batch_chore_row, out, e);
}

int st_batch_chore_list(struct storage *st, struct arena *a, int64_t job_id, const char *after,
                        struct batch_chore **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_CHORE_LIST);
    q_int(&q, job_id);
    q_text(&q, after);
    if (q_rows(&q, a, &batch_chore_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_chore_retry(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_CHORE_RETRY, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, now_us);
    return q_change(&q, "chore", id, e);
}

int st_batch_chore_contain(struct storage *st, int64_t id, const char *container_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_CHORE_CONTAIN, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, container_id);
    return q_change(&q, "chore", id, e);
}

int st_batch_chore_over(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                        struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_CHORE_OVER);
    q_int(&q, RES_BATCH_CHORE);
    return q_ids(&q, a, ids, n, e);
}

int st_batch_chore_end(struct storage *st, const struct st_batch_chore_end *end, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_CHORE_END, e) < 0)
        return -1;
    q_int(&q, end->id);
    q_int(&q, end->now_us);
    if (end->has_exit_code)
        q_int(&q, end->exit_code);
    else
        q_null(&q);
    q_int(&q, end->result);
    q_text(&q, end->failure);
    q_text(&q, end->container_error);
    return q_change(&q, "chore", end->id, e);
}

int st_batch_task_preparing(struct storage *st, struct arena *a, int64_t job_id,
                            const char *node_name, struct batch_task **rows, size_t *n,
                            struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_TASK_PREPARING);
    q_int(&q, job_id);
    q_text(&q, node_name);
    if (q_rows(&q, a, &batch_task_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
