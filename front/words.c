/* SPDX-License-Identifier: MIT
 *
 * What Batch AI's users call the things of the core.
 */
#include "front/batchai.h"

static const struct front_var_name vars[] = {
    {VAR_POOL_MOUNTS, "AZ_BATCHAI_MOUNT_ROOT"},
    {VAR_RUN_MOUNTS, "AZ_BATCHAI_JOB_MOUNT_ROOT"},
    {VAR_RUN_DIR, "AZ_BATCHAI_JOB_TEMP"},
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
    {.name = NULL},
};

const struct front_words batchai_front_words = {
    .pool = "cluster",
    .pools = "clusters",
    .run = "job",
    .runs = "jobs",
    .pool_id = "cluster_id",
    .run_id = "job_id",
    .log = "execution",
    .std_prefix = "stdOutErrPathPrefix",
    .inputs = "inputDirectories",
    .outputs = "outputDirectories",
    .admin_name = "adminUserName",
    .time_limit = "maxWallClockTime",
    .time_limit_path = "constraints.maxWallClockTime",
    .vars = vars,
};
