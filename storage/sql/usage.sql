-- SPDX-License-Identifier: MIT
--
-- The record of use (model/usage.h).

-- Whether a subject is not of what a reset has emptied.
-- $is_known(subject)
$subject.subscription <> {GROUPS_DETACHED};

-- Live allocations and what they belong to; without what a reset has emptied, which leaves no record.
-- $usage_live_select
SELECT {usage_live} FROM $live_allocation CROSS JOIN run u ON u.id = a.run_id
CROSS JOIN node n ON n.id = a.node_id CROSS JOIN pool p ON p.id = n.pool_id LEFT JOIN machine m ON m.id = n.machine_id
LEFT JOIN cluster c ON c.id = p.id LEFT JOIN batch_pool bp ON bp.id = p.id
LEFT JOIN job j ON u.owner_kind = {RES_JOB} AND j.id = u.owner_id
LEFT JOIN experiment x ON x.id = j.experiment_id LEFT JOIN workspace w ON w.id = x.workspace_id
LEFT JOIN resource_group g ON g.id = w.group_id
LEFT JOIN batch_task bt ON u.owner_kind = {RES_BATCH_TASK} AND bt.id = u.owner_id
LEFT JOIN batch_chore bh ON u.owner_kind = {RES_BATCH_CHORE} AND bh.id = u.owner_id
LEFT JOIN batch_job bj ON bj.id = coalesce(bt.job_id, bh.job_id)
LEFT JOIN batch_account ba ON ba.id = bj.account_id
LEFT JOIN resource_group bg ON bg.id = ba.group_id
WHERE $is_live AND coalesce(g.subscription, bg.subscription, '') <> {GROUPS_DETACHED};

-- private st_usage_of(allocation al) -> usage_live?
$usage_live_select AND a.node_id = :al.node_id AND a.run_id = :al.run_id;

-- Of the allocations on a node that have not ended; row.end_ms is 0.
-- st_usage_live_on(i64 node_id) -> usage_live*
$usage_live_select AND a.node_id = :node_id;

-- The same of one owner.
-- st_usage_live_of(resource_kind owner, i64 owner_id) -> usage_live*
$usage_live_select AND a.run_id IN (SELECT id FROM run WHERE owner_kind = :owner AND owner_id = :owner_id);

-- private st_usage_subject_add(usage_subject s)
INSERT INTO usage_subject (owner, subscription, group_name, home, experiment, pool, vm_size, gpu)
VALUES (:s.owner, :s.subscription, :s.group, :s.home, :s.experiment, :s.pool, :s.vm_size, :s.gpu)
ON CONFLICT DO NOTHING;

-- private st_usage_subject_id(usage_subject s) -> i64 id
SELECT id FROM usage_subject
WHERE owner = :s.owner AND subscription = :s.subscription AND group_name = :s.group AND home = :s.home
AND experiment = :s.experiment AND pool = :s.pool AND vm_size = :s.vm_size AND gpu = :s.gpu;

-- private st_usage_insert_row(usage u) -> new id
INSERT INTO {+usage};

-- private st_usage_over_add(i64 day, i64 usage_id)
INSERT INTO usage_over (day, usage_id) VALUES (:day, :usage_id);

-- private st_usage_day_add(i64 day, i64 subject_id, usage_sums s)
INSERT INTO usage_day (day, subject_id, runs, attempts, node_ms, core_ms, gpu_ms, busy_ms, idle_ms, lost_ms, wait_ms,
user_us, kernel_us, read_bytes, write_bytes, unmeasured, memory_peak)
VALUES (:day, :subject_id, :s.runs, :s.attempts, :s.node_ms, :s.core_ms, :s.gpu_ms, :s.busy_ms, :s.idle_ms, :s.lost_ms,
:s.wait_ms, :s.user_us, :s.kernel_us, :s.read_bytes, :s.write_bytes, :s.unmeasured, :s.memory_peak)
ON CONFLICT (day, subject_id) DO UPDATE SET
runs = min(runs + excluded.runs, 1 << 60), attempts = min(attempts + excluded.attempts, 1 << 60),
node_ms = min(node_ms + excluded.node_ms, 1 << 60),
core_ms = min(core_ms + excluded.core_ms, 1 << 60),
gpu_ms = min(gpu_ms + excluded.gpu_ms, 1 << 60),
busy_ms = min(busy_ms + excluded.busy_ms, 1 << 60),
idle_ms = min(idle_ms + excluded.idle_ms, 1 << 60),
lost_ms = min(lost_ms + excluded.lost_ms, 1 << 60),
wait_ms = min(wait_ms + excluded.wait_ms, 1 << 60),
user_us = min(user_us + excluded.user_us, 1 << 60),
kernel_us = min(kernel_us + excluded.kernel_us, 1 << 60),
read_bytes = min(read_bytes + excluded.read_bytes, 1 << 60),
write_bytes = min(write_bytes + excluded.write_bytes, 1 << 60),
unmeasured = min(unmeasured + excluded.unmeasured, 1 << 60),
memory_peak = max(memory_peak, excluded.memory_peak);

