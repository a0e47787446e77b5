-- SPDX-License-Identifier: MIT
--
-- Counts over all pools, for metrics (storage/tallies.h).

-- Nodes with ids behind `after` and up to `last`, with what their live allocations have.
-- $node_totals
SELECT n.pool_id, p.kind, n.state, n.machine_id IS NULL AS is_local, n.off <> 0 OR m.drained IS 1 AS is_off,
count(a.run_id) > 0 AS runs, n.gpus, coalesce(sum($usage_gpus), 0) AS taken,
coalesce(sum(($usage_gpus) * max(0, :now_ms - max(a.created_us / 1000, :since_ms)) / 1000), 0) AS held,
coalesce(sum(CAST($usage_busy * $usage_lately AS INTEGER)), 0) AS busy,
coalesce(sum(CAST($usage_idle * $usage_lately AS INTEGER)), 0) AS idle
FROM node n CROSS JOIN pool p ON p.id = n.pool_id LEFT JOIN machine m ON m.id = n.machine_id
LEFT JOIN $live_allocation ON a.node_id = n.id AND $is_live WHERE n.id > :after AND n.id <= :last GROUP BY n.id;

-- The id of the node that is `n` nodes behind `after`, or of the last node; 0: there is no node behind `after`.
-- st_tallied_until(i64 after, i64 n) -> i64 last
SELECT ifnull(max(id), 0) FROM (SELECT id FROM node WHERE id > :after ORDER BY id LIMIT :n);

-- held_ms counts from since_ms until now_ms, and busy_ms and idle_ms the like part of what samples saw.
-- st_pool_tallies(i64 since_ms, i64 now_ms, i64 after, i64 last) -> pool_tally*
SELECT {pool_tally} FROM ($node_totals) t GROUP BY t.pool_id, t.state, t.is_local, t.is_off, t.runs;

-- The next lower priority that waiting runs of a pool have, which nothing holds.
-- st_queue_priority(i64 pool_id, i64 below) -> i64? priority
SELECT priority FROM run WHERE phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT} AND pool_id = :pool_id
AND priority < :below ORDER BY priority DESC LIMIT 1;

-- Counts its runs with this priority and ids from `first` to `last`. Without a LIMIT, because SQLite then finds the ids
-- by the index.
-- st_queue_count(i64 pool_id, i64 priority, i64 first, i64 last) -> i64 n
SELECT count(*) FROM run
WHERE phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT} AND pool_id = :pool_id AND priority = :priority
AND id >= :first AND id <= :last;

-- The lowest id of these runs behind `after`; 0: there is none.
-- st_queue_next(i64 pool_id, i64 priority, i64 after) -> i64 id
SELECT ifnull(min(id), 0) FROM run
WHERE phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT} AND pool_id = :pool_id AND priority = :priority
AND id > :after;

-- The same of those that are held so.
-- st_queue_held_count(i64 pool_id, run_hold hold, i64 first, i64 last) -> i64 n
SELECT count(*) FROM run
WHERE phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held > {HOLD_NOT} AND pool_id = :pool_id AND held = :hold
AND id >= :first AND id <= :last;

-- st_queue_held_next(i64 pool_id, run_hold hold, i64 after) -> i64 id
SELECT ifnull(min(id), 0) FROM run
WHERE phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held > {HOLD_NOT} AND pool_id = :pool_id AND held = :hold
AND id > :after;

-- Since when a run waits, or waited before its present attempt (ms).
-- st_run_waits_since(i64 run_id) -> i64? since_ms
SELECT $run_since FROM run u LEFT JOIN job j ON u.owner_kind = {RES_JOB} AND j.id = u.owner_id
LEFT JOIN batch_task bt ON u.owner_kind = {RES_BATCH_TASK} AND bt.id = u.owner_id
LEFT JOIN batch_chore bh ON u.owner_kind = {RES_BATCH_CHORE} AND bh.id = u.owner_id
WHERE u.id = :run_id;

-- GPU time of live allocations by the owners of their runs (object ids), since since_ms. Slower than st_pool_tallies():
-- it finds the job or task of each. The allocations are those of nodes with ids behind `after` and up to `last`.
-- st_owner_tallies(i64 since_ms, i64 now_ms, i64 after, i64 last) -> owner_tally*
SELECT {owner_tally} FROM (
SELECT coalesce(j.created_by, bj.created_by, '') AS owner,
($usage_gpus) * max(0, :now_ms - max(a.created_us / 1000, :since_ms)) / 1000 AS held,
CAST($usage_busy * $usage_lately AS INTEGER) AS busy, CAST($usage_idle * $usage_lately AS INTEGER) AS idle
FROM node n CROSS JOIN pool p ON p.id = n.pool_id CROSS JOIN $live_allocation ON a.node_id = n.id AND $is_live
CROSS JOIN run u ON u.id = a.run_id
LEFT JOIN job j ON u.owner_kind = {RES_JOB} AND j.id = u.owner_id
LEFT JOIN batch_task bt ON u.owner_kind = {RES_BATCH_TASK} AND bt.id = u.owner_id
LEFT JOIN batch_chore bh ON u.owner_kind = {RES_BATCH_CHORE} AND bh.id = u.owner_id
LEFT JOIN batch_job bj ON bj.id = coalesce(bt.job_id, bh.job_id)
WHERE n.id > :after AND n.id <= :last) t GROUP BY t.owner;
