/* SPDX-License-Identifier: MIT
 *
 * The handlers of Microsoft.BatchAI, for the route table. They have the names of the spec's
 * operation ids.
 */
#ifndef API_BATCHAI_HANDLERS_H
#define API_BATCHAI_HANDLERS_H

#include "api/batchai/batchai.h"

struct replied *operations_list(struct request *r);
struct replied *usages_list(struct request *r);

struct replied *workspaces_list(struct request *r);
struct replied *workspaces_list_by_group(struct request *r);
struct replied *workspaces_create(struct request *r);
struct replied *workspaces_update(struct request *r);
struct replied *workspaces_get(struct request *r);
struct replied *workspaces_delete(struct request *r);

struct replied *experiments_list(struct request *r);
struct replied *experiments_create(struct request *r);
struct replied *experiments_get(struct request *r);
struct replied *experiments_delete(struct request *r);

struct replied *clusters_list(struct request *r);
struct replied *clusters_list_by_group(struct request *r);
struct replied *clusters_list_by_workspace(struct request *r);
struct replied *clusters_create(struct request *r);
struct replied *clusters_update(struct request *r);
struct replied *clusters_get(struct request *r);
struct replied *clusters_delete(struct request *r);
struct replied *clusters_list_remote_login(struct request *r);

struct replied *file_servers_list(struct request *r);
struct replied *file_servers_list_by_group(struct request *r);
struct replied *file_servers_list_by_workspace(struct request *r);
struct replied *file_servers_create(struct request *r);
struct replied *file_servers_get(struct request *r);
struct replied *file_servers_delete(struct request *r);

struct replied *jobs_list(struct request *r);
struct replied *jobs_list_all(struct request *r);
struct replied *jobs_create(struct request *r);
struct replied *jobs_get(struct request *r);
struct replied *jobs_delete(struct request *r);
struct replied *jobs_terminate(struct request *r);
struct replied *jobs_list_output_files(struct request *r);
struct replied *jobs_list_remote_login(struct request *r);

#endif
