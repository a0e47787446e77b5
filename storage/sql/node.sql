-- SPDX-License-Identifier: MIT
--
-- Nodes.

-- $node_pool
CROSS JOIN pool np ON np.id = n.pool_id;

-- $node_select
SELECT {node} FROM node n $node_pool;

-- private st_node_insert_row(node nd) -> new id
INSERT INTO {+node};

-- st_node_by_id(i64 id) -> node?
$node_select WHERE n.id = :id;

-- st_node_named(i64 pool_id, text name) -> node?
$node_select WHERE n.pool_id = :pool_id AND n.name = :name COLLATE NOCASE;

-- How often it was emptied.
-- st_node_emptied(i64 id) -> i64 n
SELECT coalesce((SELECT emptied FROM node WHERE id = :id), 0);

-- All nodes of a pool, by ordinal.
-- st_node_list(i64 pool_id) -> node*
$node_select WHERE n.pool_id = :pool_id ORDER BY n.ordinal;

-- Those behind a name, by name. The ids are sorted alone, because rows are long.
-- st_node_list_named(i64 pool_id, st_names page) -> node*
$node_select WHERE n.id IN (SELECT id FROM node
WHERE pool_id = :pool_id AND name > :page.after COLLATE NOCASE ORDER BY name COLLATE NOCASE LIMIT :page.limit)
ORDER BY n.name COLLATE NOCASE;

-- The nodes that a run has now, by rank.
-- st_node_of_run(i64 run_id) -> node*
SELECT {node} FROM allocation a CROSS JOIN node n ON n.id = a.node_id $node_pool
WHERE a.run_id = :run_id AND $is_live
ORDER BY a.attempt, a.rank;

-- The nodes of the present attempts of an owner's runs, or of their last ones, each once: in the order of runs and ranks.
-- Without the rows of the nodes, because SQLite would look them up for each allocation.
-- st_node_ids_used_by(resource_kind owner, i64 owner_id) -> i64*
SELECT DISTINCT a.node_id FROM run u CROSS JOIN allocation a ON a.run_id = u.id AND a.attempt = u.attempt
WHERE u.owner_kind = :owner AND u.owner_id = :owner_id AND u.phase <> {RUN_WAITING} AND a.node_id IS NOT NULL
ORDER BY u.idx, a.rank;

-- st_node_ids() -> i64*
SELECT id FROM node ORDER BY id;

-- How many local nodes there are, over all clusters but those whose size, in upper case, fits the pattern
-- (SQLite's GLOB; NULL: all).
-- st_node_local_total(text but_sizes) -> i64 n
SELECT count(*) FROM node n JOIN pool p ON p.id = n.pool_id
WHERE n.machine_id IS NULL AND upper(p.vm_size) NOT GLOB coalesce(:but_sizes, '');

-- $node_uses
SELECT {node_use}
FROM node n LEFT JOIN cluster c ON c.id = n.pool_id LEFT JOIN workspace w ON w.id = c.workspace_id
LEFT JOIN batch_pool bp ON bp.id = n.pool_id LEFT JOIN batch_account ba ON ba.id = bp.account_id;

-- All nodes, by id.
-- st_node_uses() -> node_use*
$node_uses ORDER BY n.id;

-- A part of them.
-- st_node_uses_after(st_page page) -> node_use*
$node_uses WHERE n.id > :page.after ORDER BY n.id LIMIT :page.limit;

-- What an overview needs of them: no jobs, and no amounts but GPUs.
-- st_node_uses_brief(st_page page) -> node_brief*
SELECT {node_brief}
FROM node n LEFT JOIN cluster c ON c.id = n.pool_id LEFT JOIN batch_pool bp ON bp.id = n.pool_id
WHERE n.id > :page.after ORDER BY n.id LIMIT :page.limit;

-- st_node_use_by_id(i64 id) -> node_use?
$node_uses WHERE n.id = :id;

-- A node that is being wiped is wiped until it is idle, however often its preparation fails.
-- private st_node_move_row(st_node_move m, text epoch)
UPDATE node
SET state = :m.to, state_us = :m.now_us, idle_us = CASE :m.to WHEN {NODE_IDLE} THEN :m.now_us ELSE 0 END,
errors = :m.errors, epoch = :epoch, why = :m.why,
failure = CASE WHEN :m.to <> {NODE_UNUSABLE} THEN 0 WHEN :m.failure = 0 THEN failure ELSE :m.failure END,
booted_us = CASE WHEN :m.wish IN ({IS_RESTARTING}, {IS_BEING_WIPED}) THEN :m.now_us ELSE booted_us END,
emptied = emptied + :m.emptied,
wish = CASE WHEN :m.wish <> {WISH_NOTHING} THEN :m.wish
WHEN :m.to = {NODE_IDLE} AND wish IN ({IS_RESTARTING}, {IS_BEING_WIPED}) THEN {WISH_NOTHING}
WHEN :m.to = {NODE_UNUSABLE} AND wish = {IS_RESTARTING} THEN {WISH_NOTHING} ELSE wish END
WHERE id = :m.id AND state = :m.from;

-- private st_node_state(i64 id) -> state
SELECT state FROM node WHERE id = :id;

-- st_node_set_capacity(i64 id, capacity has, text devices) -> changed "node"
UPDATE node
SET slots = :has.slots, gpus = :has.gpus, cores = :has.cores, memory = :has.memory, devices = :devices
WHERE id = :id;

-- Replaces what was there.
-- st_node_setup_put(node_setup s)
INSERT OR REPLACE INTO {+node_setup};

-- st_node_setup_get(i64 node_id) -> node_setup?
SELECT {node_setup} FROM node_setup ns WHERE ns.node_id = :node_id;

-- st_node_set_wish(i64 id, node_wish wish, dealloc_option how) -> changed "node"
UPDATE node SET wish = :wish, how = :how WHERE id = :id;

-- st_node_set_off(i64 id, dealloc_option off) -> changed "node"
UPDATE node SET off = :off WHERE id = :id;

-- st_node_set_reclaimed(i64 id) -> changed "node"
UPDATE node SET reclaimed = 1 WHERE id = :id;

-- It has booted since it was last looked at; `replaced`: its root directory is a new one.
-- st_node_set_incarnation(i64 id, text incarnation, bool replaced, i64 now_us) -> changed "node"
UPDATE node
SET incarnation = :incarnation, booted_us = :now_us, emptied = emptied + :replaced WHERE id = :id;

-- private st_node_remove_row(i64 id) -> changed "node"
DELETE FROM node WHERE id = :id;
