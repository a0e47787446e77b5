-- SPDX-License-Identifier: MIT
--
-- What Azure Batch's tasks wait for: tasks by name, or by the numbers that are their names.

-- The interval of numbers of a job that begins last at or before a number.
-- $batch_done_at(job, number)
FROM batch_done WHERE job_id = $job AND low <= $number ORDER BY low DESC LIMIT 1;

-- The first ranges of those that the interval from :low to :high has and that have :number, which it lacked before; by the
-- index of their beginnings or of their ends.
-- $batch_ranges_met(by, then)
batch_wait INDEXED BY batch_wait_$by
WHERE job_id = :job_id AND low >= :low AND low <= :number AND high >= :number AND high <= :high
ORDER BY $by, $then, id LIMIT :limit;

-- $batch_ranges_step(by, then)
UPDATE batch_task SET waits = waits - met.n
FROM (SELECT task_id, count(*) AS n FROM (SELECT task_id FROM $batch_ranges_met($by, $then)) GROUP BY task_id) met
WHERE batch_task.id = met.task_id;

-- The first rows of those that wait for the task by its name.
-- $batch_wait_met
FROM batch_wait WHERE job_id = :t.job_id AND name = :t.name ORDER BY id LIMIT :limit;

-- The task waits for another one, unless that is completed already as it wants.
-- st_batch_wait_add(batch_task t, text name)
INSERT OR IGNORE INTO batch_wait (job_id, task_id, name) SELECT :t.job_id, :t.id, :name
WHERE NOT EXISTS (SELECT 1 FROM batch_task WHERE job_id = :t.job_id AND name = :name AND satisfies = 1);

-- For all whose names are the numbers from low to high.
-- st_batch_wait_add_range(batch_task t, i64 low, i64 high)
INSERT INTO batch_wait (job_id, task_id, low, high) SELECT :t.job_id, :t.id, :low, :high
WHERE ifnull((SELECT high $batch_done_at(:t.job_id, :low)), -1) < :high;

-- st_batch_wait_of(i64 task_id, int limit) -> batch_wait*
SELECT {batch_wait} FROM batch_wait w WHERE w.task_id = :task_id ORDER BY w.id LIMIT :limit;

-- Counts what the task waits for, after all of it was added.
-- st_batch_wait_count(i64 task_id) -> changed "task"
UPDATE batch_task SET waits = (SELECT count(*) FROM batch_wait w WHERE w.task_id = :task_id)
WHERE id = :task_id;

-- private st_batch_done_at(i64 job_id, i64 number) -> (i64 low, i64 high)?
SELECT low, high $batch_done_at(:job_id, :number);

-- private st_batch_done_drop(i64 job_id, i64 low)
DELETE FROM batch_done WHERE job_id = :job_id AND low = :low;

-- private st_batch_done_put(i64 job_id, i64 low, i64 high)
INSERT OR REPLACE INTO batch_done (job_id, low, high) VALUES (:job_id, :low, :high);

-- private st_batch_ranges_met_by_low(i64 job_id, i64 low, i64 number, i64 high, int limit)
$batch_ranges_step(low, high);

-- private st_batch_ranges_met_by_high(i64 job_id, i64 low, i64 number, i64 high, int limit)
$batch_ranges_step(high, low);

-- private st_batch_ranges_remove_by_low(i64 job_id, i64 low, i64 number, i64 high, int limit) -> count gone
DELETE FROM batch_wait WHERE id IN (SELECT id FROM $batch_ranges_met(low, high));

-- private st_batch_ranges_remove_by_high(i64 job_id, i64 low, i64 number, i64 high, int limit) -> count gone
DELETE FROM batch_wait WHERE id IN (SELECT id FROM $batch_ranges_met(high, low));

-- Whether another task whose name is this number is completed as others want: 5, 05 and 005 are one number, and a name has
-- at most 64 digits.
-- private st_batch_number_satisfied(batch_task t, i64 number) -> bool any
WITH RECURSIVE same (name) AS (
SELECT CAST(:number AS TEXT) UNION ALL SELECT '0' || name FROM same WHERE length(name) < 64)
SELECT EXISTS (SELECT 1 FROM same CROSS JOIN batch_task o ON o.job_id = :t.job_id AND o.name = same.name
WHERE o.satisfies = 1 AND o.id <> :t.id);

-- Open ranges that begin before the interval from :low to :high and end behind it.
-- $batch_ranges_around
batch_wait INDEXED BY batch_wait_low WHERE job_id = :job_id AND low < :low AND high > :high;

-- The next four cut the interval out of all open ranges, as their tasks do not wait for its numbers: of the ranges around
-- it two parts are left, which are counted and made first.
-- private st_batch_ranges_count_parts(i64 job_id, i64 low, i64 high)
UPDATE batch_task SET waits = waits + (SELECT count(*) FROM batch_wait w WHERE w.task_id = batch_task.id
AND w.low < :low AND w.high > :high)
WHERE id IN (SELECT task_id FROM $batch_ranges_around);

-- private st_batch_ranges_add_parts(i64 job_id, i64 low, i64 high)
INSERT INTO batch_wait (job_id, task_id, low, high) SELECT job_id, task_id, :high + 1, high FROM $batch_ranges_around;

-- private st_batch_ranges_end_before(i64 job_id, i64 low)
UPDATE batch_wait INDEXED BY batch_wait_low SET high = :low - 1
WHERE job_id = :job_id AND low < :low AND high >= :low;

-- private st_batch_ranges_begin_behind(i64 job_id, i64 low, i64 high)
UPDATE batch_wait INDEXED BY batch_wait_low SET low = :high + 1
WHERE job_id = :job_id AND low >= :low AND low <= :high AND high > :high;

-- private st_batch_wait_met(batch_task t, int limit)
UPDATE batch_task SET waits = waits - 1 WHERE id IN (SELECT task_id $batch_wait_met);

-- private st_batch_wait_remove_met(batch_task t, int limit) -> count gone
DELETE FROM batch_wait WHERE id IN (SELECT id $batch_wait_met);

-- Tasks that are completed as others want, and that some of these wait for still.
-- st_batch_wait_unsettled() -> i64*
SELECT t.id FROM (SELECT DISTINCT job_id, name FROM batch_wait INDEXED BY batch_wait_name WHERE name IS NOT NULL) w
CROSS JOIN batch_task t ON t.job_id = w.job_id AND t.name = w.name AND t.satisfies = 1;

-- Tasks that are completed as others want, and whose numbers are the ends of ranges that are met and not settled yet. A
-- name has at most 64 digits.
-- st_batch_ranges_unsettled() -> i64*
WITH RECURSIVE zeros (text) AS (SELECT '' UNION ALL SELECT text || '0' FROM zeros WHERE length(text) < 63)
SELECT DISTINCT t.id FROM (SELECT DISTINCT w.job_id, w.high FROM batch_done d CROSS JOIN batch_wait w INDEXED BY batch_wait_low
ON w.job_id = d.job_id AND w.low >= d.low AND w.low <= d.high AND w.high <= d.high) met
CROSS JOIN zeros z CROSS JOIN batch_task t ON t.job_id = met.job_id AND t.name = z.text || met.high AND t.satisfies = 1;

-- private st_batch_done_remove(i64 job_id, int limit) -> count gone
DELETE FROM batch_done
WHERE job_id = :job_id AND low IN (SELECT low FROM batch_done WHERE job_id = :job_id LIMIT :limit);
