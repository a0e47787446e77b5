/* SPDX-License-Identifier: MIT
 *
 * /metrics/jobs: the jobs and tasks that have nodes now, and which GPUs they have.
 */
#ifndef API_METRICS_JOBS_H
#define API_METRICS_JOBS_H

#include "api/http/request.h"

void metrics_of_jobs(struct request *r);

#endif
