/* SPDX-License-Identifier: MIT
 *
 * Every enum of the resources, with one string table each. The numbers are in databases: never
 * renumber, only append. The strings are those in requests and replies: lower-case. Requests may
 * use any case, because the real service wrote PascalCase in 2017.
 */
#ifndef MODEL_ENUMS_H
#define MODEL_ENUMS_H

#include <stdbool.h>

enum prov_state {
    PROV_CREATING = 1,
    PROV_UPDATING = 2,
    PROV_SUCCEEDED = 3,
    PROV_FAILED = 4,
    PROV_DELETING = 5
};
enum alloc_state { ALLOC_STEADY = 1, ALLOC_RESIZING = 2 };
/* The number 3 meant "running" and must not be reused. Today an idle node with a live allocation is
 * shown as running. */
enum node_state { NODE_PREPARING = 1, NODE_IDLE = 2, NODE_LEAVING = 4, NODE_UNUSABLE = 5 };
/* A request about a node (WISH_...: it is pending; IS_...: it is in progress). */
enum node_wish {
    WISH_NOTHING = 0,
    WISH_LEAVE = 1,   /* the node shall leave its pool */
    WISH_RESTART = 2, /* the node shall be prepared again */
    WISH_WIPE = 3,    /* the node shall be prepared again, and lose the files of its pool's users */
    WISH_REST = 4,    /* the node shall get no runs until another request starts it */
    IS_RESTARTING = 5,
    IS_BEING_WIPED = 6,
    IS_RESTING = 7,
    /* The node shall leave its pool. If a user withdraws this request, the node */
    WISH_LEAVE_REST = 8, /* rests again, as it did before the request */
    WISH_LEAVE_WIPE = 9  /* is wiped, as an earlier request asked */
};
static inline bool wish_leaves(enum node_wish wish)
{
    return wish == WISH_LEAVE || wish == WISH_LEAVE_REST || wish == WISH_LEAVE_WIPE;
}
enum exec_state {
    EXEC_QUEUED = 1,
    EXEC_RUNNING = 2,
    EXEC_TERMINATING = 3,
    EXEC_SUCCEEDED = 4,
    EXEC_FAILED = 5
};
enum vm_priority { VM_DEDICATED = 1, VM_LOWPRIORITY = 2 };
enum dealloc_option {
    DEALLOC_REQUEUE = 1,
    DEALLOC_TERMINATE = 2,
    DEALLOC_WAIT_FOR_COMPLETION = 3,
    /* Also waits until the retention time of the tasks' files is over. Batch AI has no name for
     * this. */
    DEALLOC_WAIT_FOR_DATA = 4
};
enum sched_priority { PRIORITY_LOW = 1, PRIORITY_NORMAL = 2, PRIORITY_HIGH = 3 };
/* The number of the priority "high". The number of "low" is -PRIORITY_MAX. */
#define PRIORITY_MAX 1000
enum tool_type {
    TOOL_CNTK = 1,
    TOOL_TENSORFLOW = 2,
    TOOL_CAFFE = 3,
    TOOL_CAFFE2 = 4,
    TOOL_CHAINER = 5,
    TOOL_HOROVOD = 6,
    TOOL_PYTORCH = 7,
    TOOL_MPI = 8,
    TOOL_CUSTOM = 9
};
enum op_status { OP_IN_PROGRESS = 1, OP_SUCCEEDED = 2, OP_FAILED = 3 };
enum resource_kind {
    RES_GROUP = 1,
    RES_WORKSPACE = 2,
    RES_EXPERIMENT = 3,
    RES_CLUSTER = 4,
    RES_FILE_SERVER = 5,
    RES_JOB = 6,
    RES_NODE = 7, /* not a resource of a service, but events can be about nodes */
    RES_STORAGE_ACCOUNT = 8,
    RES_BATCH_ACCOUNT = 9,
    RES_BATCH_POOL = 10,
    RES_BATCH_JOB = 11,
    RES_BATCH_TASK = 12,
    RES_BATCH_CHORE = 13, /* a preparation or release task on a node */
    RES_VAULT = 14        /* used only in rows of operations */
};
enum run_state {
    RUN_WAITING = 1,   /* it waits for nodes */
    RUN_ALLOCATED = 2, /* it has nodes, and its result is not decided */
    RUN_RELEASING = 3, /* its result is decided and stored, and its nodes are being cleaned */
    RUN_OVER = 4
};
/* Why a waiting run may not get nodes yet. */
enum run_hold {
    HOLD_NOT = 1,
    HOLD_WAITS = 2,  /* it waits for its dependencies */
    HOLD_BROKEN = 3, /* a dependency ended otherwise than required: the run must fail */
    HOLD_TURN = 4    /* other runs of its owner must end first */
};
/* The required end of a dependency, its real end, and the state of the dependency. */
enum after { AFTER_SUCCESS = 1, AFTER_FAILURE = 2, AFTER_END = 3 };
enum ended_how { ENDED_WELL = 1, ENDED_BADLY = 2, ENDED_REMOVED = 3 };
enum dependency_state { DEPENDENCY_OPEN = 1, DEPENDENCY_MET = 2, DEPENDENCY_BROKEN = 3 };
enum run_stop { STOP_NOT = 0, STOP_RUN = 1, STOP_AND_FORGET = 2 };
enum allocation_state {
    ALLOCATION_HELD = 1,     /* processes of the run may be on the node; 2 is not used any more */
    ALLOCATION_RELEASED = 3, /* no process of the run is on the node */
    ALLOCATION_LOST = 4      /* the node was given up before anybody knew that no process is left */
};
enum identity_kind { IDENTITY_USER = 1, IDENTITY_SERVICE = 2, IDENTITY_APPLICATION = 3 };
enum share_kind { SHARE_FILES = 1, SHARE_BLOBS = 2 };
/* The state of a share or container. The row is SHARE_MAKING or SHARE_DELETING before its folder is
 * changed. */
