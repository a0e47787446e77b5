/* SPDX-License-Identifier: MIT
 *
 * The tables of names, and the search in them. Static and constant; any thread.
 */
#include "model/enums.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct enum_name prov_state_names[] = {
    {PROV_CREATING, "creating"}, {PROV_UPDATING, "updating"}, {PROV_SUCCEEDED, "succeeded"},
    {PROV_FAILED, "failed"},     {PROV_DELETING, "deleting"}, {0, NULL},
};
const struct enum_name alloc_state_names[] = {
    {ALLOC_STEADY, "steady"},
    {ALLOC_RESIZING, "resizing"},
    {0, NULL},
};
const struct enum_name node_state_names[] = {
    {NODE_PREPARING, "preparing"}, {NODE_IDLE, "idle"}, {NODE_LEAVING, "leaving"},
    {NODE_UNUSABLE, "unusable"},   {0, NULL},
};
const struct enum_name exec_state_names[] = {
    {EXEC_QUEUED, "queued"},       {EXEC_RUNNING, "running"}, {EXEC_TERMINATING, "terminating"},
    {EXEC_SUCCEEDED, "succeeded"}, {EXEC_FAILED, "failed"},   {0, NULL},
};
const struct enum_name vm_priority_names[] = {
    {VM_DEDICATED, "dedicated"},
    {VM_LOWPRIORITY, "lowpriority"},
    {0, NULL},
};
const struct enum_name dealloc_option_names[] = {
    {DEALLOC_REQUEUE, "requeue"},
    {DEALLOC_TERMINATE, "terminate"},
    {DEALLOC_WAIT_FOR_COMPLETION, "waitforjobcompletion"},
    {0, NULL},
};
const struct enum_name sched_priority_names[] = {
    {PRIORITY_LOW, "low"},
    {PRIORITY_NORMAL, "normal"},
    {PRIORITY_HIGH, "high"},
    {0, NULL},
};
/* customMpi is "mpi" in every published version; the final SDKs call it "custommpi" but read the
 * property as a plain string. "pytorch" is in no published enum, but the real service returned
 * it. */
const struct enum_name tool_type_names[] = {
    {TOOL_CNTK, "cntk"},       {TOOL_TENSORFLOW, "tensorflow"},
    {TOOL_CAFFE, "caffe"},     {TOOL_CAFFE2, "caffe2"},
    {TOOL_CHAINER, "chainer"}, {TOOL_HOROVOD, "horovod"},
    {TOOL_PYTORCH, "pytorch"}, {TOOL_MPI, "mpi"},
    {TOOL_CUSTOM, "custom"},   {0, NULL},
};
const struct enum_name op_status_names[] = {
    {OP_IN_PROGRESS, "InProgress"},
    {OP_SUCCEEDED, "Succeeded"},
    {OP_FAILED, "Failed"},
    {0, NULL},
};
const struct enum_name resource_kind_names[] = {
    {RES_GROUP, "resource group"},
    {RES_WORKSPACE, "workspace"},
    {RES_EXPERIMENT, "experiment"},
    {RES_CLUSTER, "cluster"},
    {RES_FILE_SERVER, "file server"},
    {RES_JOB, "job"},
    {RES_NODE, "node"},
    {RES_STORAGE_ACCOUNT, "storage account"},
    {RES_BATCH_ACCOUNT, "Batch account"},
    {RES_BATCH_POOL, "Batch pool"},
    {RES_BATCH_JOB, "Batch job"},
    {RES_BATCH_TASK, "Batch task"},
    {RES_BATCH_CHORE, "Batch preparation or release task"},
    {RES_VAULT, "vault"},
    {0, NULL},
};
const struct enum_name run_state_names[] = {
    {RUN_WAITING, "waiting"},
    {RUN_ALLOCATED, "allocated"},
    {RUN_RELEASING, "releasing"},
    {RUN_OVER, "over"},
    {0, NULL},
};
const struct enum_name run_hold_names[] = {
    {HOLD_NOT, "not"}, {HOLD_WAITS, "waits"}, {HOLD_BROKEN, "broken"}, {HOLD_TURN, "turn"},
    {0, NULL},
};
const struct enum_name after_names[] = {
    {AFTER_SUCCESS, "success"},
    {AFTER_FAILURE, "failure"},
    {AFTER_END, "end"},
    {0, NULL},
};
const struct enum_name dependency_state_names[] = {
    {DEPENDENCY_OPEN, "open"},
    {DEPENDENCY_MET, "met"},
    {DEPENDENCY_BROKEN, "broken"},
    {0, NULL},
};
const struct enum_name allocation_state_names[] = {
    {ALLOCATION_HELD, "held"},
    {ALLOCATION_RELEASED, "released"},
    {ALLOCATION_LOST, "lost"},
    {0, NULL},
};
/* The names of the folders of shares and containers. */
const struct enum_name share_kind_names[] = {
    {SHARE_FILES, "files"},
    {SHARE_BLOBS, "blobs"},
    {0, NULL},
};
const struct enum_name share_state_names[] = {
    {SHARE_MAKING, "making"},
    {SHARE_THERE, "there"},
    {SHARE_DELETING, "deleting"},
    {SHARE_DELETED, "deleted"},
    {0, NULL},
};
const struct enum_name public_access_names[] = {
    {PUBLIC_NONE, "none"},
    {PUBLIC_BLOB, "blob"},
    {PUBLIC_CONTAINER, "container"},
    {0, NULL},
};
const struct enum_name lease_state_names[] = {
    {LEASE_AVAILABLE, "available"}, {LEASE_LEASED, "leased"}, {LEASE_EXPIRED, "expired"},
    {LEASE_BREAKING, "breaking"},   {LEASE_BROKEN, "broken"}, {0, NULL},
};
const struct enum_name caching_type_names[] = {
    {1, "none"},
    {2, "readonly"},
    {3, "readwrite"},
    {0, NULL},
};
const struct enum_name storage_account_type_names[] = {
    {1, "Standard_LRS"},
    {2, "Premium_LRS"},
    {0, NULL},
};

