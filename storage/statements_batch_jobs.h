/* SPDX-License-Identifier: MIT
 *
 * The statements about Azure Batch's jobs and tasks; a part of statements.h, which says how to read
 * them. The literal conditions repeat those of the partial indexes.
 */
#ifndef STORAGE_STATEMENTS_BATCH_JOBS_H
#define STORAGE_STATEMENTS_BATCH_JOBS_H

#define BATCH_JOB_SELECT "SELECT {batch_job} FROM batch_job bj "
/* CROSS JOIN: SQLite keeps this order. */
#define BATCH_TASK_SELECT                                                                          \
    "SELECT {batch_task} FROM batch_task bt CROSS JOIN batch_job bj ON bj.id = bt.job_id "
/* Has a task that is active, waits for nothing, has no run, and wants at most ?4 nodes. */
#define BATCH_HAS_READY                                                                            \
    "EXISTS (SELECT 1 FROM batch_task t WHERE t.job_id = bj.id AND t.state = 1 AND t.waits = 0 "   \
    "AND t.fed = 0 AND t.instances <= ?4) "
/* The interval of numbers of job ?1 that begins last at or before ?2. */
#define BATCH_DONE_AT(columns)                                                                     \
    "SELECT " columns " FROM batch_done WHERE job_id = ?1 AND low <= ?2 ORDER BY low DESC LIMIT 1"
/* Ranges that the interval from ?2 to ?4 has and that have ?3, which it lacked before; by the index
 * of their beginnings or of their ends. */
#define BATCH_RANGES_MET(by)                                                                       \
    "batch_wait INDEXED BY batch_wait_" by " WHERE job_id = ?1 AND low >= ?2 AND low <= ?3 AND "   \
    "high >= ?3 AND high <= ?4"
#define BATCH_RANGES_STEP(by)                                                                      \
    "UPDATE batch_task SET waits = waits - (SELECT count(*) FROM batch_wait w WHERE "              \
    "w.task_id = batch_task.id AND w.low >= ?2 AND w.low <= ?3 AND w.high >= ?3 AND w.high <= "    \
    "?4) WHERE id IN (SELECT task_id FROM " BATCH_RANGES_MET(by) ")"
#define BATCH_COUNTS_OF_JOBS                                                                       \
    "SELECT ifnull(sum(bc.active), 0), ifnull(sum(bc.running), 0), ifnull(sum(bc.succeeded), 0), " \
    "ifnull(sum(bc.failed), 0), ifnull(sum(bc.active_slots), 0), ifnull(sum(bc.running_slots), "   \
    "0), ifnull(sum(bc.succeeded_slots), 0), ifnull(sum(bc.failed_slots), 0), "                    \
    "ifnull(sum(bc.wall_us), 0), ifnull(sum(bc.wait_us), 0), ifnull(sum(bc.retries), 0) "          \
    "FROM batch_job bj CROSS JOIN batch_count bc ON bc.job_id = bj.id "

/* Whether the files of a task that has ended are kept after ?3, and until when. */
#define BATCH_IS_KEPT(t)                                                                           \
    t ".files = 1 AND " t ".state = 4 AND (" t ".files_until_us = 0 OR " t ".files_until_us > ?3)"
#define BATCH_KEPT_UNTIL(t)                                                                        \
    "CASE " t ".files_until_us WHEN 0 THEN 9223372036854775807 ELSE " t ".files_until_us END"

