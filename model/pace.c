/* SPDX-License-Identifier: MIT
 *
 * The table of operations and their steps in strict mode. The owner of struct pace provides the
 * durations.
 */
#include "model/pace.h"

#include <stddef.h>

static const struct {
    enum resource_kind kind;
    enum pace_step creation, deletion;
} operations[] = {
    {RES_GROUP, PACE_NONE, PACE_GROUP_DELETION},
    {RES_WORKSPACE, PACE_NONE, PACE_WORKSPACE_DELETION},
    {RES_EXPERIMENT, PACE_NONE, PACE_EXPERIMENT_DELETION},
    {RES_CLUSTER, PACE_CLUSTER_CREATION, PACE_CLUSTER_DELETION},
    {RES_FILE_SERVER, PACE_FILE_SERVER_CREATION, PACE_FILE_SERVER_DELETION},
    {RES_JOB, PACE_JOB_CREATION, PACE_JOB_DELETION},
    {RES_STORAGE_ACCOUNT, PACE_STORAGE_CREATION, PACE_NONE},
    {RES_BATCH_ACCOUNT, PACE_BATCH_CREATION, PACE_BATCH_DELETION},
};

bool pace_is_on(const struct pace *p, const char *subscription)
{
    return p && p->is_on(p->ctx, subscription);
}

int64_t pace_us(const struct pace *p, const char *subscription, enum pace_step step)
{
    if (step == PACE_NONE || !subscription || !pace_is_on(p, subscription))
        return 0;
    return p->takes_us(p->ctx, subscription, step);
}

enum pace_step pace_of_operation(enum resource_kind kind, bool is_delete)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (operations[i].kind == kind)
            return is_delete ? operations[i].deletion : operations[i].creation;
    return PACE_NONE;
}
