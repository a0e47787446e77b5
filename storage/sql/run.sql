-- SPDX-License-Identifier: MIT
--
-- Runs.
--
-- The conditions on phase, stop and held repeat those of the partial indexes run_queue and run_live, or SQLite would
-- not use them.

-- $run_select
SELECT {run} FROM run u;

-- Those that wait, held or not.
-- $waiting_of_pool
$run_select WHERE u.pool_id = :pool_id AND u.phase = {RUN_WAITING} AND u.stop = {STOP_NOT};

-- Those of them that nothing holds.
-- $queue_of_pool
$waiting_of_pool AND u.held = {HOLD_NOT};

-- A run that wants more of each node than any of its pool has is passed over. Each maximum is read once for all runs;
-- the nodes are read for each run that wants no more than these.
-- $fits_some_node
(u.need_whole = 1 OR (
(u.need_slots = 1 OR u.need_slots <= (SELECT max(slots) FROM node WHERE pool_id = :pool_id))
AND (u.need_gpus = 0 OR u.need_gpus <= (SELECT max(gpus) FROM node WHERE pool_id = :pool_id))
AND (u.need_cores = 0 OR u.need_cores <= (SELECT max(cores) FROM node WHERE pool_id = :pool_id))
AND (u.need_memory = 0 OR u.need_memory <= (SELECT max(memory) FROM node WHERE pool_id = :pool_id))
AND EXISTS (SELECT 1 FROM node n WHERE n.pool_id = u.pool_id AND n.slots >= u.need_slots
AND n.gpus >= u.need_gpus AND n.cores >= u.need_cores AND n.memory >= u.need_memory)));

-- private st_run_insert_row(run r) -> new id
INSERT INTO {+run};

-- st_run_by_id(i64 id) -> run?
$run_select WHERE u.id = :id;

-- st_run_of(resource_kind owner, i64 owner_id, int idx) -> run?
$run_select WHERE u.owner_kind = :owner AND u.owner_id = :owner_id AND u.idx = :idx;

-- The run of an index of an array; of another job: of 0.
-- st_run_of_number(resource_kind owner, i64 owner_id, int number) -> run?
$run_select WHERE u.owner_kind = :owner AND u.owner_id = :owner_id AND u.number = :number;

-- Waiting runs of a pool that nobody asked to stop and nothing holds, that want `largest` nodes or fewer, and of each no
-- more than some node of the pool has: highest priority first, then oldest.
-- st_run_queue(i64 pool_id, int largest, int limit) -> run*
$queue_of_pool AND u.nodes <= :largest AND $fits_some_node
ORDER BY u.priority DESC, u.id LIMIT :limit;

-- Waiting runs of a pool that nobody asked to stop, also those that are held.
-- st_run_waiting(i64 pool_id, int limit) -> run*
$queue_of_pool UNION ALL $waiting_of_pool AND u.held > {HOLD_NOT} LIMIT :limit;

-- Waiting runs of a pool that nothing holds, in turn.
-- st_run_in_turn(i64 pool_id, int limit) -> run*
$queue_of_pool ORDER BY u.priority DESC, u.id LIMIT :limit;

-- The same behind a run with this priority and id.
-- st_run_behind(i64 pool_id, int priority, st_page page) -> run*
$queue_of_pool AND (u.priority < :priority OR (u.priority = :priority AND u.id > :page.after))
ORDER BY u.priority DESC, u.id LIMIT :page.limit;

-- Waiting runs of a pool that are held, by id, behind this id.
-- st_run_held(i64 pool_id, st_page page) -> run*
$waiting_of_pool AND u.held > {HOLD_NOT} AND u.id > :page.after ORDER BY u.id LIMIT :page.limit;

-- Those that are to fail because of what they waited for.
-- st_run_broken(i64 pool_id, int limit) -> run*
$waiting_of_pool AND u.held > {HOLD_NOT} AND u.held = {HOLD_BROKEN} LIMIT :limit;

-- Those of the queue that want more than `largest` nodes.
-- st_run_oversized(i64 pool_id, int largest, int limit) -> run*
$queue_of_pool AND u.nodes > :largest ORDER BY u.priority DESC, u.id LIMIT :limit;

-- Those that nothing holds, that want parts of nodes, and that came after the run `after`: by id.
-- st_run_parts_after(i64 pool_id, st_page page) -> run*
$queue_of_pool AND u.need_whole = 0 AND u.id > :page.after ORDER BY u.id LIMIT :page.limit;

-- The sum of the nodes that waiting runs want which want `largest` or fewer, for automatic scaling.
-- st_run_queue_demand(i64 pool_id, int largest) -> i64 nodes
SELECT coalesce(sum(nodes), 0) FROM run
WHERE pool_id = :pool_id AND phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT}
AND nodes <= :largest;

-- How many nodes the runs of st_run_parts() want.
-- st_run_parts_demand(i64 pool_id, int largest) -> i64 nodes
SELECT coalesce(sum(nodes), 0) FROM run
WHERE pool_id = :pool_id AND phase = {RUN_WAITING} AND stop = {STOP_NOT} AND held = {HOLD_NOT}
AND need_whole = 0 AND nodes <= :largest;

-- Of the runs that st_run_queue_demand() counts those that want parts of nodes, in turn.
-- st_run_parts(i64 pool_id, int largest, int limit) -> run*
$queue_of_pool AND u.need_whole = 0 AND u.nodes <= :largest ORDER BY u.priority DESC, u.id LIMIT :limit;