/* clang-format off */
#define BATCH_JOB_STATEMENTS(X) \
    X(ST_BATCH_JOB_INSERT, "INSERT INTO {+batch_job}") \
    X(ST_BATCH_JOB_GET, BATCH_JOB_SELECT "WHERE bj.account_id = ?1 AND bj.name = ?2") \
    X(ST_BATCH_JOB_ADOPT, \
      "UPDATE batch_job SET schedule_id = ?2, number = ?3, name = ?4, doc = json_set(doc, '$.id', ?4) WHERE id = ?1") \
    X(ST_BATCH_JOB_BY_ID, BATCH_JOB_SELECT "WHERE bj.id = ?1") \
    X(ST_BATCH_JOB_SECRETS, "SELECT secrets FROM batch_job WHERE id = ?1") \
    X(ST_BATCH_JOB_LIST, \
      BATCH_JOB_SELECT "WHERE bj.account_id = ?1 AND bj.name > ?2 AND bj.name <= ?4 AND {?} " \
      "ORDER BY bj.name LIMIT ?3") \
    X(ST_BATCH_JOB_NTH, \
      "SELECT name FROM batch_job WHERE account_id = ?1 AND name > ?2 ORDER BY name LIMIT 1 OFFSET ?3") \
    X(ST_BATCH_JOB_LIST_SCHEDULE, \
      BATCH_JOB_SELECT "WHERE bj.schedule_id = ?1 AND bj.schedule_id > 0 AND bj.number > ?2 AND bj.number <= ?4 " \
      "AND {?} ORDER BY bj.number LIMIT ?3") \
    X(ST_BATCH_JOB_NTH_SCHEDULE, \
      "SELECT number FROM batch_job WHERE schedule_id = ?1 AND schedule_id > 0 AND number > ?2 " \
      "ORDER BY number LIMIT 1 OFFSET ?3") \
    X(ST_BATCH_JOB_UNFINISHED, "SELECT count(*) FROM batch_job WHERE account_id = ?1 AND state <> 6") \
    X(ST_BATCH_JOB_TURN, \
      BATCH_JOB_SELECT "WHERE bj.account_id = ?1 AND bj.pool_name = ?2 AND bj.state = 1 AND " \
      BATCH_HAS_READY "ORDER BY bj.priority DESC, bj.id LIMIT ?3") \
    X(ST_BATCH_JOB_MOVING, "SELECT id FROM batch_job WHERE state IN (2, 4, 5, 7) ORDER BY id") \
    X(ST_BATCH_JOB_LIMITED, "SELECT id FROM batch_job WHERE limit_us > 0 AND state < 5") \
    X(ST_BATCH_JOB_UPDATE, \
      "UPDATE batch_job SET doc = ?2, secrets = ?3, updated_us = ?4, limit_us = ?5, pool_name = ?6, " \
      "priority = ?7, max_parallel = ?8, on_all = ?9, on_failure = ?10 WHERE id = ?1") \
    X(ST_BATCH_JOB_MOVE, \
      "UPDATE batch_job SET was = state, was_us = state_us, state = ?3, state_us = ?4, " \
      "updated_us = CASE ?5 WHEN 1 THEN ?4 ELSE updated_us END, " \
      "disable = CASE ?6 WHEN 0 THEN disable ELSE ?6 END, reason = coalesce(?7, reason), " \
      "failure = coalesce(?8, failure), end_us = CASE ?9 WHEN 1 THEN ?4 ELSE end_us END " \
      "WHERE id = ?1 AND state = ?2") \
    X(ST_BATCH_JOB_STATE, "SELECT state FROM batch_job WHERE id = ?1") \
    X(ST_BATCH_JOB_REMOVE, "DELETE FROM batch_job WHERE id = ?1") \
    X(ST_BATCH_DONE_REMOVE, \
      "DELETE FROM batch_done WHERE job_id = ?1 AND low IN " \
      "(SELECT low FROM batch_done WHERE job_id = ?1 LIMIT ?2)") \
    X(ST_BATCH_JOB_COUNTS, "SELECT {batch_count} FROM batch_count bc WHERE bc.job_id = ?1") \
    X(ST_BATCH_ACCOUNT_COUNTS, BATCH_COUNTS_OF_JOBS "WHERE bj.account_id = ?1") \
    X(ST_BATCH_SCHEDULE_COUNTS, \
      BATCH_COUNTS_OF_JOBS "WHERE bj.schedule_id = ?1 AND bj.schedule_id > 0") \
    X(ST_BATCH_NODE_TOTAL, "SELECT {batch_node_total} FROM batch_node_total bn WHERE bn.node_name = ?1") \
    X(ST_BATCH_TASK_INSERT, "INSERT INTO {+batch_task}") \
    X(ST_BATCH_TASK_GET, BATCH_TASK_SELECT "WHERE bt.job_id = ?1 AND bt.name = ?2") \
    X(ST_BATCH_TASK_BY_ID, BATCH_TASK_SELECT "WHERE bt.id = ?1") \
    X(ST_BATCH_TASK_SECRETS, "SELECT secrets FROM batch_task WHERE id = ?1") \
    X(ST_BATCH_TASK_LIST, \
      BATCH_TASK_SELECT "WHERE bt.job_id = ?1 AND bt.name > ?2 AND bt.name <= ?4 AND {?} " \
      "ORDER BY bt.name LIMIT ?3") \
    X(ST_BATCH_TASK_NTH, \
      "SELECT name FROM batch_task WHERE job_id = ?1 AND name > ?2 ORDER BY name LIMIT 1 OFFSET ?3") \
    X(ST_BATCH_TASK_OF_NODE, \
      BATCH_TASK_SELECT "WHERE bt.node_name = ?1 ORDER BY bt.id DESC LIMIT ?2") \
    X(ST_BATCH_TASK_UPDATE, "UPDATE batch_task SET doc = ?2, updated_us = ?3 WHERE id = ?1") \
    X(ST_BATCH_TASK_MOVE, \
      "UPDATE batch_task SET was = state, was_us = state_us, state = ?3, state_us = ?4, " \
      "updated_us = CASE ?5 WHEN 1 THEN ?4 ELSE updated_us END, " \
      "start_us = CASE WHEN ?6 = 1 THEN ?4 WHEN ?3 = 1 THEN 0 ELSE start_us END, " \
      "pool_name = coalesce(?7, pool_name), node_name = coalesce(?8, node_name), " \
      "files = CASE WHEN ?8 IS NULL THEN files ELSE 1 END, " \
      "retries = CASE ?2 WHEN 4 THEN 0 ELSE retries + ?9 END, " \
      "retry_us = CASE WHEN ?2 = 4 THEN 0 WHEN ?9 = 1 THEN ?4 ELSE retry_us END, " \
      "requeues = requeues + ?10, requeue_us = CASE ?10 WHEN 1 THEN ?4 ELSE requeue_us END, " \
      "end_us = CASE ?3 WHEN 4 THEN ?4 ELSE 0 END, exit_code = ?11, result = ?12, failure = ?13, " \
      "satisfies = ?14, files_until_us = ?15, container_error = ?16, " \
      "container_id = CASE WHEN ?6 = 1 OR ?3 = 1 THEN NULL ELSE container_id END " \
      "WHERE id = ?1 AND state = ?2") \
    X(ST_BATCH_TASK_CONTAIN, "UPDATE batch_task SET container_id = ?2 WHERE id = ?1") \
    X(ST_BATCH_TASK_STATE, "SELECT state FROM batch_task WHERE id = ?1") \
    X(ST_BATCH_TASK_READY, \
      BATCH_TASK_SELECT "WHERE bt.job_id = ?1 AND bt.state = 1 AND bt.waits = 0 AND bt.fed = 0 " \
      "AND bt.instances <= ?3 ORDER BY bt.id LIMIT ?2") \
    X(ST_BATCH_TASK_FED, \
      BATCH_TASK_SELECT "WHERE bt.job_id = ?1 AND bt.fed = 1 ORDER BY bt.id LIMIT ?2") \
    X(ST_BATCH_TASK_COUNT_FED, "SELECT count(*) FROM batch_task WHERE job_id = ?1 AND fed = 1") \
    X(ST_BATCH_TASK_FEED, "UPDATE batch_task SET fed = ?2 WHERE id = ?1") \
    X(ST_BATCH_TASK_FATE, "UPDATE batch_task SET fate = ?2 WHERE id = ?1") \
    X(ST_BATCH_FILE_ADD, "INSERT INTO batch_seeded_file (task_id, path, mtime_us, bytes) VALUES (?1, ?2, ?3, ?4)") \
    X(ST_BATCH_FILE_GET, \
      "SELECT path, mtime_us, length(bytes), bytes FROM batch_seeded_file WHERE task_id = ?1 AND path = ?2") \
    X(ST_BATCH_FILE_LIST, \
      "SELECT path, mtime_us, length(bytes) FROM batch_seeded_file WHERE task_id = ?1 ORDER BY path") \
    X(ST_BATCH_FILE_REMOVE, \
      "DELETE FROM batch_seeded_file WHERE task_id = ?1 AND (path = ?2 OR (path > ?2 || '/' AND path < ?2 || '0'))") \
    X(ST_BATCH_TASK_SET_FILES, "UPDATE batch_task SET files = ?2 WHERE id = ?1") \
    X(ST_BATCH_TASK_REMOVE, "DELETE FROM batch_task WHERE id = ?1") \
    X(ST_BATCH_TASK_REMOVE_SOME, \
      "DELETE FROM batch_task WHERE id IN (SELECT id FROM batch_task WHERE job_id = ?1 AND fed <> 1 LIMIT ?2)") \
    X(ST_BATCH_TASK_FILES_DUE, \
      BATCH_TASK_SELECT "WHERE bt.files = 1 AND bt.files_until_us > 0 AND bt.files_until_us <= ?1 " \
      "ORDER BY bt.files_until_us LIMIT ?2") \
    X(ST_BATCH_TASK_FILES_NEXT, \
      "SELECT files_until_us FROM batch_task WHERE files = 1 AND files_until_us > 0 " \
      "ORDER BY files_until_us LIMIT 1") \
    X(ST_BATCH_SUBTASK_INSERT, "INSERT INTO {+batch_subtask}") \
    X(ST_BATCH_SUBTASK_END, \
      "UPDATE batch_subtask SET was = state, was_us = state_us, state = 4, state_us = ?3, end_us = ?3, " \
      "exit_code = ?4, result = ?5, failure = ?6 WHERE task_id = ?1 AND state <> 4 AND (?2 = 0 OR number = ?2)") \
    X(ST_BATCH_SUBTASK_CONTAIN, \
      "UPDATE batch_subtask SET container_id = ?3 WHERE task_id = ?1 AND number = ?2") \
    X(ST_BATCH_SUBTASK_CLEAR, "DELETE FROM batch_subtask WHERE task_id = ?1") \
    X(ST_BATCH_SUBTASK_LIST, \
      "SELECT {batch_subtask} FROM batch_subtask bu WHERE bu.task_id = ?1 AND bu.number > ?2 " \
      "ORDER BY bu.number LIMIT ?3") \
    X(ST_BATCH_SUBTASK_OF_NODE, \
      "SELECT {batch_subtask} FROM batch_subtask bu WHERE bu.node_name = ?1 ORDER BY bu.id DESC LIMIT ?2") \
    X(ST_BATCH_WAIT_ADD, \
      "INSERT OR IGNORE INTO batch_wait (job_id, task_id, name) SELECT ?1, ?2, ?3 WHERE NOT EXISTS " \
      "(SELECT 1 FROM batch_task WHERE job_id = ?1 AND name = ?3 AND satisfies = 1)") \
    X(ST_BATCH_WAIT_ADD_RANGE, \
      "INSERT INTO batch_wait (job_id, task_id, low, high) SELECT ?1, ?3, ?2, ?4 " \
      "WHERE ifnull((" BATCH_DONE_AT("high") "), -1) < ?4") \
    X(ST_BATCH_WAIT_OF, \
      "SELECT w.name, w.low, w.high, w.high - w.low + 1 - ifnull((SELECT " \
      "sum(min(d.high, w.high) - max(d.low, w.low) + 1) FROM batch_done d WHERE d.job_id = w.job_id " \
      "AND d.low <= w.high AND d.high >= w.low), 0) FROM batch_wait w WHERE w.task_id = ?1 ORDER BY w.id LIMIT ?2") \
    X(ST_BATCH_WAIT_COUNT, \
      "UPDATE batch_task SET waits = (SELECT count(*) FROM batch_wait w WHERE w.task_id = ?1) WHERE id = ?1") \
    X(ST_BATCH_WAIT_MET, \
      "UPDATE batch_task SET waits = waits - 1 WHERE id IN " \
      "(SELECT task_id FROM batch_wait WHERE job_id = ?1 AND name = ?2)") \
    X(ST_BATCH_WAIT_MET_REMOVE, "DELETE FROM batch_wait WHERE job_id = ?1 AND name = ?2") \
    X(ST_BATCH_DONE_AT, BATCH_DONE_AT("low, high")) \
    X(ST_BATCH_DONE_DROP, "DELETE FROM batch_done WHERE job_id = ?1 AND low = ?2") \
    X(ST_BATCH_DONE_PUT, "INSERT OR REPLACE INTO batch_done (job_id, low, high) VALUES (?1, ?2, ?3)") \
    X(ST_BATCH_RANGE_MET_BY_LOW, BATCH_RANGES_STEP("low")) \
    X(ST_BATCH_RANGE_MET_BY_HIGH, BATCH_RANGES_STEP("high")) \
    X(ST_BATCH_RANGE_REMOVE_BY_LOW, "DELETE FROM " BATCH_RANGES_MET("low")) \
    X(ST_BATCH_RANGE_REMOVE_BY_HIGH, "DELETE FROM " BATCH_RANGES_MET("high")) \
    X(ST_RUN_COUNT_WAITING, \
      "SELECT count(*) FROM run WHERE pool_id = ?1 AND phase = 1 AND stop = 0 AND held = 1 AND priority >= ?2") \
    X(ST_BATCH_TASK_FED_RUNS, \
      "SELECT u.id FROM batch_task t CROSS JOIN run u ON u.owner_kind = ?1 AND u.owner_id = t.id AND u.phase = 4 " \
      "WHERE t.fed = 1") \
    X(ST_NODE_NAMED, NODE_SELECT "WHERE n.pool_id = ?1 AND n.name = ?2") \
    X(ST_BATCH_LITTER_INSERT, "INSERT INTO {+batch_litter}") \
    X(ST_BATCH_LITTER_INSERT_ALL, \
      "INSERT INTO batch_litter (node_id, path) SELECT id, ?2 FROM node WHERE pool_id = ?1") \
    X(ST_BATCH_LITTER_OF_NODE, \
      "SELECT {batch_litter} FROM batch_litter bl WHERE bl.node_id = ?1 AND bl.due_us <= ?2 " \
      "ORDER BY bl.id LIMIT ?3") \
    X(ST_BATCH_LITTER_NODES, \
      "SELECT n.id FROM node n WHERE EXISTS (SELECT 1 FROM batch_litter bl WHERE bl.node_id = n.id " \
      "AND bl.due_us <= ?1)") \
    X(ST_BATCH_LITTER_NEXT, \
      "SELECT due_us FROM batch_litter WHERE due_us > 0 AND due_us > ?1 ORDER BY due_us LIMIT 1") \
    X(ST_BATCH_LITTER_KEEP, \
      "DELETE FROM batch_litter WHERE node_id = ?1 AND path = ?2 AND due_us > 0") \
    X(ST_BATCH_KEPT_UNTIL, \
      "SELECT max(coalesce((SELECT " BATCH_KEPT_UNTIL("t") " FROM batch_task t WHERE t.node_name = ?2 " \
      "AND " BATCH_IS_KEPT("t") " ORDER BY t.id DESC LIMIT 1), 0), " \
      "coalesce((SELECT " BATCH_KEPT_UNTIL("t") " FROM batch_subtask u CROSS JOIN batch_task t ON t.id = u.task_id " \
      "WHERE u.node_name = ?2 AND " BATCH_IS_KEPT("t") " ORDER BY u.id DESC LIMIT 1), 0), " \
      "coalesce((SELECT max(due_us) FROM batch_litter WHERE node_id = ?1 AND due_us > ?3), 0))") \
    X(ST_BATCH_LITTER_REMOVE, "DELETE FROM batch_litter WHERE id = ?1")
/* clang-format on */

#endif
