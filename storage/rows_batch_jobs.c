/* SPDX-License-Identifier: MIT
 *
 * The rows of Azure Batch's jobs and tasks, and of the samples that count them; see rows.h.
 */
#include "model/batch/sample.h"
#include "storage/batch_jobs.h"
#include "storage/columns.h"
#include "storage/seeding.h"

DOMAIN(job_state, BATCH_JOB_ACTIVE, BATCH_JOB_DELETING, 0);
DOMAIN(job_was, 0, BATCH_JOB_DELETING, 0);
DOMAIN(task_state, BATCH_TASK_ACTIVE, BATCH_TASK_COMPLETED, 0);
DOMAIN(task_was, 0, BATCH_TASK_COMPLETED, 0);
DOMAIN(result, BATCH_RESULT_NONE, BATCH_FAILURE, 0);
DOMAIN(disable, 0, BATCH_DISABLE_WAIT, 0);
DOMAIN(on_all, BATCH_ALL_NO_ACTION, BATCH_ALL_TERMINATE, 0);
DOMAIN(on_failure, BATCH_FAILURE_NO_ACTION, BATCH_FAILURE_EXIT_OPTIONS, 0);
DOMAIN(fate, BATCH_FATE_OWN, BATCH_FATE_AGAIN, 0);
DOMAIN(task_files, BATCH_FILES_NONE, BATCH_FILES_CLEANED, 0);
DOMAIN(chore_kind, BATCH_PREPARATION, BATCH_RELEASE, 0);
DOMAIN(chore_state, BATCH_CHORE_RUNNING, BATCH_CHORE_COMPLETED, 0);
DOMAIN(auto_life, 0, BATCH_AUTO_OF_SCHEDULE, 0);
DOMAIN(manager, 0, BATCH_MANAGER_ALL, 0);
DOMAIN(tally, 0, INT64_C(1) << 50, 0);

