/* SPDX-License-Identifier: MIT
 *
 * Job schedules of Azure Batch: what users may do with them, and the jobs that they make.
 *
 * A schedule makes its first job at once, or when it may (doNotRunUntil), and one each
 * recurrenceInterval after that, called SCHEDULE:job-N; without an interval it makes one. It has
 * one job at a time: while one is not completed the next one waits, but no longer than startWindow,
 * and is left out after that. Behind doNotRunAfter it makes no more. One that makes no more jobs
 * and has none left is completed.
 */
#ifndef SCHEDULER_FRONT_BATCH_SCHEDULES_H
#define SCHEDULER_FRONT_BATCH_SCHEDULES_H

#include "model/batch/schedule_doc.h"
#include "storage/batch_schedules.h"

struct batch_front;

/* Something of it was written: looks at it once that is on disk. */
void batch_schedule_changed(struct batch_front *f, int64_t id);
/* A job of it has ended or is gone. Id 0: the job is of no schedule. */
void batch_schedule_look(struct batch_front *f, int64_t id);

#endif
