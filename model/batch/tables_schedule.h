/* SPDX-License-Identifier: MIT
 *
 * The property tables of Azure Batch's job schedules (model/schema.h).
 */
#ifndef MODEL_BATCH_TABLES_SCHEDULE_H
#define MODEL_BATCH_TABLES_SCHEDULE_H

#include "model/schema.h"

/* A whole schedule, and the bodies of changes. */
extern const struct schema schema_batch_schedule, schema_batch_schedule_patch,
    schema_batch_schedule_update;

#endif