#define ROW struct batch_job
static const struct st_column batch_job_columns[] = {
    OWN_ID("id", id),
    INT64("account_id", account_id, id),
    TEXT("name", name),
    TEXT("doc", doc),
    TEXT("created_by", created_by),
    INT("state", state, job_state),
    INT("was", was, job_was),
    INT64("state_us", state_us, instant),
    INT64("was_us", was_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    INT64("limit_us", limit_us, etag),
    TEXT("pool_name", pool_name),
    INT("priority", priority, number),
    INT("max_parallel", max_parallel, number),
    BOOL("depends", depends),
    INT("on_all", on_all, on_all),
    INT("on_failure", on_failure, on_failure),
    INT("disable", disable, disable),
    TEXT("reason", reason),
    TEXT("failure", failure),
    INT64("schedule_id", schedule_id, id),
    INT("number", number, wish),
    BOOL("prepares", prepares),
    INT("auto_life", auto_life, auto_life),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(batch_job_row, struct batch_job, batch_job, "batch_job", "bj");

#define ROW struct batch_task
static const struct st_column batch_task_columns[] = {
    OWN_ID("id", id),
    INT64("job_id", job_id, id),
    TEXT("name", name),
    TEXT("doc", doc),
    INT("state", state, task_state),
    INT("was", was, task_was),
    INT64("state_us", state_us, instant),
    INT64("was_us", was_us, instant),
    INT64("created_us", created_us, instant),
    INT64("updated_us", updated_us, instant),
    INT("slots", slots, wish),
    INT("instances", instances, wish),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    INT("result", result, result),
    INT("retries", retries, wish),
    INT("requeues", requeues, wish),
    INT64("retry_us", retry_us, instant),
    INT64("requeue_us", requeue_us, instant),
    TEXT("failure", failure),
    CONTAINER_SEEN(container),
    TEXT("pool_name", pool_name),
    TEXT("node_name", node_name),
    BOOL("fed", fed),
    INT("waits", waits, wish),
    BOOL("satisfies", satisfies),
    INT("fate", fate, fate),
    INT("files", files, task_files),
    INT64("files_until_us", files_until_us, instant),
    INT64("emptied", emptied, bits),
    INT("manager", manager, manager),
    FROM_TEXT("bj.name", job_name),
    FROM_INT("bj.number", job_number, wish),
    FROM_INT64("bj.account_id", account_id, id),
    SECRET("secrets"),
};
#undef ROW
ROW_OF(batch_task_row, struct batch_task, batch_task, "batch_task", "bt");

#define ROW struct batch_subtask
static const struct st_column batch_subtask_columns[] = {
    OWN_ID("id", id),
    INT64("task_id", task_id, id),
    INT("number", number, wish),
    TEXT("node_name", node_name),
    INT64("emptied", emptied, bits),
    INT("state", state, task_state),
    INT("was", was, task_was),
    INT64("state_us", state_us, instant),
    INT64("was_us", was_us, instant),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    INT("result", result, result),
    TEXT("failure", failure),
    CONTAINER_SEEN(container),
};
#undef ROW
ROW_OF(batch_subtask_row, struct batch_subtask, batch_subtask, "batch_subtask", "bu");

#define ROW struct batch_counts
static const struct st_column batch_count_columns[] = {
    FROM_INT64("bc.active", active, tally),
    FROM_INT64("bc.running", running, tally),
    FROM_INT64("bc.succeeded", succeeded, tally),
    FROM_INT64("bc.failed", failed, tally),
    FROM_INT64("bc.active_slots", active_slots, tally),
    FROM_INT64("bc.running_slots", running_slots, tally),
    FROM_INT64("bc.succeeded_slots", succeeded_slots, tally),
    FROM_INT64("bc.failed_slots", failed_slots, tally),
    FROM_INT64("bc.wall_us", wall_us, bits),
    FROM_INT64("bc.wait_us", wait_us, bits),
    FROM_INT64("bc.retries", retries, tally),
    FROM_INT64("bc.user_us", used.user_us, amount),
    FROM_INT64("bc.kernel_us", used.kernel_us, amount),
    FROM_INT64("bc.read_bytes", used.read_bytes, amount),
    FROM_INT64("bc.write_bytes", used.write_bytes, amount),
    FROM_INT64("bc.read_ops", used.read_ops, amount),
    FROM_INT64("bc.write_ops", used.write_ops, amount),
};
#undef ROW
ROW_OF(batch_count_row, struct batch_counts, batch_count, NULL, "bc");

#define ROW struct batch_cleanup
static const struct st_column batch_cleanup_columns[] = {
    OWN_ID("id", id),
    INT64("node_id", node_id, id),
    TEXT("path", path),
    INT64("due_us", due_us, instant),
};
#undef ROW
ROW_OF(batch_cleanup_row, struct batch_cleanup, batch_cleanup, "batch_litter", "bl");

#define ROW struct batch_chore
static const struct st_column batch_chore_columns[] = {
    OWN_ID("id", id),
    INT64("job_id", job_id, id),
    INT("kind", kind, chore_kind),
    TEXT("pool_name", pool_name),
    TEXT("node_name", node_name),
    ID("node_id", node_id),
    INT64("up_us", up_us, instant),
    INT("state", state, chore_state),
    INT64("start_us", start_us, instant),
    INT64("end_us", end_us, instant),
    MAYBE("exit_code", exit_code, has_exit_code),
    INT("result", result, result),
    INT("retries", retries, wish),
    INT64("retry_us", retry_us, instant),
    TEXT("failure", failure),
    CONTAINER_SEEN(container),
    FROM_TEXT("bj.name", job_name),
    FROM_INT("bj.number", job_number, wish),
};
#undef ROW
ROW_OF(batch_chore_row, struct batch_chore, batch_chore, "batch_chore", "bh");

#define ROW struct batch_barred
static const struct st_column batch_barred_columns[] = {
    FROM_ID("bb.id", id),
    FROM_INT("bb.priority", priority, number),
    FROM_BOOL("bb.has_left", has_left),
    FROM_BOOL("bb.ready", ready),
    FROM_INT64("bb.queued", queued, tally),
};
#undef ROW
ROW_OF(batch_barred_row, struct batch_barred, batch_barred, NULL, "bb");

#define ROW struct batch_node_total
static const struct st_column batch_node_total_columns[] = {
    FROM_INT64("bn.ended", ended, tally),
    FROM_INT64("bn.succeeded", succeeded, tally),
};
#undef ROW
ROW_OF(batch_node_total_row, struct batch_node_total, batch_node_total, NULL, "bn");

#define ROW struct batch_wait
static const struct st_column batch_wait_columns[] = {
    FROM_TEXT("w.name", name),
    FROM_INT64("w.low", low, bits),
    FROM_INT64("w.high", high, bits),
    FROM_INT64(SQL_WAIT_LEFT, left, bits),
};
#undef ROW
ROW_OF(batch_wait_row, struct batch_wait, batch_wait, NULL, "w");

#define ROW struct batch_seeded_file
static const struct st_column batch_seeded_file_columns[] = {
    FROM_TEXT("bf.path", path),
    FROM_INT64("bf.mtime_us", mtime_us, bits),
    BLOB("bf.bytes", bytes, size),
};
static const struct st_column batch_file_shown_columns[] = {
    FROM_TEXT("bf.path", path),
    FROM_INT64("bf.mtime_us", mtime_us, bits),
    FROM_INT64("length(bf.bytes)", size, bits),
};
#undef ROW
ROW_OF(batch_seeded_file_row, struct batch_seeded_file, batch_seeded_file, NULL, "bf");
ROW_OF(batch_file_shown_row, struct batch_seeded_file, batch_file_shown, NULL, "bf");

/* --- samples --------------------------------------------------------------------------------- */

#define ROW struct batch_sample
static const struct st_column batch_sample_columns[] = {
    FROM_INT64("bsa.at_us", at_us, instant),
    FROM_TEXT("bsa.vals", vals),
};
#undef ROW
ROW_OF(batch_sample_row, struct batch_sample, batch_sample, NULL, "bsa");

#define ROW struct batch_pool_tasks
static const struct st_column batch_pool_tasks_columns[] = {
    FROM_INT64("coalesce(sum(bc.active + bc.off), 0)", active, tally),
    FROM_INT64("coalesce(sum(bc.running), 0)", running, tally),
    FROM_INT64("coalesce(sum(bc.succeeded), 0)", succeeded, tally),
    FROM_INT64("coalesce(sum(bc.failed), 0)", failed, tally),
};
#undef ROW
ROW_OF(batch_pool_tasks_row, struct batch_pool_tasks, batch_pool_tasks, NULL, "bc");
