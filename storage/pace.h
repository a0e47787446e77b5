/* SPDX-License-Identifier: MIT
 *
 * Since when something goes on, for those who hold it up (model/pace.h).
 */
#ifndef STORAGE_PACE_H
#define STORAGE_PACE_H

#include "storage/storage.h"

/* A getter: the first operation in progress on a resource. is_delete: as of st_op_finish(). */
int st_op_under_way(struct storage *, struct arena *, enum resource_kind kind, int64_t resource_id,
                    bool is_delete, struct operation *out, struct err *);
/* A getter: when the owner of a run, a job or a task of Azure Batch, began to wait. */
int st_run_queued_since(struct storage *, int64_t run_id, int64_t *us, struct err *);

#endif
