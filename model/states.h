/* SPDX-License-Identifier: MIT
 *
 * The state machines of nodes, pools, jobs, runs, allocations and provisioning, as tables
 * (lib/sm.h), with pictures above the tables in model/states.c. Storage enforces the same edges
 * with guarded writes: WHERE state = <old>.
 */
#ifndef MODEL_STATES_H
#define MODEL_STATES_H

#include "lib/sm.h"
#include "model/enums.h"

enum node_event {
    NODE_EV_PREPARED, /* connected, mounted, set up */
    NODE_EV_FAILED,   /* a step of its preparation failed, or contact was lost */
    NODE_EV_RETRY,    /* an unusable node is prepared again */
    NODE_EV_LEAVE,    /* the cluster shrinks or is deleted */
    NODE_EV_RESTART,  /* a node without allocations is prepared again, by a request */
    NODE_EVENTS
};

enum job_event {
    JOB_EV_ALLOCATED, /* nodes assigned */
    JOB_EV_SUCCEEDED, /* exit code 0 */
    JOB_EV_FAILED,    /* any failure, including the time limit */
    JOB_EV_TERMINATE, /* the user terminates it, or its cluster is deleted */
    JOB_EV_STOPPED,   /* all its processes have ended after JOB_EV_TERMINATE */
    JOB_EV_REQUEUE,   /* a node of it left or was lost, and the rule is to requeue */
    JOB_EVENTS
};

enum run_event {
    RUN_EV_ALLOCATED, /* it got nodes */
    RUN_EV_ENDED,     /* its result is decided and stored */
    RUN_EV_REQUEUED,  /* its nodes are free, and it waits for nodes again */
    RUN_EV_RELEASED,  /* its nodes are free, and it gets no others */
    RUN_EVENTS
};

enum hold_event {
    HOLD_EV_WAIT,   /* it waits for dependencies */
    HOLD_EV_MET,    /* all dependencies have ended as required */
    HOLD_EV_BROKEN, /* a dependency has ended otherwise than required */
    HOLD_EV_TURN,   /* another run of its owner has ended, so this run may get nodes */
    HOLD_EVENTS
};

enum allocation_event { ALLOCATION_EV_RELEASED, ALLOCATION_EV_LOST, ALLOCATION_EVENTS };

enum pool_event {
    POOL_EV_RESIZE,  /* the number of nodes differs from the target */
    POOL_EV_SETTLED, /* the pool has the target number of nodes, and no node is leaving */
    POOL_EVENTS
};

enum prov_event { PROV_EV_MADE, PROV_EV_FAILED, PROV_EV_DELETED, PROV_EVENTS };

extern const struct sm node_machine; /* states: enum node_state - 1 */
extern const struct sm job_machine;  /* states: enum exec_state - 1 */

extern const struct sm run_machine;  /* states: enum run_state - 1 */
extern const struct sm hold_machine; /* states: enum run_hold - 1 */
extern const struct sm allocation_machine;
extern const struct sm prov_machine;
extern const struct sm pool_machine; /* states: enum alloc_state - 1 */

/* The next state, or 0 if the event is illegal in `state`. */
enum node_state node_next(enum node_state state, enum node_event ev);
enum exec_state job_next(enum exec_state state, enum job_event ev);
enum run_state run_next(enum run_state state, enum run_event ev);
enum run_hold hold_next(enum run_hold state, enum hold_event ev);
/* The state of a dependency after the awaited resource has ended. */
enum dependency_state dependency_next(enum after wanted, enum ended_how how);
/* Returns the end as words for messages: "has failed". */
const char *ended_text(enum ended_how how);
enum allocation_state allocation_next(enum allocation_state state, enum allocation_event ev);
enum alloc_state pool_next(enum alloc_state state, enum pool_event ev);
enum prov_state prov_next(enum prov_state state, enum prov_event ev);

#endif
