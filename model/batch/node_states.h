/* SPDX-License-Identifier: MIT
 *
 * The states of a node in Azure Batch, computed from its row.
 */
#ifndef MODEL_BATCH_NODE_STATES_H
#define MODEL_BATCH_NODE_STATES_H

#include "model/resource.h"

enum batch_node_state {
    BATCH_NODE_IDLE = 1,
    BATCH_NODE_REBOOTING,
    BATCH_NODE_REIMAGING,
    BATCH_NODE_RUNNING,
    BATCH_NODE_UNUSABLE,
    BATCH_NODE_CREATING,
    BATCH_NODE_STARTING,
    BATCH_NODE_WAITING_FOR_START_TASK,
    BATCH_NODE_START_TASK_FAILED,
    BATCH_NODE_UNKNOWN,
    BATCH_NODE_LEAVING_POOL,
    BATCH_NODE_OFFLINE,
    BATCH_NODE_PREEMPTED,
    BATCH_NODE_UPGRADING_OS,
    BATCH_NODE_DEALLOCATED,
    BATCH_NODE_DEALLOCATING,
    BATCH_NODE_STATES
};
/* The names of states in lower case, and the names of the counts of nodes in these states. */
extern const struct enum_name batch_node_state_names[], batch_node_count_names[];

/* Computes the node's state. `start_task_runs`: the row of the node's start task is in state
 * running. */
enum batch_node_state batch_node_state(const struct node *nd, bool start_task_runs);

#endif
