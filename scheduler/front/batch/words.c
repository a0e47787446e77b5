/* SPDX-License-Identifier: MIT
 *
 * The terms of Azure Batch for the core's objects.
 */
#include "scheduler/front/batch/batch.h"

static const struct front_var_name vars[] = {
    {VAR_POOL_MOUNTS, "AZ_BATCH_NODE_MOUNTS_DIR"},
    {VAR_NODE, "AZ_BATCH_NODE_ID"},
    {VAR_DEDICATED, "AZ_BATCH_NODE_IS_DEDICATED"},
    {VAR_HOSTS, "AZ_BATCH_HOST_LIST"},
    {VAR_HOST_LIST, "AZ_BATCH_NODE_LIST"},
    {VAR_HOST_CORES, "CCP_NODES"},
    {VAR_FIRST, "AZ_BATCH_MASTER_NODE"},
    {VAR_IS_FIRST, "AZ_BATCH_IS_CURRENT_NODE_MASTER"},
    {VAR_SHARED_DIR, "AZ_BATCH_TASK_SHARED_DIR"},
    {.name = NULL},
};

/* Tasks in Azure Batch have no toolkit: all are command lines. */
static const char *const toolkits[] = {
    [TOOL_CNTK] = "commandLine",    [TOOL_TENSORFLOW] = "commandLine",
    [TOOL_CAFFE] = "commandLine",   [TOOL_CAFFE2] = "commandLine",
    [TOOL_CHAINER] = "commandLine", [TOOL_HOROVOD] = "commandLine",
    [TOOL_PYTORCH] = "commandLine", [TOOL_MPI] = "commandLine",
    [TOOL_CUSTOM] = "commandLine",
};

const struct front_words batch_front_words = {
    .pool = "pool",
    .pools = "pools",
    .run = "task",
    .runs = "tasks",
    .log = "task",
    .setup_task = "start task",
    .mounts_dir = "batch/fsmounts",
    .mounts_path = "/mnt/batch/tasks/fsmounts",
    .home = "batch",
    .archives = "packages",
    .archive_links = "batch/applications",
    .pool_archive_links = "batch/applications/pool",
    .size = "vmSize",
    .size_path = "vmSize",
    .priority = "priority",
    .target_path = "targetDedicatedNodes",
    .maximum_path = "targetDedicatedNodes",
    .admin_name = "userAccounts",
    .std_prefix = "its directory",
    .inputs = "resourceFiles",
    .outputs = "outputFiles",
    .secrets = "environmentSettings",
    .time_limit = "maxWallClockTime",
    .time_limit_path = "constraints.maxWallClockTime",
    .container = "containerSettings",
    .registry = "registry",
    .registry_url = "registryServer",
    .toolkits = toolkits,
    .mounts = "mountConfiguration",
    .account_key = "accountKey",
    .account_key_path = "accountKey",
    .source_directory = "source",
    .mount_command = "mountOptions",
    .vars = vars,
};
