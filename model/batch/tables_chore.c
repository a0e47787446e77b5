/* SPDX-License-Identifier: MIT
 *
 * The property table of what is shown of a job's preparation and release tasks on a node.
 */
#include "model/batch/tables.h"

static const struct field preparation_rows[] = {
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectory", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectoryUrl", FIELD_STRING),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    {.name = "containerInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_container_info},
    {.name = "failureInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_failure},
    BATCH_READ_ONLY("retryCount", FIELD_INT),
    BATCH_READ_ONLY("lastRetryTime", FIELD_TIME),
    BATCH_READ_ONLY("result", FIELD_STRING),
};
static SCHEMA(schema_preparation, "JobPreparationTaskExecutionInformation", preparation_rows, NULL);

static const struct field release_rows[] = {
    BATCH_READ_ONLY("startTime", FIELD_TIME),
    BATCH_READ_ONLY("endTime", FIELD_TIME),
    BATCH_READ_ONLY("state", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectory", FIELD_STRING),
    BATCH_READ_ONLY("taskRootDirectoryUrl", FIELD_STRING),
    BATCH_READ_ONLY("exitCode", FIELD_INT),
    {.name = "containerInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_container_info},
    {.name = "failureInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_batch_failure},
    BATCH_READ_ONLY("result", FIELD_STRING),
};
static SCHEMA(schema_release, "JobReleaseTaskExecutionInformation", release_rows, NULL);

static const struct field rows[] = {
    BATCH_READ_ONLY("poolId", FIELD_STRING),
    BATCH_READ_ONLY("nodeId", FIELD_STRING),
    BATCH_READ_ONLY("nodeUrl", FIELD_STRING),
    {.name = "jobPreparationTaskExecutionInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_preparation},
    {.name = "jobReleaseTaskExecutionInfo",
     .kind = FIELD_OBJECT,
     .flags = FIELD_READONLY,
     .sub = &schema_release},
};
SCHEMA(schema_batch_chores, "JobPreparationAndReleaseTaskExecutionInformation", rows, NULL);
