/* SPDX-License-Identifier: MIT
 *
 * Preparation and release tasks of Azure Batch's jobs on their nodes; storage/storage.h describes
 * the common behaviour of these functions.
 */
#ifndef STORAGE_BATCH_CHORES_H
#define STORAGE_BATCH_CHORES_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/job_rows.h"
#include "storage/sql/batch_chore.h"
#include "storage/sql/batch_task.h"

struct storage;

struct st_batch_chore_end {
    int64_t id, now_us;
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    const char *failure; /* NULL: it succeeded */
    const char *container_error;
};

#endif
