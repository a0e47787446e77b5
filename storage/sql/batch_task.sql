-- SPDX-License-Identifier: MIT
--
-- Azure Batch's tasks.

-- CROSS JOIN: SQLite keeps this order.
-- $batch_task_select
SELECT {batch_task} FROM batch_task bt CROSS JOIN batch_job bj ON bj.id = bt.job_id;

-- filter batch_task[BATCH_TASK_PROPERTIES]: what a filter may compare
BATCH_TASK_BY_ID = bt.name,
BATCH_TASK_BY_STATE = bt.state,
BATCH_TASK_BY_STATE_TIME = bt.state_us,
BATCH_TASK_BY_CREATED = bt.created_us,
BATCH_TASK_BY_MODIFIED = bt.updated_us,
BATCH_TASK_BY_START = nullif(bt.start_us, 0),
BATCH_TASK_BY_END = nullif(bt.end_us, 0),
BATCH_TASK_BY_EXIT_CODE = bt.exit_code,
BATCH_TASK_BY_RESULT = nullif(bt.result, 0);

-- st_batch_task_insert(batch_task t, sealed secrets) -> new id
INSERT INTO {+batch_task};

-- st_batch_task_get(i64 job_id, text name) -> batch_task?
$batch_task_select WHERE bt.job_id = :job_id AND bt.name = :name;

-- st_batch_task_by_id(i64 id) -> batch_task?
$batch_task_select WHERE bt.id = :id;

-- st_batch_task_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM batch_task WHERE id = :id;

-- Those behind `after` up to `upto` (NULL: up to the last), except those that are being deleted.
-- st_batch_task_list(i64 job_id, filter filter, st_names page) -> batch_task*
$batch_task_select
WHERE bt.job_id = :job_id AND bt.name > coalesce(:page.after, '') AND bt.name <= coalesce(:page.upto, char(127))
AND bt.fate <> {BATCH_FATE_DELETE} AND {?batch_task}
ORDER BY bt.name LIMIT :page.limit;

-- Those of a job that a dump asks more of: they have files, or the job makes them (its manager).
-- st_batch_task_list_to_dump(i64 job_id) -> batch_task*
$batch_task_select
WHERE bt.job_id = :job_id AND (bt.files = {BATCH_FILES_THERE} OR bt.manager <> 0) ORDER BY bt.name;

-- The jobs of an account that have tasks, as a JSON object with a member for each.
-- st_batch_task_jobs(i64 account_id) -> text names
SELECT json_group_object(bj.name, 1) FROM batch_job bj
WHERE bj.account_id = :account_id AND EXISTS (SELECT 1 FROM batch_task bt WHERE bt.job_id = bj.id);

-- The name of the nth task behind `after`; 0: there are fewer.
-- st_batch_task_nth(i64 job_id, text after, int nth) -> text? name
SELECT name FROM batch_task
WHERE job_id = :job_id AND name > coalesce(:after, '')
ORDER BY name LIMIT 1 OFFSET :nth - 1;

-- The tasks that ran last on a node, the latest first.
-- st_batch_task_of_node(text node_name, int limit) -> batch_task*
$batch_task_select WHERE bt.node_name = :node_name ORDER BY bt.id DESC LIMIT :limit;

-- How many have ended on it; a getter.
-- st_batch_node_total(text node_name) -> batch_node_total?
SELECT {batch_node_total} FROM batch_node_total bn WHERE bn.node_name = :node_name;

-- A user has changed its constraints.
-- st_batch_task_update(i64 id, text doc, i64 now_us) -> changed "task"
UPDATE batch_task SET doc = :doc, updated_us = :now_us WHERE id = :id;

-- st_batch_task_move(st_batch_task_move m) -> moved "Task" batch_task_state by st_batch_task_state
UPDATE batch_task
SET was = state, was_us = state_us, state = :m.to, state_us = :m.now_us,
updated_us = CASE :m.by_user WHEN 1 THEN :m.now_us ELSE updated_us END,
start_us = CASE WHEN :m.starts = 1 THEN :m.now_us WHEN :m.to = {BATCH_TASK_ACTIVE} THEN 0 ELSE start_us END,
pool_name = coalesce(:m.pool_name, pool_name), node_name = coalesce(:m.node_name, node_name),
files = CASE WHEN :m.node_name IS NULL THEN files ELSE {BATCH_FILES_THERE} END,
emptied = CASE WHEN :m.node_name IS NULL THEN emptied ELSE :m.emptied END,
retries = CASE :m.from WHEN {BATCH_TASK_COMPLETED} THEN 0 ELSE retries + :m.retried END,
retry_us = CASE WHEN :m.from = {BATCH_TASK_COMPLETED} THEN 0 WHEN :m.retried = 1 THEN :m.now_us ELSE retry_us END,
requeues = requeues + :m.requeued, requeue_us = CASE :m.requeued WHEN 1 THEN :m.now_us ELSE requeue_us END,
end_us = CASE :m.to WHEN {BATCH_TASK_COMPLETED} THEN :m.now_us ELSE 0 END, exit_code = :m.exit_code, result = :m.result,
failure = :m.failure, satisfies = :m.satisfies, files_until_us = :m.files_until_us,
container_error = :m.container_error,
container_id = CASE WHEN :m.starts = 1 OR :m.to = {BATCH_TASK_ACTIVE} THEN NULL ELSE container_id END
WHERE id = :m.id AND state = :m.from;

-- private st_batch_task_state(i64 id) -> state
SELECT state FROM batch_task WHERE id = :id;

-- Its container has started.
-- st_batch_task_contain(i64 id, text container_id) -> changed "task"
UPDATE batch_task SET container_id = :container_id WHERE id = :id;

