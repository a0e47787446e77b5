/* SPDX-License-Identifier: MIT
 *
 * Removes runs that dispatcher.c made for tasks and that still wait for their first start: when the
 * job may run fewer tasks at once, or when other jobs need a share of the queue.
 */
#include "model/batch/spec.h"
#include "scheduler/front/batch/front_priv.h"

int waiting_runs_remove(struct storage *st, const int64_t *tasks, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (st_runs_remove(st, RES_BATCH_TASK, tasks[i], e) < 0 ||
            st_batch_task_feed(st, tasks[i], false, e) < 0)
            return -1;
    return 0;
}

int waiting_runs_limit(struct storage *st, struct arena *a, const struct batch_job *j, bool *taken,
                       struct err *e)
{
    int64_t fed, *tasks;
    size_t n;
    *taken = false;
    if (j->max_parallel == BATCH_UNLIMITED)
        return 0;
    if (st_batch_task_count_fed(st, j->id, &fed, e) < 0)
        return -1;
    if (fed <= j->max_parallel)
        return 0;
    if (st_batch_task_surplus(st, a, j->id, 0, &tasks, &n, e) < 0)
        return -1;
    size_t surplus = (size_t)(fed - j->max_parallel);
    size_t kept = surplus < n ? n - surplus : 0;
    *taken = kept < n;
    return waiting_runs_remove(st, tasks + kept, n - kept, e);
}
