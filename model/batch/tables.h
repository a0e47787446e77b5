/* SPDX-License-Identifier: MIT
 *
 * The property tables of Azure Batch (model/schema.h): jobs, tasks, and parts that pools and
 * schedules have too. Their names are the names in the newest version.
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

/* The schemas of whole resources: a row for each property of requests and replies. */
extern const struct schema schema_batch_job, schema_batch_task;
/* The preparation and release tasks of a job on one node. */
extern const struct schema schema_batch_chores;
/* The subtasks of a task with several nodes, in replies. */
extern const struct schema schema_batch_subtask;
/* The jobSpecification of a schedule. */
extern const struct schema schema_batch_job_spec;
/* The bodies of changes and actions. */
extern const struct schema schema_batch_job_patch, schema_batch_job_update,
    schema_batch_job_disable, schema_batch_job_terminate, schema_batch_task_update;

/* The schemas of parts of resources: environment variables (decoded into struct kv), files, users,
 * constraints of tasks, containers, packages, metadata, pairs of names and values, failures,
 * statistics. */
extern const struct schema schema_batch_env, schema_batch_resource_file, schema_batch_output_file,
    schema_batch_user, schema_batch_task_limits, schema_batch_container, schema_batch_registry,
    schema_batch_package, schema_batch_token, schema_batch_metadata, schema_batch_pair,
    schema_batch_failure, schema_batch_stats, schema_batch_pool_stats, schema_batch_container_info,
    schema_batch_identity;

/* Checks an id that a user gave: it may contain the characters A-Z, a-z, 0-9, "_" and "-". Jobs of
 * schedules also have a colon, but users do not give their ids. */
int batch_check_id(const json_t *value, const char *path, struct err *e);
/* Checks that a path stays below its base directory. */
int batch_check_file_path(const json_t *value, const char *path, struct err *e);
int batch_check_env_name(const json_t *value, const char *path, struct err *e);
/* Checks that the command line contains at least one word, the program. */
int batch_check_command(const json_t *value, const char *path, struct err *e);

/* For the schemas of constraints: the longest time limit means that there is none, and a limit of
 * 0 is over at once. */
void batch_finish_limits(struct arena *a, const json_t *obj, void *into);

#endif
