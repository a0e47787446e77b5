/* SPDX-License-Identifier: MIT
 *
 * The rows of present and past events: operations, events, changes, epochs; see rows.h.
 */
#include "storage/changes.h"
#include "storage/columns.h"

#define ROW struct operation
static const struct st_column operation_columns[] = {
    TEXT("guid", guid),
    TEXT("subscription", subscription),
    TEXT("location", location),
    TEXT("resource_key", resource_key),
    TEXT("api_version", api_version),
    INT("kind", kind, kind),
    INT64("resource_id", resource_id, id),
    BOOL("is_delete", is_delete),
    INT("status", status, op_status),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    TEXT("error_code", error_code),
    TEXT("error_message", error_message),
};
#undef ROW
ROW_OF(operation_row, struct operation, operation, "operation", "o");

#define ROW struct event
static const struct st_column event_columns[] = {
    OWN_ID("seq", seq),
    INT64("at_us", at_us, instant),
    INT("kind", kind, kind),
    INT64("resource_id", resource_id, id),
    INT("from_state", from, any_state),
    INT("to_state", to, any_state),
    TEXT("reason", reason),
};
#undef ROW
ROW_OF(event_row, struct event, event, "event", "e");

#define ROW struct epoch
static const struct st_column epoch_columns[] = {
    FROM_INT64("h.term", term, term),
    FROM_TEXT("h.random", random),
};
#undef ROW
ROW_OF(epoch_row, struct epoch, epoch, NULL, "h");

#define ROW struct change
static const struct st_column change_columns[] = {
    OWN_ID("seq", seq),
    INT64("at_us", at_us, instant),
    INT("kind", kind, number),
    INT64("resource_id", resource_id, id),
    TEXT("path", path),
    INT("what", what, any_state),
    INT("from_state", from, any_state),
    INT("to_state", to, any_state),
    TEXT("reason", reason),
};
#undef ROW
ROW_OF(change_row, struct change, change, NULL, "h");
