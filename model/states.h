/* SPDX-License-Identifier: MIT
 *
 * The state machines of nodes and jobs, as tables (lib/sm.h). Pictures stand above the tables in
 * model/states.c. Storage enforces the same edges with guarded writes: WHERE state = <old>.
 */
#ifndef MODEL_STATES_H
#define MODEL_STATES_H

#include "lib/sm.h"
#include "model/enums.h"

enum node_event {
    NODE_EV_PREPARED,  /* connected, mounted, set up */
    NODE_EV_ALLOCATED, /* given to a job */
    NODE_EV_RELEASED,  /* its job ended here and was cleaned up */
    NODE_EV_FAILED,    /* any step failed, or contact was lost */
    NODE_EV_RETRY,     /* an unusable node is prepared again */
    NODE_EV_LEAVE,     /* the cluster shrinks or goes */
    NODE_EVENTS
};

enum job_event {
    JOB_EV_ALLOCATED, /* nodes assigned */
    JOB_EV_SUCCEEDED, /* exit code 0 */
    JOB_EV_FAILED,    /* any failure, wall clock included */
    JOB_EV_TERMINATE, /* the user asks; or its cluster goes */
    JOB_EV_STOPPED,   /* every process is dead after a terminate */
    JOB_EV_REQUEUE,   /* its node left or was lost and the rule says requeue */
    JOB_EVENTS
};

extern const struct sm node_machine; /* states: enum node_state - 1 */
extern const struct sm job_machine;  /* states: enum exec_state - 1 */

/* The next state, or 0 if the event is illegal in `state`. */
enum node_state node_next(enum node_state state, enum node_event ev);
enum exec_state job_next(enum exec_state state, enum job_event ev);

#endif
