/* SPDX-License-Identifier: MIT
 *
 * The statements about what Azure Batch's jobs do on nodes before and after their tasks; a part of
 * statements.h, which says how to read them.
 */
#ifndef STORAGE_STATEMENTS_BATCH_CHORES_H
#define STORAGE_STATEMENTS_BATCH_CHORES_H

#define BATCH_CHORE_SELECT                                                                         \
    "SELECT {batch_chore} FROM batch_chore bh CROSS JOIN batch_job bj ON bj.id = bh.job_id "

/* clang-format off */
#define BATCH_CHORE_STATEMENTS(X) \
    X(ST_BATCH_CHORE_INSERT, "INSERT OR REPLACE INTO {+batch_chore}") \
    X(ST_BATCH_CHORE_GET, \
      BATCH_CHORE_SELECT "WHERE bh.job_id = ?1 AND bh.node_name = ?2 AND bh.kind = ?3") \
    X(ST_BATCH_CHORE_BY_ID, BATCH_CHORE_SELECT "WHERE bh.id = ?1") \
    X(ST_BATCH_CHORE_LIST, \
      BATCH_CHORE_SELECT "WHERE bh.job_id = ?1 AND bh.node_name > ?2 ORDER BY bh.node_name, bh.kind") \
    X(ST_BATCH_CHORE_RETRY, \
      "UPDATE batch_chore SET retries = retries + 1, retry_us = ?2, " \
      "container_id = NULL WHERE id = ?1") \
    X(ST_BATCH_CHORE_CONTAIN, "UPDATE batch_chore SET container_id = ?2 WHERE id = ?1") \
    X(ST_BATCH_CHORE_END, \
      "UPDATE batch_chore SET state = 2, end_us = ?2, exit_code = ?3, result = ?4, failure = ?5, " \
      "container_error = ?6 " \
      "WHERE id = ?1 AND state = 1") \
    X(ST_BATCH_CHORE_OVER, "SELECT id FROM run WHERE owner_kind = ?1 AND phase = 4") \
    X(ST_BATCH_TASK_PREPARING, \
      BATCH_TASK_SELECT "WHERE bt.node_name = ?2 AND bt.job_id = ?1 AND bt.state = 2 ORDER BY bt.id")
/* clang-format on */

#endif