enum share_state {
    SHARE_MAKING = 1, /* its folder is being made; clients do not see it yet */
    SHARE_THERE = 2,
    SHARE_DELETING = 3, /* its folder is being moved away; clients do not see it any more */
    SHARE_DELETED = 4   /* its folder is in the directory of deleted folders; its name is free */
};
enum public_access { PUBLIC_NONE = 1, PUBLIC_BLOB = 2, PUBLIC_CONTAINER = 3 };
enum lease_state {
    LEASE_AVAILABLE = 1,
    LEASE_LEASED = 2,
    LEASE_EXPIRED = 3,
    LEASE_BREAKING = 4,
    LEASE_BROKEN = 5
};
enum scale_kind { SCALE_MANUAL = 1, SCALE_AUTO = 2 };

/* A row of a string table; the table ends with a NULL string. */
struct enum_name {
    int value;
    const char *name;
};

extern const struct enum_name prov_state_names[], alloc_state_names[], node_state_names[],
    exec_state_names[], vm_priority_names[], dealloc_option_names[], sched_priority_names[],
    tool_type_names[], op_status_names[], run_state_names[], run_hold_names[], after_names[],
    dependency_state_names[], allocation_state_names[], resource_kind_names[], share_kind_names[],
    share_state_names[], public_access_names[], lease_state_names[], caching_type_names[],
    storage_account_type_names[], output_type_names[];

/* The name of the state that users see for a node with `live` live allocations. A static text. */
const char *node_state_shown(enum node_state state, int live);

/* The name of a value, or "unknown" for an unknown value. A static text. */
const char *enum_to_name(const struct enum_name *table, int value);
/* The value of a string, without regard to case; 0 for an unknown string. */
int enum_from_name(const struct enum_name *table, const char *name);
/* "a, b or c", for messages; writes at most `size` bytes. */
void enum_list(const struct enum_name *table, char *out, unsigned size);

#endif
