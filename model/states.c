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
#include "model/states.h"

#include <stddef.h>

enum { NODE_STATES = NODE_UNUSABLE, EXEC_STATES = EXEC_FAILED };

/* One line an edge; what is not listed is illegal. States count from 1, tables from 0. */
#define NODE_EDGE(state, event, to)                                                                \
    [((state)-1) * NODE_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define JOB_EDGE(state, event, to)                                                                 \
    [((state)-1) * JOB_EVENTS + (event)] = {.legal = 1, .next = (to)-1}

static const struct sm_edge node_edges[NODE_STATES * NODE_EVENTS] = {
    NODE_EDGE(NODE_PREPARING, NODE_EV_PREPARED, NODE_IDLE),
    NODE_EDGE(NODE_PREPARING, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_PREPARING, NODE_EV_LEAVE, NODE_LEAVING),
    NODE_EDGE(NODE_IDLE, NODE_EV_ALLOCATED, NODE_RUNNING),
    NODE_EDGE(NODE_IDLE, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_IDLE, NODE_EV_LEAVE, NODE_LEAVING),
    NODE_EDGE(NODE_RUNNING, NODE_EV_RELEASED, NODE_IDLE),
    NODE_EDGE(NODE_RUNNING, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_RUNNING, NODE_EV_LEAVE, NODE_LEAVING),
    NODE_EDGE(NODE_LEAVING, NODE_EV_RELEASED, NODE_LEAVING),
    NODE_EDGE(NODE_LEAVING, NODE_EV_FAILED, NODE_LEAVING),
    NODE_EDGE(NODE_UNUSABLE, NODE_EV_RELEASED, NODE_UNUSABLE),
    NODE_EDGE(NODE_UNUSABLE, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_UNUSABLE, NODE_EV_RETRY, NODE_PREPARING),
    NODE_EDGE(NODE_UNUSABLE, NODE_EV_LEAVE, NODE_LEAVING),
};

static const struct sm_edge job_edges[EXEC_STATES * JOB_EVENTS] = {
    JOB_EDGE(EXEC_QUEUED, JOB_EV_ALLOCATED, EXEC_RUNNING),
    JOB_EDGE(EXEC_QUEUED, JOB_EV_FAILED, EXEC_FAILED),
    JOB_EDGE(EXEC_QUEUED, JOB_EV_TERMINATE, EXEC_FAILED),
    JOB_EDGE(EXEC_RUNNING, JOB_EV_SUCCEEDED, EXEC_SUCCEEDED),
    JOB_EDGE(EXEC_RUNNING, JOB_EV_FAILED, EXEC_FAILED),
    JOB_EDGE(EXEC_RUNNING, JOB_EV_TERMINATE, EXEC_TERMINATING),
    JOB_EDGE(EXEC_RUNNING, JOB_EV_REQUEUE, EXEC_QUEUED),
    JOB_EDGE(EXEC_TERMINATING, JOB_EV_FAILED, EXEC_FAILED),
    JOB_EDGE(EXEC_TERMINATING, JOB_EV_STOPPED, EXEC_FAILED),
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
    .edges = node_edges,
};

const struct sm job_machine = {
    .name = "job",
    .states = EXEC_STATES,
    .events = JOB_EVENTS,
    .state_names = exec_states,
    .event_names = job_events,
    .edges = job_edges,
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
