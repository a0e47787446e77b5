/* SPDX-License-Identifier: MIT
 *
 * Samples of the metrics of Azure Batch's pools.
 */
#include "storage/batch_samples.h"

#include "storage/storage_priv.h"

int st_batch_sample_add(struct storage *st, int64_t pool_id, const struct batch_sample *s,
                        int64_t forget_us, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SAMPLE_ADD, e) < 0)
        return -1;
    q_int(&q, pool_id);
    q_int(&q, s->at_us);
    q_text(&q, s->vals);
    if (q_run(&q, e) < 0 || q_write(&q, st, ST_BATCH_SAMPLE_FORGET, e) < 0)
        return -1;
    q_int(&q, pool_id);
    q_int(&q, forget_us);
    return q_run(&q, e);
}

int st_batch_samples(struct storage *st, struct arena *a, int64_t pool_id,
                     struct batch_sample **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_SAMPLES);
    q_int(&q, pool_id);
    if (q_rows(&q, a, &batch_sample_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_sample_last(struct storage *st, int64_t pool_id, int64_t *at_us, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_SAMPLE_LAST);
    q_int(&q, pool_id);
    return q_one_int(&q, at_us, e) < 0 ? -1 : 0;
}

int st_batch_samples_remove(struct storage *st, int64_t pool_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_SAMPLES_REMOVE, e) < 0)
        return -1;
    q_int(&q, pool_id);
    return q_run(&q, e);
}

int st_batch_pool_tasks(struct storage *st, struct arena *a, int64_t account_id,
                        const char *pool_name, struct batch_pool_tasks *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_POOL_TASKS);
    q_int(&q, account_id);
    q_text(&q, pool_name);
    return q_one(&q, a, &batch_pool_tasks_row, out, e) < 0 ? -1 : 0;
}
