/* SPDX-License-Identifier: MIT
 *
 * Jobs
 *
 *             disable              disabled            enable
 *     ACTIVE ---------> DISABLING ----------> DISABLED -------> ENABLING
 *      ^  |              |     |                |                  |
 *      |  | terminate    |     | enable         | terminate        | enabled
 *      |  v              v     |                v                  |
 *      | TERMINATING <---+     +--> ENABLING   TERMINATING         |
 *      |  | completed                                              |
 *      |  v                                                        |
 *      | COMPLETED                                                 |
 *      +-----------------------------------------------------------+
 *     any state but DELETING --delete--> DELETING --> (row deleted)
 *
 * Tasks
 *
 *              prepare              start
 *     ACTIVE ----------> PREPARING -------> RUNNING
 *      |  ^ \              |   |             |   ^
 *      |  |  \----start----+---+-------------+---+
 *      |  +------again-----+-----------------+
 *      |                   | end             | end
 *      |        end        v                 v
 *      +---------------> COMPLETED <---------+
 *                          |
 *      ACTIVE <------------+ reactivate
 */
#include "model/batch/job_states.h"

#include <stddef.h>

#include "model/batch/rows.h"
#include "model/batch/schedule_rows.h"

enum { JOB_STATES = BATCH_JOB_DELETING, TASK_STATES = BATCH_TASK_COMPLETED };

