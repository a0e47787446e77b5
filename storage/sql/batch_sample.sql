-- SPDX-License-Identifier: MIT
--
-- Samples of the metrics of Azure Batch's pools.

-- private st_batch_sample_put(i64 pool_id, batch_sample s)
INSERT INTO batch_sample (pool_id, at_us, vals) VALUES (:pool_id, :s.at_us, :s.vals)
ON CONFLICT (pool_id, at_us) DO UPDATE SET vals = excluded.vals;

-- private st_batch_sample_forget(i64 pool_id, i64 before_us)
DELETE FROM batch_sample WHERE pool_id = :pool_id AND at_us < :before_us;

-- Oldest first.
-- st_batch_samples(i64 pool_id) -> batch_sample*
SELECT {batch_sample} FROM batch_sample bsa WHERE bsa.pool_id = :pool_id ORDER BY bsa.at_us;

-- When the last one was taken; 0: there is none.
-- st_batch_sample_last(i64 pool_id) -> i64 at_us
SELECT max(at_us) FROM batch_sample WHERE pool_id = :pool_id;

-- st_batch_samples_remove(i64 pool_id)
DELETE FROM batch_sample WHERE pool_id = :pool_id;

-- st_batch_pool_tasks(i64 account_id, text pool_name) -> batch_pool_tasks
SELECT {batch_pool_tasks} FROM batch_job bj CROSS JOIN batch_count bc ON bc.job_id = bj.id
WHERE bj.account_id = :account_id AND bj.pool_name = :pool_name;
