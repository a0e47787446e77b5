/* SPDX-License-Identifier: MIT
 *
 * Job schedules of Azure Batch: users' operations on them, and the jobs that they make.
 *
 * A schedule makes its first job at once, or at doNotRunUntil, and another after each
 * recurrenceInterval, called SCHEDULE:job-N; without an interval it makes one. It has one job at a
 * time: while a job is not completed, the next job waits. If the wait exceeds startWindow, or the
 * job after it becomes due, the waiting job is skipped. After doNotRunAfter the schedule makes no
 * more jobs. A schedule that makes no more jobs and has none left is completed.
 */
#ifndef SCHEDULER_FRONT_BATCH_SCHEDULES_H
#define SCHEDULER_FRONT_BATCH_SCHEDULES_H

#include "model/batch/spec.h"
#include "storage/batch_schedules.h"

struct batch_front;

/* The schedule was written: reconciles it when the write is on disk. */
void batch_schedule_changed(struct batch_front *f, int64_t id);
/* A job of the schedule has ended or is deleted. Id 0: the job has no schedule. */
void batch_schedule_look(struct batch_front *f, int64_t id);

#endif
