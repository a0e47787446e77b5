/* SPDX-License-Identifier: MIT
 *
 * The rows of Azure Batch's accounts, pools, packages, users, schedules and certificates; see
 * rows.h.
 */
#include "storage/batch_schedules.h"
#include "storage/columns.h"

#define ROW struct batch_account
static const struct st_column batch_account_columns[] = {
    OWN_ID("id", id),
    INT64("group_id", group_id, id),
    TEXT("name", name),
    TEXT("location", scope.location),
    TEXT("tags", tags),
    TEXT("doc", doc),
    TEXT("created_by", created_by),
    INT("prov_state", prov_state, prov_state),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    FROM_TEXT("g.subscription", scope.subscription),
    FROM_TEXT("g.name", scope.group),
    SECRET("keys"),
};
#undef ROW
ROW_OF(batch_account_row, struct batch_account, batch_account, "batch_account", "ba");

#define ROW struct batch_pool
static const struct st_column batch_pool_columns[] = {
    INT64("id", id, id),
    INT64("account_id", account_id, id),
    TEXT("name", name),
    TEXT("doc", doc),
    TEXT("created_by", created_by),
    INT("state", state, batch_pool_state),
    INT64("state_us", state_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT("dedicated", size.dedicated, wish),
    INT("low", size.low, wish),
    INT64("timeout_us", size.timeout_us, duration),
    INT("alloc_state", size.state, batch_allocation),
    INT64("alloc_us", size.state_us, instant),
    INT64("began_us", size.began_us, instant),
    TEXT("resize_errors", size.errors),
    BOOL("auto_enabled", scaling.enabled),
    TEXT("auto_formula", scaling.formula),
    INT64("auto_interval_us", scaling.interval_us, duration),
    INT64("auto_us", scaling.evaluated_us, instant),
    TEXT("auto_run", scaling.run),
    FROM_TEXT("ba.name", account),
    FROM_TEXT("p.vm_size", vm_size),
    FROM_INT("p.scale_dealloc", dealloc, dealloc_option),
    FROM_INT("p.slots", slots, count),
    FROM_BOOL("p.spread", spread),
    FROM_INT(SQL_HAS_DEDICATED, has_dedicated, count),
    FROM_INT(SQL_HAS_LOW, has_low, count),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(batch_pool_row, struct batch_pool, batch_pool, "batch_pool", "bp");

#define ROW struct batch_application
static const struct st_column batch_application_columns[] = {
    OWN_ID("id", id),
    INT64("account_id", account_id, id),
    TEXT("name", name),
    TEXT("display_name", display_name),
    TEXT("default_version", default_version),
    BOOL("allow_updates", allow_updates),
    TEXT("tags", tags),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
};
#undef ROW
ROW_OF(batch_application_row, struct batch_application, batch_application, "batch_application",
       "bn");

#define ROW struct batch_package
static const struct st_column batch_package_columns[] = {
    OWN_ID("id", id),
    INT64("application_id", application_id, id),
    TEXT("name", name),
    TEXT("format", format),
    TEXT("hash", hash),
    INT64("size", size, file_size),
    TEXT("tags", tags),
    INT64("activated_us", activated_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    FROM_TEXT("bn.name", application),
};
#undef ROW
ROW_OF(batch_package_row, struct batch_package, batch_package, "batch_package", "bg");

#define ROW struct batch_node_user
static const struct st_column batch_node_user_columns[] = {
    OWN_ID("id", id),           INT64("node_id", node_id, id),          TEXT("name", name),
    BOOL("is_admin", is_admin), INT64("expiry_us", expiry_us, instant), TEXT("ssh_key", ssh_key),
    SECRET("password"),         INT("pending", pending, count),
};
#undef ROW
ROW_OF(batch_node_user_row, struct batch_node_user, batch_node_user, "batch_node_user", "nu");

#define ROW struct batch_user_gone
static const struct st_column batch_user_gone_columns[] = {
    OWN_ID("id", id),
    INT64("node_id", node_id, id),
    TEXT("name", name),
};
#undef ROW
ROW_OF(batch_user_gone_row, struct batch_user_gone, batch_user_gone, "batch_user_gone", "ug");

#define ROW struct node_setup
static const struct st_column node_setup_columns[] = {
    INT64("node_id", node_id, id),
    BOOL("runs", runs),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    INT("failure", failure, failure),
    INT("retries", retries, count),
    INT64("retry_us", retry_us, instant),
    TEXT("why", why),
    TEXT("beside", beside),
    CONTAINER_SEEN(container),
};
#undef ROW
ROW_OF(node_setup_row, struct node_setup, node_setup, "node_setup", "ns");

/* --- schedules and certificates -------------------------------------------------------------- */

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
