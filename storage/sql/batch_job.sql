-- SPDX-License-Identifier: MIT
--
-- Azure Batch's jobs.

-- $batch_job_select
SELECT {batch_job} FROM batch_job bj;

-- A task that the pool can run. A manager that wants a node for itself takes all slots, however many there are.
-- $batch_fits(t)
($t.instances <= :fit.nodes AND ($t.slots <= :fit.slots OR $t.manager & {BATCH_MANAGER_ALONE} <> 0)
AND (:fit.dedicated = 1 OR $t.manager & {BATCH_MANAGER_OWN_CLASS} = 0));

-- Has a task that is active, waits for nothing, has no run, and fits the pool.
-- $batch_has_ready
EXISTS (SELECT 1 FROM batch_task t WHERE t.job_id = bj.id AND t.state = {BATCH_TASK_ACTIVE} AND t.waits = 0
AND t.fed = 0 AND $batch_fits(t));

-- Runs fewer tasks than maxParallelTasks.
-- $batch_may_run_more
(bj.max_parallel < 0
OR (SELECT count(*) FROM batch_task t WHERE t.job_id = bj.id AND t.fed = 1) < bj.max_parallel);

-- A node that takes tasks.
-- $batch_serves(node)
($node.state = {NODE_IDLE} AND $node.wish = {WISH_NOTHING} AND $node.off = 0);

-- The sum of numbers that are at most USAGE_MOST, and at most that.
-- $bounded_sum(column)
min((min(sum($column >> 30), 1 << 30) << 30) + sum($column & 0x3fffffff), 1 << 60);

-- $batch_counts_of_jobs
SELECT ifnull(sum(bc.active), 0), ifnull(sum(bc.running), 0), ifnull(sum(bc.succeeded), 0),
ifnull(sum(bc.failed), 0), ifnull(sum(bc.active_slots), 0), ifnull(sum(bc.running_slots), 0),
ifnull(sum(bc.succeeded_slots), 0), ifnull(sum(bc.failed_slots), 0), ifnull(sum(bc.wall_us), 0),
ifnull(sum(bc.wait_us), 0), ifnull(sum(bc.retries), 0), ifnull($bounded_sum(bc.user_us), 0),
ifnull($bounded_sum(bc.kernel_us), 0), ifnull($bounded_sum(bc.read_bytes), 0),
ifnull($bounded_sum(bc.write_bytes), 0), ifnull($bounded_sum(bc.read_ops), 0),
ifnull($bounded_sum(bc.write_ops), 0)
FROM batch_job bj CROSS JOIN batch_count bc ON bc.job_id = bj.id;

-- filter batch_job[BATCH_JOB_PROPERTIES]: what a filter may compare
BATCH_JOB_BY_ID = bj.name,
BATCH_JOB_BY_STATE = bj.state,
BATCH_JOB_BY_STATE_TIME = bj.state_us,
BATCH_JOB_BY_CREATED = bj.created_us,
BATCH_JOB_BY_MODIFIED = bj.updated_us,
BATCH_JOB_BY_START = nullif(bj.start_us, 0),
BATCH_JOB_BY_END = nullif(bj.end_us, 0),
BATCH_JOB_BY_POOL = bj.pool_name;

-- st_batch_job_insert(batch_job j, sealed secrets) -> new id
INSERT INTO {+batch_job};

-- st_batch_job_adopt(st_batch_adoption x) -> changed "job"
UPDATE batch_job
SET schedule_id = :x.schedule_id, number = :x.number, name = :x.name, doc = json_set(doc, '$.id', :x.name),
pool_name = coalesce(:x.pool_name, pool_name)
WHERE id = :x.id;

-- The pools of an account that jobs and schedules have made and will delete, as a JSON object with a member for each.
-- st_batch_own_pools(i64 account_id) -> text names
SELECT json_group_object(o.name, 1) FROM (
SELECT bj.pool_name AS name FROM batch_job bj
WHERE bj.account_id = :account_id AND bj.auto_life > 0 AND bj.state <> {BATCH_JOB_COMPLETED}
UNION
SELECT bs.auto_pool FROM batch_schedule bs
WHERE bs.account_id = :account_id AND bs.auto_pool IS NOT NULL AND bs.state <> {BATCH_SCHEDULE_COMPLETED}) o;

-- st_batch_job_get(i64 account_id, text name) -> batch_job?
$batch_job_select WHERE bj.account_id = :account_id AND bj.name = :name;