-- The sums of whole days, from `first` up to before `end`, by subject.
-- st_usage_of_days(i64 first, i64 end) -> usage_total*
SELECT {usage_total} FROM usage_day d CROSS JOIN usage_subject s ON s.id = d.subject_id
WHERE d.day >= :first AND d.day < :end AND $is_known(s) GROUP BY d.subject_id;

-- The id of the last row that was written; the last end of all rows. 0: there are none.
-- st_usage_last() -> i64 id
SELECT coalesce(max(id), 0) FROM usage;

-- st_usage_last_end() -> i64 end_ms
SELECT coalesce(max(end_ms), 0) FROM usage;

-- The first day with sums; 1 << 40: there is none.
-- st_usage_first_day() -> i64 day
SELECT coalesce(min(day), 1 << 40) FROM usage_day;

-- All rows behind a row, with their subjects.
-- st_usage_since(i64 after_id) -> usage_ended*
SELECT {usage_ended} FROM usage r CROSS JOIN usage_subject s ON s.id = r.subject_id
WHERE r.id > :after_id AND $is_known(s) ORDER BY r.id;

-- Rows up to the row `last` that ended behind a place, before to_ms, with their subjects.
-- st_usage_ended(st_usage_place place, i64 to_ms, i64 last, int limit) -> usage_ended*
SELECT {usage_ended} FROM usage r CROSS JOIN usage_subject s ON s.id = r.subject_id
WHERE r.end_ms >= :place.end_ms AND r.end_ms < :to_ms AND (r.end_ms > :place.end_ms OR r.id > :place.id)
AND +r.id <= :last AND $is_known(s)
ORDER BY r.end_ms, r.id LIMIT :limit;

-- The same of those that went on over the end of a day, in the order of their ids.
-- st_usage_over(i64 day, i64 after_id, i64 last, int limit) -> usage_ended*
SELECT {usage_ended} FROM usage_over o CROSS JOIN usage r ON r.id = o.usage_id
CROSS JOIN usage_subject s ON s.id = r.subject_id
WHERE o.day = :day AND o.usage_id > :after_id AND o.usage_id <= :last AND $is_known(s)
ORDER BY o.usage_id LIMIT :limit;

-- Of one job or task, in the order of their ends.
-- st_usage_of_owner(resource_kind owner, i64 owner_id) -> usage*
SELECT {usage} FROM usage r WHERE r.owner_kind = :owner AND r.owner_id = :owner_id ORDER BY r.id;

-- Of one of its runs.
-- st_usage_of_run(resource_kind owner, i64 owner_id, int idx) -> usage*
SELECT {usage} FROM usage r WHERE r.owner_kind = :owner AND r.owner_id = :owner_id AND r.idx = :idx ORDER BY r.id;

-- --- resets ---

-- Takes the record out of a subscription, or out of a group in it; NULL: out of all. Its rows are removed later.
-- st_usage_detach(text subscription, text group)
UPDATE usage_subject SET subscription = {GROUPS_DETACHED}, group_name = group_name || '#' || id
WHERE $is_known(usage_subject) AND (:subscription IS NULL OR subscription = :subscription)
AND (:group IS NULL OR group_name = :group);

-- private st_usage_any_detached() -> bool any
SELECT EXISTS (SELECT 1 FROM usage_subject WHERE subscription = {GROUPS_DETACHED});

-- $some_detached
SELECT id FROM usage WHERE subject_id IN (SELECT id FROM usage_subject WHERE subscription = {GROUPS_DETACHED})
ORDER BY id LIMIT :limit;

-- The next two remove the same rows.
-- private st_usage_sweep_over(int limit)
DELETE FROM usage_over WHERE usage_id IN ($some_detached);

-- private st_usage_sweep_rows(int limit) -> count gone
DELETE FROM usage WHERE id IN ($some_detached);

-- private st_usage_sweep_days()
DELETE FROM usage_day WHERE subject_id IN (SELECT id FROM usage_subject WHERE subscription = {GROUPS_DETACHED});

-- private st_usage_sweep_subjects()
DELETE FROM usage_subject WHERE subscription = {GROUPS_DETACHED};
