-- SPDX-License-Identifier: MIT
--
-- Allocations: which run has what of which node.

-- Of a node's allocations the ended ones are as many as the jobs that it ever ran, and SQLite would go over them: it
-- does not know how few are live.
-- $live_allocation
allocation a INDEXED BY allocation_live;

-- $is_live
a.state = {ALLOCATION_HELD};

-- $live_of_node(node)
FROM $live_allocation WHERE $is_live AND a.node_id = $node;

-- $allocation_select
SELECT {allocation} FROM allocation a;

-- Takes the run's part of the node, if the node is idle and has that much left. Whoever has the whole of it (no list of
-- devices) shares it with nobody, whatever its capacity has become since.
-- private st_allocation_take(allocation al)
UPDATE node SET idle_us = 0, aside = aside + (:al.takes.slots = 0)
WHERE id = :al.node_id AND state = {NODE_IDLE} AND slots >= :al.takes.slots AND gpus >= :al.takes.gpus
AND cores >= :al.takes.cores AND memory >= :al.takes.memory
AND NOT EXISTS (SELECT 1 $live_of_node(:al.node_id) AND (:al.devices IS NULL OR a.devices IS NULL))
AND NOT EXISTS (SELECT 1 $live_of_node(:al.node_id) GROUP BY a.node_id
HAVING sum(a.slots) + :al.takes.slots > node.slots OR sum(a.gpus) + :al.takes.gpus > node.gpus
OR sum(a.cores) + :al.takes.cores > node.cores OR sum(a.memory) + :al.takes.memory > node.memory);

-- private st_allocation_insert_row(allocation al)
INSERT INTO {+allocation};

-- The allocations of one attempt, by rank.
-- st_allocation_of_run(i64 run_id, int attempt) -> allocation*
$allocation_select WHERE a.run_id = :run_id AND a.attempt = :attempt ORDER BY a.rank;

-- The allocations of all attempts of a run.
-- st_allocation_of_run_all(i64 run_id) -> allocation*
$allocation_select WHERE a.run_id = :run_id ORDER BY a.attempt, a.rank;

-- The last that a node had of another run than w's and that was released after `since_us`, by `until_us`.
-- st_allocation_before(st_released w) -> allocation?
$allocation_select
WHERE a.node_name = :w.node_name AND a.run_id <> :w.run_id AND a.released_us > :w.since_us
AND a.released_us <= :w.until_us
ORDER BY a.released_us DESC LIMIT 1;

-- The live allocations of a node.
-- st_allocation_of_node(i64 node_id) -> allocation*
SELECT {allocation} $live_of_node(:node_id);

-- private st_allocation_free_aside(i64 node_id)
UPDATE node SET aside = aside - 1 WHERE id = :node_id;

-- The node is idle since now, if nothing else is there.
-- private st_allocation_free(i64 node_id, i64 now_us)
UPDATE node SET idle_us = :now_us
WHERE id = :node_id AND state = {NODE_IDLE} AND NOT EXISTS (SELECT 1 $live_of_node(:node_id));

-- private st_allocation_move_row(allocation al, allocation_state to, i64 now_us)
UPDATE allocation SET state = :to, released_us = :now_us
WHERE run_id = :al.run_id AND attempt = :al.attempt AND rank = :al.rank AND state = :al.state;

-- st_allocation_sampled(i64 run_id, int attempt, int rank, i64 busy_us, i64 idle_us)
UPDATE allocation SET busy_us = :busy_us, idle_us = :idle_us
WHERE run_id = :run_id AND attempt = :attempt AND rank = :rank AND state = {ALLOCATION_HELD};

-- Its run has ended, or a node forgets tasks of it before. Memory is as usage_believe() bounds it.
-- st_allocation_note_used(i64 run_id, int attempt, int rank, usage_measured used)
UPDATE allocation
SET measured = :used.known, user_us = :used.user_us, kernel_us = :used.kernel_us, memory_peak = min(:used.memory_peak, 1 << 50),
memory_used = min(:used.memory_used, 1 << 50), read_bytes = :used.read_bytes, write_bytes = :used.write_bytes,
read_ops = :used.read_ops, write_ops = :used.write_ops
WHERE run_id = :run_id AND attempt = :attempt AND rank = :rank AND state = {ALLOCATION_HELD};

-- private st_allocation_trim(i64 node_id, int keep)
UPDATE allocation SET kept = 0
WHERE node_id = :node_id AND kept > 0
AND kept <= (SELECT kept FROM allocation WHERE node_id = :node_id ORDER BY kept DESC LIMIT 1 OFFSET :keep);

-- private st_allocation_mark_kept(allocation al, bool kept)
UPDATE allocation
SET kept = CASE WHEN :kept THEN (SELECT coalesce(max(o.kept), 0) + 1 FROM allocation o
WHERE o.node_id = allocation.node_id) ELSE 0 END
WHERE run_id = :al.run_id AND attempt = :al.attempt AND rank = :al.rank;

-- The nodes of the oldest directories that belong to allocations which ended before `before_us`, a node as often as it
-- has such.
-- st_allocation_kept_before(i64 before_us, int limit) -> i64*
SELECT node_id FROM allocation WHERE kept > 0 AND node_id IS NOT NULL AND released_us < :before_us
ORDER BY released_us LIMIT :limit;

-- They are not kept any more.
-- st_allocation_drop_before(i64 before_us, int limit) -> count gone
UPDATE allocation SET kept = 0 WHERE (run_id, attempt, rank) IN (SELECT run_id, attempt, rank FROM allocation
WHERE kept > 0 AND node_id IS NOT NULL AND released_us < :before_us ORDER BY released_us LIMIT :limit);

-- The directories that a node keeps.
-- st_allocation_kept_dirs(i64 node_id) -> kept_dir*
SELECT {kept_dir} FROM allocation a JOIN run u ON u.id = a.run_id WHERE a.node_id = :node_id AND a.kept > 0;
