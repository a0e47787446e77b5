/* SPDX-License-Identifier: MIT
 *
 * The terms of Batch AI for the core's objects.
 */
#include "scheduler/front/batchai/batchai.h"

static const struct front_var_name vars[] = {
    {VAR_POOL_MOUNTS, "AZ_BATCHAI_MOUNT_ROOT"},
    {VAR_RUN_MOUNTS, "AZ_BATCHAI_JOB_MOUNT_ROOT"},
    {VAR_RUN_DIR, "AZ_BATCHAI_JOB_TEMP"},
    /* Two pages of the real service contradict each other about the directory in this variable. The
     * list of variables says: the common parent directory of all jobs. The guide to az says: a
     * temporary folder, usable as stdOutErrPathPrefix, whose content the next job removes; the
     * recipes follow this guide. The second meaning is used here, with a folder for each job,
     * because jobs may share a node. (Azure/BatchAI: documentation/using-azure-cli-20.md, "Standard
     * and Error Output") */
    {VAR_RUN_DIR, "AZ_BATCHAI_JOB_TEMP_DIR"},
    {VAR_SHARED_DIR, "AZ_BATCHAI_SHARED_JOB_TEMP"},
    {VAR_NODE, "AZ_BATCHAI_NODE_ID"},
    {VAR_NODE_COUNT, "AZ_BATCHAI_NODE_COUNT"},
    {VAR_GPU_COUNT, "AZ_BATCHAI_NUM_GPUS"},
    {VAR_RANK, "AZ_BATCHAI_TASK_INDEX"},
    {VAR_HOST_FILE, "AZ_BATCHAI_MPI_HOST_FILE"},
    {VAR_HOSTS, "AZ_BATCH_HOST_LIST"},
    {VAR_STD_DIR, "AZ_BATCHAI_STDOUTERR_DIR"},
    {VAR_INPUT, "AZ_BATCHAI_INPUT_"},
    {VAR_OUTPUT, "AZ_BATCHAI_OUTPUT_"},
    {VAR_PREVIOUS_OUTPUT, "AZ_BATCHAI_PREV_OUTPUT_"},
    {VAR_PS_HOSTS, "AZ_BATCHAI_PS_HOSTS"},
    {VAR_WORKER_HOSTS, "AZ_BATCHAI_WORKER_HOSTS"},
    {VAR_INIT_METHOD, "AZ_BATCHAI_PYTORCH_INIT_METHOD"},
    {VAR_BACKEND, "AZ_BATCHAI_PYTORCH_BACKEND"},
    {.name = NULL},
};

/* The property of a job that selects the toolkit. */
static const char *const toolkits[] = {
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

const struct front_words batchai_front_words = {
    .pool = "cluster",
    .pools = "clusters",
    .run = "job",
    .runs = "jobs",
    .log = "execution",
    .setup_task = "setup task",
    .mounts_dir = "mounts",
    .mounts_path = PUBLISHED_MOUNTS,
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
    .toolkits = toolkits,
    .mounts = "mountVolumes",
    .account_key = "accountKey",
    .account_key_path = "credentials.accountKey",
    .source_directory = "sourceDirectory",
    .mount_command = "mountCommand",
    .vars = vars,
};
