/* SPDX-License-Identifier: MIT
 *
 * Words of fronts, for tests of rooms below the fronts: Batch AI's own
 * (scheduler/front/batchai/words.c is linked into every unit test), and pools and tasks, as a front
 * may have that is not there.
 */
#ifndef TEST_UNIT_SUPPORT_WORDS_H
#define TEST_UNIT_SUPPORT_WORDS_H

#include "model/enums.h"
#include "scheduler/front/batchai/batchai.h"

static const struct front_var_name pool_vars[] = {
    {VAR_POOL_MOUNTS, "AZ_BATCH_NODE_MOUNTS_DIR"},
    {VAR_RUN_DIR, "AZ_BATCH_TASK_WORKING_DIR"},
    {VAR_NODE, "AZ_BATCH_NODE_ID"},
    {.name = NULL},
};

static const char *const pool_toolkits[] = {
    [TOOL_CNTK] = "cntk",          [TOOL_TENSORFLOW] = "tensorFlow",
    [TOOL_CAFFE] = "caffe",        [TOOL_CAFFE2] = "caffe2",
    [TOOL_CHAINER] = "chainer",    [TOOL_HOROVOD] = "horovod",
    [TOOL_PYTORCH] = "torch",      [TOOL_MPI] = "mpi",
    [TOOL_CUSTOM] = "commandLine",
};

static const struct front_words pools_and_tasks = {
    .pool = "pool",
    .pools = "pools",
    .run = "task",
    .runs = "tasks",
    .log = "progress",
    .mounts_dir = "mnt",
    .std_prefix = "stdDir",
    .inputs = "resourceFiles",
    .outputs = "outputFiles",
    .secrets = "secretVariables",
    .container = "taskContainer",
    .toolkits = pool_toolkits,
    .mounts = "mountConfiguration",
    .admin_name = "userAccounts",
    .time_limit = "maxWallClockTime",
    .time_limit_path = "constraints.maxWallClockTime",
    .vars = pool_vars,
};

#endif
