/* SPDX-License-Identifier: MIT
 *
 * Words of fronts, for tests of rooms below the fronts: clusters and jobs, as Batch AI has them,
 * and pools and tasks, as a front may that is not there.
 */
#ifndef TEST_UNIT_SUPPORT_WORDS_H
#define TEST_UNIT_SUPPORT_WORDS_H

#include "model/enums.h"
#include "model/front_words.h"

static const struct front_var_name cluster_vars[] = {
    {VAR_POOL_MOUNTS, "AZ_BATCHAI_MOUNT_ROOT"},
    {VAR_RUN_MOUNTS, "AZ_BATCHAI_JOB_MOUNT_ROOT"},
    {VAR_RUN_DIR, "AZ_BATCHAI_JOB_TEMP"},
    {VAR_RUN_DIR, "AZ_BATCHAI_JOB_TEMP_DIR"},
    {VAR_GPU_COUNT, "AZ_BATCHAI_NUM_GPUS"},
    {VAR_RANK, "AZ_BATCHAI_TASK_INDEX"},
    {VAR_HOSTS, "AZ_BATCH_HOST_LIST"},
    {VAR_STD_DIR, "AZ_BATCHAI_STDOUTERR_DIR"},
    {VAR_INPUT, "AZ_BATCHAI_INPUT_"},
    {VAR_OUTPUT, "AZ_BATCHAI_OUTPUT_"},
    {.name = NULL},
};

static const char *const cluster_toolkits[] = {
    [TOOL_CNTK] = "cntkSettings",
    [TOOL_TENSORFLOW] = "tensorFlowSettings",
    [TOOL_CAFFE] = "caffeSettings",
    [TOOL_CAFFE2] = "caffe2Settings",
    [TOOL_CHAINER] = "chainerSettings",
    [TOOL_HOROVOD] = "horovodSettings",
    [TOOL_PYTORCH] = "pyTorchSettings",
    [TOOL_MPI] = "customMpiSettings",
    [TOOL_CUSTOM] = "customToolkitSettings",
};

static const struct front_words clusters_and_jobs = {
    .pool = "cluster",
    .pools = "clusters",
    .run = "job",
    .runs = "jobs",
    .pool_id = "cluster_id",
    .run_id = "job_id",
    .log = "execution",
    .setup_task = "setup task",
    .size = "vmSize",
    .size_path = "properties.vmSize",
    .priority = "vmPriority",
    .target_path = "properties.scaleSettings.manual.targetNodeCount",
    .maximum_path = "properties.scaleSettings.autoScale.maximumNodeCount",
    .admin_name = "adminUserName",
    .std_prefix = "stdOutErrPathPrefix",
    .inputs = "inputDirectories",
    .outputs = "outputDirectories",
    .secrets = "secrets",
    .time_limit = "maxWallClockTime",
    .time_limit_path = "constraints.maxWallClockTime",
    .container = "containerSettings",
    .registry = "imageSourceRegistry",
    .registry_url = "serverUrl",
    .toolkits = cluster_toolkits,
    .mounts = "mountVolumes",
    .account_key = "accountKey",
    .account_key_path = "credentials.accountKey",
    .source_directory = "sourceDirectory",
    .mount_command = "mountCommand",
    .vars = cluster_vars,
};

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
    .pool_id = "pool_id",
    .run_id = "task_id",
    .log = "progress",
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
