/* SPDX-License-Identifier: MIT
 *
 * Nodes
 *
 *                    prepared            allocated
 *      PREPARING ---------------> IDLE -------------> RUNNING
 *       ^  |                      |  ^   released       |  |
 *       |  | failed        failed |  +------------------+  |
 *       |  v                      |                        |
 *       | UNUSABLE <--------------+------------------------+ failed
 *       |  |
 *       +--+ retry           any state but LEAVING --leave--> LEAVING --> (row deleted)
 *
 * A leaving or unusable node may still hold the job that is being ended on it: "released" lets go
 * of the job and changes nothing else. Once leaving, a failure is no news: the node goes anyway.
 *
 * Jobs
 *
 *                 allocated               succeeded
 *      QUEUED -----------------> RUNNING -------------> SUCCEEDED
 *       |  ^       requeue       |  |  |
 *       |  +---------------------+  |  | failed
 *       |               terminate   |  +--------------> FAILED
 *       |                           v        stopped,   ^  ^
 *       |                      TERMINATING -- failed ---+  |
 *       +--------------------------------------------------+
 *                       terminate, failed
 *
 * A terminated job ends in FAILED with the error JobTerminated, as the service had it.
 */
#include "model/machines.h"

#include <stddef.h>

enum { NODE_STATES = NODE_UNUSABLE, EXEC_STATES = EXEC_FAILED };

#define TO(state) {.legal = 1, .next = (state)-1}
#define ROW(state) [(state)-1]

static const struct sm_edge node_edges[NODE_STATES][NODE_EVENTS] = {
    ROW(NODE_PREPARING) =
        {
            [NODE_EV_PREPARED] = TO(NODE_IDLE),
            [NODE_EV_FAILED] = TO(NODE_UNUSABLE),
            [NODE_EV_LEAVE] = TO(NODE_LEAVING),
        },
    ROW(NODE_IDLE) =
        {
            [NODE_EV_ALLOCATED] = TO(NODE_RUNNING),
            [NODE_EV_FAILED] = TO(NODE_UNUSABLE),
            [NODE_EV_LEAVE] = TO(NODE_LEAVING),
        },
    ROW(NODE_RUNNING) =
        {
            [NODE_EV_RELEASED] = TO(NODE_IDLE),
            [NODE_EV_FAILED] = TO(NODE_UNUSABLE),
            [NODE_EV_LEAVE] = TO(NODE_LEAVING),
        },
    ROW(NODE_LEAVING) =
        {
            [NODE_EV_RELEASED] = TO(NODE_LEAVING),
            [NODE_EV_FAILED] = TO(NODE_LEAVING),
        },
    ROW(NODE_UNUSABLE) =
        {
            [NODE_EV_RELEASED] = TO(NODE_UNUSABLE),
            [NODE_EV_FAILED] = TO(NODE_UNUSABLE),
            [NODE_EV_RETRY] = TO(NODE_PREPARING),
            [NODE_EV_LEAVE] = TO(NODE_LEAVING),
        },
};

static const struct sm_edge job_edges[EXEC_STATES][JOB_EVENTS] = {
    ROW(EXEC_QUEUED) =
        {
            [JOB_EV_ALLOCATED] = TO(EXEC_RUNNING),
            [JOB_EV_FAILED] = TO(EXEC_FAILED),
            [JOB_EV_TERMINATE] = TO(EXEC_FAILED),
        },
    ROW(EXEC_RUNNING) =
        {
            [JOB_EV_SUCCEEDED] = TO(EXEC_SUCCEEDED),
            [JOB_EV_FAILED] = TO(EXEC_FAILED),
            [JOB_EV_TERMINATE] = TO(EXEC_TERMINATING),
            [JOB_EV_REQUEUE] = TO(EXEC_QUEUED),
        },
    ROW(EXEC_TERMINATING) =
        {
            [JOB_EV_FAILED] = TO(EXEC_FAILED),
            [JOB_EV_STOPPED] = TO(EXEC_FAILED),
        },
};

static const char *const node_states[] = {"preparing", "idle", "running", "leaving", "unusable"};
static const char *const node_events[] = {"prepared", "allocated", "released",
                                          "failed",   "retry",     "leave"};
static const char *const exec_states[] = {"queued", "running", "terminating", "succeeded",
                                          "failed"};
static const char *const job_events[] = {"allocated", "succeeded", "failed",
                                         "terminate", "stopped",   "requeue"};

const struct sm node_machine = {
    .name = "node",
    .states = NODE_STATES,
    .events = NODE_EVENTS,
    .state_names = node_states,
    .event_names = node_events,
    .edges = &node_edges[0][0],
};

const struct sm job_machine = {
    .name = "job",
    .states = EXEC_STATES,
    .events = JOB_EVENTS,
    .state_names = exec_states,
    .event_names = job_events,
    .edges = &job_edges[0][0],
};

enum node_state node_next(enum node_state state, enum node_event ev)
{
    const struct sm_edge *edge = sm_step(&node_machine, (int)state - 1, (int)ev);
    return edge ? (enum node_state)(edge->next + 1) : 0;
}

enum exec_state job_next(enum exec_state state, enum job_event ev)
{
    const struct sm_edge *edge = sm_step(&job_machine, (int)state - 1, (int)ev);
    return edge ? (enum exec_state)(edge->next + 1) : 0;
}
