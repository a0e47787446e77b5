/* SPDX-License-Identifier: MIT
 *
 * Nodes
 *
 *                    prepared
 *      PREPARING ---------------> IDLE
 *       ^  |                       |
 *       |  | failed                | failed
 *       |  v                       |
 *       | UNUSABLE <---------------+
 *       |  |
 *       +--+ retry           any state but LEAVING --leave--> LEAVING --> (row deleted)
 *                            IDLE --restart--> PREPARING
 *
 * Running is not a stored state of a node: an idle node with a live allocation is shown as running.
 * A leaving or unusable node may still have allocations, whose runs are being ended on it. A
 * failure does not change the state of a leaving node, because it is removed anyway.
 *
 * Pools (replies contain the state as allocationState)
 *
 *      STEADY ---resize---> RESIZING ---settled---> STEADY
 *
 * Allocations
 *
 *      HELD ---released---> RELEASED    nothing runs there any more
 *       +-------lost------> LOST        the node was given up before that was known
 *
 * Runs
 *
 *               allocated             ended                 released
 *      WAITING -----------> ALLOCATED -------> RELEASING -------------> OVER
 *       |  ^                 |     |                                     ^  ^
 *       |  +---- requeued ---+     +------------- released --------------+  |
 *       +---------------------------- ended --------------------------------+
 *
 * An allocated run becomes OVER at once, without a result, if it shall be forgotten or if its nodes
 * are gone.
 *
 * Why a waiting run may not get nodes (enum run_hold)
 *
 *           wait              broken
 *      NOT ------> WAITS --------------> BROKEN, and then it fails
 *       ^   met      |                     ^
 *       +------------+                     | broken
 *       +----------- turn ------------ TURN
 *
 * Provisioning, of resources that the daemon must set up (file servers; other resources exist at
 * once)
 *
 *      CREATING ---made---> SUCCEEDED       CREATING ---failed---> FAILED
 *      any state ---deleted---> DELETING --> (row deleted)
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
 * A terminated job ends in FAILED with the error JobTerminated, as in the real service.
 */
#include "model/states.h"

#include <stddef.h>

enum {
    NODE_STATES = NODE_UNUSABLE,
    EXEC_STATES = EXEC_FAILED,
    RUN_STATES = RUN_OVER,
    ALLOCATION_STATES = ALLOCATION_LOST,
    HOLD_STATES = HOLD_TURN,
    PROV_STATES = PROV_DELETING,
    POOL_STATES = ALLOC_RESIZING
};

/* The macros make one entry for each legal edge; all other edges are illegal. States are numbered
 * from 1, the tables from 0. */
