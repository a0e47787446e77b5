/* SPDX-License-Identifier: MIT
 *
 * Statistics of jobs, schedules and tasks, for $expand=stats. Processor time and I/O are from the
 * usage record; they are 0 for processes that no node measured.
 */
#ifndef API_PLANE_BATCH_STATS_H
#define API_PLANE_BATCH_STATS_H

#include "api/plane/batch/batch.h"
#include "storage/batch_jobs.h"
#include "storage/batch_schedules.h"

/* Whether the request has $expand=stats. */
bool batch_stats_asked(struct request *r);
/* Statistics of the tasks of one job or of several. `end_us` 0: they are not final. */
json_t *batch_counts_stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                           const struct batch_counts *n);
/* Statistics as JSON text in the arena; NULL: not requested, or no statistics yet. */
const char *batch_job_stats(struct request *r, const struct batch_job *j, const char *path);
/* The sum over the schedule's jobs. */
const char *batch_schedule_stats(struct request *r, const struct batch_schedule *s,
                                 const char *path);
const char *batch_task_stats(struct request *r, const struct batch_task *t, const char *path);

#endif
