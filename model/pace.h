/* SPDX-License-Identifier: MIT
 *
 * How long at least things are to take that need no time here. A test may want the time that they
 * took in the service, by the clock of what is served; without a test nothing is held up.
 */
#ifndef MODEL_PACE_H
#define MODEL_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/enums.h"

enum pace_step {
    /* Of operations: until they have succeeded, and nothing is done with the resource before. Those
     * of deletions also hold the resource. */
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
    PACE_SHARE_DELETION, /* of a container too: so long there is no other of its name */
    PACE_SECRET_DELETION,
    /* Of pools and nodes. */
    PACE_ALLOCATION,      /* a pool of a fixed size has no new nodes so long */
    PACE_AUTO_ALLOCATION, /* likewise, if it scales by itself */
    PACE_AUTO_IDLE,       /* a node idles so long before automatic scaling lets it go */
    PACE_NODE_CREATION,   /* a new node says nothing */
    PACE_NODE_START,      /* it says something, and its preparation has not begun */
    PACE_NODE_SETUP,      /* its set-up task, if it has one */
    PACE_NODE_LEAVING,
    PACE_POOL_DELETION, /* of Azure Batch */
    /* Of jobs and tasks. */
    PACE_JOB_START, /* in the queue, once it was created */
    PACE_JOB_TERMINATION,
    PACE_TASK_START,
    PACE_BATCH_JOB_CHANGE, /* it is terminating, disabling, enabling */
    PACE_BATCH_JOB_DELETION,
    PACE_STEPS,
    PACE_NONE = PACE_STEPS
};

/* Rows that are written while the clock stands are some microseconds ahead of it, each of its own;
 * what is further ahead began in a time to come, before the clock was set back, and is not held up:
 * that time may be far. */
#define PACE_AHEAD_US INT64_C(1000000)

struct pace {
    /* subscription NULL: whether in any. */
    bool (*is_on)(const void *ctx, const char *subscription);
    int64_t (*takes_us)(const void *ctx, const char *subscription, enum pace_step step);
    const void *ctx;
};

/* `p` NULL: nobody wants any time. */
bool pace_is_on(const struct pace *p, const char *subscription);
/* 0: nothing is held up. */
int64_t pace_us(const struct pace *p, const char *subscription, enum pace_step step);
/* Of an operation on a resource; PACE_NONE: it is as fast as it is. */
enum pace_step pace_of_operation(enum resource_kind kind, bool is_delete);

#endif