#define JOB_EDGE(state, event, to)                                                                 \
    [(BATCH_JOB_##state - 1) * BATCH_JOB_EVENTS + BATCH_JOB_EV_##                                  \
        event] = {.legal = 1, .next = BATCH_JOB_##to - 1}
#define TASK_EDGE(state, event, to)                                                                \
    [(BATCH_TASK_##state - 1) * BATCH_TASK_EVENTS + BATCH_TASK_EV_##                               \
        event] = {.legal = 1, .next = BATCH_TASK_##to - 1}

static const struct sm_edge job_edges[JOB_STATES * BATCH_JOB_EVENTS] = {
    JOB_EDGE(ACTIVE, DISABLE, DISABLING),       JOB_EDGE(ACTIVE, TERMINATE, TERMINATING),
    JOB_EDGE(ACTIVE, DELETE, DELETING),         JOB_EDGE(DISABLING, DISABLED, DISABLED),
    JOB_EDGE(DISABLING, ENABLE, ENABLING),      JOB_EDGE(DISABLING, TERMINATE, TERMINATING),
    JOB_EDGE(DISABLING, DELETE, DELETING),      JOB_EDGE(DISABLED, ENABLE, ENABLING),
    JOB_EDGE(DISABLED, TERMINATE, TERMINATING), JOB_EDGE(DISABLED, DELETE, DELETING),
    JOB_EDGE(ENABLING, ENABLED, ACTIVE),        JOB_EDGE(ENABLING, TERMINATE, TERMINATING),
    JOB_EDGE(ENABLING, DELETE, DELETING),       JOB_EDGE(TERMINATING, COMPLETED, COMPLETED),
    JOB_EDGE(TERMINATING, DELETE, DELETING),    JOB_EDGE(COMPLETED, DELETE, DELETING),
};

static const struct sm_edge task_edges[TASK_STATES * BATCH_TASK_EVENTS] = {
    TASK_EDGE(ACTIVE, PREPARE, PREPARING),    TASK_EDGE(ACTIVE, START, RUNNING),
    TASK_EDGE(ACTIVE, END, COMPLETED),        TASK_EDGE(PREPARING, START, RUNNING),
    TASK_EDGE(PREPARING, END, COMPLETED),     TASK_EDGE(PREPARING, AGAIN, ACTIVE),
    TASK_EDGE(RUNNING, END, COMPLETED),       TASK_EDGE(RUNNING, AGAIN, ACTIVE),
    TASK_EDGE(COMPLETED, REACTIVATE, ACTIVE),
};

static const char *const job_states[] = {"active",      "disabling", "disabled", "enabling",
                                         "terminating", "completed", "deleting"};
static const char *const job_events[] = {"disable",   "disabled",  "enable", "enabled",
                                         "terminate", "completed", "delete"};
static const char *const task_states[] = {"active", "preparing", "running", "completed"};
static const char *const task_events[] = {"prepare", "start", "end", "again", "reactivate"};

const struct sm batch_job_machine = {"batch job", JOB_STATES, BATCH_JOB_EVENTS,
                                     job_states,  job_events, job_edges};
const struct sm batch_task_machine = {"batch task", TASK_STATES, BATCH_TASK_EVENTS,
                                      task_states,  task_events, task_edges};

const struct enum_name batch_pool_state_names[] = {
    {BATCH_POOL_ACTIVE, "active"}, {BATCH_POOL_DELETING, "deleting"}, {0, NULL}};
const struct enum_name batch_allocation_names[] = {{BATCH_ALLOCATION_STEADY, "steady"},
                                                   {BATCH_ALLOCATION_RESIZING, "resizing"},
                                                   {BATCH_ALLOCATION_STOPPING, "stopping"},
                                                   {0, NULL}};
const struct enum_name batch_job_state_names[] = {
    {BATCH_JOB_ACTIVE, "active"},           {BATCH_JOB_DISABLING, "disabling"},
    {BATCH_JOB_DISABLED, "disabled"},       {BATCH_JOB_ENABLING, "enabling"},
    {BATCH_JOB_TERMINATING, "terminating"}, {BATCH_JOB_COMPLETED, "completed"},
    {BATCH_JOB_DELETING, "deleting"},       {0, NULL}};
const struct enum_name batch_task_state_names[] = {{BATCH_TASK_ACTIVE, "active"},
                                                   {BATCH_TASK_PREPARING, "preparing"},
                                                   {BATCH_TASK_RUNNING, "running"},
                                                   {BATCH_TASK_COMPLETED, "completed"},
                                                   {0, NULL}};
const struct enum_name batch_result_names[] = {
    {BATCH_SUCCESS, "success"}, {BATCH_FAILURE, "failure"}, {0, NULL}};
const struct enum_name batch_disable_names[] = {{BATCH_DISABLE_REQUEUE, "requeue"},
                                                {BATCH_DISABLE_TERMINATE, "terminate"},
                                                {BATCH_DISABLE_WAIT, "wait"},
                                                {0, NULL}};
const struct enum_name batch_on_all_names[] = {
    {BATCH_ALL_NO_ACTION, "noaction"}, {BATCH_ALL_TERMINATE, "terminatejob"}, {0, NULL}};
const struct enum_name batch_on_failure_names[] = {
    {BATCH_FAILURE_NO_ACTION, "noaction"},
    {BATCH_FAILURE_EXIT_OPTIONS, "performexitoptionsjobaction"},
    {0, NULL}};

static int next(const struct sm *m, int state, int event)
{
    const struct sm_edge *edge = sm_step(m, state - 1, event);
    return edge ? edge->next + 1 : 0;
}

enum batch_job_state batch_job_next(enum batch_job_state state, enum batch_job_event ev)
{
    return (enum batch_job_state)next(&batch_job_machine, (int)state, (int)ev);
}

enum batch_task_state batch_task_next(enum batch_task_state state, enum batch_task_event ev)
{
    return (enum batch_task_state)next(&batch_task_machine, (int)state, (int)ev);
}

const struct enum_name batch_schedule_state_names[] = {
    {BATCH_SCHEDULE_ACTIVE, "active"},     {BATCH_SCHEDULE_COMPLETED, "completed"},
    {BATCH_SCHEDULE_DISABLED, "disabled"}, {BATCH_SCHEDULE_TERMINATING, "terminating"},
    {BATCH_SCHEDULE_DELETING, "deleting"}, {0, NULL}};
const struct enum_name batch_certificate_state_names[] = {
    {BATCH_CERTIFICATE_ACTIVE, "active"},
    {BATCH_CERTIFICATE_DELETING, "deleting"},
    {BATCH_CERTIFICATE_DELETE_FAILED, "deletefailed"},
    {0, NULL}};
