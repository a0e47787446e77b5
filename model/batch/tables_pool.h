/* SPDX-License-Identifier: MIT
 *
 * The property tables of Azure Batch's pools, nodes and certificates (model/schema.h), and the
 * words of their enums.
 */
#ifndef MODEL_BATCH_TABLES_POOL_H
#define MODEL_BATCH_TABLES_POOL_H

#include "model/enums.h"
#include "model/schema.h"

/* What happens to the running tasks of a node that is removed, rebooted or disabled. */
enum batch_dealloc {
    BATCH_DEALLOC_REQUEUE = 1,
    BATCH_DEALLOC_TERMINATE = 2,
    BATCH_DEALLOC_TASK_COMPLETION = 3,
    BATCH_DEALLOC_RETAINED_DATA = 4
};
enum batch_fill { BATCH_FILL_SPREAD = 1, BATCH_FILL_PACK = 2 };
/* The order in which tasks of jobs with equal priority start. NONE: one task of each job in turn.
 * CREATION_TIME: first all tasks of the job that was added first. */
enum batch_job_order { BATCH_ORDER_NONE = 1, BATCH_ORDER_CREATION_TIME = 2 };
enum batch_container_type { BATCH_DOCKER = 1, BATCH_CRI = 2 };

extern const struct enum_name batch_dealloc_names[], batch_disable_scheduling_names[],
    batch_fill_names[], batch_job_order_names[], batch_container_type_names[];

/* Limits of autoScaleEvaluationInterval and resizeTimeout, in seconds. */
enum { BATCH_INTERVAL_MIN_S = 300, BATCH_INTERVAL_MAX_S = 7 * 24 * 3600 };

/* A whole pool: a row for each property of requests and replies. schema_batch_pool_spec: an
 * automatic pool (autoPoolSpecification.pool). */
extern const struct schema schema_batch_pool, schema_batch_pool_spec;
/* The bodies of changes and actions. */
extern const struct schema schema_batch_pool_patch, schema_batch_pool_properties,
    schema_batch_pool_resize, schema_batch_remove_nodes, schema_batch_enable_auto_scale,
    schema_batch_evaluate_auto_scale, schema_batch_upgrade_os;

/* True: this property of a pool may be changed only while the pool has no nodes. */
bool batch_pool_fixed_by_nodes(const char *name);

/* A node, and the operations on it. */
extern const struct schema schema_batch_node, schema_batch_node_user, schema_batch_node_user_update,
    schema_batch_reboot, schema_batch_reimage, schema_batch_deallocate,
    schema_batch_disable_scheduling, schema_batch_upload_logs, schema_batch_node_extension;

extern const struct schema schema_batch_certificate;

/* The table of an item of userAccounts, and the check that names and uids of the accounts
 * differ. */
extern const struct schema schema_batch_user_account;
int batch_check_accounts(const json_t *list, const char *path, struct err *e) MUST_CHECK;
/* Checks that the accounts fit the pool's operating system, and that the pool has what its start
 * task needs: the user account that it names, and containers. */
int batch_check_users(const json_t *pool, const char *path, struct err *e) MUST_CHECK;

/* The schemas of parts of resources: start tasks, references to certificates, evaluations of
 * formulas, errors of resizes, images. */
extern const struct schema schema_batch_start_task, schema_batch_certificate_reference,
    schema_batch_auto_scale_run, schema_batch_resize_error, schema_batch_image;

#endif
