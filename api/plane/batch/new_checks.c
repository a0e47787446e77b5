/* SPDX-License-Identifier: MIT
 *
 * Checks of new jobs and tasks, besides those of their bodies: the ids of tasks, and the account's
 * quota. A task's id is the name of its directory on a node. Therefore all tasks of a job have
 * different ids, including its manager, preparation and release tasks.
 */
#include <strings.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/batch.h"
#include "storage/batch_jobs.h"
#include "storage/batch_schedules.h"
#include "storage/storage.h"

int batch_check_task_id(const char *preparation, const char *release, const char *id, struct err *e)
{
    if (preparation && strcasecmp(preparation, id) == 0)
        return err_set(e, BATCH_TASK_ID_SAME_AS_JOB_PREPARATION_TASK, "id",
                       "%s is the id of the job preparation task.", id);
    if (release && strcasecmp(release, id) == 0)
        return err_set(e, BATCH_TASK_ID_SAME_AS_JOB_RELEASE_TASK, "id",
                       "%s is the id of the job release task.", id);
    return 0;
}

int batch_check_own_ids(const json_t *job, struct err *e)
{
    const char *preparation = json_string_value(batch_part(job, "jobPreparationTask.id")),
               *release = json_string_value(batch_part(job, "jobReleaseTask.id")),
               *manager = json_string_value(batch_part(job, "jobManagerTask.id"));
    if (manager && batch_check_task_id(preparation, release, manager, e) < 0)
        return -1;
    return release ? batch_check_task_id(preparation, NULL, release, e) : 0;
}

static int may_add_job(struct storage *st, const struct batch_quotas *q, int64_t account_id,
                       struct err *e)
{
    int64_t jobs, schedules;
    if (q->jobs == 0) /* 0: no limit, so do not count; counting takes time for each row */
        return 1;
    if (st_batch_job_unfinished(st, account_id, &jobs, e) < 0 ||
        st_batch_schedule_unfinished(st, account_id, &schedules, e) < 0)
        return -1;
    return jobs + schedules < q->jobs;
}

int batch_check_job_quota(struct request *r, struct err *e)
{
    const struct batch *b = batch_of(r);
    int rc = may_add_job(b->arm.storage, &b->front->quotas, batch_account_of(r)->id, e);
    if (rc == 0)
        return err_set(
            e, BATCH_ACTIVE_JOB_AND_SCHEDULE_QUOTA_REACHED, NULL,
            "The account has %lld jobs and job schedules that are not completed, and may "
            "not have more.",
            (long long)b->front->quotas.jobs);
    return rc < 0 ? -1 : 0;
}
