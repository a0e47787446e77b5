/* SPDX-License-Identifier: MIT
 *
 * The statements about samples of Azure Batch's pools; a part of statements.h, which says how to
 * read them.
 */
#ifndef STORAGE_STATEMENTS_BATCH_SAMPLES_H
#define STORAGE_STATEMENTS_BATCH_SAMPLES_H

/* clang-format off */
#define BATCH_SAMPLE_STATEMENTS(X) \
    X(ST_BATCH_SAMPLE_ADD, \
      "INSERT INTO batch_sample (pool_id, at_us, vals) VALUES (?1, ?2, ?3) " \
      "ON CONFLICT (pool_id, at_us) DO UPDATE SET vals = excluded.vals") \
    X(ST_BATCH_SAMPLE_FORGET, "DELETE FROM batch_sample WHERE pool_id = ?1 AND at_us < ?2") \
    X(ST_BATCH_SAMPLES, \
      "SELECT {batch_sample} FROM batch_sample bsa WHERE bsa.pool_id = ?1 ORDER BY bsa.at_us") \
    X(ST_BATCH_SAMPLE_LAST, "SELECT max(at_us) FROM batch_sample WHERE pool_id = ?1") \
    X(ST_BATCH_SAMPLES_REMOVE, "DELETE FROM batch_sample WHERE pool_id = ?1") \
    X(ST_BATCH_POOL_TASKS, \
      "SELECT {batch_pool_tasks} FROM batch_job bj CROSS JOIN batch_count bc ON bc.job_id = bj.id " \
      "WHERE bj.account_id = ?1 AND bj.pool_name = ?2")
/* clang-format on */

#endif
