/* SPDX-License-Identifier: MIT
 *
 * Statistics of jobs, schedules and tasks, which clients ask for by $expand=stats. Processor time,
 * reading and writing are not measured, and shown as none.
 */
#ifndef API_PLANE_BATCH_STATS_H
#define API_PLANE_BATCH_STATS_H

#include "api/plane/batch/batch.h"
#include "storage/batch_jobs.h"
#include "storage/batch_schedules.h"

/* Whether the request wants them. */
bool batch_stats_asked(struct request *r);
/* As JSON text, the arena's; NULL: nobody asked for it, or there is nothing yet. */
const char *batch_job_stats(struct request *r, const struct batch_job *j, const char *path);
/* Of the jobs that it has. */
const char *batch_schedule_stats(struct request *r, const struct batch_schedule *s,
                                 const char *path);
const char *batch_task_stats(struct request *r, const struct batch_task *t, const char *path);

#endif
