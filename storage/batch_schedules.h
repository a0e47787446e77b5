/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's job schedules and certificates; storage/storage.h describes the common behaviour of
 * these functions. Lists begin after the name `after` ("": at the first).
 */
#ifndef STORAGE_BATCH_SCHEDULES_H
#define STORAGE_BATCH_SCHEDULES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/schedule_rows.h"
#include "storage/sql/batch_certificate.h"
#include "storage/sql/batch_schedule.h"

struct filter;
struct storage;

/* --- job schedules --------------------------------------------------------------------------- */

/* Lists are sorted by name. The properties that filters may name, by number: */
enum st_schedule_property {
    ST_SCHEDULE_ID,
    ST_SCHEDULE_STATE,
    ST_SCHEDULE_STATE_TIME,
    ST_SCHEDULE_CREATED,
    ST_SCHEDULE_MODIFIED,
    ST_SCHEDULE_ENDED,
    ST_SCHEDULE_UNTIL,
    ST_SCHEDULE_AFTER,
    ST_SCHEDULE_PROPERTIES
};
/* A guarded move; the only function that writes the state. `by_user`: also changes the schedule's
 * ETag; `ends`: also sets its endTime. */
struct st_schedule_move {
    int64_t id;
    enum batch_schedule_state from, to;
    int64_t now_us;
    bool by_user, ends;
};

/* --- certificates ---------------------------------------------------------------------------- */

/* Lists are sorted by thumbprint. The properties that filters may name, by number: */
enum st_certificate_property {
    ST_CERTIFICATE_STATE,
    ST_CERTIFICATE_STATE_TIME,
    ST_CERTIFICATE_PROPERTIES
};

#endif
