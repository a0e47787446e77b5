/* SPDX-License-Identifier: MIT
 *
 * The documents of Azure Batch's job schedules: their times, and the jobs that they make.
 */
#ifndef MODEL_BATCH_SCHEDULE_DOC_H
#define MODEL_BATCH_SCHEDULE_DOC_H

#include <stdint.h>

#include "lib/arena.h"

struct batch_times {
    int64_t until_us, after_us; /* doNotRunUntil, doNotRunAfter; 0: not given */
    int64_t window_us;          /* startWindow */
    int64_t interval_us;        /* recurrenceInterval; 0: it makes one job */
};
void batch_times_read(const char *doc, struct batch_times *out);

/* Makes the document of a job that the schedule creates under this name; in the arena. */
const char *batch_schedule_job_doc(struct arena *a, const char *doc, const char *name);
/* Returns the secrets of a job: those secrets of the schedule (NULL: none) whose paths begin with
 * the job specification. NULL: the job has none. */
const char *batch_schedule_job_secrets(struct arena *a, const char *secrets);

#endif
