/* SPDX-License-Identifier: MIT
 *
 * Files of tasks and nodes, while tasks run and after.
 */
#ifndef API_PLANE_BATCH_FILES_H
#define API_PLANE_BATCH_FILES_H

#include "api/plane/batch/batch.h"

struct replied *batch_files_list_task(struct request *r);
struct replied *batch_files_get_task(struct request *r);
struct replied *batch_files_delete_task(struct request *r);
struct replied *batch_files_list_node(struct request *r);
struct replied *batch_files_get_node(struct request *r);
struct replied *batch_files_delete_node(struct request *r);

#define BATCH_FILES_OF(base, what, list, get, remove)                                              \
    {"GET", base "/files", BATCH_ALL, 0, list, "File_ListFrom" what},                              \
        {"GET", base "/files/{filePath*}", BATCH_ALL, 0, get, "File_GetFrom" what},                \
        {"HEAD", base "/files/{filePath*}", BATCH_ALL, 0, get, "File_GetPropertiesFrom" what},     \
        {"DELETE", base "/files/{filePath*}", BATCH_ALL, 0, remove, "File_DeleteFrom" what},

#define BATCH_FILE_ROUTES                                                                          \
    BATCH_FILES_OF("/jobs/{jobId}/tasks/{taskId}", "Task", batch_files_list_task,                  \
                   batch_files_get_task, batch_files_delete_task)                                  \
    BATCH_FILES_OF("/pools/{poolId}/nodes/{nodeId}", "ComputeNode", batch_files_list_node,         \
                   batch_files_get_node, batch_files_delete_node)

#endif
