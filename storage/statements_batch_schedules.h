/* SPDX-License-Identifier: MIT
 *
 * The statements about Azure Batch's job schedules and certificates; a part of statements.h, which
 * says how to read them.
 */
#ifndef STORAGE_STATEMENTS_BATCH_SCHEDULES_H
#define STORAGE_STATEMENTS_BATCH_SCHEDULES_H

#define BATCH_SCHEDULE_SELECT    "SELECT {batch_schedule} FROM batch_schedule bs "
#define BATCH_CERTIFICATE_SELECT "SELECT {batch_certificate} FROM batch_certificate bc "

/* clang-format off */
#define BATCH_SCHEDULE_STATEMENTS(X) \
    X(ST_BATCH_SCHEDULE_INSERT, "INSERT INTO {+batch_schedule}") \
    X(ST_BATCH_SCHEDULE_GET, BATCH_SCHEDULE_SELECT "WHERE bs.account_id = ?1 AND bs.name = ?2") \
    X(ST_BATCH_SCHEDULE_BY_ID, BATCH_SCHEDULE_SELECT "WHERE bs.id = ?1") \
    X(ST_BATCH_SCHEDULE_SECRETS, "SELECT secrets FROM batch_schedule WHERE id = ?1") \
    X(ST_BATCH_SCHEDULE_LIST, \
      BATCH_SCHEDULE_SELECT "WHERE bs.account_id = ?1 AND bs.name > ?2 AND {?} ORDER BY bs.name LIMIT ?3") \
    X(ST_BATCH_SCHEDULE_LIVE, "SELECT id FROM batch_schedule WHERE state IN (1, 4, 5) ORDER BY id") \
    X(ST_BATCH_SCHEDULE_UNFINISHED, "SELECT count(*) FROM batch_schedule WHERE account_id = ?1 AND state <> 2") \
    X(ST_BATCH_SCHEDULE_UPDATE, \
      "UPDATE batch_schedule SET doc = ?2, secrets = ?3, updated_us = ?4, next_us = ?5, until_us = ?6, " \
      "after_us = ?7 WHERE id = ?1") \
    X(ST_BATCH_SCHEDULE_SET_NEXT, "UPDATE batch_schedule SET number = ?2, next_us = ?3 WHERE id = ?1") \
    X(ST_BATCH_SCHEDULE_MOVE, \
      "UPDATE batch_schedule SET was = state, was_us = state_us, state = ?3, state_us = ?4, " \
      "updated_us = CASE ?5 WHEN 1 THEN ?4 ELSE updated_us END, end_us = CASE ?6 WHEN 1 THEN ?4 ELSE end_us END " \
      "WHERE id = ?1 AND state = ?2") \
    X(ST_BATCH_SCHEDULE_SET_POOL, "UPDATE batch_schedule SET auto_pool = ?2 WHERE id = ?1") \
    X(ST_BATCH_SCHEDULE_STATE, "SELECT state FROM batch_schedule WHERE id = ?1") \
    X(ST_BATCH_SCHEDULE_REMOVE, "DELETE FROM batch_schedule WHERE id = ?1") \
    X(ST_BATCH_CERTIFICATE_INSERT, "INSERT INTO {+batch_certificate}") \
    X(ST_BATCH_CERTIFICATE_GET, \
      BATCH_CERTIFICATE_SELECT "WHERE bc.account_id = ?1 AND bc.thumbprint = ?2 AND bc.algorithm = ?3") \
    X(ST_BATCH_CERTIFICATE_SECRETS, "SELECT secrets FROM batch_certificate WHERE id = ?1") \
    X(ST_BATCH_CERTIFICATE_LIST, \
      BATCH_CERTIFICATE_SELECT "WHERE bc.account_id = ?1 AND bc.thumbprint > ?2 AND {?} " \
      "ORDER BY bc.thumbprint LIMIT ?3") \
    X(ST_BATCH_CERTIFICATE_SET_STATE, \
      "UPDATE batch_certificate SET was = state, was_us = state_us, state = ?3, state_us = ?4, error = ?5 " \
      "WHERE id = ?1 AND state = ?2") \
    X(ST_BATCH_CERTIFICATE_STATE, "SELECT state FROM batch_certificate WHERE id = ?1") \
    X(ST_BATCH_CERTIFICATE_REMOVE, "DELETE FROM batch_certificate WHERE id = ?1")
/* clang-format on */

#endif
