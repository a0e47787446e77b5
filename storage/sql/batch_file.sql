-- SPDX-License-Identifier: MIT
--
-- Files of Azure Batch's tasks that a seed told of.

-- Of a task that never was on a node; they go with it.
-- st_batch_file_add(i64 task_id, batch_seeded_file f)
INSERT INTO batch_seeded_file (task_id, path, mtime_us, bytes)
VALUES (:task_id, :f.path, :f.mtime_us, :f.bytes);

-- st_batch_file_get(i64 task_id, text path) -> batch_seeded_file?
SELECT {batch_seeded_file} FROM batch_seeded_file bf WHERE bf.task_id = :task_id AND bf.path = :path;

-- By path.
-- st_batch_file_list(i64 task_id) -> batch_file_shown*
SELECT {batch_file_shown} FROM batch_seeded_file bf WHERE bf.task_id = :task_id ORDER BY bf.path;

-- A file, or all that is below a directory; *n: how many there were.
-- st_batch_file_remove(i64 task_id, text path) -> count n
DELETE FROM batch_seeded_file
WHERE task_id = :task_id AND (path = :path OR (path > :path || '/' AND path < :path || '0'));
