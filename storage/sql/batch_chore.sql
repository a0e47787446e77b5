-- SPDX-License-Identifier: MIT
--
-- What Azure Batch's jobs do on nodes before and after their tasks.

-- $batch_chore_select
SELECT {batch_chore} FROM batch_chore bh CROSS JOIN batch_job bj ON bj.id = bh.job_id;

-- Writes one that begins, in the place of the one of its job, node and kind, if there was one.
-- st_batch_chore_begin(batch_chore c) -> new id
INSERT OR REPLACE INTO {+batch_chore};

-- st_batch_chore_get(i64 job_id, text node_name, batch_chore_kind kind) -> batch_chore?
$batch_chore_select WHERE bh.job_id = :job_id AND bh.node_name = :node_name AND bh.kind = :kind;

-- st_batch_chore_by_id(i64 id) -> batch_chore?
$batch_chore_select WHERE bh.id = :id;

-- Those of a job: by node, and of each node by kind. They begin with the nodes behind `after`.
-- st_batch_chore_list(i64 job_id, text after) -> batch_chore*
$batch_chore_select WHERE bh.job_id = :job_id AND bh.node_name > :after ORDER BY bh.node_name, bh.kind;

-- Whether a node of the run is still being prepared for the job.
-- st_batch_chore_awaited(i64 job_id, i64 run_id, int attempt) -> bool any
SELECT EXISTS (SELECT 1 FROM allocation a CROSS JOIN batch_chore bh ON bh.job_id = :job_id
AND bh.node_name = a.node_name AND bh.kind = {BATCH_PREPARATION} AND bh.state = {BATCH_CHORE_RUNNING}
WHERE a.run_id = :run_id AND a.attempt = :attempt);

-- Counts that it is tried again.
-- st_batch_chore_retry(i64 id, i64 now_us) -> changed "chore"
UPDATE batch_chore SET retries = retries + 1, retry_us = :now_us, container_id = NULL WHERE id = :id;

-- Its container has started.
-- st_batch_chore_contain(i64 id, text container_id) -> changed "chore"
UPDATE batch_chore SET container_id = :container_id WHERE id = :id;

-- Runs of them that are over and were not removed.
-- st_batch_chore_over() -> i64*
SELECT id FROM run WHERE owner_kind = {RES_BATCH_CHORE} AND phase = {RUN_OVER};

-- st_batch_chore_end(st_batch_chore_end end) -> changed "chore"
UPDATE batch_chore
SET state = {BATCH_CHORE_COMPLETED}, end_us = :end.now_us, exit_code = :end.exit_code, result = :end.result,
failure = :end.failure, container_error = :end.container_error
WHERE id = :end.id AND state = {BATCH_CHORE_RUNNING};