-- st_batch_job_by_id(i64 id) -> known batch_job?
$batch_job_select WHERE bj.id = :id;

-- st_batch_job_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM batch_job WHERE id = :id;

-- Those for which the filter holds; NULL: all.
-- st_batch_job_list(i64 account_id, filter filter, st_names page) -> batch_job*
$batch_job_select
WHERE bj.account_id = :account_id AND bj.name > coalesce(:page.after, '')
AND bj.name <= coalesce(:page.upto, char(127)) AND {?batch_job}
ORDER BY bj.name LIMIT :page.limit;

-- The name of the nth job behind `after`; 0: there are fewer.
-- st_batch_job_nth(i64 account_id, text after, int nth) -> text? name
SELECT name FROM batch_job
WHERE account_id = :account_id AND name > coalesce(:after, '')
ORDER BY name LIMIT 1 OFFSET :nth - 1;

-- The jobs of a schedule for which the filter holds, by number; NULL: all.
-- st_batch_job_list_schedule(i64 schedule_id, filter filter, st_page page) -> batch_job*
$batch_job_select
WHERE bj.schedule_id = :schedule_id AND bj.schedule_id > 0 AND bj.number > :page.after AND bj.number <= :page.upto
AND {?batch_job}
ORDER BY bj.number LIMIT :page.limit;

-- st_batch_job_nth_schedule(i64 schedule_id, int after, int nth) -> int? number
SELECT number FROM batch_job
WHERE schedule_id = :schedule_id AND schedule_id > 0 AND number > :after
ORDER BY number LIMIT 1 OFFSET :nth - 1;

-- A getter: when the nth newest of those was completed that were completed before `before`.
-- st_batch_job_ended_nth(i64 before, int nth) -> i64? at
SELECT state_us FROM batch_job WHERE state = {BATCH_JOB_COMPLETED} AND state_us < :before
ORDER BY state_us DESC LIMIT 1 OFFSET :nth - 1;

-- Those that were completed before `before_us`, the oldest first.
-- st_batch_job_ended_before(i64 before_us, int limit) -> batch_job*
$batch_job_select WHERE bj.state = {BATCH_JOB_COMPLETED} AND bj.state_us < :before_us
ORDER BY bj.state_us LIMIT :limit;

-- How many jobs of an account are not completed.
-- st_batch_job_unfinished(i64 account_id) -> i64 n
SELECT count(*) FROM batch_job WHERE account_id = :account_id AND state <> {BATCH_JOB_COMPLETED};

-- Active jobs of a pool that have a task which may run, has no run, and fits the pool. Those that already run as many
-- tasks as they may are passed over, and those to which nodes are barred.
-- $batch_jobs_of_pool
$batch_job_select
WHERE bj.account_id = :account_id AND bj.pool_name = :pool_name AND bj.state = {BATCH_JOB_ACTIVE}
AND $batch_has_ready AND $batch_may_run_more
AND NOT EXISTS (SELECT 1 FROM node_bar b CROSS JOIN node n ON n.id = b.node_id AND n.pool_id = :pool_id
WHERE b.group_id = bj.id);

-- Those of the highest priority first, then the oldest.
-- st_batch_job_turn(i64 account_id, text pool_name, i64 pool_id, st_batch_fit fit, int limit) -> batch_job*
$batch_jobs_of_pool ORDER BY bj.priority DESC, bj.id LIMIT :limit;

-- Those of one priority behind a job, by id.
-- st_batch_job_turn_behind(i64 account_id, text pool_name, i64 pool_id, st_batch_fit fit, int priority,
--     st_page page) -> batch_job*
$batch_jobs_of_pool AND bj.priority = :priority AND bj.id > :page.after ORDER BY bj.id LIMIT :page.limit;

-- Active jobs of a pool to which nodes of it are barred and of which tasks wait: first those with a node left, of these
-- those of the highest priority, then the oldest.
-- st_batch_job_barred(i64 pool_id, st_batch_fit fit) -> batch_barred*
SELECT {batch_barred} FROM (
SELECT bj.id AS id, bj.priority AS priority,
count(*) FILTER (WHERE $batch_serves(n)) < (SELECT count(*) FROM node m WHERE m.pool_id = :pool_id AND $batch_serves(m))
AS has_left,
$batch_has_ready AND $batch_may_run_more AS ready,
(SELECT count(*) FROM batch_task t WHERE t.job_id = bj.id AND t.fed = 1 AND t.state = {BATCH_TASK_ACTIVE}) AS queued
FROM batch_pool bp CROSS JOIN node n ON n.pool_id = bp.id CROSS JOIN node_bar b ON b.node_id = n.id
CROSS JOIN batch_job bj ON bj.id = b.group_id AND bj.state = {BATCH_JOB_ACTIVE}
AND bj.account_id = bp.account_id AND bj.pool_name = bp.name
WHERE bp.id = :pool_id GROUP BY bj.id) bb
WHERE bb.ready OR bb.queued > 0
ORDER BY bb.has_left DESC, bb.priority DESC, bb.id;

