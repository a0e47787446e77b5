/* SPDX-License-Identifier: MIT
 *
 * The state machines of Azure Batch's jobs and tasks, as tables (lib/sm.h), with pictures above the
 * tables in job_states.c. Storage checks each step again with guarded writes.
 */
#ifndef MODEL_BATCH_JOB_STATES_H
#define MODEL_BATCH_JOB_STATES_H

#include "lib/sm.h"
#include "model/batch/job_rows.h"

enum batch_job_event {
    BATCH_JOB_EV_DISABLE,
    BATCH_JOB_EV_DISABLED, /* none of its tasks runs */
    BATCH_JOB_EV_ENABLE,
    BATCH_JOB_EV_ENABLED,
    BATCH_JOB_EV_TERMINATE,
    BATCH_JOB_EV_COMPLETED, /* none of its tasks runs */
    BATCH_JOB_EV_DELETE,
    BATCH_JOB_EVENTS
};

enum batch_task_event {
    BATCH_TASK_EV_PREPARE, /* the task got a node; the job's preparation task runs there first */
    BATCH_TASK_EV_START,   /* the task got a node and begins to run */
    BATCH_TASK_EV_END,     /* the task becomes completed, with any result */
    BATCH_TASK_EV_AGAIN,   /* the task is requeued and waits for a node again */
    BATCH_TASK_EV_REACTIVATE,
    BATCH_TASK_EVENTS
};

extern const struct sm batch_job_machine;  /* states: enum batch_job_state - 1 */
extern const struct sm batch_task_machine; /* states: enum batch_task_state - 1 */

/* The next state, or 0 if the event is illegal in `state`. */
enum batch_job_state batch_job_next(enum batch_job_state state, enum batch_job_event ev);
enum batch_task_state batch_task_next(enum batch_task_state state, enum batch_task_event ev);

#endif
