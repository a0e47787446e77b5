/* SPDX-License-Identifier: MIT
 *
 * Handlers of jobs, and functions that the handlers of tasks and files use.
 */
#ifndef API_PLANE_BATCH_JOBS_H
#define API_PLANE_BATCH_JOBS_H

#include "api/plane/batch/batch.h"
#include "api/plane/batch/routes.h"
#include "storage/batch_jobs.h"

/* Replies with a list of the jobs that a schedule created. */
struct replied *batch_jobs_of_schedule(struct request *r, int64_t schedule_id);

/* Finds the job that the path names. 0: found; -1: JobNotFound, or another error. */
int find_batch_job(struct request *r, struct batch_job *out, struct err *e) MUST_CHECK;
/* Fails if the job is being deleted or terminated, or is completed. */
int batch_job_goes_on(const struct batch_job *j, struct err *e) MUST_CHECK;
/* If a job or schedule specifies its own pool (autoPoolSpecification), the sender must also have
 * the right to create pools. */
int batch_job_may_bring(struct request *r, const json_t *job, struct err *e) MUST_CHECK;
/* The path "/jobs/ID", percent-encoded, in the arena. */
const char *batch_job_path(struct request *r, const char *name);

#endif
