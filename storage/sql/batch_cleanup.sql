-- SPDX-License-Identifier: MIT
--
-- What Azure Batch's tasks leave on nodes.

-- Whether the files of a task that has ended are kept after :now_us, and until when.
-- $batch_is_kept(t)
$t.files = {BATCH_FILES_THERE} AND $t.state = {BATCH_TASK_COMPLETED}
AND ($t.files_until_us = 0 OR $t.files_until_us > :now_us);

-- $batch_kept_until(t)
CASE $t.files_until_us WHEN 0 THEN 9223372036854775807 ELSE $t.files_until_us END;

-- st_batch_cleanup_add(i64 node_id, text path, i64 due_us)
INSERT INTO batch_litter (node_id, path, due_us) VALUES (:node_id, :path, :due_us);

-- From each node of a pool that may have run something since `since_us`, when the job was created, and each that is or
-- was prepared for the job. A node runs only what it got while it was idle.
-- st_batch_cleanup_add_all(i64 pool_id, i64 job_id, i64 since_us, text path)
INSERT INTO batch_litter (node_id, path)
SELECT id, :path FROM node
WHERE pool_id = :pool_id AND (state NOT IN ({NODE_PREPARING}, {NODE_UNUSABLE}) OR state_us >= :since_us)
UNION SELECT node_id, :path FROM batch_chore WHERE job_id = :job_id AND node_id IS NOT NULL;

-- From each node of the pools, except m.pool_name, that had some of the tasks that st_batch_task_remove_some() removes
-- next.
-- st_batch_cleanup_add_moved(st_batch_moved m)
INSERT INTO batch_litter (node_id, path)
SELECT n.id, :m.path FROM batch_pool p CROSS JOIN node n ON n.pool_id = p.id
WHERE p.account_id = :m.account_id AND p.name <> :m.pool_name
AND p.name IN (SELECT pool_name FROM batch_task WHERE job_id = :m.job_id AND fed <> 1 ORDER BY name LIMIT :m.limit)
AND NOT EXISTS (SELECT 1 FROM batch_litter bl WHERE bl.node_id = n.id AND bl.path = :m.path AND bl.due_us = 0);

-- What was not due yet stays for good.
-- st_batch_cleanup_keep(i64 node_id, text path)
DELETE FROM batch_litter WHERE node_id = :node_id AND path = :path AND due_us > 0;

-- Of what is due.
-- st_batch_cleanup_of_node(i64 node_id, i64 now_us, int limit) -> batch_cleanup*
SELECT {batch_cleanup} FROM batch_litter bl
WHERE bl.node_id = :node_id AND bl.due_us <= :now_us
ORDER BY bl.id LIMIT :limit;

-- The nodes that have some of that.
-- st_batch_cleanup_nodes(i64 now_us) -> i64*
SELECT n.id FROM node n
WHERE EXISTS (SELECT 1 FROM batch_litter bl WHERE bl.node_id = n.id AND bl.due_us <= :now_us);

-- When the next is due after now; *at_us stays if there is none.
-- st_batch_cleanup_next(i64 now_us) -> i64 at_us
SELECT due_us FROM batch_litter WHERE due_us > 0 AND due_us > :now_us ORDER BY due_us LIMIT 1;

-- An instant until which something of tasks is kept on a node, perhaps more for longer: *at_us is 0 if
-- nothing is kept after now, INT64_MAX if something is for ever. It looks at the latest task that it finds,
-- as a node may have the files of very many. The node was emptied `emptied` times; what it had before is lost.
-- st_batch_kept_until(i64 node_id, text node_name, i64 emptied, i64 now_us) -> i64 at_us
SELECT max(
coalesce((SELECT $batch_kept_until(t) FROM batch_task t
WHERE t.node_name = :node_name AND t.emptied = :emptied AND $batch_is_kept(t) ORDER BY t.id DESC LIMIT 1), 0),
coalesce((SELECT $batch_kept_until(t) FROM batch_subtask u CROSS JOIN batch_task t ON t.id = u.task_id
WHERE u.node_name = :node_name AND u.emptied = :emptied AND $batch_is_kept(t) ORDER BY u.id DESC LIMIT 1), 0),
coalesce((SELECT max(due_us) FROM batch_litter WHERE node_id = :node_id AND due_us > :now_us), 0));

-- Whether a directory that a run uses, or the one of its job, is due on one of the run's nodes.
-- st_batch_cleanup_under(i64 run_id, int attempt, text job_dir, text dir, i64 now_us) -> bool any
SELECT EXISTS (SELECT 1 FROM allocation a CROSS JOIN batch_litter bl ON bl.node_id = a.node_id
WHERE a.run_id = :run_id AND a.attempt = :attempt AND bl.path IN (:job_dir, :dir) AND bl.due_us <= :now_us);

-- st_batch_cleanup_gone(i64 id) -> changed "cleanup"
DELETE FROM batch_litter WHERE id = :id;