-- Tasks of a job that may run, have no run, and fit the pool: oldest first.
-- st_batch_task_ready(i64 job_id, st_batch_fit fit, int limit) -> batch_task*
$batch_task_select
WHERE bt.job_id = :job_id AND bt.state = {BATCH_TASK_ACTIVE} AND bt.waits = 0 AND bt.fed = 0
AND $batch_fits(bt)
ORDER BY bt.id LIMIT :limit;

-- Tasks of a job that have a run, are in this state, and have a lesser fate: oldest first.
-- st_batch_task_to_stop(i64 job_id, batch_task_state state, batch_fate fate, int limit) -> batch_task*
$batch_task_select WHERE bt.job_id = :job_id AND bt.fed = 1 AND bt.state = :state AND bt.fate < :fate
ORDER BY bt.fate, bt.id LIMIT :limit;

-- Whether a task of the job has a run.
-- st_batch_task_any_fed(i64 job_id) -> bool any
SELECT EXISTS (SELECT 1 FROM batch_task WHERE job_id = :job_id AND fed = 1);

-- Tasks of the jobs after the job `after` that have a run of this priority which waits for its first start in this pool:
-- in turn.
-- st_batch_task_waiting(i64 pool_id, int priority, i64 after) -> i64*
SELECT bt.id FROM run u CROSS JOIN batch_task bt ON bt.id = u.owner_id AND bt.job_id > :after
WHERE u.pool_id = :pool_id AND u.phase = {RUN_WAITING} AND u.stop = {STOP_NOT} AND u.held = {HOLD_NOT}
AND u.priority = :priority AND u.owner_kind = {RES_BATCH_TASK} AND u.attempt = 0
ORDER BY u.id;

-- Tasks of a job that have a run which waits for its first start, without the oldest of them.
-- st_batch_task_surplus(i64 job_id, int oldest) -> i64*
SELECT bt.id FROM batch_task bt CROSS JOIN run u ON u.owner_kind = {RES_BATCH_TASK} AND u.owner_id = bt.id
WHERE bt.job_id = :job_id AND bt.fed = 1 AND bt.state = {BATCH_TASK_ACTIVE} AND u.phase = {RUN_WAITING}
AND u.stop = {STOP_NOT} AND u.held = {HOLD_NOT} AND u.attempt = 0
ORDER BY bt.id LIMIT -1 OFFSET :oldest;

-- st_batch_task_count_fed(i64 job_id) -> i64 n
SELECT count(*) FROM batch_task WHERE job_id = :job_id AND fed = 1;

-- How many of them wait for their start.
-- st_batch_task_count_queued(i64 job_id) -> i64 n
SELECT count(*) FROM batch_task WHERE job_id = :job_id AND fed = 1 AND state = {BATCH_TASK_ACTIVE};

-- Runs of tasks that are over and were not removed.
-- st_batch_task_over() -> i64*
SELECT u.id
FROM batch_task t CROSS JOIN run u ON u.owner_kind = {RES_BATCH_TASK} AND u.owner_id = t.id
AND u.phase = {RUN_OVER}
WHERE t.fed = 1;

-- It has a run, or has none any more.
-- st_batch_task_feed(i64 id, bool fed) -> changed "task"
UPDATE batch_task SET fed = :fed WHERE id = :id;

-- The job's priority was changed: those of its tasks that have a run go by it.
-- st_batch_task_set_priority(i64 job_id, int priority) -> count changed
UPDATE run SET priority = :priority
WHERE owner_kind = {RES_BATCH_TASK} AND owner_id IN (SELECT id FROM batch_task WHERE job_id = :job_id AND fed = 1)
AND priority <> :priority;

-- st_batch_task_set_fate(i64 id, batch_fate fate) -> changed "task"
UPDATE batch_task SET fate = :fate WHERE id = :id;

-- st_batch_task_set_files(i64 id, batch_files files) -> changed "task"
UPDATE batch_task SET files = :files WHERE id = :id;

-- st_batch_task_remove(i64 id) -> changed "task"
DELETE FROM batch_task WHERE id = :id;

-- private st_batch_task_remove_up_to(i64 job_id, int limit) -> count gone
DELETE FROM batch_task
WHERE id IN (SELECT id FROM batch_task WHERE job_id = :job_id AND fed <> 1 ORDER BY name LIMIT :limit);

-- Tasks whose files' time is up.
-- st_batch_task_files_due(i64 now_us, int limit) -> batch_task*
$batch_task_select
WHERE bt.files = {BATCH_FILES_THERE} AND bt.files_until_us > 0 AND bt.files_until_us <= :now_us
ORDER BY bt.files_until_us LIMIT :limit;

-- The first instant at which there are some of st_batch_task_files_due(); 0: never.
-- st_batch_task_files_next() -> i64 at_us
SELECT coalesce((SELECT files_until_us FROM batch_task
WHERE files = {BATCH_FILES_THERE} AND files_until_us > 0 ORDER BY files_until_us LIMIT 1), 0);

-- The tasks of a job that wait on a node until it is prepared.
-- st_batch_task_preparing(i64 job_id, i64 node_id) -> batch_task*
SELECT {batch_task} FROM $live_allocation CROSS JOIN run u ON u.id = a.run_id AND u.owner_kind = {RES_BATCH_TASK}
CROSS JOIN batch_task bt ON bt.id = u.owner_id CROSS JOIN batch_job bj ON bj.id = bt.job_id
WHERE $is_live AND a.node_id = :node_id AND bt.job_id = :job_id AND bt.state = {BATCH_TASK_PREPARING}
ORDER BY bt.id;
