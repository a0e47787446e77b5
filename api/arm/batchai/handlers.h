/* SPDX-License-Identifier: MIT
 *
 * The handlers of Microsoft.BatchAI, for the route table. They have the names of the spec's
 * operation ids.
 */
#ifndef API_ARM_BATCHAI_HANDLERS_H
#define API_ARM_BATCHAI_HANDLERS_H

#include "api/arm/batchai/batchai.h"
#include "api/arm/kind.h"

struct replied *operations_list(struct request *r);
struct replied *usages_list(struct request *r);

extern const struct rm_kind workspace_kind, experiment_kind, cluster_kind, file_server_kind,
    job_kind;

struct replied *batchai_list_by_workspace(struct request *r);

struct replied *clusters_list_remote_login(struct request *r);

struct replied *jobs_list(struct request *r);
struct replied *jobs_get(struct request *r);
struct replied *jobs_terminate(struct request *r);
struct replied *jobs_list_output_files(struct request *r);
struct replied *jobs_list_remote_login(struct request *r);

#endif