-- The runs that have nodes, by id.
-- st_run_live_ids() -> i64*
SELECT id FROM run WHERE phase IN ({RUN_ALLOCATED}, {RUN_RELEASING}) ORDER BY id;

-- Those that have nodes and are to be forgotten.
-- st_run_doomed_ids() -> i64*
SELECT id FROM run
WHERE phase IN ({RUN_ALLOCATED}, {RUN_RELEASING}) AND stop = {STOP_AND_FORGET}
ORDER BY id;

-- The pools of those that have nodes and are to be forgotten, each as often as it has such runs.
-- st_run_doomed_pools() -> i64*
SELECT pool_id FROM run
WHERE phase IN ({RUN_ALLOCATED}, {RUN_RELEASING}) AND stop = {STOP_AND_FORGET}
ORDER BY id;

-- st_run_move(st_run_move m) -> moved "Run" run_state by st_run_state
UPDATE run
SET phase = :m.to, start_us = CASE :m.start_us WHEN 0 THEN start_us WHEN -1 THEN 0 ELSE :m.start_us END,
end_us = CASE :m.end_us WHEN 0 THEN end_us ELSE :m.end_us END,
attempt = CASE :m.attempt WHEN 0 THEN attempt ELSE :m.attempt END,
failure = CASE :m.failure WHEN -1 THEN failure ELSE :m.failure END, retried = retried + :m.retry
WHERE id = :m.id AND phase = :m.from;

-- private st_run_state(i64 id) -> state
SELECT phase FROM run WHERE id = :id;

-- Its processes begin only now: its time limit counts from here.
-- st_run_begins(i64 id, i64 now_us) -> changed "run"
UPDATE run SET start_us = :now_us WHERE id = :id;

-- How it will end, as it has been decided; its processes may still run.
-- st_run_note_failure(i64 id, int failure) -> changed "run"
UPDATE run SET failure = :failure WHERE id = :id AND phase = {RUN_ALLOCATED};

-- Runs of a group (struct run) get the node no more, until it is wiped.
-- st_node_bar(i64 group_id, i64 node_id)
INSERT OR IGNORE INTO node_bar (group_id, node_id) VALUES (:group_id, :node_id);

-- The nodes of which st_node_bar() was said, by id.
-- st_node_barred(i64 group_id) -> i64*
SELECT node_id FROM node_bar WHERE group_id = :group_id ORDER BY node_id;

-- A plan ends the run by this; the run itself has its limit from its document.
-- st_run_set_limit(i64 id, i64 max_wall_us) -> changed "run"
UPDATE run SET max_wall_us = :max_wall_us WHERE id = :id;

-- Never takes back an earlier request.
-- st_run_set_stop(i64 id, run_stop stop) -> changed "run"
UPDATE run SET stop = max(stop, :stop) WHERE id = :id;

-- Removes all runs of an owner. ERR_CONFLICT while one has live allocations.
-- st_runs_remove(resource_kind owner, i64 owner_id)
DELETE FROM run WHERE owner_kind = :owner AND owner_id = :owner_id;

-- The runs of one owner, by idx.
-- st_run_ids_of(resource_kind owner, i64 owner_id) -> i64*
SELECT id FROM run WHERE owner_kind = :owner AND owner_id = :owner_id ORDER BY idx;

-- How many runs of one owner have no end yet.
-- st_run_count_left(resource_kind owner, i64 owner_id) -> i64 n
SELECT count(*) FROM run
WHERE owner_kind = :owner AND owner_id = :owner_id AND phase IN ({RUN_WAITING}, {RUN_ALLOCATED});

-- The first one behind the index `after`.
-- private st_run_hold_next(resource_kind owner, i64 owner_id, int after, run_hold from, run_hold to)
UPDATE run SET held = :to
WHERE id = (SELECT u.id FROM run u WHERE u.owner_kind = :owner AND u.owner_id = :owner_id AND u.idx > :after
AND u.phase = {RUN_WAITING} AND u.held = :from ORDER BY u.idx LIMIT 1);

-- How many runs of a pool wait that have this priority or a higher one. Those of groups to which nodes of the pool are
-- barred do not count, because others start before them, nor do those that want more nodes, or slots of a node, than
-- these, or a dedicated node where there is none.
-- st_run_count_waiting(i64 pool_id, int priority, int nodes, int slots, bool dedicated) -> i64 n
SELECT count(*) FROM run u
WHERE u.pool_id = :pool_id AND u.phase = {RUN_WAITING} AND u.stop = {STOP_NOT} AND u.held = {HOLD_NOT}
AND u.priority >= :priority AND u.nodes <= :nodes AND u.need_slots <= :slots
AND (:dedicated = 1 OR u.own_class = 0)
AND NOT EXISTS (SELECT 1 FROM node_bar b CROSS JOIN node n ON n.id = b.node_id AND n.pool_id = :pool_id
WHERE b.group_id = u.group_id);

-- A getter: when the owner of a run, a job or a task of Azure Batch, began to wait.
-- st_run_queued_since(i64 run_id) -> i64? us
SELECT coalesce(j.created_us, t.state_us)
FROM run u LEFT JOIN job j ON u.owner_kind = {RES_JOB} AND j.id = u.owner_id
LEFT JOIN batch_task t ON u.owner_kind = {RES_BATCH_TASK} AND t.id = u.owner_id
WHERE u.id = :run_id;
