/* SPDX-License-Identifier: MIT
 *
 * The places of tasks: their nodes, and their directories there.
 */
#include <string.h>

#include "scheduler/front/batch/front_priv.h"

/* The job SCHEDULE:job-N of a schedule has a directory of the same structure. */
const char *batch_job_dir(struct arena *a, const char *job, int number)
{
    const char *colon = strchr(job, ':');
    return arena_printf(a, "workitems/%.*s/job-%d", colon ? (int)(colon - job) : (int)strlen(job),
                        job, number);
}

const char *batch_task_dir(struct arena *a, const struct batch_task *t)
{
    return arena_concat(a, batch_job_dir(a, t->job_name, t->job_number), "/", t->name);
}

int batch_task_node(struct storage *st, struct arena *a, const struct batch_task *t,
                    struct node *out, struct err *e)
{
    struct batch_pool p;
    if (!t->pool_name || !t->node_name)
        return 0;
    int rc = st_batch_pool_get(st, a, t->account_id, t->pool_name, &p, e);
    return rc <= 0 ? rc : st_node_named(st, a, p.id, t->node_name, out, e);
}
