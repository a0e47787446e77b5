/* SPDX-License-Identifier: MIT
 *
 * Ids of tasks. A task's id is the name of its directory on a node. Therefore all tasks of a job
 * have different ids, including its manager, preparation and release tasks.
 */
#include <strings.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "model/batch/spec.h"

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