const struct enum_name output_type_names[] = {
    {1, "model"}, {2, "logs"}, {3, "summary"}, {4, "custom"}, {0, NULL},
};

/* Every value has a name; after the values comes the row that ends the table. `unused`: numbers
 * without a value. */
#define NAMES(names, last, unused)                                                                 \
    static_assert(sizeof(names) / sizeof(names)[0] == (last) - (unused) + 1, #names)
NAMES(prov_state_names, PROV_DELETING, 0);
NAMES(alloc_state_names, ALLOC_RESIZING, 0);
NAMES(node_state_names, NODE_UNUSABLE, 1);
NAMES(exec_state_names, EXEC_FAILED, 0);
NAMES(vm_priority_names, VM_LOWPRIORITY, 0);
NAMES(dealloc_option_names, DEALLOC_WAIT_FOR_COMPLETION, 0);
NAMES(sched_priority_names, PRIORITY_HIGH, 0);
NAMES(tool_type_names, TOOL_CUSTOM, 0);
NAMES(op_status_names, OP_FAILED, 0);
NAMES(resource_kind_names, RES_VAULT, 0);
NAMES(run_state_names, RUN_OVER, 0);
NAMES(run_hold_names, HOLD_TURN, 0);
NAMES(after_names, AFTER_END, 0);
NAMES(dependency_state_names, DEPENDENCY_BROKEN, 0);
NAMES(allocation_state_names, ALLOCATION_LOST, 1);
NAMES(share_kind_names, SHARE_BLOBS, 0);
NAMES(share_state_names, SHARE_DELETED, 0);
NAMES(public_access_names, PUBLIC_CONTAINER, 0);
NAMES(lease_state_names, LEASE_BROKEN, 0);
#undef NAMES

const char *node_state_shown(enum node_state state, int live)
{
    return state == NODE_IDLE && live > 0 ? "running" : enum_to_name(node_state_names, (int)state);
}

const char *enum_to_name(const struct enum_name *table, int value)
{
    for (; table->name; table++)
        if (table->value == value)
            return table->name;
    return "unknown";
}

int enum_from_name(const struct enum_name *table, const char *name)
{
    for (; name && table->name; table++)
        if (strcasecmp(table->name, name) == 0)
            return table->value;
    return 0;
}

void enum_list(const struct enum_name *table, char *out, unsigned size)
{
    size_t used = 0;
    if (size)
        out[0] = '\0';
    for (const struct enum_name *row = table; row->name && used < size; row++) {
        const char *glue = row == table ? "" : row[1].name ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s%s", glue, row->name);
        used += n > 0 ? (size_t)n : 0;
    }
}