#define NODE_EDGE(state, event, to)                                                                \
    [((state)-1) * NODE_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define JOB_EDGE(state, event, to)                                                                 \
    [((state)-1) * JOB_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define RUN_EDGE(state, event, to)                                                                 \
    [((state)-1) * RUN_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define ALLOCATION_EDGE(state, event, to)                                                          \
    [((state)-1) * ALLOCATION_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define HOLD_EDGE(state, event, to)                                                                \
    [((state)-1) * HOLD_EVENTS + (event)] = {.legal = 1, .next = (to)-1}
#define PROV_EDGE(state, event, to)                                                                \
    [((state)-1) * PROV_EVENTS + (event)] = {.legal = 1, .next = (to)-1}

#define POOL_EDGE(state, event, to)                                                                \
    [((state)-1) * POOL_EVENTS + (event)] = {.legal = 1, .next = (to)-1}

static const struct sm_edge node_edges[NODE_STATES * NODE_EVENTS] = {
    NODE_EDGE(NODE_PREPARING, NODE_EV_PREPARED, NODE_IDLE),
    NODE_EDGE(NODE_PREPARING, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_PREPARING, NODE_EV_LEAVE, NODE_LEAVING),
    NODE_EDGE(NODE_IDLE, NODE_EV_FAILED, NODE_UNUSABLE),
    NODE_EDGE(NODE_IDLE, NODE_EV_LEAVE, NODE_LEAVING),
    NODE_EDGE(NODE_IDLE, NODE_EV_RESTART, NODE_PREPARING),
    NODE_EDGE(NODE_LEAVING, NODE_EV_FAILED, NODE_LEAVING),
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

/* The third name stands for the unused number 3 of enum node_state. */
static const char *const node_states[] = {"preparing", "idle", "unknown", "leaving", "unusable"};
static const char *const node_events[] = {"prepared", "failed", "retry", "leave", "restart"};
static const struct sm_edge run_edges[RUN_STATES * RUN_EVENTS] = {
    RUN_EDGE(RUN_WAITING, RUN_EV_ALLOCATED, RUN_ALLOCATED),
    RUN_EDGE(RUN_WAITING, RUN_EV_ENDED, RUN_OVER),
    RUN_EDGE(RUN_ALLOCATED, RUN_EV_ENDED, RUN_RELEASING),
    RUN_EDGE(RUN_ALLOCATED, RUN_EV_REQUEUED, RUN_WAITING),
    RUN_EDGE(RUN_ALLOCATED, RUN_EV_RELEASED, RUN_OVER),
    RUN_EDGE(RUN_RELEASING, RUN_EV_RELEASED, RUN_OVER),
};

static const struct sm_edge allocation_edges[ALLOCATION_STATES * ALLOCATION_EVENTS] = {
    ALLOCATION_EDGE(ALLOCATION_HELD, ALLOCATION_EV_RELEASED, ALLOCATION_RELEASED),
    ALLOCATION_EDGE(ALLOCATION_HELD, ALLOCATION_EV_LOST, ALLOCATION_LOST),
};

static const struct sm_edge hold_edges[HOLD_STATES * HOLD_EVENTS] = {
    HOLD_EDGE(HOLD_NOT, HOLD_EV_WAIT, HOLD_WAITS),
    HOLD_EDGE(HOLD_WAITS, HOLD_EV_MET, HOLD_NOT),
    HOLD_EDGE(HOLD_WAITS, HOLD_EV_BROKEN, HOLD_BROKEN),
    HOLD_EDGE(HOLD_TURN, HOLD_EV_BROKEN, HOLD_BROKEN),
    HOLD_EDGE(HOLD_TURN, HOLD_EV_TURN, HOLD_NOT),
};

static const struct sm_edge prov_edges[PROV_STATES * PROV_EVENTS] = {
    PROV_EDGE(PROV_CREATING, PROV_EV_MADE, PROV_SUCCEEDED),
    PROV_EDGE(PROV_CREATING, PROV_EV_FAILED, PROV_FAILED),
    PROV_EDGE(PROV_CREATING, PROV_EV_DELETED, PROV_DELETING),
    PROV_EDGE(PROV_UPDATING, PROV_EV_DELETED, PROV_DELETING),
    PROV_EDGE(PROV_SUCCEEDED, PROV_EV_DELETED, PROV_DELETING),
    PROV_EDGE(PROV_FAILED, PROV_EV_DELETED, PROV_DELETING),
    PROV_EDGE(PROV_DELETING, PROV_EV_DELETED, PROV_DELETING),
};

static const struct sm_edge pool_edges[POOL_STATES * POOL_EVENTS] = {
    POOL_EDGE(ALLOC_STEADY, POOL_EV_RESIZE, ALLOC_RESIZING),
    POOL_EDGE(ALLOC_RESIZING, POOL_EV_SETTLED, ALLOC_STEADY),
};

static const char *const exec_states[] = {"queued", "running", "terminating", "succeeded",
                                          "failed"};
static const char *const job_events[] = {"allocated", "succeeded", "failed",
                                         "terminate", "stopped",   "requeue"};

static const char *const run_states[] = {"waiting", "allocated", "releasing", "over"};
static const char *const run_events[] = {"allocated", "ended", "requeued", "released"};
/* The second name stands for the unused number 2 of enum allocation_state. */
static const char *const allocation_states[] = {"held", "unknown", "released", "lost"};
static const char *const allocation_events[] = {"released", "lost"};
static const char *const hold_states[] = {"not", "waits", "broken", "turn"};
static const char *const hold_events[] = {"wait", "met", "broken", "turn"};
static const char *const prov_states[] = {"creating", "updating", "succeeded", "failed",
                                          "deleting"};
static const char *const prov_events[] = {"made", "failed", "deleted"};
static const char *const pool_states[] = {"steady", "resizing"};
static const char *const pool_events[] = {"resize", "settled"};

/* Checks that there are as many names as states and events. */
#define NAMES(names, n) _Static_assert(sizeof(names) / sizeof(names)[0] == (n), #names)
NAMES(node_states, NODE_STATES);
NAMES(node_events, NODE_EVENTS);
NAMES(exec_states, EXEC_STATES);
NAMES(job_events, JOB_EVENTS);
NAMES(run_states, RUN_STATES);
NAMES(run_events, RUN_EVENTS);
NAMES(allocation_states, ALLOCATION_STATES);
NAMES(allocation_events, ALLOCATION_EVENTS);
NAMES(hold_states, HOLD_STATES);
NAMES(hold_events, HOLD_EVENTS);
NAMES(prov_states, PROV_STATES);
NAMES(prov_events, PROV_EVENTS);
NAMES(pool_states, POOL_STATES);
NAMES(pool_events, POOL_EVENTS);
#undef NAMES

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

const struct sm run_machine = {
    .name = "run",
    .states = RUN_STATES,
    .events = RUN_EVENTS,
    .state_names = run_states,
    .event_names = run_events,
    .edges = run_edges,
};

const struct sm allocation_machine = {
    .name = "allocation",
    .states = ALLOCATION_STATES,
    .events = ALLOCATION_EVENTS,
    .state_names = allocation_states,
    .event_names = allocation_events,
    .edges = allocation_edges,
};

const struct sm hold_machine = {
    .name = "hold",
    .states = HOLD_STATES,
    .events = HOLD_EVENTS,
    .state_names = hold_states,
    .event_names = hold_events,
    .edges = hold_edges,
};

const struct sm prov_machine = {
    .name = "provisioning",
    .states = PROV_STATES,
    .events = PROV_EVENTS,
    .state_names = prov_states,
    .event_names = prov_events,
    .edges = prov_edges,
};

const struct sm pool_machine = {
    .name = "pool",
    .states = POOL_STATES,
    .events = POOL_EVENTS,
    .state_names = pool_states,
    .event_names = pool_events,
    .edges = pool_edges,
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

enum run_state run_next(enum run_state state, enum run_event ev)
{
    const struct sm_edge *edge = sm_step(&run_machine, (int)state - 1, (int)ev);
    return edge ? (enum run_state)(edge->next + 1) : 0;
}

enum run_hold hold_next(enum run_hold state, enum hold_event ev)
{
    const struct sm_edge *edge = sm_step(&hold_machine, (int)state - 1, (int)ev);
    return edge ? (enum run_hold)(edge->next + 1) : 0;
}

enum dependency_state dependency_next(enum after wanted, enum ended_how how)
{
    static const enum dependency_state next[AFTER_END][ENDED_REMOVED] = {
        /*                 well               badly              removed, without an end */
        [AFTER_SUCCESS - 1] = {DEPENDENCY_MET, DEPENDENCY_BROKEN, DEPENDENCY_BROKEN},
        [AFTER_FAILURE - 1] = {DEPENDENCY_BROKEN, DEPENDENCY_MET, DEPENDENCY_BROKEN},
        [AFTER_END - 1] = {DEPENDENCY_MET, DEPENDENCY_MET, DEPENDENCY_MET},
    };
    return next[wanted - 1][how - 1];
}

const char *ended_text(enum ended_how how)
{
    switch (how) {
    case ENDED_WELL:
        return "has succeeded";
    case ENDED_BADLY:
        return "has failed";
    case ENDED_REMOVED:
        return "was deleted";
    }
    return "has not ended";
}

enum allocation_state allocation_next(enum allocation_state state, enum allocation_event ev)
{
    const struct sm_edge *edge = sm_step(&allocation_machine, (int)state - 1, (int)ev);
    return edge ? (enum allocation_state)(edge->next + 1) : 0;
}

enum alloc_state pool_next(enum alloc_state state, enum pool_event ev)
{
    const struct sm_edge *edge = sm_step(&pool_machine, (int)state - 1, (int)ev);
    return edge ? (enum alloc_state)(edge->next + 1) : 0;
}

enum prov_state prov_next(enum prov_state state, enum prov_event ev)
{
    const struct sm_edge *edge = sm_step(&prov_machine, (int)state - 1, (int)ev);
    return edge ? (enum prov_state)(edge->next + 1) : 0;
}
