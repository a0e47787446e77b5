/* SPDX-License-Identifier: MIT
 *
 * Computes the state of a node from its row and from the result of its preparation. If several
 * conditions hold, the first test in the code decides. Pure; any thread.
 */
#include "model/batch/node_states.h"

#include "model/failure.h"

const struct enum_name batch_node_state_names[] = {
    {BATCH_NODE_IDLE, "idle"},
    {BATCH_NODE_REBOOTING, "rebooting"},
    {BATCH_NODE_REIMAGING, "reimaging"},
    {BATCH_NODE_RUNNING, "running"},
    {BATCH_NODE_UNUSABLE, "unusable"},
    {BATCH_NODE_CREATING, "creating"},
    {BATCH_NODE_STARTING, "starting"},
    {BATCH_NODE_WAITING_FOR_START_TASK, "waitingforstarttask"},
    {BATCH_NODE_START_TASK_FAILED, "starttaskfailed"},
    {BATCH_NODE_UNKNOWN, "unknown"},
    {BATCH_NODE_LEAVING_POOL, "leavingpool"},
    {BATCH_NODE_OFFLINE, "offline"},
    {BATCH_NODE_PREEMPTED, "preempted"},
    {BATCH_NODE_UPGRADING_OS, "upgradingos"},
    {BATCH_NODE_DEALLOCATED, "deallocated"},
    {BATCH_NODE_DEALLOCATING, "deallocating"},
    {0, NULL},
};
const struct enum_name batch_node_count_names[] = {
    {BATCH_NODE_CREATING, "creating"},
    {BATCH_NODE_IDLE, "idle"},
    {BATCH_NODE_OFFLINE, "offline"},
    {BATCH_NODE_PREEMPTED, "preempted"},
    {BATCH_NODE_REBOOTING, "rebooting"},
    {BATCH_NODE_REIMAGING, "reimaging"},
    {BATCH_NODE_RUNNING, "running"},
    {BATCH_NODE_STARTING, "starting"},
    {BATCH_NODE_START_TASK_FAILED, "startTaskFailed"},
    {BATCH_NODE_LEAVING_POOL, "leavingPool"},
    {BATCH_NODE_UNKNOWN, "unknown"},
    {BATCH_NODE_UNUSABLE, "unusable"},
    {BATCH_NODE_WAITING_FOR_START_TASK, "waitingForStartTask"},
    {BATCH_NODE_DEALLOCATED, "deallocated"},
    {BATCH_NODE_DEALLOCATING, "deallocating"},
    {BATCH_NODE_UPGRADING_OS, "upgradingOS"},
    {0, NULL},
};

static enum batch_node_state preparing(const struct node *nd, bool start_task_runs)
{
    if (nd->wish == IS_RESTARTING)
        return start_task_runs ? BATCH_NODE_WAITING_FOR_START_TASK : BATCH_NODE_REBOOTING;
    if (nd->wish == IS_BEING_WIPED)
        return start_task_runs ? BATCH_NODE_WAITING_FOR_START_TASK : BATCH_NODE_REIMAGING;
    if (!nd->incarnation)
        return BATCH_NODE_CREATING;
    return start_task_runs ? BATCH_NODE_WAITING_FOR_START_TASK : BATCH_NODE_STARTING;
}

/* A node that may recover by itself is shown as unknown. */
static enum batch_node_state unusable(const struct node *nd)
{
    if (nd->failure == FAIL_NODE_SETUP_FAILED)
        return BATCH_NODE_START_TASK_FAILED;
    if (nd->failure == FAIL_NODE_REBOOTING)
        return BATCH_NODE_REBOOTING;
    if (nd->failure == FAIL_NODE_RECLAIMED)
        return BATCH_NODE_PREEMPTED;
    return failure_heals(nd->failure) ? BATCH_NODE_UNKNOWN : BATCH_NODE_UNUSABLE;
}

static enum batch_node_state idle(const struct node *nd)
{
    switch (nd->wish) {
    case WISH_RESTART:
        return nd->live > 0 ? BATCH_NODE_RUNNING : BATCH_NODE_REBOOTING;
    case WISH_WIPE:
        return nd->live > 0 ? BATCH_NODE_RUNNING : BATCH_NODE_REIMAGING;
    case WISH_REST:
        return BATCH_NODE_DEALLOCATING;
    case IS_RESTING:
        return BATCH_NODE_DEALLOCATED;
    case WISH_NOTHING:
    case WISH_LEAVE:
    case WISH_LEAVE_REST:
    case WISH_LEAVE_WIPE:
    case IS_RESTARTING:
    case IS_BEING_WIPED:
        break;
    }
    if (nd->live > 0)
        return BATCH_NODE_RUNNING;
    return nd->off != 0 ? BATCH_NODE_OFFLINE : BATCH_NODE_IDLE;
}

enum batch_node_state batch_node_state(const struct node *nd, bool start_task_runs)
{
    if (wish_leaves(nd->wish) && nd->state != NODE_LEAVING)
        return BATCH_NODE_LEAVING_POOL;
    switch (nd->state) {
    case NODE_PREPARING:
        return preparing(nd, start_task_runs);
    case NODE_IDLE:
        return idle(nd);
    case NODE_LEAVING:
        return nd->reclaimed ? BATCH_NODE_PREEMPTED : BATCH_NODE_LEAVING_POOL;
    case NODE_UNUSABLE:
        return unusable(nd);
    }
    return BATCH_NODE_UNKNOWN;
}
