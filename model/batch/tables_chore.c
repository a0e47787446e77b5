/* SPDX-License-Identifier: MIT
 *
 * The property table for the state of a job's preparation and release tasks on a node.
 */
#include "model/batch/tables.h"
#include "model/schema/tables.h"

static const struct field preparation_rows[] = {
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    TEXT("state", READONLY),
    TEXT("taskRootDirectory", READONLY),
    TEXT("taskRootDirectoryUrl", READONLY),
    INT("exitCode", READONLY),
    OBJECT("containerInfo", READONLY, schema_batch_container_info),
    OBJECT("failureInfo", READONLY, schema_batch_failure),
    INT("retryCount", READONLY),
    TIME("lastRetryTime", READONLY),
    TEXT("result", READONLY),
};
static SCHEMA(schema_preparation, preparation_rows, "JobPreparationTaskExecutionInformation");

static const struct field release_rows[] = {
    TIME("startTime", READONLY),
    TIME("endTime", READONLY),
    TEXT("state", READONLY),
    TEXT("taskRootDirectory", READONLY),
    TEXT("taskRootDirectoryUrl", READONLY),
    INT("exitCode", READONLY),
    OBJECT("containerInfo", READONLY, schema_batch_container_info),
    OBJECT("failureInfo", READONLY, schema_batch_failure),
    TEXT("result", READONLY),
};
static SCHEMA(schema_release, release_rows, "JobReleaseTaskExecutionInformation");

static const struct field rows[] = {
    TEXT("poolId", READONLY),
    TEXT("nodeId", READONLY),
    TEXT("nodeUrl", READONLY),
    OBJECT("jobPreparationTaskExecutionInfo", READONLY, schema_preparation),
    OBJECT("jobReleaseTaskExecutionInfo", READONLY, schema_release),
};
SCHEMA(schema_batch_chores, rows, "JobPreparationAndReleaseTaskExecutionInformation");
