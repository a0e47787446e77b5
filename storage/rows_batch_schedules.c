/* SPDX-License-Identifier: MIT
 *
 * The rows of Azure Batch's job schedules and certificates; see rows.h.
 */
#include "storage/batch_schedules.h"
#include "storage/columns.h"

DOMAIN(schedule_state, BATCH_SCHEDULE_ACTIVE, BATCH_SCHEDULE_DELETING, 0);
DOMAIN(schedule_was, 0, BATCH_SCHEDULE_DELETING, 0);
DOMAIN(certificate_state, BATCH_CERTIFICATE_ACTIVE, BATCH_CERTIFICATE_DELETE_FAILED, 0);
DOMAIN(certificate_was, 0, BATCH_CERTIFICATE_DELETE_FAILED, 0);

#define ROW struct batch_schedule
static const struct st_column batch_schedule_columns[] = {
    OWN_ID("id", id),
    INT64("account_id", account_id, id),
    TEXT("name", name),
    TEXT("doc", doc),
    TEXT("created_by", created_by),
    INT("state", state, schedule_state),
    INT("was", was, schedule_was),
    INT64("state_us", state_us, instant),
    INT64("was_us", was_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT64("end_us", end_us, instant),
    INT64("next_us", next_us, instant),
    INT64("until_us", until_us, instant),
    INT64("after_us", after_us, instant),
    INT("number", number, wish),
    TEXT("auto_pool", auto_pool),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(batch_schedule_row, struct batch_schedule, batch_schedule, "batch_schedule", "bs");

#define ROW struct batch_certificate
static const struct st_column batch_certificate_columns[] = {
    OWN_ID("id", id),
    INT64("account_id", account_id, id),
    TEXT("algorithm", algorithm),
    TEXT("thumbprint", thumbprint),
    TEXT("public", public),
    INT("state", state, certificate_state),
    INT("was", was, certificate_was),
    INT64("state_us", state_us, instant),
    INT64("was_us", was_us, instant),
    TEXT("error", error),
    TEXT("tags", tags),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(batch_certificate_row, struct batch_certificate, batch_certificate, "batch_certificate",
       "bc");
