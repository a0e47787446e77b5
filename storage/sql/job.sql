-- SPDX-License-Identifier: MIT
--
-- Jobs.

-- The first run of a job.
-- $run_of_job(job)
u.owner_kind = {RES_JOB} AND u.idx = 0 AND u.owner_id = $job;

-- CROSS JOIN: SQLite keeps this order.
-- $job_select
SELECT {job} FROM job j CROSS JOIN run u ON $run_of_job(j.id)
JOIN experiment r ON r.id = j.experiment_id $of_workspace;

-- As the index job_ended has it.
-- $has_ended
exec_state IN ({EXEC_SUCCEEDED}, {EXEC_FAILED}) AND prov_state <> {PROV_DELETING};

-- private st_job_insert_row(job j, sealed secrets) -> new id
INSERT INTO {+job};

-- private st_job_id(i64 experiment_id, text name) -> i64? id
SELECT id FROM job WHERE experiment_id = :experiment_id AND name = :name;

-- A job by the names of all levels above, in one query.
-- st_job_find(scope scope, text name) -> job?
$job_select
WHERE g.subscription = :scope.subscription AND g.name = :scope.group AND w.name = :scope.workspace
AND r.name = :scope.experiment AND j.name = :name;

-- Whether an experiment has a job that another than `who` made.
-- st_job_others(i64 experiment_id, text who) -> bool others
SELECT EXISTS (SELECT 1 FROM job WHERE experiment_id = :experiment_id AND created_by IS NOT :who);

-- st_job_by_id(i64 id) -> job?
$job_select WHERE j.id = :id;

-- The jobs of an experiment, with only those columns of their own rows that are shown.
-- st_job_list_shown(i64 experiment_id, st_page page) -> job_shown*
SELECT {job_shown} FROM job j
WHERE j.experiment_id = :experiment_id AND j.id > :page.after
ORDER BY j.id LIMIT :page.limit;

-- The jobs of all experiments of this name in workspaces of this name, in all groups.
-- st_job_list_named(text subscription, text workspace, text experiment, st_page page) -> job*
$job_select
WHERE g.subscription = :subscription AND w.name = :workspace AND r.name = :experiment AND j.id > :page.after
ORDER BY j.id LIMIT :page.limit;

-- Jobs of all groups whose ids are lower than `before`, the newest first.
-- st_job_latest(st_page page) -> job*
$job_select WHERE j.id < :page.after ORDER BY j.id DESC LIMIT :page.limit;

-- The same, the oldest first.
-- st_job_oldest(st_page page) -> job*
$job_select WHERE j.id > :page.after ORDER BY j.id LIMIT :page.limit;

-- The same, of those in one state.
-- st_job_latest_in(exec_state state, st_page page) -> job*
$job_select WHERE j.exec_state = :state AND j.id < :page.after ORDER BY j.id DESC LIMIT :page.limit;
-- st_job_oldest_in(exec_state state, st_page page) -> job*
$job_select WHERE j.exec_state = :state AND j.id > :page.after ORDER BY j.id LIMIT :page.limit;

-- The same, of those of one maker.
-- st_job_latest_of(text created_by, st_page page) -> job*
$job_select WHERE j.created_by = :created_by AND j.id < :page.after ORDER BY j.id DESC LIMIT :page.limit;
-- st_job_oldest_of(text created_by, st_page page) -> job*
$job_select WHERE j.created_by = :created_by AND j.id > :page.after ORDER BY j.id LIMIT :page.limit;

-- A getter: when the nth newest of those ended that ended before `before`.
-- st_job_ended_nth(i64 before, int nth) -> i64? at
SELECT exec_us FROM job WHERE $has_ended AND exec_us < :before ORDER BY exec_us DESC LIMIT 1 OFFSET :nth - 1;

-- The jobs that ended before `before_us`, the oldest first.
-- st_job_ended_before(i64 before_us, int limit) -> i64*
SELECT id FROM job WHERE $has_ended AND exec_us < :before_us ORDER BY exec_us LIMIT :limit;

-- How many jobs have not ended.
-- st_job_unfinished(text subscription) -> i64 n
SELECT count(*)
FROM resource_group g JOIN workspace w ON w.group_id = g.id JOIN cluster c ON c.workspace_id = w.id
JOIN job j ON j.cluster_id = c.id
WHERE g.subscription = :subscription AND j.exec_state IN ({EXEC_QUEUED}, {EXEC_RUNNING}, {EXEC_TERMINATING});

-- A getter. *secrets is the unsealed JSON text, NULL if there is none.
-- st_job_secrets(i64 id) -> sealed? secrets
SELECT secrets FROM job WHERE id = :id;

-- private st_job_move_row(st_job_move m) -> moved "Job" exec_state by st_job_state
UPDATE job
SET exec_state = :m.to, exec_us = :m.now_us,
start_us = CASE :m.start_us WHEN 0 THEN start_us WHEN -1 THEN 0 ELSE :m.start_us END,
end_us = CASE :m.end_us WHEN 0 THEN end_us ELSE :m.end_us END,
exit_code = coalesce(:m.exit_code, exit_code), errors = coalesce(:m.errors, errors)
WHERE id = :m.id AND exec_state = :m.from;

-- private st_job_state(i64 id) -> state
SELECT exec_state FROM job WHERE id = :id;

-- st_job_note_failure(st_job_failure n) -> changed "job"
UPDATE job SET exit_code = :n.exit_code, errors = :n.errors WHERE id = :n.id AND errors IS NULL;

-- Its output is in a directory called so.
-- st_job_set_guid(i64 id, text guid) -> changed "job"
UPDATE job SET guid = :guid WHERE id = :id;
