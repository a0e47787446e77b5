/* SPDX-License-Identifier: MIT
 *
 * Strict mode: the minimum durations of steps that batchaid itself does at once. A test may request
 * that these steps take as long as in the real service, measured by the clock that the daemon
 * serves. Without such a request no step is delayed.
 */
#ifndef MODEL_PACE_H
#define MODEL_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/enums.h"

enum pace_step {
    /* How long operations take until they succeed. Before that, the resource cannot be used; a
     * resource that is being deleted is not removed before that. */
    PACE_CLUSTER_CREATION,
    PACE_FILE_SERVER_CREATION,
    PACE_JOB_CREATION,
    PACE_STORAGE_CREATION,
    PACE_VAULT_CREATION,
    PACE_BATCH_CREATION,
    PACE_GROUP_DELETION,
    PACE_WORKSPACE_DELETION,
    PACE_EXPERIMENT_DELETION,
    PACE_CLUSTER_DELETION,
    PACE_FILE_SERVER_DELETION,
    PACE_JOB_DELETION,
    PACE_BATCH_DELETION,
    PACE_SHARE_DELETION, /* also of a container: the time until its name is free */
    PACE_SECRET_DELETION,
    /* How long it takes until an archived blob can be read, by priority. */
    PACE_REHYDRATION,
    PACE_REHYDRATION_HIGH,
    /* Times of pools and nodes. */
    PACE_ALLOCATION,      /* the time until a pool of fixed size gets new nodes */
    PACE_AUTO_ALLOCATION, /* the time until a pool with automatic scaling gets new nodes */
    PACE_AUTO_IDLE,       /* the time that a node is idle before automatic scaling removes it */
    PACE_NODE_CREATION,   /* a new node is not visible during this time */
    PACE_NODE_START, /* the node is visible during this time, but its preparation has not begun */
    PACE_NODE_SETUP, /* the node's set-up task, if it has one */
    PACE_NODE_LEAVING,
    PACE_POOL_DELETION, /* of a pool of Azure Batch */
    /* Times of jobs and tasks. */
    PACE_JOB_START, /* the time that a new job stays in the queue */
    PACE_JOB_TERMINATION,
    PACE_TASK_START,
    PACE_BATCH_JOB_CHANGE, /* the time in the states terminating, disabling and enabling */
    PACE_BATCH_JOB_DELETION,
    PACE_STEPS,
    PACE_NONE = PACE_STEPS
};

/* While a test has stopped the clock, new rows get instants some microseconds ahead of it, so that
 * no two are equal. A row whose instant is further ahead than this limit was written before the
 * clock was set back. Its steps are not delayed, because its instant may be far in the future. */
#define PACE_AHEAD_US INT64_C(1000000)

struct pace {
    /* Returns whether strict mode is on in a subscription; NULL: in any subscription. */
    bool (*is_on)(const void *ctx, const char *subscription);
    int64_t (*takes_us)(const void *ctx, const char *subscription, enum pace_step step);
    const void *ctx;
};

/* Like is_on(); false if `p` is NULL. */
bool pace_is_on(const struct pace *p, const char *subscription);
/* Returns how long a step must take at least; 0: it is not delayed. */
int64_t pace_us(const struct pace *p, const char *subscription, enum pace_step step);
/* The step of an operation on a resource; PACE_NONE: it is not delayed. */
enum pace_step pace_of_operation(enum resource_kind kind, bool is_delete);

#endif
