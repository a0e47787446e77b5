/* SPDX-License-Identifier: MIT
 *
 * The parts of tasks that run on several nodes.
 */
#include "storage/batch_jobs.h"
#include "storage/storage_priv.h"

int st_batch_subtask_begin(struct storage *st, const struct batch_subtask *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SUBTASK_INSERT, e) < 0)
        return -1;
    q_row(&q, &batch_subtask_row, s, NULL);
    return q_insert(&q, NULL, e);
}

int st_batch_subtask_end(struct storage *st, const struct batch_subtask *s, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SUBTASK_END, e) < 0)
        return -1;
    q_int(&q, s->task_id);
    q_int(&q, s->number);
    q_int(&q, s->end_us);
    if (s->has_exit_code)
        q_int(&q, s->exit_code);
    else
        q_null(&q);
    q_int(&q, s->result);
    q_text(&q, s->failure);
    return q_run(&q, e);
}

int st_batch_subtask_contain(struct storage *st, int64_t task_id, int number,
                             const char *container_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SUBTASK_CONTAIN, e) < 0)
        return -1;
    q_int(&q, task_id);
    q_int(&q, number);
    q_text(&q, container_id);
    return q_run(&q, e);
}

int st_batch_subtask_clear(struct storage *st, int64_t task_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SUBTASK_CLEAR, e) < 0)
        return -1;
    q_int(&q, task_id);
    return q_run(&q, e);
}

int st_batch_subtask_list(struct storage *st, struct arena *a, int64_t task_id, int after,
                          int limit, struct batch_subtask **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_SUBTASK_LIST);
    q_int(&q, task_id);
    q_int(&q, after);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_subtask_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_subtask_of_node(struct storage *st, struct arena *a, const char *node_name, int limit,
                             struct batch_subtask **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_SUBTASK_OF_NODE);
    q_text(&q, node_name);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_subtask_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}