-- The jobs whose tasks have a run of this priority that waits for its first start in this pool: in turn, a job as
-- often as it has such runs.
-- st_batch_job_waiting(i64 pool_id, int priority) -> i64*
SELECT bt.job_id FROM run u CROSS JOIN batch_task bt ON bt.id = u.owner_id
WHERE u.pool_id = :pool_id AND u.phase = {RUN_WAITING} AND u.stop = {STOP_NOT} AND u.held = {HOLD_NOT}
AND u.priority = :priority AND u.owner_kind = {RES_BATCH_TASK} AND u.attempt = 0
ORDER BY u.id;

-- Those that are on their way to another state.
-- st_batch_job_moving() -> i64*
SELECT id FROM batch_job
WHERE state IN ({BATCH_JOB_DISABLING}, {BATCH_JOB_ENABLING}, {BATCH_JOB_TERMINATING}, {BATCH_JOB_DELETING})
ORDER BY id;

-- Those with a time limit that have not ended.
-- st_batch_job_limited() -> i64*
SELECT id FROM batch_job WHERE limit_us > 0 AND state < {BATCH_JOB_TERMINATING};

-- Those that end with their tasks, and whose tasks have all ended.
-- st_batch_job_done() -> i64*
SELECT bj.id FROM batch_job bj INDEXED BY batch_job_turn CROSS JOIN batch_count bc ON bc.job_id = bj.id
WHERE bj.state = {BATCH_JOB_ACTIVE} AND bj.on_all = {BATCH_ALL_TERMINATE} AND bc.active = 0 AND bc.running = 0;

-- A user has changed it: document, secrets and what is decoded from them.
-- st_batch_job_update(batch_job j, sealed secrets) -> changed "batch job"
UPDATE batch_job
SET doc = :j.doc, secrets = :secrets, updated_us = :j.updated_us, limit_us = :j.limit_us,
pool_name = :j.pool_name, priority = :j.priority, max_parallel = :j.max_parallel, on_all = :j.on_all,
on_failure = :j.on_failure
WHERE id = :j.id;

-- st_batch_job_move(st_batch_job_move m) -> moved "Job" batch_job_state by st_batch_job_state
UPDATE batch_job
SET was = state, was_us = state_us, state = :m.to, state_us = :m.now_us,
updated_us = CASE :m.by_user WHEN 1 THEN :m.now_us ELSE updated_us END,
disable = CASE :m.disable WHEN 0 THEN disable ELSE :m.disable END, reason = coalesce(:m.reason, reason),
failure = coalesce(:m.failure, failure), end_us = CASE :m.ends WHEN 1 THEN :m.now_us ELSE end_us END
WHERE id = :m.id AND state = :m.from;

-- A user has changed what becomes of the tasks of a job that is being disabled.
-- st_batch_job_set_disable(i64 id, batch_disable disable, i64 now_us) -> changed "batch job"
UPDATE batch_job SET disable = :disable, updated_us = :now_us WHERE id = :id;

-- private st_batch_job_state(i64 id) -> state
SELECT state FROM batch_job WHERE id = :id;

-- Its tasks and numbers are gone.
-- st_batch_job_remove(i64 id) -> changed "batch job"
DELETE FROM batch_job WHERE id = :id;

-- st_batch_job_counts(i64 id) -> batch_count?
SELECT {batch_count} FROM batch_count bc WHERE bc.job_id = :id;

-- Of all jobs of a schedule; of an account.
-- st_batch_schedule_counts(i64 schedule_id) -> batch_count?
$batch_counts_of_jobs WHERE bj.schedule_id = :schedule_id AND bj.schedule_id > 0;

-- st_batch_account_counts(i64 account_id) -> batch_count?
$batch_counts_of_jobs WHERE bj.account_id = :account_id;
