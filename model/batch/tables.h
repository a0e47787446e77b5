/* SPDX-License-Identifier: MIT
 *
 * The property tables of Azure Batch (model/schema.h): jobs, tasks, and the parts that pools and
 * schedules have too. The names are those of the newest version.
 */
#ifndef MODEL_BATCH_TABLES_H
#define MODEL_BATCH_TABLES_H

#include "model/batch/spec.h"
#include "model/batch/versions.h"
#include "model/schema.h"

enum {
    BATCH_MAX_ID = 64,
    BATCH_MAX_DISPLAY = 1024,
    BATCH_MAX_URL = 8192,
    BATCH_MAX_COMMAND = 32768,
    BATCH_MAX_METADATA = 1000
};

/* Whole resources: a row for each property of requests and replies. */
extern const struct schema schema_batch_job, schema_batch_task;
/* What a job did on one node before and after its tasks. */
extern const struct schema schema_batch_chores;
/* What replies tell of a part of a task that runs on several nodes. */
extern const struct schema schema_batch_subtask;
/* What the jobs of a schedule are made of (jobSpecification). */
extern const struct schema schema_batch_job_spec;
/* The bodies of changes and actions. */
extern const struct schema schema_batch_job_patch, schema_batch_job_update,
    schema_batch_job_disable, schema_batch_job_terminate, schema_batch_task_update;

/* Parts: environment variables (decoded into struct kv), files, users, constraints of tasks,
 * containers, packages, metadata, pairs of names and values, failures, statistics. */
extern const struct schema schema_batch_env, schema_batch_resource_file, schema_batch_output_file,
    schema_batch_user, schema_batch_task_limits, schema_batch_container, schema_batch_registry,
    schema_batch_package, schema_batch_token, schema_batch_metadata, schema_batch_pair,
    schema_batch_failure, schema_batch_stats, schema_batch_pool_stats, schema_batch_container_info,
    schema_batch_identity;

/* "A-Za-z0-9_-": ids that users give. Jobs of schedules have a colon too. */
int batch_check_id(const json_t *value, const char *path, struct err *e);
/* A path that stays below the directory that it begins in. */
int batch_check_file_path(const json_t *value, const char *path, struct err *e);
int batch_check_env_name(const json_t *value, const char *path, struct err *e);
/* There is a program in it. */
int batch_check_command(const json_t *value, const char *path, struct err *e);

#endif
